//! Explains a ranking in sentences.

use super::{Part, RankedCompetitor, Ranking};
use crate::model::Fidelity;
use crate::stats::words;

/// Returns sentences about a ranking: the first competitor and its lead, the deciding part, ties, the first for other
/// uses, and competitors that are ranked lower because of wrong results.
pub fn explain_ranking(ranking: &Ranking) -> Vec<String> {
    let mut sentences = Vec::new();
    match ranking.places.first() {
        Some(first) => {
            sentences.push(describe_winner(ranking, first));
            sentences.extend(describe_deciding_part(ranking, first));
            sentences.extend(describe_ties(ranking));
            sentences.extend(describe_other_winners(ranking, first));
            sentences.extend(describe_wrong_results(ranking, first));
        }
        None => sentences.push("No competitor could be ranked.".to_owned()),
    }
    sentences.extend(ranking.unranked.iter().map(|entry| format!("{} is not ranked: {}.", entry.name, entry.why)));
    sentences
}

/// Returns a sentence about which competitor is first, and how much more the next one costs.
fn describe_winner(ranking: &Ranking, first: &RankedCompetitor) -> String {
    let firsts: Vec<String> =
        places_with_rank(ranking, first.rank).map(|place| display_name(ranking, &place.id)).collect();
    let names = join_names(&firsts, "and");
    let cost = words::format_duration(first.cost.estimate);
    let mut sentence = match firsts.len() {
        1 => format!("{names} costs least: {cost} a use"),
        _ => format!("{names} cost least, about {cost} a use, and can't be distinguished"),
    };
    let has_cheaper = ranking.places.iter().any(|place| place.times.is_some_and(|times| times.estimate < 1.0));
    match first.fidelity {
        Fidelity::Differs { .. } => sentence = format!("No competitor gives back what went in. Of all, {sentence}"),
        _ if has_cheaper => sentence = format!("Of the correct ones, {sentence}"),
        _ => (),
    }
    match find_next_place(ranking, first).and_then(|next| Some((next, next.times?))) {
        Some((next, times)) => {
            let next = display_name(ranking, &next.id);
            format!("{sentence}; the next, {next}, costs {} times as much.", words::format_interval(&times))
        }
        None if ranking.places.len() == 1 => format!("{sentence}, as the only one that could be ranked."),
        None => format!("{sentence}."),
    }
}

/// A part that contributes a smaller share to a difference is not named, because it may be noise.
const MIN_NAMED_SHARE: f64 = 0.05;

/// Returns sentences about the part of the cost that made the difference.
fn describe_deciding_part(ranking: &Ranking, first: &RankedCompetitor) -> Option<String> {
    if first.parts.len() < 2 {
        return None;
    }
    let shares: Vec<String> =
        first.parts.iter().map(|part| format!("{} is {}", part.part.noun(), words::format_share(part.share))).collect();
    let mut text =
        format!("Of what {} costs, {}.", display_name(ranking, &first.id), words::join_words(&shares, "and"));
    if let Some(next) = find_next_place(ranking, first) {
        let differences = first.parts.iter().zip(&next.parts).map(|(own, other)| (own.part, other.cost - own.cost));
        let (dearer, cheaper): (Vec<_>, Vec<_>) = differences.partition(|(_, more)| *more > 0.0);
        let name = display_name(ranking, &next.id);
        let sum: f64 = dearer.iter().map(|(_, more)| more).sum();
        if let Some((part, more)) = dearer.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            text += &format!(" What decides against {name} is {}", part.noun());
            if more / sum < 0.995 {
                text += &format!(", {} of what it costs more", words::format_share(more / sum));
            }
            let parts = cheaper.iter().filter(|(_, less)| -less > MIN_NAMED_SHARE * sum);
            let parts: Vec<&str> = parts.map(|(part, _)| part.noun()).collect();
            if !parts.is_empty() {
                text +=
                    &format!("; it costs less for {}, which does not make up for it", words::join_words(&parts, "and"));
            }
            text += ".";
        }
    }
    Some(text)
}

/// Returns sentences about shared ranks below the first.
fn describe_ties(ranking: &Ranking) -> Vec<String> {
    let mut sentences = Vec::new();
    for (index, place) in ranking.places.iter().enumerate() {
        let begins_tie = place.rank == index + 1 && place.rank > 1 && place.tied;
        if begins_tie {
            let names: Vec<String> =
                places_with_rank(ranking, place.rank).map(|place| display_name(ranking, &place.id)).collect();
            sentences.push(format!("{} are tied on rank {}.", words::join_words(&names, "and"), place.rank));
        }
    }
    sentences
}

