//! Scenarios: what is frozen, which operations are timed, and what an article published about it.
//! Each is one file in `scenarios/`; the page there says what may stand in it.

mod make;

use crate::Error;
use crate::model::{Claim, Operation, Published};
use icecore::Document;
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// The scenario of icecore-load.
const WEB: &str = "php-web";

/// The formats that the engine takes part with for a user's own data, besides that of
/// the data.
pub const ENGINE: [&str; 6] = ["storable", "sereal", "php", "igbinary", "marshal", "json"];

/// Whom the others are compared with in data of this format: the original that wrote it.
pub fn baseline(format: &str) -> &'static str {
    match format {
        "php" | "php-session" | "var-export" | "igbinary" => "php/serialize",
        "marshal" => "ruby/marshal",
        "json" | "ndjson" => "perl/json-xs",
        _ => "perl/storable",
    }
}

/// A scenario, as its file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the file, without its ending.
    #[serde(skip)]
    pub name: String,
    /// A line that says what is measured.
    pub title: String,
    /// A few sentences more.
    #[serde(default)]
    pub about: String,
    /// Whose runners take part; all languages' if there is none.
    #[serde(default)]
    pub language: Option<String>,
    /// What is timed.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// Whom the others are compared with.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Where bytes are written to and read from.
    #[serde(default)]
    pub medium: Medium,
    /// Whether the competitors' processes live side by side.
    #[serde(default)]
    pub processes: Processes,
    /// Whether resident memory is looked at.
    #[serde(default)]
    pub memory: bool,
    /// What the sizes count.
    #[serde(default)]
    pub axis: String,
    /// The only runners that take part, if there are any here.
    #[serde(default)]
    pub only: Vec<String>,
    /// The formats that the engine takes part with.
    #[serde(default)]
    pub engine: Vec<String>,
    /// How many clients ask at once, one point each, where clients ask a server.
    #[serde(default)]
    pub clients: Vec<u32>,
    /// The report in `docs/bench` in which it is published, if not in that of all.
    #[serde(default)]
    pub report: Option<String>,
    /// What it waits for, if it can't run yet.
    #[serde(default)]
    pub waits: Option<String>,
    /// What is frozen.
    #[serde(default)]
    pub data: Data,
    /// The sizes.
    #[serde(default)]
    pub points: Vec<Size>,
    /// What the article printed.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What the article claimed.
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
    /// The name in the protocol of runners.
    pub fn name(self) -> &'static str {
        match self {
            Medium::Memory => "memory",
            Medium::File => "file",
        }
    }
}

/// Whether the competitors' processes live side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// All live at once, and take turns.
    #[default]
    Together,
    /// One lives at a time, as all values together would not fit into memory.
    Alone,
}

/// What is frozen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// What makes it: a name of [`make`].
    #[serde(default)]
    make: Option<String>,
    /// The value itself, as `json:typed`.
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
    /// For people.
    #[serde(default)]
    pub name: String,
    /// Its place on the axis.
    #[serde(default)]
    pub at: f64,
    /// What the data is made with.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// In which runs it is measured.
    #[serde(default)]
    pub run: When,
}

/// In which runs a size is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// In all of them.
    #[default]
    Both,
    /// Only in small ones.
    Small,
    /// Only in full ones.
    Full,
}

/// The scenarios that come with the lab, by name.
pub fn all() -> Result<Vec<Scenario>, Error> {
    let mut scenarios = Vec::new();
    for file in FOLDER.files() {
        if file.path().extension().is_some_and(|ending| ending == "toml") {
            let name = file.path().file_stem().unwrap_or_default().to_string_lossy();
            scenarios.push(parse(&name, file.contents_utf8().unwrap_or_default())?);
        }
    }
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(scenarios)
}

/// The scenario of this name.
///
/// # Errors
///
/// Names the scenarios that there are, if this is none.
pub fn find(name: &str) -> Result<Scenario, Error> {
    let scenarios = all()?;
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    match scenarios.iter().find(|scenario| scenario.name == name) {
        Some(scenario) => Ok(scenario.clone()),
        None if name == WEB => {
            let message = "it needs web servers; `scripts/bench.sh php-web` of Icecore's sources measures it";
            Err(Error::new(format!("the scenario {name} is not in this command: {message}")))
        }
        None => Err(Error::new(format!("there is no scenario {name}; there are {}", names.join(", ")))),
    }
}

/// Reads the text of a scenario's file.
///
/// # Errors
///
/// Says what in the file is not as it should be.
pub fn parse(name: &str, text: &str) -> Result<Scenario, Error> {
    let mut scenario: Scenario =
        toml::from_str(text).map_err(|error| Error::new(format!("scenario {name}: {error}")))?;
    scenario.name = name.to_owned();
    if scenario.points.is_empty() {
        scenario.points.push(Size::default());
    }
    Ok(scenario)
}

/// The file with the classes of a scenario in a language, if there is one. All files of scenarios are put below `folder`,
/// as one may load another.
///
/// # Errors
///
/// If they can't be written.
pub fn code(folder: &Path, name: &str, ending: &str) -> Result<Option<PathBuf>, Error> {
    let file = format!("{name}.{ending}");
    if FOLDER.get_file(&file).is_none() {
        return Ok(None);
    }
    let folder = folder.join("scenarios");
    if !folder.exists() {
        std::fs::create_dir_all(&folder)
            .and_then(|()| FOLDER.extract(&folder))
            .map_err(|error| Error::io(&folder, &error))?;
    }
    Ok(Some(folder.join(file)))
}

impl Scenario {
    /// A scenario of a user's own data, over the runners of all languages.
    pub fn of(name: &str, document: Document<'static>, baseline: &str) -> Scenario {
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

    /// Whether the value is a user's own data.
    pub fn is_given(&self) -> bool {
        self.data.given.is_some()
    }

    /// The sizes of a small or of a full run.
    pub fn sizes(&self, small: bool) -> impl Iterator<Item = &Size> {
        let other = if small { When::Full } else { When::Small };
        self.points.iter().filter(move |size| size.run != other)
    }

    /// The value of this size.
    ///
    /// # Errors
    ///
    /// If the file does not say what it is, or says it wrongly.
    pub fn document(&self, size: &Size) -> Result<Document<'static>, Error> {
        let wrong = |why: String| Error::new(format!("scenario {}: {why}", self.name));
        if let Some(given) = &self.data.given {
            return Ok(given.clone());
        }
        match (&self.data.make, &self.data.json) {
            (Some(make), None) => make::document(make, &size.parameters).map_err(|error| wrong(error.to_string())),
            (None, Some(json)) => {
                let stage = icecore::Stage::parse("json:typed")?;
                let document = icecore::read_as(json.as_bytes(), &stage, &icecore::Limits::new())
                    .map_err(|error| wrong(error.to_string()))?;
                Ok(document.into_owned())
            }
            _ => Err(wrong("[data] needs one of `make` and `json`".to_owned())),
        }
    }
}
