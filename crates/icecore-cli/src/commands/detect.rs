//! `icecore detect`

use crate::arguments::Global;
use crate::foreign_input::ForeignInput;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report};
use crate::source::Source;
use clap::{Args, ValueHint};
use icecore::detect::{self, DamageCause, DetectedDamage, Finding};
use icecore::format::Certainty;
use icecore_tables::unicode::WideEncoding;
use serde::Serialize;
use std::path::PathBuf;

/// Show what files are: format, version, wrappers, and how certain that is
///
/// A format without a signature is named only after all of the bytes were examined. `sure`: it has a signature, or all
/// of it was checked; `likely`: its structure fits; `possible`: other data looks like this, too. Of a very large file,
/// only the first 16 MiB are examined.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Detect {
    /// Files, or folders with all files in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore detect unknown.bin
  icecore detect --json /var/cache | jq -r 'select(.format == \"storable\") | .file'";

/// Maximum number of bytes of a file that are examined.
const MAX_HEAD_LEN: u64 = 16 << 20;

/// The object that `--json` prints for a file.
#[derive(Serialize)]
struct DetectionRow<'a> {
    file: &'a str,
    format: Option<&'a str>,
    title: Option<&'a str>,
    variant: Option<&'a str>,
    wrappers: &'a [&'a str],
    certainty: Option<&'a str>,
    readable: bool,
    /// What probably happened to it, if it can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<DamageRow>,
    /// Commands that read it, if it is not a document of a format.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    commands: &'a [&'a str],
}

/// What probably happened to a file.
#[derive(Serialize)]
struct DamageRow {
    cause: &'static str,
    /// The stage of the undamaged bytes.
    stage: String,
}

pub fn run(args: &Detect, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let sources = Source::find_all(&args.files, report);
    let paint = Paint::new(global.color, &std::io::stdout());
    let mut writer = OutputWriter::for_report(args.json, global.color);
    for source in &sources {
        report.count_input();
        let name = source.name();
        let (head, is_complete) = match source.read_head(MAX_HEAD_LEN) {
            Ok(head) => head,
            Err(error) => {
                report.report_io_error(&name, &error);
                continue;
            }
        };
        let finding = if is_complete { icecore::identify(&head) } else { icecore::detect::identify_head(&head) };
        let is_sure = finding.as_ref().is_some_and(|finding| finding.certainty == Certainty::Sure);
        if let Some(encoding) = WideEncoding::from_head(&head, is_complete).filter(|_| !is_sure) {
            let (title, certainty) = (format!("text in {}", encoding.describe()), encoding.certainty());
            if args.json {
                writer.write_json(&wide_text_row(&name, encoding, &title))?;
                writer.write_text("\n")?;
            } else {
                let file = icecore::text::printable(&name);
                let note = format!("({}; recognised, `replace` and `rows` read it)", certainty.as_str());
                writer.write_text(&format!(
                    "{file}: {} {}\n",
                    paint.ink(Ink::Name, title),
                    paint.ink(Ink::Faint, note)
                ))?;
            }
            continue;
        }
        let is_read = finding.as_ref().is_some_and(is_readable);
        let foreign = if is_read { None } else { ForeignInput::detect_kind(&name, &head, is_complete) };
        let damage = if is_complete && foreign.is_none() { detect::find_damage(&head) } else { None };
        if args.json {
            writer.write_json(&detection_row(&name, finding.as_ref(), damage.as_ref(), foreign))?;
            writer.write_text("\n")?;
        } else {
            writer.write_text(&format_line(&name, finding.as_ref(), damage.as_ref(), foreign, paint))?;
        }
    }
    writer.flush()
}

fn is_readable(finding: &Finding) -> bool {
    finding.is_read
}

/// Returns the row for text in UTF-16 or UTF-32.
fn wide_text_row<'a>(file: &'a str, encoding: WideEncoding, title: &'a str) -> DetectionRow<'a> {
    DetectionRow {
        file,
        format: Some(encoding.units.name()),
        title: Some(title),
        variant: None,
        wrappers: &[],
        certainty: Some(encoding.certainty().as_str()),
        readable: false,
        damage: None,
        commands: &["rows", "replace"],
    }
}

