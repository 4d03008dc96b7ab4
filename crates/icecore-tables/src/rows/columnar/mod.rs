//! Rows in columns with types: files of Parquet and Arrow.

#[cfg(feature = "columns")]
mod cells;
#[cfg(feature = "columns")]
mod filler;
#[cfg(feature = "columns")]
mod fit;
#[cfg(feature = "columns")]
mod footer;
#[cfg(feature = "columns")]
mod layout;
#[cfg(feature = "columns")]
mod messages;
#[cfg(feature = "columns")]
mod pages;
#[cfg(feature = "columns")]
mod panic_guard;
#[cfg(feature = "columns")]
mod prefetched;
#[cfg(feature = "columns")]
mod reader;
#[cfg(feature = "columns")]
mod texts;
#[cfg(feature = "columns")]
mod type_inference;
#[cfg(feature = "columns")]
mod values;
#[cfg(feature = "columns")]
mod writer;

/// The types of columns, as Arrow defines them.
#[cfg(feature = "columns")]
pub use arrow_schema::Fields;
#[cfg(feature = "columns")]
pub use filler::RecordBuilder;
#[cfg(feature = "columns")]
pub use layout::OutputLayout;
#[cfg(feature = "columns")]
pub use prefetched::Prefetched;
#[cfg(feature = "columns")]
pub use reader::{Records, spool_to_file};
#[cfg(feature = "columns")]
pub use values::expand_record;
#[cfg(feature = "columns")]
pub use writer::Writer;

use crate::error::{Result, usage_error};
use std::path::Path;

/// A kind of file whose columns have types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A Parquet file.
    Parquet,
    /// An Arrow file, which has a table of its parts at the end.
    Arrow,
    /// An Arrow stream.
    ArrowStream,
}

impl Container {
    const ALL: [Container; 3] = [Container::Parquet, Container::Arrow, Container::ArrowStream];

    /// Returns the name for `--to`, which is also the extension of files.
    pub fn name(self) -> &'static str {
        match self {
            Container::Parquet => "parquet",
            Container::Arrow => "arrow",
            Container::ArrowStream => "arrows",
        }
    }

    /// Returns the container with this name.
    pub fn from_name(name: &str) -> Option<Container> {
        Container::ALL.into_iter().find(|container| container.name() == name)
    }

    /// Guesses the container by the name of a file.
    pub fn from_path(path: &Path) -> Option<Container> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        if extension == "feather" { Some(Container::Arrow) } else { Container::from_name(&extension) }
    }

    /// Guesses the container of an input by its name and its first bytes.
    pub fn guess(name: &str, head: &[u8]) -> Option<Container> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Container::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] => Some(Container::Arrow),
            // A length of -1 means that the actual length follows.
            [0xff, 0xff, 0xff, 0xff, _, _, 0, 0, ..] => Some(Container::ArrowStream),
            _ => Container::from_path(Path::new(name)),
        }
    }
}

/// The compression of the bytes of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Compression {
    /// Fast; default for parquet, not available for arrow
    Snappy,
    /// Smaller files
    Zstd,
    /// Fast; readable by all programs in arrow
    Lz4,
    /// No compression; default for arrow
    None,
}

/// Options for columns with types.
#[derive(Clone, Debug)]
pub struct ColumnarOptions {
    /// The types of columns, or a file with them.
    pub schema: Option<String>,
    /// Number of rows from which the types of the other columns are inferred.
    pub infer: usize,
    /// The compression of the bytes of columns, if given.
    pub compression: Option<Compression>,
    /// Maximum number of rows in a row group of parquet.
    pub row_group: u64,
}

/// Returns an error if this build does not support such files.
pub fn check_support() -> Result<()> {
    if cfg!(feature = "columns") {
        return Ok(());
    }
    let advice = "this build knows no parquet and no arrow: build it with `make build`, or with \
                  `cargo build --release -p icecore-cli --features columns`";
    Err(usage_error(advice.to_owned()))
}
