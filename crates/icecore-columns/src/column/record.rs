//! Columns of structs. A field gets the entry of a map or the member of an object that has its name, or the value on
//! its path.

use super::told::VirtualKind;
use super::{Column, create_columns};
use crate::AT;
use crate::error::Error;
use crate::member::{qualify_name, strip_php_marks};
use crate::misfit::TypeMismatch;
use crate::view::{Key, RowState, TapeView};
use arrow_array::StructArray;
use arrow_buffer::NullBuffer;
use arrow_schema::Fields;
use icecore::select::{self, Pattern};
use icecore::{Kind, Limits, Stage};

/// Number of the field of a key that has no field. No column has this number.
const NONE: u16 = u16::MAX;

#[derive(Debug)]
pub(crate) struct Record {
    fields: Fields,
    columns: Vec<Column>,
    /// Indices of the fields whose values are found on paths, with their paths.
    paths: Vec<(usize, Pattern)>,
    /// Whether there is a virtual field for all entries that have no field of their own.
    has_rest: bool,
    /// Entries without a field in the map that is being added.
    rest: Vec<ExtraEntry>,
    /// For each column, the key of the entry that filled it in the map that is being added.
    filled_by: Vec<Option<Key>>,
    /// For each key id, the number of its field from 1 on, `NONE` if it has no field, or 0 if this is not known yet.
    by_id: Vec<u16>,
    /// The keys of the previous map, in order. Empty if the next map must be read by names.
    guess: Vec<ExpectedEntry>,
    /// Whether the keys in `guess` fill all columns.
    fills_all_columns: bool,
    /// Whether a key in `guess` has no field.
    has_extra: bool,
    len: usize,
}

/// An entry without a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtraEntry {
    pub(crate) key: Key,
    pub(crate) value: u32,
    /// Whether another member already filled the field with the same bare name, such as a private property of a parent
    /// class.
    pub(crate) is_second: bool,
}

/// An entry of the previous map, which is expected in the next map too.
#[derive(Clone, Copy, Debug)]
struct ExpectedEntry {
    key: u16,
    /// Index of the column that it fills. If there is no column with this index, the entry has no field.
    column: u16,
}

impl Record {
    /// Creates a struct of these fields at this depth. Paths start at the root of the document, so fields with a path
    /// are an error below depth 1.
    pub(crate) fn new(fields: &Fields, depth: usize) -> Result<Record, Error> {
        let columns = create_columns(fields, depth)?;
        let mut paths = Vec::new();
        for (index, (field, column)) in fields.iter().zip(&columns).enumerate() {
            let Some(path) = field.metadata().get(AT) else { continue };
            if depth > 1 || column.virtual_kind().is_some() {
                return Err(Error::Field { name: field.name().clone(), data_type: field.data_type().clone() });
            }
            paths.push((index, Pattern::parse(path)?));
        }
        let has_rest = columns.iter().any(|column| column.virtual_kind() == Some(VirtualKind::Rest));
        let fields = fields.clone();
        Ok(Record {
            fields,
            columns,
            paths,
            has_rest,
            rest: Vec::new(),
            filled_by: Vec::new(),
            by_id: Vec::new(),
            guess: Vec::new(),
            fills_all_columns: false,
            has_extra: false,
            len: 0,
        })
    }

    pub(crate) fn needs_document(&self) -> bool {
        !self.paths.is_empty() || self.columns.iter().any(Column::needs_document)
    }

