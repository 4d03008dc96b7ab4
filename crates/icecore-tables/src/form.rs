//! The form of an input.

use crate::error::{Error, Result};
use icecore::format::Certainty;
use icecore::{Stage, detect};
use icecore_sql::Next;
use std::path::Path;

/// Minimum length at which a text that begins like a document is taken for one.
const CONCLUSIVE_LEN: usize = 32 << 10;
/// A single JSON value.
pub const JSON: &str = "json";
/// One JSON value per line.
pub const NDJSON: &str = "ndjson";

/// The form of an input.
#[derive(Clone, Debug)]
pub enum InputForm {
    /// A dump of a database.
    Sql,
    /// A table with a delimiter and quotes.
    Csv,
    /// A table with tabs.
    Tsv,
    /// A JSON value on each line.
    Ndjson,
    /// Any text.
    Text,
    /// One or more documents of a format.
    Document(Stage),
}

impl InputForm {
    /// Parses the value of `--in`.
    pub fn parse(text: &str) -> Result<InputForm> {
        Ok(match text {
            "sql" => InputForm::Sql,
            "csv" => InputForm::Csv,
            "tsv" => InputForm::Tsv,
            NDJSON => InputForm::Ndjson,
            "text" => InputForm::Text,
            format => match Stage::parse(format) {
                Ok(stage) => InputForm::Document(stage),
                Err(error) => {
                    let text = format!("--in takes sql, csv, tsv, ndjson, text or a format: {error}");
                    return Err(Error::Usage(text));
                }
            },
        })
    }

    /// Returns the name for reports.
    pub fn name(&self) -> String {
        match self {
            InputForm::Sql => "sql".to_owned(),
            InputForm::Csv => "csv".to_owned(),
            InputForm::Tsv => "tsv".to_owned(),
            InputForm::Ndjson => NDJSON.to_owned(),
            InputForm::Text => "text".to_owned(),
            InputForm::Document(stage) => stage.name(),
        }
    }

    /// Guesses the form by the first bytes of a file and its name. Returns `None` if they are not conclusive.
    /// `is_all` means that there are no more bytes.
    ///
    /// The contents decide, because people name files as they like. The name decides between several readings of the
    /// same bytes.
    pub fn guess(name: &str, head: &[u8], is_all: bool) -> Option<InputForm> {
        let named = InputForm::from_file_name(name);
        if matches!(named, Some(InputForm::Sql)) && !begins_sql(head) && !has_rows(head) && !is_only_comments(head) {
            // The file has no statement that changes anything, so its name is not trusted.
            let other = InputForm::guess("", head, is_all)?;
            return matches!(other, InputForm::Document(_)).then_some(other);
        }
        let frozen = detect_stage(head, is_all).filter(|stage| named.is_none() || is_conclusive(head, is_all, stage));
        match (named, frozen) {
            // A single line of JSON is a document as well.
            (Some(InputForm::Ndjson), Some(stage)) if stage.format().name == JSON => Some(InputForm::Ndjson),
            (Some(InputForm::Sql), _) | (None | Some(InputForm::Text), _) if begins_sql(head) => Some(InputForm::Sql),
            (_, Some(stage)) => Some(InputForm::Document(stage)),
            (Some(named), None) => Some(named),
            (None, None) if !is_text(head) => None,
            (None, None) if name.to_ascii_lowercase().ends_with(".dump") && has_rows(head) => Some(InputForm::Sql),
            (None, None) => Some(InputForm::Text),
        }
    }

    /// Returns the form that the end of a name indicates.
    fn from_file_name(name: &str) -> Option<InputForm> {
        let name = name.to_ascii_lowercase();
        let unpacked = [".gz", ".zst", ".xz", ".bz2"].into_iter().find_map(|extension| name.strip_suffix(extension));
        let name = unpacked.unwrap_or(&name);
        Some(match Path::new(name).extension()?.to_str()? {
            "sql" | "mysql" | "pgsql" => InputForm::Sql,
            "csv" => InputForm::Csv,
            "tsv" | "tab" => InputForm::Tsv,
            NDJSON | "jsonl" => InputForm::Ndjson,
            "txt" | "html" | "htm" | "xml" | "md" | "css" | "js" | "conf" | "ini" | "yml" | "yaml" => InputForm::Text,
            _ => return None,
        })
    }
}

/// Returns true if the first bytes are certainly a document of this format, even if the file name says otherwise.
fn is_conclusive(head: &[u8], is_all: bool, stage: &Stage) -> bool {
    // A number or a word alone is JSON, but may also be text of any other kind.
    let is_more_than_word = stage.format().name != JSON || matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    // Bytes that only begin like a document may be anything, unless they continue like one for long.
    let is_long = head.len() >= CONCLUSIVE_LEN;
    let is_sure = || detect::identify_head(head).is_some_and(|found| found.certainty == Certainty::Sure);
    is_more_than_word && (is_all || is_long || is_sure())
}

/// Returns the format of an input with this beginning.
pub fn detect_stage(head: &[u8], is_all: bool) -> Option<Stage> {
    if is_all {
        return detect::stage_of(head).ok();
    }
    let found = detect::identify_head(head)?;
    let path: Vec<&str> = found.wrappers.iter().copied().chain([found.name]).collect();
    if found.is_read { Stage::parse(&path.join("/")).ok() } else { None }
}

