//! `icecore serve`: the store over HTTP.

use crate::arguments::Global;
use crate::database::{Database, duration, failed, first_line};
use crate::limits;
use crate::paint::Paint;
use crate::report::{Abort, Report, code};
use crate::said::ReportForm;
use crate::secrets;
use clap::{Args, ValueHint};
use icecore_daemon::{Network, Rate, Settings, serve};
use icecore_store::{Command, Stdin};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Serve the store and its queues over HTTP
///
/// POST /jobs takes a payload and answers with its id once it is durable; GET /openapi.json describes all that there
/// is. On loopback no token is needed unless one is set; elsewhere it does not start without one. SIGTERM: requests
/// that run are answered, and it ends within 10 seconds.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    pub database: Database,
    /// Where it listens; with the port 0 the system chooses one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7340")]
    pub listen: String,
    /// Who asks must send the token in this file: Authorization: Bearer TOKEN
    ///
    /// Without it the environment variable ICECORE_TOKEN.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// What does the jobs of a queue that are to run at once (POST /jobs?run=now)
    #[arg(long, value_name = "QUEUE=COMMAND", value_parser = command)]
    pub exec: Vec<(String, String)>,
    /// Such a command that takes longer is ended
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "60s")]
    pub timeout: Duration,
    /// Hand the original bytes to it, not JSON
    #[arg(long)]
    pub raw: bool,
    /// How long a body may be
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "16M")]
    pub max_body: u64,
    /// How many connections are served at once
    ///
    /// Of those that may ask; a few more are taken for /healthz. Where the system allows fewer open files, there are
    /// fewer.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub connections: usize,
    /// How many connections an address may have that sent no whole request, or none with the token
    ///
    /// The oldest are closed. Of IPv6 a /64 is one address.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub connections_per_address: usize,
    /// A proxy, to which --connections-per-address does not apply; repeatable
    ///
    /// It has the connections of many clients, and has to limit them itself.
    #[arg(long, value_name = "ADDRESS/BITS")]
    pub trusted_proxy: Vec<Network>,
    /// How many requests an address may make in a second
    #[arg(long, value_name = "N")]
    pub rate: Option<u32>,
    /// How long done and dead jobs are kept; without it for ever
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub keep_jobs: Option<Duration>,
}

const EXAMPLES: &str = "\
Examples:
  icecore serve
  icecore serve --db postgres://app@db/app --listen 0.0.0.0:7340 --token-file token
  icecore serve --exec mail=./send-mail
  curl -d '{\"to\": 7}' -H 'Content-Type: application/json' 'localhost:7340/jobs?queue=mail'
  curl -d '{\"to\": 7}' -H 'Content-Type: application/json' 'localhost:7340/jobs?queue=mail&run=now'";

fn command(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((queue, line)) if !queue.is_empty() && !line.is_empty() => Ok((queue.to_owned(), line.to_owned())),
        _ => Err(format!("{text:?} is not QUEUE=COMMAND")),
    }
}

pub fn run(args: &Serve, global: &Global) -> Result<(), Abort> {
    let address = args.database.address()?;
    // A database that is wrong from the start is reported at once. Later outages are waited for.
    drop(icecore_store::open(&address).map_err(failed)?);
    let shown = address.to_string();
    let mut settings = Settings::new(address);
    settings.listen.clone_from(&args.listen);
    settings.token = match &args.token_file {
        Some(file) => Some(first_line(file)?),
        None => std::env::var(secrets::TOKEN).ok(),
    };
    if settings.token.as_deref() == Some("") {
        return Err(Abort::Failed(code::USAGE, "the token is empty".to_owned()));
    }
    for (queue, line) in &args.exec {
        let mut command = Command::new(line);
        command.stdin = if args.raw { Stdin::Raw } else { Stdin::Json };
        command.timeout = Some(args.timeout);
        command.hidden = secrets::ALL.iter().map(|name| (*name).to_owned()).collect();
        command.stop = settings.stop.clone();
        command.check().map_err(|error| Abort::Failed(code::USAGE, format!("--exec {queue}=: {error}")))?;
        settings.commands.insert(queue.clone(), Arc::new(command));
    }
    settings.quiet = global.quiet;
    settings.json_journal = global.report == ReportForm::Json;
    settings.longest_body = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    settings.most_connections = args.connections.max(1);
    settings.most_of_address = args.connections_per_address.max(1);
    settings.trusted_proxies.clone_from(&args.trusted_proxy);
    settings.rate = args.rate.map(|rate| Rate { per_second: f64::from(rate), burst: f64::from(rate).max(1.0) });
    settings.keep_jobs = args.keep_jobs;
    let report = Report::new(Paint::new(global.color, &std::io::stderr()), global.quiet, global.report);
    settings.ready = Some(Arc::new(move |address| {
        let shown = icecore::text::printable(&shown);
        let text = format!("{shown} at http://{address}, described by http://{address}/openapi.json");
        report.remark("ready", text);
    }));
    serve(settings).map_err(|error| Abort::Failed(code::USAGE, error.to_string()))
}
