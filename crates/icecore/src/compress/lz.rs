//! LZF, LZ4 blocks and FastLZ: literals, and copies of earlier output.
//!
//! Declared lengths are not trusted: the output grows as the input provides it.

use super::{Beginning, malformed_error};
use crate::error::Error;
use crate::limits::Limits;

/// A format of literals and copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lz {
    /// Marc Lehmann's LibLZF.
    Lzf,
    /// A block of LZ4, without a frame.
    Lz4,
    /// FastLZ, level 1 or 2.
    Fast,
}

/// Reason why decompression stops.
enum DecodeStop {
    /// The output has the requested length.
    MaxLenReached,
    Broken(&'static str),
}

const TRUNCATED: DecodeStop = DecodeStop::Broken("its end too early");

impl Lz {
    fn name(self) -> &'static str {
        match self {
            Lz::Lzf => "lzf",
            Lz::Lz4 => "lz4",
            Lz::Fast => "fastlz",
        }
    }

    /// Decompresses everything, if that is at most `max_len` bytes.
    pub(crate) fn decompress(self, body: &[u8], max_len: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
        let capacity = usize::try_from(max_len).unwrap_or(usize::MAX);
        let mut out = BoundedOutput { bytes: Vec::new(), max_len: capacity };
        match self.decompress_into(body, &mut out) {
            Ok(()) => Ok(out.bytes),
            Err(DecodeStop::MaxLenReached) => Err(limits.too_large(max_len)),
            Err(DecodeStop::Broken(reason)) => {
                Err(malformed_error(self.name(), reason).with_decompressed(out.bytes.len()))
            }
        }
    }

    /// Returns the beginning of the decompressed data; `None` if it is damaged there.
    pub(crate) fn decompress_head(self, body: &[u8], is_complete: bool, max_len: usize) -> Option<Beginning> {
        let mut out = BoundedOutput { bytes: Vec::new(), max_len };
        let is_all = match self.decompress_into(body, &mut out) {
            Ok(()) => true,
            Err(DecodeStop::MaxLenReached) => false,
            Err(DecodeStop::Broken(_)) if is_complete => return None,
            Err(DecodeStop::Broken(_)) => false,
        };
        (!out.bytes.is_empty()).then_some((out.bytes, is_all))
    }

    fn decompress_into(self, body: &[u8], out: &mut BoundedOutput) -> Result<(), DecodeStop> {
        let mut input = LzInput { rest: body };
        match self {
            Lz::Lzf => decode_lzf(&mut input, out),
            Lz::Lz4 => decode_lz4(&mut input, out),
            Lz::Fast => decode_fastlz(&mut input, out),
        }
    }
}

/// The remaining input.
struct LzInput<'b> {
    rest: &'b [u8],
}

impl<'b> LzInput<'b> {
    fn read_byte(&mut self) -> Result<usize, DecodeStop> {
        let (byte, rest) = self.rest.split_first().ok_or(TRUNCATED)?;
        self.rest = rest;
        Ok(usize::from(*byte))
    }

    fn read_bytes(&mut self, count: usize) -> Result<&'b [u8], DecodeStop> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(TRUNCATED)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads a sum of bytes, all of which are 255 except the last.
    fn read_long_length(&mut self) -> Result<usize, DecodeStop> {
        let mut sum = 0usize;
        loop {
            let byte = self.read_byte()?;
            sum = sum.saturating_add(byte);
            if byte != 255 {
                return Ok(sum);
            }
        }
    }
}

/// The decompressed output.
struct BoundedOutput {
    bytes: Vec<u8>,
    max_len: usize,
}

impl BoundedOutput {
    fn push_literals(&mut self, bytes: &[u8]) -> Result<(), DecodeStop> {
        let available = self.max_len - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(available)]);
        if bytes.len() > available { Err(DecodeStop::MaxLenReached) } else { Ok(()) }
    }

    /// Copies bytes from this distance back; the source may overlap the copy.
    fn copy_earlier_output(&mut self, distance: usize, count: usize) -> Result<(), DecodeStop> {
        let start = self.bytes.len().checked_sub(distance).filter(|_| distance > 0);
        let start = start.ok_or(DecodeStop::Broken("a copy from before its beginning"))?;
        let available = self.max_len - self.bytes.len();
        let mut remaining = count.min(available);
        while remaining > 0 {
            let part = remaining.min(self.bytes.len() - start);
            self.bytes.extend_from_within(start..start + part);
            remaining -= part;
        }
        if count > available { Err(DecodeStop::MaxLenReached) } else { Ok(()) }
    }
}

fn decode_lzf(input: &mut LzInput<'_>, out: &mut BoundedOutput) -> Result<(), DecodeStop> {
    while !input.rest.is_empty() {
        let control = input.read_byte()?;
        if control < 32 {
            out.push_literals(input.read_bytes(control + 1)?)?;
            continue;
        }
        let len = match control >> 5 {
            7 => 7 + input.read_byte()?,
            len => len,
        };
        let distance = ((control & 31) << 8) + input.read_byte()? + 1;
        out.copy_earlier_output(distance, len + 2)?;
    }
    Ok(())
}

fn decode_lz4(input: &mut LzInput<'_>, out: &mut BoundedOutput) -> Result<(), DecodeStop> {
    loop {
        let token = input.read_byte()?;
        let literals = match token >> 4 {
            15 => input.read_long_length()?.saturating_add(15),
            count => count,
        };
        out.push_literals(input.read_bytes(literals)?)?;
        // Only the last sequence has no copy.
        if input.rest.is_empty() {
            return Ok(());
        }
        let distance = input.read_byte()? + (input.read_byte()? << 8);
        let len = match token & 15 {
            15 => input.read_long_length()?.saturating_add(15),
            len => len,
        };
        out.copy_earlier_output(distance, len.saturating_add(4))?;
    }
}

