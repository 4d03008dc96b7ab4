//! The claims of the articles, and the verdicts on them.

use super::escape_markup;
use crate::model::{ClaimResult, Quantity, ScenarioReport, Verdict};
use crate::page::number::{NONE, format_count, format_quotient, format_with_interval};
use crate::page::words;
use std::fmt::Write;

/// Returns a table of the claims of all scenarios, each below a link to its scenario.
pub(super) fn render_overview(groups: &[(String, &ScenarioReport)]) -> String {
    let mut rows = String::new();
    for (link, scenario) in groups {
        _ = writeln!(rows, "<tr><th class=\"part\" colspan=\"4\">{link}</th></tr>");
        scenario.claims.iter().for_each(|result| rows += &render_row(result, &[]));
    }
    render_claims_table(&rows)
}

/// Returns a table of a scenario's claims, with their source, and explanations for those that do not hold.
pub(super) fn render_explained_claims(scenario: &ScenarioReport) -> String {
    let row = |result: &ClaimResult| {
        let explanation = if result.verdict == Verdict::Holds { "" } else { result.claim.explanation.as_str() };
        render_row(result, &[&result.words, explanation, &result.claim.source])
    };
    render_claims_table(&scenario.claims.iter().map(row).collect::<String>())
}

/// Returns a verdict with its sign, its word and a color.
pub(super) fn render_verdict(verdict: Verdict) -> String {
    let (sign, word) = words::verdict_label(verdict);
    let sign = format!("<span aria-hidden=\"true\">{sign}</span>");
    format!("<span class=\"verdict {word}\">{sign} {word}</span>")
}

fn render_row(result: &ClaimResult, details: &[&str]) -> String {
    let format_value = match result.claim.quantity {
        Quantity::Crossing => format_count,
        _ => format_quotient,
    };
    let claimed = escape_markup(&words::format_claimed_range(result.claim.from, result.claim.to, format_value));
    let now = escape_markup(&result.now.as_ref().map_or(NONE.into(), |now| format_with_interval(now, format_value)));
    let mut text = escape_markup(&result.claim.text);
    for details in details.iter().filter(|details| !details.trim().is_empty()) {
        _ = write!(text, "<br/><small>{}</small>", escape_markup(details));
    }
    let sign = render_verdict(result.verdict);
    format!(
        "<tr><td>{sign}</td><th scope=\"row\">{text}</th><td class=\"r\">{claimed}</td>\
         <td class=\"r\">{now}</td></tr>\n"
    )
}

fn render_claims_table(rows: &str) -> String {
    let heads = "<th scope=\"col\">now</th><th scope=\"col\">claim</th><th scope=\"col\" class=\"r\">then</th>\
                 <th scope=\"col\" class=\"r\">measured</th>";
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"claims\">\n<table class=\"claims\">\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}
