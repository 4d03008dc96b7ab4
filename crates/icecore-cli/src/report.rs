//! Errors, losses and notes on stderr, and the exit code.

use crate::hints::{explain_missing_file, explain_unknown_option, suggest_path};
use crate::paint::{Ink, Paint};
use crate::report_message::{EndMessage, ReportForm, ReportMessage};
use crate::screen;
use crate::signals::SignalError;
use icecore::deep::Deep;
use icecore::{Error, ErrorKind, Losses, Stage, value::Repair};
pub use icecore_tables::error::io_reason;
use icecore_tables::tally::REFUSED;
use std::collections::HashSet;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The exit codes.
pub mod code {
    /// A loss under `--strict`, or something that the command looks for, such as a difference.
    pub const FINDING: u8 = 1;
    /// Wrong usage, or a file that can't be read or written.
    pub const USAGE: u8 = 2;
    /// Some input can't be decoded.
    pub const INPUT: u8 = 4;
    /// Anything else.
    pub const OTHER: u8 = 5;
}

/// Why a command stops.
#[derive(Debug)]
pub enum Abort {
    /// The program that reads the output closed it. This is not an error.
    Closed,
    /// The command can't continue: the exit code, and the reason.
    Failed(u8, String),
}

impl From<SignalError> for Abort {
    fn from(error: SignalError) -> Abort {
        Abort::Failed(code::OTHER, error.to_string())
    }
}

impl From<icecore_tables::Error> for Abort {
    fn from(error: icecore_tables::Error) -> Abort {
        use icecore_tables::Error;
        match error {
            Error::Usage(text) => Abort::Failed(code::USAGE, text),
            Error::Input(text) => Abort::Failed(code::INPUT, text),
            Error::Other(text) => Abort::Failed(code::OTHER, text),
        }
    }
}

/// Prints reports, counts them, and determines the exit code.
pub struct Report {
    paint: Paint,
    quiet: bool,
    form: ReportForm,
    exit_code: u8,
    /// Number of inputs that were tried.
    input_count: u64,
    /// Number of inputs that could not be decoded.
    undecodable_count: u64,
    /// Number of inputs that could not be read, or whose result could not be written.
    failed_count: u64,
    /// Whether every irregularity is reported, even if nothing is lost.
    pub is_strict: bool,
    /// Advice on how to keep class names, which is printed once.
    pub class_advice: Option<&'static str>,
    /// Whether the command has an option `-o`.
    pub has_output_option: bool,
    /// Whether a suggestion for unreadable documents was printed. Only the first one is printed.
    has_printed_suggestion: bool,
    /// The documents whose repairs were reported: the name of the input, and the offset in it.
    reported_repairs: HashSet<(String, usize)>,
    /// The input whose losses were reported last, and the number of inputs with losses.
    last_lossy_input: String,
    lossy_input_count: u64,
    /// The losses of all inputs after [`MAX_LOSSY_INPUTS`]. They are printed together, at the end.
    remaining_losses: Losses,
}

/// Maximum number of inputs whose losses are printed one by one.
const MAX_LOSSY_INPUTS: u64 = 10;

/// Maximum number of repairs of a document that are printed one by one.
const MAX_PRINTED_REPAIRS: usize = 20;

impl Report {
    pub fn new(paint: Paint, quiet: bool, form: ReportForm) -> Report {
        Report {
            paint,
            quiet,
            form,
            exit_code: 0,
            input_count: 0,
            undecodable_count: 0,
            failed_count: 0,
            is_strict: false,
            class_advice: None,
            has_output_option: false,
            has_printed_suggestion: false,
            reported_repairs: HashSet::new(),
            last_lossy_input: String::new(),
            lossy_input_count: 0,
            remaining_losses: Losses::default(),
        }
    }

    /// Counts an input that is tried.
    pub fn count_input(&mut self) {
        self.input_count += 1;
    }

    /// Reports something wrong; the command continues.
    pub fn report_fault(&mut self, code: u8, name: &str, message: impl Display) {
        self.exit_code = self.exit_code.max(code);
        self.failed_count += u64::from(code == code::USAGE);
        self.print_message(&ReportMessage::error(code, message.to_string()).for_input(name));
    }

    /// Reports an input that is not tried, because its result can't be written.
    pub fn report_refused_output(&mut self, code: u8, name: &str, message: impl Display) {
        self.count_input();
        self.report_fault(code, name, message);
    }

