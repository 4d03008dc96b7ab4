//! Measures parts of patterns: what they capture, and how long their matches are.

use super::tree::*;

/// Returns `true` if a group in these alternatives captures.
pub(super) fn has_captures(branches: &Branches<'_>) -> bool {
    branches.iter().flatten().any(|part| match &part.kind {
        PartKind::Group(group) => {
            matches!(group.kind, GroupKind::Capture(_) | GroupKind::Named(..))
                || matches!(&group.kind, GroupKind::LookCondition(look) if part_has_captures(look))
                || has_captures(&group.branches)
        }
        PartKind::Quantified(quantified) => part_has_captures(&quantified.part),
        _ => false,
    })
}

pub(super) fn part_has_captures(part: &PatternPart<'_>) -> bool {
    match &part.kind {
        PartKind::Group(group) => {
            matches!(group.kind, GroupKind::Capture(_) | GroupKind::Named(..)) || has_captures(&group.branches)
        }
        PartKind::Quantified(quantified) => part_has_captures(&quantified.part),
        _ => false,
    }
}

/// Returns `true` if a part refers to a group.
pub(super) fn has_references(pattern: &ParsedPattern<'_>) -> bool {
    any_part(&pattern.branches, &|part| {
        matches!(part.kind, PartKind::Backreference(_) | PartKind::Digits(_) | PartKind::Call(_)) || is_condition(part)
    })
}

/// Returns the length in characters if each match has the same, and Ruby allows the parts in a look-behind.
pub(super) fn fixed_length(branch: &[PatternPart<'_>]) -> Option<u32> {
    branch.iter().try_fold(0_u32, |sum, part| sum.checked_add(part_length(part)?))
}

fn part_length(part: &PatternPart<'_>) -> Option<u32> {
    match &part.kind {
        PartKind::Char(_) | PartKind::Dot | PartKind::Set(_) | PartKind::Property(_) => Some(1),
        PartKind::Short(letter) => (!matches!(letter, 'R' | 'X')).then_some(1),
        PartKind::Blank | PartKind::LineStart => Some(0),
        // Ruby refuses the end of the text in a look-behind.
        PartKind::LineEnd => part.modifiers.has(MULTI_LINE).then_some(0),
        PartKind::Anchor(letter) => (!matches!(letter, 'K' | 'z' | 'Z')).then_some(0),
        PartKind::Group(group) => match &group.kind {
            GroupKind::Capture(_) | GroupKind::Named(..) | GroupKind::Plain(_) => {
                let mut lengths = group.branches.iter().map(|branch| fixed_length(branch));
                let first = lengths.next()??;
                lengths.all(|length| length == Some(first)).then_some(first)
            }
            GroupKind::LookBehind(_) => {
                let is_fixed = group.branches.iter().all(|branch| fixed_length(branch).is_some());
                (is_fixed && !has_captures(&group.branches)).then_some(0)
            }
            _ => None,
        },
        PartKind::Quantified(quantified) => {
            let Quantifier { min, max, mode, .. } = quantified.quantifier;
            let is_fixed = max == Some(min) && mode == Mode::Greedy && min > 0;
            if is_fixed { part_length(&quantified.part)?.checked_mul(min).filter(|length| *length < 256) } else { None }
        }
        _ => None,
    }
}

/// Maximum number of alternatives, if a look-behind is written out.
const MAX_ALTERNATIVES: usize = 64;

/// Returns the alternatives of a fixed length that are together the same as this one: `a?` is the empty one and `a`.
/// They have no captures.
pub(super) fn expand_branch<'p>(branch: &[PatternPart<'p>]) -> Option<Branches<'p>> {
    let mut all: Branches<'p> = vec![Vec::new()];
    for part in branch {
        let options = expand_part(part)?;
        if all.len() * options.len() > MAX_ALTERNATIVES {
            return None;
        }
        let pairs = all.iter().flat_map(|start| options.iter().map(move |end| [&start[..], &end[..]].concat()));
        all = pairs.collect();
    }
    Some(all)
}

fn expand_part<'p>(part: &PatternPart<'p>) -> Option<Branches<'p>> {
    if part_length(part).is_some() {
        return Some(vec![vec![part.clone()]]);
    }
    match &part.kind {
        PartKind::Group(group) => {
            let GroupKind::Plain(_) = group.kind else { return None };
            let mut all = Vec::new();
            for branch in &group.branches {
                for expanded in expand_branch(branch)? {
                    let inner = Group { kind: group.kind.clone(), branches: vec![expanded] };
                    all.push(vec![PatternPart { kind: PartKind::Group(inner), ..part.clone() }]);
                }
            }
            (all.len() <= MAX_ALTERNATIVES).then_some(all)
        }
        PartKind::Quantified(quantified) => {
            let Quantifier { min, max: Some(max), mode, .. } = quantified.quantifier else { return None };
            if mode == Mode::Possessive || max > 16 || min > max || part_has_captures(&quantified.part) {
                return None;
            }
            let options = expand_part(&quantified.part)?;
            let mut all: Branches<'p> = Vec::new();
            let mut repeated: Branches<'p> = vec![Vec::new()];
            for count in 0..=max {
                if count >= min {
                    all.extend(repeated.iter().cloned());
                }
                if all.len() + repeated.len() * options.len() > MAX_ALTERNATIVES {
                    return None;
                }
                let pairs =
                    repeated.iter().flat_map(|start| options.iter().map(move |end| [&start[..], &end[..]].concat()));
                repeated = pairs.collect();
            }
            Some(all)
        }
        _ => None,
    }
}

