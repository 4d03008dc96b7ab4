//! Finds the strings in the spans that the reader recorded.

use super::{Barless, Escaped};
use crate::document::Document;
use crate::edit::Part;
use crate::format::strings::{Found, Length, Measured, Place, Places, Wanted};

/// Where a session puts the name of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format::php) enum Names {
    /// After a byte with its length.
    Counted,
    /// Before a bar.
    Ended,
}

/// Returns the wanted strings of a document that was read with detail.
pub(in crate::format::php) fn collect(
    text: &[u8],
    document: &Document<'_>,
    consumed: usize,
    names: Names,
    wanted: &Wanted<'_>,
) -> Places<'static> {
    let mut places = Places { consumed, escapings: vec![Box::new(Escaped), Box::new(Barless)], ..Places::default() };
    let Some(trace) = document.trace() else { return places };
    let mut found = Finding { text, wanted, list: &mut places.list };
    for span in &trace.spans {
        let (start, end) = (span.start as usize, span.end as usize);
        match span.what {
            // The string and its end follow the length.
            "length" => found.string(start),
            "value" => found.scalar(start, end),
            "key" if wanted.keys || wanted.classes => found.key(start, end),
            "name" if wanted.keys => found.name(names, start, end),
            "head" => {
                let body_end = trace.extents.get(span.node as usize).map_or(0, |extent| extent.end as usize);
                found.head(start, end, body_end);
            }
            "payload" if (wanted.may)(start, end) => {
                found.list.push(Found::Opaque(start, end));
            }
            _ => {}
        }
    }
    places
}

struct Finding<'f> {
    text: &'f [u8],
    wanted: &'f Wanted<'f>,
    list: &'f mut Vec<Found>,
}

impl Finding<'_> {
    fn may(&self, start: usize, end: usize) -> bool {
        (self.wanted.may)(start, end)
    }

    /// Notes the string with the head `s:5:"`.
    fn string(&mut self, at: usize) {
        let length = Length::digits(self.text, at + 2);
        let start = length.end + 2;
        let end = start.saturating_add(length.was as usize);
        if self.may(start, end) {
            self.list.push(Found::Text(Place::plain(start, end, Some(length))));
        }
    }

    /// Notes the string of `S:5:"\41…";` or `E:5:"A:One";`; other scalars have none.
    fn scalar(&mut self, start: usize, end: usize) {
        match self.text.get(start) {
            Some(b'S') => self.escaped(start, end, Part::Value),
            Some(b'E') if self.wanted.classes => {
                let length = Length::digits(self.text, start + 2);
                let (first, last) = (length.end + 2, end - 2);
                let name = self.text.get(first..last).unwrap_or_default();
                let class = name.iter().position(|byte| *byte == b':').unwrap_or(name.len());
                self.list.push(Found::Measured(Measured { end: last, length }));
                self.piece(first, first + class, Part::Class);
            }
            _ => {}
        }
    }

    fn escaped(&mut self, start: usize, end: usize, part: Part) {
        let length = Length::digits(self.text, start + 2);
        let (first, last) = (length.end + 2, end.saturating_sub(2));
        if self.may(first, last) {
            let place = Place { part, escaping: Some(0), ..Place::plain(first, last, Some(length)) };
            self.list.push(Found::Text(place));
        }
    }

    fn piece(&mut self, start: usize, end: usize, part: Part) {
        if self.may(start, end) {
            self.list.push(Found::Text(Place { part, ..Place::plain(start, end, None) }));
        }
    }

    /// Notes a key; the key of a non-public property contains its class: `\0Class\0name`.
    fn key(&mut self, start: usize, end: usize) {
        match self.text.get(start) {
            Some(b's') => {
                let length = Length::digits(self.text, start + 2);
                let (first, last) = (length.end + 2, end.saturating_sub(2));
                let name = self.text.get(first..last).unwrap_or_default();
                self.list.push(Found::Measured(Measured { end: last, length }));
                let class = match name {
                    [0, rest @ ..] => rest.iter().position(|byte| *byte == 0),
                    _ => None,
                };
                let Some(class) = class else {
                    if self.wanted.keys {
                        self.piece(first, last, Part::Key);
                    }
                    return;
                };
                if self.wanted.classes && name.get(1) != Some(&b'*') {
                    self.piece(first + 1, first + 1 + class, Part::Class);
                }
                if self.wanted.keys {
                    self.piece(first + class + 2, last, Part::Key);
                }
            }
            Some(b'S') if self.wanted.keys => self.escaped(start, end, Part::Key),
            _ => {}
        }
    }

    /// Notes the name of a variable in a session.
    fn name(&mut self, names: Names, start: usize, end: usize) {
        let counted = |byte: &u8| Length { start, end: start + 1, was: u64::from(*byte), most: Some(0x7f) };
        let place = match names {
            Names::Counted => {
                let length = self.text.get(start).filter(|byte| **byte <= 0x7f).map(counted);
                Place::plain(start + 1, end, length)
            }
            Names::Ended => Place { escaping: Some(1), ..Place::plain(start, end - 1, None) },
        };
        if (names == Names::Ended || place.length.is_some()) && self.may(place.start, place.end) {
            self.list.push(Found::Text(Place { part: Part::Key, ..place }));
        }
    }

    /// Notes the class in `O:4:"User":1:{` or `C:11:"ArrayObject":21:{`; arrays have
    /// none.
    fn head(&mut self, start: usize, end: usize, body_end: usize) {
        let letter = self.text.get(start).copied();
        if !matches!(letter, Some(b'O' | b'C')) {
            return;
        }
        let length = Length::digits(self.text, start + 2);
        let first = length.end + 2;
        let last = first.saturating_add(length.was as usize);
        if self.wanted.classes && self.may(first, last) {
            let place = Place { part: Part::Class, ..Place::plain(first, last, Some(length)) };
            self.list.push(Found::Text(place));
        }
        if letter == Some(b'C') && body_end > end {
            let length = Length::digits(self.text, last + 2);
            self.list.push(Found::Measured(Measured { end: body_end - 1, length }));
        }
    }
}
