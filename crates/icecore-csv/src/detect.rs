//! Detects the dialect of a file.
//!
//! Every possible dialect reads the sample. A reading is rejected if a cell continues after its last quote, if a quote
//! is never closed, or if a backslash is where the dialect does not write one. The remaining reading with the best
//! evidence is the result. If several readings with the best evidence have different cells, the caller must decide.

use crate::dialect::{Cell, Dialect, Escape, LineEnd};
use crate::scan::{Next, Scanner};
use memchr::{memchr, memmem};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Delimiters to try.
const DELIMITERS: [u8; 6] = [b',', b';', b'\t', b'|', b'^', b'~'];
/// Quotes to try.
const QUOTES: [u8; 2] = [b'"', b'\''];
/// Size of the beginning of a long sample. All dialects read the beginning. If it determines one dialect, the others
/// do not read the rest.
const FRONT_LEN: usize = 32 << 10;
/// Size of the part of a sample that the dialect of the beginning must be able to read, too.
const CHECKED_LEN: usize = 256 << 10;
/// The UTF-8 byte order mark before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The result of detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedDialect {
    /// The dialect.
    pub dialect: Dialect,
    /// Offset of the first row: after a UTF-8 byte order mark, and after the line `sep=;` of a spreadsheet.
    pub start: usize,
}

/// Reason why the dialect of a file is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetectError {
    /// Several dialects read the file with the same evidence, but with different cells.
    Several(Vec<Dialect>),
    /// No dialect can read it.
    None,
}

impl fmt::Display for DetectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DetectError::Several(readings) = self else {
            return f.write_str(
                "it is not CSV of any known kind: a quote is not closed, or something follows a closing quote",
            );
        };
        f.write_str("it can be read in several ways: ")?;
        for (index, dialect) in readings.iter().enumerate() {
            write!(f, "{}{dialect}", if index > 0 { "; or " } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for DetectError {}

/// The evidence for a reading, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Evidence {
    /// Number of cells that are complete values, as the caller's `is_sound` decides.
    sound_cells: u64,
    /// Whether all rows have the same number of cells, and more than one, and quotes only enclose cells.
    is_clean_table: bool,
    quoting: Quoting,
    row_lengths: RowLengths,
}

/// How well the quotes are explained. The later variants are stronger evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Quoting {
    /// Some quotes are text.
    Bare,
    /// Quotes enclose cells.
    Around,
    /// One habit of a program explains which cells are quoted; or there are no quotes.
    Explained,
}

/// The numbers of cells in the rows. The later variants are stronger evidence for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RowLengths {
    /// The rows have different numbers of cells.
    Unequal,
    /// Each row has one cell.
    One,
    /// Each row has the same number of cells, and more than one.
    Equal,
}

/// The quoting habits of programs that explain which cells are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Habits {
    /// Whether all cells are quoted.
    quotes_all: bool,
    /// Whether all cells except numbers and empty ones are quoted.
    quotes_texts: bool,
    /// Whether exactly the cells that need quotes are quoted.
    quotes_needed: bool,
    /// Whether exactly the cells that need quotes and those with a blank, a tab or a backslash are quoted. PHP's
    /// `fputcsv` does this.
    quotes_like_php: bool,
    /// Whether there is a quoted cell that only `fputcsv` quotes.
    has_php_evidence: bool,
}

impl Habits {
    const ANY: Habits = Habits {
        quotes_all: true,
        quotes_texts: true,
        quotes_needed: true,
        quotes_like_php: true,
        has_php_evidence: false,
    };

    fn has_any(&self) -> bool {
        self.quotes_all || self.quotes_texts || self.quotes_needed || self.quotes_like_php
    }

    fn observe_cell(&mut self, dialect: &Dialect, cell: &Cell, text: &[u8]) {
        let needs_quotes =
            |byte: &u8| matches!(*byte, b'\n' | b'\r') || *byte == dialect.delimiter || Some(*byte) == dialect.quote;
        let is_needed = text.iter().any(needs_quotes);
        let is_needed_by_php = is_needed || text.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'\\'));
        let is_number = text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
        self.quotes_all &= cell.is_quoted;
        // `all` is true for no bytes, so an empty cell counts as a number here.
        self.quotes_texts &= cell.is_quoted != is_number;
        self.quotes_needed &= cell.is_quoted == is_needed;
        self.quotes_like_php &= cell.is_quoted == is_needed_by_php;
        self.has_php_evidence |= cell.is_quoted && is_needed_by_php && !is_needed;
    }
}

