//! Signed data: a digest that becomes invalid when the text changes.
//!
//! A container with two entries, a text and a digest under a typical name, is considered signed if the text is frozen
//! data, or has a name that programs use for signed data. Examples are Laravel's closures (`serializable`, `hash`) and
//! Opis's (`closure`, `hash`). Encrypted values of Laravel have the entries `iv`, `value`, `mac` and, in newer
//! versions, `tag`.

use crate::detect;
use crate::document::{Cursor, Document, Kind};
use crate::format::{Format, Request, Settings};
use crate::limits::Limits;
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// Names of digests.
const DIGESTS: [&[u8]; 6] = [b"hash", b"mac", b"hmac", b"sig", b"signature", b"digest"];
/// Word stems. Each name of a digest contains one of them. The finders are made only once, because for a short text
/// it takes longer to make a finder than to search.
static STEMS: LazyLock<[Finder<'static>; 12]> = LazyLock::new(|| {
    let stems = ["hash", "Hash", "HASH", "mac", "Mac", "MAC", "sig", "Sig", "SIG", "digest", "Digest", "DIGEST"];
    stems.map(Finder::new)
});
/// The length of the shortest digest: MD5 in Base64 without `==`.
const MIN_DIGEST_LEN: usize = 22;
/// Names of signed data.
const PAYLOADS: [&[u8]; 8] =
    [b"serializable", b"serialized", b"closure", b"payload", b"data", b"value", b"message", b"body"];
/// Entries of an encrypted value; the last one may be missing.
const ENCRYPTED: [&[u8]; 4] = [b"iv", b"value", b"mac", b"tag"];
/// Number of letters of the longest of these names.
const MAX_NAME_LEN: usize = 9;
/// Maximum distance between a name and the digest.
const MAX_DISTANCE: usize = 32;

/// Returns `true` if the text has the length of a digest in hexadecimal digits or Base64.
fn is_digest_text(text: &[u8]) -> bool {
    let is_hex = || text.iter().all(u8::is_ascii_hexdigit);
    let is_base64 = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte));
    let bare = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    let pads = text.len() - bare.len();
    match (bare.len(), pads) {
        (32 | 40 | 56 | 96 | 128, 0) if is_hex() => true,
        // MD5, SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512.
        (22, 2) | (27 | 43, 0 | 1) | (38, 2) | (64, 0) | (86, 0 | 2) => is_base64(bare),
        _ => false,
    }
}

/// Returns `true` for the payload of a class that signs what it freezes: closures of Opis and SuperClosure.
pub(super) fn is_signed_body(body: &[u8]) -> bool {
    match body {
        [b'@', b'{', ..] => true,
        [b'@', rest @ ..] => rest.get(..44).is_some_and(is_digest_text) && rest.get(44) == Some(&b'.'),
        [b'%', rest @ ..] => rest.get(..44).is_some_and(is_digest_text),
        _ => false,
    }
}

/// Returns `true` if a digest is directly before or after this part of a text, with a mark between them.
pub(super) fn is_next_to_digest(text: &[u8], part: &Range<usize>) -> bool {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte);
    let is_mark = |byte: &u8| byte.is_ascii_punctuation();
    let before = text.get(..part.start).unwrap_or_default();
    let before =
        before.strip_suffix(b"--").or(before.split_last().filter(|(mark, _)| is_mark(mark)).map(|(_, rest)| rest));
    let before = before.unwrap_or_default();
    let len = before.iter().rev().take(MAX_DISTANCE + 180).take_while(is_letter).count();
    let after = text.get(part.end..).unwrap_or_default();
    let after =
        after.strip_prefix(b"--").or(after.split_first().filter(|(mark, _)| is_mark(mark)).map(|(_, rest)| rest));
    let directly_after = text.get(part.end..).unwrap_or_default();
    let leads = |rest: &[u8]| {
        let len = rest.iter().take(MAX_DISTANCE + 180).take_while(is_letter).count();
        is_digest_text(rest.get(..len).unwrap_or_default())
    };
    is_digest_text(before.get(before.len() - len..).unwrap_or_default())
        || leads(after.unwrap_or_default())
        || leads(directly_after)
}

