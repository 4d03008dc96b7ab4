//! The error for a compression that is not part of this build.

use crate::error::{Error, ErrorKind};

fn disabled(what: &'static str) -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting("data without this compression")
        .finding(what)
        .helping(format!("this build of icecore lacks it: build it with the feature `{what}`"))
}

#[cfg(not(feature = "snappy"))]
pub(crate) mod snappy {
    use super::{Error, disabled};
    use crate::limits::Limits;

    pub(crate) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(disabled("snappy"))
    }

    pub(crate) fn compress(_: &[u8]) -> Result<Vec<u8>, Error> {
        Err(disabled("snappy"))
    }
}

#[cfg(not(feature = "zlib"))]
pub(crate) mod zlib {
    use super::{Error, disabled};
    use crate::compress::Beginning;
    use crate::compress::StreamFn;
    use crate::limits::Limits;

    pub(crate) const STREAM: Option<StreamFn> = None;
    pub(crate) const GZIP_STREAM: Option<StreamFn> = None;

    pub(crate) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(disabled("zlib"))
    }

    pub(crate) fn inflate_bare(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(disabled("zlib"))
    }

    pub(crate) fn compress(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(disabled("zlib"))
    }

    pub(crate) fn deflate_bare(_: &[u8], _: Option<u8>, _: &mut Vec<u8>) -> Result<(), Error> {
        Err(disabled("zlib"))
    }

    pub(crate) fn head(_: &[u8], _: usize) -> Option<Beginning> {
        None
    }

    /// Fields of the header of a gzip file.
    #[derive(Default)]
    pub(crate) struct Header {
        pub(crate) name: Option<Vec<u8>>,
        pub(crate) time: u32,
    }

    pub(crate) fn gunzip(_: &[u8], _: u64, _: &Limits) -> Result<(Vec<u8>, Header), Error> {
        Err(disabled("zlib"))
    }

    pub(crate) fn gzip(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(disabled("zlib"))
    }

    pub(crate) fn gzip_head(_: &[u8], _: usize) -> Option<Beginning> {
        None
    }
}

#[cfg(not(feature = "zstd"))]
pub(crate) mod zstandard {
    use super::{Error, disabled};
    use crate::compress::Beginning;
    use crate::compress::StreamFn;
    use crate::limits::Limits;

    pub(crate) const STREAM: Option<StreamFn> = None;

    pub(crate) fn decompress(_: &[u8], _: u64, _: &Limits) -> Result<Vec<u8>, Error> {
        Err(disabled("zstd"))
    }

    pub(crate) fn compress(_: &[u8], _: Option<u8>) -> Result<Vec<u8>, Error> {
        Err(disabled("zstd"))
    }

    pub(crate) fn head(_: &[u8], _: usize) -> Option<Beginning> {
        None
    }
}
