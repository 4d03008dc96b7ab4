//! Scenarios. Each is a file in `scenarios/` that describes which data is serialized, which operations are timed, and
//! what an article published about it. The page in that folder documents the format.

mod make;

use crate::Error;
use crate::model::{Claim, Operation, Published};
use icecore::Document;
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

static SCENARIO_FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// The scenario that icecore-load measures.
const WEB_SCENARIO: &str = "php-web";

/// Formats in which the engine takes part for a user's own data, in addition to the format of the data.
pub const ENGINE: [&str; 6] = ["storable", "sereal", "php", "igbinary", "marshal", "json"];

/// Returns the default baseline for data of a format: the original serializer.
pub fn default_baseline(format: &str) -> &'static str {
    match format {
        "php" | "php-session" | "var-export" | "igbinary" => "php/serialize",
        "marshal" => "ruby/marshal",
        "json" | "ndjson" => "perl/json-xs",
        _ => "perl/storable",
    }
}

/// A scenario, as in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the file, without its extension.
    #[serde(skip)]
    pub name: String,
    /// One line that says what is measured.
    pub title: String,
    /// A few more sentences.
    #[serde(default)]
    pub about: String,
    /// The language whose runners take part. If it is not set, the runners of all languages do.
    #[serde(default)]
    pub language: Option<String>,
    /// Timed operations.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// The competitor that the others are compared with.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Where bytes are written to and read from.
    #[serde(default)]
    pub medium: Medium,
    /// Whether the processes of the competitors run at the same time.
    #[serde(default)]
    pub processes: Processes,
    /// Whether resident memory is measured.
    #[serde(default)]
    pub memory: bool,
    /// Unit of the sizes.
    #[serde(default)]
    pub axis: String,
    /// The runners that take part. If there are none, all do.
    #[serde(default)]
    pub only: Vec<String>,
    /// Formats in which the engine takes part.
    #[serde(default)]
    pub engine: Vec<String>,
    /// Numbers of concurrent clients, for scenarios with a server. Each number is a point.
    #[serde(default)]
    pub clients: Vec<u32>,
    /// The report in `docs/bench` in which the results are published, if it is a separate one.
    #[serde(default)]
    pub report: Option<String>,
    /// What the scenario waits for, if it can't run yet.
    #[serde(default)]
    pub waits: Option<String>,
    /// The data that is serialized.
    #[serde(default)]
    pub data: Data,
    /// The sizes.
    #[serde(default)]
    pub points: Vec<Size>,
    /// Figures that the article printed.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Claims of the article.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

/// Where bytes are written to and read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// A string of the language.
    #[default]
    Memory,
    /// A file.
    File,
}

impl Medium {
    /// Returns the name in the protocol of runners.
    pub fn name(self) -> &'static str {
        match self {
            Medium::Memory => "memory",
            Medium::File => "file",
        }
    }
}

/// Whether the processes of the competitors run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// All run at the same time, and take turns.
    #[default]
    Together,
    /// One runs at a time, because all values together would not fit into memory.
    Alone,
}

/// The data that is serialized.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Name of the generator in [`make`].
    #[serde(default)]
    make: Option<String>,
    /// The value as `json:typed`.
    #[serde(default)]
    json: Option<String>,
    /// The value itself.
    #[serde(skip)]
    given: Option<Document<'static>>,
}

/// One size of a scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Display name.
    #[serde(default)]
    pub name: String,
    /// Position on the axis.
    #[serde(default)]
    pub at: f64,
    /// Parameters of the data.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// The runs in which it is measured.
    #[serde(default)]
    pub run: SizeSelection,
}

/// The runs in which a size is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeSelection {
    /// In all runs.
    #[default]
    Both,
    /// Only in small runs.
    Small,
    /// Only in full runs.
    Full,
}

/// Returns the scenarios that come with the lab, sorted by name.
pub fn list_scenarios() -> Result<Vec<Scenario>, Error> {
    let mut scenarios = Vec::new();
    for file in SCENARIO_FILES.files() {
        if file.path().extension().is_some_and(|ending| ending == "toml") {
            let name = file.path().file_stem().unwrap_or_default().to_string_lossy();
            scenarios.push(parse_scenario(&name, file.contents_utf8().unwrap_or_default())?);
        }
    }
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(scenarios)
}

