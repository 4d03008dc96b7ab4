//! One size of a web scenario: pages are checked, and then requested in turns, over several rounds with new servers.

use super::load::{PageRequest, request_page, time_requests};
use super::page_check::{ExpectedAnswers, PageContender, check_page, write_pages};
use super::pages::{PAGES, Page};
use super::server::Servers;
use super::tools::{self, Tools};
use fastrand::Rng;
use icecore_lab::model::{Absent, Cell, Entry, Fidelity, Operation, Point, Role, Sample};
use icecore_lab::run::MeasuredSize;
use icecore_lab::runner::ParticipantError;
use icecore_lab::scenario::{Scenario, Size};
use icecore_lab::{Error, stats};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Minimum number of rounds, even if they take longer than the budget.
const MIN_ROUNDS: u32 = 3;

/// Describes what is measured, and how.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'p> {
    /// The scenario, with its clients, baseline and classes.
    pub scenario: &'p Scenario,
    /// The size.
    pub size: &'p Size,
    /// A folder for this measurement.
    pub folder: &'p Path,
    /// How often the servers are started again.
    pub rounds: u32,
    /// Number of samples of each page in a round.
    pub turns: u32,
    /// Approximate total number of requests for each page.
    pub requests: u32,
    /// Approximate time limit. The number of rounds is reduced to fit, down to three.
    pub budget: Option<Duration>,
    /// Seed of the random order.
    pub seed: u64,
    /// The pages to include, by id or group. If there are none, all pages are included.
    pub only: &'p [String],
    /// Folder with Icecore's modules, if they are not installed.
    pub modules: Option<&'p Path>,
    /// Set when the run is to end.
    pub stop: &'p AtomicBool,
}

/// Receives the progress.
pub trait Watch {
    /// Reports the current activity, the completed share (0 to 1), and the approximate remaining time.
    fn report_progress(&mut self, activity: &str, done: f64, remaining_time: Option<Duration>);
    /// Called at the start of each turn, to measure the noise of the machine.
    fn begin_turn(&mut self, round: u32, turn: u32);
}

/// Measures all pages at one size. Missing programs are not an error: all pages are then listed as absent, with the
/// reason.
///
/// # Errors
///
/// If the data can't be created, the folder can't be used, or the servers do not start.
pub fn measure_pages(plan: &Plan<'_>, watch: &mut dyn Watch) -> Result<MeasuredSize, Error> {
    let pages: Vec<&'static Page> = PAGES.iter().filter(|page| plan.includes_page(page)).collect();
    match tools::find_tools(&tools::program_folders()) {
        Ok(tools) => {
            let tools = Tools { modules: plan.modules.map(Path::to_owned), ..tools };
            WebRun { plan, tools, measured: MeasuredSize::default() }.run_all(pages, watch)
        }
        Err(missing) => {
            let absent = |page: &&Page| Absent {
                competitor: page.id.to_owned(),
                why: format!("{} is missing", missing.programs),
                install: Some(missing.install.clone()),
            };
            Ok(MeasuredSize { absent: pages.iter().map(absent).collect(), ..MeasuredSize::default() })
        }
    }
}

impl Plan<'_> {
    fn includes_page(&self, page: &Page) -> bool {
        let includes = |selected: &String| page.id == selected || page.id.starts_with(&format!("{selected}/"));
        (self.only.is_empty() || self.only.iter().any(includes))
            && (self.scenario.only.is_empty() || self.scenario.only.iter().any(|id| id == page.id))
    }

    fn client_counts(&self) -> &[u32] {
        if self.scenario.clients.is_empty() { &[1] } else { &self.scenario.clients }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

struct WebRun<'r> {
    plan: &'r Plan<'r>,
    tools: Tools,
    measured: MeasuredSize,
}

