//! Strings inside a document that are frozen data.
//!
//! WordPress stores some options serialized twice, the payload of a Laravel job is JSON that contains a PHP string, and
//! a cache entry contains Marshal. [`open`] replaces such strings by the values in them.
//!
//! A string is opened if a format is [sure or likely](crate::format::Certainty) and reads all of it. For JSON, only
//! objects and arrays that are not empty count, because any number or word would be JSON too. Never opened are keys,
//! parts of regexps, code and the like, and parts of [known](crate::Known) values.

mod copy;
mod nested;

pub(crate) use copy::{is_sealed, may_be_opened, may_contain_nested};
pub use nested::{stage_of, stage_within};

use crate::document::Document;
use crate::error::Error;
use crate::hash::SeededMap;
use crate::limits::Limits;
use crate::stage::Stage;
use crate::string_locations::is_long_string;

/// Maximum number of levels of nested strings that are opened. Programs produce two or three by mistake or by habit.
pub const LEVELS: u32 = 16;

/// A document whose strings were opened.
#[derive(Debug)]
pub struct Deep<'a> {
    /// The document with the values in place of the strings. If there was nothing to open, it is the given document,
    /// with its spelling.
    pub document: Document<'a>,
    /// The opened strings, in the order of the document.
    pub opened: Vec<OpenedString>,
}

/// A string that was opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenedString {
    /// The node that replaced the string; [`Document::path`] returns its path.
    pub node: u32,
    /// The format of the string, with its wrappers.
    pub stage: Stage,
    /// Number of strings around it: 0 for a string of the document itself.
    pub level: u32,
    /// Start of the string in the input of the document, if it is there verbatim.
    pub offset: Option<u64>,
    /// Length of the string in bytes.
    pub len: u64,
}

impl OpenedString {
    /// Its format with wrappers, such as `slashes/php`.
    pub fn name(&self) -> String {
        self.stage.name()
    }
}

/// Opens all strings that are frozen data, and the strings in them.
///
/// Each string is tried once, so the work is linear in the size of the document and of the opened strings. Opening is
/// limited: all opened strings together may have [`Limits::expansion`] times the length of the input (or a million
/// bytes, if that is more), the nesting depth counts through all strings, and at most [`LEVELS`] strings may be nested.
///
/// ```
/// use icecore::{Limits, deep};
/// // serialize(['option' => serialize(['a' => 1])])
/// let php = br#"a:1:{s:6:"option";s:18:"a:1:{s:1:"a";i:1;}";}"#;
/// let deep = deep::open(icecore::read(php)?, &Limits::default())?;
/// assert_eq!(icecore::write(&deep.document, "json")?, br#"{"option":{"a":1}}"#);
/// let opened = &deep.opened[0];
/// assert_eq!((opened.name().as_str(), opened.offset), ("php", Some(24)));
/// assert_eq!(deep.document.path(opened.node), "$.option");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Limit`, with the path of the string. A string that can't be read is not an error: it stays unchanged.
pub fn open<'a>(document: Document<'a>, limits: &Limits) -> Result<Deep<'a>, Error> {
    document.tape().check_structure()?;
    let copied = copy::Copier::new(&document, limits).copy_document(&document)?;
    let Some((tape, opened)) = copied else { return Ok(Deep { document, opened: Vec::new() }) };
    let (input, _) = document.into_parts();
    Ok(Deep { document: Document::new(input, tape), opened })
}

/// Returns the first string that [`open`] would open, and its format with wrappers.
///
/// ```
/// use icecore::{Limits, deep};
/// let document = icecore::read(br#"{"id": "x", "job": "a:1:{i:0;i:5;}"}"#)?;
/// let (node, stage) = deep::first(&document, &Limits::default()).unwrap();
/// assert_eq!((document.path(node).as_str(), stage.name().as_str()), ("$.job", "php"));
/// # Ok::<(), icecore::Error>(())
/// ```
pub fn first(document: &Document<'_>, limits: &Limits) -> Option<(u32, Stage)> {
    let (tape, mut limits) = (document.tape(), limits.clone());
    let mut open: Vec<u32> = Vec::new();
    // Long strings that are not frozen data. Several nodes may refer to one of them, and it is examined only once.
    let mut plain_strings: SeededMap<(usize, usize), ()> = SeededMap::default();
    // The first node after the last value in which no string is opened.
    let mut sealed_end = 0;
    for index in 0..tape.len() {
        while open.pop_if(|container| tape.index_after(*container) <= index).is_some() {}
        let node = tape.nodes().get(index as usize)?;
        if copy::is_sealed(document, index, node) {
            sealed_end = sealed_end.max(tape.index_after(index));
        }
        let parent = open.last().and_then(|container| tape.nodes().get(*container as usize));
        if index >= sealed_end && copy::may_be_opened(node, parent) {
            let bytes = document.bytes(node);
            let place = (bytes.as_ptr() as usize, bytes.len());
            if (!is_long_string(bytes) || plain_strings.insert(place, ()).is_none())
                && let Some(stage) = stage_within(bytes, &mut limits)
            {
                return Some((index, stage));
            }
        }
        if node.kind.is_container() {
            open.push(index);
        }
    }
    None
}
