//! A scenario in the page.

use super::{claims, render_table, write_paragraph};
use crate::model::{Operation, Point, ScenarioReport};
use crate::page::chart::{self, Drawing, NARROW, WIDE, escape_markup};
use crate::page::comparison_matrix::Matrix;
use crate::page::view::{
    Names, PointGroup, group_points, make_printable, measured_operations, operations_at_point, select_shown_points,
    title_at_point,
};
use crate::page::{shared_tables, words};
use std::fmt::Write;

/// Returns the section of a scenario.
pub(super) fn render_section(scenario: &ScenarioReport, id: &str) -> String {
    let names = Names::new(scenario);
    let mut page = Section { out: String::new(), scenario, names: &names, id, chart_count: 0 };
    _ = write!(page.out, "<section id=\"{id}\">\n<h2>{}</h2>\n", escape_markup(&scenario.name));
    write_paragraph(&mut page.out, "lead", &scenario.title);
    if scenario.stopped {
        write_paragraph(&mut page.out, "note", "⚠ The run was stopped before this was done.");
    }
    let verdict = words::describe_results(scenario, &names);
    page.write_list("verdict-list", verdict.iter().map(|sentence| escape_markup(sentence)).collect());
    write_paragraph(&mut page.out, "", &scenario.about);
    for point in select_shown_points(scenario) {
        page.write_point(point);
    }
    for group in group_points(scenario) {
        measured_operations(scenario).into_iter().for_each(|operation| page.write_growth(&group, operation));
    }
    page.write_then_and_now();
    page.write_remarks();
    page.out + "</section>\n"
}

/// The section of a scenario that is being written.
struct Section<'a> {
    out: String,
    scenario: &'a ScenarioReport,
    names: &'a Names<'a>,
    id: &'a str,
    /// Number of charts so far, because each needs an id.
    chart_count: usize,
}

