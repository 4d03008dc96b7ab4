//! The loop writes what was read, and the same as the machine.

use crate::document::{Document, Tape};
use crate::format::php::{FORMAT, ReadOptions, WriteOptions, read, write::write};
use crate::format::{DocumentPart, PartProgress, Writer};
use crate::limits::Limits;

/// Generator of values: every kind that the loop handles, links too.
struct Texts {
    seed: u64,
    /// What a link to each value may be.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Variable,
    Object,
    /// A link: PHP refers to its target instead.
    Link,
}

impl Texts {
    fn next(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % below
    }

    fn string(&mut self) -> String {
        let len = [0, 1, 9, 10, 31, 32, 33, 200, 9000][self.next(9) as usize];
        let letter = ["a", "b", "c"][self.next(3) as usize];
        letter.repeat(if self.next(20) == 0 { len } else { len % 12 })
    }

    fn value(&mut self, depth: usize, out: &mut String) {
        let kind = self.next(if depth > 5 { 7 } else { 11 });
        let is_object = kind == 9 || kind == 10;
        self.slots.push(if is_object { Slot::Object } else { Slot::Variable });
        match kind {
            0 => out.push_str("N;"),
            1 => out.push_str(["b:0;", "b:1;"][self.next(2) as usize]),
            2 => {
                let value = self.next(u64::MAX) as i64 >> self.next(63);
                out.push_str(&format!("i:{value};"));
            }
            3 => out.push_str(["d:0.5;", "d:-1.0E+25;", "d:INF;"][self.next(3) as usize]),
            4 | 5 => {
                let text = self.string();
                out.push_str(&format!("s:{}:\"{text}\";", text.len()));
            }
            6 => {
                self.slots.pop();
                let slot = self.next(self.slots.len().max(1) as u64) as usize;
                match self.slots.get(slot).copied() {
                    Some(Slot::Object) if self.next(2) == 0 => {
                        self.slots.push(Slot::Link);
                        out.push_str(&format!("r:{};", slot + 1));
                    }
                    Some(Slot::Object | Slot::Variable) => out.push_str(&format!("R:{};", slot + 1)),
                    _ => {
                        self.slots.push(Slot::Variable);
                        out.push_str("N;");
                    }
                }
            }
            _ => {
                let count = if self.next(40) == 0 { 300 } else { self.next(5) };
                match kind {
                    9 => out.push_str(&format!("O:{}:\"{}\":{count}:{{", 3, "Foo")),
                    10 => out.push_str(&format!("O:{}:\"{}\":{count}:{{", 60, "Long".repeat(15))),
                    _ => out.push_str(&format!("a:{count}:{{")),
                }
                for index in 0..count {
                    match kind {
                        7 => out.push_str(&format!("i:{index};")),
                        8 => out.push_str(&format!("i:{};", index * 3 + 1)),
                        _ => out.push_str(&format!("s:{}:\"k{index}\";", index.to_string().len() + 1)),
                    }
                    self.value(depth + 1, out);
                }
                out.push('}');
            }
        }
    }
}

/// Returns the document as if a program had filled it.
fn by_hand(text: &str) -> Document<'_> {
    let document = read(text.as_bytes(), &ReadOptions::default(), &Limits::default()).unwrap();
    let mut tape = document.into_tape();
    let root = tape.root();
    let nodes = tape.nodes().to_vec();
    let arena = tape.arena().to_vec();
    tape.fill(nodes, arena, root, None);
    FORMAT.named(&mut tape);
    Document::from_tape(text.as_bytes(), tape)
}

#[test]
fn the_loop_rewrites_the_text_that_was_read() {
    let limits = Limits::default();
    for seed in 1..400 {
        let mut text = String::new();
        Texts { seed: 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed), slots: Vec::new() }.value(0, &mut text);
        let document = by_hand(&text);
        let mut out = Vec::new();
        let mut progress = PartProgress::default();
        assert!(super::write_fast(&document, &limits, &mut progress.spare, &mut out, u64::MAX).is_some(), "{text}");
        assert_eq!(String::from_utf8_lossy(&out), text);
        // The machine writes the same.
        let mut machine_output = Vec::new();
        let mut tape: Tape = by_hand(&text).into_tape();
        tape.naming = crate::document::Naming::Plain;
        write(&Document::from_tape(text.as_bytes(), tape), &WriteOptions::default(), &limits, &mut machine_output)
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&machine_output), text);
    }
}

#[test]
fn parts_make_the_whole_document() {
    let limits = Limits::default();
    let mut text = String::from("a:40:{");
    let mut items = Texts { seed: 77, slots: vec![Slot::Variable] };
    for index in 0..40 {
        text.push_str(&format!("i:{index};"));
        items.value(2, &mut text);
    }
    text.push('}');
    let document = by_hand(&text);
    let nodes = document.nodes().to_vec();
    let mut out = Vec::new();
    let mut progress = PartProgress::default();
    let mut tape = document.into_tape();
    // Each part ends before a value, and never directly after a key.
    let mut start = 0;
    while start < nodes.len() {
        let mut end = (start + 7).min(nodes.len());
        while nodes.get(end).is_some_and(|node| node.key == super::KEY_NODE)
            || nodes.get(end - 1).is_some_and(|node| node.kind == super::Kind::Object)
        {
            end += 1;
        }
        tape.fill(nodes[start..end].to_vec(), Vec::new(), 0, None);
        FORMAT.named(&mut tape);
        let part = Document::from_tape(text.as_bytes(), tape);
        let written = WriteOptions::default().write_part(&part, DocumentPart::Nodes(&mut progress), &limits, &mut out);
        assert!(written.is_some(), "{start}: {text}");
        tape = part.into_tape();
        start = end;
    }
    assert_eq!(String::from_utf8_lossy(&out), text);
}
