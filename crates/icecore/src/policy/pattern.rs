//! Names and patterns, in which `*` matches any characters.

use super::name::ClassName;

/// Returns `true` if a name matches a pattern. The work is limited by the length of the name times that of the pattern.
///
/// ```
/// use icecore::policy::{fits, ClassName, NameComparison};
/// let name = |text: &'static str| ClassName::checked(NameComparison::Exact, text.as_bytes(), true);
/// assert!(fits(name("My::*"), name("My::Thing::Part")));
/// assert!(fits(name("*::Model"), name("Shop::Model")));
/// assert!(!fits(name("My::*"), name("My")));
/// ```
pub fn fits(pattern: ClassName<'_>, name: ClassName<'_>) -> bool {
    if pattern.has_same_form(name) {
        // Most items of a list differ in the first byte.
        if let ([wanted, ..], [found, ..]) = (pattern.bytes(), name.bytes())
            && wanted != found
            && *wanted != b'*'
        {
            return false;
        }
        return matches_with_stars(counted_bytes(pattern), counted_bytes(name), b'*');
    }
    matches_with_stars(pattern.characters(), name.characters(), u64::from(b'*'))
}

/// Returns the bytes of a name; tests count how many are taken.
fn counted_bytes(name: ClassName<'_>) -> impl Iterator<Item = u8> + Clone {
    name.bytes().iter().copied().inspect(|_| crate::steps::count(1))
}

/// Returns `true` if the pattern matches the name. A star first matches nothing. After a mismatch, the last star takes
/// one more character. Earlier stars never need more, because the text between them was found as early as possible.
fn matches_with_stars<P, N, T>(mut pattern: P, mut name: N, star: T) -> bool
where
    P: Iterator<Item = T> + Clone,
    N: Iterator<Item = T> + Clone,
    T: PartialEq,
{
    // The pattern after the last star, and the position in the name from which it is searched.
    let mut after_star: Option<(P, N)> = None;
    loop {
        let mut rest = pattern.clone();
        let wanted = rest.next();
        if wanted.as_ref() == Some(&star) {
            if rest.clone().next().is_none() {
                return true;
            }
            after_star = Some((rest.clone(), name.clone()));
            pattern = rest;
            continue;
        }
        let mut name_rest = name.clone();
        match (wanted, name_rest.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == found => (pattern, name) = (rest, name_rest),
            (_, None) => return false,
            _ => {
                let Some((rest, from)) = &mut after_star else { return false };
                from.next();
                (pattern, name) = (rest.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NameComparison;
    use super::*;
    use crate::steps::{counted, is_linear};

    /// The readable reference implementation, which tries every possibility.
    fn matches_by_definition(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some(('*', rest)), _) => (0..=name.len()).any(|skipped| matches_by_definition(rest, &name[skipped..])),
            (Some((wanted, rest)), Some((found, after))) => wanted == found && matches_by_definition(rest, after),
            (Some(_), None) => false,
        }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % bound
        }

        fn word(&mut self, letters: &[char]) -> Vec<char> {
            (0..self.below(9)).map(|_| letters[self.below(letters.len())]).collect()
        }
    }

    /// The same characters as UTF-8, and as bytes if each fits in one byte.
    fn all_forms(word: &[char]) -> Vec<(Vec<u8>, bool)> {
        let text: String = word.iter().collect();
        let mut forms = vec![(text.into_bytes(), true)];
        if let Ok(bytes) = word.iter().map(|c| u8::try_from(u32::from(*c))).collect() {
            forms.push((bytes, false));
        }
        forms
    }

    #[test]
    fn patterns_match_like_the_reference_in_each_form() {
        let mut random = Random(7);
        let (mut fit, mut not) = (0, 0);
        for _ in 0..60_000 {
            let pattern = random.word(&['*', 'a', 'b', '\u{e9}', '*', 'A', '\u{263a}']);
            let name = random.word(&['a', 'b', '\u{e9}', 'A', '\u{263a}', '*', '\u{c3}']);
            let says = matches_by_definition(&pattern, &name);
            let folded = |word: &[char]| word.iter().map(char::to_ascii_lowercase).collect::<Vec<_>>();
            let says_folded = matches_by_definition(&folded(&pattern), &folded(&name));
            for (p, p_text) in all_forms(&pattern) {
                for (n, n_text) in all_forms(&name) {
                    for (names, says) in [(NameComparison::Exact, says), (NameComparison::Php, says_folded)] {
                        let [p, n] = [(&p, p_text), (&n, n_text)]
                            .map(|(bytes, is_text)| ClassName::new(names, bytes, is_text).unwrap());
                        assert_eq!(fits(p, n), says, "{pattern:?} {name:?} {names:?} {p_text} {n_text}");
                    }
                }
            }
            *if says { &mut fit } else { &mut not } += 1;
        }
        assert!(fit > 4_000 && not > 5_000, "{fit} fit, {not} did not");
    }

    /// Bytes that are not valid text are compared as well, without a panic.
    #[test]
    fn any_bytes_can_be_compared() {
        let mut random = Random(11);
        for _ in 0..60_000 {
            let mut bytes = || -> Vec<u8> {
                let odd = [b'*', b'a', 0x80, 0xbf, 0xc2, 0xe2, 0xf4, 0xfe, 0xff, b'\\'];
                (0..random.below(14)).map(|_| odd[random.below(odd.len())]).collect()
            };
            let (pattern, name) = (bytes(), bytes());
            for names in [NameComparison::Exact, NameComparison::Php] {
                for (p_text, n_text) in [(true, true), (true, false), (false, true), (false, false)] {
                    let [p, n] = [(&pattern, p_text), (&name, n_text)]
                        .map(|(bytes, is_text)| ClassName::checked(names, bytes, is_text));
                    let _ = fits(p, n);
                    assert!(fits(n, n), "{name:x?}");
                }
            }
        }
    }

    #[test]
    fn work_is_bounded_by_both_lengths() {
        let names = |name: &'static [u8], is_text| ClassName::checked(NameComparison::Exact, name, is_text);
        let name = "a".repeat(1000) + "\u{e9}";
        for stars in [1, 2, 5, 20] {
            let pattern = "*aaaaaaaaaaaaaaaaaaab".repeat(stars);
            let (p, n) = (pattern.as_bytes(), name.as_bytes());
            let [p, n] = [p, n].map(|bytes| ClassName::checked(NameComparison::Exact, bytes, true));
            let steps = counted(|| assert!(!fits(p, n)));
            assert!(steps <= 2 * 4 * 20 * 1001, "{stars}: {steps}");
        }
        is_linear("a long name", 1000, |size| {
            let name = "a".repeat(size);
            assert!(!fits(
                names(b"*a*a*a*b", false),
                ClassName::checked(NameComparison::Exact, name.as_bytes(), false)
            ));
        });
    }
}
