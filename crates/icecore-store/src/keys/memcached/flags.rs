//! Flags of memcached values, which say how a client encoded or compressed a value.
//!
//! | client | flags |
//! |---|---|
//! | PHP's memcached | 0 to 3: the type (text, integer, float, boolean, `serialize`, igbinary, JSON, MessagePack); 4: compressed; 5 zlib, 6 FastLZ, 7 Zstandard |
//! | PHP's memcache | 0: `serialize`; 1: zlib; 8 to 11: the type |
//! | Dalli | 0: Marshal; 1: zlib |
//! | Cache::Memcached, and Fast | 0: Storable; 1: gzip; 2: text in UTF-8 |

use icecore::{Limits, Stage};
use std::borrow::Cow;

/// Set by PHP's memcached for a compressed value.
const PHP_COMPRESSED: u32 = 1 << 4;
/// Bits for the compression methods zlib, FastLZ and Zstandard. PHP's memcached sets one of them.
const PHP_METHODS: u32 = 7 << 5;
/// Set by the other clients for a compressed value.
const OTHERS_COMPRESSED: u32 = 1 << 1;

/// Returns the uncompressed value. A value that is not compressed, or is damaged, is returned unchanged.
pub(super) fn decompress_value(flags: u32, value: &[u8]) -> Cow<'_, [u8]> {
    let wrapper = match value {
        // The upper bits may belong to the program.
        _ if flags & PHP_COMPRESSED != 0 && flags & PHP_METHODS != 0 && flags & 0xff00 == 0 => "php-memcached",
        [0x1f, 0x8b, ..] if flags & OTHERS_COMPRESSED != 0 => "gzip",
        [0x78, ..] if flags & OTHERS_COMPRESSED != 0 => "zlib",
        _ => return Cow::Borrowed(value),
    };
    // Only the wrapper is removed. Its content is not read here.
    let stage = Stage::parse(&format!("{wrapper}/json"));
    let unwrapped =
        stage.and_then(|stage| stage.unwrap(value, &Limits::default()).map(|inside| inside.bytes.into_owned()));
    unwrapped.map_or(Cow::Borrowed(value), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack_value(wrapper: &str) -> Vec<u8> {
        icecore::convert(b"\"text\"", "json", &format!("{wrapper}/json")).expect(wrapper)
    }

    #[test]
    fn compressed_values_are_decompressed() {
        for (flags, wrapper) in [(0x30, "php-memcached"), (0x34, "php-memcached"), (3, "zlib"), (2, "gzip")] {
            assert_eq!(&*decompress_value(flags, &pack_value(wrapper)), b"\"text\"", "{flags}");
        }
    }

    #[test]
    fn other_values_stay_as_they_are() {
        let zlib = pack_value("zlib");
        for (flags, value) in
            [(0, &zlib[..]), (1, &zlib), (0x30, &zlib), (2, b"1.5"), (2, &zlib[..4]), (0x30, b""), (2, b"")]
        {
            assert_eq!(&*decompress_value(flags, value), value, "{flags}");
        }
    }
}
