//! `icecore bench`: the lab at the command line.

mod args;
mod data;
mod files;
mod list;
mod progress_updater;

use files::OutputFiles;
use list::BenchList;

pub use args::Bench;

use crate::arguments::Global;
use crate::output_writer::OutputWriter;
use crate::paint::Paint;
use crate::report::{Abort, Report, code, io_reason, usage_text_error};
use crate::signals;
use crate::target::Target;
use crate::tty;
use icecore_lab::model;
use icecore_lab::run::{self, Options};
use icecore_lab::scenario::{self, Scenario};
use icecore_lab::{compare, page, rank};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Default budget for the user's own data, in seconds: with the checks before it, a run takes less than two minutes.
const OWN_DATA_BUDGET: u64 = 75;

pub fn run(args: &Bench, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let mut files = OutputFiles::from_args(args)?;
    if args.list {
        return print_list(args, &mut files);
    }
    let old_report = args.compare.as_deref().map(load_report).transpose()?;
    let new_report = if args.reports.is_empty() {
        run_scenarios(args, global, report)?
    } else {
        Some(merge_reports(&args.reports)?)
    };
    let Some(new_report) = new_report else { return Ok(()) };
    // The standard output is for one document only.
    if !files.has_stdout() {
        print_report(args, global, &new_report)?;
    }
    files.write_files(&new_report)?;
    if let Some(old_report) = old_report {
        let threshold = args.fail_on.unwrap_or_default();
        let comparison = compare::compare_reports(&old_report, &new_report, threshold);
        print_text(&format!("\n{comparison}"))?;
        if args.fail_on.is_some() && comparison.has_regressions() {
            report.raise_exit_code(code::FINDING);
        }
    }
    Ok(())
}

fn lab_error(error: icecore_lab::Error) -> Abort {
    Abort::Failed(code::OTHER, error.to_string())
}

/// Returns the scenarios that the command line names, or all scenarios if it names none.
fn select_scenarios(args: &Bench) -> Result<Vec<Scenario>, Abort> {
    if args.scenarios.is_empty() {
        return scenario::list_scenarios().map_err(lab_error);
    }
    if let Some(file) = args.scenarios.iter().find(|name| std::path::Path::new(name).is_file()) {
        let file = icecore::text::printable(file);
        return Err(usage_text_error(format!("`{file}` is a file, not a scenario; did you mean `--data {file}`?")));
    }
    let scenarios: Result<Vec<_>, _> = args.scenarios.iter().map(|name| scenario::find_scenario(name)).collect();
    scenarios.map_err(|error| Abort::Failed(code::USAGE, error.to_string()))
}

fn build_options(args: &Bench) -> Options {
    let mut options = Options::default();
    if args.small {
        options = options.small();
    }
    options.rounds = args.rounds.unwrap_or(options.rounds);
    let budget = args.budget.or_else(|| args.data.is_some().then_some(OWN_DATA_BUDGET));
    options.budget = budget.map(Duration::from_secs);
    options.seed = args.seed;
    options.only.clone_from(&args.only);
    options.runners.clone_from(&args.runners);
    options.command = std::env::current_exe().ok();
    options.modules = args.modules.clone().or_else(find_modules);
    // Runners work in folders of their own. A link is not resolved: Python finds a virtual environment by the path of
    // its program.
    options.python = args.python.as_deref().map(|program| match program.components().count() {
        1 => program.to_owned(),
        _ => std::path::absolute(program).unwrap_or_else(|_| program.to_owned()),
    });
    options
}

/// Returns the modules of the source tree in which this command was built.
fn find_modules() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let current_folder = std::env::current_dir().ok();
    let candidate_folders = program.ancestors().skip(1).chain(current_folder.as_deref());
    candidate_folders.map(|folder| folder.join("bindings")).find(|folder| has_modules(folder))
}

/// Returns true if the module of at least one language was built in this folder.
fn has_modules(folder: &Path) -> bool {
    let is_built = |language: PathBuf| {
        ["blib", "modules", "build"].iter().any(|build_folder| language.join(build_folder).is_dir())
    };
    std::fs::read_dir(folder).is_ok_and(|languages| languages.flatten().any(|language| is_built(language.path())))
}