/// Returns whether no more input is needed to determine its form, because it begins like a dump.
pub fn is_decided(form: Option<&InputForm>, head: &[u8]) -> bool {
    matches!(form, Some(InputForm::Sql)) && begins_sql(head)
}

/// Returns whether this begins like a dump. A dump begins with statements, possibly after comments.
fn begins_sql(head: &[u8]) -> bool {
    /// Words with which no prose begins.
    const SQL_STARTS: [&str; 14] = [
        "/*!",
        "/*M!",
        "-- MySQL dump",
        "-- MariaDB dump",
        "-- PostgreSQL database dump",
        "-- phpMyAdmin",
        "INSERT INTO ",
        "INSERT IGNORE ",
        "REPLACE INTO ",
        "CREATE TABLE ",
        "DROP TABLE ",
        "LOCK TABLES ",
        "START TRANSACTION;",
        "PRAGMA ",
    ];
    /// Words with which prose may also begin.
    const POSSIBLE_SQL_STARTS: [&str; 18] = [
        "INSERT ",
        "REPLACE ",
        "UPDATE ",
        "DELETE FROM ",
        "TRUNCATE ",
        "CREATE ",
        "DROP ",
        "ALTER ",
        "SET ",
        "USE ",
        "COPY ",
        "BEGIN",
        "COMMIT",
        "SELECT ",
        "GRANT ",
        "DELIMITER ",
        "\\connect ",
        "\\restrict ",
    ];
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        let begins =
            |word: &&str| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()));
        if SQL_STARTS.iter().any(begins) {
            return true;
        }
        if POSSIBLE_SQL_STARTS.iter().any(begins) {
            return has_statement(rest);
        }
        let Some(after_comment) = skip_comment(rest) else { return false };
        rest = after_comment;
    }
}

/// Returns whether these bytes contain only comments.
fn is_only_comments(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii();
    while let Some(after_comment) = skip_comment(rest) {
        rest = after_comment.trim_ascii_start();
    }
    // The last line may lack its end.
    rest.is_empty() || (rest.starts_with(b"--") || rest.starts_with(b"#")) && !rest.contains(&b'\n')
}

/// Returns whether these first bytes of a dump contain rows.
pub fn has_rows(head: &[u8]) -> bool {
    let mut reader = icecore_sql::Reader::new();
    loop {
        match reader.next(head, true) {
            Ok(Next::Literal(literal)) if literal.cell.is_some() => return true,
            Ok(Next::Literal(_) | Next::Value(_)) => {}
            Ok(Next::More { .. } | Next::End) | Err(_) => return false,
        }
    }
}

/// Returns whether a line ends with `;`, or the text begins with a command of a client.
fn has_statement(text: &[u8]) -> bool {
    let begins_line =
        |word: &str| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()));
    text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_end().ends_with(b";"))
        || begins_line("DELIMITER ")
        || text.starts_with(b"\\")
}

/// Returns the text after a comment, or `None` if this is not a comment, or one without an end.
fn skip_comment(text: &[u8]) -> Option<&[u8]> {
    let end = match text {
        [b'#', ..] | [b'-', b'-', b' ' | b'\t' | b'\r' | b'\n', ..] => memchr::memchr(b'\n', text)? + 1,
        [b'/', b'*', ..] => memchr::memmem::find(text, b"*/")? + 2,
        [b';', ..] => 1,
        _ => return None,
    };
    text.get(end..)
}

/// Returns whether these bytes are text. Text has no control characters except those of lines. It is valid UTF-8, but
/// the last character may be cut off.
fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    !head.iter().any(is_control) && std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_are_recognized_by_their_beginning() {
        for dump in [
            "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n",
            "-- a comment\n--\n\nINSERT INTO t VALUES (1);",
            "# a comment\r\n/* another\n*/ update t set a='b';\n",
            "INSERT t VALUES(1);",
            "\\connect shop\n",
            "DELIMITER ;;\n",
            "\u{feff}ALTER TABLE t ADD x int;\nINSERT INTO t VALUES (1);\n",
            "SET a = 1;",
        ] {
            assert!(begins_sql(dump.as_bytes()), "{dump}");
        }
        for text in [
            "Use old.example, it's new",
            "# A heading\n\nSet it up; then go on\n",
            "/* a { b: c } */\na { b: c }",
            "--\n",
            "",
        ] {
            assert!(!begins_sql(text.as_bytes()), "{text}");
        }
        assert!(matches!(InputForm::guess("x.sql", b"INSERT t VALUES('\xff')", true), Some(InputForm::Sql)));
        for dump in ["", "\n", "-- nothing", "# nothing\n\n/* at all */ ;\n"] {
            assert!(matches!(InputForm::guess("x.sql", dump.as_bytes(), true), Some(InputForm::Sql)), "{dump}");
        }
        for text in ["Dear all, it's late\n", "a:1:{i:0;i:1;}\na:0:{}\n"] {
            assert!(InputForm::guess("x.sql", text.as_bytes(), true).is_none(), "{text}");
        }
    }
}
