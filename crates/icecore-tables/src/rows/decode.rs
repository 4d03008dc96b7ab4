//! Decoding the values of rows, and writing the rows.

use super::batch::{Batch, Cell, Sort};
use super::column::Spec;
use super::object::Object;
use super::plan::{Out, Plan, error_name, kind_name};
use super::text;
use super::words::{Bytea, OnError, TableForm};
use crate::step::Step;
use crate::tally::{LOSS, REFUSED, Tally, Wrong};
use icecore::{Error, ErrorKind, LossKind, Losses, Stage, deep};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The decoders of a thread: one for each recently used plan.
#[derive(Default)]
pub struct Decoders {
    known: Vec<Decoder>,
}

impl Decoders {
    /// Maximum number of plans that are kept.
    const MOST: usize = 32;

    /// Decodes the rows of a batch, and writes them into it.
    pub fn batch(&mut self, batch: &mut Batch) {
        #[cfg(feature = "columns")]
        if let Err(why) = super::columnar::expand(batch) {
            batch.failed = Some(why);
            return;
        }
        let plans = std::mem::take(&mut batch.plans);
        for (at, (from, plan)) in plans.iter().enumerate() {
            let to = plans.get(at + 1).map_or(batch.rows(), |next| next.0);
            if !self.of(plan).rows(batch, *from..to) {
                break;
            }
        }
        batch.plans = plans;
    }

    fn of(&mut self, plan: &Arc<Plan>) -> &mut Decoder {
        let at = self.known.iter().position(|known| Arc::ptr_eq(&known.plan, plan)).unwrap_or_else(|| {
            if self.known.len() == Self::MOST {
                self.known.remove(0);
            }
            self.known.push(Decoder::new(Arc::clone(plan)));
            self.known.len() - 1
        });
        &mut self.known[at]
    }
}

/// The decoder of a thread for one plan.
pub struct Decoder {
    pub(super) plan: Arc<Plan>,
    /// For each column to decode, the converter of its values, if all have one format.
    converters: Vec<Option<Step>>,
    /// Converters for stages that were detected from values.
    found: Vec<(String, Step)>,
    /// For each column of the table, its number among the columns to decode.
    by_position: Vec<Option<usize>>,
    /// The probable stage of the row's value, from the program that wrote it.
    hint: Option<Stage>,
    /// A decoded value on its way into a cell.
    value: Vec<u8>,
    object: Object,
}

/// The row that is being written.
pub(super) struct Row<'r> {
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) tally: &'r mut Tally,
    /// The messages of values that can't be decoded: the column and the error.
    pub(super) errors: Vec<(usize, String)>,
    /// What became of the value of each column to decode.
    pub(super) kinds: Vec<Kind>,
    /// Whether one of its values can't be decoded.
    is_undecodable: bool,
    /// Whether it is left out because of a loss that is not allowed.
    is_refused: bool,
}

impl<'r> Row<'r> {
    /// Creates a row with this number of columns to decode.
    pub(super) fn new(number: u64, offset: u64, tally: &'r mut Tally, columns: usize) -> Row<'r> {
        let kinds = vec![Kind::Missing; columns];
        Row { number, offset, tally, errors: Vec::new(), kinds, is_undecodable: false, is_refused: false }
    }

    /// Notes bytes that became text, though they are not UTF-8.
    pub(super) fn lose_bytes(&mut self, is_strict: bool, path: impl FnOnce() -> String) {
        if !is_strict {
            return self.tally.lose_bytes(self.number, path);
        }
        self.is_refused = true;
        let message = format!("{REFUSED}{}, at {}", LossKind::Bytes.describe(1), path());
        self.tally.list(Wrong { record: self.number, offset: self.offset, kind: LOSS, message });
    }
}

/// What became of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    Decoded,
    /// It is not frozen data.
    Text,
    /// It can't be decoded.
    Broken,
    /// It has a loss that is not allowed.
    Refused,
    Null,
    /// It is not a string.
    Other,
    #[default]
    Missing,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Decoded => "decoded",
            Kind::Text => "text",
            Kind::Broken => "broken",
            Kind::Refused => "refused",
            Kind::Null => "null",
            Kind::Other => "other",
            Kind::Missing => "missing",
        }
    }
}

