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
            let letters = if part.modifiers.has(IGNORE_CASE) { vec![*value] } else { Vec::new() };
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

/// Returns `true` if a character is the same as these two if case is ignored.
fn are_folded(one: char, other: char) -> bool {
    let lower = |value: char| value.to_lowercase().next().unwrap_or(value);
    match lower(other) {
        's' | 'ſ' => matches!(lower(one), 's' | 'ſ'),
        't' => matches!(lower(one), 's' | 'ſ'),
        'f' | 'i' | 'l' => lower(one) == 'f',
        'n' => one == '\u{2bc}',
        '\u{2be}' | '\u{300}'..='\u{345}' | 'ι' => one.is_alphabetic() || matches!(one, '\u{300}'..='\u{345}'),
        'ւ' | 'ն' | 'ե' | 'ի' | 'խ' => true,
        _ => false,
    }
}
