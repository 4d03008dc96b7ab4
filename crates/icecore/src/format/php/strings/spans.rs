//! Finds the strings of a PHP text by the spans of the trace: the byte ranges that the reader recorded.

use super::{BarlessEscaping, HexEscaping};
use crate::document::Document;
use crate::edit::StringRole;
use crate::format::strings::{FoundString, Length, LengthPrefixed, StringPlace, StringPlaces, StringRequest};

/// How a session marks the end of a variable's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format::php) enum NamePlacement {
    /// A byte with the name's length precedes it (`php_binary`).
    LengthPrefixed,
    /// A bar follows the name (`php`).
    BarTerminated,
}

/// Indexes of the escapings in [`StringPlaces::escapings`].
const HEX_ESCAPING: usize = 0;
const BARLESS_ESCAPING: usize = 1;

/// Returns the strings that `wanted` selects. The document must have a trace; without one, the list is empty.
pub(in crate::format::php) fn collect_strings(
    text: &[u8],
    document: &Document<'_>,
    consumed: usize,
    names: NamePlacement,
    wanted: &StringRequest<'_>,
) -> StringPlaces<'static> {
    let mut places = StringPlaces {
        consumed,
        escapings: vec![Box::new(HexEscaping), Box::new(BarlessEscaping)],
        ..StringPlaces::default()
    };
    let Some(trace) = document.trace() else { return places };
    let mut collector = StringCollector { text, wanted, list: &mut places.strings };
    for span in &trace.spans {
        let (start, end) = (span.start as usize, span.end as usize);
        match span.name {
            // Covers `s:5:"`. The spans of the string and of its end come next and are ignored.
            "length" => collector.add_string(start),
            "value" => collector.add_scalar(start, end),
            "key" if wanted.wants_keys || wanted.wants_classes => collector.add_key(start, end),
            "name" if wanted.wants_keys => collector.add_name(names, start, end),
            "head" => {
                let body_end = trace.extents.get(span.node as usize).map_or(0, |extent| extent.end as usize);
                collector.add_class(start, end, body_end);
            }
            "payload" if (wanted.is_wanted)(start, end) => {
                collector.list.push(FoundString::Opaque(start, end));
            }
            _ => {}
        }
    }
    places
}

/// Collects the wanted strings of a text.
struct StringCollector<'f> {
    text: &'f [u8],
    wanted: &'f StringRequest<'f>,
    list: &'f mut Vec<FoundString>,
}