fn print_list(args: &Bench, files: &mut OutputFiles) -> Result<(), Abort> {
    let scenarios = select_scenarios(args)?;
    let options = build_options(args);
    let folder = tempfile::tempdir().map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
    let stop_flag = signals::stop_flag()?;
    check_competitors(&options, folder.path(), &stop_flag)?;
    let competitors = run::find_competitors(&options.environment(folder.path(), &stop_flag), &scenarios, &options.only)
        .map_err(lab_error)?;
    let list = BenchList::new(&scenarios, &competitors, &options).map_err(lab_error)?;
    match files.remove_json_destination() {
        Some(destination) => {
            Target::write_text(destination, &(serde_json::to_string(&list).unwrap_or_default() + "\n"))
        }
        None => print_text(&list.to_string()),
    }
}

/// Checks that the competitors of `--only` exist.
fn check_competitors(options: &Options, folder: &Path, stop_flag: &AtomicBool) -> Result<(), Abort> {
    if options.only.is_empty() {
        return Ok(());
    }
    let result = run::check_competitor_names(&options.environment(folder, stop_flag), &options.only);
    result.map_err(|error| Abort::Failed(code::USAGE, error.to_string()))
}

fn print_text(text: &str) -> Result<(), Abort> {
    let mut writer = OutputWriter::stdout();
    writer.write_text(text)?;
    writer.flush()
}

/// Runs the selected scenarios.
fn run_scenarios(args: &Bench, global: &Global, report: &mut Report) -> Result<Option<model::Report>, Abort> {
    let scenarios = match &args.data {
        Some(file) => match data::load_scenario(args, file, global, report)? {
            Some(scenario) => vec![scenario],
            None => return Ok(None),
        },
        None => select_scenarios(args)?,
    };
    let stop_flag = signals::stop_flag()?;
    let options = build_options(args);
    let folder = tempfile::tempdir().map_err(|error| Abort::Failed(code::OTHER, error.to_string()))?;
    check_competitors(&options, folder.path(), &stop_flag)?;
    let result = run::run_scenarios(&scenarios, &options, &mut progress_updater::ProgressUpdater, &stop_flag);
    if stop_flag.load(Ordering::Relaxed) {
        report.report_fault(code::OTHER, "bench", "stopped; these are the measurements so far");
    }
    result.map(Some).map_err(lab_error)
}

fn load_report(path: &Path) -> Result<model::Report, Abort> {
    let file_error = |error: &dyn std::fmt::Display| Abort::Failed(code::USAGE, format!("{}: {error}", path.display()));
    let text = std::fs::read(path).map_err(|error| file_error(&io_reason(&error)))?;
    let report: model::Report = serde_json::from_slice(&text).map_err(|error| file_error(&error))?;
    if report.schema == model::SCHEMA {
        Ok(icecore_lab::replay_report(report, &[]))
    } else {
        Err(file_error(&format!(
            "the report has version {}, and this command reads version {}",
            report.schema,
            model::SCHEMA
        )))
    }
}

/// Merges several reports. Of a scenario that occurs twice, the later measurements count.
fn merge_reports(paths: &[PathBuf]) -> Result<model::Report, Abort> {
    let mut reports = paths.iter().map(|path| load_report(path));
    let mut merged = reports.next().ok_or_else(|| Abort::Failed(code::USAGE, "no report".to_owned()))??;
    for report in reports {
        let report = report?;
        merged.seconds += report.seconds;
        for scenario in report.scenarios {
            match merged.scenarios.iter_mut().find(|earlier| earlier.name == scenario.name) {
                Some(earlier) => *earlier = scenario,
                None => merged.scenarios.push(scenario),
            }
        }
    }
    Ok(merged)
}

/// Texts are wrapped at this width at least.
const MIN_WIDTH: usize = 60;

/// Prints the tables and the ranking.
fn print_report(args: &Bench, global: &Global, report: &model::Report) -> Result<(), Abort> {
    let color = Paint::new(global.color, &std::io::stdout()).is_enabled();
    let default_style = page::Style::default();
    let width = tty::stdout_width().map_or(default_style.width, |width| width.clamp(MIN_WIDTH, default_style.width));
    let style = page::Style { color, full: args.full, width };
    let mut text = page::render_text(report, &style);
    let weights = args.weight.clone().or_else(|| args.data.is_some().then(rank::Weights::default));
    if let Some(weights) = weights {
        for scenario in &report.scenarios {
            for point in &scenario.points {
                let ranking = rank::rank_competitors(point, &weights);
                text.push_str(&page::render_ranking(scenario, point, &ranking, args.explain, &style));
            }
        }
    }
    print_text(&text)
}