/// One reading of the sample.
struct Reading {
    dialect: Dialect,
    evidence: Evidence,
    habits: Habits,
    /// Hash of the texts of all cells. Readings with equal hashes count as the same reading.
    digest: u64,
}

/// Detects the dialect of a file. Known parts of the dialect can be given.
///
/// ```
/// use icecore_csv::Detector;
/// let file = b"1;2,3\n4;5,6\n";
/// assert!(Detector::default().detect(file, true, &mut |_| false).is_err());
/// let known = Detector { delimiter: Some(b';'), ..Detector::default() };
/// assert_eq!(known.detect(file, true, &mut |_| false)?.dialect.delimiter, b';');
/// # Ok::<(), icecore_csv::DetectError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detector {
    /// The delimiter, if known.
    pub delimiter: Option<u8>,
    /// The quote, if known; `Some(None)` if it is known that there are no quotes.
    pub quote: Option<Option<u8>>,
    /// The escape, if known.
    pub escape: Option<Escape>,
}

/// Detects the dialect of a file like [`Detector::detect`], but without any known parts.
///
/// # Errors
/// [`DetectError`], with the possible dialects.
pub fn detect_dialect(
    sample: &[u8],
    is_all: bool,
    is_sound: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<DetectedDialect, DetectError> {
    Detector::default().detect(sample, is_all, is_sound)
}

impl Detector {
    /// Detects the dialect of a file that begins with these bytes; `is_all` means that nothing follows them.
    /// `is_sound` returns true if the text of a cell is a complete value, such as a serialized one: wrong readings
    /// cut such values, or leave escapes in them.
    ///
    /// For a file of one column, the delimiter is arbitrary.
    ///
    /// # Errors
    /// [`DetectError`], with the possible dialects.
    pub fn detect(
        &self,
        sample: &[u8],
        is_all: bool,
        is_sound: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<DetectedDialect, DetectError> {
        let mark_len = if sample.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let text = sample.get(mark_len..).unwrap_or_default();
        let line_end = detect_line_end(text);
        let (separator, skipped) = read_separator(text);
        let start = mark_len + skipped;
        let text = text.get(skipped..).unwrap_or_default();
        let detector = Detector { delimiter: self.delimiter.or(separator), ..*self };
        let dialect = match detector.choose_by_beginning(text, line_end, is_all, is_sound) {
            Some(dialect) => dialect,
            None => choose_best_reading(detector.read_all_dialects(text, line_end, is_all, is_sound))?.dialect,
        };
        Ok(DetectedDialect { dialect, start })
    }

    /// Returns the dialect, if the first rows of a long text determine it: only this reading keeps all serialized
    /// values there complete, and it can also read the text after them, up to `CHECKED_LEN` bytes.
    fn choose_by_beginning(
        &self,
        text: &[u8],
        line_end: LineEnd,
        is_all: bool,
        is_sound: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<Dialect> {
        let (front, rest) = text.split_at_checked(FRONT_LEN)?;
        // If a backslash, or one of its pairs, occurs only in the rest, the front says nothing about its meaning.
        let is_only_in_rest = |sign: &[u8]| memmem::find(front, sign).is_none() && memmem::find(rest, sign).is_some();
        if [&b"\\"[..], b"\\\"", b"\\'", b"\\\\"].into_iter().any(is_only_in_rest) {
            return None;
        }
        // The front may end in the middle of a row.
        let is_front_all = false;
        let readings = self.read_all_dialects(front, line_end, is_front_all, is_sound);
        let best = readings.iter().max_by_key(|reading| reading.evidence)?;
        let Reading { dialect, evidence, digest, .. } = *best;
        // Another reading with as many complete values has different cells: the front is ambiguous.
        if readings
            .iter()
            .any(|reading| reading.evidence.sound_cells == evidence.sound_cells && reading.digest != digest)
        {
            return None;
        }
        let is_unambiguous = |evidence: Evidence| evidence.is_clean_table && evidence.quoting == Quoting::Explained;
        let is_checked_completely = is_all && text.len() <= CHECKED_LEN;
        let full_reading =
            Reading::from_text(dialect, text.get(..CHECKED_LEN).unwrap_or(text), is_checked_completely, &mut |_| {
                false
            })?;
        (evidence.sound_cells > 0 && is_unambiguous(evidence) && is_unambiguous(full_reading.evidence))
            .then_some(dialect)
    }

    /// Returns all readings of a text without a contradiction.
    fn read_all_dialects(
        &self,
        text: &[u8],
        line_end: LineEnd,
        is_all: bool,
        is_sound: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Vec<Reading> {
        let mut readings = Vec::new();
        for delimiter in self.candidate_delimiters(text) {
            for (quote, escapes) in self.candidate_quotings(text) {
                let read_with =
                    |escape| Reading::from_text(Dialect { delimiter, quote, escape, line_end }, text, is_all, is_sound);
                let mut new_readings: Vec<Reading> = escapes.into_iter().filter_map(read_with).collect();
                if self.quote.is_none() && quote == Some(b'\'') {
                    // An apostrophe may begin and end a text by coincidence. As a quote it needs a habit that
                    // explains which cells are quoted.
                    new_readings.retain(|reading| reading.habits.has_any());
                }
                if self.escape.is_none() {
                    choose_escape_reading(&mut new_readings);
                }
                readings.append(&mut new_readings);
            }
        }
        readings
    }

    /// Returns the delimiters to try. All delimiters that are not in the text read it as one column, so only the
    /// first of them is tried.
    fn candidate_delimiters(&self, text: &[u8]) -> Vec<u8> {
        if let Some(known) = self.delimiter {
            return vec![known];
        }
        let mut has_absent = false;
        let is_tried = |delimiter: &u8| memchr(*delimiter, text).is_some() || !std::mem::replace(&mut has_absent, true);
        DELIMITERS.into_iter().filter(is_tried).collect()
    }

    /// Returns the quotes to try, with their escapes, the usual ones first.
    fn candidate_quotings(&self, text: &[u8]) -> Vec<(Option<u8>, Vec<Escape>)> {
        let escapes = match (self.escape, memchr(b'\\', text)) {
            (Some(known), _) => vec![known],
            (None, Some(_)) => vec![Escape::Doubled, Escape::PhpFputcsv, Escape::Backslash],
            (None, None) => vec![Escape::Doubled],
        };
        if let Some(known) = self.quote {
            return vec![(known, escapes)];
        }
        let may_be_used = |quote: &u8| *quote == b'"' || memchr(*quote, text).is_some();
        let quoted = QUOTES.into_iter().filter(may_be_used).map(|quote| (Some(quote), escapes.clone()));
        quoted.chain([(None, vec![Escape::Doubled])]).collect()
    }
}

/// Keeps the plausible readings for one delimiter and quote.
///
/// A backslash is usually text, as in paths. So it is read as an escape only if that reading has better evidence than
/// the one that reads it as text. If the evidence is equal, the usual reading is first in the list and is kept. The
/// reading of `fputcsv` is kept alone only if a cell is quoted that only `fputcsv` quotes.
fn choose_escape_reading(readings: &mut Vec<Reading>) {
    readings.retain(|reading| reading.dialect.escape != Escape::PhpFputcsv || reading.habits.quotes_like_php);
    let Some(best) = readings.iter().map(|reading| reading.evidence).max() else { return };
    readings.retain(|reading| reading.evidence == best);
    // `best` is the evidence of one of them, so the list is not empty.
    let is_usual = readings[0].dialect.escape == Escape::Doubled;
    let is_sure = readings[0].dialect.escape == Escape::PhpFputcsv && readings[0].habits.has_php_evidence;
    if is_usual || is_sure {
        readings.truncate(1);
    }
}

/// Returns the reading with the best evidence. Several readings count as one if all their cells have the same texts.
fn choose_best_reading(mut readings: Vec<Reading>) -> Result<Reading, DetectError> {
    let Some(best) = readings.iter().map(|reading| reading.evidence).max() else { return Err(DetectError::None) };
    let mut digests = Vec::new();
    readings.retain(|reading| {
        let is_new = reading.evidence == best && !digests.contains(&reading.digest);
        digests.extend(is_new.then_some(reading.digest));
        is_new
    });
    match readings.len() {
        1 => Ok(readings.remove(0)),
        _ => Err(DetectError::Several(readings.into_iter().map(|reading| reading.dialect).collect())),
    }
}

/// Detects the end of rows. It is `\r`, as on old machines, only if the text has no newline. A `\r` as the last byte
/// may be the first half of `\r\n`, so it does not count.
fn detect_line_end(text: &[u8]) -> LineEnd {
    match memchr(b'\r', text) {
        Some(index) if memchr(b'\n', text).is_none() && index + 1 < text.len() => LineEnd::Return,
        _ => LineEnd::Newline,
    }
}

/// Returns the delimiter in a first line `sep=;`, and the length of that line.
fn read_separator(text: &[u8]) -> (Option<u8>, usize) {
    let Some([delimiter, rest @ ..]) = text.strip_prefix(b"sep=") else { return (None, 0) };
    let line_end_len =
        if rest.starts_with(b"\r\n") { 2 } else { usize::from(matches!(rest.first(), Some(b'\n' | b'\r'))) };
    if line_end_len > 0 && *delimiter != b'"' { (Some(*delimiter), b"sep=;".len() + line_end_len) } else { (None, 0) }
}

impl Reading {
    /// Returns the reading of this dialect, or `None` if the text contradicts it.
    fn from_text(
        dialect: Dialect,
        text: &[u8],
        is_all: bool,
        is_sound: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<Reading> {
        let scanner = Scanner::new(dialect);
        let (mut cells, mut offset) = (Vec::new(), 0);
        let (mut sound_cells, mut quoted, mut has_bare, mut width, mut has_equal_rows) = (0, 0u64, false, None, true);
        let (mut digest, mut habits) = (DefaultHasher::new(), Habits::ANY);
        while let Next::Row { end } = scanner.next_row(text.get(offset..)?, is_all, &mut cells) {
            let row = text.get(offset..)?;
            offset += end;
            for cell in &cells {
                if contradicts_dialect(&dialect, cell, row) {
                    return None;
                }
                let body = dialect.decode_cell(cell, row);
                quoted += u64::from(cell.is_quoted);
                has_bare |= !cell.is_quoted && memchr(dialect.quote.unwrap_or(b'"'), &body).is_some();
                body.hash(&mut digest);
                // The first row has no width before it. Its cells may be names of columns, and these may be quoted
                // differently, so they are not evidence of a habit.
                if width.is_some() {
                    habits.observe_cell(&dialect, cell, &body);
                }
                // A text of one or two bytes is complete in any reading, so it is not evidence.
                sound_cells += u64::from(body.len() > 2 && is_sound(&body));
            }
            // The hash of a cell begins with its length. No cell has this length, so it separates the rows.
            usize::MAX.hash(&mut digest);
            // An empty line does not count as a row of another width.
            let is_empty = matches!(&cells[..], [cell] if cell.range.is_empty());
            if !is_empty {
                has_equal_rows &= *width.get_or_insert(cells.len()) == cells.len();
            }
        }
        let row_lengths = match width {
            _ if !has_equal_rows => RowLengths::Unequal,
            None | Some(1) => RowLengths::One,
            Some(_) => RowLengths::Equal,
        };
        let quoting = match quoted {
            _ if has_bare && quoted == 0 => Quoting::Bare,
            _ if habits.has_any() => Quoting::Explained,
            _ => Quoting::Around,
        };
        let is_clean_table = row_lengths == RowLengths::Equal && !has_bare;
        Some(Reading {
            dialect,
            evidence: Evidence { sound_cells, is_clean_table, quoting, row_lengths },
            habits,
            digest: digest.finish(),
        })
    }
}

/// Returns `true` if a program that writes this dialect would not have written the cell this way.
fn contradicts_dialect(dialect: &Dialect, cell: &Cell, bytes: &[u8]) -> bool {
    if cell.is_broken {
        return true;
    }
    let Some(quote) = dialect.quote.filter(|_| cell.is_quoted && dialect.escape == Escape::Backslash) else {
        return false;
    };
    // Between quotes, the program writes every quote and every backslash after a backslash.
    let body = bytes.get(cell.body.clone()).unwrap_or_default();
    let mut offset = 0;
    while let Some(found) = memchr::memchr2(b'\\', quote, body.get(offset..).unwrap_or_default()) {
        offset += found;
        let is_escape = body.get(offset) == Some(&b'\\');
        if !is_escape || !body.get(offset + 1).is_some_and(|byte| dialect.is_escaped_by_backslash(*byte)) {
            return true;
        }
        offset += 2;
    }
    false
}
