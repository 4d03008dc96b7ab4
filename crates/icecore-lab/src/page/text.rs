//! The report on a terminal, with tables in the layout of the articles.

use super::Style;
use super::comparison_matrix::Matrix;
use super::table::Table;
use super::view::{
    Names, group_points, is_baseline, is_icecore, make_printable, measured_operations, operations_at_point,
    select_shown_points, title_at_point,
};
use super::{shared_tables, words};
use crate::model::{ClaimResult, Point, Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// Number of competitors in a matrix, in addition to the important ones, unless everything is shown.
const MATRIX_ROWS: usize = 12;

/// Returns the whole report for a terminal.
pub fn render_text(report: &Report, style: &Style) -> String {
    let mut page = Page { out: String::new(), style };
    page.write_heading(&words::describe_run(report));
    for (label, text) in words::describe_machine(&report.machine) {
        page.write_line(&format!("{label:<12} {text}"));
    }
    for scenario in &report.scenarios {
        page.write_scenario(scenario);
    }
    if !report.scenarios.is_empty() {
        page.write_heading("How it was measured");
        page.write_paragraph(&words::describe_method(&report.settings));
    }
    page.finish()
}

/// The text that is being written.
struct Page<'a> {
    out: String,
    style: &'a Style,
}

impl Page<'_> {
    fn write_scenario(&mut self, scenario: &ScenarioReport) {
        let names = Names::new(scenario);
        self.write_heading(&format!("{}: {}", make_printable(&scenario.name), make_printable(&scenario.title)));
        if scenario.stopped {
            self.write_paragraph("The run was stopped before this was done.");
        }
        self.write_paragraph(&scenario.about);
        for sentence in words::describe_results(scenario, &names) {
            self.write_item("·", &sentence);
        }
        let points = if self.style.full { scenario.points.iter().collect() } else { select_shown_points(scenario) };
        for point in points {
            self.write_point(scenario, point, &names);
        }
        self.write_growth(scenario, &names);
        self.write_then_and_now(scenario, &names);
        self.write_remarks(scenario);
    }

    /// Writes everything about one size.
    fn write_point(&mut self, scenario: &ScenarioReport, point: &Point, names: &Names) {
        let operations = operations_at_point(point, &measured_operations(scenario));
        for operation in &operations {
            let Some(mut matrix) = Matrix::new(point, *operation, scenario.noise.resolution) else {
                continue;
            };
            let hidden = if self.style.full {
                0
            } else {
                matrix.keep_fastest(MATRIX_ROWS, |entry| is_icecore(entry) || is_baseline(scenario, entry))
            };
            self.write_small_heading(&title_at_point(words::operation_title(*operation), point));
            for table in matrix.build_tables(names, self.table_width()) {
                self.write_table(&table);
            }
            if hidden > 0 {
                self.write_paragraph(&format!("{hidden} slower ones are left out; --full shows them."));
            }
            let wrong: Vec<_> = matrix.wrong.iter().map(|entry| names.display_name(&entry.id)).collect();
            if !wrong.is_empty() {
                self.write_paragraph(&format!("Not listed, because the round trip differs: {}.", wrong.join(", ")));
            }
        }
        self.write_small_heading(&title_at_point("summary", point));
        let summary = shared_tables::build_summary_table(scenario, point, &operations, names);
        if summary.total_width() <= self.table_width() {
            self.write_table(&summary);
        } else {
            for operation in &operations {
                self.write_table(&shared_tables::build_summary_table(scenario, point, &[*operation], names));
            }
        }
        for (name, differences) in words::list_differences(point, names) {
            self.write_item("", &format!("{name}: {differences}"));
        }
        if let Some(table) = shared_tables::build_memory_table(point, names) {
            self.write_small_heading(&title_at_point("memory", point));
            self.write_table(&table);
        }
    }

    fn write_growth(&mut self, scenario: &ScenarioReport, names: &Names) {
        for group in group_points(scenario).iter().filter(|group| group.points.len() > 1) {
            for operation in measured_operations(scenario) {
                let max_points = (2..=8).rev().find(|point_count| {
                    shared_tables::build_growth_table(scenario, group, operation, names, *point_count).total_width()
                        <= self.table_width()
                });
                let table =
                    shared_tables::build_growth_table(scenario, group, operation, names, max_points.unwrap_or(2));
                if !table.is_empty() {
                    self.write_small_heading(&format!("growth, {} {}", words::operation_title(operation), group.label));
                    self.write_table(&table);
                }
            }
        }
    }

    fn write_then_and_now(&mut self, scenario: &ScenarioReport, names: &Names) {
        if let Some(table) = shared_tables::build_published_table(scenario, names) {
            self.write_small_heading("then and now");
            self.write_table(&table);
        }
        if !scenario.claims.is_empty() {
            self.write_small_heading("what the article claims");
            scenario.claims.iter().for_each(|result| self.write_claim(result));
        }
    }

    fn write_claim(&mut self, result: &ClaimResult) {
        let (sign, word) = words::verdict_label(result.verdict);
        self.write_item(
            sign,
            &format!("{word}: {} ({})", make_printable(&result.claim.text), make_printable(&result.claim.source)),
        );
        self.write_item("", &result.words);
        if !matches!(result.verdict, Verdict::Holds) {
            self.write_item("", &result.claim.explanation);
        }
    }

    /// Writes missing competitors, noise and notes.
    fn write_remarks(&mut self, scenario: &ScenarioReport) {
        if !scenario.absent.is_empty() {
            self.write_small_heading("not here");
        }
        for (competitor, reason, install) in words::group_absent(scenario) {
            self.write_item("-", &format!("{competitor}: {reason}"));
            if let Some(command) = install {
                self.write_line(&format!("    {command}"));
            }
        }
        if !scenario.points.is_empty() {
            self.write_small_heading("the machine meanwhile");
            self.write_paragraph(&words::describe_noise(&scenario.noise));
        }
        if let Some(sentence) = words::describe_outliers(scenario) {
            self.write_paragraph(&sentence);
        }
        for note in &scenario.notes {
            self.write_paragraph(note);
        }
    }

    fn write_heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.write_line("");
        }
        let line = "=".repeat(text.chars().count().min(self.style.width));
        self.write_line(&format!("{}\n{line}", self.paint("1", text)));
    }

    fn write_small_heading(&mut self, text: &str) {
        self.write_line(&format!("\n{}", self.paint("1", text.trim())));
    }

    fn write_table(&mut self, table: &Table) {
        for line in table.to_text(self.table_width()).lines() {
            self.write_line(&format!("  {line}"));
        }
    }

    /// Writes text in lines that fit.
    fn write_paragraph(&mut self, text: &str) {
        self.write_wrapped(text, "", "");
    }

    /// Writes text after a sign.
    fn write_item(&mut self, sign: &str, text: &str) {
        self.write_wrapped(text, &format!("  {sign:<2}"), "    ");
    }

    fn write_wrapped(&mut self, text: &str, first: &str, others: &str) {
        self.out += &words::wrap_text(text, first, others, self.style.width);
    }

    /// Returns the width for tables, which are indented by two spaces.
    fn table_width(&self) -> usize {
        self.style.width.saturating_sub(2)
    }

    fn write_line(&mut self, text: &str) {
        _ = writeln!(self.out, "{}", text.trim_end());
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.style.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Returns the text with colored signs. They are colored after the layout, because the layout would count the
    /// color codes as characters.
    fn finish(self) -> String {
        if !self.style.color {
            return self.out;
        }
        let colors = [("✓", "32"), ("✗", "31"), ("≈", "33"), ("▲", "32"), ("▼", "33")];
        let painted =
            |out: String, (sign, code): &(&str, &str)| out.replace(sign, &format!("\x1b[{code}m{sign}\x1b[0m"));
        colors.iter().fold(self.out, painted)
    }
}
