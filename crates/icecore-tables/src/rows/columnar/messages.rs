//! Files and streams of Arrow, message by message.

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{BodyCompression, Message, RecordBatch as Header, root_as_message};
use arrow_schema::{DataType, Field, SchemaRef};
use std::collections::VecDeque;
use std::io::{self, Read};

/// The first bytes of a file. A stream follows them.
const MAGIC: &[u8; 8] = b"ARROW1\0\0";
/// Maximum offset of the padding at the start of a file.
const MAX_PADDING_END: u64 = 1024;
/// The four bytes before a length. Old files do not have them.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Maximum length of the description of a message.
const MAX_METADATA_LEN: u32 = 64 << 20;
/// Any buffer may have this size, whatever its compressed size.
const MAX_UNCHECKED_LEN: i64 = 64 << 20;
/// Maximum ratio of the size of a larger buffer to its compressed size.
const MAX_EXPANSION: i64 = 1024;
/// Maximum depth of types.
const MAX_TYPE_DEPTH: usize = 64;

/// The records of a file or a stream.
pub struct Messages<R> {
    input: R,
    decoder: StreamDecoder,
    /// Number of bytes read.
    pub offset: u64,
    is_begun: bool,
    is_done: bool,
    /// Decoded records.
    records: VecDeque<RecordBatch>,
}

impl<R: Read> Messages<R> {
    pub fn new(input: R) -> Messages<R> {
        Messages {
            input,
            decoder: StreamDecoder::new(),
            offset: 0,
            is_begun: false,
            is_done: false,
            records: VecDeque::new(),
        }
    }

    /// Returns the types of the columns, reading until they are known.
    pub fn read_schema(&mut self) -> Result<SchemaRef, String> {
        loop {
            if let Some(schema) = self.decoder.schema() {
                let is_shallow = schema.fields().iter().all(|field| is_shallow(field, MAX_TYPE_DEPTH));
                return if is_shallow {
                    Ok(schema)
                } else {
                    Err(format!("it has types that are nested more than {MAX_TYPE_DEPTH} levels deep"))
                };
            }
            if !self.read_message()? {
                return Err("it ends before the description of its columns".to_owned());
            }
        }
    }

    /// Returns the next record, or `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<RecordBatch>, String> {
        while self.records.is_empty() && self.read_message()? {}
        Ok(self.records.pop_front())
    }

    /// Reads a message. Returns whether there was one.
    fn read_message(&mut self) -> Result<bool, String> {
        if self.is_done {
            return Ok(false);
        }
        let Some(len) = self.read_length()? else {
            self.is_done = true;
            // A message without bytes after its description is complete only when more bytes follow.
            self.decode_message([Buffer::from(&CONTINUATION), Buffer::from(&[0; 4])])?;
            return Ok(true);
        };
        if len > MAX_METADATA_LEN {
            return Err(format!("a message claims that its description has {len} bytes"));
        }
        let head = self.read_exactly(u64::from(len))?;
        let message = root_as_message(&head).map_err(|error| format!("a message is damaged: {error}"))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| "a message has a negative size".to_owned())?;
        let body = self.read_exactly(body)?;
        check_buffer_sizes(&message, &body)?;
        let len = Buffer::from(&len.to_le_bytes());
        self.decode_message([Buffer::from(&CONTINUATION), len, Buffer::from_vec(head), Buffer::from_vec(body)])?;
        Ok(true)
    }

    fn decode_message<const N: usize>(&mut self, pieces: [Buffer; N]) -> Result<(), String> {
        for mut piece in pieces {
            while !piece.is_empty() {
                let record = self.decoder.decode(&mut piece).map_err(|error| error.to_string())?;
                self.records.extend(record);
            }
        }
        Ok(())
    }

    /// Reads the length of the description of the next message. Returns `None` if there is none.
    fn read_length(&mut self) -> Result<Option<u32>, String> {
        let Some(mut word) = self.read_word()? else { return Ok(None) };
        if !std::mem::replace(&mut self.is_begun, true) && word == MAGIC[..4] {
            if self.read_word()? != Some([MAGIC[4], MAGIC[5], 0, 0]) {
                return Err("it is not a file of Arrow".to_owned());
            }
            // Zeros follow, up to a round offset.
            word = [0; 4];
            while word == [0; 4] && self.offset < MAX_PADDING_END {
                word = self.read_word()?.ok_or_else(|| "it ends too early".to_owned())?;
            }
        }
        if word == CONTINUATION {
            word = self.read_word()?.ok_or_else(|| "it ends too early".to_owned())?;
        }
        let len = u32::from_le_bytes(word);
        Ok((len > 0).then_some(len))
    }

    fn read_word(&mut self) -> Result<Option<[u8; 4]>, String> {
        let mut word = [0; 4];
        let mut len = 0;
        while len < word.len() {
            match self.input.read(&mut word[len..]) {
                Ok(0) if len == 0 => return Ok(None),
                Ok(0) => return Err("it ends too early".to_owned()),
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        self.offset += 4;
        Ok(Some(word))
    }

    /// Reads exactly `len` bytes. The length is not trusted, so memory is allocated only when the bytes arrive.
    fn read_exactly(&mut self, len: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(len).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        self.offset += bytes.len() as u64;
        if bytes.len() as u64 == len { Ok(bytes) } else { Err("it ends too early".to_owned()) }
    }
}

/// Returns whether types are at most this deep.
pub fn is_shallow(field: &Field, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match field.data_type() {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => is_shallow(item, depth),
        DataType::ListView(item) | DataType::LargeListView(item) => is_shallow(item, depth),
        DataType::Struct(fields) => fields.iter().all(|field| is_shallow(field, depth)),
        DataType::Union(fields, _) => fields.iter().all(|(_, field)| is_shallow(field, depth)),
        DataType::Dictionary(_, values) => is_shallow(&Field::new("", (**values).clone(), true), depth),
        DataType::RunEndEncoded(ends, values) => is_shallow(ends, depth) && is_shallow(values, depth),
        _ => true,
    }
}

/// Checks the declared sizes of compressed buffers, because readers allocate memory by them alone.
fn check_buffer_sizes(message: &Message<'_>, body: &[u8]) -> Result<(), String> {
    let header: Option<Header<'_>> = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch().and_then(|batch| batch.data()));
    let Some(header) = header else { return Ok(()) };
    let compression: Option<BodyCompression<'_>> = header.compression();
    let (Some(_), Some(buffers)) = (compression, header.buffers()) else { return Ok(()) };
    for buffer in buffers {
        let (Ok(start), Ok(len)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length())) else {
            return Err("a buffer has a negative offset".to_owned());
        };
        let bytes = start.checked_add(len).and_then(|end| body.get(start..end));
        let bytes = bytes.ok_or_else(|| "a buffer is not within its message".to_owned())?;
        let Some(size) = bytes.first_chunk::<8>() else { continue };
        let size = i64::from_le_bytes(*size);
        if size > MAX_UNCHECKED_LEN.max((len as i64).saturating_mul(MAX_EXPANSION)) {
            return Err(format!(
                "a buffer of {len} bytes would expand to {size} bytes, which is refused: no table needs that"
            ));
        }
    }
    Ok(())
}
