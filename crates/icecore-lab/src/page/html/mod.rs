//! The report as one self-contained page: no script, no font, no network.

mod claims;
mod scenario;
mod style;

use super::chart::{CSS, escape_markup, make_slug};
use super::table::{Row, Table};
use super::words;
use crate::model::{Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// Returns the whole report as an HTML page that is also well-formed XML.
pub fn render_html(report: &Report) -> String {
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\"/>\n";
    _ = write!(
        out,
        "<title>{}</title>\n<style>{CSS}{}</style>\n</head>\n",
        escape_markup(&build_title(report)),
        style::PAGE
    );
    out += "<body class=\"chart\">\n<header>\n<h1>Serializers, measured</h1>\n";
    _ = writeln!(out, "<p class=\"lead\">{}.</p>\n</header>", escape_markup(&words::describe_run(report)));
    out += &render_contents(report);
    out += "<main>\n";
    out += &render_all_claims(report);
    for (index, scenario) in report.scenarios.iter().enumerate() {
        out += &scenario::render_section(scenario, &section_id(index, scenario));
    }
    out += &render_machine(report);
    out + "</main>\n</body>\n</html>\n"
}

fn build_title(report: &Report) -> String {
    let names: Vec<&str> = report.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    match names[..] {
        [] => "Serializers, measured".into(),
        [name] => format!("{name}: serializers, measured"),
        _ => format!("Serializers, measured: {} scenarios", names.len()),
    }
}

/// Returns the id of a scenario's section. It contains the index, because names may be equal.
fn section_id(index: usize, scenario: &ScenarioReport) -> String {
    format!("s{}-{}", index + 1, make_slug(&scenario.name))
}

fn render_contents(report: &Report) -> String {
    let mut out = String::from("<nav aria-label=\"Contents\">\n<ul>\n");
    if report.scenarios.iter().any(|scenario| !scenario.claims.is_empty()) {
        out += "<li><a href=\"#claims\">The claims, then and now</a></li>\n";
    }
    for (index, scenario) in report.scenarios.iter().enumerate() {
        let (id, name) = (section_id(index, scenario), escape_markup(&scenario.name));
        _ = writeln!(out, "<li><a href=\"#{id}\">{name}</a> <span>{}</span></li>", escape_markup(&scenario.title));
    }
    out + "<li><a href=\"#machine\">The machine, and how it was measured</a></li>\n</ul>\n</nav>\n"
}

/// Returns the claims of all scenarios.
fn render_all_claims(report: &Report) -> String {
    let scenarios: Vec<_> = report.scenarios.iter().enumerate().filter(|(_, s)| !s.claims.is_empty()).collect();
    if scenarios.is_empty() {
        return String::new();
    }
    let all_claims = || scenarios.iter().flat_map(|(_, s)| &s.claims);
    let confirmed = all_claims().filter(|claim| claim.verdict.confirms_claim()).count();
    let mut out = String::from("<section id=\"claims\">\n<h2>The claims, then and now</h2>\n");
    _ = writeln!(
        out,
        "<p>{confirmed} of {} claims of the articles hold on this machine, or hold even more.</p>",
        all_claims().count()
    );
    out += &render_verdict_key();
    let groups = scenarios.into_iter().map(|(index, scenario)| {
        (format!("<a href=\"#{}\">{}</a>", section_id(index, scenario), escape_markup(&scenario.name)), scenario)
    });
    out += &claims::render_overview(&groups.collect::<Vec<_>>());
    out + "</section>\n"
}

/// Returns the key of the verdicts.
fn render_verdict_key() -> String {
    let meanings = [
        (Verdict::Holds, "as claimed, with a fifth of it as tolerance"),
        (Verdict::Stronger, "the same side is ahead, by more"),
        (Verdict::Weaker, "the same side is ahead, by less"),
        (Verdict::Gone, "no difference can be seen any more"),
        (Verdict::Reversed, "the other side is ahead"),
        (Verdict::Partly, "so in the middle, but not at all sizes or in all rounds"),
        (Verdict::Differs, "a difference where the article saw none"),
        (Verdict::Unknown, "it could not be measured here"),
    ];
    let render_item = |(verdict, meaning)| format!("<li>{} {meaning}</li>\n", claims::render_verdict(verdict));
    format!("<ul class=\"key\">\n{}</ul>\n", meanings.map(render_item).concat())
}

fn render_machine(report: &Report) -> String {
    let mut out = String::from("<section id=\"machine\">\n<h2>The machine, and how it was measured</h2>\n<dl>\n");
    for (label, text) in words::describe_machine(&report.machine) {
        _ = writeln!(out, "<dt>{label}</dt><dd>{}</dd>", escape_markup(&text));
    }
    _ = write!(out, "</dl>\n<p>{}</p>\n</section>\n", escape_markup(&words::describe_method(&report.settings)));
    out
}

/// Writes a paragraph, if there is text.
fn write_paragraph(out: &mut String, class: &str, text: &str) {
    if !text.trim().is_empty() {
        _ = writeln!(out, "<p class=\"{class}\">{}</p>", escape_markup(text.trim()));
    }
}

/// Returns a table in a frame that scrolls if the window is narrow.
fn render_table(table: &Table, caption: &str) -> String {
    if table.is_empty() {
        return String::new();
    }
    let caption = escape_markup(caption);
    let mut out = format!("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n");
    _ = write!(out, "<caption>{caption}</caption>\n<thead><tr>");
    for column in &table.columns {
        let class = if column.is_right_aligned { " class=\"r\"" } else { "" };
        match column.title.is_empty() {
            true => _ = write!(out, "<td{class}></td>"),
            false => _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape_markup(&column.title)),
        }
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        match row {
            Row::Section(title) => {
                let span = table.columns.len();
                _ = writeln!(out, "<tr><th class=\"part\" colspan=\"{span}\">{}</th></tr>", escape_markup(title));
            }
            Row::Cells(cells) => {
                out += "<tr>";
                for (index, cell) in cells.iter().enumerate() {
                    let class = if table.columns.get(index).is_some_and(|column| column.is_right_aligned) {
                        " class=\"r\""
                    } else {
                        ""
                    };
                    match index {
                        0 => _ = write!(out, "<th scope=\"row\"{class}>{}</th>", escape_markup(cell)),
                        _ => _ = write!(out, "<td{class}>{}</td>", escape_markup(cell)),
                    }
                }
                out += "</tr>\n";
            }
        }
    }
    out + "</tbody>\n</table>\n</div>\n"
}
