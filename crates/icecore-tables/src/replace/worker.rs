//! Changes the values of a chunk.

use super::change_counts::ValueChanged;
use super::chunk::{Chunk, LocatedValue, ValueSyntax};
use super::conflicts::{breaks_string_length, find_string_over_cells, has_exact_string};
use super::plan::ReplacePlan;
use super::rule_sets::is_foreign_text;
use super::show::{ChangeContext, ShownChanges};
use super::{cells, lines, value};
use icecore::rewrite::{self, Change as _, Edits, Escaping, StringRole, Tally};
use icecore_csv::{Cell, Dialect};
use icecore_replace::{Hints, Replacing, Rules};
use icecore_sql::Quoting;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The part of the lexing that the reader leaves to the workers.
#[derive(Clone, Debug)]
pub enum Lexer {
    /// Nothing: the reader finds the values.
    None,
    /// Rows of cells, with their dialect and the numbers of the columns.
    Csv(Dialect, Columns),
    /// Rows of cells with this delimiter.
    Tsv(u8, Columns),
    /// A JSON value on each line.
    Ndjson,
    /// The chunk is one text.
    Text,
}

/// The columns of a table with a header.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The number of each column's place; `None` for those that are not changed.
    pub places: Vec<Option<u32>>,
    /// The name of the table.
    pub table: String,
}

/// The state of a thread.
pub struct Worker {
    plan: Arc<ReplacePlan>,
    lexer: Lexer,
    /// The numbers of columns that were looked up in the shared `Places`. The key of the map is the key of a JSON
    /// member, or the index of a column as little-endian bytes.
    known_places: HashMap<Vec<u8>, Option<u32>>,
    tally: Tally,
    /// Whether the current value is plain text, and a change would give a serialized value in it a wrong length.
    is_suspect: bool,
}

impl Worker {
    /// Creates the worker of a thread.
    pub fn new(plan: Arc<ReplacePlan>, lexer: Lexer) -> Worker {
        Worker { plan, lexer, known_places: HashMap::new(), tally: Tally::default(), is_suspect: false }
    }

    /// Changes the values of a chunk, and counts what is left of the hosts of URLs.
    pub fn change_chunk(&mut self, chunk: &mut Chunk) {
        self.change_values(chunk);
        let leftovers = self.plan.rules.default_rules().count_leftovers(chunk.output_bytes());
        chunk.counts.leftovers.add(leftovers);
    }

    fn change_values(&mut self, chunk: &mut Chunk) {
        let plan = Arc::clone(&self.plan);
        // The reader added the rules that its values need.
        let rule_sets = plan.rules.all_rules();
        if let Lexer::Text = self.lexer {
            let Some(rules) = rule_sets.first() else { return };
            self.check_charset(chunk);
            return self.change_text(chunk, rules);
        }
        let bytes = std::mem::take(&mut chunk.bytes);
        let mut values = std::mem::take(&mut chunk.values);
        self.find_values(&bytes, chunk, &mut values);
        self.check_values(&bytes, &values, chunk);
        let mut sets: Vec<(Replacing<'_>, Hints<'_>)> = rule_sets
            .iter()
            .map(|rules| (rules.replacing().with_encoded(plan.rewrite_options.base64), rules.hints(&bytes)))
            .collect();
        // Hints do not find matches in encoded values. With the option for repairs, a length may have to be repaired
        // in a value without a match. So all values are examined in these cases.
        let examines_all = plan.rewrite_options.base64 || plan.rewrite_options.repair;
        let mut copied_end = 0;
        for value in &values {
            let Some((replacing, hints)) = sets.get_mut(usize::from(value.rules)) else { continue };
            let has_no_match =
                !examines_all && !value.syntax.is_encoded() && !hints.may_match_within(value.body.clone());
            if has_no_match {
                continue;
            }
            if let Some((range, new)) = self.change_value(&bytes, value, chunk, replacing) {
                chunk.out.extend_from_slice(bytes.get(copied_end..range.start).unwrap_or_default());
                new.append_to(bytes.get(range.clone()).unwrap_or_default(), &mut chunk.out);
                (copied_end, chunk.is_changed) = (range.end, true);
            }
        }
        if chunk.is_changed {
            chunk.out.extend_from_slice(bytes.get(copied_end..).unwrap_or_default());
        }
        (chunk.bytes, chunk.values) = (bytes, values);
    }