impl Section<'_> {
    /// Writes the charts and tables of one size.
    fn write_point(&mut self, point: &Point) {
        let (scenario, names) = (self.scenario, self.names);
        let operations = operations_at_point(point, &measured_operations(scenario));
        for operation in &operations {
            let title = title_at_point(words::operation_title(*operation), point);
            let draw = |width| chart::bars(scenario, point, *operation, names, width);
            self.write_figure(
                &title,
                "median time, shorter is better",
                draw,
                self.render_numbers(point, *operation, &title),
            );
        }
        let title = title_at_point("everybody", point);
        let summary = render_table(&shared_tables::build_summary_table(scenario, point, &operations, names), &title);
        let differences = words::list_differences(point, names);
        _ = write!(self.out, "<h3>{}</h3>\n{summary}", escape_markup(&title));
        self.write_list(
            "",
            differences.iter().map(|(name, difference)| escape_markup(&format!("{name}: {difference}"))).collect(),
        );
        let title = title_at_point("bytes against time", point);
        let sizes = shared_tables::build_summary_table(scenario, point, &operations, names);
        self.write_figure(
            &title,
            "",
            |width| chart::scatter(scenario, point, names, width),
            render_table(&sizes, &title),
        );
        let title = title_at_point("memory", point);
        let steps =
            shared_tables::build_memory_table(point, names).map_or(String::new(), |table| render_table(&table, &title));
        self.write_figure(&title, "", |width| chart::memory(scenario, point, names, width), steps);
    }

    /// Returns the numbers of a bar chart, and the comparison of all pairs.
    fn render_numbers(&self, point: &Point, operation: Operation, title: &str) -> String {
        let raw = render_table(&shared_tables::build_statistics_table(point, operation, self.names), title);
        let Some(matrix) = Matrix::new(point, operation, self.scenario.noise.resolution) else { return raw };
        let wrong = matrix.wrong.iter().map(|entry| self.names.display_name(&entry.id)).collect::<Vec<_>>().join(", ");
        let caption = "by which the row is faster than the column; = is a tie";
        let mut out = raw
            + &matrix
                .build_tables(self.names, usize::MAX)
                .iter()
                .map(|table| render_table(table, caption))
                .collect::<String>();
        if !wrong.is_empty() {
            write_paragraph(&mut out, "note", &format!("Not listed, because the round trip differs: {wrong}."));
        }
        out
    }

    fn write_growth(&mut self, group: &PointGroup, operation: Operation) {
        let (scenario, names) = (self.scenario, self.names);
        let group_suffix =
            if group.label.is_empty() { String::new() } else { format!(", {}", make_printable(&group.label)) };
        let title = format!("growth, {}{group_suffix}", words::operation_title(operation));
        let draw = |width| chart::growth(scenario, group, operation, names, width);
        let all = shared_tables::build_growth_table(scenario, group, operation, names, usize::MAX);
        self.write_figure(&title, "both axes are logarithmic, lower is better", draw, render_table(&all, &title));
    }

    /// Writes a chart, drawn for wide and for narrow windows, with its numbers below.
    fn write_figure(&mut self, title: &str, explanation: &str, draw: impl Fn(f64) -> Option<Drawing>, numbers: String) {
        let (Some(wide), Some(narrow)) = (draw(WIDE), draw(NARROW)) else { return };
        self.chart_count += 1;
        let id = format!("{}-c{}", self.id, self.chart_count);
        _ = write!(self.out, "<figure>\n<figcaption><h3>{}</h3>", escape_markup(title));
        if !explanation.is_empty() {
            _ = write!(self.out, "<span>{}</span>", escape_markup(explanation));
        }
        _ = write!(self.out, "</figcaption>\n{}\n", wide.render_inline(&id, "wide"));
        _ = writeln!(self.out, "{}", narrow.render_inline(&format!("{id}n"), "narrow"));
        if !numbers.is_empty() {
            _ = write!(self.out, "<details>\n<summary>The numbers</summary>\n{numbers}</details>\n");
        }
        self.out += "</figure>\n";
    }

    fn write_then_and_now(&mut self) {
        if let Some(figures) = shared_tables::build_published_table(self.scenario, self.names) {
            let title = "The article's figures, then and now";
            _ = write!(self.out, "<h3>{title}</h3>\n{}", render_table(&figures, title));
            let mut sources: Vec<&str> =
                self.scenario.published.iter().map(|published| published.source.as_str()).collect();
            sources.dedup();
            write_paragraph(
                &mut self.out,
                "note",
                &format!("From {}. Another machine: only ratios can be compared.", sources.join("; ")),
            );
        }
        if !self.scenario.claims.is_empty() {
            _ = write!(
                self.out,
                "<h3>What the article claims</h3>\n{}",
                claims::render_explained_claims(self.scenario)
            );
        }
    }

    fn write_remarks(&mut self) {
        if !self.scenario.absent.is_empty() {
            self.out += "<h3>Not here</h3>\n";
        }
        let absent = words::group_absent(self.scenario).into_iter().map(|(competitor, reason, install)| {
            let install =
                install.map_or(String::new(), |command| format!("<br/><code>{}</code>", escape_markup(&command)));
            format!("<b>{}</b>: {}{install}", escape_markup(&competitor), escape_markup(&reason))
        });
        self.write_list("", absent.collect());
        if !self.scenario.points.is_empty() {
            let noise = words::describe_noise(&self.scenario.noise);
            let outliers = words::describe_outliers(self.scenario).unwrap_or_default();
            write_paragraph(&mut self.out, "note", &format!("{noise} {outliers}"));
        }
        self.scenario.notes.iter().for_each(|note| write_paragraph(&mut self.out, "note", note));
    }

    /// Writes a list of items that are already HTML.
    fn write_list(&mut self, class: &str, items: Vec<String>) {
        if !items.is_empty() {
            let items: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
            _ = write!(self.out, "<ul class=\"{class}\">\n{items}</ul>\n");
        }
    }
}
