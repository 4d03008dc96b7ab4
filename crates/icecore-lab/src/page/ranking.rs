//! Shows which competitor suits a use best, in a table and in sentences.

use super::Style;
use super::number::{NONE, format_interval, format_percent, format_time};
use super::table::Table;
use super::view::{Names, make_printable};
use super::words;
use crate::model::{Point, ScenarioReport};
use crate::rank::{self, Ranking};
use std::fmt::Write;

/// Returns the ranking of a point for a terminal. With `explain`, there are sentences below the table, in lines of the
/// style's width.
pub fn render_ranking(
    scenario: &ScenarioReport,
    point: &Point,
    ranking: &Ranking,
    explain: bool,
    style: &Style,
) -> String {
    let names = Names::new(scenario);
    let mut table = Table::new(["", "competitor", "round trip", ">a use costs", ">times the first"]);
    let parts = ranking.weights.parts();
    if parts.len() > 1 {
        parts.iter().for_each(|(part, _)| table.add_column(&format!(">{}", part.name())));
    }
    for place in &ranking.places {
        let format_share = |part| {
            place.parts.iter().find(|share| share.part == part).map_or(NONE.into(), |share| format_percent(share.share))
        };
        let shares = parts.iter().filter(|_| parts.len() > 1).map(|(part, _)| format_share(*part));
        let cells = [
            place.label(),
            names.display_name(&place.id),
            words::fidelity_label(&place.fidelity).into(),
            format_time(place.cost.estimate),
            place.times.as_ref().map_or("1".into(), format_interval),
        ];
        table.add_row(cells.into_iter().chain(shares));
    }
    let weights: Vec<String> = parts.iter().map(|(part, weight)| format!("{}:{weight}", part.name())).collect();
    let point_name = match point.name.trim() {
        "" => String::new(),
        name => format!(", {}", make_printable(name)),
    };
    let mut out = format!("\n{}{point_name}: for {}\n", make_printable(&scenario.name), weights.join(","));
    if !table.is_empty() {
        table.to_text(style.width.saturating_sub(2)).lines().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    let sentences = if explain { rank::explain_ranking(ranking) } else { vec![] };
    sentences.iter().for_each(|sentence| out += &words::wrap_text(sentence, "", "", style.width));
    if !explain {
        ranking.unranked.iter().for_each(|entry| {
            _ = writeln!(out, "  not ranked: {}, {}", names.display_name(&entry.id), make_printable(&entry.why))
        });
    }
    out
}
