//! Finds a text that was replaced by another one in a whole document, as a search and replace
//! does with the address of a site.
//!
//! The new text is unknown, but all strings with wrong lengths contain it. The search starts with the whole first
//! string, for each place where it may end. If a later string does not fit, the search continues with the longest
//! texts that both strings share, until everything fits. The new text determines the end of each string, also of
//! strings with right lengths. So it is unlikely that a wrong text fits by chance.

use super::Start;
use super::explain::{MeasuredReader, MeasuredText, Mismatch};
use super::measure::{Charset, LineEnds, Measure};
use super::names::Classes;
use super::step;
use crate::document::Explanation;
use crate::steps;
use std::collections::{HashMap, HashSet};

/// Number of ends of a string that are tried. They are the ones nearest to its stated end.
const MAX_ENDS: usize = 8;
/// The end of a string is searched up to this distance after twice its stated length.
const SEARCH_BEYOND: usize = 1024;
/// Maximum number of occurrences of the text in the first string.
const MAX_TIMES: i64 = 4;
/// Number of texts shared by two strings that are tried.
const MAX_SHARED: usize = 4;
/// Maximum number of times that the shared text is shortened.
const MAX_SHORTENINGS: u32 = 6;
/// Number of bytes of a string that are compared with another one.
const MAX_COMPARED: usize = 1 << 16;
/// Maximum length of the new text. Addresses are shorter. It is limited because the new text is compared at each
/// byte.
const MAX_NEW_LEN: usize = 256;
/// Minimum size of a shared text.
const MIN_SHARED_LEN: usize = 4;
/// Number of places with the same bytes that are compared.
const MAX_PLACES: usize = 8;
/// Work allowed for each byte of the text.
const WORK_PER_BYTE: u64 = 100;
/// Work allowed for any text.
const BASE_WORK: u64 = 2_000_000;

/// What a replaced text explains.
pub(super) struct ReplacedText {
    pub(super) reading: MeasuredText,
    pub(super) explanation: Explanation,
}

/// Reads the text to its end with each replaced text that allows it.
pub(super) fn find_replaced(text: &[u8], start: Start, classes: &Classes) -> Vec<ReplacedText> {
    let remaining = (text.len() as u64).saturating_mul(WORK_PER_BYTE).saturating_add(BASE_WORK);
    let mut search = ReplacedSearch { text, start, classes, remaining, tried: HashSet::new(), found: Vec::new() };
    for mismatch in search.read_with(Measure::BYTES).err().unwrap_or_default() {
        search.try_first(mismatch);
    }
    search.found
}

struct ReplacedSearch<'t> {
    text: &'t [u8],
    start: Start,
    classes: &'t Classes,
    remaining: u64,
    /// The texts that were tried, each with the growth of strings.
    tried: HashSet<(&'t [u8], i64)>,
    found: Vec<ReplacedText>,
}