impl Decoder {
    pub fn new(plan: Arc<Plan>) -> Decoder {
        let converter = |spec: &Spec| {
            let stage = spec.stage.clone()?;
            Some(Step::new(stage, plan.json.clone(), &plan.limits, plan.deep))
        };
        let converters = plan.columns.iter().map(converter).collect();
        let mut by_position = vec![None; plan.names.len()];
        for (at, column) in plan.columns.iter().enumerate() {
            if let Some(slot) = column.at.and_then(|at| by_position.get_mut(at)) {
                *slot = Some(at);
            }
        }
        Decoder {
            plan,
            converters,
            found: Vec::new(),
            by_position,
            hint: None,
            value: Vec::new(),
            object: Object::default(),
        }
    }

    /// Decodes some rows of a batch, and writes them into it. Returns whether the next rows are needed.
    pub fn rows(&mut self, batch: &mut Batch, rows: Range<usize>) -> bool {
        let (mut out, mut tally) = (std::mem::take(&mut batch.out), std::mem::take(&mut batch.tally));
        let plan = Arc::clone(&self.plan);
        let mut goes_on = true;
        for at in rows {
            let (cells, offset) = batch.row(at);
            let number = batch.before + at as u64 + 1;
            let start = out.len();
            self.hint = plan.program.and_then(|at| cells.get(at)).and_then(|cell| hint(batch.cell(*cell)));
            let mut row = Row::new(number, offset, &mut tally, plan.columns.len());
            let is_row = match (plan.form, plan.out) {
                (TableForm::Ndjson, _) => self.object(batch, cells, &mut row, &mut out),
                (_, Out::Json) => self.json(batch, cells, &mut row, &mut out),
                _ => self.table(batch, cells, &mut row, &mut out),
            };
            if !row.errors.is_empty() && !plan.has_error_columns() || !is_row || row.is_refused {
                out.truncate(start);
            }
            let (is_bad, is_undecodable) = (!row.errors.is_empty() || row.is_refused, row.is_undecodable);
            tally.row(is_bad, is_undecodable);
            if is_bad && plan.on_error == OnError::Stop {
                batch.keep(at + 1);
                goes_on = false;
                break;
            }
        }
        (batch.out, batch.tally) = (out, tally);
        goes_on
    }

    /// Writes the cells of a row as an object.
    fn json(&mut self, batch: &Batch, cells: &[Cell], row: &mut Row<'_>, out: &mut Vec<u8>) -> bool {
        let plan = Arc::clone(&self.plan);
        out.push(b'{');
        out.extend_from_slice(&plan.lead_json);
        for (at, cell) in cells.iter().enumerate() {
            if cell.sort == Sort::Absent || plan.is_hidden(at) {
                continue;
            }
            out.extend_from_slice(&plan.key(at));
            match self.by_position.get(at).copied().flatten() {
                Some(column) => self.value(column, batch, *cell, row, out),
                None => self.cell(at, batch, *cell, row, out),
            }
            out.push(b',');
        }
        self.missing(cells.len(), row);
        let is_empty = out.last() == Some(&b'{');
        if !is_empty {
            out.pop();
        }
        self.own_members(row, is_empty, out);
        out.extend_from_slice(b"}\n");
        true
    }

    /// Writes a cell that is not decoded.
    fn cell(&self, at: usize, batch: &Batch, cell: Cell, row: &mut Row<'_>, out: &mut Vec<u8>) {
        match cell.sort {
            Sort::Null | Sort::Absent => out.extend_from_slice(b"null"),
            Sort::Plain => out.extend_from_slice(batch.cell(cell)),
            Sort::Text => {
                if !text::string(batch.cell(cell), out) {
                    row.lose_bytes(self.plan.strict, || format!("column {}", self.plan.name(at)));
                }
            }
        }
    }

