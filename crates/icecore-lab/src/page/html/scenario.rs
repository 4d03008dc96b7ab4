//! A scenario in the page.

use super::{claims, paragraph, table};
use crate::model::{Operation, Point, ScenarioReport};
use crate::page::chart::{self, Drawing, NARROW, WIDE, escape};
use crate::page::matrix::Matrix;
use crate::page::view::{Group, Names, at, groups, operations, operations_at, plain, shown};
use crate::page::{tables, words};
use std::fmt::Write;

/// Returns the section of a scenario.
pub(super) fn section(scenario: &ScenarioReport, id: &str) -> String {
    let names = Names::new(scenario);
    let mut page = Section { out: String::new(), scenario, names: &names, id, charts: 0 };
    _ = write!(page.out, "<section id=\"{id}\">\n<h2>{}</h2>\n", escape(&scenario.name));
    paragraph(&mut page.out, "lead", &scenario.title);
    if scenario.stopped {
        paragraph(&mut page.out, "note", "⚠ The run was stopped before this was done.");
    }
    let verdict = words::verdict(scenario, &names);
    page.list("verdict-list", verdict.iter().map(|sentence| escape(sentence)).collect());
    paragraph(&mut page.out, "", &scenario.about);
    for point in shown(scenario, false) {
        page.point(point);
    }
    for group in groups(scenario) {
        operations(scenario).into_iter().for_each(|operation| page.growth(&group, operation));
    }
    page.then_and_now();
    page.around();
    page.out + "</section>\n"
}

struct Section<'a> {
    out: String,
    scenario: &'a ScenarioReport,
    names: &'a Names<'a>,
    id: &'a str,
    /// Number of charts so far: each needs an id.
    charts: usize,
}

impl Section<'_> {
    fn point(&mut self, point: &Point) {
        let (scenario, names) = (self.scenario, self.names);
        let operations = operations_at(point, &operations(scenario));
        for operation in &operations {
            let title = at(words::operation(*operation), point);
            let draw = |width| chart::bars(scenario, point, *operation, names, width);
            self.figure(&title, "median time, shorter is better", draw, self.numbers(point, *operation, &title));
        }
        let title = at("everybody", point);
        let summary = table(&tables::summary(scenario, point, &operations, names), &title);
        let differences = words::differences(point, names);
        _ = write!(self.out, "<h3>{}</h3>\n{summary}", escape(&title));
        self.list("", differences.iter().map(|(name, what)| escape(&format!("{name}: {what}"))).collect());
        let title = at("bytes against time", point);
        let sizes = tables::summary(scenario, point, &operations, names);
        self.figure(&title, "", |width| chart::scatter(scenario, point, names, width), table(&sizes, &title));
        let title = at("memory", point);
        let steps = tables::memory(point, names).map_or(String::new(), |t| table(&t, &title));
        self.figure(&title, "", |width| chart::memory(scenario, point, names, width), steps);
    }

    /// Returns the numbers of a bar chart, and the comparison of all pairs.
    fn numbers(&self, point: &Point, operation: Operation, title: &str) -> String {
        let raw = table(&tables::raw(point, operation, self.names), title);
        let Some(matrix) = Matrix::new(point, operation, self.scenario.noise.resolution) else { return raw };
        let wrong = matrix.wrong.iter().map(|e| self.names.of(&e.id)).collect::<Vec<_>>().join(", ");
        let caption = "by which the row is faster than the column; = is a tie";
        let mut out =
            raw + &matrix.tables(self.names, usize::MAX).iter().map(|t| table(t, caption)).collect::<String>();
        if !wrong.is_empty() {
            paragraph(&mut out, "note", &format!("Not in it, as the round trip differs: {wrong}."));
        }
        out
    }

    fn growth(&mut self, group: &Group, operation: Operation) {
        let (scenario, names) = (self.scenario, self.names);
        let of = if group.label.is_empty() { String::new() } else { format!(", {}", plain(&group.label)) };
        let title = format!("growth, {}{of}", words::operation(operation));
        let draw = |width| chart::growth(scenario, group, operation, names, width);
        let all = tables::growth(scenario, group, operation, names, usize::MAX);
        self.figure(&title, "both axes are logarithmic, lower is better", draw, table(&all, &title));
    }

    /// Writes a chart, drawn for wide and for narrow windows, with its numbers below.
    fn figure(&mut self, title: &str, how: &str, draw: impl Fn(f64) -> Option<Drawing>, numbers: String) {
        let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) else { return };
        self.charts += 1;
        let id = format!("{}-c{}", self.id, self.charts);
        _ = write!(self.out, "<figure>\n<figcaption><h3>{}</h3>", escape(title));
        if !how.is_empty() {
            _ = write!(self.out, "<span>{}</span>", escape(how));
        }
        _ = write!(self.out, "</figcaption>\n{}\n", wide.inline(&id, "wide"));
        _ = writeln!(self.out, "{}", narrow.inline(&format!("{id}n"), "narrow"));
        if !numbers.is_empty() {
            _ = write!(self.out, "<details>\n<summary>The numbers</summary>\n{numbers}</details>\n");
        }
        self.out += "</figure>\n";
    }

    fn then_and_now(&mut self) {
        if let Some(figures) = tables::published(self.scenario, self.names) {
            let title = "The article's figures, then and now";
            _ = write!(self.out, "<h3>{title}</h3>\n{}", table(&figures, title));
            let mut sources: Vec<&str> = self.scenario.published.iter().map(|p| p.source.as_str()).collect();
            sources.dedup();
            paragraph(
                &mut self.out,
                "note",
                &format!("From {}. Another machine: only ratios can be compared.", sources.join("; ")),
            );
        }
        if !self.scenario.claims.is_empty() {
            _ = write!(self.out, "<h3>What the article claims</h3>\n{}", claims::explained(self.scenario));
        }
    }

    fn around(&mut self) {
        if !self.scenario.absent.is_empty() {
            self.out += "<h3>Not here</h3>\n";
        }
        let absent = words::absent(self.scenario).into_iter().map(|(who, why, install)| {
            let install = install.map_or(String::new(), |c| format!("<br/><code>{}</code>", escape(&c)));
            format!("<b>{}</b>: {}{install}", escape(&who), escape(&why))
        });
        self.list("", absent.collect());
        if !self.scenario.points.is_empty() {
            let noise = words::noise(&self.scenario.noise);
            let outliers = words::outliers(self.scenario).unwrap_or_default();
            paragraph(&mut self.out, "note", &format!("{noise} {outliers}"));
        }
        self.scenario.notes.iter().for_each(|note| paragraph(&mut self.out, "note", note));
    }

    /// Writes a list of items that are already HTML.
    fn list(&mut self, class: &str, items: Vec<String>) {
        if !items.is_empty() {
            let items: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
            _ = write!(self.out, "<ul class=\"{class}\">\n{items}</ul>\n");
        }
    }
}