fn decode_fastlz(input: &mut LzInput<'_>, out: &mut BoundedOutput) -> Result<(), DecodeStop> {
    /// Maximum distance of a level-2 copy that is encoded in one byte.
    const MAX_SHORT_DISTANCE: usize = 8192;
    let first = input.read_byte()?;
    let is_level_2 = match first >> 5 {
        0 => false,
        1 => true,
        _ => return Err(DecodeStop::Broken("a level that is not 1 or 2")),
    };
    let mut control = first & 31;
    loop {
        if control < 32 {
            out.push_literals(input.read_bytes(control + 1)?)?;
        } else {
            let high = (control & 31) << 8;
            let extra_len = match (control >> 5, is_level_2) {
                (7, true) => input.read_long_length()?,
                (7, false) => input.read_byte()?,
                _ => 0,
            };
            let low = input.read_byte()?;
            let distance = match (is_level_2, high, low) {
                // The largest short distance means that the real one follows in two bytes.
                (true, 0x1f00, 255) => MAX_SHORT_DISTANCE + (input.read_byte()? << 8) + input.read_byte()?,
                _ => high + low + 1,
            };
            out.copy_earlier_output(distance, (control >> 5).saturating_add(extra_len).saturating_add(2))?;
        }
        if input.rest.is_empty() {
            return Ok(());
        }
        control = input.read_byte()?;
    }
}

/// Writes LZF without copies, which every reader accepts.
pub(crate) fn encode_lzf_literals(bytes: &[u8], out: &mut Vec<u8>) {
    for run in bytes.chunks(32) {
        out.push(run.len() as u8 - 1);
        out.extend_from_slice(run);
    }
}

/// Writes an LZ4 block without copies.
pub(crate) fn encode_lz4_literals(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len().checked_sub(15) {
        None => out.push((bytes.len() as u8) << 4),
        Some(extra_len) => {
            out.push(0xf0);
            out.resize(out.len() + extra_len / 255, 255);
            out.push((extra_len % 255) as u8);
        }
    }
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lz: Lz, body: &[u8]) -> Option<Vec<u8>> {
        lz.decompress(body, 1000, &Limits::default()).ok()
    }

    #[test]
    fn copies_may_overlap_their_own_output() {
        assert_eq!(all(Lz::Lzf, b"\x01ab\x60\x01").as_deref(), Some(&b"abababa"[..]));
        assert_eq!(all(Lz::Lz4, b"\x21ab\x02\x00\x00").as_deref(), Some(&b"abababa"[..]));
        assert_eq!(all(Lz::Fast, b"\x01ab\x60\x01").as_deref(), Some(&b"abababa"[..]));
        assert_eq!(all(Lz::Fast, b"\x21ab\xe0\x02\x01").as_deref(), Some(&b"ababababababa"[..]));
    }

    #[test]
    fn copies_from_before_the_beginning_are_refused() {
        assert_eq!(all(Lz::Lzf, b"\x00a\x20\x01"), None);
        assert_eq!(all(Lz::Lz4, b"\x10a\x02\x00\x00"), None);
        assert_eq!(all(Lz::Lz4, b"\x10a\x00\x00\x00"), None);
        assert_eq!(all(Lz::Fast, b"\x00a\x20\x01"), None);
        assert_eq!(all(Lz::Fast, b"\x40a"), None);
    }

    #[test]
    fn bombs_end_at_the_limit() {
        let body = [&b"\x1fa\x01\x00"[..], &[255; 100_000], b"\x00\x00"].concat();
        let error = Lz::Lz4.decompress(&body, 1000, &Limits::default()).expect_err("too much");
        assert_eq!(error.kind(), crate::error::ErrorKind::Limit);
        let (head, is_all) = Lz::Lz4.decompress_head(&body, true, 10).expect("a beginning");
        assert_eq!((&*head, is_all), (&b"aaaaaaaaaa"[..], false));
    }

    /// For any bytes and any end: no panic, and never more output than requested.
    #[test]
    fn random_bytes_do_not_panic() {
        let mut seed = 7u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..20_000 {
            let mut body = Vec::new();
            for _ in 0..next() % 40 {
                // Small bytes are literals, and make copies possible.
                body.push(if next() % 2 == 0 { next() % 34 } else { next() % 256 } as u8);
            }
            for lz in [Lz::Lzf, Lz::Lz4, Lz::Fast] {
                let max_len = next() % 300;
                if let Ok(out) = lz.decompress(&body, max_len as u64, &Limits::default()) {
                    assert!(out.len() <= max_len);
                }
                if let Some((out, _)) = lz.decompress_head(&body, next() % 2 == 0, max_len) {
                    assert!(out.len() <= max_len);
                }
            }
        }
    }

    #[test]
    fn literals_round_trip() {
        let bytes: Vec<u8> = (0..2000u32).map(|index| (index % 251) as u8).collect();
        for len in [0, 1, 14, 15, 16, 31, 32, 33, 269, 270, 271, 525, 2000] {
            let (mut lzf, mut lz4) = (Vec::new(), Vec::new());
            encode_lzf_literals(&bytes[..len], &mut lzf);
            encode_lz4_literals(&bytes[..len], &mut lz4);
            let limits = Limits::default();
            assert_eq!(Lz::Lzf.decompress(&lzf, 3000, &limits).expect("lzf"), &bytes[..len]);
            assert_eq!(Lz::Lz4.decompress(&lz4, 3000, &limits).expect("lz4"), &bytes[..len]);
        }
    }
}
