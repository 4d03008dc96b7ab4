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

/// Maximum length of an integer without quotes. Data::Dumper writes only integers of up to 32 bits without quotes,
/// and these have at most ten digits.
const MAX_BARE_LEN: usize = 10;

impl<'d> Writer<'d> {
    /// Writes the leaf at `index`.
    #[inline]
    pub(super) fn write_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        match node.kind {
            // This string is the address of a value that a program did not show. It is written as it is.
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
                    self.record_loss(LossKind::Quoted, index);
                }
            }
            Kind::Null => buf.extend_from_slice(b"undef"),
            _ => return self.write_other_leaf(index, node, buf),
        }
        Ok(())
    }

    fn write_other_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        let useperl = self.style.options.useperl;
        let bytes = if node.kind.has_bytes() { document.bytes(node) } else { &[] };
        match node.kind {
            Kind::Bytes | Kind::Text => {
                let is_text = node.kind == Kind::Text && !bytes.is_ascii() && utf8::is_valid_text(bytes);
                if self.write_string(bytes, is_text, buf) {
                    self.record_loss(LossKind::Unquoted, index);
                } else if !bytes.is_ascii()
                    && (is_text != (node.kind == Kind::Text) || self.is_ambiguous_text(bytes, is_text))
                {
                    self.record_loss(LossKind::Text, index);
                }
            }
            Kind::Int if useperl => self.write_perl_integer(index, &format_decimal(node.payload as i64), buf),
            Kind::Int => {
                push_digits(&format_decimal(node.payload as i64), buf);
            }
            Kind::Uint => {
                self.record_loss(LossKind::Quoted, index);
                let digits = node.payload.to_string();
                if useperl {
                    self.write_string(digits.as_bytes(), false, buf)
                } else {
                    push_digits(digits.as_bytes(), buf)
                };
            }
            Kind::Null => buf.extend_from_slice(b"undef"),
            Kind::Hole => {
                self.record_loss(LossKind::Hole, index);
                buf.extend_from_slice(b"undef");
            }
            Kind::Bool => {
                self.record_loss(LossKind::Bool, index);
                match node.payload {
                    0 => {
                        self.write_string(b"", false, buf);
                    }
                    _ => buf.push(b'1'),
                }
            }
            Kind::Float => self.write_float(index, f64::from_bits(node.payload), true, buf),
            Kind::Float32 => self.write_float(index, f64::from(f32::from_bits(node.payload as u32)), true, buf),
            Kind::Float128 => {
                let wide = bytes.try_into().unwrap_or([0; 16]);
                self.write_float(index, float128::to_f64(&wide), float128::to_f64_exact(&wide).is_some(), buf);
            }
            Kind::BigInt => {
                if bigint::exceeds(bytes, self.limits.digits) {
                    return Err(self.limits.too_many_digits().on_path(document.path(index)));
                }
                self.record_loss(LossKind::BigInt, index);
                let mut digits = Vec::new();
                bigint::push_decimal(node.has(flag::NEGATIVE), bytes, &mut digits);
                self.write_string(&digits, false, buf);
            }
            Kind::Encoded => {
                self.record_loss(LossKind::Encoding, index);
                if self.write_string(bytes, false, buf) {
                    self.record_loss(LossKind::Unquoted, index);
                }
            }
            Kind::Module if node.form() == Form::Variable => self.write_glob(bytes, buf),
            Kind::Symbol | Kind::Module | Kind::EnumCase => {
                self.record_loss(if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Name }, index);
                self.write_name(index, bytes, buf);
            }
            Kind::VString => self.write_v_string(index, buf),
            Kind::Regexp => {
                self.record_loss(LossKind::Regexp, index);
                let mut text = Vec::new();
                self.write_regexp_string(index, &mut text);
                self.write_string(&text, false, buf);
            }
            _ => {
                return Err(Error::new(ErrorKind::Unrepresentable)
                    .on_path(document.path(index))
                    .expecting("a scalar")
                    .finding(format!("{:?}", node.kind)));
            }
        }
        Ok(())
    }

    /// Writes a v-string as its source. If perl would not read the source as this
    /// v-string, a new one is made from the value.
    fn write_v_string(&mut self, index: u32, buf: &mut Vec<u8>) {
        let source = self.child_bytes(index + 1);
        if self.style.options.trusted {
            return buf.extend_from_slice(source);
        }
        let value_at = self.document.tape().index_after(index + 1);
        let value = self.child_bytes(value_at);
        let is_text = self.node(value_at).kind == Kind::Text && !value.is_ascii() && utf8::is_valid_text(value);
        let characters: Vec<u64> = match is_text {
            true => utf8::valid_characters(value).map(|(code, _)| code).collect(),
            false => value.iter().map(|byte| u64::from(*byte)).collect(),
        };
        let mut source = Cow::Borrowed(source);
        if !safe::is_v_string(&source, &characters) {
            let value = value.to_vec();
            self.record_loss(LossKind::EmbeddedCode, index);
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

    fn child_bytes(&self, index: u32) -> &'d [u8] {
        let node = self.node(index);
        if node.kind.has_bytes() {
            self.nodes.get(index as usize).map_or(&[], |node| self.document.bytes(node))
        } else {
            &[]
        }
    }

    /// Writes a float as the string that perl makes of it, with 15 digits.
    fn write_float(&mut self, index: u32, value: f64, is_exact: bool, buf: &mut Vec<u8>) {
        // Perl converts negative zero to the string `0`, so its sign is lost.
        let text = float_to_perl_text(value);
        if !is_exact || text.parse::<f64>().is_ok_and(|reread| reread.to_bits() != value.to_bits() && !value.is_nan()) {
            self.record_loss(LossKind::Precision, index);
        }
        let is_bare = self.write_string(text.as_bytes(), false, buf);
        self.record_loss(if is_bare { LossKind::Integral } else { LossKind::Quoted }, index);
    }

    /// Writes an integer as the Perl code does.
    fn write_perl_integer(&mut self, index: u32, digits: &[u8], buf: &mut Vec<u8>) {
        if !self.write_string(digits, false, buf) {
            self.record_loss(LossKind::Quoted, index);
        }
    }

    /// Writes a name. Text that is not UTF-8 is written as bytes.
    fn write_name(&mut self, index: u32, bytes: &[u8], buf: &mut Vec<u8>) {
        let is_text = !bytes.is_ascii() && utf8::is_valid_text(bytes);
        if self.write_string(bytes, is_text, buf) {
            self.record_loss(LossKind::Unquoted, index);
        } else if self.is_ambiguous_text(bytes, is_text) {
            self.record_loss(LossKind::Text, index);
        }
    }

    /// Returns `true` if the output does not distinguish bytes from text: the Perl code writes
    /// characters as they are.
    pub(super) fn is_ambiguous_text(&self, bytes: &[u8], is_text: bool) -> bool {
        if !self.style.options.useperl || self.style.options.useqq || bytes.is_ascii() {
            return false;
        }
        let has_wide = is_text && utf8::valid_characters(bytes).any(|(code, _)| code > 0xFF);
        if is_text { !has_wide } else { self.style.writes_utf8 }
    }

    /// Writes a string. `is_text` is set if it is text and not only ASCII. Returns `true` if the string was written
    /// as a number.
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
        quote::push_chars(bytes, is_text, self.style.writes_utf8, &mut chars);
        quote::push_single(&chars, buf);
    }

    // -- Globs -----------------------------------------------------------------------

    /// Writes a glob: `bytes` is its name with the star.
    fn write_glob(&self, bytes: &[u8], buf: &mut Vec<u8>) {
        let options = self.style.options;
        let name = bytes.strip_prefix(b"*").unwrap_or(bytes);
        let name_in_main = name.strip_prefix(b"main").filter(|rest| rest.starts_with(b"::"));
        let name = match name_in_main {
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

    /// Returns the pattern of the regexp at `index`, and its flags.
    fn regexp_parts(&self, index: u32) -> (&[u8], bool, Vec<u8>) {
        let pattern = self.child_bytes(index + 1);
        let is_text = self.node(index + 1).kind == Kind::Text && !pattern.is_ascii() && utf8::is_valid_text(pattern);
        let flags = self.child_bytes(self.document.tape().index_after(index + 1));
        // Perl gives a pattern in UTF-8 the flag `u`. Not all formats store this flag, so it is added here.
        let has_charset = flags.iter().any(|flag| matches!(flag, b'u' | b'a' | b'l' | b'd'));
        let charset = if is_text && !has_charset { &b"u"[..] } else { b"" };
        (pattern, is_text, [charset, flags].concat())
    }

    /// Writes a regexp as a string.
    pub(super) fn write_regexp_string(&self, index: u32, buf: &mut Vec<u8>) {
        let (pattern, _, flags) = self.regexp_parts(index);
        buf.extend_from_slice(&[b"(?^", &flags[..], b":", pattern, b")"].concat());
    }

    /// Reports non-ASCII characters that become escapes in the pattern, which only perl
    /// reads the same.
    fn record_regexp_losses(&mut self, index: u32) {
        let own_flags = self.child_bytes(self.document.tape().index_after(index + 1)).to_vec();
        let (pattern, is_text, flags) = self.regexp_parts(index);
        let is_ambiguous =
            !pattern.is_ascii() && (is_text || self.node(index + 1).kind == Kind::Text || self.style.writes_utf8);
        // The flag `u` of a pattern of text is only written out.
        if flags != own_flags && !is_text || flags.iter().any(|flag| !b"ualmsixnp".contains(flag)) {
            self.record_loss(LossKind::RegexpFlags, index);
        }
        if is_ambiguous {
            self.record_loss(LossKind::Text, index + 1);
        }
    }

    /// Writes a regexp as `qr/…/`: slashes are escaped, and dollars that would begin a
    /// variable.
    pub(super) fn write_regexp(&mut self, index: u32, buf: &mut Vec<u8>) {
        self.record_regexp_losses(index);
        let (pattern, is_text, mut flags) = self.regexp_parts(index);
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
                    self.record_loss(LossKind::EmbeddedCode, index);
                    return buf.extend_from_slice(safe::NEVER);
                }
            }
        }
        buf.extend_from_slice(b"qr/");
        let mut is_escaped = false;
        let mut offset = 0;
        while let Some(byte) = pattern.get(offset) {
            let rest = &pattern[offset..];
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
                    quote::push_chars(&rest[..len], is_text, self.style.writes_utf8, buf);
                }
                _ => buf.push(*byte),
            }
            is_escaped = *byte == b'\\' && !is_escaped;
            offset += len;
        }
        buf.push(b'/');
        buf.extend_from_slice(&flags);
    }
}

/// Writes digits, in quotes if there are many. Returns `true` if they have quotes.
#[inline]
pub(super) fn push_digits(digits: &[u8], buf: &mut Vec<u8>) -> bool {
    if digits.len() <= MAX_BARE_LEN {
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

/// Returns `true` if the C code writes a glob of this name without quotes: each part must begin
/// with a letter.
fn is_glob(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"::").unwrap_or(name);
    split_package_name(name).all(quote::is_identifier)
}

/// Like [`is_glob`], for the Perl code.
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
        let separator = name.windows(2).position(|pair| pair == b"::");
        rest = separator.and_then(|offset| name.get(offset + 2..));
        Some(separator.map_or(name, |offset| &name[..offset]))
    })
}
