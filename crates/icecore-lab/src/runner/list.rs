//! The list of participants, and how each is started.

use super::command::CommandConversion;
use super::declarations::Head;
use super::engine::Engine;
use super::process::{AnswerTimeout, Process};
use super::protocol::{PROTOCOL, Reply, Request};
use super::{ParticipantError, RunningParticipant};
use crate::Error;
use crate::model::{Operation, Role};
use icecore::Stage;
use include_dir::{Dir, include_dir};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static RUNNERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/runners");

/// Folder of a language with files that its scripts share.
const SHARED_FOLDER: &str = "lib";

/// Format in which the engine and the command get the data.
const DATA_FORMAT: &str = "json:typed";

/// Timeout for a runner to identify itself. It has no data yet, but on a busy machine even its start takes a while.
const HELLO_TIMEOUT: Duration = Duration::from_secs(120);

/// Locations of runners and of the programs that they need.
#[derive(Debug)]
pub struct Environment<'e> {
    /// The folder of the run, into which the lab's own runners are extracted.
    pub folder: &'e Path,
    /// Folder with more runners.
    pub more: Option<&'e Path>,
    /// The command `icecore`.
    pub command: Option<&'e Path>,
    /// Folder with Icecore's modules, one folder per language, if they are not installed.
    pub modules: Option<&'e Path>,
    /// Interpreter for runners in Python.
    pub python: Option<&'e Path>,
    /// Timeout for one answer.
    pub answer_timeout: Duration,
    /// Set when the run is to end.
    pub stop: &'e AtomicBool,
}

/// A competitor that can take part.
#[derive(Clone, Debug)]
pub struct Participant {
    /// `perl/sereal`
    pub id: String,
    /// `perl`
    pub language: String,
    /// `Sereal, zstd`
    pub name: String,
    /// Version of the serializer.
    pub version: String,
    /// Version of the language's runtime.
    pub runtime: String,
    /// Role of the participant.
    pub role: Role,
    /// Format in which it gets the values.
    pub reference: String,
    /// Supported operations.
    pub operations: Vec<Operation>,
    /// The scenarios to which it is limited. If there are none, it has no limit.
    pub scenarios: Vec<String>,
    start_method: StartMethod,
}

/// How a participant is started.
#[derive(Clone, Debug)]
enum StartMethod {
    /// A script.
    Script(Script),
    /// The engine, with a stage.
    Engine(Stage),
    /// The command, with the text of a format.
    Command(PathBuf, String),
}

/// Script of a runner.
#[derive(Clone, Debug)]
struct Script {
    path: PathBuf,
    program: OsString,
    arguments: Vec<OsString>,
    variant: Option<String>,
}

/// Result of looking for a competitor.
#[derive(Clone, Debug)]
pub enum FoundRunner {
    /// The competitor can take part.
    Here(Box<Participant>),
    /// The competitor can't take part.
    Missing {
        /// `perl/sereal`
        id: String,
        /// What is missing.
        reason: String,
        /// The command that installs it.
        install: Option<String>,
        /// The scenarios to which it is limited. If there are none, it has no limit.
        scenarios: Vec<String>,
    },
}

/// A competitor in a script.
struct ListedRunner {
    language: String,
    path: PathBuf,
    /// Variant of the script, if it has several.
    variant: Option<String>,
    scenarios: Vec<String>,
}

/// Starts every runner of these languages (of all languages if there are none) so that it identifies itself. Runners
/// that belong to none of these scenarios, or whose id is not wanted, are not started, because each start of a process
/// takes time.
///
/// # Errors
///
/// If the scripts can't be written to the folder of the run, or the user's scripts can't be listed.
pub fn find_runners(
    environment: &Environment<'_>,
    languages: &[&str],
    scenarios: &[&str],
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<FoundRunner>, Error> {
    let is_needed = |runner: &ListedRunner| {
        let belongs_to_scenario =
            runner.scenarios.is_empty() || runner.scenarios.iter().any(|name| scenarios.contains(&&**name));
        belongs_to_scenario
            && (languages.is_empty() || languages.contains(&&*runner.language))
            && is_wanted(&runner.id())
    };
    Ok(list_runners(environment)?
        .iter()
        .filter(|runner| is_needed(runner))
        .map(|runner| identify_runner(environment, runner))
        .collect())
}

/// Returns the ids of all runners, whether they can take part or not: `perl/sereal`.
///
/// # Errors
///
/// Those of [`find_runners`].
pub fn list_runner_ids(environment: &Environment<'_>) -> Result<Vec<String>, Error> {
    Ok(list_runners(environment)?.iter().map(ListedRunner::id).collect())
}

impl ListedRunner {
    /// Returns the id: `perl/sereal`, or `ruby/pending/sqlite` for a script with several competitors.
    fn id(&self) -> String {
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let id = format!("{}/{name}", self.language);
        self.variant.iter().fold(id, |id, variant| format!("{id}/{variant}"))
    }
}

/// Returns all competitors in the scripts of the lab and of the user.
fn list_runners(environment: &Environment<'_>) -> Result<Vec<ListedRunner>, Error> {
    let folder = environment.folder.join("runners");
    if !folder.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, &error))?;
        RUNNERS.extract(&folder).map_err(|error| Error::io(&folder, &error))?;
    }
    let mut scripts = list_scripts(&folder)?;
    if let Some(more) = environment.more {
        // Scripts run in other folders, so the path must be absolute.
        let more = more.canonicalize().map_err(|error| Error::io(more, &error))?;
        scripts.extend(list_scripts(&more)?);
    }
    Ok(scripts.into_iter().flat_map(|(language, path)| list_script_runners(language, path)).collect())
}

