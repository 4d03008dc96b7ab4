//! A document that breaks off, with what is missing marked.

use super::builder::Insert;
use super::{Builder, Cursor, Document, Extent, Kind, NO_KEY};
use crate::error::Error;
use crate::format::{End, Outcome};
use crate::steps;

/// The key of a mark.
const MARK: &str = "(missing)";
/// How much of what was not understood a mark holds.
const REST: usize = 64 << 10;

/// What could be read of a document that breaks off.
#[derive(Debug)]
pub struct Salvaged {
    /// It, with a mark at the end of each container that was not read to its end.
    pub document: Document<'static>,
    /// How many values it has, without the marks.
    pub values: u64,
    /// Behind which byte of the input nothing was understood.
    pub from: u64,
    /// How many bytes that are.
    pub lost: u64,
}

impl Outcome<'_> {
    /// What could be read of a document that breaks off; `None`, if there is nothing, or if it
    /// does not break off. It has to be read with detail.
    ///
    /// A list that was not read to its end gets a last item `{"(missing)": {…}}`, a map a last
    /// entry with this key. It says how many items or entries were read, how many there should be
    /// if the input says so, and, of the innermost one, what is wrong, where, how many bytes were
    /// not understood, and the first of them.
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
    /// If it has more names or values than a document can hold.
    pub fn salvage(&self) -> Result<Option<Salvaged>, Error> {
        let (Some(error), Some(trace)) = (&self.error, self.document.trace()) else { return Ok(None) };
        if self.document.nodes().is_empty() || trace.cut.is_empty() {
            return Ok(None);
        }
        let is_cut = |node: usize| trace.cut_at(node as u32).is_some();
        let layer = u8::from(trace.layer.is_some());
        let cut_word = self.cut_word();
        let is_read = |(node, extent): &(usize, &Extent)| {
            extent.layer == layer && !extent.copied && !is_cut(*node) && cut_word != Some(*node as u32)
        };
        let ends = trace.extents.iter().enumerate().filter(is_read);
        let input = self.document.input();
        let from = ends.map(|(_, extent)| extent.end).max().unwrap_or(0).min(input.len() as u64);
        let lost = input.len() as u64 - from;
        let innermost = trace.cut.last().map(|cut| cut.node);
        let mut marks = Vec::with_capacity(trace.cut.len());
        for cut in &trace.cut {
            steps::count(1);
            let is_map = self.document.node(cut.node).kind == Kind::Map;
            // The key of the last value may be what is missing.
            let is_whole = |child: &Cursor<'_>| {
                let has_key = !is_map || self.document.node(child.index()).key != NO_KEY;
                has_key && cut_word != Some(child.index())
            };
            let read = Cursor::new(&self.document, cut.node).children().filter(is_whole).count();
            let mut mark = Builder::new();
            mark.begin_map().text_key(MARK).begin_map().text_key("read").uint(read as u64);
            if let Some(of) = cut.of {
                mark.text_key("of").uint(u64::from(of));
            }
            if innermost == Some(cut.node) {
                let rest = input.get(from as usize..).unwrap_or_default();
                let rest = rest.get(..REST).unwrap_or(rest);
                mark.text_key("reason").text(&error.to_string()).text_key("offset").uint(from);
                mark.text_key("lost").uint(lost).text_key("rest").bytes(rest);
            }
            mark.end().end();
            marks.push(Mark { node: cut.node, read: read as u32, document: mark.finish()? });
        }
        let mut builder = Builder::like(&self.document);
        builder.value_with(self.document.root(), &mut Marks { marks, cut_word, document: &self.document });
        let values = self.document.nodes().len() as u64;
        let mut document = builder.finish()?;
        document.set_metadata(self.document.metadata().to_vec());
        Ok(Some(Salvaged { document, values, from, lost }))
    }
}

/// What is put at the end of a container, which has so many items.
struct Mark {
    node: u32,
    read: u32,
    document: Document<'static>,
}

/// The marks of a document, by their nodes.
struct Marks<'m> {
    marks: Vec<Mark>,
    cut_word: Option<u32>,
    document: &'m Document<'m>,
}

impl Marks<'_> {
    fn of(&self, node: u32) -> Option<(&Mark, Kind)> {
        let at = self.marks.binary_search_by_key(&node, |mark| mark.node).ok()?;
        Some((&self.marks[at], self.document.node(node).kind))
    }
}

impl Outcome<'_> {
    /// A value of a text behind which nothing stands: it may be cut, or be a key, unless the
    /// format says where values end.
    fn cut_word(&self) -> Option<u32> {
        let document = &self.document;
        let can = crate::format::by_name(&document.spelling()?.format)?.can;
        let at = document.nodes().len().checked_sub(1)?;
        let behind = document.input().get(document.trace()?.extents.get(at)?.end as usize..)?;
        // An arrow behind a key may be cut as well.
        let is_nothing = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'=';
        let is_cut = can.text && can.end != End::Declared && behind.iter().all(is_nothing);
        (is_cut && !document.nodes()[at].kind.is_container()).then_some(at as u32)
    }
}

impl Insert for Marks<'_> {
    fn leaves_out(&self, node: u32) -> bool {
        self.cut_word == Some(node)
    }

    /// What is nothing without all of its parts.
    fn instead(&self, node: u32) -> Option<&Document<'static>> {
        let (mark, kind) = self.of(node)?;
        let is_list = matches!(kind, Kind::Array | Kind::Map);
        let is_around = matches!(kind, Kind::Object | Kind::Ref | Kind::Attrs);
        (!is_list && (!is_around || mark.read == 0)).then_some(&mark.document)
    }

    fn behind(&self, builder: &mut Builder, node: u32) -> Option<u32> {
        let (mark, kind) = self.of(node)?;
        match kind {
            // The entry, or the map that has it.
            Kind::Map => builder.add(&mark.document, 1),
            Kind::Array => builder.add(&mark.document, 0),
            _ => return None,
        }
        Some(mark.read + 1)
    }
}
