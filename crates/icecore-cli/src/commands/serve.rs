//! `icecore serve`: the store over HTTP.

use crate::arguments::Global;
use crate::database::{Database, database_error, parse_duration, read_first_line};
use crate::limits;
use crate::paint::Paint;
use crate::report::{Abort, Report, code};
use crate::report_message::ReportForm;
use crate::secrets;
use clap::{Args, ValueHint};
use icecore_daemon::{Network, Rate, Settings, serve};
use icecore_store::{Command, Stdin};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Serve the store and its queues over HTTP
///
/// POST /jobs takes a payload and returns its id once it is durable; GET /openapi.json describes all endpoints. On
/// loopback no token is needed unless one is set; on other addresses the server does not start without one. On SIGTERM
/// the server answers the running requests and exits within 10 seconds.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    pub database: Database,
    /// Address to listen on; with port 0 the system chooses a port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7340")]
    pub listen: String,
    /// File with the token that clients must send: Authorization: Bearer TOKEN
    ///
    /// Without it, the token is the value of the environment variable ICECORE_TOKEN.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// Command for jobs of a queue that run immediately (POST /jobs?run=now)
    #[arg(long, value_name = "QUEUE=COMMAND", value_parser = parse_queue_command)]
    pub exec: Vec<(String, String)>,
    /// Kill a command of --exec that takes longer
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "60s")]
    pub timeout: Duration,
    /// Pass the original bytes to the command, not JSON
    #[arg(long)]
    pub raw: bool,
    /// Maximum length of a request body
    #[arg(long, value_name = "SIZE", value_parser = limits::parse_size, default_value = "16M")]
    pub max_body: u64,
    /// Maximum number of connections served at once
    ///
    /// Counts the connections of clients that may send requests; a few more are accepted for /healthz. The number is
    /// lower if the system allows fewer open files.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = limits::whole_number::<usize>(0, i64::MAX))]
    pub connections: usize,
    /// Maximum number of unauthenticated connections of an address
    ///
    /// Counts the connections that have sent no complete request, or none with the token. The oldest ones are closed.
    /// For IPv6, a /64 counts as one address.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = limits::whole_number::<usize>(0, i64::MAX))]
    pub connections_per_address: usize,
    /// Proxy to which --connections-per-address does not apply; may be given several times
    ///
    /// A proxy holds the connections of many clients, and has to limit them itself.
    #[arg(long, value_name = "ADDRESS/BITS")]
    pub trusted_proxy: Vec<Network>,
    /// Maximum number of requests of an address per second
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u32>(0, i64::from(u32::MAX)))]
    pub rate: Option<u32>,
    /// How long done and dead jobs are kept; forever if not given
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub keep_jobs: Option<Duration>,
}

const EXAMPLES: &str = "\
Examples:
  icecore serve
  icecore serve --db postgres://app@db/app --listen 0.0.0.0:7340 --token-file token
  icecore serve --exec mail=./send-mail
  curl -d '{\"to\": 7}' -H 'Content-Type: application/json' 'localhost:7340/jobs?queue=mail'
  curl -d '{\"to\": 7}' -H 'Content-Type: application/json' 'localhost:7340/jobs?queue=mail&run=now'";

fn parse_queue_command(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((queue, command)) if !queue.is_empty() && !command.is_empty() => {
            Ok((queue.to_owned(), command.to_owned()))
        }
        _ => Err("use QUEUE=COMMAND, such as mail=./send-mail".to_owned()),
    }
}

pub fn run(args: &Serve, global: &Global) -> Result<(), Abort> {
    let address = args.database.resolve_address()?;
    // A database that can't be opened is reported at once. If it fails later, the server waits for it.
    drop(icecore_store::open(&address).map_err(database_error)?);
    let address_text = address.to_string();
    let mut settings = Settings::new(address);
    settings.listen.clone_from(&args.listen);
    settings.token = match &args.token_file {
        Some(file) => Some(read_first_line(file)?),
        None => std::env::var(secrets::TOKEN).ok(),
    };
    if settings.token.as_deref() == Some("") {
        return Err(Abort::Failed(code::USAGE, "the token is empty".to_owned()));
    }
    for (queue, command_line) in &args.exec {
        let mut command = Command::new(command_line);
        command.stdin = if args.raw { Stdin::Raw } else { Stdin::Json };
        command.timeout = Some(args.timeout);
        command.hidden = secrets::ALL.iter().map(|name| (*name).to_owned()).collect();
        command.stop = settings.stop.clone();
        command.check().map_err(|error| Abort::Failed(code::USAGE, format!("--exec {queue}=: {error}")))?;
        settings.commands.insert(queue.clone(), Arc::new(command));
    }
    settings.quiet = global.quiet;
    settings.json_journal = global.report == ReportForm::Json;
    settings.max_body_len = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    settings.max_connections = args.connections.max(1);
    settings.max_connections_per_address = args.connections_per_address.max(1);
    settings.trusted_proxies.clone_from(&args.trusted_proxy);
    settings.rate = args.rate.map(|rate| Rate { per_second: f64::from(rate), burst: f64::from(rate).max(1.0) });
    settings.keep_jobs = args.keep_jobs;
    let report = Report::new(Paint::new(global.color, &std::io::stderr()), global.quiet, global.report);
    settings.ready = Some(Arc::new(move |address| {
        let printable_address = icecore::text::printable(&address_text);
        let text = format!("{printable_address} at http://{address}, described by http://{address}/openapi.json");
        report.report_command_note("ready", text);
    }));
    serve(settings).map_err(|error| Abort::Failed(code::USAGE, error.to_string()))
}
