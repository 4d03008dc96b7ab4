//! Tables of tags: what each tag of a format needs, as data.
//!
//! Each binary format has one table, in its `tag.rs`. Names in `inspect`, the table in
//! `FORMAT.md` and the skimmer come from it.

/// One thing that follows a tag. The parts of a tag are in the order of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// So many bytes.
    Bytes(u8),
    /// An integer as the format writes them.
    Integer,
    /// A float as the format writes them.
    Float,
    /// A length and so many bytes.
    Text(Count),
    /// A length and twice as many bytes.
    Pairs,
    /// A length and a text that gets a number, by which later tags name it: a class, a symbol, a string.
    Name,
    /// The number of such a text, or its offset.
    Again,
    /// Another tag: of a name, or of its number.
    Named,
    /// The number of an earlier value, or its offset.
    Link,
    /// No bytes: the value gets its number here.
    Number,
    /// A value.
    Value,
    /// What is in an object, or in a variable that is shared: a few tags only.
    Body,
    /// No bytes: the tag is no value, but what is in an object.
    InBody,
    /// A count and so many values.
    Items(Count),
    /// A count and so many keys and values.
    Entries(Count),
    /// A count and so many names and values.
    Members,
    /// Something of its own, which only the reader follows.
    Other,
}

/// How a length or a count is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// As all others of the format. Where a row has several tags, the tag may say the width.
    Usual,
    /// In one byte.
    Byte,
    /// In the lowest bits of the tag: this mask.
    Low(u8),
}

/// A row of a table: tags that mean the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// What `inspect` and errors call it.
    pub(crate) name: &'static str,
    /// Its columns in `FORMAT.md`, after the one that has the tags.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test compares the page with it"))]
    pub(crate) page: &'static [&'static str],
    /// What follows the tag.
    pub(crate) parts: &'static [Part],
}

/// The tags of a format, and which row each byte has.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rows: &'static [Tag],
    row_of: [u8; 256],
}

/// The row of a byte that is no tag.
pub(crate) const NO_ROW: u8 = u8::MAX;

impl Table {
    pub(crate) const fn new(rows: &'static [Tag], row_of: [u8; 256]) -> Table {
        assert!(rows.len() < NO_ROW as usize);
        Table { rows, row_of }
    }

    /// The row of a tag.
    pub(crate) const fn row(&self, tag: u8) -> Option<&'static Tag> {
        match self.row_of[tag as usize] {
            NO_ROW => None,
            row => Some(&self.rows[row as usize]),
        }
    }

    /// What follows a tag; of no tag, [`Part::Other`].
    pub(crate) const fn parts(&self, tag: u8) -> &'static [Part] {
        match self.row(tag) {
            Some(row) => row.parts,
            None => &[Part::Other],
        }
    }

    /// What `inspect` and errors call a tag.
    pub(crate) fn name(&self, tag: u8) -> Option<&'static str> {
        // As nothing here can panic, a name that is not needed is not looked up.
        self.rows.get(usize::from(self.row_of[usize::from(tag)])).map(|row| row.name)
    }

    /// What each tag is for a loop that skims.
    pub(crate) const fn classes(&self) -> [Class; 256] {
        self.classes_of(u8::MAX)
    }

    /// As [`Table::classes`], of bytes of which only these bits belong to the tag.
    pub(crate) const fn classes_of(&self, mask: u8) -> [Class; 256] {
        let mut classes = [Class::Rare; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = Class::of(self.parts(byte as u8 & mask));
            byte += 1;
        }
        classes
    }
}

/// What a tag is for the quick loop of a skimmer: what follows it, if that is something common.
/// The careful way follows the others by their parts. A loop names each class, those that it
/// leaves too: a `_` would make it check the bounds of its table of jumps for each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The tag is all of it.
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
    /// Two values, of which the first is a name.
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
    /// What is left to the careful way.
    Rare,
}

impl Class {
    const fn of(parts: &[Part]) -> Class {
        use Count::{Byte, Low, Usual};
        match parts {
            [Part::Number, parts @ ..] => Class::of(parts),
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
        /// The tags of each row.
        pub(crate) fn tags(&self) -> Vec<Vec<u8>> {
            let of_row =
                |row: usize| (0..=u8::MAX).filter(move |tag| usize::from(self.row_of[usize::from(*tag)]) == row);
            (0..self.rows.len()).map(|row| of_row(row).collect()).collect()
        }

        /// Compares the page with the table, row by row and in order; `show` writes the tags of a row.
        pub(crate) fn is_on_page(&self, page: &str, show: impl Fn(&[u8]) -> String) {
            let mut lines = page.lines();
            for (row, tags) in self.rows.iter().zip(self.tags()) {
                let cells = std::iter::once(show(&tags)).chain(row.page.iter().map(|cell| (*cell).to_owned()));
                let line: String =
                    cells.map(|cell| format!("| {cell} ")).collect::<String>().replace("|  ", "| ") + "|";
                assert!(lines.any(|found| found == line), "missing in FORMAT.md, or in another place: {line}");
            }
        }
    }
}