    /// Searches for contradictions to the assumed form of the input, and changes nothing.
    pub fn examine_chunk(&mut self, chunk: &mut Chunk) {
        let plan = Arc::clone(&self.plan);
        if let Lexer::Text = self.lexer {
            self.check_charset(chunk);
            chunk.frozen = frozen_input_ranges(chunk);
            let rules = plan.rules.default_rules();
            let (mut edits, mut replacing) = (Edits::new(), rules.replacing());
            let damage = lines::change_text(&chunk.bytes, chunk.own_range(), &rules, &mut replacing, &mut edits);
            chunk.set_damage(damage);
            chunk
                .growing
                .extend(lines::find_length_changes(&edits).map(|index| chunk.offset.saturating_add(index as u64)));
            return;
        }
        let bytes = std::mem::take(&mut chunk.bytes);
        let mut values = std::mem::take(&mut chunk.values);
        self.find_values(&bytes, chunk, &mut values);
        self.check_values(&bytes, &values, chunk);
        let rules = plan.rules.default_rules();
        let mut replacing = rules.replacing().with_encoded(plan.rewrite_options.base64);
        // The changed text is dropped. Only `suspect` is used.
        let mut trial_chunk = Chunk { offset: chunk.offset, ..Chunk::default() };
        for value in &values {
            let body = bytes.get(value.body.clone()).unwrap_or_default();
            // Text that begins like frozen data is frozen or broken. Both are counted elsewhere.
            let is_plain = || icecore::detect::begins_frozen(body).is_none();
            if trial_chunk.suspect.is_none() && lines::find_frozen_strings(body).next().is_some() && is_plain() {
                self.change_value(&bytes, value, &mut trial_chunk, &mut replacing);
            }
        }
        chunk.suspect = trial_chunk.suspect;
        (chunk.bytes, chunk.values) = (bytes, values);
    }

    /// Checks that the values of a chunk are text in UTF-8 and contain their frozen data as a whole.
    fn check_values(&self, bytes: &[u8], values: &[LocatedValue], chunk: &mut Chunk) {
        if self.plan.rules.needs_charset() && !bytes.is_ascii() {
            for value in values.iter().filter(|value| value.rules == 0 && !value.syntax.is_encoded()) {
                if is_foreign_text(bytes.get(value.body.clone()).unwrap_or_default()) {
                    chunk.counts.count_foreign(chunk.offset + value.body.start as u64);
                }
            }
        }
        chunk.conflict = match self.lexer {
            Lexer::Csv(..) | Lexer::Tsv(..) => find_string_over_cells(bytes, values),
            Lexer::Ndjson => {
                values.iter().find(|value| self.is_frozen_line(bytes, value)).map(|value| value.body.start)
            }
            Lexer::None | Lexer::Text => None,
        };
    }

    /// Returns whether a line is not JSON and contains frozen data, but is not frozen data as a whole.
    fn is_frozen_line(&self, bytes: &[u8], value: &LocatedValue) -> bool {
        let text = bytes.get(value.body.clone()).unwrap_or_default();
        let is_json = || matches!(text.first(), Some(b'{' | b'[' | b'"'));
        !is_json() && has_exact_string(text) && icecore::detect::stage_of(text).is_err()
    }

    /// Checks whether plain text is in UTF-8.
    fn check_charset(&self, chunk: &mut Chunk) {
        let own_bytes = chunk.bytes.get(chunk.own_range()).unwrap_or_default();
        if self.plan.rules.needs_charset() && is_foreign_text(own_bytes) {
            let offset = std::str::from_utf8(own_bytes).map_or_else(|error| error.valid_up_to(), |_| 0);
            chunk.counts.count_foreign(chunk.offset + (chunk.own_range().start + offset) as u64);
        }
    }

