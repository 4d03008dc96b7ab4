//! Finds sequences of letters that are one character if case is ignored, such as `ss` and `ß`.
//!
//! Both engines find them within a run of letters. They differ at the seams, as in `s(?:s)`.

use super::tree::*;

/// The letters at an edge of a part, and whether the part may be empty.
#[derive(Default)]
struct Edges {
    first: Vec<char>,
    last: Vec<char>,
    is_optional: bool,
}

/// Returns `true` if letters on both sides of a seam are one character if case is ignored.
pub(super) fn has_folded_seam(branches: &Branches<'_>) -> bool {
    measure_branches(branches).is_none()
}

/// Returns the edges; `None` if there is such a seam.
fn measure_branches(branches: &Branches<'_>) -> Option<Edges> {
    let mut all = Edges::default();
    for branch in branches {
        let edges = measure_branch(branch)?;
        all.first.extend(edges.first);
        all.last.extend(edges.last);
        all.is_optional |= edges.is_optional;
        for list in [&mut all.first, &mut all.last] {
            list.sort_unstable();
            list.dedup();
        }
    }
    Some(all)
}

fn measure_branch(branch: &[PatternPart<'_>]) -> Option<Edges> {
    let mut all = Edges { is_optional: true, ..Edges::default() };
    let mut is_letter_before = false;
    for part in branch {
        let is_letter = matches!(part.kind, PartKind::Char(_));
        let Some(edges) = measure_part(part)? else { continue };
        let is_seam = !(is_letter && is_letter_before);
        if is_seam && all.last.iter().any(|last| edges.first.iter().any(|first| are_folded(*last, *first))) {
            return None;
        }
        if all.is_optional {
            all.first.extend(&edges.first);
        }
        if !edges.is_optional {
            all.last.clear();
        }
        all.last.extend(edges.last);
        all.is_optional &= edges.is_optional;
        is_letter_before = is_letter;
    }
    Some(all)
}

/// Returns the edges of a part; an inner `None` if it matches no characters.
fn measure_part(part: &PatternPart<'_>) -> Option<Option<Edges>> {
    Some(match &part.kind {
        PartKind::Char(value) => {
            let letter = canonical_letter(*value).filter(|_| part.modifiers.has(IGNORE_CASE));
            let letters = Vec::from_iter(letter);
            Some(Edges { first: letters.clone(), last: letters, is_optional: false })
        }
        PartKind::Group(group) => {
            let edges = measure_branches(&group.branches)?;
            let is_empty = matches!(group.kind, GroupKind::LookAhead(_) | GroupKind::LookBehind(_));
            if is_empty { None } else { Some(edges) }
        }
        PartKind::Quantified(quantified) => {
            let Some(mut edges) = measure_part(&quantified.part)? else { return Some(None) };
            let is_group = matches!(quantified.part.kind, PartKind::Group(_));
            let is_repeated = quantified.quantifier.max != Some(1);
            if is_group
                && is_repeated
                && edges.last.iter().any(|last| edges.first.iter().any(|first| are_folded(*last, *first)))
            {
                return None;
            }
            edges.is_optional |= quantified.quantifier.min == 0;
            Some(edges)
        }
        PartKind::Blank
        | PartKind::LineStart
        | PartKind::LineEnd
        | PartKind::Anchor(_)
        | PartKind::NamedBoundary
        | PartKind::Directive(_) => None,
        _ => Some(Edges::default()),
    })
}

/// Returns a letter that stands for all that fold in the same way; `None` if nothing folds with it. So the sets of
/// letters stay small.
fn canonical_letter(value: char) -> Option<char> {
    match value.to_lowercase().next().unwrap_or(value) {
        's' | 'ſ' => Some('s'),
        'i' | 'l' => Some('i'),
        letter @ ('t' | 'f' | 'n' | '\u{2bc}') => Some(letter),
        '\u{2be}' | '\u{300}'..='\u{345}' | 'ι' => Some('\u{300}'),
        'ւ' | 'ն' | 'ե' | 'ի' | 'խ' | 'մ' | 'վ' => Some('ւ'),
        letter if letter.is_alphabetic() => Some('a'),
        _ => None,
    }
}

/// Returns `true` if a character is the same as two such letters if case is ignored.
fn are_folded(one: char, other: char) -> bool {
    match other {
        's' | 't' => one == 's',
        'f' | 'i' => one == 'f',
        'n' => one == '\u{2bc}',
        '\u{300}' => true,
        'ւ' => one == 'ւ',
        _ => false,
    }
}
