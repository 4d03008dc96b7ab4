//! `json:typed`: everything in a Document, as JSON. `docs/json-typed.md` describes it.

mod form;
mod key;
mod map;
mod read;
mod spelling;
mod write;

pub(super) use read::read_typed;
pub(super) use write::write_typed;

/// The version that is written; higher versions are refused.
const VERSION: i64 = 1;

/// The kind of plain JSON strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlainStringKind {
    Text,
    Bytes,
}

impl PlainStringKind {
    fn kind(self) -> crate::document::Kind {
        match self {
            PlainStringKind::Text => crate::document::Kind::Text,
            PlainStringKind::Bytes => crate::document::Kind::Bytes,
        }
    }
}
