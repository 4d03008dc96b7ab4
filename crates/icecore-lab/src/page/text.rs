//! The report on a terminal, with tables in the layout of the articles.

use super::Style;
use super::matrix::Matrix;
use super::table::Table;
use super::view::{Names, at, groups, is_baseline, operations, operations_at, own, plain, shown};
use super::{tables, words};
use crate::model::{ClaimResult, Point, Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// Number of competitors in a matrix, in addition to the important ones, unless everything is shown.
const FEW: usize = 12;

/// Returns the whole report for a terminal.
pub fn text(report: &Report, style: &Style) -> String {
    let mut page = Page { out: String::new(), style };
    page.heading(&words::run(report));
    for (what, text) in words::machine(&report.machine) {
        page.line(&format!("{what:<12} {text}"));
    }
    for scenario in &report.scenarios {
        page.scenario(scenario);
    }
    if !report.scenarios.is_empty() {
        page.heading("How it was measured");
        page.paragraph(&words::measured(&report.settings));
    }
    page.finish()
}

struct Page<'a> {
    out: String,
    style: &'a Style,
}

impl Page<'_> {
    fn scenario(&mut self, scenario: &ScenarioReport) {
        let names = Names::new(scenario);
        self.heading(&format!("{}: {}", plain(&scenario.name), plain(&scenario.title)));
        if scenario.stopped {
            self.paragraph("The run was stopped before this was done.");
        }
        self.paragraph(&scenario.about);
        for sentence in words::verdict(scenario, &names) {
            self.item("·", &sentence);
        }
        for point in shown(scenario, self.style.full) {
            self.point(scenario, point, &names);
        }
        self.growth(scenario, &names);
        self.then_and_now(scenario, &names);
        self.around(scenario);
    }

    /// Writes everything about one size.
    fn point(&mut self, scenario: &ScenarioReport, point: &Point, names: &Names) {
        let operations = operations_at(point, &operations(scenario));
        for operation in &operations {
            let Some(mut matrix) = Matrix::new(point, *operation, scenario.noise.resolution) else {
                continue;
            };
            let hidden =
                if self.style.full { 0 } else { matrix.keep(FEW, |entry| own(entry) || is_baseline(scenario, entry)) };
            self.small_heading(&at(words::operation(*operation), point));
            for table in matrix.tables(names, self.inside()) {
                self.table(&table);
            }
            if hidden > 0 {
                self.paragraph(&format!("{hidden} slower ones are left out; --full shows them."));
            }
            let wrong: Vec<_> = matrix.wrong.iter().map(|e| names.of(&e.id)).collect();
            if !wrong.is_empty() {
                self.paragraph(&format!("Not in it, as the round trip differs: {}.", wrong.join(", ")));
            }
        }
        self.small_heading(&at("summary", point));
        let whole = tables::summary(scenario, point, &operations, names);
        if whole.width() <= self.inside() {
            self.table(&whole);
        } else {
            for operation in &operations {
                self.table(&tables::summary(scenario, point, &[*operation], names));
            }
        }
        for (name, differences) in words::differences(point, names) {
            self.item("", &format!("{name}: {differences}"));
        }
        if let Some(table) = tables::memory(point, names) {
            self.small_heading(&at("memory", point));
            self.table(&table);
        }
    }

    fn growth(&mut self, scenario: &ScenarioReport, names: &Names) {
        for group in groups(scenario).iter().filter(|g| g.points.len() > 1) {
            for operation in operations(scenario) {
                let most = (2..=8)
                    .rev()
                    .find(|most| tables::growth(scenario, group, operation, names, *most).width() <= self.inside());
                let table = tables::growth(scenario, group, operation, names, most.unwrap_or(2));
                if !table.is_empty() {
                    self.small_heading(&format!("growth, {} {}", words::operation(operation), group.label));
                    self.table(&table);
                }
            }
        }
    }

    fn then_and_now(&mut self, scenario: &ScenarioReport, names: &Names) {
        if let Some(table) = tables::published(scenario, names) {
            self.small_heading("then and now");
            self.table(&table);
        }
        if !scenario.claims.is_empty() {
            self.small_heading("what the article claims");
            scenario.claims.iter().for_each(|result| self.claim(result));
        }
    }

    fn claim(&mut self, result: &ClaimResult) {
        let (sign, word) = words::became(result.verdict);
        self.item(sign, &format!("{word}: {} ({})", plain(&result.claim.text), plain(&result.claim.source)));
        self.item("", &result.words);
        if !matches!(result.verdict, Verdict::Holds) {
            self.item("", &result.claim.explanation);
        }
    }

    /// Writes missing competitors, noise and notes.
    fn around(&mut self, scenario: &ScenarioReport) {
        if !scenario.absent.is_empty() {
            self.small_heading("not here");
        }
        for (who, why, install) in words::absent(scenario) {
            self.item("-", &format!("{who}: {why}"));
            if let Some(command) = install {
                self.line(&format!("    {command}"));
            }
        }
        if !scenario.points.is_empty() {
            self.small_heading("the machine meanwhile");
            self.paragraph(&words::noise(&scenario.noise));
        }
        if let Some(sentence) = words::outliers(scenario) {
            self.paragraph(&sentence);
        }
        for note in &scenario.notes {
            self.paragraph(note);
        }
    }

    fn heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.line("");
        }
        let line = "=".repeat(text.chars().count().min(self.style.width));
        self.line(&format!("{}\n{line}", self.paint("1", text)));
    }

    fn small_heading(&mut self, text: &str) {
        self.line(&format!("\n{}", self.paint("1", text.trim())));
    }

    fn table(&mut self, table: &Table) {
        for line in table.text().lines() {
            self.line(&format!("  {line}"));
        }
    }

    /// Writes text in lines that fit.
    fn paragraph(&mut self, text: &str) {
        self.wrapped(text, "", "");
    }

    /// Writes text after a sign.
    fn item(&mut self, sign: &str, text: &str) {
        self.wrapped(text, &format!("  {sign:<2}"), "    ");
    }

    fn wrapped(&mut self, text: &str, first: &str, others: &str) {
        self.out += &words::wrapped(text, first, others, self.style.width);
    }

    /// Returns the width for tables, which are indented by two spaces.
    fn inside(&self) -> usize {
        self.style.width.saturating_sub(2)
    }

    fn line(&mut self, text: &str) {
        _ = writeln!(self.out, "{}", text.trim_end());
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.style.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Colors the signs at the end, because color codes would count as width before.
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