/// Returns `true` if a match of this part has at least one character.
fn consumes(part: &PatternPart<'_>) -> bool {
    match &part.kind {
        PartKind::Char(_) | PartKind::Chars(_) | PartKind::Dot | PartKind::Set(_) | PartKind::Property(_) => true,
        PartKind::Short(_) => true,
        PartKind::Quantified(quantified) => quantified.quantifier.min > 0 && consumes(&quantified.part),
        _ => false,
    }
}

/// Returns `true` if every recursion into this group (or the pattern, for 0) can end: something is matched before it,
/// and it can be left out. Ruby refuses other patterns.
pub(super) fn is_recursion_bounded(pattern: &ParsedPattern<'_>, number: u32) -> bool {
    match number {
        0 => branches_are_bounded(&pattern.branches, false, false),
        _ => find_group(&pattern.branches, number).is_some_and(|branches| branches_are_bounded(branches, false, false)),
    }
}

fn find_group<'b, 'p>(branches: &'b Branches<'p>, number: u32) -> Option<&'b Branches<'p>> {
    branches.iter().flatten().find_map(|part| find_group_in(part, number))
}

fn find_group_in<'b, 'p>(part: &'b PatternPart<'p>, number: u32) -> Option<&'b Branches<'p>> {
    match &part.kind {
        PartKind::Group(group) => match group.kind {
            GroupKind::Capture(own) | GroupKind::Named(own, _) if own == number => Some(&group.branches),
            _ => find_group(&group.branches, number),
        },
        PartKind::Quantified(quantified) => find_group_in(&quantified.part, number),
        _ => None,
    }
}

/// Checks all calls, whatever they call.
fn branches_are_bounded(branches: &Branches<'_>, has_consumed: bool, is_optional: bool) -> bool {
    let has_exit = branches.iter().any(|branch| !branch.iter().any(has_call));
    branches.iter().all(|branch| {
        let mut has_consumed = has_consumed;
        branch.iter().all(|part| {
            let is_bounded = part_is_bounded(part, has_consumed, is_optional || has_exit);
            has_consumed |= consumes(part);
            is_bounded
        })
    })
}

fn part_is_bounded(part: &PatternPart<'_>, has_consumed: bool, is_optional: bool) -> bool {
    match &part.kind {
        PartKind::Call(_) => has_consumed && is_optional,
        PartKind::Group(group) => branches_are_bounded(&group.branches, has_consumed, is_optional),
        PartKind::Quantified(quantified) => {
            part_is_bounded(&quantified.part, has_consumed, is_optional || quantified.quantifier.min == 0)
        }
        _ => true,
    }
}

fn has_call(part: &PatternPart<'_>) -> bool {
    match &part.kind {
        PartKind::Call(_) => true,
        PartKind::Group(group) => group.branches.iter().flatten().any(has_call),
        PartKind::Quantified(quantified) => has_call(&quantified.part),
        _ => false,
    }
}

/// Returns `true` if captures may differ, because the languages keep those of attempts that failed, or of earlier rounds
/// of a loop, in other ways.
pub(super) fn may_leak_captures(pattern: &ParsedPattern<'_>) -> bool {
    let has_repeated_name = pattern.branches.iter().any(|branch| {
        let mut names = Vec::new();
        collect_names(branch, &mut names);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() < count
    });
    has_repeated_name
        || any_part(&pattern.branches, &|part| match &part.kind {
            PartKind::Group(group) => {
                matches!(group.kind, GroupKind::LookAhead(true) | GroupKind::LookBehind(true))
                    && has_captures(&group.branches)
            }
            PartKind::Quantified(quantified) => {
                quantified.quantifier.max != Some(1)
                    && part_has_captures(&quantified.part)
                    && part_has(&quantified.part, &is_condition)
            }
            _ => false,
        })
}

fn is_condition(part: &PatternPart<'_>) -> bool {
    matches!(&part.kind, PartKind::Group(group) if matches!(group.kind, GroupKind::GroupCondition(_)))
}

/// Returns `true` if a part has a condition that is a look-around.
pub(super) fn has_condition(part: &PatternPart<'_>) -> bool {
    part_has(
        part,
        &|part| matches!(&part.kind, PartKind::Group(group) if matches!(group.kind, GroupKind::LookCondition(_))),
    )
}

/// Returns `true` if a look-around contains `\K`. Perl refuses such a pattern.
pub(super) fn has_keep_in_look_around(pattern: &ParsedPattern<'_>) -> bool {
    let is_keep = |part: &PatternPart<'_>| matches!(part.kind, PartKind::Anchor('K'));
    any_part(&pattern.branches, &|part| match &part.kind {
        PartKind::Group(group) => {
            matches!(group.kind, GroupKind::LookAhead(_) | GroupKind::LookBehind(_) | GroupKind::Absent)
                && any_part(&group.branches, &is_keep)
        }
        _ => false,
    })
}

fn any_part<'p>(branches: &Branches<'p>, matches: &dyn Fn(&PatternPart<'p>) -> bool) -> bool {
    branches.iter().flatten().any(|part| part_has(part, matches))
}

/// Returns `true` if this part or one inside of it matches.
fn part_has<'p>(part: &PatternPart<'p>, matches: &dyn Fn(&PatternPart<'p>) -> bool) -> bool {
    matches(part)
        || match &part.kind {
            PartKind::Group(group) => any_part(&group.branches, matches),
            PartKind::Quantified(quantified) => part_has(&quantified.part, matches),
            _ => false,
        }
}

fn collect_names<'p>(branch: &[PatternPart<'p>], names: &mut Vec<&'p str>) {
    for part in branch {
        let mut inner = part;
        while let PartKind::Quantified(quantified) = &inner.kind {
            inner = &quantified.part;
        }
        if let PartKind::Group(group) = &inner.kind {
            if let GroupKind::Named(_, name) = group.kind {
                names.push(name);
            }
            for branch in &group.branches {
                collect_names(branch, names);
            }
        }
    }
}
