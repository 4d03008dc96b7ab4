//! Explains a ranking in sentences.

use super::{Part, Ranked, Ranking};
use crate::model::Fidelity;
use crate::stats::words;

/// Returns sentences about a ranking: the first competitor and its lead, the deciding part, ties, the first for other
/// uses, and competitors that are ranked lower because of wrong results.
pub fn explain(ranking: &Ranking) -> Vec<String> {
    let mut said = Vec::new();
    match ranking.places.first() {
        Some(first) => {
            said.push(winner(ranking, first));
            said.extend(decided(ranking, first));
            said.extend(tied(ranking));
            said.extend(otherwise(ranking, first));
            said.extend(wrong(ranking, first));
        }
        None => said.push("Nobody could be ranked.".to_owned()),
    }
    said.extend(ranking.unranked.iter().map(|entry| format!("{} is not ranked: {}.", entry.name, entry.why)));
    said
}

/// Says which competitor is first, and how much more the next one costs.
fn winner(ranking: &Ranking, first: &Ranked) -> String {
    let firsts: Vec<String> = with_rank(ranking, first.rank).map(|place| called(ranking, &place.id)).collect();
    let names = named(&firsts, "and");
    let cost = words::duration(first.cost.estimate);
    let mut said = match firsts.len() {
        1 => format!("{names} costs least: {cost} a use"),
        _ => format!("{names} cost least, about {cost} a use, and can't be told apart"),
    };
    let cheaper = ranking.places.iter().any(|place| place.times.is_some_and(|times| times.estimate < 1.0));
    match first.fidelity {
        Fidelity::Differs { .. } => said = format!("Nobody gives back what went in. Of all, {said}"),
        _ if cheaper => said = format!("Of those that are right, {said}"),
        _ => (),
    }
    match next(ranking, first).and_then(|next| Some((next, next.times?))) {
        Some((next, times)) => {
            let next = called(ranking, &next.id);
            format!("{said}; the next, {next}, costs {} times as much.", words::interval(&times))
        }
        None if ranking.places.len() == 1 => format!("{said}, as the only one that could be ranked."),
        None => format!("{said}."),
    }
}

/// A part that contributes less to a difference is not named; it may be noise.
const WORTH_SAYING: f64 = 0.05;

/// Says which part of the cost made the difference.
fn decided(ranking: &Ranking, first: &Ranked) -> Option<String> {
    if first.parts.len() < 2 {
        return None;
    }
    let shares: Vec<String> =
        first.parts.iter().map(|part| format!("{} is {}", part.part.noun(), words::share(part.share))).collect();
    let mut said = format!("Of what {} costs, {}.", called(ranking, &first.id), words::list(&shares, "and"));
    if let Some(next) = next(ranking, first) {
        let differences = first.parts.iter().zip(&next.parts).map(|(a, b)| (a.part, b.cost - a.cost));
        let (dearer, cheaper): (Vec<_>, Vec<_>) = differences.partition(|(_, more)| *more > 0.0);
        let name = called(ranking, &next.id);
        let sum: f64 = dearer.iter().map(|(_, more)| more).sum();
        if let Some((part, more)) = dearer.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            said += &format!(" What decides against {name} is {}", part.noun());
            if more / sum < 0.995 {
                said += &format!(", {} of what it costs more", words::share(more / sum));
            }
            let parts = cheaper.iter().filter(|(_, less)| -less > WORTH_SAYING * sum);
            let parts: Vec<&str> = parts.map(|(part, _)| part.noun()).collect();
            if !parts.is_empty() {
                said += &format!("; it costs less for {}, which does not make up for it", words::list(&parts, "and"));
            }
            said += ".";
        }
    }
    Some(said)
}

/// Names the shared ranks below the first.
fn tied(ranking: &Ranking) -> Vec<String> {
    let mut said = Vec::new();
    for (index, place) in ranking.places.iter().enumerate() {
        let opens = place.rank == index + 1 && place.rank > 1 && place.tied;
        if opens {
            let names: Vec<String> = with_rank(ranking, place.rank).map(|place| called(ranking, &place.id)).collect();
            said.push(format!("{} are tied on rank {}.", words::list(&names, "and"), place.rank));
        }
    }
    said
}