    /// Finds the values that the reader leaves to the worker.
    fn find_values(&mut self, bytes: &[u8], chunk: &mut Chunk, values: &mut Vec<LocatedValue>) {
        let Worker { plan, lexer, known_places, .. } = self;
        match lexer {
            Lexer::None | Lexer::Text => {}
            Lexer::Csv(dialect, columns) => {
                let place = |column: usize| columns.find_place(column, plan, known_places);
                let found = cells::find_csv_cells(bytes, *dialect, chunk.header, chunk.row, place, values);
                if let Err((row, row_start)) = found {
                    chunk.broken_row = Some((row, chunk.offset + row_start as u64));
                }
            }
            Lexer::Tsv(delimiter, columns) => {
                let place = |column: usize| columns.find_place(column, plan, known_places);
                cells::find_tsv_cells(bytes, *delimiter, chunk.header, chunk.row, place, values);
            }
            Lexer::Ndjson => {
                let place = |key: &[u8]| match known_places.get(key) {
                    Some(place) => *place,
                    None => {
                        let name = lines::decode_key(key);
                        let place = plan.places.number_place(None, &plan.table, &name);
                        known_places.insert(key.to_owned(), place);
                        place
                    }
                };
                lines::find_json_values(bytes, plan, chunk.row, place, values);
            }
        }
    }

    /// Returns the new text of a value, and the range of the bytes that it replaces. Returns `None` if the value is
    /// not changed.
    fn change_value(
        &mut self,
        bytes: &[u8],
        value: &LocatedValue,
        chunk: &mut Chunk,
        replacing: &mut Replacing<'_>,
    ) -> Option<(std::ops::Range<usize>, NewText)> {
        let raw = bytes.get(value.body.clone())?;
        let plan = Arc::clone(&self.plan);
        if value.syntax == ValueSyntax::Outside {
            let mut edits = Edits::new();
            replacing.change_text(raw, StringRole::Value, &mut edits);
            replacing.take_counts();
            chunk.counts.outside += u64::from(!edits.is_empty());
            return None;
        }
        let changed = match value.syntax {
            ValueSyntax::Sql(quoting) => self.change_escaped(raw, &quoting, replacing),
            ValueSyntax::Tsv => self.change_escaped(raw, &Quoting::Copy, replacing),
            ValueSyntax::Csv { is_quoted } => self.change_csv_cell(raw, is_quoted, replacing),
            ValueSyntax::Json => self.change_json(raw, replacing),
            ValueSyntax::Outside => Ok(None),
        };
        if std::mem::take(&mut self.is_suspect) {
            chunk.counts.suspects += 1;
            chunk.suspect = chunk.suspect.or(Some(value.body.start));
        }
        let counts = replacing.take_counts();
        // With `only_serialized`, plain text is not changed. The tally then has no frozen value.
        let may_change = !plan.only_serialized || !self.tally.frozen.is_empty();
        let offset = Some(chunk.offset + value.range.start as u64);
        let mut tally = std::mem::take(&mut self.tally);
        let replacement = match changed {
            Ok(Some(changed)) if may_change => {
                chunk.counts.add_pair_counts(&counts);
                if let (Some(printer), Some(text)) = (&plan.change_printer, &changed.text) {
                    let place = plan.places.place(value.place);
                    let context = ChangeContext { input: &plan.input, place: &place, row: value.row, tally: &tally };
                    printer.show_changes(
                        &context,
                        text,
                        &changed.edits,
                        ShownChanges::First,
                        &mut chunk.dry_run_output,
                    );
                }
                chunk.counts.add_value(value.place, value.row, offset, ValueChanged::Yes, &mut tally);
                // In SQL, `0x` without digits is the name of a column, so an empty value is written as `''`.
                let is_bare = changed.new.is_empty_text(raw) && bytes.get(value.range.start) == Some(&b'0');
                if value.syntax == ValueSyntax::Sql(Quoting::Hex) && is_bare {
                    Some((value.range.clone(), NewText::Text(b"''".to_vec())))
                } else {
                    let range = if changed.includes_quotes { value.range.clone() } else { value.body.clone() };
                    Some((range, changed.new))
                }
            }
            Err(()) if may_change => {
                chunk.counts.places.entry(value.place).or_default().refused += 1;
                None
            }
            _ => {
                if !may_change {
                    tally.changed = 0;
                }
                if tally.is_notable() && (may_change || tally.broken > 0) {
                    chunk.counts.add_value(value.place, value.row, offset, ValueChanged::No, &mut tally);
                }
                None
            }
        };
        tally.clear();
        self.tally = tally;
        replacement
    }

