//! Suggestions for mistyped names.

/// Minimum similarity of two names, from 0 to 1, for a suggestion.
const ALIKE: f64 = 0.84;

/// Returns the known name that differs only in case, `-` and `_`, or else the most similar one, if any is similar
/// enough.
///
/// ```
/// assert_eq!(icecore::text::nearest("serael", ["storable", "sereal"].into_iter()), Some("sereal"));
/// ```
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let folded = |name: &str| name.to_ascii_lowercase().replace(['-', '_', ' '], "");
    let wanted = folded(name);
    if wanted.is_empty() || name.len() > 64 {
        return None;
    }
    known.clone().find(|known| folded(known) == wanted).or_else(|| {
        known
            .map(|known| (strsim::jaro_winkler(&wanted, &folded(known)), known))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, known)| known)
    })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_is_found_and_nothing_is_forced() {
        let known = ["storable", "sereal", "var-export", "json", "ndjson"];
        let nearest = |name| nearest(name, known.into_iter());
        assert_eq!(nearest("JSON"), Some("json"));
        assert_eq!(nearest("var_export"), Some("var-export"));
        assert_eq!(nearest("serael"), Some("sereal"));
        assert_eq!(nearest("storeable"), Some("storable"));
        assert_eq!((nearest("avro"), nearest(""), nearest("x")), (None, None, None));
    }
}
