//! A document that breaks off, with marks for the missing parts.

use crate::document::{Builder, Changes, Cursor, Document, Extent, IS_KEY, KEY_NODE, Kind, NO_KEY};
use crate::error::Error;
use crate::format::{End, Outcome};
use crate::steps;
use std::collections::HashSet;

/// The key of a mark.
const MISSING_KEY: &str = "(missing)";
/// The key of a value whose own key is missing.
const UNNAMED_KEY: &str = "(unnamed)";
/// Maximum number of unreadable bytes that a mark contains.
const MAX_REST: usize = 64 << 10;

/// The readable part of a document that breaks off.
#[derive(Debug)]
pub struct Salvaged {
    /// The document, with a mark at the end of each container that was not read completely.
    pub document: Document<'static>,
    /// Number of its values, without the marks.
    pub values: u64,
    /// Offset in the input after which nothing could be read.
    pub from: u64,
    /// Number of unreadable bytes.
    pub lost: u64,
}

impl Outcome<'_> {
    /// Returns the readable part of a document that breaks off; `None` if there is nothing, or if it does not break
    /// off. The document must have been read with detail.
    ///
    /// An incomplete list gets a last item `{"(missing)": {…}}`, an incomplete map a last entry with this key. It
    /// contains the number of items or entries that were read, and the declared number if the input has it. For the
    /// innermost container it also contains the error, its position, the number of unreadable bytes, and the first of
    /// these bytes. A value whose key would have followed it gets the key `(unnamed)`.
    ///
    /// ```
    /// use icecore::{Limits, Request, Stage};
    /// let stage = Stage::parse("php")?;
    /// let limits = Limits::new();
    /// let outcome = stage.format().read(b"a:2:{i:0;i:5;i:1;s:9:\"ab", stage.settings(), Request::new(&limits).detailed());
    /// let salvaged = outcome.salvage()?.expect("it breaks off");
    /// assert_eq!((salvaged.from, salvaged.lost), (13, 11));
    /// let root = salvaged.document.root();
    /// assert_eq!(root.item(0).and_then(|item| item.as_i64()), Some(5));
    /// let missing = root.item(1).and_then(|item| item.get("(missing)")).expect("a mark");
    /// assert_eq!(missing.get("rest").and_then(|rest| rest.as_bytes()), Some(&b"i:1;s:9:\"ab"[..]));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it has more names or values than a document can contain.
    pub fn salvage(&self) -> Result<Option<Salvaged>, Error> {
        self.salvage_before(usize::MAX)
    }

    /// Like [`Outcome::salvage`], for callers that know where the next document begins: the bytes from there on do not
    /// count as lost.
    ///
    /// ```
    /// use icecore::{Limits, Request, Stage};
    /// let (stage, limits) = (Stage::parse("php")?, Limits::new());
    /// let request = Request::new(&limits).detailed();
    /// let outcome = stage.format().read(b"a:2:{i:0;i:5;i:1;x\na:0:{}", stage.settings(), request);
    /// assert_eq!(outcome.salvage_before(18)?.expect("it breaks off").lost, 5);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Outcome::salvage`].
    pub fn salvage_before(&self, end: usize) -> Result<Option<Salvaged>, Error> {
        let (Some(error), Some(trace)) = (&self.error, self.document.trace()) else { return Ok(None) };
        if self.document.nodes().is_empty() || trace.cut.is_empty() {
            return Ok(None);
        }
        let is_cut = |node: usize| trace.cut_at(node as u32).is_some();
        let input = self.document.input();
        let cut_word = self.find_cut_word();
        let layer = u8::from(trace.layer.is_some());
        // Bytes after the document are outside of a layer.
        let input = if layer == 0 { input.get(..end).unwrap_or(input) } else { input };
        let is_read = |(node, extent): &(usize, &Extent)| {
            extent.layer == layer && !extent.copied && !is_cut(*node) && cut_word != Some(*node as u32)
        };
        let ends = trace.extents.iter().enumerate().filter(is_read);
        let from = ends.map(|(_, extent)| extent.end).max().unwrap_or(0).min(input.len() as u64);
        let lost = input.len() as u64 - from;
        let innermost = trace.cut.last().map(|cut| cut.node);
        let mut changes = Changes { removed: cut_word.into_iter().collect(), ..Changes::default() };
        let mut marks = Vec::with_capacity(trace.cut.len());
        let mut unnamed = Vec::new();
        for cut in &trace.cut {
            steps::count(1);
            let count = self.count_items(cut.node, &mut changes.removed, &mut unnamed);
            changes.cut.insert(cut.node, count.total);
            let mut mark = Builder::new();
            mark.begin_map().text_key(MISSING_KEY).begin_map().text_key("read").uint(u64::from(count.complete));
            if let Some(of) = cut.of {
                mark.text_key("of").uint(u64::from(of));
            }
            if innermost == Some(cut.node) {
                let rest = input.get(from as usize..).unwrap_or_default();
                let rest = rest.get(..MAX_REST).unwrap_or(rest);
                mark.text_key("reason").text(&error.to_string()).text_key("offset").uint(from);
                mark.text_key("lost").uint(lost).text_key("rest").bytes(rest);
            }
            mark.end().end();
            marks.push((cut.node, count.complete, mark.finish()?));
        }
        let mut name = Builder::new();
        name.begin_map().text_key(UNNAMED_KEY).null().end();
        let name = name.finish()?;
        changes.keys.extend(unnamed.into_iter().map(|value| (value, Cursor::new(&name, 1))));
        for (node, complete_count, mark) in &marks {
            match self.document.node(*node).kind {
                // The entry, or the map that contains it.
                Kind::Map => drop(changes.added.insert(*node, vec![Cursor::new(mark, 1)])),
                Kind::Array => drop(changes.added.insert(*node, vec![mark.root()])),
                Kind::Object | Kind::Ref | Kind::Attrs if *complete_count > 0 => {}
                // Values that need all of their parts.
                _ => drop(changes.replaced.insert(*node, mark.root())),
            }
        }
        let (mut document, _) = Builder::copy_with_changes(&self.document, &changes)?;
        let values = self.document.nodes().len() as u64;
        document.set_metadata(self.document.metadata().to_vec());
        Ok(Some(Salvaged { document, values, from, lost }))
    }
}

