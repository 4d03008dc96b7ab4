//! Benchmarks that convert columns of blobs to columns of Arrow, and back.

use super::{EngineBenchmark, blobs, check, stage};
use crate::shape::Shape::{Nested, Records};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_schema::Field;
use icecore_columns::{Decoder, Encoder, Options, schema};
use std::hint::black_box;

const RECORDS: &str = "id int64 not null, name utf8, email utf8, age int64";
const NESTED: &str = "number int64 not null, total float64, note utf8, paid bool, \
                      lines list<struct<sku utf8, count int64>>, by utf8";

pub fn benchmarks() -> Vec<EngineBenchmark> {
    let mut benchmarks: Vec<EngineBenchmark> =
        ["php", "storable", "sereal", "json", "igbinary", "marshal"].into_iter().map(decode).collect();
    benchmarks.push(decode_nested("php"));
    benchmarks.push(encode("php"));
    benchmarks
}

fn field(text: &str) -> Field {
    schema::parse(text).expect("the schema is correct")
}

fn column(blobs: Vec<Vec<u8>>) -> BinaryArray {
    BinaryArray::from_iter_values(blobs)
}

/// Decodes with a new decoder, as a program does with the first batch of a file.
fn decode_with(format: &str, schema: &Field, blobs: &BinaryArray) -> ArrayRef {
    let mut decoder = Decoder::new(stage(format), schema, Options::default()).expect("the schema can be filled");
    decoder.decode(black_box(blobs)).expect("every row fits").column
}

fn check_ids(rows: &ArrayRef, expected: impl Iterator<Item = i64>) {
    let ids = rows.as_struct().column(0).as_primitive::<Int64Type>();
    assert!(ids.null_count() == 0 && expected.eq(ids.values().iter().copied()), "other rows come out");
}

fn decode(format: &'static str) -> EngineBenchmark {
    EngineBenchmark::new(format!("columns/decode-{format}/records"), 5_000, move |items| {
        let (schema, blobs) = (field(RECORDS), column(blobs(format, Records, items)));
        check(|| check_ids(&decode_with(format, &schema, &blobs), 0..items as i64));
        Box::new(move || drop(black_box(decode_with(format, &schema, &blobs))))
    })
}

fn decode_nested(format: &'static str) -> EngineBenchmark {
    EngineBenchmark::new(format!("columns/decode-{format}/nested"), 1_000, move |items| {
        let (schema, blobs) = (field(NESTED), column(blobs(format, Nested, items)));
        check(|| check_ids(&decode_with(format, &schema, &blobs), (0..items as i64).map(|id| id * 1_000_003)));
        Box::new(move || drop(black_box(decode_with(format, &schema, &blobs))))
    })
}

fn encode(format: &'static str) -> EngineBenchmark {
    EngineBenchmark::new(format!("columns/encode-{format}/records"), 1_500, move |items| {
        let (schema, blobs) = (field(RECORDS), column(blobs(format, Records, items)));
        let rows = decode_with(format, &schema, &blobs);
        let encode = move || {
            let mut encoder =
                Encoder::new(stage(format), &schema, Options::default()).expect("the schema can be written");
            encoder.encode(black_box(rows.as_ref())).expect("every row can be written").column
        };
        check(|| assert!(encode() == blobs, "other blobs come back"));
        Box::new(move || drop(black_box(encode())))
    })
}
