//! Decodes one column with several threads.

use crate::decoder::{Decoded, Decoder, Options};
use crate::error::Error;
use crate::source::Source;
use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Number of rows that a thread takes at a time.
const ROWS_PER_PART: usize = 32_768;

/// Decodes chunks of a column with this number of threads. The returned parts are in order, and each has at most 32,768
/// rows. Rows are counted from the beginning of the first chunk.
///
/// ```
/// use arrow_array::{ArrayRef, BinaryArray};
/// use icecore::Stage;
/// use icecore_columns::{Options, decode_chunks, schema};
/// use std::{num::NonZeroUsize, sync::Arc};
/// let chunk: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"i:1;"; 50_000]));
/// let field = schema::parse("int64")?;
/// let source = Stage::parse("php")?.into();
/// let threads = NonZeroUsize::new(2).unwrap();
/// let parts = decode_chunks(&source, &field, &Options::default(), &[chunk.clone(), chunk], threads)?;
/// assert_eq!(parts.iter().map(|part| part.column.len()).sum::<usize>(), 100_000);
/// # Ok::<(), icecore_columns::Error>(())
/// ```
///
/// # Errors
/// Those of [`Decoder::new`] and [`Decoder::decode`]; for several bad rows, the error of the first one.
pub fn decode_chunks(
    source: &Source,
    field: &Field,
    options: &Options,
    chunks: &[ArrayRef],
    threads: NonZeroUsize,
) -> Result<Vec<Decoded>, Error> {
    let parts = split_into_parts(chunks);
    if threads.get() == 1 || parts.len() < 2 {
        let mut decoder = Decoder::new(source.clone(), field, options.clone())?;
        return parts.iter().map(|part| part.decode(&mut decoder)).collect();
    }
    let next_part = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results: Mutex<Vec<(usize, Result<Decoded, Error>)>> = Mutex::new(Vec::new());
    let work = || -> Result<(), Error> {
        let mut decoder = Decoder::new(source.clone(), field, options.clone())?;
        // Threads take the parts in order. So if a part has an error, the parts before it are taken already and will be
        // completed, and the first error of the column is among the results.
        while !has_failed.load(Ordering::Relaxed) {
            let index = next_part.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(index) else { break };
            let decoded = part.decode(&mut decoder);
            if decoded.is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, decoded));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get().min(parts.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, decoded)| decoded).collect()
}

/// A slice of a chunk, with the number of its first row.
struct Part {
    start: usize,
    column: ArrayRef,
}

fn split_into_parts(chunks: &[ArrayRef]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0;
    for chunk in chunks {
        for chunk_offset in (0..chunk.len()).step_by(ROWS_PER_PART) {
            let column = chunk.slice(chunk_offset, ROWS_PER_PART.min(chunk.len() - chunk_offset));
            parts.push(Part { start: start + chunk_offset, column });
        }
        start += chunk.len();
    }
    parts
}

impl Part {
    fn decode(&self, decoder: &mut Decoder) -> Result<Decoded, Error> {
        let mut decoded = decoder.decode(self.column.as_ref()).map_err(|error| error.shift_row(self.start))?;
        decoded.start = self.start;
        Ok(decoded)
    }
}
