//! A comparison as a text table.

use super::{Change, Compared, Finding, What};
use crate::stats::words;
use std::fmt;

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut changed: Vec<&Finding> = self.findings.iter().filter(|one| is_worth_a_line(one)).collect();
        changed.sort_by_key(|finding| finding.change);
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        table(f, &changed)?;
        self.sums(f)
    }
}

impl Compared {
    fn sums(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            return writeln!(f, "The reports have nothing in common.");
        }
        let changes = [Change::Worse, Change::Improved, Change::New, Change::Gone, Change::Same];
        let counts = changes.map(|change| (change, self.with(change).count()));
        let said: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(change, count)| format!("{count} {}", change.word()))
            .collect();
        writeln!(
            f,
            "{}. Times count against the baseline's, and changes up to {} do not count.",
            said.join(", "),
            self.threshold
        )
    }
}

/// Returns whether a finding has a line in the table: a change, or any different size, because sizes don't vary by
/// chance.
fn is_worth_a_line(finding: &Finding) -> bool {
    finding.change != Change::Same || (finding.what == What::Size && finding.old != finding.new)
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

fn table(f: &mut fmt::Formatter<'_>, findings: &[&Finding]) -> fmt::Result {
    let rows: Vec<[String; 4]> = findings.iter().map(|finding| row(finding)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for [change, competitor, what, words] in &rows {
        let line = format!("{change:0$}  {competitor:1$}  {what:2$}  {words}", widths[0], widths[1], widths[2]);
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

fn row(finding: &Finding) -> [String; 4] {
    let mut place = format!("{} {}", finding.scenario, finding.competitor);
    if !finding.point.is_empty() {
        place += &format!(", {}", finding.point);
    }
    let what = match finding.what {
        What::Part => String::new(),
        What::Time(operation) => operation.name().to_owned(),
        What::Size => "size".to_owned(),
        What::Fidelity => "fidelity".to_owned(),
    };
    [finding.change.word().to_owned(), place, what, said(finding)]
}

fn said(finding: &Finding) -> String {
    let amount = |value: f64| match finding.what {
        What::Time(_) => words::duration(value),
        _ => format!("{value:.0} bytes"),
    };
    let times = finding.times.map(|times| match finding.what {
        What::Time(_) => format!("{} times as long against the baseline", words::interval(&times)),
        _ => format!("{} times as much", words::interval(&times)),
    });
    let absolute = match (finding.old, finding.new) {
        (Some(old), Some(new)) => Some(format!("{} then, {} now", amount(old), amount(new))),
        (Some(old), None) => Some(format!("{} then", amount(old))),
        (None, Some(new)) => Some(format!("{} now", amount(new))),
        (None, None) => None,
    };
    let words = Some(finding.words.clone()).filter(|words| !words.is_empty());
    let fidelity = (finding.what == What::Fidelity).then(|| match finding.change {
        Change::Worse => "what it gives back is less right than it was".to_owned(),
        _ => "what it gives back is more right than it was".to_owned(),
    });
    [fidelity, times, absolute, words].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