/// Returns `true` if a text has a sequence of letters that is as long as a digest. The search begins at every 22nd
/// byte, because a sequence of that length contains at least one of these bytes. Most texts do not have such a
/// sequence.
fn has_long_run(text: &[u8]) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'\\');
    let mut offset = MIN_DIGEST_LEN - 1;
    while let (Some(before), Some(after)) = (text.get(..offset), text.get(offset..)) {
        let count = after.iter().take(MIN_DIGEST_LEN).take_while(is_part).count();
        if count > 0 && count + before.iter().rev().take(MIN_DIGEST_LEN).take_while(is_part).count() >= MIN_DIGEST_LEN {
            return true;
        }
        offset += count + MIN_DIGEST_LEN;
    }
    false
}

/// Returns the ends of names of digests in a text that may contain a digest.
fn find_names(text: &[u8]) -> impl Iterator<Item = usize> {
    let is_letter = |offset: usize| text.get(offset).is_some_and(u8::is_ascii_alphabetic);
    let word_end = move |offset: usize| {
        // The search backwards ends after the length of the longest name. Otherwise a long word would be searched
        // completely for each stem in it.
        let start =
            (0..offset).rev().take(MAX_NAME_LEN).take_while(|position| is_letter(*position)).last().unwrap_or(offset);
        let end =
            offset + (offset..text.len()).take(MAX_NAME_LEN + 1).take_while(|position| is_letter(*position)).count();
        let word = text.get(start..end).unwrap_or_default();
        DIGESTS.iter().any(|name| name.eq_ignore_ascii_case(word)).then_some(end)
    };
    let has_digest = has_long_run(text);
    STEMS.iter().filter(move |_| has_digest).flat_map(move |stem| stem.find_iter(text)).filter_map(word_end)
}

/// Returns `true` if a text contains a name of a digest followed by a digest.
fn may_be_signed(text: &[u8]) -> bool {
    let is_followed = |offset: usize| {
        let window = text.get(offset..).unwrap_or_default();
        let window = window.get(..MAX_DISTANCE + 180).unwrap_or(window);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=\\".contains(byte);
        let mut runs = window.split(|byte| !is_part(byte));
        let mut distance = 0;
        runs.any(|run| {
            let is_near = distance <= MAX_DISTANCE;
            distance += run.len() + 1;
            let run: Vec<u8> = run.iter().copied().filter(|byte| *byte != b'\\').collect();
            is_near && is_digest_text(&run)
        })
    };
    find_names(text).any(is_followed)
}

/// Returns the ranges of signed data in a text of this format, in order.
pub(super) fn find_signed_ranges(
    format: &'static Format,
    settings: &Settings,
    text: &[u8],
    limits: &Limits,
) -> Vec<Range<usize>> {
    if !may_be_signed(text) {
        return Vec::new();
    }
    let outcome = format.read(text, settings, Request::new(limits).detailed());
    let extents = outcome.document.trace().map_or(&[][..], |trace| &trace.extents);
    let extent = |node: u32| extents.get(node as usize).map(|extent| extent.start as usize..extent.end as usize);
    find_signed_nodes(&outcome.document).into_iter().filter_map(extent).collect()
}

