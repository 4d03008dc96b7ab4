//! Suggestions for mistyped names.

use std::cmp::Reverse;

/// Returns the known name that was probably meant: one that differs only in case, `-` and `_`; or in few letters; or
/// one that was shortened, or got a word too many.
///
/// ```
/// assert_eq!(icecore::text::nearest("serael", ["storable", "sereal"].into_iter()), Some("sereal"));
/// assert_eq!(icecore::text::nearest("export", ["report", "import"].into_iter()), None);
/// ```
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let wanted = folded(name);
    if wanted.is_empty() || name.len() > 64 {
        return None;
    }
    let exact = known.clone().find(|known| folded(known) == wanted);
    let by_letters = || {
        let candidates = known.clone().filter_map(|known| Some((letters_between(&wanted, &folded(known))?, known)));
        candidates.min_by_key(|(letters, _)| *letters).map(|(_, known)| known)
    };
    let by_start = || {
        let candidates = known.clone().filter_map(|known| Some((shared_start(name, known)?, known)));
        candidates.max_by_key(|(shared, known)| (*shared, Reverse(known.len()))).map(|(_, known)| known)
    };
    exact.or_else(by_letters).or_else(by_start)
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '_', ' '], "")
}

/// Returns the number of letters in which two names differ, if they are close: one letter, and in long names more.
/// Two letters in another order count as one. A name is rarely mistyped at its start.
fn letters_between(name: &str, known: &str) -> Option<usize> {
    let shortest = name.chars().count().min(known.chars().count());
    // The first two letters may be in another order.
    let starts = |name: &str| name.bytes().take(2).collect::<Vec<u8>>();
    let is_swapped = starts(name).iter().eq(starts(known).iter().rev());
    let same_start = is_swapped || name.chars().next() == known.chars().next();
    let max_edits = match shortest {
        0 | 1 => 0,
        2..=5 => usize::from(same_start),
        6..=8 if same_start => 2,
        6..=8 => 1,
        _ if same_start => 3,
        _ => 1,
    };
    let letters = strsim::osa_distance(name, known);
    (letters <= max_edits).then_some(letters)
}

/// Returns the length of the start that two names share, if one of them was cut, or if one has all words of the other.
fn shared_start(name: &str, known: &str) -> Option<usize> {
    let (name, known) = (name.to_ascii_lowercase().replace('_', "-"), known.to_ascii_lowercase().replace('_', "-"));
    let is_cut = name.len() >= 3 && known.starts_with(&name);
    let has_more_words = known.len() >= 2 && name.strip_prefix(&known).is_some_and(|rest| rest.starts_with('-'));
    (is_cut || has_more_words).then(|| name.len().min(known.len()))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_close_names_are_suggested() {
        let known = ["storable", "sereal", "var-export", "json", "ndjson"];
        let nearest = |name| nearest(name, known.into_iter());
        assert_eq!(nearest("JSON"), Some("json"));
        assert_eq!(nearest("var_export"), Some("var-export"));
        assert_eq!(nearest("serael"), Some("sereal"));
        assert_eq!(nearest("storeable"), Some("storable"));
        assert_eq!(nearest("json5"), Some("json"));
        assert_eq!(nearest("stor"), Some("storable"));
        assert_eq!((nearest("avro"), nearest(""), nearest("x")), (None, None, None));
    }

    #[test]
    fn options_are_suggested_only_if_they_are_close() {
        let known =
            ["from", "from-opt", "to", "report", "quiet", "null", "help", "output", "raw-output", "items", "db"];
        let nearest = |name| nearest(name, known.into_iter());
        for (name, meant) in [
            ("form", Some("from")),
            ("from-format", Some("from")),
            ("raw", Some("raw-output")),
            ("repot", Some("report")),
            ("tp", Some("to")),
            ("outptu", Some("output")),
            ("export", None),
            ("port", None),
            ("url", None),
            ("hex", None),
            ("php", None),
            ("unset", None),
            ("reprot", Some("report")),
            ("rfom", Some("from")),
            ("stream", None),
            ("user", None),
        ] {
            assert_eq!(nearest(name), meant, "{name}");
        }
    }
}
