//! Tables of tags: what follows each tag of a format, as data.
//!
//! Each binary format has one table, in its `tag.rs`. The names in `inspect`, the table in
//! `FORMAT.md` and the skimmer use it.

/// A part that follows a tag. The parts of a tag are in the order of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// This many bytes.
    Bytes(u8),
    /// An integer in the format's encoding.
    Integer,
    /// A float in the format's encoding.
    Float,
    /// A length and this many bytes.
    Text(Count),
    /// A length and twice this many bytes.
    Pairs,
    /// A length and a text that gets a number, which later tags use: a class, a symbol, a string.
    Name,
    /// The number or the offset of such a text.
    Again,
    /// Another tag: that of a name, or of its number.
    Named,
    /// The number or the offset of an earlier value.
    Link,
    /// No bytes: the value gets its number here.
    Number,
    /// A value.
    Value,
    /// The content of an object, or of a shared variable: only some tags are allowed.
    Body,
    /// No bytes: the tag is not a value, but the content of an object.
    InBody,
    /// A count and this many values.
    Items(Count),
    /// A count and this many keys and values.
    Entries(Count),
    /// A count and this many names and values.
    Members,
    /// A special part that only the reader handles.
    Other,
}

/// Encoding of a length or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// The format's usual encoding. If a row has several tags, the tag may give the width.
    Usual,
    /// In one byte.
    Byte,
    /// In the lowest bits of the tag, with this mask.
    Low(u8),
}

/// A row of a table: tags with the same meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// Its name in `inspect` and in errors.
    pub(crate) name: &'static str,
    /// Its columns in `FORMAT.md`, after the column of the tags.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test compares the page with it"))]
    pub(crate) page: &'static [&'static str],
    /// What follows the tag.
    pub(crate) parts: &'static [Part],
}

/// The tags of a format, and the row of each byte.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rows: &'static [Tag],
    row_of: [u8; 256],
}

/// The row of a byte that is not a tag.
pub(crate) const NO_ROW: u8 = u8::MAX;

impl Table {
    pub(crate) const fn new(rows: &'static [Tag], row_of: [u8; 256]) -> Table {
        assert!(rows.len() < NO_ROW as usize);
        Table { rows, row_of }
    }

    /// Returns the row of a tag.
    pub(crate) const fn row_of_tag(&self, tag: u8) -> Option<&'static Tag> {
        match self.row_of[tag as usize] {
            NO_ROW => None,
            row => Some(&self.rows[row as usize]),
        }
    }

    /// Returns the parts after a tag; [`Part::Other`] for a byte that is not a tag.
    pub(crate) const fn parts_of_tag(&self, tag: u8) -> &'static [Part] {
        match self.row_of_tag(tag) {
            Some(row) => row.parts,
            None => &[Part::Other],
        }
    }

    /// Returns the name of a tag in `inspect` and in errors.
    pub(crate) fn name_of_tag(&self, tag: u8) -> Option<&'static str> {
        // Nothing here can panic, so the compiler removes the lookup of an unused name.
        self.rows.get(usize::from(self.row_of[usize::from(tag)])).map(|row| row.name)
    }

    /// Returns the class of each tag for a skimming loop.
    pub(crate) const fn tag_classes(&self) -> [Class; 256] {
        self.tag_classes_masked(u8::MAX)
    }

    /// Like [`Table::tag_classes`], for bytes of which only these bits belong to the tag.
    pub(crate) const fn tag_classes_masked(&self, mask: u8) -> [Class; 256] {
        let mut classes = [Class::Rare; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = Class::from_parts(self.parts_of_tag(byte as u8 & mask));
            byte += 1;
        }
        classes
    }
}

/// Class of a tag for the fast loop of a skimmer: what follows it, if that is common. The slow path
/// follows the other tags by their parts. A loop must list every class, also those that it does not
/// handle: a `_` arm would add a bounds check of the jump table for each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing follows the tag.
    Tag,
    Byte,
    Four,
    Eight,
    Integer,
    Float,
    ShortText,
    Text,
    LowText,
    Name,
    Again,
    Link,
    /// One value.
    Value,
    /// Two values; the first is a name.
    TwoValues,
    /// The number of a class, and a value.
    Blessed,
    Items,
    LowItems,
    Entries,
    LowEntries,
    /// Flags, and entries.
    FlagEntries,
    /// A class with its tag, and members.
    Object,
    /// A value, and members.
    Owner,
    /// Left to the slow path.
    Rare,
}

