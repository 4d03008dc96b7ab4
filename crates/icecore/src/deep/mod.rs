//! Strings inside a document that are frozen data themselves.
//!
//! WordPress stores some options serialized twice, the payload of a Laravel job
//! is JSON with a string of PHP in it, a cache entry holds Marshal.
//! [`open`] replaces such strings by the values in them.
//!
//! A string counts if a format is [sure or likely](crate::format::Certainty) and reads
//! all of it. Of JSON, objects and arrays that are not empty count: any number or
//! word would be JSON too. Keys are never opened, nor parts of regexps, code and
//! the like, nor what [known](crate::Known) values are made of.

mod copy;
mod nested;

pub(crate) use copy::{is_place, is_sealed, may_be_opened};
pub use nested::{stage_of, stage_within};

use crate::document::Document;
use crate::error::Error;
use crate::hash::SeededMap;
use crate::limits::Limits;
use crate::stage::Stage;
use crate::string_locations::is_long;

/// How many levels of strings in strings are opened. What programs do by mistake
/// or by habit has two or three.
pub const LEVELS: u32 = 16;

/// A document whose strings were opened.
#[derive(Debug)]
pub struct Deep<'a> {
    /// The document with what the strings say in their place; the same one, with
    /// its spelling, if there was nothing to open.
    pub document: Document<'a>,
    /// What was opened, in the order of the document.
    pub opened: Vec<Opened>,
}

/// A string that was opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The node that stands in its place now: [`Document::path`] says where that
    /// is.
    pub node: u32,
    /// The format that it was in, with its wrappers.
    pub stage: Stage,
    /// In how many strings it was: 0 for a string of the document itself.
    pub level: u32,
    /// Where it starts in the input of the document, if it stands there as it is.
    pub offset: Option<u64>,
    /// How many bytes it had.
    pub len: u64,
}

impl Opened {
    /// Its format with wrappers, as `slashes/php`.
    pub fn name(&self) -> String {
        self.stage.name()
    }
}

/// Opens all strings that are frozen data, and the strings in these.
///
/// Each string is tried once, so the work is linear in the document and in what
/// was opened. What is opened is bounded: together it may be
/// [`Limits::expansion`] times as long as the input (a million bytes always), levels of
/// nesting count through all strings, and at most [`LEVELS`] strings may be in
/// each other.
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
/// Of kind `Limit`, with the path of the string; never because a string can't be
/// read: it stays what it is.
pub fn open<'a>(document: Document<'a>, limits: &Limits) -> Result<Deep<'a>, Error> {
    document.tape().check()?;
    let made = copy::Copier::new(&document, limits).run(&document)?;
    let Some((tape, opened)) = made else { return Ok(Deep { document, opened: Vec::new() }) };
    let (input, _) = document.into_parts();
    Ok(Deep { document: Document::new(input, tape), opened })
}

/// The first string that [`open`] would open, and its format with wrappers.
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
    // Long strings that are nothing: copies name them again.
    let mut plain: SeededMap<(usize, usize), ()> = SeededMap::default();
    let mut sealed = 0;
    for at in 0..tape.len() {
        while open.pop_if(|container| tape.next(*container) <= at).is_some() {}
        let node = tape.nodes().get(at as usize)?;
        if copy::is_sealed(document, at, node) {
            sealed = sealed.max(tape.next(at));
        }
        let parent = open.last().and_then(|container| tape.nodes().get(*container as usize));
        if at >= sealed && copy::may_be_opened(node, parent) {
            let bytes = document.bytes(node);
            let place = (bytes.as_ptr() as usize, bytes.len());
            if (!is_long(bytes) || plain.insert(place, ()).is_none())
                && let Some(stage) = stage_within(bytes, &mut limits)
            {
                return Some((at, stage));
            }
        }
        if node.kind.is_container() {
            open.push(at);
        }
    }
    None
}
