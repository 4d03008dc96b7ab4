//! Texts: YAML, XML, property lists, references that Perl printed, and literals of PHP.

use super::Sample;
use crate::format::{Certainty, Guess};

fn make_guess(certainty: Certainty, variant: &str) -> Option<Guess> {
    Some(Guess { certainty, variant: variant.to_owned() })
}

/// Returns the text without a leading byte order mark and blanks.
fn strip_bom_and_blanks<'a>(sample: &Sample<'a>) -> &'a [u8] {
    let bytes = sample.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample.bytes);
    bytes.trim_ascii_start()
}

/// What Perl prints for a reference: `ARRAY(0x55dd1234)`, `My::Class=HASH(0x55dd1234)`.
pub(super) fn detect_perl_reference(sample: &Sample<'_>) -> Option<Guess> {
    const KINDS: [&str; 10] = ["ARRAY", "HASH", "SCALAR", "CODE", "REF", "GLOB", "LVALUE", "IO", "VSTRING", "Regexp"];
    let text = std::str::from_utf8(sample.bytes).ok()?.trim();
    let (class, reference) = text.rsplit_once('=').map_or((None, text), |(class, rest)| (Some(class), rest));
    let (kind, address) = reference.strip_suffix(')')?.split_once("(0x")?;
    let is_class = |class: &str| class.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:'".contains(&byte));
    let is_address = !address.is_empty() && address.len() <= 16 && address.bytes().all(|byte| byte.is_ascii_hexdigit());
    (KINDS.contains(&kind) && is_address && class.is_none_or(is_class)).then_some(())?;
    make_guess(Certainty::Sure, class.map_or("", |_| "to an object"))
}

/// A message that Rails encrypted: its parts in Base64, with `--` between them. With AES-GCM these are the text, an
/// initialization vector of 12 bytes and a tag of 16 bytes.
pub(super) fn detect_rails_encrypted(sample: &Sample<'_>) -> Option<Guess> {
    let text = sample.bytes.trim_ascii();
    let is_base64 = |part: &[u8], len: usize| {
        let digits = part.strip_suffix(b"==").or_else(|| part.strip_suffix(b"=")).unwrap_or(part);
        part.len() == len && digits.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    };
    let (rest, tag) = text.split_at_checked(text.len().checked_sub(24)?)?;
    let (body, vector) = rest.strip_suffix(b"--")?.split_at_checked(rest.len().checked_sub(2 + 16)?)?;
    let body = body.strip_suffix(b"--")?;
    let is_message = is_base64(tag, 24) && is_base64(vector, 16) && !body.is_empty() && is_base64(body, body.len());
    if is_message { make_guess(Certainty::Likely, "AES-GCM") } else { None }
}

/// An array of PHP as people write it in source code. [`Format`](crate::format::Format)s detect what a program wrote.
pub(super) fn detect_php_literal(sample: &Sample<'_>) -> Option<Guess> {
    let text = strip_bom_and_blanks(sample);
    let text = text.strip_prefix(b"return").map_or(text, |rest| rest.trim_ascii_start());
    let is_word = text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"array"));
    let body = text.get(5..).filter(|_| is_word)?.trim_ascii_start().strip_prefix(b"(")?.trim_ascii();
    let end = body.strip_suffix(b";").unwrap_or(body).trim_ascii_end();
    let begins_with_value = body.first().is_some_and(|byte| b"'\")-".contains(byte) || byte.is_ascii_digit());
    if begins_with_value && end.ends_with(b")") { make_guess(Certainty::Possible, "var-export reads it") } else { None }
}

/// XML, and a property list in XML.
pub(super) fn detect_xml(sample: &Sample<'_>) -> Option<Guess> {
    if strip_bom_and_blanks(sample).starts_with(b"<?xml ") && !is_plist(sample) {
        make_guess(Certainty::Sure, "")
    } else {
        None
    }
}

pub(super) fn detect_plist(sample: &Sample<'_>) -> Option<Guess> {
    if is_plist(sample) { make_guess(Certainty::Sure, "XML") } else { None }
}

fn is_plist(sample: &Sample<'_>) -> bool {
    let text = strip_bom_and_blanks(sample);
    let head = &text[..text.len().min(1024)];
    let has = |needle: &[u8]| head.windows(needle.len()).any(|window| window == needle);
    head.starts_with(b"<plist ") || head.starts_with(b"<?xml ") && (has(b"<!DOCTYPE plist") || has(b"<plist "))
}

/// YAML with explicit evidence: a directive, a language tag, or a document mark followed by a key or an item.
pub(super) fn detect_yaml(sample: &Sample<'_>) -> Option<Guess> {
    let text = strip_bom_and_blanks(sample);
    if text.starts_with(b"%YAML 1.") {
        return make_guess(Certainty::Sure, "");
    }
    let rest = text.strip_prefix(b"---")?;
    let head = String::from_utf8_lossy(&rest[..rest.len().min(4096)]).into_owned();
    for (tag, variant) in [
        (" !ruby/", "with Ruby objects"),
        (" !perl/", "with Perl objects"),
        (" !!perl/", "with Perl objects"),
        (" !php/", "with PHP objects"),
    ] {
        if head.starts_with(tag) {
            return make_guess(Certainty::Sure, variant);
        }
    }
    let mut lines = head.lines();
    if !lines.next()?.trim().is_empty() {
        return None;
    }
    let line = lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))?;
    let is_item = line.starts_with("- ");
    let is_entry = line.split_once(':').is_some_and(|(key, value)| {
        !key.is_empty()
            && key.chars().all(|c| c.is_alphanumeric() || "_-.'\"!/ ".contains(c))
            && (value.is_empty() || value.starts_with(' '))
    });
    // A second mark ends the front matter of a text in another language.
    let is_front_matter = head.lines().skip(1).any(|line| line == "---");
    if (is_item || is_entry) && !is_front_matter { make_guess(Certainty::Likely, "") } else { None }
}