    /// Writes the members of an object that say what became of its values.
    pub(super) fn own_members(&self, row: &Row<'_>, mut is_empty: bool, out: &mut Vec<u8>) {
        let mut put = |name: String, value: &str| {
            if !std::mem::take(&mut is_empty) {
                out.push(b',');
            }
            out.extend_from_slice(&text::key(&name));
            text::string(value.as_bytes(), out);
        };
        if self.plan.has_error_columns() {
            for (column, message) in &row.errors {
                put(error_name(self.name(*column)), message);
            }
        }
        if self.plan.has_kinds {
            for (column, kind) in row.kinds.iter().enumerate() {
                put(kind_name(self.name(column)), kind.as_str());
            }
        }
    }

    /// Writes a row as a line of a table.
    fn table(&mut self, batch: &Batch, cells: &[Cell], row: &mut Row<'_>, out: &mut Vec<u8>) -> bool {
        let plan = Arc::clone(&self.plan);
        let is_first = std::cell::Cell::new(true);
        let put = |bytes: &[u8], out: &mut Vec<u8>| plan.cell(is_first.take(), bytes, out);
        let null = |out: &mut Vec<u8>| null(plan.out, plan.delimiter, is_first.take(), out);
        plan.lead.iter().for_each(|(_, value)| put(value.as_bytes(), out));
        let mut value = std::mem::take(&mut self.value);
        for (at, cell) in cells.iter().enumerate() {
            if plan.is_hidden(at) {
                continue;
            }
            match self.by_position.get(at).copied().flatten() {
                Some(column) => {
                    value.clear();
                    self.value(column, batch, *cell, row, &mut value);
                    match row.kinds[column] {
                        Kind::Decoded => put(&value, out),
                        Kind::Text | Kind::Broken | Kind::Refused | Kind::Other if plan.on_error == OnError::Keep => {
                            put(batch.cell(*cell), out)
                        }
                        _ => null(out),
                    }
                }
                None if matches!(cell.sort, Sort::Null | Sort::Absent) => null(out),
                None => put(batch.cell(*cell), out),
            }
        }
        self.value = value;
        self.missing(cells.len(), row);
        if plan.has_error_columns() || plan.has_kinds {
            for _ in (cells.len()..plan.names.len()).filter(|at| !plan.is_hidden(*at)) {
                null(out);
            }
        }
        if plan.has_error_columns() {
            for column in 0..plan.columns.len() {
                let message = row.errors.iter().find(|(bad, _)| *bad == column);
                put(message.map_or(&[][..], |(_, message)| message.as_bytes()), out);
            }
        }
        for kind in row.kinds.iter().filter(|_| plan.has_kinds) {
            put(kind.as_str().as_bytes(), out);
        }
        out.push(b'\n');
        true
    }

    /// Notes the columns to decode that a row with this number of cells lacks.
    fn missing(&self, cells: usize, row: &mut Row<'_>) {
        for (column, spec) in self.plan.columns.iter().enumerate() {
            if spec.at.is_none_or(|at| at >= cells) {
                let message = format!("the row has only {cells} of {} columns", self.plan.names.len());
                self.fail(column, "row", message, row);
            }
        }
    }

    /// Returns the name of a column to decode.
    pub(super) fn name(&self, column: usize) -> String {
        self.plan.column(column)
    }