/// Returns sentences about which competitor would be first if only one part counted.
fn describe_other_winners(ranking: &Ranking, first: &RankedCompetitor) -> Vec<String> {
    if ranking.places.len() < 2 {
        return Vec::new();
    }
    let by_part = ranking.alone.iter().filter(|alone| match ranking.weights.parts() {
        [(only, _)] => alone.part != *only,
        _ => true,
    });
    let (same, others): (Vec<_>, Vec<_>) = by_part.partition(|alone| alone.first == [first.id.as_str()]);
    let mut sentences = Vec::new();
    if !same.is_empty() {
        let parts: Vec<String> =
            same.iter().map(|winners| format!("for {} alone", noun_with_article(winners.part))).collect();
        let name = display_name(ranking, &first.id);
        sentences.push(format!("{name} would also be the first {}.", words::join_words(&parts, "and")));
    }
    sentences.extend(others.iter().map(|winners| {
        let names: Vec<String> = winners.first.iter().map(|id| display_name(ranking, id)).collect();
        format!("For {} alone, the first would be {}.", noun_with_article(winners.part), join_names(&names, "or"))
    }));
    sentences
}

fn noun_with_article(part: Part) -> &'static str {
    match part {
        Part::Size => "the size",
        _ => part.noun(),
    }
}

/// Returns sentences about competitors whose output differs from the input, and about how that affected their rank.
fn describe_wrong_results(ranking: &Ranking, first: &RankedCompetitor) -> Vec<String> {
    let describe_place = |place: &RankedCompetitor| {
        let (result, differences) = match &place.fidelity {
            Fidelity::Exact => return None,
            Fidelity::Unchecked => ("was not checked", &[] as &[String]),
            Fidelity::Alike { differences } => ("gives back something alike", differences.as_slice()),
            Fidelity::Differs { differences } => ("gives back something else", differences.as_slice()),
        };
        let name = display_name(ranking, &place.id);
        let details = match differences {
            [] => String::new(),
            [one] => format!(" ({one})"),
            [one, two] => format!(" ({one}; {two})"),
            [one, two, more @ ..] => format!(" ({one}; {two}; and {} more)", more.len()),
        };
        let is_cheaper = place.times.is_some_and(|times| times.high < 1.0);
        let rank_note =
            match place.rank > first.rank && fidelity_kind(&place.fidelity) != fidelity_kind(&first.fidelity) {
                true if is_cheaper => ", so it ranks below those that give back the same, though it costs less",
                true => ", so it ranks below those that give back the same",
                false => "",
            };
        Some(format!("{name} {result}{details}{rank_note}."))
    };
    let all_unchecked = ranking.places.iter().all(|place| place.fidelity == Fidelity::Unchecked);
    ranking.places.iter().filter(|_| !all_unchecked).filter_map(describe_place).collect()
}

/// Joins names, at most a few of them.
fn join_names(names: &[String], conjunction: &str) -> String {
    const MAX_NAMES: usize = 6;
    match names.len() {
        count if count > MAX_NAMES => {
            let shown = names[..MAX_NAMES - 1].iter().cloned().chain([format!("{} more", count + 1 - MAX_NAMES)]);
            words::join_words(&shown.collect::<Vec<_>>(), conjunction)
        }
        _ => words::join_words(names, conjunction),
    }
}

fn fidelity_kind(fidelity: &Fidelity) -> std::mem::Discriminant<Fidelity> {
    std::mem::discriminant(fidelity)
}

fn places_with_rank(ranking: &Ranking, rank: usize) -> impl Iterator<Item = &RankedCompetitor> {
    ranking.places.iter().filter(move |place| place.rank == rank)
}

/// Returns the first place after those that share the first rank, if its fidelity is the same.
fn find_next_place<'r>(ranking: &'r Ranking, first: &RankedCompetitor) -> Option<&'r RankedCompetitor> {
    let next = ranking.places.iter().find(|place| place.rank > first.rank)?;
    (fidelity_kind(&next.fidelity) == fidelity_kind(&first.fidelity)).then_some(next)
}

/// Returns the name, with the id if several have the same name.
fn display_name(ranking: &Ranking, id: &str) -> String {
    let names = ranking.places.iter().map(|place| (&place.id, &place.name));
    let names: Vec<_> = names.chain(ranking.unranked.iter().map(|entry| (&entry.id, &entry.name))).collect();
    match names.iter().find(|(other, _)| *other == id) {
        Some((_, name)) if names.iter().filter(|(_, other)| other == name).count() == 1 => (*name).clone(),
        Some((_, name)) => format!("{name} ({id})"),
        None => id.to_owned(),
    }
}
