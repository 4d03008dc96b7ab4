//! Options of formats: the one table that the command, the C interface and
//! the language modules share.

use crate::error::{Error, ErrorKind};
use crate::suggest::nearest;
use std::fmt;

/// An option of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// Name of the option.
    pub name: &'static str,
    /// The type of its value.
    pub takes: OptionType,
    /// Whether the option applies to reading, to writing or to both.
    pub side: Side,
    /// A description in one sentence.
    pub help: &'static str,
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionType {
    /// No value: the flag is on if it is named. `=0` or `=no` switch it off.
    Flag,
    /// An integer in this range.
    Number(i64, i64),
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Words, separated by commas. In a stage, words after the first need no quotes if they consist of letters, digits,
    /// `-` and `_` and are not names of options: `names=title,author`.
    List,
}

/// Whether an option applies to reading, to writing or to both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// While reading.
    Read,
    /// While writing.
    Write,
    /// Both.
    Both,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    Flag(bool),
    Number(i64),
    Choice(&'static str),
    Text(String),
}

/// Options of a stage, checked against its format's table.
///
/// ```
/// use icecore::{Stage, format::OptionType};
/// let stage = Stage::parse("sereal:compress=zstd,level=3,canonical")?;
/// let settings = stage.settings();
/// assert!(settings.flag("canonical") && settings.has("level") && !settings.has("sort_keys"));
/// assert_eq!((settings.number("level"), settings.choice("compress")), (Some(3), Some("zstd")));
/// assert_eq!(settings.flag_set("canonical"), Some(true));
/// let level = stage.format().options.iter().find(|option| option.name == "level").unwrap();
/// assert!(matches!(level.takes, OptionType::Number(..)));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    values: Vec<(&'static str, Setting)>,
}

/// The syntax of a stage: `:level=3,canonical`; empty if there are no options.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{}{name}", if index == 0 { ':' } else { ',' })?;
            match value {
                Setting::Flag(true) => {}
                Setting::Flag(false) => f.write_str("=no")?,
                Setting::Number(number) => write!(f, "={number}")?,
                Setting::Choice(word) => write!(f, "={}", QuotedValue(word))?,
                Setting::Text(text) => write!(f, "={}", QuotedValue(text))?,
            }
        }
        Ok(())
    }
}

/// A value of an option, with quotes if needed.
struct QuotedValue<'t>(&'t str);

impl fmt::Display for QuotedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !self.0.is_empty() && self.0.chars().all(is_bare) {
            return f.write_str(self.0);
        }
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

impl Settings {
    /// No options.
    pub fn new() -> Settings {
        Settings::default()
    }

    /// Sets an option. A later setting replaces an earlier one.
    ///
    /// # Errors
    /// Of kind `Usage`, if the option is not in the table or the value does not fit it.
    pub fn set(
        &mut self,
        table: &'static [OptionSpec],
        stage: &str,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), Error> {
        let option = table.iter().find(|option| option.name == name).ok_or_else(|| {
            let known: Vec<_> = table.iter().map(|option| option.name).collect();
            let error = Error::new(ErrorKind::Usage)
                .expecting(match known.len() {
                    0 => format!("no options: {stage} has none"),
                    _ => format!("an option of {stage}: {}", known.join(", ")),
                })
                .finding(format!("`{name}`"));
            match nearest(name, known.into_iter()) {
                Some(meant) => error.helping(format!("did you mean `{meant}`?")),
                None => error,
            }
        })?;
        let usage_error = |expected: String| {
            let found = value.map_or("nothing".to_owned(), |value| format!("`{value}`"));
            Error::new(ErrorKind::Usage).expecting(format!("{expected} for {stage}:{name}")).finding(found)
        };
        let setting = match (option.takes, value) {
            (OptionType::Flag, None | Some("1" | "yes" | "true" | "on")) => Setting::Flag(true),
            (OptionType::Flag, Some("0" | "no" | "false" | "off")) => Setting::Flag(false),
            (OptionType::Flag, Some(_)) => return Err(usage_error("yes or no".into())),
            (OptionType::Number(minimum, maximum), _) => value
                .and_then(|value| value.parse().ok())
                .filter(|number| (minimum..=maximum).contains(number))
                .map(Setting::Number)
                .ok_or_else(|| usage_error(format!("a number from {minimum} to {maximum}")))?,
            (OptionType::Choice(words), _) => words
                .iter()
                .find(|word| Some(**word) == value)
                .map(|word| Setting::Choice(word))
                .ok_or_else(|| usage_error(format!("one of {}", words.join(", "))))?,
            (OptionType::Text | OptionType::List, Some(value)) => Setting::Text(value.to_owned()),
            (OptionType::Text | OptionType::List, None) => return Err(usage_error("a value".into())),
        };
        self.values.retain(|(known, _)| *known != option.name);
        self.values.push((option.name, setting));
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&Setting> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the names of the options that were set, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.values.iter().map(|(name, _)| *name)
    }

    /// Returns `true` if an option was set.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns `true` if a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Setting::Flag(true)))
    }

    /// Returns a flag, if it was set at all.
    pub fn flag_set(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(Setting::Flag(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a number, if it was set.
    pub fn number(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Setting::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a choice, if it was set.
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        match self.get(name) {
            Some(Setting::Choice(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns a text, if it was set.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Setting::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns the words of a list, if it was set.
    pub fn list(&self, name: &str) -> Option<impl Iterator<Item = &str>> {
        self.text(name).map(|words| words.split(',').filter(|word| !word.is_empty()))
    }

    /// Returns `true` if no option was set.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
