//! `icecore bench --list`

use icecore_lab::model::{Absent, Role};
use icecore_lab::run::{FoundCompetitors, Options};
use icecore_lab::runner::FoundRunner;
use icecore_lab::scenario::Scenario;
use serde::Serialize;
use std::fmt::{self, Display};

/// The scenarios and competitors that can run here.
#[derive(Serialize)]
pub struct BenchList {
    scenarios: Vec<ScenarioLine>,
    competitors: Vec<Competitor>,
    missing: Vec<Absent>,
}

/// A scenario.
#[derive(Serialize)]
struct ScenarioLine {
    name: String,
    title: String,
    competitors: usize,
    missing: usize,
    /// What the scenario waits for, if it can't run yet.
    waits: Option<String>,
}

/// A competitor that can take part.
#[derive(Serialize)]
struct Competitor {
    id: String,
    name: String,
    version: String,
    role: Role,
}

impl BenchList {
    /// Lists these scenarios and all competitors that were found.
    ///
    /// # Errors
    ///
    /// As [`FoundCompetitors::select_participants`].
    pub fn new(
        scenarios: &[Scenario],
        found_competitors: &FoundCompetitors,
        options: &Options,
    ) -> Result<BenchList, icecore_lab::Error> {
        let mut list = BenchList { scenarios: Vec::new(), competitors: Vec::new(), missing: Vec::new() };
        for scenario in scenarios {
            let (participants, missing) = found_competitors.select_participants(scenario, options)?;
            list.scenarios.push(ScenarioLine {
                name: scenario.name.clone(),
                title: scenario.title.clone(),
                competitors: participants.iter().filter(|participant| participant.role == Role::Competitor).count(),
                missing: missing.len(),
                waits: scenario.waits.clone(),
            });
        }
        for runner in &found_competitors.found {
            match runner {
                FoundRunner::Here(participant) => list.competitors.push(Competitor {
                    id: participant.id.clone(),
                    name: participant.name.clone(),
                    version: participant.version.clone(),
                    role: participant.role,
                }),
                FoundRunner::Missing { id, reason, install, .. } => {
                    list.missing.push(Absent { competitor: id.clone(), why: reason.clone(), install: install.clone() });
                }
            }
        }
        Ok(list)
    }
}

impl Display for BenchList {
    /// Writes the scenarios, the competitors, and what is missing with its remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column_width = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0) + 1;
        let name_width = column_width(&mut self.scenarios.iter().map(|scenario| scenario.name.len()));
        writeln!(f, "Scenarios")?;
        for ScenarioLine { name, title, competitors, missing, waits } in &self.scenarios {
            let state = match (waits, missing) {
                (Some(dependency), _) => format!("waits for {dependency}"),
                (None, 0) => format!("{competitors} can take part"),
                (None, missing) => format!("{competitors} can take part, {missing} missing"),
            };
            writeln!(f, "  {name:<name_width$} {title} ({state})")?;
        }
        let id_lengths = self.competitors.iter().map(|competitor| competitor.id.len());
        let id_width = column_width(&mut id_lengths.chain(self.missing.iter().map(|absent| absent.competitor.len())));
        writeln!(f, "\nCompetitors")?;
        for Competitor { id, name, version, role } in &self.competitors {
            let floor = if *role == Role::Floor { " (the floor)" } else { "" };
            writeln!(f, "  {id:<id_width$} {name} {version}{floor}")?;
        }
        if !self.missing.is_empty() {
            writeln!(f, "\nCan't run here")?;
        }
        for Absent { competitor, why, install } in &self.missing {
            writeln!(f, "  {competitor:<id_width$} {why}")?;
            if let Some(install) = install {
                writeln!(f, "  {:<id_width$} {install}", "")?;
            }
        }
        Ok(())
    }
}