impl StringCollector<'_> {
    fn is_wanted(&self, start: usize, end: usize) -> bool {
        (self.wanted.is_wanted)(start, end)
    }

    /// Adds the string whose head `s:5:"` starts at this offset.
    fn add_string(&mut self, offset: usize) {
        let length = Length::from_digits(self.text, offset + 2);
        let start = length.end + 2;
        let end = start.saturating_add(length.value as usize);
        if self.is_wanted(start, end) {
            self.list.push(FoundString::Text(StringPlace::without_escapes(start, end, Some(length))));
        }
    }

    /// Adds the string in a scalar with the tag `S` (`S:5:"\41…";`) or `E` (`E:5:"A:One";`). Other scalars are
    /// ignored.
    fn add_scalar(&mut self, start: usize, end: usize) {
        match self.text.get(start) {
            Some(b'S') => self.add_escaped(start, end, StringRole::Value),
            Some(b'E') if self.wanted.wants_classes => {
                let length = Length::from_digits(self.text, start + 2);
                let (content_start, text_end) = (length.end + 2, end - 2);
                let name = self.text.get(content_start..text_end).unwrap_or_default();
                let class_len = name.iter().position(|byte| *byte == b':').unwrap_or(name.len());
                self.list.push(FoundString::LengthPrefixed(LengthPrefixed { end: text_end, length }));
                self.add_name_part(content_start, content_start + class_len, StringRole::Class);
            }
            _ => {}
        }
    }

    /// Adds the string in a token with the tag `S`.
    fn add_escaped(&mut self, start: usize, end: usize, role: StringRole) {
        let length = Length::from_digits(self.text, start + 2);
        let (content_start, text_end) = (length.end + 2, end.saturating_sub(2));
        if self.is_wanted(content_start, text_end) {
            let place = StringPlace {
                role,
                escaping: Some(HEX_ESCAPING),
                ..StringPlace::without_escapes(content_start, text_end, Some(length))
            };
            self.list.push(FoundString::Text(place));
        }
    }

    /// Adds a name, or a part of one, that has no length of its own.
    fn add_name_part(&mut self, start: usize, end: usize, role: StringRole) {
        if self.is_wanted(start, end) {
            self.list.push(FoundString::Text(StringPlace { role, ..StringPlace::without_escapes(start, end, None) }));
        }
    }

    /// Adds a key. The key of a private property also contains a class, `\0Class\0name`, which is added separately; a
    /// protected one contains `*` in its place.
    fn add_key(&mut self, start: usize, end: usize) {
        match self.text.get(start) {
            Some(b's') => {
                let length = Length::from_digits(self.text, start + 2);
                let (content_start, text_end) = (length.end + 2, end.saturating_sub(2));
                let name = self.text.get(content_start..text_end).unwrap_or_default();
                self.list.push(FoundString::LengthPrefixed(LengthPrefixed { end: text_end, length }));
                let class_len = match name {
                    [0, rest @ ..] => rest.iter().position(|byte| *byte == 0),
                    _ => None,
                };
                let Some(class_len) = class_len else {
                    if self.wanted.wants_keys {
                        self.add_name_part(content_start, text_end, StringRole::Key);
                    }
                    return;
                };
                if self.wanted.wants_classes && name.get(1) != Some(&b'*') {
                    self.add_name_part(content_start + 1, content_start + 1 + class_len, StringRole::Class);
                }
                if self.wanted.wants_keys {
                    self.add_name_part(content_start + class_len + 2, text_end, StringRole::Key);
                }
            }
            Some(b'S') if self.wanted.wants_keys => self.add_escaped(start, end, StringRole::Key),
            _ => {}
        }
    }

    /// Adds the name of a session variable.
    fn add_name(&mut self, names: NamePlacement, start: usize, end: usize) {
        let byte_length = |byte: &u8| Length { start, end: start + 1, value: u64::from(*byte), max_value: Some(0x7f) };
        let place = match names {
            NamePlacement::LengthPrefixed => {
                let length = self.text.get(start).filter(|byte| **byte <= 0x7f).map(byte_length);
                StringPlace::without_escapes(start + 1, end, length)
            }
            NamePlacement::BarTerminated => {
                StringPlace { escaping: Some(BARLESS_ESCAPING), ..StringPlace::without_escapes(start, end - 1, None) }
            }
        };
        if (names == NamePlacement::BarTerminated || place.length.is_some()) && self.is_wanted(place.start, place.end) {
            self.list.push(FoundString::Text(StringPlace { role: StringRole::Key, ..place }));
        }
    }

    /// Adds the class in `O:4:"User":1:{` or `C:11:"ArrayObject":21:{`. The heads of arrays are ignored.
    fn add_class(&mut self, start: usize, end: usize, body_end: usize) {
        let letter = self.text.get(start).copied();
        if !matches!(letter, Some(b'O' | b'C')) {
            return;
        }
        let length = Length::from_digits(self.text, start + 2);
        let content_start = length.end + 2;
        let text_end = content_start.saturating_add(length.value as usize);
        if self.wanted.wants_classes && self.is_wanted(content_start, text_end) {
            let place = StringPlace {
                role: StringRole::Class,
                ..StringPlace::without_escapes(content_start, text_end, Some(length))
            };
            self.list.push(FoundString::Text(place));
        }
        if letter == Some(b'C') && body_end > end {
            let length = Length::from_digits(self.text, text_end + 2);
            self.list.push(FoundString::LengthPrefixed(LengthPrefixed { end: body_end - 1, length }));
        }
    }
}
