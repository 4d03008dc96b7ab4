//! Columns of structs. A field with a path gets the value on this path. Any other field gets the entry of a map, or
//! the object member with the same name.

use super::virtual_field::VirtualKind;
use super::{Column, create_columns};
use crate::PATH_METADATA;
use crate::error::Error;
use crate::member::{qualify_name, strip_php_marks};
use crate::mismatch::TypeMismatch;
use crate::view::{Key, RowState, TapeView};
use arrow_array::StructArray;
use arrow_buffer::NullBuffer;
use arrow_schema::Fields;
use icecore::select::{self, Pattern};
use icecore::{Kind, Limits, Stage};

/// The number of the field of a key that has no field. No field has this number.
const NO_FIELD: u16 = u16::MAX;

/// The structs of a column.
#[derive(Debug)]
pub(crate) struct Record {
    fields: Fields,
    columns: Vec<Column>,
    /// The indexes of the fields whose values are found on paths, with their paths.
    paths: Vec<(usize, Pattern)>,
    /// Whether there is a virtual field for all entries that have no field of their own.
    has_rest_field: bool,
    /// Entries without a field in the map that is being added.
    extra_entries: Vec<ExtraEntry>,
    /// For each column, the key of the entry that filled it in the map that is being added.
    filled_by: Vec<Option<Key>>,
    /// For each key id, the number of its field, counted from 1. It is `NO_FIELD` if the key has no field, and 0 if
    /// this is not known yet.
    field_by_key_id: Vec<u16>,
    /// The entries of the previous map, in order. Empty if the next map must be read by names.
    expected_entries: Vec<ExpectedEntry>,
    /// Whether `expected_entries` fill all columns.
    fills_all_columns: bool,
    /// Whether one of `expected_entries` has no field.
    has_extra: bool,
    len: usize,
}

/// An entry without a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtraEntry {
    pub(crate) key: Key,
    pub(crate) value: u32,
    /// Whether another member with the same bare name already filled the field of that name. For example, a class and
    /// its parent class may both have a private property of this name.
    pub(crate) has_taken_name: bool,
}

/// An entry of the previous map, which is expected in the next map too.
#[derive(Clone, Copy, Debug)]
struct ExpectedEntry {
    key: u16,
    /// Index of the column that the entry fills. If a column with this index does not exist, the entry has no field.
    column: u16,
}

