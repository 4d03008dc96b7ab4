//! The options that change something, in the order in which they are given.

use crate::class_map;
use crate::document_reader;
use crate::mistakes;
use crate::report::{Abort, usage_text_error};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use icecore::alter::Alteration;
use icecore::select::Pattern;
use icecore::{Document, Limits};

/// The options: name, argument, help, and details of the help.
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
        "Rename the key OLD, wherever it is; or the entries on a path: '$.staff[*].name=title'",
        "An entry keeps its position. A member keeps its mark (private in PHP, @ in Ruby).",
    ),
    (
        "rename-class",
        "OLD=NEW",
        "Rename the classes that OLD matches: 'Ns\\*=Other\\*', or @FILE with a pair on each line",
        "The pairs are written as for --class-map of `convert`. Names of private properties, of enums, and of classes as \
         values are renamed as well, also in strings that are frozen data.",
    ),
];

/// The steps, in order: for each, the name of its option and its argument.
#[derive(Clone, Debug, Default)]
pub struct Steps(Vec<(&'static str, String)>);

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, (name, argument, help, details)| {
            let arg = Arg::new(*name).long(*name).value_name(*argument).action(ArgAction::Append);
            command.arg(arg.help(*help).long_help(format!("{help}\n\n{details}")).allow_hyphen_values(true))
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
            let positions = matches.indices_of(name).into_iter().flatten();
            steps.extend(positions.zip(values).map(|(position, value)| (position, *name, value.clone())));
        }
        steps.sort_by_key(|(position, ..)| *position);
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

    /// Parses each step as an alteration of the engine.
    pub fn parse_alterations(&self, limits: &Limits) -> Result<Vec<Alteration>, Abort> {
        self.0.iter().map(|(name, text)| parse_alteration(name, text, limits)).collect()
    }
}

/// Parses the text of an option, such as `$.a=1` for --set. `name` is the option without its dashes.
fn parse_alteration(name: &str, text: &str, limits: &Limits) -> Result<Alteration, Abort> {
    let pair = || split_at_equals(text).ok_or_else(|| not_a_pair_error(name, text));
    let parse_path = |path: &str| Pattern::parse(path).map_err(|error| mistakes::path_error(path, error));
    Ok(match name {
        "set" | "append" => {
            let (path, json) = pair()?;
            if let Some(bare_path) = path.strip_suffix(':').filter(|_| !path.ends_with("\\:")) {
                let text = format!(
                    "--{name} takes PATH=JSON; did you mean `{bare_path}={json}`? A key that ends with `:` is written `[\"…:\"]`"
                );
                return Err(usage_text_error(text));
            }
            let path = path.trim();
            if let Some(operator) = path.chars().next_back().filter(|last| "+-*/%|".contains(*last)) {
                let text = format!(
                    "--{name} takes PATH=JSON and computes nothing: `icecore query '{} {operator}= {}'` does; a key that ends \
                     with `{operator}` is written `[\"…{operator}\"]`",
                    path.trim_end_matches(operator).trim_end(),
                    json.trim()
                );
                return Err(usage_text_error(text));
            }
            let pattern = parse_path(path)?;
            let value = parse_value(name, pattern.as_str(), json, limits)?;
            match name {
                "set" => Alteration::Set(pattern, value),
                _ => Alteration::Append(pattern, value),
            }
        }
        "delete" if std::path::Path::new(text).exists() && Pattern::parse(text).is_err() => {
            let file = icecore::text::printable(text);
            return Err(usage_text_error(format!(
                "--delete takes a path, and `{file}` is a file: --delete '.name' {file}"
            )));
        }
        "delete" => Alteration::Delete(parse_path(text)?),
        "rename-key" => match pair()? {
            ("", _) | (_, "") => {
                return Err(usage_text_error(format!("--{name} needs a name on both sides of `=`, not `{text}`")));
            }
            (old, new) if old.starts_with(['$', '.', '[']) => Alteration::RenameEntry(parse_path(old)?, new.to_owned()),
            (old, new) => Alteration::RenameKey(old.to_owned(), new.to_owned()),
        },
        _ => {
            if text.split_once('=').is_some_and(|(_, new)| new.trim() == "(plain)") {
                return Err(usage_text_error(
                    "--rename-class takes names of classes; (plain) is only for `icecore convert --class-map`"
                        .to_owned(),
                ));
            }
            if !text.starts_with('@') && !text.contains('=') {
                return Err(not_a_pair_error(name, text));
            }
            Alteration::RenameClass(class_map::parse_pairs(text)?)
        }
    })
}

/// Splits the text at the first `=` outside of quotes.
fn split_at_equals(text: &str) -> Option<(&str, &str)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (index, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '=' if !is_quoted => return Some((&text[..index], &text[index + 1..])),
            _ => {}
        }
    }
    None
}

/// Returns the error for an option without its `=`.
fn not_a_pair_error(name: &str, text: &str) -> Abort {
    let printable_text = icecore::text::printable(text);
    usage_text_error(match name {
        "set" => format!("--set takes PATH=JSON, such as '.name=\"text\"', not `{printable_text}`"),
        "append" => format!("--append takes PATH=JSON, such as '.list=\"text\"', not `{printable_text}`"),
        _ => format!("--{name} takes OLD=NEW, not `{printable_text}`"),
    })
}

/// Parses the value that the command line gives for this path. The error for a bare word suggests quotes around it.
fn parse_value(name: &str, path: &str, json: &str, limits: &Limits) -> Result<Document<'static>, Abort> {
    let stage = document_reader::typed_json_stage().map_err(crate::report::usage_error)?;
    let document = icecore::read_as(json.trim().as_bytes(), &stage, limits);
    document.map(Document::into_owned).map_err(|error| {
        let shortened_json = icecore::text::shortened(json, 60).replace('\'', "'\\''");
        let is_word = !json.is_empty() && !json.starts_with(['"', '\'', '{', '[', '=']) && !json.contains('"');
        let is_expression = json.trim_start().starts_with(['.', '$']);
        usage_text_error(match is_word {
            _ if is_expression => {
                format!(
                    "--{name} takes JSON and computes nothing: `icecore query '{path} = {}'` does",
                    shortened_json.trim()
                )
            }
            true => format!("--{name} takes JSON, and text is in quotes; did you mean '{path}=\"{shortened_json}\"'?"),
            false => format!("--{name} takes JSON after the =, not `{shortened_json}`: {error}"),
        })
    })
}