impl Class {
    const fn from_parts(parts: &[Part]) -> Class {
        use Count::{Byte, Low, Usual};
        match parts {
            [Part::Number, parts @ ..] => Class::from_parts(parts),
            [] => Class::Tag,
            [Part::Bytes(1)] => Class::Byte,
            [Part::Bytes(4)] => Class::Four,
            [Part::Bytes(8)] => Class::Eight,
            [Part::Integer] => Class::Integer,
            [Part::Float] => Class::Float,
            [Part::Text(Byte)] => Class::ShortText,
            [Part::Text(Usual)] => Class::Text,
            [Part::Text(Low(_))] => Class::LowText,
            [Part::Name] => Class::Name,
            [Part::Again] => Class::Again,
            [Part::Link] => Class::Link,
            [Part::Value] => Class::Value,
            [Part::Value, Part::Value] => Class::TwoValues,
            [Part::Again, Part::Value] => Class::Blessed,
            [Part::Items(Usual)] => Class::Items,
            [Part::Items(Low(_))] => Class::LowItems,
            [Part::Entries(Usual)] => Class::Entries,
            [Part::Entries(Low(_))] => Class::LowEntries,
            [Part::Bytes(1), Part::Entries(Usual)] => Class::FlagEntries,
            [Part::Named, Part::Members] => Class::Object,
            [Part::Value, Part::Members] => Class::Owner,
            _ => Class::Rare,
        }
    }
}

/// Makes a table, and a constant for the first tag of each row; `_` makes none.
///
/// ```text
/// tags! {
///     STRING = 0x11 | 0x12 | 0x13, "string", ["a string", "its length; the bytes"], [Part::Name];
/// }
/// ```
macro_rules! tags {
    ($($constant:tt = $first:literal $(..= $last:literal)? $(| $more:literal)*, $name:expr, [$($page:expr),*], [$($part:expr),*];)*) => {
        $(
            #[allow(dead_code, reason = "tags that are always an error, or whose letters say enough")]
            pub(super) const $constant: u8 = $first;
        )*

        /// Every tag.
        pub(super) static TAGS: crate::format::tags::Table = {
            use crate::format::tags::{NO_ROW, Table, Tag};
            let mut row_of = [NO_ROW; 256];
            let mut row = 0;
            $(
                let mut byte = 0;
                while byte < 256 {
                    if matches!(byte as u8, $first $(..= $last)?) $(|| byte as u8 == $more)* {
                        assert!(row_of[byte] == NO_ROW, "a tag has two rows");
                        row_of[byte] = row;
                    }
                    byte += 1;
                }
                row += 1;
            )*
            assert!(row < NO_ROW);
            Table::new(&[$(Tag { name: $name, page: &[$($page),*], parts: &[$($part),*] }),*], row_of)
        };
    };
}
pub(crate) use tags;

#[cfg(test)]
pub(crate) mod tests {
    use super::Table;

    impl Table {
        /// Returns the tags of each row.
        pub(crate) fn tags_by_row(&self) -> Vec<Vec<u8>> {
            let of_row =
                |row: usize| (0..=u8::MAX).filter(move |tag| usize::from(self.row_of[usize::from(*tag)]) == row);
            (0..self.rows.len()).map(|row| of_row(row).collect()).collect()
        }

        /// Compares the page with the table, row by row and in order; `show` formats the tags of a row.
        pub(crate) fn is_on_page(&self, page: &str, show: impl Fn(&[u8]) -> String) {
            let mut lines = page.lines();
            for (row, tags) in self.rows.iter().zip(self.tags_by_row()) {
                let cells = std::iter::once(show(&tags)).chain(row.page.iter().map(|cell| (*cell).to_owned()));
                let line: String =
                    cells.map(|cell| format!("| {cell} ")).collect::<String>().replace("|  ", "| ") + "|";
                assert!(lines.any(|found| found == line), "missing in FORMAT.md, or in another place: {line}");
            }
        }
    }
}
