//! LZ4, as phpredis writes it: a length with a checksum, then a block.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::lz::{Lz, encode_lz4_literals};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "phpredis-lz4",
    title: "LZ4-compressed data, as phpredis keeps it",
    extension: "lz4",
    text: Some(false),
    layer: "data in LZ4",
    options: &[],
    page: include_str!("phpredis_lz4.md"),
    detect: |input| split_header(input).is_some_and(|(_, block)| !block.is_empty()),
    evidence: WrapperEvidence::Text,
    head: Some(|input, is_complete, _, max_len| {
        let (len, block) = split_header(input)?;
        let (bytes, is_all) = Lz::Lz4.decompress_head(block, is_complete, max_len)?;
        let has_right_length = !(is_complete && is_all) || bytes.len() as u64 == u64::from(len);
        has_right_length.then(|| ContentHead::from_beginning((bytes, is_complete && is_all)))
    }),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(None),
    unwrap,
    wrap,
};

/// Returns the length of the content, if its checksum is right, and the block.
fn split_header(input: &[u8]) -> Option<(u32, &[u8])> {
    let (header, block) = input.split_first_chunk::<5>()?;
    let [sum, len @ ..] = *header;
    (sum == crc8_checksum(len)).then_some((u32::from_le_bytes(len), block))
}

/// Returns the checksum of the length: CRC-8 with the polynomial 0x31 and the initial value 0xff.
fn crc8_checksum(bytes: [u8; 4]) -> u8 {
    bytes.into_iter().fold(0xff, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc: u8, _| if crc & 0x80 == 0 { crc << 1 } else { (crc << 1) ^ 0x31 })
    })
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    let (len, block) = split_header(input).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .at(0)
            .expecting("a checksum that fits the length")
            .finding(if input.len() < 5 { "the end of the input" } else { "another checksum" })
    })?;
    let bytes = Lz::Lz4.decompress(block, limits.decompressed_from(input.len()), limits)?;
    if bytes.len() as u64 != u64::from(len) {
        let found = format!("{}", bytes.len());
        return Err(Error::new(ErrorKind::Malformed).at(1).expecting(format!("{len} bytes inside")).finding(found));
    }
    Ok(Unwrapped::from_owned(bytes))
}

fn wrap(content: &[u8], _: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let len = u32::try_from(content.len())
        .map_err(|_| Error::new(ErrorKind::Limit).expecting("less than 4 GB for phpredis-lz4").finding("more"))?;
    let len = len.to_le_bytes();
    out.push(crc8_checksum(len));
    out.extend_from_slice(&len);
    encode_lz4_literals(content, out);
    Ok(())
}
