//! Builds the rules from the command line and from files of pairs.

use super::args::Replace;
use crate::report::{Abort, io_reason, usage_text_error};
use icecore_csv::{Cell, Dialect, Next, Scanner};
use icecore_replace::{Builder, Rules};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Returns the rules and the inputs.
pub fn build_rules(args: &Replace) -> Result<(Rules, Vec<PathBuf>), Abort> {
    if are_words_inputs(args) {
        return Ok((Rules::without_pairs(), args.words.iter().map(PathBuf::from).collect()));
    }
    let mut builder = Rules::builder().regex(args.regex).ignore_case(args.ignore_case);
    let mut words = &args.words[..];
    if args.pairs.is_empty() && args.url.is_empty() && args.file.is_none() {
        let [old, new, rest @ ..] = words else {
            return Err(usage_text_error(
                "OLD and NEW are missing: icecore replace OLD NEW [FILE]..., or -e OLD NEW, --pairs FILE, --url OLD NEW",
            ));
        };
        if rest.is_empty() && Path::new(new).exists() {
            let (old, new) = (printable_word(old), printable_word(new));
            let text = format!(
                "NEW is missing, as `{new}` is a file: icecore replace {old} NEW {new}. If {new} is the new text: icecore \
                 replace {old} {new} -, where - is the standard input"
            );
            return Err(usage_text_error(text));
        }
        if let [.., last] = rest
            && Path::new(old).is_file()
            && !Path::new(last).exists()
            && last != "-"
        {
            let file = printable_word(old);
            return Err(usage_text_error(format!(
                "OLD and NEW come before the file: icecore replace {} {} {file}",
                printable_word(new),
                printable_word(last)
            )));
        }
        builder = builder.pair(word_bytes(old)?, word_bytes(new)?);
        words = rest;
    }
    for pair in args.pairs.chunks_exact(2) {
        builder = builder.pair(word_bytes(&pair[0])?, word_bytes(&pair[1])?);
    }
    for pair in args.url.chunks_exact(2) {
        builder = builder.url(word_bytes(&pair[0])?, word_bytes(&pair[1])?);
    }
    if let Some(file) = &args.file {
        builder = add_file_pairs(file, builder)?;
    }
    let rules = builder.build().map_err(|error| usage_text_error(error.to_string()))?;
    Ok((rules, words.iter().map(PathBuf::from).collect()))
}

/// Returns true if all words of the command line are inputs. This is possible only with --mend and without pairs,
/// when nothing needs to be replaced. If one of the words is not a file, the first two are OLD and NEW.
fn are_words_inputs(args: &Replace) -> bool {
    let is_input = |word: &OsString| word == "-" || Path::new(word).exists();
    let has_pairs = !args.pairs.is_empty() || !args.url.is_empty() || args.file.is_some();
    args.mend && !has_pairs && args.words.iter().all(is_input)
}

fn printable_word(word: &OsString) -> String {
    icecore::text::printable(&word.to_string_lossy()).into_owned()
}

#[cfg(unix)]
fn word_bytes(word: &OsString) -> Result<Vec<u8>, Abort> {
    use std::os::unix::ffi::OsStrExt;
    Ok(OsStr::as_bytes(word).to_vec())
}

#[cfg(not(unix))]
fn word_bytes(word: &OsString) -> Result<Vec<u8>, Abort> {
    let text = OsStr::to_str(word).ok_or_else(|| usage_text_error("OLD and NEW must be Unicode"))?;
    Ok(text.as_bytes().to_vec())
}

/// Reads the pairs of a file.
fn add_file_pairs(file: &Path, mut builder: Builder) -> Result<Builder, Abort> {
    let name = file.display();
    let bytes = std::fs::read(file).map_err(|error| usage_text_error(format!("{name}: {}", io_reason(&error))))?;
    let bytes = bytes.strip_prefix(icecore_tables::byte_order_mark::MARK).unwrap_or(&bytes);
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    let pairs = match &*extension {
        "json" => parse_json_pairs(bytes),
        "csv" => parse_csv_pairs(bytes),
        _ => parse_line_pairs(bytes),
    };
    for (old, new) in pairs.map_err(|reason| usage_text_error(format!("{name}: {reason}")))? {
        builder = builder.pair(old, new);
    }
    Ok(builder)
}

/// Old and new texts, or why they can't be read.
type PairsResult = Result<Vec<(Vec<u8>, Vec<u8>)>, String>;

