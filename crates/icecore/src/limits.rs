//! Limits: bounds on work and memory for a document.

use crate::error::{Error, ErrorDetail, ErrorKind};

/// Bounds on the work and memory of reading and writing.
///
/// The defaults let every ordinary document through and keep work and memory
/// linear in the input. All of them can be set:
///
/// ```
/// let mut limits = icecore::Limits::default();
/// limits.depth = 100;
/// limits.string = 1 << 20;
/// ```
///
/// Some limits grow with the input:
///
/// ```
/// let limits = icecore::Limits::default();
/// assert_eq!(limits.output_from(1 << 20), 256 << 20);
/// assert_eq!(limits.expanded_from(1 << 20), 16 << 20);
/// assert_eq!(limits.decompressed_from(100), limits.decompressed);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum nesting depth of values. Default: 10,000.
    pub depth: u32,
    /// Maximum number of nodes of a document (16 bytes each). Default: 2^32 - 65,537, which is also the maximum of a
    /// tape.
    pub nodes: u32,
    /// Maximum number of bytes of a string. Default: no limit; a string is never longer than the input.
    pub string: u64,
    /// Maximum number of bytes of decompressed data for one document: its wrappers, its format and opened strings in
    /// it, all together. Data that is decompressed incrementally, and never in memory as a whole, does not count.
    /// Default: 256 MiB.
    pub decompressed: u64,
    /// Maximum ratio of decompressed to compressed data; the first 16 MiB are always allowed. Default: `u64::MAX`,
    /// which means no limit, because even ordinary data may shrink to a thousandth.
    pub ratio: u64,
    /// Maximum number of nodes that come from copies (in reading) or from repeated links (in writing a form without
    /// links), as a multiple of the bytes of the input or of the nodes of the document; the first million are always
    /// allowed. Default: 16.
    pub expansion: u64,
    /// Maximum number of decimal digits of an integer. Default: 20,000.
    pub digits: u32,
    /// Maximum total number of bytes of a written document. Default: no limit except [`Limits::growth`].
    pub output: u64,
    /// Maximum number of written bytes for each byte of the input, after decompression; the first 64 MiB are always
    /// allowed. Copies, links, ids and indentation turn a few bytes into many: a value of one byte on a line of its own
    /// seldom takes a hundred. For a tape that a program filled, the size of the tape counts as the input. Default:
    /// 256.
    pub growth: u64,
    /// Number of paths that a writer keeps for each kind of loss; with 0, a [`Loss`](crate::Loss) has an empty path. A
    /// path costs as much as the way to it. Default: 1.
    pub loss_paths: u32,
}

/// Decompressed bytes and copied nodes that are always allowed: smaller amounts are not worth refusing.
const ALWAYS_BYTES: u64 = 16 << 20;
const ALWAYS_NODES: u64 = 1_000_000;

/// Output that is always allowed.
pub(crate) const ALWAYS_OUTPUT: u64 = 64 << 20;

/// The names of all limits.
const NAMES: [&str; 10] =
    ["depth", "nodes", "string", "decompressed", "ratio", "expansion", "digits", "output", "growth", "loss-paths"];

/// Returns the help text for a limit that was reached.
pub(crate) fn raise_limit_help(name: &str) -> String {
    format!("raise the limit `{name}` if the input is trusted")
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 10_000,
            nodes: u32::MAX - 65_536,
            string: u64::MAX,
            decompressed: 256 << 20,
            ratio: u64::MAX,
            expansion: 16,
            digits: 20_000,
            output: u64::MAX,
            growth: 256,
            loss_paths: 1,
        }
    }
}

impl Limits {
    /// Returns the defaults.
    pub fn new() -> Limits {
        Limits::default()
    }

