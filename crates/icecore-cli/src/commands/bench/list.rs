//! `icecore bench --list`

use icecore_lab::model::Role;
use icecore_lab::run::{Cast, Options};
use icecore_lab::runner::Found;
use icecore_lab::scenario::Scenario;
use std::fmt::Write;

/// The scenarios, then who can take part, then what is missing and how to get it.
pub fn list(scenarios: &[Scenario], cast: &Cast, options: &Options) -> Result<String, icecore_lab::Error> {
    let mut text = String::from("Scenarios\n");
    for scenario in scenarios {
        let state = match &scenario.waits {
            Some(what) => format!("waits for {what}"),
            None => {
                let (here, missing) = cast.of(scenario, options)?;
                let here = here.iter().filter(|one| one.role == Role::Competitor).count();
                let missing = match missing.len() {
                    0 => String::new(),
                    missing => format!(", {missing} missing"),
                };
                format!("{here} competitors{missing}")
            }
        };
        let _ = writeln!(text, "  {:<15} {} ({state})", scenario.name, scenario.title);
    }
    text.push_str("\nCompetitors\n");
    for found in &cast.found {
        if let Found::Here(one) = found {
            let floor = if one.role == Role::Floor { " (the floor)" } else { "" };
            let _ = writeln!(text, "  {:<30} {} {}{floor}", one.id, one.name, one.version);
        }
    }
    let missing: Vec<_> = cast
        .found
        .iter()
        .filter_map(|found| match found {
            Found::Missing { id, why, install } => Some((id, why, install)),
            Found::Here(_) => None,
        })
        .collect();
    if !missing.is_empty() {
        text.push_str("\nCan't run here\n");
    }
    for (id, why, install) in missing {
        let _ = writeln!(text, "  {id:<30} {why}");
        if let Some(install) = install {
            let _ = writeln!(text, "  {:<30} {install}", "");
        }
    }
    Ok(text)
}