/// Reads `{"old": "new", …}`.
fn parse_json_pairs(bytes: &[u8]) -> PairsResult {
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(bytes).map_err(|error| format!("not a JSON object: {error}"))?;
    let to_pair = |(old, new): (String, serde_json::Value)| match new {
        serde_json::Value::String(new) => Ok((old.into_bytes(), new.into_bytes())),
        _ => Err(format!("the replacement of `{old}` is not a string")),
    };
    object.into_iter().map(to_pair).collect()
}

/// Reads a table of two columns.
fn parse_csv_pairs(bytes: &[u8]) -> PairsResult {
    // The bytes are the whole file, and nothing is known about the contents of its cells.
    let is_all = true;
    let detected_dialect = icecore_csv::detect_dialect(bytes, is_all, &mut |_| false).ok();
    let start = detected_dialect.map_or(0, |dialect| dialect.start);
    let rest = bytes.get(start..).unwrap_or_default();
    let standard_result = read_csv_pairs(rest, Dialect::RFC_4180);
    // A table of another dialect has no two columns if it is read as RFC 4180.
    let in_detected_dialect = || read_csv_pairs(rest, detected_dialect?.dialect).ok();
    standard_result.or_else(|error| in_detected_dialect().ok_or(error))
}

fn read_csv_pairs(mut rest: &[u8], dialect: Dialect) -> PairsResult {
    let scanner = Scanner::new(dialect);
    let (mut cells, mut pairs) = (Vec::new(), Vec::new());
    let is_end = true;
    while let Next::Row { end } = scanner.next_row(rest, is_end, &mut cells) {
        let text = |cell: &Cell| dialect.decode_cell(cell, rest).into_owned();
        match &cells[..] {
            [old, new] if !old.is_broken && !new.is_broken => pairs.push((text(old), text(new))),
            [empty] if empty.range.is_empty() => {}
            _ => return Err(format!("row {} must have exactly two columns, OLD and NEW", pairs.len() + 1)),
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    Ok(pairs)
}

/// Reads lines of OLD, a tab, NEW.
fn parse_line_pairs(bytes: &[u8]) -> PairsResult {
    let mut pairs = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let mut cells = line.split(|byte| *byte == b'\t');
        let (Some(old), Some(new), None) = (cells.next(), cells.next(), cells.next()) else {
            return Err(format!("line {} is not OLD, a tab and NEW", index + 1));
        };
        pairs.push((unescape_cell(old), unescape_cell(new)));
    }
    Ok(pairs)
}

/// Replaces the escapes `\t`, `\n`, `\r` and `\\`. Other backslashes stay.
fn unescape_cell(cell: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(cell.len());
    let mut rest = cell.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest.next() {
            Some(b't') => out.push(b'\t'),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b'\\') | None => out.push(b'\\'),
            Some(other) => out.extend_from_slice(&[b'\\', other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: PairsResult) -> Result<Vec<(String, String)>, String> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        pairs.map(|pairs| pairs.into_iter().map(|(old, new)| (text(old), text(new))).collect())
    }

    fn pair(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    #[test]
    fn pairs_are_read_from_lines_csv_and_json() {
        assert_eq!(
            texts(parse_line_pairs(b"a\tb\r\n\nc\\td\\\\\t\\x\n")),
            Ok(vec![pair("a", "b"), pair("c\td\\", "\\x")])
        );
        assert_eq!(texts(parse_line_pairs(b"a\tb\nc\n")), Err("line 2 is not OLD, a tab and NEW".to_owned()));
        assert_eq!(texts(parse_csv_pairs(b"a,\"b,\"\"c\"\"\"\nd,\n")), Ok(vec![pair("a", "b,\"c\""), pair("d", "")]));
        assert_eq!(
            texts(parse_csv_pairs(b"a,b\nc,d,e\n")),
            Err("row 2 must have exactly two columns, OLD and NEW".to_owned())
        );
        assert_eq!(
            texts(parse_csv_pairs(b"a,b,c,d,e,f\n")),
            Err("row 1 must have exactly two columns, OLD and NEW".to_owned())
        );
        assert_eq!(texts(parse_json_pairs(br#"{"a": "b", "c": ""}"#)), Ok(vec![pair("a", "b"), pair("c", "")]));
        assert_eq!(texts(parse_json_pairs(br#"{"a": 1}"#)), Err("the replacement of `a` is not a string".to_owned()));
    }
}