/// Returns the nodes of signed data in a document, in order.
pub(super) fn find_signed_nodes(document: &Document<'_>) -> Vec<u32> {
    let mut nodes = Vec::new();
    // Only names are searched, not the digests after them. A format may write a name once and refer to it later, so a
    // digest may be far from its name.
    if find_names(document.input()).next().is_none() {
        return nodes;
    }
    for (index, node) in (0u32..).zip(document.nodes()) {
        if node.kind == Kind::Map && (2..=4).contains(&node.aux) {
            signed_entries(Cursor::new(document, index), &mut nodes);
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Adds the signed entries of a container.
fn signed_entries(map: Cursor<'_>, nodes: &mut Vec<u32>) {
    let entries: Vec<(&[u8], Cursor<'_>)> =
        map.entries().map(|(key, value)| (strip_class_marks(key.bytes()), value)).collect();
    let is_text_digest = |value: Cursor<'_>| value.as_bytes().is_some_and(is_digest_text);
    let is_one_of = |names: &[&[u8]], name: &[u8]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    if entries.len() >= 3 {
        let has =
            |name: &&[u8]| entries.iter().any(|(key, value)| key == name && (*key != b"mac" || is_text_digest(*value)));
        if entries.iter().all(|(key, _)| ENCRYPTED.contains(key)) && ENCRYPTED.iter().take(3).all(has) {
            nodes.extend(entries.iter().map(|(_, value)| value.index()));
        }
        return;
    }
    let is_digest_entry =
        |(key, value): &(&[u8], Cursor<'_>)| is_one_of(&DIGESTS, key) && value.as_bytes().is_some_and(is_digest_text);
    let [first, second] = &entries[..] else { return };
    let (payload, digest) = match (is_digest_entry(first), is_digest_entry(second)) {
        (false, true) => (first, second),
        (true, false) => (second, first),
        _ => return,
    };
    let Some(text) = payload.1.as_bytes() else { return };
    if is_one_of(&PAYLOADS, payload.0) || is_frozen_data(text) {
        nodes.extend([payload.1.index(), digest.1.index()]);
    }
}

/// Returns the name of a member without its class: `\0*\0hash`.
fn strip_class_marks(key: &[u8]) -> &[u8] {
    match key {
        [0, rest @ ..] => memchr::memchr(0, rest).and_then(|end| rest.get(end + 1..)).unwrap_or(key),
        key => key,
    }
}

/// Returns `true` if a text is frozen data of any format.
fn is_frozen_data(text: &[u8]) -> bool {
    detect::begins_frozen(text).is_some() || matches!(text.trim_ascii(), [b'{', .., b'}'] | [b'[', .., b']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_known_lengths() {
        for length in [32, 40, 56, 64, 96, 128] {
            assert!(is_digest_text("0a".repeat(length / 2).as_bytes()));
            assert!(!is_digest_text("0a".repeat(length / 2 - 1).as_bytes()), "{length}");
        }
        assert!(is_digest_text(b"N6b0lYh1ijm6R6q7Yw0E6iD0h+7iA8QPpZJbS/ZDUvY="));
        assert!(!is_digest_text(b"N6b0lYh1ijm6R6q7Yw0E6iD0h+7iA8QPpZJbS/ZDUvYx"));
        assert!(!is_digest_text(b"old") && !is_digest_text(b""));
    }

    /// A long word of stems is not scanned to its ends for each of them.
    #[test]
    fn long_words_take_linear_time() {
        assert!(find_names(&b"hash".repeat(1 << 18)).next().is_none());
        let digest = "0123456789abcdef0123456789abcdef";
        assert_eq!(find_names(format!("{digest:50}\"signature\"").as_bytes()).next(), Some(60));
    }

    /// Runs of all lengths at all places, and runs that are one letter too short.
    #[test]
    fn runs_as_long_as_a_digest_are_found() {
        for before in 0..50 {
            for (len, after) in (0..50).flat_map(|len| [(len, 0), (len, 1), (len, 30)]) {
                let text = format!("{:before$}{}{:after$}", "", "f".repeat(len), "");
                assert_eq!(has_long_run(text.as_bytes()), len >= MIN_DIGEST_LEN, "{text:?}");
                let (first, second) = (len / 2, len - len / 2);
                let text = format!("{:before$}{} {}{:after$}", "", "f".repeat(first), "f".repeat(second), "");
                assert_eq!(has_long_run(text.as_bytes()), second >= MIN_DIGEST_LEN, "{text:?}");
            }
        }
    }

    #[test]
    fn signed_values_are_found_by_their_entries() {
        let signed = |json: &str| {
            let document = crate::read(json.as_bytes()).unwrap();
            find_signed_nodes(&document).len()
        };
        let digest = "0123456789abcdef0123456789abcdef";
        assert_eq!(signed(&format!("{{\"serializable\":\"x\",\"hash\":\"{digest}\"}}")), 2);
        assert_eq!(signed(&format!("[{{\"hash\":\"{digest}\",\"any\":\"a:0:{{}}\"}}]")), 2);
        assert_eq!(signed(&format!("{{\"iv\":\"a\",\"value\":\"b\",\"mac\":\"{digest}\",\"tag\":\"\"}}")), 4);
        assert_eq!(signed(&format!("{{\"Data\":\"x\",\"Hash\":\"{digest}\"}}")), 2);
        // A file and its checksum, more entries, and no digest.
        assert_eq!(signed(&format!("{{\"file\":\"old.zip\",\"hash\":\"{digest}\"}}")), 0);
        assert_eq!(signed(&format!("{{\"data\":\"x\",\"hash\":\"{digest}\",\"more\":1}}")), 0);
        assert_eq!(signed("{\"data\":\"x\",\"hash\":\"old\"}"), 0);
    }
}