impl Record {
    /// Creates a struct of these fields at this depth. Paths start at the root of the document, so fields with a path
    /// are an error below depth 1.
    pub(crate) fn new(fields: &Fields, depth: usize) -> Result<Record, Error> {
        let columns = create_columns(fields, depth)?;
        let mut paths = Vec::new();
        for (index, (field, column)) in fields.iter().zip(&columns).enumerate() {
            let Some(path) = field.metadata().get(PATH_METADATA) else { continue };
            if depth > 1 || column.virtual_kind().is_some() {
                return Err(Error::Field { name: field.name().clone(), data_type: field.data_type().clone() });
            }
            paths.push((index, Pattern::parse(path)?));
        }
        let has_rest_field = columns.iter().any(|column| column.virtual_kind() == Some(VirtualKind::Rest));
        let fields = fields.clone();
        Ok(Record {
            fields,
            columns,
            paths,
            has_rest_field,
            extra_entries: Vec::new(),
            filled_by: Vec::new(),
            field_by_key_id: Vec::new(),
            expected_entries: Vec::new(),
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

    /// Returns true if all fields are found on paths, so that the document may be of any kind.
    pub(crate) fn has_only_paths(&self) -> bool {
        !self.paths.is_empty() && self.paths.len() == self.columns.len()
    }

    /// Returns true if skimming the document takes less time than reading all of it. The document is skimmed once for
    /// each path, so this holds for few paths only.
    pub(crate) fn can_skim(&self) -> bool {
        const MAX_PATHS: usize = 4;
        self.has_only_paths() && self.paths.len() <= MAX_PATHS && self.paths.iter().all(|(_, path)| path.is_definite())
    }

    pub(crate) fn forget_names(&mut self) {
        self.field_by_key_id.clear();
        self.expected_entries.clear();
        self.columns.iter_mut().for_each(Column::forget_names);
    }

    /// Adds the map or empty list at this node, which must not be a link. Returns `true`.
    pub(crate) fn push(&mut self, view: &TapeView<'_>, map: u32) -> Result<bool, TypeMismatch> {
        let pushed = self.push_map(view, map);
        if pushed.is_err() {
            // The keys were recorded only up to the value that does not fit. An incomplete list must not determine
            // where the values of the next map go.
            self.expected_entries.clear();
        }
        pushed.map(|()| true)
    }

    #[inline]
    fn push_map(&mut self, view: &TapeView<'_>, map: u32) -> Result<(), TypeMismatch> {
        if self.push_as_expected(view, map)? {
            return Ok(());
        }
        self.push_by_names(view, map)
    }

    /// Adds a map if it has the same keys as the previous one, in the same order. Otherwise returns `false` and adds
    /// nothing.
    #[inline]
    fn push_as_expected(&mut self, view: &TapeView<'_>, map: u32) -> Result<bool, TypeMismatch> {
        // `aux` is the number of entries of a map.
        if self.expected_entries.is_empty() || view.node(map).aux as usize != self.expected_entries.len() {
            return Ok(false);
        }
        let mut index = map + 1;
        let budget = view.budget();
        for expected in &self.expected_entries {
            let node = view.node(index);
            if node.key != expected.key {
                // The caller adds the same values again by name, and then spends their budget again. So the budget is
                // reset here.
                view.set_budget(budget);
                let len = self.len;
                self.columns.iter_mut().for_each(|column| column.truncate(len));
                return Ok(false);
            }
            if let Some(column) = self.columns.get_mut(usize::from(expected.column)) {
                column.push(view, index)?;
            }
            index = view.index_after_node(node, index);
        }
        if self.has_extra {
            view.set_has_extra();
        }
        match self.fills_all_columns {
            true => self.len += 1,
            false => self.fill_missing(view, map)?,
        }
        Ok(true)
    }

    /// Adds a map by looking up the field of each key. Also learns which entries to expect in the next map.
    fn push_by_names(&mut self, view: &TapeView<'_>, map: u32) -> Result<(), TypeMismatch> {
        self.extra_entries.clear();
        self.expected_entries.clear();
        self.has_extra = false;
        self.filled_by.clear();
        self.filled_by.resize(self.columns.len(), None);
        // Fields with paths and the field for remaining entries need work for each map that `push_as_expected` does
        // not do. So the entries of a map are not expected in the next map if there are such fields.
        let (mut filled_count, mut can_be_expected) = (0, self.paths.is_empty() && !self.has_rest_field);
        if view.node(map).kind == Kind::Map {
            for (key, value) in view.entries(map) {
                let field = match key {
                    Key::Name(id) => match self.field_by_key_id.get(usize::from(id)) {
                        Some(known @ 1..) => *known,
                        _ => self.cache_field(view, id),
                    },
                    Key::Node(_) => self.find_field_by_key(view, key),
                };
                let mut column_index = usize::from(field.wrapping_sub(1));
                let earlier_key = self.filled_by.get(column_index).copied().flatten();
                let has_taken_name = earlier_key.is_some_and(|earlier_key| !view.is_same_key(earlier_key, key));
                if has_taken_name {
                    column_index = usize::from(NO_FIELD);
                }
                match key {
                    Key::Name(key) => self.expected_entries.push(ExpectedEntry { key, column: column_index as u16 }),
                    Key::Node(_) => can_be_expected = false,
                }
                let Some(column) = self.columns.get_mut(column_index) else {
                    match self.has_rest_field {
                        true => self.extra_entries.push(ExtraEntry { key, value, has_taken_name }),
                        // If there are paths, an entry without a field is not extra, because a path may lead to it.
                        false => self.has_extra = self.paths.is_empty(),
                    }
                    continue;
                };
                self.filled_by[column_index] = Some(key);
                if column.len() > self.len {
                    // The key occurs twice. The last value counts.
                    column.truncate(self.len);
                    can_be_expected = false;
                }
                filled_count += 1;
                column.push(view, value)?;
            }
        }
        if !can_be_expected {
            self.expected_entries.clear();
        }
        if self.has_extra {
            view.set_has_extra();
        }
        self.fills_all_columns = filled_count == self.columns.len();
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
            pushed.map_err(|mismatch| mention_field(mismatch, self.fields[*field].name()))?;
        }
        Ok(())
    }

    /// Adds the values on the paths. Skims the blob once for each path, so most of its values are not built.
    pub(crate) fn skim_values(
        &mut self,
        blob: &[u8],
        stage: &Stage,
        limits: &Limits,
        row_state: &RowState,
    ) -> Result<(), icecore::Error> {
        for (field, path) in &self.paths {
            let column = &mut self.columns[*field];
            let len = self.len;
            select::each(blob, stage, path, limits, &mut |path, document| {
                // Each match is a document of its own, with its own key ids.
                column.forget_names();
                // If the path matches a second time, because a key occurs twice, the last match counts.
                column.truncate(len);
                let view = TapeView::new(document.tape(), document.input(), Some(document), row_state);
                column.push(&view, document.tape().root()).map_err(|mismatch| {
                    let relative_path = document.path(mismatch.node);
                    let steps = relative_path.strip_prefix('$').unwrap_or(&relative_path);
                    mismatch.into_error(format!("{path}{steps}"))
                })
            })?;
            if column.len() == len {
                let add_field_name = |mismatch: TypeMismatch| {
                    mention_field(mismatch, self.fields[*field].name()).into_error("$".to_owned())
                };
                column.push_null(0).map_err(add_field_name)?;
            }
        }
        self.len += 1;
        Ok(())
    }

    /// Completes a row. Virtual fields get their computed value, and other columns without a value get null.
    fn fill_missing(&mut self, view: &TapeView<'_>, map: u32) -> Result<(), TypeMismatch> {
        let len = self.len;
        for (column, field) in self.columns.iter_mut().zip(self.fields.iter()) {
            if column.len() > len {
                continue;
            }
            if column.virtual_kind().is_some() {
                column.push_virtual(view, find_owner(view, map), &self.extra_entries)?;
            } else {
                column.push_null(map).map_err(|mismatch| mention_field(mismatch, field.name()))?;
            }
        }
        self.len += 1;
        Ok(())
    }

    #[cold]
    fn cache_field(&mut self, view: &TapeView<'_>, id: u16) -> u16 {
        let field = self.find_field_by_key(view, Key::Name(id));
        let index = usize::from(id);
        if self.field_by_key_id.len() <= index {
            self.field_by_key_id.resize(index + 1, 0);
        }
        self.field_by_key_id[index] = field;
        field
    }

    fn find_field_by_key(&self, view: &TapeView<'_>, key: Key) -> u16 {
        view.key_text(key, &mut itoa::Buffer::new()).map_or(NO_FIELD, |name| self.find_field_by_name(name))
    }

    /// Returns the number of the field of this name, counted from 1, or `NO_FIELD`. The name may be mangled by PHP
    /// (`\0Class\0name`), or begin with Ruby's `@`.
    fn find_field_by_name(&self, name: &[u8]) -> u16 {
        let qualified_name = qualify_name(name);
        let name = strip_php_marks(name);
        let unmarked = name.strip_prefix(b"@").unwrap_or(name);
        let is_filled_by_name = |index: &usize| {
            self.columns.get(*index).is_some_and(|column| column.virtual_kind().is_none())
                && self.paths.iter().all(|(field, _)| field != index)
        };
        let find = |name: &[u8]| {
            let found = self.fields.iter().position(|field| field.name().as_bytes() == name);
            found.filter(|index| is_filled_by_name(index))
        };
        let field_index =
            qualified_name.and_then(|qualified| find(&qualified)).or_else(|| find(name)).or_else(|| find(unmarked));
        field_index.and_then(|index| u16::try_from(index + 1).ok()).unwrap_or(NO_FIELD)
    }

    /// Adds a placeholder row below a null of the parent. Readers of the column never see this row.
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
fn mention_field(mismatch: TypeMismatch, name: &str) -> TypeMismatch {
    match mismatch.found == "null" {
        true => mismatch.expecting(format!("the field {name:?}")),
        false => mismatch,
    }
}

/// Returns the object node around a body, or the body itself if there is none.
fn find_owner(view: &TapeView<'_>, body: u32) -> u32 {
    match body.checked_sub(1) {
        Some(previous) if view.node(previous).kind == Kind::Object => previous,
        _ => body,
    }
}
