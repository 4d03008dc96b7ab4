//! The changes of a value. A value is changed as a whole, or as lines and the frozen data after them.

use icecore::rewrite::{self, Edits, Rewriting, Tally};
use icecore_replace::Replacing;
use memchr::memchr_iter;

/// Returns the changes of a value.
///
/// Some programs put a serialized value after lines of text in one column. Then the two parts are changed separately.
pub fn find_edits(text: &[u8], replacing: &mut Replacing<'_>, options: &Rewriting, tally: &mut Tally) -> Edits {
    let Some(tail_start) = find_frozen_tail(text) else { return rewrite::value(text, replacing, options, tally) };
    let (head, tail) = text.split_at(tail_start);
    let mut edits = rewrite::value(head, replacing, options, tally);
    for edit in rewrite::value(tail, replacing, options, tally).iter() {
        edits.push(tail_start + edit.start, tail_start + edit.end, edit.new);
    }
    edits
}

/// Returns the start of a line from which on everything is frozen data.
fn find_frozen_tail(text: &[u8]) -> Option<usize> {
    let begins_frozen = |offset: &usize| matches!(text.get(*offset..), Some([b'a' | b'O' | b's', b':', digit, ..]) if digit.is_ascii_digit());
    if begins_frozen(&0) {
        return None;
    }
    let start = memchr_iter(b'\n', text).map(|end| end + 1).find(begins_frozen)?;
    let tail = text.get(start..)?;
    let is_frozen = icecore::detect::begins_frozen(tail).is_some() && icecore::detect::stage_of(tail).is_ok();
    is_frozen.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore_replace::Rules;

    #[test]
    fn frozen_data_after_lines_is_changed_as_a_document() {
        let rules = Rules::builder().pair("old", "newer").build().unwrap();
        let changed = |text: &str| {
            let options = Rewriting::default();
            let edits = find_edits(text.as_bytes(), &mut rules.replacing(), &options, &mut Tally::default());
            String::from_utf8(edits.apply(text.as_bytes())).unwrap()
        };
        assert_eq!(
            changed("https://old/a.mp3\n205\naudio/mpeg\na:1:{s:5:\"image\";s:3:\"old\";}"),
            "https://newer/a.mp3\n205\naudio/mpeg\na:1:{s:5:\"image\";s:5:\"newer\";}"
        );
        // Truncated data is not certain to be frozen, so it is treated as text.
        assert_eq!(changed("old\na:1:{s:5:\"old"), "old\na:1:{s:5:\"old");
        assert_eq!(changed("s:10:\"old\na:0:{}\";"), "s:12:\"newer\na:0:{}\";");
    }
}
