//! Structs: the entries of a map, or the members of an object, by their names.

use super::{Column, fields_of};
use crate::error::Error;
use crate::misfit::Misfit;
use crate::view::{Key, View};
use arrow_array::StructArray;
use arrow_buffer::NullBuffer;
use arrow_schema::Fields;
use icecore::Kind;
use icecore::raw::Node;

/// A key that is no field.
const NONE: u16 = u16::MAX;

#[derive(Debug)]
pub(crate) struct Record {
    fields: Fields,
    columns: Vec<Column>,
    /// For ids of keys which field that is, from 1 on; 0: not known yet.
    by_id: Vec<u16>,
    len: usize,
}

impl Record {
    pub(crate) fn new(fields: &Fields, depth: usize) -> Result<Record, Error> {
        Ok(Record { fields: fields.clone(), columns: fields_of(fields, depth)?, by_id: Vec::new(), len: 0 })
    }

    pub(crate) fn needs_document(&self) -> bool {
        self.columns.iter().any(Column::needs_document)
    }

    pub(crate) fn forget_names(&mut self) {
        self.by_id.clear();
        self.columns.iter_mut().for_each(Column::forget_names);
    }

    /// Adds the map at this node, which is settled; an empty list is one.
    pub(crate) fn push(&mut self, view: View<'_>, map: u32) -> Result<(), Misfit> {
        if view.node(map).kind == Kind::Map {
            for (key, value) in view.entries(map) {
                let field = match key {
                    Key::Name(id) => match self.by_id.get(usize::from(id)) {
                        Some(known @ 1..) => *known,
                        _ => self.look_up(view, id),
                    },
                    Key::Node(node) => self.named_by(view, node),
                };
                let Some(column) = self.columns.get_mut(usize::from(field).wrapping_sub(1)) else { continue };
                if column.len() > self.len {
                    // A key that is there twice: the last one counts.
                    column.truncate(self.len);
                }
                column.push(view, value)?;
            }
        }
        self.end(view, map)
    }

    /// What has no value yet gets null; fields that tell of the value itself are filled.
    fn end(&mut self, view: View<'_>, map: u32) -> Result<(), Misfit> {
        let len = self.len;
        for (column, field) in self.columns.iter_mut().zip(self.fields.iter()) {
            if column.len() > len {
                continue;
            }
            if !column.is_told() {
                let missing = |misfit: Misfit| misfit.expecting(format!("the field {:?}", field.name()));
                column.push_null(map).map_err(missing)?;
                continue;
            }
            column.push_told(view, owner(view, map))?;
        }
        self.len += 1;
        Ok(())
    }

    #[cold]
    fn look_up(&mut self, view: View<'_>, id: u16) -> u16 {
        let field = match view.name(id) {
            Some(name) if name.node.kind == Kind::Int => self.named((name.node.payload as i64).to_string().as_bytes()),
            Some(name) => self.named(name.bytes),
            None => NONE,
        };
        let index = usize::from(id);
        if self.by_id.len() <= index {
            self.by_id.resize(index + 1, 0);
        }
        self.by_id[index] = field;
        field
    }

    fn named_by(&self, view: View<'_>, key: &Node) -> u16 {
        match key.kind {
            Kind::Int => self.named((key.payload as i64).to_string().as_bytes()),
            kind if kind.is_string() => self.named(view.bytes(key)),
            _ => NONE,
        }
    }

    /// The field of this name, as PHP mangles it or Ruby marks it.
    fn named(&self, name: &[u8]) -> u16 {
        let name = match name {
            [0, rest @ ..] => rest.iter().position(|byte| *byte == 0).map_or(name, |end| &rest[end + 1..]),
            _ => name,
        };
        let bare = name.strip_prefix(b"@").unwrap_or(name);
        let is_it = |name: &[u8]| {
            let told = |at: &usize| self.columns.get(*at).is_some_and(Column::is_told);
            let found = self.fields.iter().position(|field| field.name().as_bytes() == name);
            found.filter(|at| !told(at))
        };
        let found = is_it(name).or_else(|| is_it(bare));
        found.and_then(|at| u16::try_from(at + 1).ok()).unwrap_or(NONE)
    }

    pub(crate) fn fill_null(&mut self) {
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

/// The object whose body this is, or it itself.
fn owner(view: View<'_>, body: u32) -> u32 {
    match body.checked_sub(1) {
        Some(before) if view.node(before).kind == Kind::Object => before,
        _ => body,
    }
}