fn detection_row<'a>(
    file: &'a str,
    finding: Option<&'a Finding>,
    damage: Option<&DetectedDamage>,
    foreign: Option<ForeignInput>,
) -> DetectionRow<'a> {
    DetectionRow {
        file,
        format: finding.map(|finding| finding.name),
        title: finding.map(|finding| finding.title).or(foreign.map(|foreign| foreign.title)),
        variant: finding.map(|finding| &*finding.variant).filter(|variant| !variant.is_empty()),
        wrappers: finding.map_or(&[], |finding| &finding.wrappers),
        certainty: finding.map(|finding| finding.certainty.as_str()),
        readable: finding.is_some_and(is_readable),
        damage: damage.map(|damage| DamageRow { cause: damage.cause.as_str(), stage: damage.stage.name().to_string() }),
        commands: foreign.map_or(&[], |foreign| foreign.commands),
    }
}

/// Returns what happened to a file, and for an unknown version which one that is.
fn describe_damage(damage: &DetectedDamage) -> String {
    let error = damage.error.as_ref().filter(|_| damage.cause == DamageCause::Unsupported);
    let details = error.and_then(|error| Some((error.expected()?, error.found()?)));
    let cause = damage.cause.describe();
    details.map_or(cause.to_owned(), |(expected, found)| {
        format!("{cause}: expected {expected}, found {}", icecore::text::printable(found))
    })
}

/// Returns the line for a file: `FILE: gzip/storable, file, 2.11 (sure; recognised, not read)`.
fn format_line(
    file: &str,
    finding: Option<&Finding>,
    damage: Option<&DetectedDamage>,
    foreign: Option<ForeignInput>,
    paint: Paint,
) -> String {
    let file = icecore::text::printable(file);
    let commands_note = foreign.map(|foreign| {
        let commands: Vec<String> = foreign.commands.iter().map(|command| format!("`{command}`")).collect();
        format!("{} read{} it", commands.join(" and "), if commands.len() == 1 { "s" } else { "" })
    });
    let Some(finding) = finding else {
        return match (foreign, commands_note) {
            (Some(foreign), Some(commands_note)) => {
                let note = paint.ink(Ink::Faint, format!("(no format of its own; {commands_note})"));
                format!("{file}: {} {note}\n", paint.ink(Ink::Name, foreign.title))
            }
            _ => match damage {
                Some(damage) => {
                    let remedy = damage.cause.remedy().map_or(String::new(), |remedy| format!("; {remedy}"));
                    let note = paint.ink(Ink::Faint, format!("(possible{remedy})"));
                    let name = paint.ink(Ink::Name, damage.stage.name().to_string());
                    format!("{file}: {name}, {} {note}\n", describe_damage(damage))
                }
                None => format!("{file}: {}\n", paint.ink(Ink::Faint, "unknown")),
            },
        };
    };
    let path: Vec<_> = finding.wrappers.iter().copied().chain([finding.name]).collect();
    let title = if finding.format.is_some() { String::new() } else { format!(" ({})", finding.title) };
    let variant = if finding.variant.is_empty() {
        String::new()
    } else {
        format!(", {}", icecore::text::printable(&finding.variant))
    };
    let damage_note = damage.map_or(String::new(), |damage| format!(", {}", describe_damage(damage)));
    let read_note = match (is_readable(finding), finding.format) {
        (true, _) => String::new(),
        (false, Some(_)) => "; recognised, unwrap it to read it".to_owned(),
        (false, None) => commands_note
            .map_or("; recognised, not read".to_owned(), |commands_note| format!("; recognised, {commands_note}")),
    };
    let certainty = format!("({}{read_note})", finding.certainty.as_str());
    format!(
        "{file}: {}{title}{variant}{damage_note} {}\n",
        paint.ink(Ink::Name, path.join("/")),
        paint.ink(Ink::Faint, certainty)
    )
}