/// Says which competitor would be first if only one part counted.
fn otherwise(ranking: &Ranking, first: &Ranked) -> Vec<String> {
    if ranking.places.len() < 2 {
        return Vec::new();
    }
    let alone = ranking.alone.iter().filter(|alone| match ranking.weights.parts() {
        [(only, _)] => alone.part != *only,
        _ => true,
    });
    let (same, others): (Vec<_>, Vec<_>) = alone.partition(|alone| alone.first == [first.id.as_str()]);
    let mut said = Vec::new();
    if !same.is_empty() {
        let parts: Vec<String> = same.iter().map(|alone| format!("for {} alone", question(alone.part))).collect();
        let name = called(ranking, &first.id);
        said.push(format!("{name} would also be the first {}.", words::list(&parts, "and")));
    }
    said.extend(others.iter().map(|alone| {
        let names: Vec<String> = alone.first.iter().map(|id| called(ranking, id)).collect();
        format!("For {} alone, the first would be {}.", question(alone.part), named(&names, "or"))
    }));
    said
}

fn question(part: Part) -> &'static str {
    match part {
        Part::Size => "the size",
        _ => part.noun(),
    }
}

/// Says whose output differs from the input, and how that affected the rank.
fn wrong(ranking: &Ranking, first: &Ranked) -> Vec<String> {
    let say = |place: &Ranked| {
        let (what, differences) = match &place.fidelity {
            Fidelity::Exact => return None,
            Fidelity::Unchecked => ("was not checked", &[] as &[String]),
            Fidelity::Alike { differences } => ("gives back something alike", differences.as_slice()),
            Fidelity::Differs { differences } => ("gives back something else", differences.as_slice()),
        };
        let name = called(ranking, &place.id);
        let how = match differences {
            [] => String::new(),
            [one] => format!(" ({one})"),
            [one, two] => format!(" ({one}; {two})"),
            [one, two, more @ ..] => format!(" ({one}; {two}; and {} more)", more.len()),
        };
        let cheaper = place.times.is_some_and(|times| times.high < 1.0);
        let below = match place.rank > first.rank && kind(&place.fidelity) != kind(&first.fidelity) {
            true if cheaper => ", so it stands below those that give back the same, though it costs less",
            true => ", so it stands below those that give back the same",
            false => "",
        };
        Some(format!("{name} {what}{how}{below}."))
    };
    let all_unchecked = ranking.places.iter().all(|place| place.fidelity == Fidelity::Unchecked);
    ranking.places.iter().filter(|_| !all_unchecked).filter_map(say).collect()
}

/// Joins names, at most a few of them.
fn named(names: &[String], and: &str) -> String {
    const MANY: usize = 6;
    match names.len() {
        count if count > MANY => {
            let few = names[..MANY - 1].iter().cloned().chain([format!("{} more", count + 1 - MANY)]);
            words::list(&few.collect::<Vec<_>>(), and)
        }
        _ => words::list(names, and),
    }
}

fn kind(fidelity: &Fidelity) -> std::mem::Discriminant<Fidelity> {
    std::mem::discriminant(fidelity)
}

fn with_rank(ranking: &Ranking, rank: usize) -> impl Iterator<Item = &Ranked> {
    ranking.places.iter().filter(move |place| place.rank == rank)
}

/// Returns the first place after those that share the first rank, if its fidelity is the same.
fn next<'r>(ranking: &'r Ranking, first: &Ranked) -> Option<&'r Ranked> {
    let next = ranking.places.iter().find(|place| place.rank > first.rank)?;
    (kind(&next.fidelity) == kind(&first.fidelity)).then_some(next)
}

/// Returns the name, with the id if several have the same name.
fn called(ranking: &Ranking, id: &str) -> String {
    let known = ranking.places.iter().map(|place| (&place.id, &place.name));
    let known: Vec<_> = known.chain(ranking.unranked.iter().map(|entry| (&entry.id, &entry.name))).collect();
    match known.iter().find(|(other, _)| *other == id) {
        Some((_, name)) if known.iter().filter(|(_, other)| other == name).count() == 1 => (*name).clone(),
        Some((_, name)) => format!("{name} ({id})"),
        None => id.to_owned(),
    }
}
