//! `icecore formats`

use crate::cli::Formats;
use crate::report::{Stop, code};
use crate::sink::Sink;
use icecore::{Opt, Side, Takes, format};
use serde::Serialize;

/// What `--json` says.
#[derive(Serialize)]
struct Everything {
    formats: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recognised: Option<Vec<Known>>,
}

/// What `--json` says of a format that is recognised, but not read.
#[derive(Serialize)]
struct Known {
    name: &'static str,
    title: &'static str,
}

/// What `--json` says of a format.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    read: bool,
    write: bool,
    options: Vec<Choice>,
}

/// What `--json` says of an option.
#[derive(Serialize)]
struct Choice {
    name: &'static str,
    takes: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    side: &'static str,
    help: &'static str,
}

pub fn run(args: &Formats) -> Result<(), Stop> {
    let formats: Vec<_> = match &args.format {
        None => format::all().to_vec(),
        Some(name) => {
            let known = || format::all().iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
            let unknown = || Stop::Failed(code::USAGE, format!("no format is called `{name}`: there are {}", known()));
            vec![format::by_name(name).ok_or_else(unknown)?]
        }
    };
    let mut sink = Sink::stdout();
    if args.json {
        let known = || icecore::recognised().into_iter().map(|(name, title)| Known { name, title }).collect();
        sink.json(&Everything {
            formats: formats.iter().map(|format| row(format)).collect(),
            recognised: args.format.is_none().then(known),
        })?;
        sink.text("\n")?;
    } else if args.format.is_some() {
        for format in formats {
            sink.text(format.page.trim_end())?;
            sink.text("\n\n")?;
            sink.text(&options(format.options))?;
        }
    } else {
        sink.text(&table(&formats))?;
    }
    sink.flush()
}

fn row(format: &icecore::Format) -> Row {
    let options = format.options.iter().map(|option| Choice {
        name: option.name,
        takes: match option.takes {
            Takes::Flag => "flag",
            Takes::Number(..) => "number",
            Takes::Choice(_) => "choice",
            _ => "text",
        },
        values: match option.takes {
            Takes::Number(least, most) => Some(vec![least.to_string(), most.to_string()]),
            Takes::Choice(words) => Some(words.iter().map(|word| (*word).to_owned()).collect()),
            _ => None,
        },
        side: side(option.side),
        help: option.help,
    });
    Row { name: format.name, title: format.title, read: true, write: true, options: options.collect() }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Read => "read",
        Side::Write => "write",
        Side::Both => "both",
    }
}

fn table(formats: &[&icecore::Format]) -> String {
    let width = formats.iter().map(|format| format.name.len()).max().unwrap_or(0).max("FORMAT".len());
    let mut text = format!("{:width$}  READ  WRITE  WHAT IT IS\n", "FORMAT");
    for format in formats {
        text.push_str(&format!("{:width$}  yes   yes    {}\n", format.name, format.title));
    }
    let names: Vec<_> = icecore::recognised().into_iter().map(|(name, _)| name).collect();
    text.push_str("\n`icecore formats FORMAT` shows the page of a format with every option.\n");
    text.push_str(
        "Options are written FORMAT:name=value,…, for example json:indent=2.\n\nRecognised by `detect`, not read:\n",
    );
    text.push_str(&wrapped(&names));
    text
}

/// The words with commas, in lines of ordinary length.
fn wrapped(words: &[&str]) -> String {
    let mut text = String::new();
    let mut line = String::from(" ");
    for (at, word) in words.iter().enumerate() {
        let comma = if at + 1 < words.len() { "," } else { "" };
        if line.len() + word.len() + 2 > 80 {
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

/// Every option, with what it takes, when it counts and what it does.
fn options(options: &[Opt]) -> String {
    if options.is_empty() {
        return "## Options\n\nNone.\n".to_owned();
    }
    let takes = |option: &Opt| match option.takes {
        Takes::Flag => option.name.to_owned(),
        Takes::Number(least, most) => format!("{}={least}…{most}", option.name),
        Takes::Choice(words) => format!("{}={}", option.name, words.join("|")),
        _ => format!("{}=TEXT", option.name),
    };
    let mut text = String::from("## Options\n\n");
    for option in options {
        let when = match option.side {
            Side::Read => "reading",
            Side::Write => "writing",
            Side::Both => "reading and writing",
        };
        text.push_str(&format!("  {}\n      {} ({when})\n", takes(option), option.help));
    }
    text
}