    /// Reports a file that can't be read or written.
    pub fn report_io_error(&mut self, name: &str, error: &io::Error) {
        self.exit_code = self.exit_code.max(code::USAGE);
        self.failed_count += 1;
        // Long data is not even a valid name of a file.
        let is_missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename);
        let may_be_output = self.has_output_option && self.input_count > 1 && Path::new(name).extension().is_some();
        let hint = match may_be_output {
            _ if !is_missing => None,
            true => explain_missing_file(name).or_else(|| Some(format!("to write this file: `-o {name}`"))),
            false => explain_missing_file(name),
        };
        let reason = hint.map_or_else(|| io_reason(error), |hint| format!("{}; {hint}", io_reason(error)));
        self.print_message(&ReportMessage::error(code::USAGE, reason).with_kind("io").for_input(name));
    }

    /// Reports an input that can't be read.
    pub fn report_unreadable(&mut self, name: &str, error: &Error, bytes: &[u8]) {
        self.report_unreadable_record(name, None, error, bytes);
    }

    /// Like [`Report::report_unreadable`], for the document with this number, from 1 on, if an input has several.
    pub fn report_unreadable_record(&mut self, name: &str, record: Option<u64>, error: &Error, bytes: &[u8]) {
        let code = if error.kind() == ErrorKind::Usage { code::USAGE } else { code::INPUT };
        self.undecodable_count += u64::from(code == code::INPUT);
        self.failed_count += u64::from(code == code::USAGE);
        self.report_error(code, name, record, error);
        if let Some(offset) = error.offset() {
            self.print_excerpt(&icecore::text::window(bytes, offset));
        }
    }

    /// Shows the bytes around an error in a record that starts at offset `start` of the input.
    pub fn print_error_excerpt(&mut self, error: &Error, bytes: &[u8], start: u64) {
        if let (Some(offset), None) = (error.offset(), error.layer()) {
            self.print_excerpt(&icecore::text::window_from(bytes, start, offset));
        }
    }

    /// Counts an input with records that can't be decoded.
    pub fn count_undecodable_input(&mut self) {
        self.undecodable_count += 1;
    }

    /// Returns true if an input could not be decoded.
    pub fn has_undecodable_inputs(&self) -> bool {
        self.undecodable_count > 0
    }

    /// Raises the exit code to at least this one.
    pub fn raise_exit_code(&mut self, code: u8) {
        self.exit_code = self.exit_code.max(code);
    }

    /// Reports a document that can't be written.
    pub fn report_unwritable(&mut self, name: &str, error: &Error) {
        let code = match error.kind() {
            ErrorKind::Usage => code::USAGE,
            ErrorKind::Limit => code::INPUT,
            _ => code::OTHER,
        };
        self.undecodable_count += u64::from(code == code::INPUT);
        self.failed_count += u64::from(code != code::INPUT);
        self.report_error(code, name, None, error);
    }

    fn report_error(&mut self, code: u8, name: &str, record: Option<u64>, error: &Error) {
        self.exit_code = self.exit_code.max(code);
        let message = match record {
            Some(record) => ReportMessage::error(code, format!("record {record}: {error}"))
                .with_error(error)
                .in_record(record, None),
            None => ReportMessage::error(code, error.to_string()).with_error(error),
        };
        self.print_message(&message.for_input(name));
    }

    fn print_excerpt(&self, excerpt: &str) {
        if self.form == ReportForm::Json {
            return;
        }
        let mut text = String::new();
        for line in excerpt.lines() {
            // This line marks the byte to which the error refers.
            let line = if line.ends_with("^^") { self.paint.ink(Ink::Bad, line) } else { line.to_owned() };
            text.push_str(&format!("  {line}\n"));
        }
        screen::write_message(text.as_bytes());
    }

    /// Reports that a checksum or signature of the input was not checked.
    pub fn report_unchecked(&mut self, name: &str, check_name: &str) {
        self.report_note(name, "unchecked", format!("the {check_name} was not checked: no key was given"));
    }

    /// Writes a note about an input, unless `--quiet` was given.
    pub fn report_note(&self, name: &str, kind: &str, message: String) {
        if !self.quiet {
            self.print_message(&ReportMessage::note(kind, message).for_input(name));
        }
    }

    /// Returns true if notes are printed.
    pub fn prints_notes(&self) -> bool {
        !self.quiet
    }

    /// Reports how much of an input was changed.
    pub fn report_done(&mut self, name: &str, count: u64, message: String) {
        if !self.quiet {
            self.print_message(&ReportMessage::note("done", message).with_count(count).for_input(name));
        }
    }

    /// Suggests once how to write the readable part of an input that breaks off.
    pub fn suggest_partial(&mut self, name: &str) {
        self.suggest_once(name, "`icecore convert --partial` writes the part that can be read");
    }

    /// Suggests once how to go on after a record that can't be read.
    pub fn suggest_keep_going(&mut self, name: &str) {
        self.suggest_once(name, "`icecore convert --each --keep-going` continues with the next document");
    }

    /// Suggests once how to read documents, one per line, of which one can't be read.
    pub fn suggest_each(&mut self, name: &str) {
        self.suggest_once(name, "--each reads the lines one by one, and goes on after one that can't be read");
    }

    fn suggest_once(&mut self, name: &str, text: &str) {
        if !std::mem::replace(&mut self.has_printed_suggestion, true) {
            self.report_note(name, "partial", text.to_owned());
        }
    }

    /// Writes a note about the whole command, unless `--quiet` was given.
    pub fn report_command_note(&self, kind: &str, message: String) {
        if !self.quiet {
            self.print_message(&ReportMessage::note(kind, message));
        }
    }

    /// Reports that the string at `path` is frozen data that was not decoded.
    pub fn report_nested(&self, name: &str, path: &str, stage: &Stage) {
        if !self.quiet {
            let message = format!(
                "the string at {path} is frozen data itself ({}), and there may be more: --deep opens them",
                stage.name()
            );
            self.print_message(&ReportMessage::note("nested", message).at_path(path).for_input(name));
        }
    }

    /// With --strict, reports that blanks after a document were ignored.
    pub fn report_ignored_blanks(&self, name: &str, count: usize) {
        if self.is_strict {
            let blanks = if count == 1 { "blank" } else { "blanks" };
            self.print_message(
                &ReportMessage::note("blanks", format!("{count} {blanks} after the document ignored")).for_input(name),
            );
        }
    }

    /// Reports the changes that were necessary to read a document, which starts at `start`. They are reported even with
    /// `--quiet`, because nothing else shows them.
    pub fn report_repairs(&mut self, name: &str, start: usize, repairs: &[Repair]) {
        if repairs.is_empty() || !self.reported_repairs.insert((name.to_owned(), start)) {
            return;
        }
        let print_note =
            |message: String| self.print_message(&ReportMessage::note("repaired", message).for_input(name));
        if let Some(explanation) = repairs.first().and_then(|repair| repair.explanation.as_deref()) {
            let warning = if explanation.is_guess { "warning: " } else { "" };
            print_note(format!("repaired: {warning}{explanation} ({})", explanation.name));
        }
        for repair in repairs.iter().take(MAX_PRINTED_REPAIRS) {
            print_note(format!("repaired: {repair}"));
        }
        if let Some(remaining_count) =
            repairs.len().checked_sub(MAX_PRINTED_REPAIRS).filter(|remaining_count| *remaining_count > 0)
        {
            print_note(format!("repaired: {remaining_count} more lengths, {} in total", repairs.len()));
        }
    }

    /// Reports what the target format could not represent.
    pub fn report_losses(&mut self, name: &str, losses: &Losses) {
        let strict = false;
        self.report_or_refuse_losses(name, losses, strict);
    }

    /// Reports what the target format could not represent. If `strict` is true, these are errors, and the exit
    /// code says so.
    pub fn report_or_refuse_losses(&mut self, name: &str, losses: &Losses, strict: bool) {
        if strict && !losses.is_empty() {
            self.exit_code = self.exit_code.max(code::FINDING);
        }
        if self.quiet && !strict {
            return;
        }
        if !losses.is_empty() && self.last_lossy_input != name {
            self.last_lossy_input = name.to_owned();
            self.lossy_input_count += 1;
        }
        if self.lossy_input_count > MAX_LOSSY_INPUTS && self.form == ReportForm::Text && !strict {
            self.remaining_losses.merge(losses.clone());
            return;
        }
        for loss in losses.iter() {
            let mut message = ReportMessage::from(loss).for_input(name);
            if strict {
                message.message.insert_str(0, REFUSED);
                message = message.with_code(code::FINDING);
            }
            self.print_message(&message);
        }
        if self.form == ReportForm::Text
            && losses.iter().any(|loss| loss.kind == icecore::LossKind::Class)
            && let Some(advice) = self.class_advice.take()
        {
            self.report_note(name, "class", advice.to_owned());
        }
    }

    /// Reports how many strings were frozen data and were decoded.
    pub fn report_opened_strings(&self, name: &str, deep: &Deep<'_>) {
        let Some(first) = deep.opened.first().filter(|_| !self.quiet) else { return };
        let mut formats: Vec<(String, u64)> = Vec::new();
        for opened in &deep.opened {
            let format = opened.name();
            match formats.iter_mut().find(|(known, _)| *known == format) {
                Some((_, count)) => *count += 1,
                None => formats.push((format, 1)),
            }
        }
        let formats: Vec<_> = formats.iter().map(|(format, count)| format!("{count} {format}")).collect();
        let strings = if deep.opened.len() == 1 { "string" } else { "strings" };
        let (count, path) = (deep.opened.len(), deep.document.path(first.node));
        let message = format!("{count} {strings} opened ({}), first at {path}", formats.join(", "));
        self.print_message(
            &ReportMessage::note("opened", message).with_count(count as u64).at_path(&path).for_input(name),
        );
    }

    /// Writes a report on a line of its own. Control characters of names and data are escaped.
    pub fn print_message(&self, message: &ReportMessage<'_>) {
        match self.form {
            ReportForm::Text => screen::write_message(message.format_line(self.paint).as_bytes()),
            ReportForm::Json => self.print_json_line(message),
        }
    }

    fn print_json_line(&self, value: &impl serde::Serialize) {
        let mut line = Vec::new();
        // Writing to a vector can't fail.
        let _ = crate::json::push_value(value, &mut line);
        line.push(b'\n');
        screen::write_message(&line);
    }

    /// Reports that an input has nothing on a path.
    pub fn report_absent_path(&mut self, name: &str, path: &str, reason: Option<&Error>) {
        let message = match reason {
            Some(reason) => {
                format!(
                    "expected {}, found {}",
                    reason.expected().unwrap_or_default(),
                    reason.found().unwrap_or_default()
                )
            }
            None => format!("nothing at `{path}`"),
        };
        let message = match suggest_path(path) {
            Some(suggestion) => format!("{message}; did you mean `{suggestion}`?"),
            None => message,
        };
        self.raise_exit_code(code::FINDING);
        self.print_message(
            &ReportMessage::error(code::FINDING, message).with_kind("absent").at_path(path).for_input(name),
        );
    }

    /// Prints the last reports, and returns the exit code.
    pub fn finish(mut self, result: Result<(), Abort>) -> ExitCode {
        match result {
            Ok(()) => {}
            Err(Abort::Closed) => return ExitCode::SUCCESS,
            Err(Abort::Failed(code, message)) => {
                self.exit_code = self.exit_code.max(code);
                self.print_message(&ReportMessage::error(code, message));
            }
        }
        let input_count = self.lossy_input_count.saturating_sub(MAX_LOSSY_INPUTS);
        let inputs = if input_count == 1 { "input" } else { "inputs" };
        for loss in self.remaining_losses.iter() {
            let (count, losses) = (loss.count, loss.kind.describe(loss.count));
            let message = format!("{input_count} more {inputs}: {count} {losses}");
            self.print_message(&ReportMessage::note(loss.kind.as_str(), message));
        }
        if self.form == ReportForm::Json {
            self.print_json_line(&EndMessage::new(
                self.exit_code,
                self.input_count,
                self.undecodable_count,
                self.failed_count,
            ));
        } else if self.undecodable_count > 0 && self.input_count > 1 {
            let (bad, total) = (self.undecodable_count, self.input_count);
            let more = match self.failed_count {
                0 => String::new(),
                failed => format!(", and {failed} can't be read or written"),
            };
            self.print_message(&ReportMessage::note(
                "undecodable",
                format!("{bad} of {total} inputs can't be decoded{more}"),
            ));
        }
        ExitCode::from(self.exit_code)
    }
}

/// Returns the error for a mistake on the command line, with this text.
pub fn usage_text_error(text: impl Into<String>) -> Abort {
    Abort::Failed(code::USAGE, text.into())
}

/// Returns the error for a mistake on the command line. The prefix `wrong option: ` is removed, because the exit code
/// says that already.
pub fn usage_error(error: Error) -> Abort {
    let text = explain_unknown_option(&error).unwrap_or_else(|| error.to_string());
    usage_text_error(text.strip_prefix("wrong option: ").unwrap_or(&text))
}
