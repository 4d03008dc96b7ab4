//! The options that change something, in the order in which they are given.

use crate::class_map;
use crate::reading;
use crate::report::{Abort, usage_of};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use icecore::alter::Alteration;
use icecore::select::Pattern;
use icecore::{Document, Limits};

/// An option: its name, its argument, its help and the details of its help.
const OPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "set",
        "PATH=JSON",
        "Set the values on this path; a key that a map lacks is added",
        "Text needs quotes: '$.name=\"Bob\"'. A variable with several names is set under all of them; an object or an \
         array that is shared with another place stays unchanged there. Missing containers are not created: a path that \
         leads nowhere is a finding, exit 1.",
    ),
    (
        "delete",
        "PATH",
        "Delete the values on this path: entries of maps, items of lists",
        "The following items of a list move up. A shared value stays in its other places.",
    ),
    (
        "append",
        "PATH=JSON",
        "Append an item to the list on this path",
        "In a PHP array with keys, its key is the next number.",
    ),
    (
        "rename-key",
        "OLD=NEW",
        "Rename a key everywhere, or with a path the keys of the entries on it: '$.staff[*].name=title'",
        "Entries keep their position, and members their marks (private in PHP, @ in Ruby).",
    ),
    (
        "rename-class",
        "OLD=NEW",
        "Rename classes, as --class-map of convert does: 'Ns\\*=Other\\*', or @FILE with one pair per line",
        "This includes the class names in private properties, enums, values that are class names, and strings that are \
         frozen data themselves.",
    ),
];

/// The edits, in order, each with the name of its option.
#[derive(Clone, Debug, Default)]
pub struct Steps(Vec<(&'static str, String)>);

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, (name, takes, help, more)| {
            let arg = Arg::new(*name).long(*name).value_name(*takes).action(ArgAction::Append);
            command.arg(arg.help(*help).long_help(format!("{help}\n\n{more}")).allow_hyphen_values(true))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Steps::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Steps, clap::Error> {
        let mut steps = Vec::new();
        for (name, ..) in OPTIONS {
            let values = matches.get_many::<String>(name).unwrap_or_default();
            let places = matches.indices_of(name).into_iter().flatten();
            steps.extend(places.zip(values).map(|(place, value)| (place, *name, value.clone())));
        }
        steps.sort_by_key(|(place, ..)| *place);
        Ok(Steps(steps.into_iter().map(|(_, name, value)| (name, value)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Steps::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Steps {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Converts each edit for the engine.
    pub fn alterations(&self, limits: &Limits) -> Result<Vec<Alteration>, Abort> {
        self.0.iter().map(|(name, text)| alteration(name, text, limits)).collect()
    }
}

fn alteration(name: &str, text: &str, limits: &Limits) -> Result<Alteration, Abort> {
    let pair =
        || split(text).ok_or_else(|| usage_of(format!("--{name} needs two parts with `=` between them, not `{text}`")));
    let path = |path: &str| Pattern::parse(path).map_err(crate::report::usage);
    Ok(match name {
        "set" | "append" => {
            let (place, json) = pair()?;
            if let Some(before) = place.strip_suffix(':').filter(|_| !place.ends_with("\\:")) {
                let text = format!(
                    "--{name} needs PATH=JSON: write `{before}={json}`, or `[\"…:\"]` for a key that ends with `:`"
                );
                return Err(usage_of(text));
            }
            let value = value(name, json, limits)?;
            match name {
                "set" => Alteration::Set(path(place)?, value),
                _ => Alteration::Append(path(place)?, value),
            }
        }
        "delete" => Alteration::Delete(path(text)?),
        "rename-key" => match pair()? {
            ("", _) | (_, "") => {
                return Err(usage_of(format!("--{name} needs a name on both sides of `=`, not `{text}`")));
            }
            (old, new) if old.starts_with(['$', '.', '[']) => Alteration::RenameEntry(path(old)?, new.to_owned()),
            (old, new) => Alteration::RenameKey(old.to_owned(), new.to_owned()),
        },
        _ => {
            if text.split_once('=').is_some_and(|(_, new)| new.trim() == "(plain)") {
                return Err(usage_of(
                    "--rename-class needs a new name: (plain) is for `convert --class-map`".to_owned(),
                ));
            }
            Alteration::RenameClass(class_map::read(text)?)
        }
    })
}

/// Splits the text at the first `=` outside of quotes.
fn split(text: &str) -> Option<(&str, &str)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '=' if !is_quoted => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// Parses a value on the command line.
fn value(name: &str, json: &str, limits: &Limits) -> Result<Document<'static>, Abort> {
    let stage = reading::typed_json().map_err(crate::report::usage)?;
    let read = icecore::read_as(json.trim().as_bytes(), &stage, limits);
    read.map(Document::into_owned).map_err(|error| {
        let shown = icecore::text::shortened(json, 60);
        usage_of(format!("--{name} needs JSON after the `=`, with text in quotes, not `{shown}`: {error}"))
    })
}
