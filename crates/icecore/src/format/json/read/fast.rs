//! Shortcuts for common JSON without whitespace between tokens. They read members whose names follow each other as in
//! an earlier object, and items that are short integers or plain strings. They stop before anything else and do not
//! consume it.

use super::{MAX_ENTRIES_WITH_IDS, Reader};
use crate::document::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, Sink};
use crate::error::Error;
use crate::format::json::key_prediction::KeyPrediction;
use crate::format::json::{number, string};

impl<S: Sink, const FAST: bool, const RELAXED: bool> Reader<'_, '_, S, FAST, RELAXED> {
    /// Remembers that the name with this id is at `start` of the input, without escapes, and
    /// follows `previous_key`.
    pub(super) fn learn_name(&mut self, previous_key: u16, id: u16, start: usize, len: usize) {
        KeyPrediction::get_or_insert(&mut self.predictions, previous_key).next = id;
        let prediction = KeyPrediction::get_or_insert(&mut self.predictions, id);
        prediction.unescaped_len_plus_one = u32::try_from(len + 1).unwrap_or(0);
        // The text is the name with its two quotes and the colon. It is compared as one word of 16 bytes, so the name
        // may have at most 13 bytes.
        if prediction.text_len == 0 && len <= 13 {
            let mut text = [0; 16];
            if let Some(name) = self.input.get(start..start + len) {
                text[0] = b'"';
                text[1..=len].copy_from_slice(name);
                text[len + 1] = b'"';
                text[len + 2] = b':';
                prediction.text = u128::from_le_bytes(text);
                prediction.mask = u128::MAX >> (128 - 8 * (len + 3));
                prediction.text_len = len as u32 + 3;
            }
        }
    }

    /// Returns the leaf that starts at `start`, and its end, if it is an integer or an ASCII string without escapes.
    /// Such a leaf needs no arena, no UTF-8 check and no rounding.
    #[inline(always)]
    fn parse_plain_leaf(&self, start: usize) -> Option<(Node, usize)> {
        match self.input.get(start)? {
            b'"' => {
                let first = start + 1;
                let stop = string::find_special::<true>(self.input, first);
                let len = u32::try_from(stop.offset - first).ok().filter(|len| *len < u32::MAX)?;
                let is_plain = self.input.get(stop.offset) == Some(&b'"')
                    && !stop.has_non_ascii
                    && u64::from(len) <= self.limits.string;
                is_plain.then(|| (Node::string(Kind::Text, Location::Input(first as u64), len), stop.offset + 1))
            }
            b'-' | b'0'..=b'9' => {
                number::parse_short_integer(self.input, start).map(|(value, end)| (Node::int(value), end))
            }
            _ => None,
        }
    }

    /// Reads members from a name on. Returns `true` if it stops after the last value of the object, and `false` if it
    /// stops before a name.
    #[inline]
    pub(super) fn read_members(&mut self) -> bool {
        let mut offset = self.offset;
        let Some(top) = self.open.last() else { return false };
        let (mut count, mut previous_key) = (top.count, top.previous_key);
        let is_complete = loop {
            let id = self.predictions.get(usize::from(previous_key)).map_or(0, |known| known.next);
            let prediction = self.predictions.get(usize::from(id)).filter(|prediction| prediction.text_len > 0);
            let Some(prediction) = prediction else { break false };
            // A name is compared in a block of 16 bytes. At the end of the input such a block does not exist, so the
            // machine reads the name.
            let Some(window) = self.input.get(offset..).and_then(|rest| rest.first_chunk::<16>()) else { break false };
            // The mask removes the bytes after the colon.
            if u128::from_le_bytes(*window) & prediction.mask != prediction.text || count >= MAX_ENTRIES_WITH_IDS {
                break false;
            }
            let Some((mut node, end)) = self.parse_plain_leaf(offset + prediction.text_len as usize) else {
                break false;
            };
            let next_byte = self.input.get(end);
            let is_last = next_byte == Some(&b'}');
            if !is_last && next_byte != Some(&b',') {
                break false;
            }
            // At the limit of nodes, nothing of this member is consumed, so the machine reports the error at its name.
            let limit = self.limits.nodes;
            let tape = self.sink.tape();
            if tape.len() >= limit {
                break false;
            }
            node.key = id;
            tape.push(node);
            previous_key = id;
            if is_last {
                offset = end;
                break true;
            }
            offset = end + 1;
            count += 1;
        };
        self.offset = offset;
        if let Some(top) = self.open.last_mut() {
            (top.count, top.previous_key) = (count, previous_key);
        }
        is_complete
    }

    /// Reads items up to one that only the machine can read.
    #[inline]
    pub(super) fn read_items(&mut self) -> Result<(), Error> {
        let mut count = 0;
        while let Some((node, end)) = self.parse_plain_leaf(self.offset) {
            // An item is read only if a comma follows it. The machine reads the last item and the end of the array.
            let limit = self.limits.nodes;
            let tape = self.sink.tape();
            if self.input.get(end) != Some(&b',') || tape.len() >= limit {
                break;
            }
            tape.push(node);
            self.offset = end + 1;
            count += 1;
            if self.open.len() == 1 {
                self.sink.finish_child()?;
            }
        }
        if let Some(top) = self.open.last_mut() {
            top.count += count;
        }
        Ok(())
    }

    /// Consumes the predicted name if it is here.
    pub(super) fn read_predicted_name(&mut self) -> bool {
        let Some(top) = self.open.last_mut() else { return false };
        if top.count >= MAX_ENTRIES_WITH_IDS {
            return false;
        }
        let keys = &self.sink.tape().keys;
        let id = keys.predict_next(top.previous_key);
        let known = self
            .predictions
            .get(usize::from(id))
            .and_then(|known| (known.unescaped_len_plus_one as usize).checked_sub(1));
        let Some(len) = known else { return false };
        let (start, end) = (self.offset + 1, self.offset + 1 + len);
        if self.input.get(self.offset) != Some(&b'"')
            || self.input.get(end) != Some(&b'"')
            || !keys.is_name_at(id, Kind::Text, 0, self.input, start, len)
        {
            return false;
        }
        debug_assert!(id != NO_KEY && id != KEY_NODE && id != IS_KEY);
        self.offset = end + 1;
        self.key = id;
        top.previous_key = id;
        true
    }
}