    /// Writes the result for a cell, and notes it.
    fn value(&mut self, column: usize, batch: &Batch, cell: Cell, row: &mut Row<'_>, out: &mut Vec<u8>) {
        let bytes = batch.cell(cell);
        if cell.sort == Sort::Null || bytes.is_empty() && self.plan.empty_is_null {
            row.kinds[column] = Kind::Null;
            return out.extend_from_slice(b"null");
        }
        if cell.sort != Sort::Text {
            row.kinds[column] = Kind::Other;
            if self.plan.on_error != OnError::Keep {
                self.fail(column, "row", "expected a string, found another value".to_owned(), row);
                row.kinds[column] = Kind::Broken;
                return out.extend_from_slice(b"null");
            }
            return out.extend_from_slice(bytes);
        }
        let inside = if self.plan.form == TableForm::Pgcopy { unescaped(bytes, self.plan.bytea) } else { bytes.into() };
        match self.decode(column, &inside, row, out) {
            Kind::Text | Kind::Broken | Kind::Refused if self.plan.on_error == OnError::Keep => {
                if !text::string(bytes, out) && self.plan.out == Out::Json {
                    row.lose_bytes(self.plan.strict, || format!("column {}", self.name(column)));
                }
            }
            Kind::Decoded => {}
            _ => out.extend_from_slice(b"null"),
        }
    }

    /// Writes the decoded value of these bytes, if they can be decoded; notes what became of them.
    pub(super) fn decode(&mut self, column: usize, bytes: &[u8], row: &mut Row<'_>, out: &mut Vec<u8>) -> Kind {
        let start = out.len();
        let kind = match self.attempt(column, bytes, out) {
            Ok((losses, _)) if self.plan.strict && !losses.is_empty() => {
                out.truncate(start);
                let told: Vec<_> = losses.iter().map(ToString::to_string).collect();
                self.fail(column, LOSS, format!("{REFUSED}{}", told.join("; ")), row);
                Kind::Refused
            }
            Ok((losses, opened)) => {
                row.tally.opened += opened;
                if !losses.is_empty() {
                    row.tally.lose(&losses, row.number, Some(&self.name(column)));
                }
                Kind::Decoded
            }
            Err(error) => {
                out.truncate(start);
                match error {
                    None => Kind::Text,
                    Some(error) => {
                        self.fail(column, error.kind().as_str(), message(error), row);
                        Kind::Broken
                    }
                }
            }
        };
        row.kinds[column] = kind;
        kind
    }

    /// Converts a value. `Err(None)`: it is not frozen data, and need not be.
    fn attempt(&mut self, column: usize, bytes: &[u8], out: &mut Vec<u8>) -> Result<(Losses, u64), Option<Error>> {
        let keeps = self.plan.on_error == OnError::Keep;
        if keeps && bytes.is_empty() {
            return Err(None);
        }
        if let Some(converter) = &mut self.converters[column] {
            return convert(converter, bytes, out).map_err(|error| {
                let is_text = keeps && !icecore::detect::begins_as(converter.source(), bytes);
                (!is_text).then_some(error)
            });
        }
        // The bytes alone do not determine the format.
        if let Some(stage) = self.hint.clone()
            && let Ok(done) = convert(self.found(stage), bytes, out)
        {
            return Ok(done);
        }
        let stage = match keeps {
            true => self.stage(bytes)?,
            // A value that begins like frozen data has a more precise error than one of an unknown format.
            false => icecore::detect::stage_of(bytes).or_else(|error| self.stage(bytes).or(Err(error)))?,
        };
        Ok(convert(self.found(stage), bytes, out)?)
    }

    /// Returns the stage of a value that is frozen data. A value that only begins like frozen data is an error.
    fn stage(&self, bytes: &[u8]) -> Result<Stage, Option<Error>> {
        let find = |bytes: &[u8]| deep::stage_of(bytes, &self.plan.limits);
        // Digits are a number, even if they could be hexadecimal.
        if bytes.iter().all(u8::is_ascii_digit) {
            return Err(None);
        }
        let found =
            find(bytes).or_else(|| Some(bytes.trim_ascii_end()).filter(|part| part.len() < bytes.len()).and_then(find));
        found.or_else(|| icecore::detect::begins_frozen(bytes)).ok_or(None)
    }

