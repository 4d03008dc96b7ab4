//! Writes leaves: strings, numbers and the like, and regexps.

use super::Writer;
use super::frames::push_int;
use super::quote;
use super::safe::{self, PatternSafety};
use crate::document::{Form, Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::format::dumper::NO_FUNCTIONS;
use crate::format::dumper::options::WriteOptions;
use crate::format::scan::utf8;
use crate::num::general::float_to_perl_text;
use crate::num::{bigint, float128};
use crate::output::LossKind;
use std::borrow::Cow;

/// Longest integer without quotes: 32 bits need no more characters.
const BARE: usize = 10;

impl<'d> Writer<'d> {
    /// Writes the leaf at `at`.
    #[inline]
    pub(super) fn write_leaf(&mut self, at: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        match node.kind {
            // The address of a value that is not shown, as it is.
            Kind::Bytes if node.has(flag::HINT) && self.style.options.trusted => {
                buf.push(b'\'');
                buf.extend_from_slice(self.document.bytes(node));
                buf.push(b'\'');
            }
            Kind::Bytes if !self.style.options.useperl && !self.style.options.useqq => {
                quote::push_single(self.document.bytes(node), buf);
            }
            Kind::Int if !self.style.options.useperl => {
                let mut digits = itoa::Buffer::new();
                if push_digits(digits.format(node.payload as i64).as_bytes(), buf) {
                    self.record_loss(LossKind::Quoted, at);
                }
            }
            Kind::Null => buf.extend_from_slice(b"undef"),
            _ => return self.write_other_leaf(at, node, buf),
        }
        Ok(())
    }

    fn write_other_leaf(&mut self, at: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        let useperl = self.style.options.useperl;
        let bytes = if node.kind.has_bytes() { document.bytes(node) } else { &[] };
        match node.kind {
            Kind::Bytes | Kind::Text => {
                let is_text = node.kind == Kind::Text && !bytes.is_ascii() && utf8::is_valid_text(bytes);
                if self.write_string(bytes, is_text, buf) {
                    self.record_loss(LossKind::Unquoted, at);
                } else if !bytes.is_ascii()
                    && (is_text != (node.kind == Kind::Text) || self.is_ambiguous_text(bytes, is_text))
                {
                    self.record_loss(LossKind::Text, at);
                }
            }
            Kind::Int if useperl => self.write_number(at, &format_decimal(node.payload as i64), buf),
            Kind::Int => {
                push_digits(&format_decimal(node.payload as i64), buf);
            }
            Kind::Uint => {
                self.record_loss(LossKind::Quoted, at);
                let digits = node.payload.to_string();
                if useperl {
                    self.write_string(digits.as_bytes(), false, buf)
                } else {
                    push_digits(digits.as_bytes(), buf)
                };
            }
            Kind::Null => buf.extend_from_slice(b"undef"),
            Kind::Hole => {
                self.record_loss(LossKind::Hole, at);
                buf.extend_from_slice(b"undef");
            }
            Kind::Bool => {
                self.record_loss(LossKind::Bool, at);
                match node.payload {
                    0 => {
                        self.write_string(b"", false, buf);
                    }
                    _ => buf.push(b'1'),
                }
            }
            Kind::Float => self.write_float(at, f64::from_bits(node.payload), true, buf),
            Kind::Float32 => self.write_float(at, f64::from(f32::from_bits(node.payload as u32)), true, buf),
            Kind::Float128 => {
                let wide = bytes.try_into().unwrap_or([0; 16]);
                self.write_float(at, float128::to_f64(&wide), float128::to_f64_exact(&wide).is_some(), buf);
            }
            Kind::BigInt => {
                if bigint::exceeds(bytes, self.limits.digits) {
                    return Err(self.limits.too_many_digits().on_path(document.path(at)));
                }
                self.record_loss(LossKind::BigInt, at);
                let mut digits = Vec::new();
                bigint::push_decimal(node.has(flag::NEGATIVE), bytes, &mut digits);
                self.write_string(&digits, false, buf);
            }
            Kind::Encoded => {
                self.record_loss(LossKind::Encoding, at);
                if self.write_string(bytes, false, buf) {
                    self.record_loss(LossKind::Unquoted, at);
                }
            }
            Kind::Module if node.form() == Form::Variable => self.write_glob(bytes, buf),
            Kind::Symbol | Kind::Module | Kind::EnumCase => {
                self.record_loss(if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Name }, at);
                self.write_name(at, bytes, buf);
            }
            Kind::VString => self.write_v_string(at, buf),
            Kind::Regexp => {
                self.record_loss(LossKind::Regexp, at);
                let mut text = Vec::new();
                self.write_regexp_string(at, &mut text);
                self.write_string(&text, false, buf);
            }
            _ => {
                return Err(Error::new(ErrorKind::Unrepresentable)
                    .on_path(document.path(at))
                    .expecting("a scalar")
                    .finding(format!("{:?}", node.kind)));
            }
        }
        Ok(())
    }

    /// Writes a v-string as its source. If perl would not read the source as this
    /// v-string, a new one is made from the value.
    fn write_v_string(&mut self, at: u32, buf: &mut Vec<u8>) {
        let source = self.child_bytes(at + 1);
        if self.style.options.trusted {
            return buf.extend_from_slice(source);
        }
        let value_at = self.document.tape().index_after(at + 1);
        let value = self.child_bytes(value_at);
        let is_text = self.node(value_at).kind == Kind::Text && !value.is_ascii() && utf8::is_valid_text(value);
        let characters: Vec<u64> = match is_text {
            true => utf8::valid_characters(value).map(|(code, _)| code).collect(),
            false => value.iter().map(|byte| u64::from(*byte)).collect(),
        };
        let mut source = Cow::Borrowed(source);
        if !safe::is_v_string(&source, &characters) {
            let value = value.to_vec();
            self.record_loss(LossKind::EmbeddedCode, at);
            if characters.is_empty() {
                self.write_string(&value, is_text, buf);
                return;
            }
            let numbers: Vec<_> = characters.iter().map(u64::to_string).collect();
            source = Cow::Owned(format!("v{}", numbers.join(".")).into_bytes());
        }
        match safe::may_be_function(&source) {
            true => buf.extend_from_slice(&[b"do{", NO_FUNCTIONS, &source, b"}"].concat()),
            false => buf.extend_from_slice(&source),
        }
    }

    fn child_bytes(&self, at: u32) -> &'d [u8] {
        let node = self.node(at);
        if node.kind.has_bytes() {
            self.nodes.get(at as usize).map_or(&[], |node| self.document.bytes(node))
        } else {
            &[]
        }
    }

    /// Writes a float as the string that perl makes of it, with 15 digits.
    fn write_float(&mut self, at: u32, value: f64, is_exact: bool, buf: &mut Vec<u8>) {
        // As a string, zero has no sign.
        let text = float_to_perl_text(value);
        if !is_exact || text.parse::<f64>().is_ok_and(|back| back.to_bits() != value.to_bits() && !value.is_nan()) {
            self.record_loss(LossKind::Precision, at);
        }
        let is_bare = self.write_string(text.as_bytes(), false, buf);
        self.record_loss(if is_bare { LossKind::Integral } else { LossKind::Quoted }, at);
    }

    /// Writes an integer as the Perl code does.
    fn write_number(&mut self, at: u32, digits: &[u8], buf: &mut Vec<u8>) {
        if !self.write_string(digits, false, buf) {
            self.record_loss(LossKind::Quoted, at);
        }
    }

    /// Writes a name. Text that is not UTF-8 is written as bytes.
    fn write_name(&mut self, at: u32, bytes: &[u8], buf: &mut Vec<u8>) {
        let is_text = !bytes.is_ascii() && utf8::is_valid_text(bytes);
        if self.write_string(bytes, is_text, buf) {
            self.record_loss(LossKind::Unquoted, at);
        } else if self.is_ambiguous_text(bytes, is_text) {
            self.record_loss(LossKind::Text, at);
        }
    }

    /// Whether the output does not distinguish bytes from text: the Perl code writes
    /// characters as they are.
    pub(super) fn is_ambiguous_text(&self, bytes: &[u8], is_text: bool) -> bool {
        if !self.style.options.useperl || self.style.options.useqq || bytes.is_ascii() {
            return false;
        }
        let has_wide = is_text && utf8::valid_characters(bytes).any(|(code, _)| code > 0xFF);
        if is_text { !has_wide } else { self.style.wide }
    }

    /// Writes a string. `is_text`: it is text, and not ASCII. Returns whether it is
    /// written as a number.
    fn write_string(&self, bytes: &[u8], is_text: bool, buf: &mut Vec<u8>) -> bool {
        let options = self.style.options;
        let is_bare = (options.useperl || options.useqq) && quote::is_decimal(bytes);
        if is_bare {
            buf.extend_from_slice(bytes);
        } else if options.useperl {
            self.push_string_of_perl(bytes, is_text, buf);
        } else if options.useqq || is_text {
            quote::push_double(bytes, is_text, options.useqq, buf);
        } else {
            quote::push_single(bytes, buf);
        }
        is_bare
    }

    /// Writes a string in the quotes that Data::Dumper's Perl code uses.
    pub(super) fn push_string_of_perl(&self, bytes: &[u8], is_text: bool, buf: &mut Vec<u8>) {
        let has_wide = || is_text && utf8::valid_characters(bytes).any(|(code, _)| code > 0xFF);
        if self.style.options.useqq || has_wide() {
            return quote::push_double(bytes, is_text, true, buf);
        }
        let mut chars = Vec::new();
        quote::push_chars(bytes, is_text, self.style.wide, &mut chars);
        quote::push_single(&chars, buf);
    }

    // -- Globs -----------------------------------------------------------------------

    /// Writes a glob: `bytes` is its name with the star.
    fn write_glob(&self, bytes: &[u8], buf: &mut Vec<u8>) {
        let options = self.style.options;
        let name = bytes.strip_prefix(b"*").unwrap_or(bytes);
        let in_main = name.strip_prefix(b"main").filter(|rest| rest.starts_with(b"::"));
        let name = match in_main {
            Some(b"::") if !options.useperl => b"",
            Some(rest) if rest.len() > 2 => rest,
            _ => name,
        };
        buf.push(b'*');
        let is_bare = if options.useperl { is_glob_of_perl(name) } else { is_glob(name) };
        if is_bare {
            return buf.extend_from_slice(name);
        }
        let is_text = !name.is_ascii() && utf8::is_valid_text(name);
        buf.push(b'{');
        match options.useperl {
            true if name == b"main::" => self.push_string_of_perl(b"", false, buf),
            true if quote::is_decimal(name) => buf.extend_from_slice(name),
            true => self.push_string_of_perl(name, is_text, buf),
            false if options.useqq || !name.is_ascii() => quote::push_double(name, is_text, options.useqq, buf),
            false => quote::push_single(name, buf),
        }
        buf.push(b'}');
    }

    // -- Regexps ---------------------------------------------------------------------

    /// Returns the pattern of the regexp at `at`, and its flags.
    fn regexp_parts(&self, at: u32) -> (&[u8], bool, Vec<u8>) {
        let pattern = self.child_bytes(at + 1);
        let is_text = self.node(at + 1).kind == Kind::Text && !pattern.is_ascii() && utf8::is_valid_text(pattern);
        let flags = self.child_bytes(self.document.tape().index_after(at + 1));
        // For perl, a pattern in UTF-8 is Unicode; not all writers record this.
        let has_charset = flags.iter().any(|flag| matches!(flag, b'u' | b'a' | b'l' | b'd'));
        let charset = if is_text && !has_charset { &b"u"[..] } else { b"" };
        (pattern, is_text, [charset, flags].concat())
    }

    /// Writes a regexp as a string.
    pub(super) fn write_regexp_string(&self, at: u32, buf: &mut Vec<u8>) {
        let (pattern, _, flags) = self.regexp_parts(at);
        buf.extend_from_slice(&[b"(?^", &flags[..], b":", pattern, b")"].concat());
    }

    /// Reports non-ASCII characters that become escapes in the pattern, which only perl
    /// reads the same.
    fn record_regexp_losses(&mut self, at: u32) {
        let own = self.child_bytes(self.document.tape().index_after(at + 1)).to_vec();
        let (pattern, is_text, flags) = self.regexp_parts(at);
        let is_blurred = !pattern.is_ascii() && (is_text || self.node(at + 1).kind == Kind::Text || self.style.wide);
        if flags != own || flags.iter().any(|flag| !b"ualmsixnp".contains(flag)) {
            self.record_loss(LossKind::RegexpFlags, at);
        }
        if is_blurred {
            self.record_loss(LossKind::Text, at + 1);
        }
    }

    /// Writes a regexp as `qr/…/`: slashes are escaped, and dollars that would begin a
    /// variable.
    pub(super) fn write_regexp(&mut self, at: u32, buf: &mut Vec<u8>) {
        self.record_regexp_losses(at);
        let (pattern, is_text, mut flags) = self.regexp_parts(at);
        let WriteOptions { useperl, trusted, .. } = *self.style.options;
        if !trusted {
            flags = safe::keep_known_flags(&flags);
            match safe::classify_pattern(pattern, &flags, safe::has_visible_pad(self.style.options)) {
                PatternSafety::Literal => {}
                PatternSafety::Variable => {
                    buf.extend_from_slice(b"do{my $o = ");
                    match is_text || pattern.contains(&b'\n') {
                        true => quote::push_double(pattern, is_text, true, buf),
                        false => quote::push_single(pattern, buf),
                    }
                    buf.extend_from_slice(b"; qr/$o/");
                    buf.extend_from_slice(&flags);
                    return buf.push(b'}');
                }
                PatternSafety::Code => {
                    self.record_loss(LossKind::EmbeddedCode, at);
                    return buf.extend_from_slice(safe::NEVER);
                }
            }
        }
        buf.extend_from_slice(b"qr/");
        let mut is_escaped = false;
        let mut at = 0;
        while let Some(byte) = pattern.get(at) {
            let rest = &pattern[at..];
            let len = if is_text { utf8::first_character(rest).map_or(1, |(_, len)| len) } else { 1 };
            let next = rest.get(1);
            match byte {
                b'/' if !is_escaped => buf.extend_from_slice(b"\\/"),
                b'$' if !is_escaped && !matches!(next, None | Some(b'|' | b')')) => {
                    buf.extend_from_slice(b"${\\q($)}");
                }
                _ if !byte.is_ascii() && is_text && !useperl => {
                    let code = utf8::first_character(rest).map_or(0, |(code, _)| code);
                    buf.extend_from_slice(format!("\\x{{{code:x}}}").as_bytes());
                }
                _ if !byte.is_ascii() && useperl => {
                    quote::push_chars(&rest[..len], is_text, self.style.wide, buf);
                }
                _ => buf.push(*byte),
            }
            is_escaped = *byte == b'\\' && !is_escaped;
            at += len;
        }
        buf.push(b'/');
        buf.extend_from_slice(&flags);
    }
}

