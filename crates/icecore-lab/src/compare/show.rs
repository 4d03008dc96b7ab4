//! A comparison as a text table.

use super::{Change, ComparedQuantity, Finding, ReportComparison};
use crate::stats::words;
use std::fmt;

impl fmt::Display for ReportComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut changed: Vec<&Finding> = self.findings.iter().filter(|finding| belongs_in_table(finding)).collect();
        changed.sort_by_key(|finding| finding.change);
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        write_table(f, &changed)?;
        self.write_totals(f)
    }
}

impl ReportComparison {
    fn write_totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            return writeln!(f, "The reports have nothing in common.");
        }
        let changes = [Change::Worse, Change::Improved, Change::New, Change::Gone, Change::Same];
        let counts = changes.map(|change| (change, self.findings_with_change(change).count()));
        let parts: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(change, count)| format!("{count} {}", change.word()))
            .collect();
        writeln!(
            f,
            "{}. Times count against the baseline's, and changes up to {} do not count.",
            parts.join(", "),
            self.threshold
        )
    }
}

/// Returns true if a finding has a line in the table: if it is a change, or any different size, because sizes do not
/// vary by chance.
fn belongs_in_table(finding: &Finding) -> bool {
    finding.change != Change::Same || (finding.what == ComparedQuantity::Size && finding.old != finding.new)
}

impl Change {
    /// Returns the word for the change, such as `worse`.
    pub fn word(self) -> &'static str {
        match self {
            Change::Worse => "worse",
            Change::Improved => "better",
            Change::New => "new",
            Change::Gone => "gone",
            Change::Same => "the same",
        }
    }
}

fn write_table(f: &mut fmt::Formatter<'_>, findings: &[&Finding]) -> fmt::Result {
    let rows: Vec<[String; 4]> = findings.iter().map(|finding| build_row(finding)).collect();
    let column_width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [column_width(0), column_width(1), column_width(2)];
    for [change, competitor, quantity, words] in &rows {
        let line = format!("{change:0$}  {competitor:1$}  {quantity:2$}  {words}", widths[0], widths[1], widths[2]);
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

fn build_row(finding: &Finding) -> [String; 4] {
    let mut subject = format!("{} {}", finding.scenario, finding.competitor);
    if !finding.point.is_empty() {
        subject += &format!(", {}", finding.point);
    }
    let quantity = match finding.what {
        ComparedQuantity::Part => String::new(),
        ComparedQuantity::Time(operation) => operation.name().to_owned(),
        ComparedQuantity::Size => "size".to_owned(),
        ComparedQuantity::Fidelity => "fidelity".to_owned(),
    };
    [finding.change.word().to_owned(), subject, quantity, describe_finding(finding)]
}

fn describe_finding(finding: &Finding) -> String {
    let format_amount = |value: f64| match finding.what {
        ComparedQuantity::Time(_) => words::format_duration(value),
        _ => format!("{value:.0} bytes"),
    };
    let times = finding.times.map(|times| match finding.what {
        ComparedQuantity::Time(_) => format!("{} times as long against the baseline", words::format_interval(&times)),
        _ => format!("{} times as much", words::format_interval(&times)),
    });
    let absolute = match (finding.old, finding.new) {
        (Some(old), Some(new)) => Some(format!("{} then, {} now", format_amount(old), format_amount(new))),
        (Some(old), None) => Some(format!("{} then", format_amount(old))),
        (None, Some(new)) => Some(format!("{} now", format_amount(new))),
        (None, None) => None,
    };
    let words = Some(finding.words.clone()).filter(|words| !words.is_empty());
    let fidelity = (finding.what == ComparedQuantity::Fidelity).then(|| match finding.change {
        Change::Worse => "what it gives back is less right than it was".to_owned(),
        _ => "what it gives back is more right than it was".to_owned(),
    });
    [fidelity, times, absolute, words].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
