//! `icecore formats`

use crate::arguments::Global;
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, usage_text_error};
use clap::Args;
use icecore::{
    format::{self, OptionSpec, OptionType, Side},
    wrap,
};
use serde::Serialize;

/// List the formats, or show the page of one with every option
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Formats {
    /// Name of a format
    pub format: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore formats
  icecore formats sereal";

/// The object that `--json` prints.
#[derive(Serialize)]
struct FormatsReport {
    formats: Vec<FormatRow>,
    wrappers: Vec<FormatRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recognised: Option<Vec<RecognisedFormat>>,
}

/// A format that is recognised, but not read, as `--json` prints it.
#[derive(Serialize)]
struct RecognisedFormat {
    name: &'static str,
    title: &'static str,
}

/// A format as `--json` prints it.
#[derive(Serialize)]
struct FormatRow {
    name: &'static str,
    title: &'static str,
    read: bool,
    write: bool,
    /// Extension of files, as `--out-dir` uses it.
    extension: &'static str,
    options: Vec<OptionRow>,
}

/// An option as `--json` prints it.
#[derive(Serialize)]
struct OptionRow {
    name: &'static str,
    /// Kind of its value.
    takes: &'static str,
    /// The smallest and the largest number, or the words to choose from.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    side: &'static str,
    help: &'static str,
}

/// A format or a wrapper; both are listed with the same fields.
#[derive(Clone, Copy)]
struct FormatEntry {
    name: &'static str,
    title: &'static str,
    extension: &'static str,
    options: &'static [OptionSpec],
    page: &'static str,
}

fn format_entries() -> impl Iterator<Item = FormatEntry> {
    format::all().iter().map(|format| FormatEntry {
        name: format.name,
        title: format.title,
        extension: format.can.extension,
        options: format.options,
        page: format.page,
    })
}

fn wrapper_entries() -> impl Iterator<Item = FormatEntry> {
    wrap::all().iter().map(|wrapper| FormatEntry {
        name: wrapper.name,
        title: wrapper.title,
        extension: wrapper.extension,
        options: wrapper.options,
        page: wrapper.page,
    })
}

pub fn run(args: &Formats, global: &Global) -> Result<(), Abort> {
    let mut writer = OutputWriter::for_report(args.json, global.color);
    let Some(name) = &args.format else {
        if args.json {
            writer.write_object(&FormatsReport {
                formats: format_entries().map(entry_row).collect(),
                wrappers: wrapper_entries().map(entry_row).collect(),
                recognised: Some(
                    icecore::detect::recognised()
                        .into_iter()
                        .map(|(name, title)| RecognisedFormat { name, title })
                        .collect(),
                ),
            })?;
        } else {
            writer.write_text(&format_table(Paint::new(global.color, &std::io::stdout())))?;
        }
        return writer.flush();
    };
    let matching_entry = format_entries().chain(wrapper_entries()).find(|entry| entry.name == name);
    let entry = match matching_entry {
        Some(entry) => entry,
        None => {
            return Err(mistakes::stage(name)
                .err()
                .unwrap_or_else(|| usage_text_error(format!("there is no format `{name}`"))));
        }
    };
    if args.json {
        let is_format = format::by_name(entry.name).is_some();
        let (formats, wrappers) =
            if is_format { (vec![entry_row(entry)], vec![]) } else { (vec![], vec![entry_row(entry)]) };
        writer.write_object(&FormatsReport { formats, wrappers, recognised: None })?;
    } else {
        writer.write_text(entry.page.trim_end())?;
        writer.write_text("\n\n")?;
        writer.write_text(&describe_options(entry.options))?;
        if !entry.extension.is_empty() {
            writer
                .write_text(&format!("\n## Files\n\n`--out-dir` gives them the extension `.{}`.\n", entry.extension))?;
        }
    }
    writer.flush()
}

fn entry_row(entry: FormatEntry) -> FormatRow {
    let options = entry.options.iter().map(|option| OptionRow {
        name: option.name,
        takes: match option.takes {
            OptionType::Flag => "flag",
            OptionType::Number(..) => "number",
            OptionType::Choice(_) => "choice",
            OptionType::List => "list",
            _ => "text",
        },
        values: match option.takes {
            OptionType::Number(min_value, max_value) => Some(vec![min_value.to_string(), max_value.to_string()]),
            OptionType::Choice(words) => Some(words.iter().map(|word| (*word).to_owned()).collect()),
            _ => None,
        },
        side: side_name(option.side),
        help: option.help,
    });
    FormatRow {
        name: entry.name,
        title: entry.title,
        read: true,
        write: true,
        extension: entry.extension,
        options: options.collect(),
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Read => "read",
        Side::Write => "write",
        Side::Both => "both",
    }
}

fn format_table(paint: Paint) -> String {
    let width =
        format_entries().chain(wrapper_entries()).map(|entry| entry.name.len()).max().unwrap_or(0).max("FORMAT".len());
    let format_head = |column_title: &str| {
        format!("{}\n", paint.ink(Ink::Faint, format!("{column_title:width$}  READ  WRITE  WHAT IT IS")))
    };
    let format_line =
        |entry: FormatEntry| format!("{}  yes   yes    {}\n", paint.column(Ink::Name, entry.name, width), entry.title);
    let mut text = format_head("FORMAT");
    format_entries().for_each(|entry| text.push_str(&format_line(entry)));
    text.push('\n');
    text.push_str(&format_head("WRAPPER"));
    wrapper_entries().for_each(|entry| text.push_str(&format_line(entry)));
    let names: Vec<_> = icecore::detect::recognised().into_iter().map(|(name, _)| name).collect();
    text.push_str("\n`icecore formats FORMAT` shows the page of a format or wrapper with every option.\n");
    text.push_str("Options are written FORMAT:name=value,…, for example json:indent=2, and wrappers before\n");
    text.push_str("the format, outermost first: slashes/json.\n\nRecognised by `detect`, not read:\n");
    text.push_str(&wrap_words(&names));
    text
}

/// Joins the words with commas, in lines of at most 80 characters.
fn wrap_words(words: &[&str]) -> String {
    const MAX_LINE_LEN: usize = 80;
    let mut text = String::new();
    let mut line = String::from(" ");
    for (index, word) in words.iter().enumerate() {
        let comma = if index + 1 < words.len() { "," } else { "" };
        if line.len() + word.len() + 2 > MAX_LINE_LEN {
            text.push_str(&line);
            text.push('\n');
            line = String::from(" ");
        }
        line.push_str(&format!(" {word}{comma}"));
    }
    text.push_str(&line);
    text.push('\n');
    text
}

/// Lists every option with its argument, when it applies and what it does.
fn describe_options(options: &[OptionSpec]) -> String {
    if options.is_empty() {
        return "## Options\n\nNone.\n".to_owned();
    }
    let format_syntax = |option: &OptionSpec| match option.takes {
        OptionType::Flag => option.name.to_owned(),
        OptionType::Number(min_value, max_value) => format!("{}={min_value}…{max_value}", option.name),
        OptionType::Choice(words) => format!("{}={}", option.name, words.join("|")),
        OptionType::List => format!("{}=WORD,…", option.name),
        _ => format!("{}=TEXT", option.name),
    };
    let mut text = String::from("## Options\n\n");
    for option in options {
        let when = match option.side {
            Side::Read => "reading",
            Side::Write => "writing",
            Side::Both => "reading and writing",
        };
        text.push_str(&format!("  {}\n      {} ({when})\n", format_syntax(option), option.help));
    }
    text
}
