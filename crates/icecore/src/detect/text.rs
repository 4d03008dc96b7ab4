//! Texts: YAML, XML and property lists.

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