/// Returns the scenario with this name.
///
/// # Errors
///
/// If there is none. The error lists the existing scenarios.
pub fn find_scenario(name: &str) -> Result<Scenario, Error> {
    let scenarios = list_scenarios()?;
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    match scenarios.iter().find(|scenario| scenario.name == name) {
        Some(scenario) => Ok(scenario.clone()),
        None if name == WEB_SCENARIO => {
            let message = "it needs web servers; `scripts/bench.sh php-web` of Icecore's sources measures it";
            Err(Error::new(format!("the scenario {name} is not in this command: {message}")))
        }
        None => {
            let suggestion = icecore::text::nearest(name, names.iter().copied());
            let suggestion =
                suggestion.map_or_else(|| ". ".to_owned(), |suggestion| format!("; did you mean {suggestion}? "));
            Err(Error::new(format!("there is no scenario {name}{suggestion}The scenarios are {}", names.join(", "))))
        }
    }
}

/// Parses a scenario file.
///
/// # Errors
///
/// The error says what is wrong in the file.
pub fn parse_scenario(name: &str, text: &str) -> Result<Scenario, Error> {
    let mut scenario: Scenario =
        toml::from_str(text).map_err(|error| Error::new(format!("scenario {name}: {error}")))?;
    scenario.name = name.to_owned();
    if scenario.points.is_empty() {
        scenario.points.push(Size::default());
    }
    Ok(scenario)
}

/// Returns the file with the classes of a scenario in a language, if there is one. All files of scenarios are extracted
/// below `folder`, because one may load another.
///
/// # Errors
///
/// If the files can't be written.
pub fn extract_code(folder: &Path, name: &str, ending: &str) -> Result<Option<PathBuf>, Error> {
    let file = format!("{name}.{ending}");
    if SCENARIO_FILES.get_file(&file).is_none() {
        return Ok(None);
    }
    let folder = folder.join("scenarios");
    if !folder.exists() {
        std::fs::create_dir_all(&folder)
            .and_then(|()| SCENARIO_FILES.extract(&folder))
            .map_err(|error| Error::io(&folder, &error))?;
    }
    Ok(Some(folder.join(file)))
}

impl Scenario {
    /// Creates a scenario for a user's own data, with the runners of all languages.
    pub fn from_document(name: &str, document: Document<'static>, baseline: &str) -> Scenario {
        Scenario {
            name: name.to_owned(),
            title: format!("Your data: {name}"),
            about: String::new(),
            language: None,
            operations: vec![Operation::Write, Operation::Read],
            baseline: Some(baseline.to_owned()),
            medium: Medium::Memory,
            processes: Processes::Together,
            memory: true,
            axis: String::new(),
            only: Vec::new(),
            engine: Vec::new(),
            clients: Vec::new(),
            report: None,
            waits: None,
            data: Data { make: None, json: None, given: Some(document) },
            points: vec![Size::default()],
            published: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Returns true if the value is a user's own data.
    pub fn has_given_data(&self) -> bool {
        self.data.given.is_some()
    }

    /// Returns the sizes of a small or a full run.
    pub fn sizes(&self, small: bool) -> impl Iterator<Item = &Size> {
        self.sizes_except(if small { SizeSelection::Full } else { SizeSelection::Small })
    }

    /// Returns the sizes of a small run.
    pub fn small_sizes(&self) -> impl Iterator<Item = &Size> {
        self.sizes_except(SizeSelection::Full)
    }

    /// Returns the sizes of a full run.
    pub fn full_sizes(&self) -> impl Iterator<Item = &Size> {
        self.sizes_except(SizeSelection::Small)
    }

    fn sizes_except(&self, excluded: SizeSelection) -> impl Iterator<Item = &Size> {
        self.points.iter().filter(move |size| size.run != excluded)
    }

    /// Returns the value of this size.
    ///
    /// # Errors
    ///
    /// If the file does not define the value, or defines it incorrectly.
    pub fn make_document(&self, size: &Size) -> Result<Document<'static>, Error> {
        let to_error = |reason: String| Error::new(format!("scenario {}: {reason}", self.name));
        if let Some(document) = &self.data.given {
            return Ok(document.clone());
        }
        match (&self.data.make, &self.data.json) {
            (Some(make), None) => {
                make::make_document(make, &size.parameters).map_err(|error| to_error(error.to_string()))
            }
            (None, Some(json)) => {
                let stage = icecore::Stage::parse("json:typed")?;
                let document = icecore::read_as(json.as_bytes(), &stage, &icecore::Limits::new())
                    .map_err(|error| to_error(error.to_string()))?;
                Ok(document.into_owned())
            }
            _ => Err(to_error("[data] needs one of `make` and `json`".to_owned())),
        }
    }
}