    pub(crate) fn reserve(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.reserve(rows));
    }

    /// Whether all fields are found on paths, so that the document may be of any kind.
    pub(crate) fn has_only_paths(&self) -> bool {
        !self.paths.is_empty() && self.paths.len() == self.columns.len()
    }

    /// Whether skimming the document once for each path takes less time than reading all of it.
    pub(crate) fn can_skim(&self) -> bool {
        const MAX_PATHS: usize = 4;
        self.has_only_paths() && self.paths.len() <= MAX_PATHS && self.paths.iter().all(|(_, path)| path.is_definite())
    }

    pub(crate) fn forget_names(&mut self) {
        self.by_id.clear();
        self.guess.clear();
        self.columns.iter_mut().for_each(Column::forget_names);
    }

    /// Adds the map or empty list at this node, which must not be a link. Returns `true`.
    pub(crate) fn push(&mut self, view: &TapeView<'_>, map: u32) -> Result<bool, TypeMismatch> {
        let pushed = self.push_map(view, map);
        if pushed.is_err() {
            // The keys were recorded only up to the value that does not fit; nothing of this map may determine where
            // values of the next one go.
            self.guess.clear();
        }
        pushed.map(|()| true)
    }

    #[inline]
    fn push_map(&mut self, view: &TapeView<'_>, map: u32) -> Result<(), TypeMismatch> {
        if self.push_as_guessed(view, map)? {
            return Ok(());
        }
        self.push_by_names(view, map)
    }

    /// Adds a map if it has the same keys as the previous one, in the same order. Otherwise returns `false` and adds
    /// nothing.
    #[inline]
    fn push_as_guessed(&mut self, view: &TapeView<'_>, map: u32) -> Result<bool, TypeMismatch> {
        if self.guess.is_empty() || view.node(map).aux as usize != self.guess.len() {
            return Ok(false);
        }
        let mut index = map + 1;
        let budget = view.budget();
        for guess in &self.guess {
            let node = view.node(index);
            if node.key != guess.key {
                // The caller adds the values again by name, so their budget is returned.
                view.set_budget(budget);
                let len = self.len;
                self.columns.iter_mut().for_each(|column| column.truncate(len));
                return Ok(false);
            }
            if let Some(column) = self.columns.get_mut(usize::from(guess.column)) {
                column.push(view, index)?;
            }
            index = view.index_after_node(node, index);
        }
        if self.has_extra {
            view.note_extra();
        }
        match self.fills_all_columns {
            true => self.len += 1,
            false => self.fill_missing(view, map)?,
        }
        Ok(true)
    }

    fn push_by_names(&mut self, view: &TapeView<'_>, map: u32) -> Result<(), TypeMismatch> {
        self.rest.clear();
        self.guess.clear();
        self.has_extra = false;
        self.filled_by.clear();
        self.filled_by.resize(self.columns.len(), None);
        let (mut filled, mut is_plain) = (0, self.paths.is_empty() && !self.has_rest);
        if view.node(map).kind == Kind::Map {
            for (key, value) in view.entries(map) {
                let field = match key {
                    Key::Name(id) => match self.by_id.get(usize::from(id)) {
                        Some(known @ 1..) => *known,
                        _ => self.cache_field(view, id),
                    },
                    Key::Node(_) => self.find_field_by_key(view, key),
                };
                let column = usize::from(field.wrapping_sub(1));
                let before = self.filled_by.get(column).copied().flatten();
                let is_second = before.is_some_and(|before| !view.is_same_key(before, key));
                let column = if is_second { usize::from(NONE) } else { column };
                match key {
                    Key::Name(key) => self.guess.push(ExpectedEntry { key, column: column as u16 }),
                    Key::Node(_) => is_plain = false,
                }
                let Some(filled_column) = self.columns.get_mut(column) else {
                    match self.has_rest {
                        true => self.rest.push(ExtraEntry { key, value, is_second }),
                        // With paths, an entry without a field is not extra: a path may lead to it.
                        false => self.has_extra = self.paths.is_empty(),
                    }
                    continue;
                };
                self.filled_by[column] = Some(key);
                let column = filled_column;
                if column.len() > self.len {
                    // A key that occurs twice: the last one counts.
                    column.truncate(self.len);
                    is_plain = false;
                }
                filled += 1;
                column.push(view, value)?;
            }
        }
        if !is_plain {
            self.guess.clear();
        }
        if self.has_extra {
            view.note_extra();
        }
        self.fills_all_columns = filled == self.columns.len();
        self.push_path_values(view, map)?;
        self.fill_missing(view, map)
    }

    /// Adds the values on the paths. All fields must have a path.
    pub(crate) fn push_paths(&mut self, view: &TapeView<'_>, root: u32) -> Result<bool, TypeMismatch> {
        self.push_path_values(view, root)?;
        self.len += 1;
        Ok(true)
    }

    fn push_path_values(&mut self, view: &TapeView<'_>, node: u32) -> Result<(), TypeMismatch> {
        let Some(document) = view.document.filter(|_| !self.paths.is_empty()) else { return Ok(()) };
        for (field, path) in &self.paths {
            let matches = path.find(document, &Limits::default()).map_err(|_| TypeMismatch::expansion_limit(node))?;
            let column = &mut self.columns[*field];
            let mut indexes = matches.values().map(|value| value.index());
            let pushed = match path.is_definite() {
                false => column.push_matches(view, node, &mut indexes),
                true => match indexes.next() {
                    Some(value) => column.push(view, value),
                    None => column.push_null(node),
                },
            };
            pushed.map_err(|misfit| mention_field(misfit, self.fields[*field].name()))?;
        }
        Ok(())
    }

    /// Adds the values on the paths by skimming these bytes, without reading all of them.
    pub(crate) fn skim_values(
        &mut self,
        blob: &[u8],
        stage: &Stage,
        limits: &Limits,
        notes: &RowState,
    ) -> Result<(), icecore::Error> {
        for (field, path) in &self.paths {
            let column = &mut self.columns[*field];
            let len = self.len;
            select::each(blob, stage, path, limits, &mut |path, document| {
                // Each match is a document of its own, with its own key ids.
                column.forget_names();
                column.truncate(len);
                let view = TapeView::new(document.tape(), document.input(), Some(document), notes);
                column.push(&view, document.tape().root()).map_err(|misfit| {
                    let below = document.path(misfit.node);
                    misfit.into_error(format!("{path}{}", below.strip_prefix('$').unwrap_or(&below)))
                })
            })?;
            if column.len() == len {
                let none =
                    |misfit: TypeMismatch| mention_field(misfit, self.fields[*field].name()).into_error("$".to_owned());
                column.push_null(0).map_err(none)?;
            }
        }
        self.len += 1;
        Ok(())
    }

    /// Completes a row: columns without a value get a null, virtual fields get their computed value.
    fn fill_missing(&mut self, view: &TapeView<'_>, map: u32) -> Result<(), TypeMismatch> {
        let len = self.len;
        for (column, field) in self.columns.iter_mut().zip(self.fields.iter()) {
            if column.len() > len {
                continue;
            }
            if column.virtual_kind().is_some() {
                column.push_virtual(view, find_owner(view, map), &self.rest)?;
            } else {
                column.push_null(map).map_err(|misfit| mention_field(misfit, field.name()))?;
            }
        }
        self.len += 1;
        Ok(())
    }

    #[cold]
    fn cache_field(&mut self, view: &TapeView<'_>, id: u16) -> u16 {
        let field = self.find_field_by_key(view, Key::Name(id));
        let index = usize::from(id);
        if self.by_id.len() <= index {
            self.by_id.resize(index + 1, 0);
        }
        self.by_id[index] = field;
        field
    }

    fn find_field_by_key(&self, view: &TapeView<'_>, key: Key) -> u16 {
        view.key_text(key, &mut itoa::Buffer::new()).map_or(NONE, |name| self.find_field_by_name(name))
    }

    /// Returns the number of the field of this name, from 1 on, or `NONE`. The name may be mangled by PHP
    /// (`\0Class\0name`) or have Ruby's `@`.
    fn find_field_by_name(&self, name: &[u8]) -> u16 {
        let qualified_name = qualify_name(name);
        let name = strip_php_marks(name);
        let unmarked = name.strip_prefix(b"@").unwrap_or(name);
        let is_named = |index: &usize| {
            self.columns.get(*index).is_some_and(|column| column.virtual_kind().is_none())
                && self.paths.iter().all(|(field, _)| field != index)
        };
        let find = |name: &[u8]| {
            let found = self.fields.iter().position(|field| field.name().as_bytes() == name);
            found.filter(|index| is_named(index))
        };
        let found =
            qualified_name.and_then(|qualified| find(&qualified)).or_else(|| find(name)).or_else(|| find(unmarked));
        found.and_then(|index| u16::try_from(index + 1).ok()).unwrap_or(NONE)
    }

    /// Adds a placeholder row under a null of the parent, which readers of the column never see.
    pub(crate) fn push_empty(&mut self) {
        self.columns.iter_mut().for_each(Column::fill_null);
        self.len += 1;
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(len));
        self.len = len;
    }

    pub(crate) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<StructArray, Error> {
        let len = std::mem::take(&mut self.len);
        let columns = self.columns.iter_mut().map(Column::finish).collect::<Result<Vec<_>, _>>()?;
        if columns.is_empty() {
            return Ok(StructArray::new_empty_fields(len, nulls));
        }
        Ok(StructArray::try_new(self.fields.clone(), columns, nulls)?)
    }
}

#[cold]
fn mention_field(misfit: TypeMismatch, name: &str) -> TypeMismatch {
    match misfit.found == "null" {
        true => misfit.expecting(format!("the field {name:?}")),
        false => misfit,
    }
}

/// Returns the object node around a body, or the body itself if there is none.
fn find_owner(view: &TapeView<'_>, body: u32) -> u32 {
    match body.checked_sub(1) {
        Some(before) if view.node(before).kind == Kind::Object => before,
        _ => body,
    }
}
