//! Completes a document after reading: follows the paths, and makes a list if the text has several values.

use super::Machine;
use super::heap::Heap;
use super::rewrite::Rewriter;

use crate::document::{IS_KEY, Recorder, Sink};
use crate::error::Error;

impl<S: Sink> Machine<'_, '_, S> {
    /// Completes the document, also after an error. Returns the error that stopped reading, with its path.
    pub(super) fn finish(mut self, error: Option<Error>) -> Option<Error> {
        let error = error.map(|error| error.on_path(self.error_path()));
        self.close_open_frames();
        let len = self.sink.tape().len();
        self.roots.retain(|root| root.node < len);
        if S::DETAIL {
            let (layout, pad) = (std::mem::take(&mut self.layout), self.lexer.pad);
            let has_repairs = self.pending_paths.iter().any(|pending_path| pending_path.is_statement);
            let roots = &self.roots;
            if let Some(detail) = self.sink.detail() {
                layout.record_settings(detail, pad, roots, has_repairs);
            }
        }
        self.sink.tape().root = 0;
        if self.pending_paths.is_empty() && self.roots.len() < 2 {
            return error;
        }
        let end = self.lexer.position;
        error.or(self.resolve_paths().map_err(|error| error.at(end)).err())
    }

    /// Follows the paths and rewrites the tape.
    fn resolve_paths(&mut self) -> Result<(), Error> {
        let mut tape = std::mem::take(self.sink.tape());
        let mut heap = Heap::new(self.lexer, &mut tape, self.limits, &self.roots, &self.pending_paths);
        let followed = heap.follow_all_paths();
        let roots: Vec<u32> = self.roots.iter().map(|root| root.node).collect();
        let result = Rewriter::new(&mut heap, self.limits).rewrite_tape(&roots, self.sink.detail());
        *self.sink.tape() = tape;
        followed.and(result)
    }

    /// Returns the path of what could not be read.
    fn error_path(&mut self) -> String {
        if self.roots.is_empty() || self.has_repairs {
            return "$".to_owned();
        }
        let tape = self.sink.tape();
        let path = tape.path_to(tape.len(), self.lexer.input);
        match self.roots.len() {
            1 => path,
            len => format!("$[{}]{}", len - 1, path.strip_prefix('$').unwrap_or(&path)),
        }
    }

    /// Closes open containers, if the text was cut off.
    fn close_open_frames(&mut self) {
        let tape = self.sink.tape();
        if tape.nodes.last().is_some_and(|node| node.key == IS_KEY) {
            tape.nodes.pop();
        }
        while let Some(frame) = self.frames.last().copied() {
            let tape = self.sink.tape();
            let (mut child, mut count) = (frame.node + 1, 0);
            while child < tape.len() {
                child += u32::from(tape.nodes[child as usize].key == IS_KEY);
                child = tape.index_after(child);
                count += 1;
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.count = count;
            }
            self.sink.record_cut(frame.node, None);
            self.close_frame();
        }
    }
}