/// Returns all competitors in a script.
fn list_script_runners(language: String, path: PathBuf) -> Vec<ListedRunner> {
    let Head { variants, scenarios } = Head::from_file(&path);
    let make_runner = |variant| ListedRunner {
        language: language.clone(),
        path: path.clone(),
        variant,
        scenarios: scenarios.clone(),
    };
    if variants.is_empty() {
        vec![make_runner(None)]
    } else {
        variants.into_iter().map(Some).map(make_runner).collect()
    }
}

/// Returns the scripts in the language folders of a folder, sorted.
fn list_scripts(folder: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let mut scripts = Vec::new();
    for language in list_folder(folder)? {
        if language.is_dir() {
            let name = language.file_name().unwrap_or_default().to_string_lossy().into_owned();
            scripts.extend(
                list_folder(&language)?.into_iter().filter(|path| path.is_file()).map(|path| (name.clone(), path)),
            );
        }
    }
    Ok(scripts)
}

fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let to_error = |error: std::io::Error| Error::io(folder, &error);
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(to_error)?.collect();
    let mut paths: Vec<PathBuf> = entries.map_err(to_error)?.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'));
    paths.sort();
    Ok(paths)
}

fn identify_runner(environment: &Environment<'_>, runner: &ListedRunner) -> FoundRunner {
    let (id, language, scenarios) = (runner.id(), &*runner.language, &runner.scenarios);
    let missing = |reason: String, install: Option<String>| {
        let (id, scenarios) = (id.clone(), scenarios.clone());
        FoundRunner::Missing { id, reason, install, scenarios }
    };
    let script = match Script::from_listed(runner) {
        Ok(script) => script,
        Err(reason) => return missing(reason, None),
    };
    let folder = environment.folder.join("hello");
    let hello = std::fs::create_dir_all(&folder)
        .and_then(|()| {
            let command = script.build_command(environment, language);
            Process::start(
                command,
                &folder,
                "",
                AnswerTimeout(environment.answer_timeout.min(HELLO_TIMEOUT)),
                environment.stop,
            )
        })
        .map(|mut process| process.send_request(&Request::Hello));
    match hello {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let program = script.program.to_string_lossy();
            missing(format!("{program} is not installed"), find_install_command(&program))
        }
        Err(error) => missing(error.to_string(), None),
        Ok(Err(ParticipantError::Cannot(reason) | ParticipantError::Failed(reason))) => missing(reason, None),
        Ok(Err(ParticipantError::Stopped)) => missing("the run was stopped".to_owned(), None),
        Ok(Ok(Reply { missing: Some(dependency), install, .. })) => {
            missing(format!("{dependency} is missing"), install)
        }
        Ok(Ok(reply)) if reply.protocol != Some(PROTOCOL) => {
            missing(format!("it does not speak version {PROTOCOL} of the protocol"), None)
        }
        Ok(Ok(reply)) => FoundRunner::Here(Box::new(Participant {
            name: reply.name.unwrap_or_else(|| id.clone()),
            id,
            language: language.to_owned(),
            version: reply.version.unwrap_or_default(),
            runtime: reply.runtime.unwrap_or_default(),
            role: reply.role.unwrap_or(Role::Competitor),
            reference: reply.reference.unwrap_or_else(|| DATA_FORMAT.to_owned()),
            operations: reply.operations,
            scenarios: if scenarios.is_empty() { reply.scenarios } else { scenarios.clone() },
            start_method: StartMethod::Script(script),
        })),
    }
}