impl<'t> ReplacedSearch<'t> {
    fn read_with(&mut self, measure: Measure<'t>) -> Result<MeasuredText, Vec<Mismatch<'t>>> {
        let following = MeasuredReader::new(measure, self.classes);
        let reading = following.read_whole_text(self.text, self.start, 0);
        self.charge_work(following.bytes_read() as u64 * 2 + 16);
        reading.ok_or_else(|| following.into_mismatches())
    }

    fn charge_work(&mut self, work: u64) {
        steps::count(work as usize);
        self.remaining = self.remaining.saturating_sub(work);
    }

    /// Returns the possible contents of the string, each with its growth.
    fn find_contents(&mut self, mismatch: Mismatch<'t>) -> Vec<(&'t [u8], i64)> {
        let Mismatch { rest, stated_len } = mismatch;
        if self.remaining == 0 {
            return Vec::new();
        }
        let stated = usize::try_from(stated_len).unwrap_or(usize::MAX).min(rest.len());
        let search_len = stated.saturating_mul(2).saturating_add(SEARCH_BEYOND).min(rest.len());
        self.charge_work(search_len as u64);
        let grew = |end: usize| Some(i64::try_from(end).ok()? - i64::try_from(stated_len).ok()?);
        let string_ends = step::find_string_ends(&rest[..search_len]);
        let mut ends: Vec<_> = string_ends.iter().filter_map(|end| Some((&rest[..*end], grew(*end)?))).collect();
        ends.retain(|(_, grew)| *grew != 0);
        ends.sort_by_key(|(_, grew)| grew.abs());
        ends.truncate(MAX_ENDS);
        ends
    }

    /// Tries the first string that does not fit. It is unknown which new text it contains, and how many times.
    fn try_first(&mut self, mismatch: Mismatch<'t>) {
        for (content, grew) in self.find_contents(mismatch) {
            for times in (1..=MAX_TIMES).filter(|times| grew % times == 0) {
                let step = grew / times;
                match times {
                    1 if content.len() <= MAX_NEW_LEN => self.try_text(content, step, 0),
                    // The new text may also occur in the text after this string, so the parts that both share are
                    // tried.
                    1 => {
                        for new in self.find_shared(content, mismatch.rest.get(content.len()..), step) {
                            self.try_text(new, step, 0);
                        }
                    }
                    _ => {
                        for new in self.find_shared(content, None, step) {
                            self.try_text(new, step, 0);
                        }
                    }
                }
            }
        }
    }

    /// Reads the document with this text as the new one. If a string does not fit, tries the texts that both share.
    fn try_text(&mut self, new: &'t [u8], step: i64, depth: u32) {
        if self.remaining == 0 || depth > MAX_SHORTENINGS || !can_be_new(new, step) || !self.tried.insert((new, step)) {
            return;
        }
        let measure = Measure { charset: Charset::Rewritten { new, grew: step }, lines: LineEnds::Kept };
        match self.read_with(measure) {
            Ok(reading) => {
                let explanation = explain_growth(&reading, step);
                self.found.push(ReplacedText { reading, explanation });
            }
            Err(mismatches) => {
                let is_multiple = |grew: i64| grew.signum() == step.signum() && grew % step == 0;
                for mismatch in mismatches {
                    let ends = self.find_contents(mismatch);
                    for (content, _) in ends.into_iter().filter(|(_, grew)| is_multiple(*grew)) {
                        for shared in self.find_shared(new, Some(content), step) {
                            self.try_text(shared, step, depth + 1);
                        }
                    }
                }
            }
        }
    }

    /// Returns the longest texts that both contain, or that the first one contains twice.
    fn find_shared(&mut self, text: &'t [u8], other_text: Option<&[u8]>, step: i64) -> Vec<&'t [u8]> {
        if self.remaining == 0 || !can_be_new(text, step) || !other_text.is_none_or(|other| can_be_new(other, step)) {
            return Vec::new();
        }
        let text = &text[..text.len().min(MAX_COMPARED)];
        let second = other_text.unwrap_or(text);
        let second = &second[..second.len().min(MAX_COMPARED)];
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (offset, seed) in text.windows(MIN_SHARED_LEN).enumerate().filter(|(_, seed)| !seed.contains(&b'"')) {
            let places = places.entry(seed).or_default();
            if places.len() < MAX_PLACES {
                places.push(offset);
            }
        }
        let mut work = (text.len() + second.len()) as u64 * 8;
        let mut runs: Vec<&'t [u8]> = Vec::new();
        for (other_offset, seed) in second.windows(MIN_SHARED_LEN).enumerate() {
            for offset in places.get(seed).into_iter().flatten().copied() {
                let continues = |first: Option<&u8>, second: Option<&u8>| {
                    first == second && first.is_some_and(|byte| *byte != b'"')
                };
                let before = |offset: usize| offset.checked_sub(1);
                // The two occurrences do not overlap.
                let max_len = if other_text.is_none() { other_offset.saturating_sub(offset) } else { usize::MAX };
                let (first, second_first) = (
                    before(offset).and_then(|at| text.get(at)),
                    before(other_offset).and_then(|with| second.get(with)),
                );
                if max_len < MIN_SHARED_LEN || continues(first, second_first) {
                    continue;
                }
                let same = (0..)
                    .take_while(|next| continues(text.get(offset + next), second.get(other_offset + next)))
                    .take(max_len.min(MAX_NEW_LEN));
                let run = &text[offset..offset + same.count()];
                work += run.len() as u64 + 1;
                if can_be_new(run, step) && !runs.contains(&run) {
                    let place = runs.partition_point(|known| known.len() >= run.len());
                    runs.insert(place, run);
                    runs.truncate(MAX_SHARED);
                }
            }
        }
        self.charge_work(work);
        runs
    }
}

/// Returns `true` if this may have replaced a text that was shorter by `step`. Both texts must not be empty, and must
/// not contain a quote, because a quote could end a string.
fn can_be_new(new: &[u8], step: i64) -> bool {
    let growth = usize::try_from(step.max(0)).unwrap_or(usize::MAX);
    new.split(|byte| *byte == b'"').any(|part| part.len() > growth)
}

/// Explains by how much strings grew.
fn explain_growth(reading: &MeasuredText, step: i64) -> Explanation {
    let grew = reading.changes.iter().map(|change| change.fix.new_len.abs_diff(change.fix.old_len)).max().unwrap_or(0);
    super::explain_step(step, grew)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let classes = Classes::from_text(text.as_bytes());
        let found = find_replaced(text.as_bytes(), Start::Value, &classes);
        let describe_repair = |found: ReplacedText| {
            let text = super::super::apply_changes(text.as_bytes(), &found.reading.changes);
            (String::from_utf8(text).unwrap(), found.explanation.sentence)
        };
        found.into_iter().map(describe_repair).collect()
    }

    #[test]
    fn a_text_shared_by_strings_shows_their_ends() {
        let damaged = r#"a:4:{i:0;s:12:"see http://new.example/";i:1;s:9:"new.example";s:3:" ";";i:2;s:24:"a:1:{i:0;s:7:"new.example";}";i:3;s:2:"no";}"#;
        let found = read(
            &damaged
                .replace("s:12:", "s:21:")
                .replace("s:9:", "s:17:")
                .replace("s:24:", "s:26:")
                .replace("s:7:", "s:9:"),
        );
        assert!(found.iter().all(|(text, _)| text.contains(r#"s:19:"new.example";s:3:" ";"#)), "{found:?}");
        // Two texts, one longer by 3 and one by 2: these are two replacements.
        assert!(read(r#"a:2:{i:0;s:3:"abcdef";i:1;s:1:"xyz";}"#).is_empty());
        // No text without a quote is long enough.
        assert!(read(r#"a:1:{i:0;s:1:"a";i:1;s:1:"b";}"#).is_empty());
    }

    #[test]
    fn texts_shared_by_two_strings_are_found() {
        let classes = Classes::from_text(b"");
        let mut search = ReplacedSearch {
            text: b"",
            start: Start::Value,
            classes: &classes,
            remaining: 1000,
            tried: HashSet::new(),
            found: Vec::new(),
        };
        assert_eq!(search.find_shared(b"see n.io now", Some(b"at n.io"), -3), [&b" n.io"[..]]);
        assert_eq!(search.find_shared(b"n.io and n.io", None, -3)[0], b"n.io");
    }

    /// Texts that offer as many ends, shared texts and names as possible.
    #[test]
    fn hostile_texts_take_linear_time() {
        type Shape = (&'static str, fn(usize) -> String);
        let shapes: [Shape; 7] = [
            ("wrong lengths without a cause", |size| {
                let string = |index: usize| format!("i:{index};s:{}:\"{}\";", index % 7, "ab".repeat(index % 11 + 3));
                format!("a:{}:{{{}}}", size / 20, (0..size / 20).map(string).collect::<String>())
            }),
            ("many ends", |size| format!("a:1:{{i:0;s:{size}:\"{}\";}}", "x\";".repeat(size / 3))),
            ("the same text again and again", |size| {
                let string = |index: usize| format!("i:{index};s:9:\"{}\";", "www.example".repeat(index % 3 + 1));
                format!("a:{}:{{{}}}", size / 30, (0..size / 30).map(string).collect::<String>())
            }),
            ("one byte", |size| format!("a:1:{{i:0;s:{}:\"{}\";}}", size / 2, "a".repeat(size))),
            ("100 levels, then a wrong length", |size| {
                let deep = "a:1:{i:0;".repeat(100) + "s:1:\"ab\";" + &"}".repeat(100);
                format!(
                    "a:{}:{{{}}}",
                    size / 1100,
                    (0..size / 1100).map(|index| format!("i:{index};{deep}")).collect::<String>()
                )
            }),
            ("texts in texts", |size| {
                let mut text = "s:3:\"abcdef\";".repeat(size / 60);
                for _ in 0..4 {
                    text = format!("a:1:{{i:0;s:{}:\"{text}\";}}", text.len() - 3);
                }
                text
            }),
            ("classes and names", |size| {
                let object = |index: usize| format!("i:{index};O:7:\"C{index:06}\":1:{{s:9:\"B{index:06}\";i:1;}}");
                format!("a:{}:{{{}}}", size / 45, (0..size / 45).map(object).collect::<String>())
            }),
        ];
        for (name, shape) in shapes {
            steps::is_linear(name, 4 << 10, |size| {
                let text = shape(size);
                let classes = Classes::from_text(text.as_bytes());
                let text = text.as_bytes();
                // The constant allowance does not grow with the text.
                steps::count(64 << 10);
                let _ = find_replaced(text, Start::Value, &classes);
            });
        }
    }
}