impl WebRun<'_> {
    /// Checks all pages, measures them, and computes the results.
    fn run_all(mut self, pages: Vec<&'static Page>, watch: &mut dyn Watch) -> Result<MeasuredSize, Error> {
        let plan = self.plan;
        let expected = ExpectedAnswers::from_document(&plan.scenario.make_document(plan.size)?)?;
        let folder = plan.folder.join("pages");
        write_pages(plan, &folder, &expected)?;
        let activity = format!("{}, {}: checking the pages", plan.scenario.name, plan.size.name);
        watch.report_progress(&activity, 0.0, None);

        let mut contenders = Vec::new();
        let servers = self.start_servers()?;
        for page in pages {
            if plan.is_stopped() {
                break;
            }
            match check_page(page, &folder, &expected, servers.address, plan.client_counts().len()) {
                Ok(contender) => contenders.push(contender),
                Err(error) => self.mark_absent(page, error),
            }
        }
        self.report_opcache_misses(&contenders, servers.address);
        drop(servers);
        add_twin(&mut contenders, plan);
        self.run_rounds(&mut contenders, watch)?;
        self.compute_points(&contenders);
        Ok(self.measured)
    }

    fn start_servers(&self) -> Result<Servers, Error> {
        let workers = self.plan.client_counts().iter().copied().max().unwrap_or(1);
        let servers = self.plan.folder.join("servers");
        // This removes what the previous round left.
        let _ = std::fs::remove_dir_all(&servers);
        Servers::start(&self.tools, &servers, &self.plan.folder.join("pages"), workers).map_err(Error::new)
    }

    fn mark_absent(&mut self, page: &Page, error: ParticipantError) {
        let reason = match error {
            ParticipantError::Stopped => return,
            ParticipantError::Cannot(reason) | ParticipantError::Failed(reason) => reason,
        };
        let log_bytes = std::fs::read(self.plan.folder.join("servers/php.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log_bytes);
        let last_line = log.lines().rev().find(|line| line.contains("PHP ")).map(|line| format!(" ({line})"));
        let reason = reason + &last_line.unwrap_or_default();
        let install = page.extension.map(|extension| match extension {
            "icecore" => "make install-modules".to_owned(),
            _ => format!("apt-get install php-{extension}"),
        });
        self.measured.absent.push(Absent { competitor: page.id.to_owned(), why: reason, install });
    }

    /// Adds a note for each program that is not in opcache.
    fn report_opcache_misses(&mut self, contenders: &[PageContender], address: SocketAddr) {
        for contender in contenders.iter().filter(|contender| contender.page.is_program()) {
            let page = contender.page;
            let path = format!("/{}/status.php?file={}", page.pool.name(), page.frozen_file_name());
            let status = request_page(address, &path).unwrap_or_default();
            let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            // The page answers `yes`, or `no` with the free memory of opcache.
            let reason = match status.split_once(' ') {
                Some(("yes", _)) => continue,
                Some(("no", free_bytes)) => {
                    let (file, free_megabytes) =
                        (megabytes(contender.size.unwrap_or(0)), megabytes(free_bytes.parse().unwrap_or(0)));
                    format!("its file of {file:.1} MB does not fit into opcache, which has {free_megabytes:.0} MB")
                }
                _ => "opcache is off".to_owned(),
            };
            self.measured.notes.push(format!("{}, {}: {reason}", page.name, self.plan.size.name));
        }
    }

    /// Runs all rounds, with new servers in each. In each turn, every page is requested, in a new random order.
    fn run_rounds(&mut self, contenders: &mut Vec<PageContender>, watch: &mut dyn Watch) -> Result<(), Error> {
        let plan = self.plan;
        let mut rng = Rng::with_seed(plan.seed);
        let (rounds, requests) = fit_into_budget(plan, contenders);
        let began = Instant::now();
        for round in 0..rounds {
            let spent = began.elapsed().as_secs_f64();
            let remaining_time = (round > 0).then(|| spent / f64::from(round) * f64::from(rounds - round));
            let activity = format!("{}, {}: round {} of {rounds}", plan.scenario.name, plan.size.name, round + 1);
            let remaining_time = remaining_time.map(|remaining_time| Duration::from_secs_f64(remaining_time.min(1e6)));
            watch.report_progress(&activity, f64::from(round) / f64::from(rounds), remaining_time);
            if plan.is_stopped() {
                break;
            }
            let mut servers = self.start_servers()?;
            let failed = self.run_round(contenders, &servers, requests, round, &mut rng, watch);
            if let Some(reason) = servers.poll_exit() {
                return Err(Error::new(reason));
            }
            for (id, error) in failed.into_iter().filter(|(_, error)| *error != ParticipantError::Stopped) {
                if let Some(index) = contenders
                    .iter()
                    .position(|contender| contender.page.id == id && contender.role == Role::Competitor)
                {
                    self.mark_absent(contenders[index].page, error);
                }
                contenders.retain(|contender| contender.page.id != id);
            }
        }
        Ok(())
    }

    /// Runs one round. Returns the competitors that failed.
    fn run_round(
        &self,
        contenders: &mut [PageContender],
        servers: &Servers,
        requests: u32,
        round: u32,
        rng: &mut Rng,
        watch: &mut dyn Watch,
    ) -> Vec<(&'static str, ParticipantError)> {
        let plan = self.plan;
        let mut failed: Vec<(&'static str, ParticipantError)> = Vec::new();
        let max_clients = plan.client_counts().iter().copied().max().unwrap_or(1);
        for contender in &*contenders {
            // Each process of a pool has caches of its own, so each must have run the page before it is timed.
            let request = contender.page_request(servers.address);
            if let Err(error) = time_requests(request, max_clients, 2 * max_clients, plan.stop) {
                failed.push((contender.page.id, error));
            }
        }
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        for turn in 0..plan.turns {
            watch.begin_turn(round, turn);
            for (client_index, clients) in plan.client_counts().iter().enumerate() {
                rng.shuffle(&mut order);
                for index in &order {
                    let contender = &mut contenders[*index];
                    if plan.is_stopped() {
                        return failed;
                    }
                    if failed.iter().any(|(id, _)| *id == contender.page.id) {
                        continue;
                    }
                    let requests = requests.max(*clients);
                    match time_requests(contender.page_request(servers.address), *clients, requests, plan.stop) {
                        Ok(ns) => {
                            let ns = ns / f64::from(requests);
                            contender.samples[client_index].push(Sample { round, turn, ns });
                        }
                        Err(error) => failed.push((contender.page.id, error)),
                    }
                }
            }
        }
        failed
    }

    /// Computes the results: one point for each number of clients.
    fn compute_points(&mut self, contenders: &[PageContender]) {
        let plan = self.plan;
        for (client_index, clients) in plan.client_counts().iter().enumerate() {
            let samples_of_role = |role: Role| {
                let is_baseline = |contender: &&PageContender| {
                    contender.role == role && plan.scenario.baseline.as_deref() == Some(contender.page.id)
                };
                contenders.iter().find(is_baseline).map(|contender| contender.samples[client_index].as_slice())
            };
            let baseline = samples_of_role(Role::Competitor);
            let twin = baseline
                .zip(samples_of_role(Role::Twin))
                .and_then(|(baseline, twin)| stats::compute_speedup(twin, baseline));
            let resolution = stats::assess_noise(&[], twin).resolution;
            let entries = contenders.iter().filter(|contender| !contender.samples[client_index].is_empty());
            let entries: Vec<Entry> =
                entries.map(|contender| contender.to_entry(client_index, plan, baseline, resolution)).collect();
            self.measured.twin.extend(twin);
            if !entries.is_empty() {
                let mut parameters = plan.size.parameters.clone();
                parameters.insert("clients".to_owned(), i64::from(*clients));
                let client_text = if *clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
                let name = format!("{}, {client_text}", plan.size.name);
                self.measured.points.push(Point { name, at: plan.size.at, parameters, entries, memcpy_ns: None });
            }
        }
    }
}

impl PageContender {
    fn page_request(&self, address: SocketAddr) -> PageRequest<'_> {
        PageRequest { address, path: &self.path, answer: &self.answer }
    }

    fn to_entry(&self, client_index: usize, plan: &Plan<'_>, baseline: Option<&[Sample]>, resolution: f64) -> Entry {
        let samples = &self.samples[client_index];
        let is_baseline = self.role == Role::Competitor && plan.scenario.baseline.as_deref() == Some(self.page.id);
        let comparison = baseline
            .filter(|_| !is_baseline)
            .and_then(|baseline| stats::compare_samples(samples, baseline, resolution));
        Entry {
            id: self.page.id.to_owned(),
            name: self.page.name.to_owned(),
            version: String::new(),
            role: self.role,
            fidelity: self.fidelity.clone(),
            size: self.size,
            cells: vec![Cell {
                operation: Operation::Request,
                samples: samples.clone(),
                summary: stats::summarize_samples(samples),
                against: comparison,
            }],
            memory: Vec::new(),
        }
    }
}

/// Adds the baseline a second time, as its twin. Both do the same work, so any difference between them is noise.
fn add_twin(contenders: &mut Vec<PageContender>, plan: &Plan<'_>) {
    if let Some(contender) =
        contenders.iter().find(|contender| plan.scenario.baseline.as_deref() == Some(contender.page.id))
    {
        let twin = PageContender {
            page: contender.page,
            role: Role::Twin,
            path: contender.path.clone(),
            answer: contender.answer.clone(),
            fidelity: Fidelity::Unchecked,
            size: None,
            samples: vec![Vec::new(); contender.samples.len()],
            seconds: contender.seconds,
        };
        contenders.push(twin);
    }
}

/// Returns how many rounds, and requests in each sample, fit into the budget. First the number of rounds is reduced,
/// then the number of requests.
fn fit_into_budget(plan: &Plan<'_>, contenders: &[PageContender]) -> (u32, u32) {
    let requests = (plan.requests / (plan.rounds * plan.turns).max(1)).max(1);
    let Some(budget) = plan.budget else { return (plan.rounds, requests) };
    let request_count: u32 = plan.client_counts().iter().map(|clients| requests.max(*clients) * plan.turns).sum();
    let round_seconds: f64 = contenders.iter().map(|contender| contender.seconds * f64::from(request_count)).sum();
    let fitting_rounds = budget.as_secs_f64() / round_seconds.max(1e-3);
    let rounds = (fitting_rounds as u32).clamp(MIN_ROUNDS.min(plan.rounds), plan.rounds);
    let request_share = (fitting_rounds / f64::from(rounds.max(1))).min(1.0);
    (rounds, ((f64::from(requests) * request_share) as u32).max(1))
}