impl Outcome<'_> {
    /// Returns a value at the end of a text, if nothing follows it. It may be truncated or be a key, unless the
    /// format declares where values end.
    fn find_cut_word(&self) -> Option<u32> {
        let document = &self.document;
        let can = crate::format::by_name(&document.spelling()?.format)?.can;
        let index = document.nodes().len().checked_sub(1)?;
        let rest = document.input().get(document.trace()?.extents.get(index)?.end as usize..)?;
        // An arrow after a key may be truncated as well.
        let is_nothing = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'=';
        let is_cut = can.text && can.end != End::Declared && rest.iter().all(is_nothing);
        (is_cut && !document.nodes()[index].kind.is_container()).then_some(index as u32)
    }

    /// Counts the items of a container, without keys that have no value. Also collects values without a key: in some
    /// formats the key follows.
    fn count_items(&self, container: u32, gone: &mut HashSet<u32>, unnamed: &mut Vec<u32>) -> ItemCount {
        let (document, tape) = (&self.document, self.document.tape());
        let is_map = document.node(container).kind == Kind::Map;
        let (mut index, end) = (container + 1, tape.index_after(container));
        let mut count = ItemCount { total: 0, complete: 0 };
        while index < end {
            let (key, next) = (document.node(index).key, tape.index_after(index));
            if key == IS_KEY {
                // The key of a preceding value may be written here later.
                if next >= end || !matches!(document.node(next).key, KEY_NODE | NO_KEY) {
                    gone.insert(next);
                }
            } else {
                count.total += 1;
                if is_map && key == NO_KEY {
                    unnamed.push(index);
                }
                count.complete += u32::from(!gone.contains(&index));
            }
            index = next;
        }
        count
    }
}

/// Number of items, and of complete items.
struct ItemCount {
    total: u32,
    complete: u32,
}