/// Writes digits, in quotes if there are many. Returns whether they have quotes.
#[inline]
pub(super) fn push_digits(digits: &[u8], buf: &mut Vec<u8>) -> bool {
    if digits.len() <= BARE {
        buf.extend_from_slice(digits);
        return false;
    }
    buf.push(b'\'');
    buf.extend_from_slice(digits);
    buf.push(b'\'');
    true
}

fn format_decimal(value: i64) -> Vec<u8> {
    let mut digits = Vec::new();
    push_int(value, &mut digits);
    digits
}

/// Whether the C code writes a glob of this name without quotes: each part must begin
/// with a letter.
fn is_glob(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"::").unwrap_or(name);
    split_package_name(name).all(quote::is_identifier)
}

/// The same for the Perl code.
fn is_glob_of_perl(name: &[u8]) -> bool {
    let is_word = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let count = split_package_name(name).count();
    let fits = |(position, part): (usize, &[u8])| match position {
        0 => part.is_empty() || quote::is_identifier(part),
        _ => is_word(part) && (!part.is_empty() || position + 1 == count),
    };
    count > 1 && name != b"main::" && split_package_name(name).enumerate().all(fits)
}

/// Returns the parts of a name between double colons.
fn split_package_name(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(name);
    std::iter::from_fn(move || {
        let name = rest?;
        let at = name.windows(2).position(|pair| pair == b"::");
        rest = at.and_then(|at| name.get(at + 2..));
        Some(at.map_or(name, |at| &name[..at]))
    })
}
