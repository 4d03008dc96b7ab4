//! Selects the participants of each scenario.

use super::Options;
use crate::Error;
use crate::model::{Absent, Operation, Runtime};
use crate::runner::{Environment, FoundRunner, Participant, find_runners, list_runner_ids};
use crate::scenario::Scenario;
use std::collections::BTreeSet;
use std::path::Path;

/// All competitors that were found.
#[derive(Clone, Debug, Default)]
pub struct FoundCompetitors {
    /// Competitors in the order of their ids.
    pub found: Vec<FoundRunner>,
}

/// Looks for all competitors that these scenarios may need. Competitors that `only` excludes are not started. An
/// empty `only` excludes none.
///
/// # Errors
///
/// Those of [`find_runners`].
pub fn find_competitors(
    environment: &Environment<'_>,
    scenarios: &[Scenario],
    only: &[String],
) -> Result<FoundCompetitors, Error> {
    let languages: Vec<&str> = scenarios.iter().filter_map(|scenario| scenario.language.as_deref()).collect();
    let needs_all_languages = scenarios.iter().any(|scenario| scenario.language.is_none());
    let names: Vec<&str> = scenarios.iter().map(|scenario| &*scenario.name).collect();
    let is_wanted = |id: &str| is_one_of(id, only) && scenarios.iter().any(|scenario| is_one_of(id, &scenario.only));
    Ok(FoundCompetitors {
        found: find_runners(environment, if needs_all_languages { &[] } else { &languages }, &names, is_wanted)?,
    })
}

/// Returns true if a competitor or its group is in the list. An empty list contains all.
fn is_one_of(id: &str, selection: &[String]) -> bool {
    selection.is_empty() || selection.iter().any(|group| belongs_to_group(id, group))
}

/// Returns true if a competitor has this id or belongs to this group: `perl/sereal` belongs to `perl`.
fn belongs_to_group(id: &str, group: &str) -> bool {
    id.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Checks that `--only` names existing competitors or languages.
///
/// # Errors
///
/// An error that suggests the most similar name or lists the languages, and the errors of [`find_runners`].
pub fn check_competitor_names(environment: &Environment<'_>, only: &[String]) -> Result<(), Error> {
    let mut known = list_runner_ids(environment)?;
    let formats = icecore::format::all().iter().map(|format| format.name);
    known.extend(formats.flat_map(|format| ["engine", "command"].map(|group_name| format!("{group_name}/{format}"))));
    let languages: BTreeSet<&str> = known.iter().filter_map(|id| id.split('/').next()).collect();
    for wanted in only {
        let (group, format_text) = wanted.split_once('/').unwrap_or((wanted, ""));
        let is_icecore = matches!(group, "engine" | "command") && icecore::Stage::parse(format_text).is_ok();
        if is_icecore || known.iter().any(|id| belongs_to_group(id, wanted)) {
            continue;
        }
        let all = known.iter().map(String::as_str).chain(languages.iter().copied());
        let suggestion = match icecore::text::nearest(wanted, all) {
            Some(suggestion) => format!("did you mean {suggestion}?"),
            None => format!(
                "use one of the languages {}, or a name that `icecore bench --list` shows",
                languages.iter().copied().collect::<Vec<_>>().join(", ")
            ),
        };
        return Err(Error::new(format!("there is no competitor {wanted}: {suggestion}")));
    }
    Ok(())
}

impl FoundCompetitors {
    /// Returns the runtimes of the competitors that were found, as the runners named them.
    pub fn list_runtimes(&self) -> Vec<Runtime> {
        let mut runtimes: Vec<Runtime> = Vec::new();
        for found in &self.found {
            if let FoundRunner::Here(participant) = found
                && !participant.runtime.is_empty()
                && runtimes.iter().all(|runtime| runtime.language != participant.language)
            {
                runtimes.push(Runtime { language: participant.language.clone(), version: participant.runtime.clone() });
            }
        }
        runtimes
    }

    /// Checks that a competitor of `--only` takes part in one of the scenarios at least, or would if it were installed.
    ///
    /// # Errors
    ///
    /// If none does.
    pub fn check_selection(&self, scenarios: &[Scenario], options: &Options) -> Result<(), Error> {
        // A scenario that waits is not measured, so it does not select participants.
        if options.only.is_empty() || scenarios.iter().any(|scenario| scenario.waits.is_some()) {
            return Ok(());
        }
        for scenario in scenarios {
            let (participants, absent) = self.select_participants(scenario, options)?;
            if !participants.is_empty() || !absent.is_empty() {
                return Ok(());
            }
        }
        let names: Vec<&str> = scenarios.iter().map(|scenario| &*scenario.name).collect();
        let (only, names) = (options.only.join(","), names.join(", "));
        Err(Error::new(format!(
            "no competitor of --only {only} takes part in {names}; `icecore bench --list` shows who does"
        )))
    }

    /// Returns the participants of a scenario, and the competitors that are not installed.
    ///
    /// # Errors
    ///
    /// If the scenario names a format for the engine that does not exist.
    pub fn select_participants(
        &self,
        scenario: &Scenario,
        options: &Options,
    ) -> Result<(Vec<Participant>, Vec<Absent>), Error> {
        let is_wanted = |id: &str| is_one_of(id, &options.only);
        let belongs = |id: &str| {
            let language = id.split('/').next().unwrap_or_default();
            let is_selected = is_one_of(id, &scenario.only);
            let is_of_other_language =
                scenario.language.as_deref().is_some_and(|scenario_language| scenario_language != language);
            // The user's own runners take part in every scenario whose data they can represent.
            is_selected
                && (!is_of_other_language || !["perl", "php", "python", "ruby"].contains(&language))
                && is_wanted(id)
        };
        let mut participants = Vec::new();
        let mut absent = Vec::new();
        let includes_scenario = |only: &[String]| only.is_empty() || only.contains(&scenario.name);
        for runner in &self.found {
            match runner {
                FoundRunner::Here(participant) => {
                    if includes_scenario(&participant.scenarios) && belongs(&participant.id) {
                        participants.push((**participant).clone());
                    }
                }
                FoundRunner::Missing { id, reason: why, install, scenarios }
                    if includes_scenario(scenarios) && belongs(id) =>
                {
                    absent.push(Absent { competitor: id.clone(), why: why.clone(), install: install.clone() });
                }
                FoundRunner::Missing { .. } => {}
            }
        }
        for format in &scenario.engine {
            let engine = Participant::for_engine(format)?;
            participants.extend(is_wanted(&engine.id).then_some(engine));
            if let Some(program) = command_for_scenario(scenario, options) {
                let command = Participant::for_command(program, format);
                participants.extend(is_wanted(&command.id).then_some(command));
            }
        }
        Ok((participants, absent))
    }
}

/// Returns the command, for scenarios in which files are converted.
fn command_for_scenario<'o>(scenario: &Scenario, options: &'o Options) -> Option<&'o Path> {
    options.command.as_deref().filter(|_| scenario.operations.contains(&Operation::ToJson))
}
