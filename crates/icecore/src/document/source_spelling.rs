//! What a document takes over from the document that it was made from.

use super::Document;
use super::detail::{Note, Ordinals, Spelling};
use std::collections::HashMap;

impl Document<'_> {
    /// Takes over what is known of `source` in addition to its values: the language of its names, the metadata of its
    /// wrappers, and the spelling of the values in `kept`. Each pair there is a node of `source` and a node of this
    /// document. A writer then writes these values as the source has them, and all others in its own way.
    ///
    /// ```
    /// use icecore::{Builder, Limits, Request, Stage};
    /// let stage = Stage::parse("php")?;
    /// let limits = Limits::default();
    /// let source = icecore::read_with(b"a:2:{i:0;i:+7;i:1;i:8;}", &stage, Request::new(&limits).detailed())?;
    /// let mut b = Builder::new();
    /// b.begin_array().int(9).int(7).end();
    /// let made = b.finish()?.made_from(&source, &[(1, 2)]);
    /// assert_eq!(icecore::write(&made, "php")?, b"a:2:{i:0;i:9;i:1;i:+7;}");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    #[must_use]
    pub fn made_from(mut self, source: &Document<'_>, kept: &[(u32, u32)]) -> Self {
        self.tape.naming = source.tape.naming;
        self.set_metadata(source.metadata().to_vec());
        let Some(spelling) = source.spelling() else { return self };
        let (source_ordinals, own_ordinals) = (Ordinals::from_tape(source.tape()), Ordinals::from_tape(&self.tape));
        let kept: HashMap<u32, u32> = kept.iter().copied().collect();
        let moved = |note: &Note| {
            let node = *kept.get(&source_ordinals.ordinal_to_node(note.ordinal))?;
            let is_there = (node as usize) < self.nodes().len();
            is_there.then(|| Note { ordinal: own_ordinals.node_to_ordinal(node), ..*note })
        };
        let mut notes: Vec<Note> = spelling.notes.iter().filter_map(moved).collect();
        notes.sort_by_key(|note| note.ordinal);
        let (format, header, bytes) = (spelling.format.clone(), spelling.header.clone(), spelling.bytes.clone());
        self.set_spelling(Spelling { format, header, notes, bytes });
        self
    }
}