/// Returns the command that installs the runtime of a language on Debian.
fn find_install_command(program: &str) -> Option<String> {
    let package = match program {
        "perl" | "ruby" | "python3" => program,
        "php" => "php-cli",
        _ => return None,
    };
    Some(format!("apt-get install {package}"))
}

impl Script {
    /// Reads the first line of a script. It says how to start the script.
    fn from_listed(runner: &ListedRunner) -> Result<Script, String> {
        let text = std::fs::read(&runner.path).map_err(|error| error.to_string())?;
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let words =
            line.strip_prefix("#!").ok_or("its first line does not say how to start it: #!/usr/bin/env perl")?;
        let mut words = words.split_whitespace().skip_while(|word| *word == "-S" || word.ends_with("/env"));
        let program = words.next().ok_or("its first line does not name a program")?;
        let arguments = words.map(OsString::from).collect();
        Ok(Script { path: runner.path.clone(), program: program.into(), arguments, variant: runner.variant.clone() })
    }

    fn build_command(&self, environment: &Environment<'_>, language: &str) -> Command {
        let python = environment.python.filter(|_| self.program == "python3");
        let mut command = Command::new(python.map_or(&*self.program, Path::as_os_str));
        command.args(&self.arguments).arg(&self.path);
        command.env("LAB_LIB", environment.folder.join("runners").join(language).join(SHARED_FOLDER));
        if let Some(variant) = &self.variant {
            command.env("LAB_VARIANT", variant);
        }
        if let Some(program) = environment.command {
            command.env("LAB_COMMAND", program);
        }
        if let Some(modules) = environment.modules {
            command.env("LAB_MODULES", modules);
            let build_folder = modules.join("perl").join("blib");
            let previous_paths = std::env::var_os("PERL5LIB");
            let paths = [build_folder.join("lib"), build_folder.join("arch")].into_iter();
            let paths = paths.chain(previous_paths.iter().flat_map(std::env::split_paths));
            if let Ok(paths) = std::env::join_paths(paths) {
                command.env("PERL5LIB", paths);
            }
        }
        command
    }
}

impl Participant {
    /// Returns the engine with a format as a participant.
    ///
    /// # Errors
    ///
    /// If there is no such format.
    pub fn for_engine(text: &str) -> Result<Participant, Error> {
        let operations = vec![Operation::Write, Operation::Read, Operation::RoundTrip];
        Ok(build_own_participant("engine", text, Role::Engine, operations, StartMethod::Engine(Stage::parse(text)?)))
    }

    /// Returns the command with a format as a participant.
    pub fn for_command(program: &Path, text: &str) -> Participant {
        let start_method = StartMethod::Command(program.to_owned(), text.to_owned());
        build_own_participant("command", text, Role::Competitor, vec![Operation::ToJson], start_method)
    }

    /// Starts the participant in its own folder.
    ///
    /// # Errors
    ///
    /// [`ParticipantError::Failed`] if it can't be started.
    pub fn start<'s>(
        &self,
        environment: &Environment<'s>,
        folder: &Path,
    ) -> Result<Box<dyn RunningParticipant + 's>, ParticipantError> {
        let to_failure = |error: &dyn std::fmt::Display| ParticipantError::Failed(error.to_string());
        std::fs::create_dir_all(folder).map_err(|error| to_failure(&error))?;
        let data_stage = || Stage::parse(DATA_FORMAT).map_err(|error| to_failure(&error));
        Ok(match &self.start_method {
            StartMethod::Engine(stage) => Box::new(Engine::new(stage, &data_stage()?)),
            StartMethod::Command(program, text) => Box::new(CommandConversion::new(program, text, &data_stage()?)),
            StartMethod::Script(script) => {
                let command = script.build_command(environment, &self.language);
                let answer_timeout = AnswerTimeout(environment.answer_timeout);
                let process = Process::start(command, folder, &self.reference, answer_timeout, environment.stop);
                Box::new(process.map_err(|error| to_failure(&error))?)
            }
        })
    }

    /// Returns the extension of source files in its language, for the files of scenarios.
    pub fn file_extension(&self) -> &str {
        match &self.start_method {
            StartMethod::Script(script) => {
                script.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
            }
            _ => "",
        }
    }
}

fn build_own_participant(
    language: &str,
    text: &str,
    role: Role,
    operations: Vec<Operation>,
    start_method: StartMethod,
) -> Participant {
    let label = text.replace(":compress=", ", ");
    Participant {
        id: format!("{language}/{text}"),
        language: language.to_owned(),
        name: if role == Role::Engine { format!("engine: {label}") } else { format!("icecore: {label}") },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        runtime: String::new(),
        role,
        reference: DATA_FORMAT.to_owned(),
        operations,
        scenarios: Vec::new(),
        start_method,
    }
}