    /// Returns whether the last value is plain text. A broken value is counted as broken.
    fn is_plain_text(&self) -> bool {
        self.tally.frozen.is_empty() && self.tally.broken == 0
    }

    /// Returns the change of the text that is escaped in these bytes.
    fn change_escaped<'t>(
        &mut self,
        raw: &'t [u8],
        escaping: &dyn Escaping,
        replacing: &mut Replacing<'_>,
    ) -> Result<Option<ValueChange<'t>>, ()> {
        let decoded = escaping.decode(raw).ok_or(())?;
        let edits = value::find_edits(decoded.text(), replacing, &self.plan.rewrite_options, &mut self.tally);
        if edits.is_empty() {
            return Ok(None);
        }
        self.is_suspect |= self.is_plain_text() && breaks_string_length(decoded.text(), &edits);
        let new = NewText::Edits(rewrite::raw_edits(raw, &decoded, &edits, escaping).ok_or(())?);
        let text = self.plan.change_printer.is_some().then(|| decoded.into_text());
        Ok(Some(ValueChange { text, edits, new, includes_quotes: false }))
    }

    /// Returns the change of a cell. It gets quotes if the new text needs them.
    fn change_csv_cell<'t>(
        &mut self,
        raw: &'t [u8],
        is_quoted: bool,
        replacing: &mut Replacing<'_>,
    ) -> Result<Option<ValueChange<'t>>, ()> {
        let Lexer::Csv(dialect, _) = self.lexer else { return Ok(None) };
        let cell = Cell { range: 0..raw.len(), body: 0..raw.len(), is_quoted, is_broken: false };
        let text = dialect.decode_cell(&cell, raw);
        let edits = value::find_edits(&text, replacing, &self.plan.rewrite_options, &mut self.tally);
        if edits.is_empty() {
            return Ok(None);
        }
        self.is_suspect |= self.is_plain_text() && breaks_string_length(&text, &edits);
        let mut new = Vec::new();
        if !dialect.encode_cell(&edits.apply(&text), cell.detect_style(&dialect, raw), &mut new) {
            return Err(());
        }
        Ok(Some(ValueChange { text: Some(text), edits, new: NewText::Text(new), includes_quotes: true }))
    }

    /// Returns the change of a JSON value.
    fn change_json<'t>(&mut self, raw: &'t [u8], replacing: &mut Replacing<'_>) -> Result<Option<ValueChange<'t>>, ()> {
        let ReplacePlan { rewrite_options: options, json, .. } = &*self.plan;
        let edits = match rewrite::document(raw, json, replacing, options, &mut self.tally) {
            Ok(edits) => edits,
            // A line that is not JSON is text.
            Err(_) => {
                let edits = rewrite::value(raw, replacing, options, &mut self.tally);
                self.is_suspect |= self.is_plain_text() && breaks_string_length(raw, &edits);
                edits
            }
        };
        let changed = |edits: Edits| {
            let new = NewText::Text(edits.apply(raw));
            ValueChange { text: Some(Cow::Borrowed(raw)), new, edits, includes_quotes: false }
        };
        Ok((!edits.is_empty()).then(|| changed(edits)))
    }

    /// Changes a chunk of plain text.
    fn change_text(&mut self, chunk: &mut Chunk, rules: &Rules) {
        let (mut edits, mut replacing) =
            (Edits::new(), rules.replacing().with_encoded(self.plan.rewrite_options.base64));
        let damage = lines::change_text(&chunk.bytes, chunk.own_range(), rules, &mut replacing, &mut edits);
        chunk.frozen = frozen_input_ranges(chunk);
        chunk.is_cut_off = damage.is_cut_off;
        if edits.is_empty() || self.plan.only_serialized {
            return;
        }
        chunk.set_damage(damage);
        let Some(place) = self.plan.places.number_place(None, &self.plan.table, "") else { return };
        edits.apply_to(&chunk.bytes, &mut chunk.out);
        // The chunk contains the bytes before and after it as context. They are not changed, so they are removed from
        // both ends of the output.
        let (before, after) = chunk.context_lengths;
        chunk.out.truncate(chunk.out.len().saturating_sub(after));
        chunk.out.drain(..before.min(chunk.out.len()));
        chunk.is_changed = true;
        chunk.counts.add_pair_counts(&replacing.take_counts());
        let to_input_offset = |index: usize| chunk.offset.saturating_add(index as u64);
        chunk.growing.extend(lines::find_length_changes(&edits).map(to_input_offset));
        let mut tally = Tally::default();
        tally.changed = edits.len() as u64;
        if let Some(printer) = &self.plan.change_printer {
            let place_info = self.plan.places.place(place);
            let context = ChangeContext { input: &self.plan.input, place: &place_info, row: 0, tally: &tally };
            printer.show_changes(&context, &chunk.bytes, &edits, ShownChanges::All, &mut chunk.dry_run_output);
        }
        chunk.counts.add_value(place, 0, None, ValueChanged::No, &mut tally);
        // Each edit counts as a value, because plain text is not divided into values.
        chunk.counts.places.entry(place).or_default().values += edits.len() as u64;
    }
}

