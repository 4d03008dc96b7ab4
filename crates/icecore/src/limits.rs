//! What a document may cost.

use crate::error::{Error, ErrorKind};

/// Bounds on what reading and writing may cost.
///
/// The defaults let every honest document through and keep work and memory
/// linear in the input. All of them can be set:
///
/// ```
/// let mut limits = icecore::Limits::default();
/// limits.depth = 100;
/// limits.string = 1 << 20;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How deep values may be nested. Default: 10,000.
    pub depth: u32,
    /// How many nodes a document may have (16 bytes each). Default: 2^32 -
    /// 65,537, which is also the most that a tape can hold.
    pub nodes: u32,
    /// How many bytes a string may have. Default: no limit; a string is never
    /// longer than the input.
    pub string: u64,
    /// How many bytes decompression may give, over all layers. Default: 4 GiB.
    pub decompressed: u64,
    /// How many times longer than the compressed input its decompressed form
    /// may be; the first 16 MiB are always allowed. Default: 1024.
    pub ratio: u64,
    /// How many nodes may come from copies (while reading) or from repeated
    /// links (while writing a form without links), as a multiple of the bytes
    /// of the input or of the nodes of the document; the first million are
    /// always allowed. Default: 16.
    pub expansion: u64,
    /// How many decimal digits an integer may have. Default: 20,000.
    pub digits: u32,
    /// How many paths a writer keeps of each kind of loss. A path costs as much as
    /// the way to it. Default: 1.
    pub loss_paths: u32,
}

/// How much an input may always be decompressed to, and how many nodes copies
/// may always make: below this nothing is worth refusing.
const ALWAYS_BYTES: u64 = 16 << 20;
const ALWAYS_NODES: u64 = 1_000_000;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 10_000,
            nodes: u32::MAX - 65_536,
            string: u64::MAX,
            decompressed: 4 << 30,
            ratio: 1024,
            expansion: 16,
            digits: 20_000,
            loss_paths: 1,
        }
    }
}

impl Limits {
    /// The defaults.
    pub fn new() -> Limits {
        Limits::default()
    }

    /// How many bytes an input of `compressed` bytes may be decompressed to.
    pub fn decompressed_from(&self, compressed: usize) -> u64 {
        (compressed as u64).saturating_mul(self.ratio).max(ALWAYS_BYTES).min(self.decompressed)
    }

    /// How many nodes may come from copies or repeated links, where `size`
    /// bytes or nodes are there.
    pub fn expanded_from(&self, size: usize) -> u64 {
        (size as u64).saturating_mul(self.expansion).max(ALWAYS_NODES)
    }

    #[cold]
    pub(crate) fn too_deep(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("at most {} levels of nesting", self.depth))
            .finding("a deeper one")
            .helping("raise the limit `depth` if the input is trusted")
    }

    #[cold]
    pub(crate) fn too_many_nodes(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("at most {} values", self.nodes))
            .finding("more of them")
            .helping("raise the limit `nodes` if the input is trusted")
    }

    #[cold]
    pub(crate) fn too_long(&self, len: u64) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("strings of at most {} bytes", self.string))
            .finding(format!("one of {len}"))
            .helping("raise the limit `string` if the input is trusted")
    }

    #[cfg_attr(not(any(feature = "snappy", feature = "zlib", feature = "zstd")), allow(dead_code))]
    #[cold]
    pub(crate) fn too_large(&self, most: u64) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("at most {most} bytes after decompression"))
            .finding("more of them")
            .helping("raise the limits `ratio` and `decompressed` if the input is trusted")
    }

    #[cold]
    pub(crate) fn too_expanded(&self, most: u64) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("at most {most} values from copies and repeated links"))
            .finding("more of them")
            .helping("raise the limit `expansion` if the input is trusted")
    }

    #[cold]
    pub(crate) fn too_many_digits(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("integers of at most {} digits", self.digits))
            .finding("a longer one")
            .helping("raise the limit `digits` if the input is trusted")
    }
}
