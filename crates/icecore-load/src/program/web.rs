//! `icecore-load web`.

use clap::Parser;
use icecore_lab::page::{self, Style};
use icecore_lab::run::{Options, Watch};
use icecore_lab::{Error, replay_report};
use icecore_load::web;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Measure PHP pages that load a frozen value
///
/// Starts nginx and php-fpm, and requests each page with one client and with ten. This is the scenario php-web of the
/// articles. `scripts/bench.sh php-web` measures it, and adds the result to docs/bench/report.json.
#[derive(Debug, Parser)]
pub struct WebArguments {
    /// Only show that everything works
    #[arg(long)]
    small: bool,
    /// How often the servers are started again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Approximate time limit for everything, in seconds
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u32>,
    /// Only these pages, such as php/igbinary
    #[arg(long, value_name = "PAGE,…", value_delimiter = ',')]
    only: Vec<String>,
    /// The folder with Icecore's modules
    #[arg(long, value_name = "DIR", default_value = "bindings")]
    modules: PathBuf,
    /// Write the report as JSON, in the format that `icecore bench --show` reads
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures, and writes the results.
pub fn measure_web(arguments: &WebArguments) -> Result<(), Error> {
    web::check_tools()
        .map_err(|missing| Error::new(format!("{} is missing: {}", missing.programs, missing.install)))?;
    let mut options = Options::default();
    if arguments.small {
        options = options.small();
    }
    options.rounds = arguments.rounds.unwrap_or(options.rounds);
    options.budget = arguments.budget.map(|seconds| Duration::from_secs(seconds.into()));
    options.only.clone_from(&arguments.only);
    options.modules = Some(arguments.modules.clone()).filter(|modules| modules.is_dir());
    let report = web::measure_scenario(&options, &mut ProgressPrinter(String::new()), &AtomicBool::new(false))?;
    let report = replay_report(report, &[web::parse_web_scenario()?]);
    if let Some(file) = &arguments.json {
        let mut text = serde_json::to_vec(&report).map_err(|error| Error::new(error.to_string()))?;
        text.push(b'\n');
        std::fs::write(file, text).map_err(|error| Error::io(file, &error))?;
    }
    print!("{}", page::render_text(&report, &Style::default()));
    Ok(())
}

/// Reports each activity once on standard error.
struct ProgressPrinter(String);

impl Watch for ProgressPrinter {
    fn report_progress(&mut self, activity: &str, _: f64, _: Option<Duration>) {
        if self.0 != activity {
            eprintln!("{activity}");
            activity.clone_into(&mut self.0);
        }
    }
}
