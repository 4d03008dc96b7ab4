//! `icecore-load store`. `scripts/load.sh` builds and starts what it needs.

use clap::Parser;
use icecore_lab::Error;
use icecore_load::page;
use icecore_load::store::{Options, Report, run_all, run_growth};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Measure the store and other programs that do the same work
///
/// Daemons that take jobs over HTTP, compared with the design of the articles in Perl; a queue in PostgreSQL, compared
/// with River; a walk through many objects; several workers and daemons on one database. All take turns in one run, and
/// before anything is timed, the database is checked for what they promised. `scripts/load.sh` builds and starts all
/// that it needs.
#[derive(Debug, Parser)]
pub struct StoreArguments {
    /// The command, as built by scripts/build.sh
    #[arg(long, value_name = "FILE", default_value = "target/release/icecore")]
    icecore: PathBuf,
    /// The folder with the Perl programs
    #[arg(long, value_name = "DIR", default_value = "benches/store")]
    programs: PathBuf,
    /// The address of a PostgreSQL server, whose user may create databases; better set in ICECORE_TEST_POSTGRES
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// The address of a MariaDB server, whose user may create databases; better set in ICECORE_TEST_MYSQL
    #[arg(long, value_name = "URL")]
    mysql: Option<String>,
    /// The example `queue` of icecore-store
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program in benches/store/river
    #[arg(long, value_name = "FILE")]
    river: Option<PathBuf>,
    /// Measure only this part; the others stay as they are in the file of --json and on the page
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// Only show that everything works
    #[arg(long)]
    small: bool,
    /// How often everything is started again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Number of samples in a round
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    turns: Option<u32>,
    /// Numbers of clients that post at the same time
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=512))]
    clients: Option<Vec<u32>>,
    /// Number of jobs that the library's worker runs at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// Number of jobs that River's worker runs at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    river_concurrency: Option<u32>,
    /// Numbers of objects to walk through; 0: none
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    objects: Option<Vec<u32>>,
    /// Numbers of workers that empty a queue together
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: Option<Vec<u32>>,
    /// Numbers of daemons on one database
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    daemons: Option<Vec<u32>>,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables into this page, between its two marks
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Show this report without measuring anything
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// A part that can be measured separately.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Part {
    /// Several workers and several daemons on one database
    Grow,
}

impl StoreArguments {
    fn to_options(&self) -> Options {
        let mut options = Options::new(self.icecore.clone(), self.programs.clone());
        if self.small {
            options = options.small();
        }
        options.postgres = self.postgres.clone().or_else(|| std::env::var("ICECORE_TEST_POSTGRES").ok());
        options.mysql = self.mysql.clone().or_else(|| std::env::var("ICECORE_TEST_MYSQL").ok());
        options.library.clone_from(&self.library);
        options.river.clone_from(&self.river);
        options.rounds = self.rounds.unwrap_or(options.rounds);
        options.turns = self.turns.unwrap_or(options.turns);
        options.clients = self.clients.clone().unwrap_or(options.clients);
        options.concurrency = self.concurrency.unwrap_or(options.concurrency);
        options.river_concurrency = self.river_concurrency.unwrap_or(options.river_concurrency);
        options.objects = self.objects.clone().unwrap_or(options.objects);
        options.objects.retain(|count| *count > 0);
        options.growing.workers = self.workers.clone().unwrap_or(options.growing.workers);
        options.growing.daemons = self.daemons.clone().unwrap_or(options.growing.daemons);
        options
    }
}

/// Measures, and writes the report and the page.
pub fn measure_store(arguments: &StoreArguments) -> Result<(), Error> {
    let (stop, report_progress) = (AtomicBool::new(false), |message: &str| eprintln!("{message}"));
    let report = match (&arguments.report, arguments.only) {
        (Some(file), _) => read_report(file)?,
        (None, None) => run_all(&arguments.to_options(), &stop, &report_progress)?,
        (None, Some(Part::Grow)) => {
            // Files are read first, so that an unreadable one is reported before anything is measured.
            if arguments.json.is_none() && arguments.page.is_some() {
                return Err(Error::new("--page with --only needs the report of --json"));
            }
            let report = arguments.json.as_deref().map(read_report).transpose()?;
            let growth = run_growth(&arguments.to_options(), &stop, &report_progress)?;
            let Some(report) = report else {
                print!("{}", page::render_growth(&growth));
                return Ok(());
            };
            Report { growth: Some(growth), ..report }
        }
    };
    if let Some(file) = &arguments.json {
        let mut text = serde_json::to_vec(&report).map_err(|error| Error::new(error.to_string()))?;
        text.push(b'\n');
        std::fs::write(file, text).map_err(|error| Error::io(file, &error))?;
    }
    match &arguments.page {
        Some(file) => write_page(file, &report),
        None => {
            print!("{}", page::render_tables(&report));
            Ok(())
        }
    }
}

fn read_report(file: &Path) -> Result<Report, Error> {
    let text = std::fs::read(file).map_err(|error| Error::io(file, &error))?;
    serde_json::from_slice(&text).map_err(|error| Error::new(format!("{}: {error}", file.display())))
}

fn write_page(file: &Path, report: &Report) -> Result<(), Error> {
    let text = std::fs::read_to_string(file).map_err(|error| Error::io(file, &error))?;
    let text = page::replace_tables(&text, report);
    let text = text.ok_or_else(|| Error::new(format!("{}: the marks for the tables are missing", file.display())))?;
    std::fs::write(file, text).map_err(|error| Error::io(file, &error))
}