    /// Returns the converter for a stage that was detected from a value.
    fn found(&mut self, stage: Stage) -> &mut Step {
        let name = stage.name();
        let at = self.found.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            let converter = Step::new(stage, self.plan.json.clone(), &self.plan.limits, self.plan.deep);
            self.found.push((name, converter));
            self.found.len() - 1
        });
        &mut self.found[at].1
    }

    /// Notes that a value can't be decoded.
    pub(super) fn fail(&self, column: usize, kind: &'static str, message: String, row: &mut Row<'_>) {
        row.is_undecodable |= kind != LOSS;
        let told = format!("column {}: {message}", self.name(column));
        row.tally.list(Wrong { record: row.number, offset: row.offset, kind, message: told });
        row.errors.push((column, message));
    }

    /// Writes a row that is a JSON object.
    fn object(&mut self, batch: &Batch, cells: &[Cell], row: &mut Row<'_>, out: &mut Vec<u8>) -> bool {
        let line = cells.first().map_or(&[][..], |cell| batch.cell(*cell));
        let mut object = std::mem::take(&mut self.object);
        let is_row = object.row(self, line, row, out);
        self.object = object;
        is_row
    }
}

/// Returns the stage in which a program stores values.
#[cfg(feature = "store")]
fn hint(program: &[u8]) -> Option<Stage> {
    let stage = icecore_store::stage_of_program(std::str::from_utf8(program).ok()?)?;
    Stage::parse(stage).ok()
}

#[cfg(not(feature = "store"))]
fn hint(_: &[u8]) -> Option<Stage> {
    None
}

/// Converts a value that uses all of these bytes.
fn convert(converter: &mut Step, bytes: &[u8], out: &mut Vec<u8>) -> Result<(Losses, u64), Error> {
    let (done, opened) = converter.convert(bytes, out);
    let behind = bytes.get(done.consumed..).unwrap_or(&[]);
    let is_end = behind.is_empty() || converter.source().format().ends_with_blanks(behind);
    if done.is_read && !is_end {
        return Err(converter.source().format().explain(Error::behind(bytes, done.consumed)));
    }
    Ok((done.written?, opened))
}

/// Returns the message of an error, whose offsets count from the start of the value.
pub(super) fn message(error: Error) -> String {
    match error.kind() {
        ErrorKind::Format => error.to_string(),
        _ => error.in_layer("value").to_string(),
    }
}

fn null(out: Out, delimiter: u8, is_first: bool, to: &mut Vec<u8>) {
    if !is_first {
        to.push(if out == Out::Csv { delimiter } else { b'\t' });
    }
    if out == Out::Tsv {
        to.extend_from_slice(b"\\N");
    }
}

/// Returns the bytes that PostgreSQL wrote as text.
pub(super) fn unescaped(bytes: &[u8], bytea: Bytea) -> Cow<'_, [u8]> {
    match bytea {
        Bytea::No => bytes.into(),
        Bytea::Hex => bytes.strip_prefix(b"\\x").and_then(unhexed).map_or(bytes.into(), Cow::Owned),
        Bytea::Escape => {
            let mut out = Vec::with_capacity(bytes.len());
            let mut rest = bytes;
            while let Some((byte, behind)) = rest.split_first() {
                let octal = behind.first_chunk::<3>().filter(|digits| digits.iter().all(|b| matches!(b, b'0'..=b'7')));
                let (byte, len) = match (byte, octal, behind.first()) {
                    (b'\\', Some(digits), _) => (digits.iter().fold(0u8, |value, b| value << 3 | (b - b'0')), 3),
                    (b'\\', None, Some(b'\\')) => (b'\\', 1),
                    _ => (*byte, 0),
                };
                out.push(byte);
                rest = &behind[len..];
            }
            out.into()
        }
    }
}

fn unhexed(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytea_is_undone() {
        assert_eq!(&*unescaped(b"\\x6869ff", Bytea::Hex), b"hi\xff");
        for other in [&b"\\x686"[..], b"\\x68zz", b"plain", b"App\\\\Job"] {
            assert_eq!(&*unescaped(other, Bytea::Hex), other);
        }
        assert_eq!(&*unescaped(b"a\\000\\377\\\\b\\x", Bytea::Escape), b"a\0\xff\\b\\x");
        assert_eq!(&*unescaped(b"\\x6869", Bytea::No), b"\\x6869");
    }
}
