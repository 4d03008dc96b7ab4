//! Mistakes in filters.

use crate::query_thread::{Abort, Stop};
use jaq_core::compile::{self, Undefined};
use jaq_core::load;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// A mistake in a filter, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    text: String,
}

impl FilterError {
    pub(crate) fn new(text: impl Into<String>) -> FilterError {
        FilterError { text: text.into() }
    }

    /// Creates a mistake at a part of the filter.
    fn at_part(filter: &str, part: &str, text: &str) -> FilterError {
        let start = (part.as_ptr() as usize).wrapping_sub(filter.as_ptr() as usize);
        let is_inside = start <= filter.len();
        let characters = filter.get(..start).map_or(0, |before| before.chars().count());
        FilterError::new(if is_inside { format!("{text} (at character {})", characters + 1) } else { text.to_owned() })
    }

    pub(crate) fn abort(abort: Abort) -> FilterError {
        FilterError::new(match abort {
            Abort::Stopped(stop) => stop.to_string(),
            Abort::Panicked(text) => format!("it can't be compiled because of a bug in the library: {text}"),
        })
    }

    pub(crate) fn from_load_errors<P>(filter: &str, errors: &load::Errors<&str, P>) -> FilterError {
        let found = errors.iter().find_map(|(_, error)| match error {
            load::Error::Io(errors) => errors.first().map(|(part, _)| {
                FilterError::at_part(
                    filter,
                    part,
                    "`import` and `include` are not supported: put the definitions in the filter",
                )
            }),
            load::Error::Lex(errors) => errors.first().map(|(expected, part)| {
                let expected = with_article(expected.as_str());
                FilterError::at_part(filter, part, &format!("expected {expected}, found {}", quote_part(part)))
            }),
            load::Error::Parse(errors) => errors.first().map(|(expected, part)| {
                let expected = with_article(expected.as_str());
                FilterError::at_part(filter, part, &format!("expected {expected}, found {}", quote_part(part)))
            }),
        });
        found.unwrap_or_else(|| FilterError::new("it can't be parsed"))
    }

    /// Creates a mistake from errors of the compiler. `function_names` are the names of all functions.
    pub(crate) fn from_compile_errors<P>(
        filter: &str,
        errors: &compile::Errors<&str, P>,
        function_names: &[String],
    ) -> FilterError {
        let found = errors.iter().flat_map(|(_, errors)| errors).next().map(|(name, undefined)| {
            let text = match undefined {
                Undefined::Filter(count) if *count > 0 => {
                    format!(
                        "there is no filter {} with {count} argument{}",
                        quote_part(name),
                        if *count == 1 { "" } else { "s" }
                    )
                }
                other => format!("there is no {} {}", other.as_str(), quote_part(name)),
            };
            let suggestion = match undefined {
                Undefined::Filter(_) => icecore::text::nearest(name, function_names.iter().map(String::as_str)),
                _ => None,
            };
            let mut mistake = FilterError::at_part(filter, name, &text);
            if let Some(suggestion) = suggestion.filter(|suggestion| suggestion != name) {
                mistake.text += &format!("; did you mean `{suggestion}`?");
            }
            mistake
        });
        found.unwrap_or_else(|| FilterError::new("it can't be compiled"))
    }
}

/// Returns what the parser expected, with an article or in quotes.
fn with_article(expected: &str) -> String {
    match expected {
        "nothing" => "the end of the filter".to_owned(),
        "else or end" => "`else` or `end`".to_owned(),
        "identifier" | "argument" => format!("an {expected}"),
        "variable" | "pattern" | "term" | "key" | "string" | "digit" | "token" => format!("a {expected}"),
        _ if expected.contains(' ') => format!("a {expected}"),
        _ => format!("`{expected}`"),
    }
}

fn quote_part(part: &str) -> String {
    match part.is_empty() {
        true => "the end".to_owned(),
        false => format!("`{}`", icecore::text::printable(&icecore::text::shortened(part, 40))),
    }
}

impl Display for FilterError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the filter is wrong: {}", self.text)
    }
}

impl Error for FilterError {}

impl Display for Stop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Memory => {
                "the values of the filter are too large: they hold more memory than they may: if the filter and the \
                 input are trusted, raise the limit `memory`: `--limit memory=N`, or `Running::memory`"
            }
            Stop::Depth => {
                "the filter nests too deeply: a function calls itself without an end, or values contain values"
            }
            Stop::Steps => {
                "the filter takes more steps than it may: if the filter and the input are trusted, raise the limit \
                 `steps`: `--limit steps=N`, or `Running::steps`"
            }
            Stop::Interrupt => "the filter was interrupted",
            Stop::Size => "the filter makes a string or a number that is too large",
        })
    }
}