/// Returns the strings of serialize() that begin in a chunk, as ranges in the input.
fn frozen_input_ranges(chunk: &Chunk) -> Vec<std::ops::Range<u64>> {
    let to_input_offset = |index: usize| chunk.offset.saturating_add(index as u64);
    lines::find_frozen_strings(&chunk.bytes)
        .map(|range| to_input_offset(range.start)..to_input_offset(range.end))
        .collect()
}

/// The change of a value.
struct ValueChange<'t> {
    /// The old text, if it is shown.
    text: Option<Cow<'t, [u8]>>,
    edits: Edits,
    new: NewText,
    /// Whether the new text includes its quotes.
    includes_quotes: bool,
}

/// The new text of a value.
enum NewText {
    Text(Vec<u8>),
    /// Changes of the original bytes.
    Edits(Edits),
}

impl NewText {
    fn append_to(&self, raw: &[u8], out: &mut Vec<u8>) {
        match self {
            NewText::Text(text) => out.extend_from_slice(text),
            NewText::Edits(edits) => edits.apply_to(raw, out),
        }
    }

    fn is_empty_text(&self, raw: &[u8]) -> bool {
        match self {
            NewText::Text(text) => text.is_empty(),
            NewText::Edits(edits) => raw.len() as i64 + edits.growth() == 0,
        }
    }
}

impl Columns {
    /// Returns the place of a column. Columns are numbered from 0. A row may have more columns than the header, and
    /// such a column is named by its number.
    fn find_place(
        &self,
        column: usize,
        plan: &ReplacePlan,
        known_places: &mut HashMap<Vec<u8>, Option<u32>>,
    ) -> Option<u32> {
        if let Some(place) = self.places.get(column) {
            return *place;
        }
        let key = column.to_le_bytes().to_vec();
        *known_places
            .entry(key)
            .or_insert_with(|| plan.places.number_place(None, &self.table, &(column + 1).to_string()))
    }
}

impl ValueSyntax {
    /// Returns whether letters are encoded, so that a search for them in the raw bytes does not find them.
    fn is_encoded(self) -> bool {
        matches!(self, ValueSyntax::Sql(Quoting::Hex | Quoting::Bytea(_) | Quoting::Replaced(_)))
    }
}
