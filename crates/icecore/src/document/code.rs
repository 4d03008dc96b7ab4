//! Parts of a document that Perl may run, other than methods of classes: code, regexps with code, and ties.

use super::Document;
use super::node::Kind;

/// Code, regexps with code in them, or ties of a document.
///
/// ```
/// let mut b = icecore::Builder::new();
/// b.regexp("a(?{run()})", "");
/// let code = b.finish()?.code();
/// assert_eq!((code[0].kind, code[0].count, &*code[0].path), ("regexp-code", 1, "$"));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeUse {
    /// `code`: the source of a function. Perl evaluates it if an option such as `$Storable::Eval` allows that.
    /// `regexp-code`: a regexp that runs code or calls a function when it is compiled or used, as `(?{…})`.
    /// `tie`: a variable for which each access calls methods of an object.
    pub kind: &'static str,
    /// Number of uses.
    pub count: u64,
    /// Path of the first use.
    pub path: String,
}

impl Document<'_> {
    /// Returns what Perl may run in addition to methods of [classes](Document::classes). Icecore runs none of it.
    pub fn code(&self) -> Vec<CodeUse> {
        let mut uses: Vec<CodeUse> = Vec::new();
        for (index, node) in (0u32..).zip(&self.tape.nodes) {
            let kind = match node.kind {
                Kind::Code => "code",
                Kind::Regexp if self.regexp_pattern(index).is_some_and(runs_code) => "regexp-code",
                Kind::Tied => "tie",
                _ => continue,
            };
            match uses.iter_mut().find(|known| known.kind == kind) {
                Some(known) => known.count += 1,
                None => uses.push(CodeUse { kind, count: 1, path: self.path(index) }),
            }
        }
        uses
    }

    /// Returns the pattern of the regexp at `index`.
    fn regexp_pattern(&self, index: u32) -> Option<&[u8]> {
        let node = self.tape.nodes.get(index as usize + 1)?;
        node.kind.has_bytes().then(|| self.bytes(node))
    }
}

/// Returns `true` if perl runs code for this pattern, or calls a function that it names.
pub(crate) fn runs_code(pattern: &[u8]) -> bool {
    has_code_block(pattern) || names_function(pattern)
}

/// Returns `true` if there is a block of code: `(?{…})`, `(??{…})`, `(?p{…})`, `(*{…})`, `(**{…})`. Perl compiles the
/// block together with the pattern.
fn has_code_block(pattern: &[u8]) -> bool {
    pattern.split(|byte| *byte == b'(').skip(1).any(|group| {
        let marks = group.iter().take_while(|byte| matches!(byte, b'?' | b'*' | b'p')).count();
        marks > 0 && group.get(marks) == Some(&b'{')
    })
}

/// Returns `true` if perl calls a function by a name in the pattern: for `\p{IsName}` a property that the program
/// defines, for `\N{name}` the translator of character names.
///
/// The backslash may itself be escaped; the check does not try to find out and reports a function then, too.
fn names_function(pattern: &[u8]) -> bool {
    pattern.windows(2).enumerate().any(|(offset, window)| {
        let rest = pattern.get(offset + 2..).unwrap_or(&[]).trim_ascii_start();
        match window {
            b"\\p" | b"\\P" => names_property(rest),
            b"\\N" => rest.strip_prefix(b"{").is_some_and(|name| {
                let name = name.trim_ascii_start();
                !name.starts_with(b"U+") && !name.first().is_some_and(|first| first.is_ascii_digit() || *first == b',')
            }),
            _ => false,
        }
    })
}

/// Returns `true` if this may be a property that the program defines: its name begins with `In` or `Is`, after the name
/// of a package.
fn names_property(rest: &[u8]) -> bool {
    let Some(name) = rest.strip_prefix(b"{") else { return false };
    let end = name.iter().position(|byte| *byte == b'}').unwrap_or(name.len());
    let name = &name[..end];
    let start = name.iter().position(u8::is_ascii_alphabetic).unwrap_or(name.len());
    let is_prefixed = name
        .get(start..start + 2)
        .is_some_and(|front| front.eq_ignore_ascii_case(b"in") || front.eq_ignore_ascii_case(b"is"));
    is_prefixed || name.windows(2).any(|pair| pair == b"::") || name.contains(&b'\'') || !name.is_ascii()
}