    /// Returns the names of all limits.
    ///
    /// ```
    /// assert!(icecore::Limits::names().any(|name| name == "depth"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// Sets a limit by its name, like `--limit` of the command and the C interface. A value beyond the limit's type
    /// sets the maximum.
    ///
    /// ```
    /// let mut limits = icecore::Limits::default();
    /// limits.set("decompressed", 1 << 30)?;
    /// assert_eq!(limits.decompressed, 1 << 30);
    /// assert!(limits.set("patience", 1).is_err());
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage`, if there is no such limit.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), Error> {
        let small = u32::try_from(value).unwrap_or(u32::MAX);
        match name {
            "depth" => self.depth = small,
            // The maximum of a tape is the highest possible value.
            "nodes" => self.nodes = small.min(Limits::default().nodes),
            "string" => self.string = value,
            "decompressed" => self.decompressed = value,
            "ratio" => self.ratio = value,
            "expansion" => self.expansion = value,
            "digits" => self.digits = small,
            "output" => self.output = value,
            "growth" => self.growth = value,
            "loss-paths" => self.loss_paths = small,
            _ => {
                return Err(Error::new(ErrorKind::Usage)
                    .expecting(format!("a limit: {}", NAMES.join(", ")))
                    .finding(format!("`{name}`")));
            }
        }
        Ok(())
    }

    /// Returns the number of bytes to which an input of `compressed` bytes may be decompressed.
    pub fn decompressed_from(&self, compressed: usize) -> u64 {
        (compressed as u64).saturating_mul(self.ratio).max(ALWAYS_BYTES).min(self.decompressed)
    }

    /// Returns the number of nodes that may come from copies or repeated links, for `size` bytes or nodes.
    pub fn expanded_from(&self, size: usize) -> u64 {
        (size as u64).saturating_mul(self.expansion).max(ALWAYS_NODES)
    }

    /// Returns the number of bytes that may be written for an input of `size` bytes, after decompression.
    pub fn output_from(&self, size: usize) -> u64 {
        self.output_within(size, u64::MAX).0
    }

    /// Like [`output_from`](Self::output_from), if only `slack` remains of the output that is always allowed; also
    /// returns the part that the size alone allows.
    pub(crate) fn output_within(&self, size: usize, slack: u64) -> (u64, u64) {
        let earned = (size as u64).saturating_mul(self.growth);
        (earned.max(ALWAYS_OUTPUT.min(slack)).min(self.output), earned)
    }

    #[cold]
    pub(crate) fn too_deep(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .detailing(ErrorDetail::Depth)
            .expecting(format!("at most {} levels of nesting", self.depth))
            .finding("a deeper one")
            .helping(raise_limit_help("depth"))
    }

    #[cold]
    pub(crate) fn too_many_nodes(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .detailing(ErrorDetail::Size)
            .expecting(format!("at most {} values", self.nodes))
            .finding("more of them")
            .helping(raise_limit_help("nodes"))
    }

    #[cold]
    pub(crate) fn too_long(&self, len: u64) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("strings of at most {} bytes", self.string))
            .finding(format!("one of {len}"))
            .helping(raise_limit_help("string"))
    }

    #[cfg_attr(not(any(feature = "snappy", feature = "zlib", feature = "zstd")), allow(dead_code))]
    #[cold]
    pub(crate) fn too_large(&self, max_bytes: u64) -> Error {
        let error = Error::new(ErrorKind::Limit)
            .detailing(ErrorDetail::Decompressed)
            .expecting(format!("at most {max_bytes} bytes after decompression"))
            .finding("more of them");
        match self.ratio {
            u64::MAX => error.helping(raise_limit_help("decompressed")),
            _ => error.helping("raise the limits `ratio` and `decompressed` if the input is trusted"),
        }
    }

    #[cold]
    pub(crate) fn too_expanded(&self, max_values: u64) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("at most {max_values} values from copies and repeated links"))
            .finding("more of them")
            .helping(raise_limit_help("expansion"))
    }

    #[cold]
    pub(crate) fn too_many_digits(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("integers of at most {} digits", self.digits))
            .finding("a longer one")
            .helping(raise_limit_help("digits"))
    }

    #[cold]
    pub(crate) fn too_much_output(&self, max_bytes: u64) -> Error {
        Error::new(ErrorKind::Limit)
            .detailing(ErrorDetail::Size)
            .expecting(format!("at most {max_bytes} bytes of output"))
            .finding("more of them: copies, links or indentation enlarge a small input")
            .helping(raise_limit_help(if self.output == u64::MAX { "growth" } else { "output" }))
    }
}
