//! Decodes blobs as rows of columns. Whatever a blob contains, the rows around it are correct, the type inferred from
//! it fits it, and accepted values can be encoded again.

use crate::check;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BinaryArray};
use arrow_schema::Field;
use icecore::{Builder, Limits, Stage};
use icecore_columns::{Decoded, Decoder, Encoder, Inference, OnError, Options, Source, schema};

const STAGES: [&str; 7] = ["php", "json", "igbinary", "marshal", "storable", "sereal", "php-session"];

/// Types that any blob is decoded to.
const SCHEMAS: [&str; 5] = [
    "json",
    "a json, more rest, c class",
    "list<map<utf8, decimal(20, 3)>>",
    "id int64 at '$..*', b list<utf8> at '$[*]', c binary at '$.a'",
    "a timestamp[ns, UTC], b date32, c struct<a uint64, b list<float32>, d bool>",
];

pub fn columns(data: &[u8]) {
    let mut options = Options::default();
    options.limits = check::small_limits();
    options.on_error = OnError::Null;
    for name in STAGES {
        let stage = Stage::parse(name).expect("a stage");
        let mut inference = Inference::new(stage.clone(), &options.limits);
        inference.examine_blob(data);
        let inferred = inference.field();
        assert_eq!(schema::parse(&schema::print(&inferred)).expect("what was printed"), inferred);
        let rows = decode_blobs(stage.clone().into(), &inferred, &[data], &options);
        // JSON can't express everything that can be read.
        if rows.bad.is_empty() && Encoder::new(stage.clone(), &inferred, options.clone()).is_ok() {
            encode_again(&rows, &stage, &inferred, &options);
        }
        for text in SCHEMAS {
            decode_blobs(stage.clone().into(), &schema::parse(text).expect("a schema"), &[data], &options);
        }
        check_between_good_blobs(data, &stage, &options);
    }
    decode_blobs(Source::Detect, &schema::parse("json").expect("a schema"), &[data], &options);
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = schema::parse(text);
    }
}

fn decode_blobs(source: Source, field: &Field, blobs: &[&[u8]], options: &Options) -> Decoded {
    let mut decoder = Decoder::new(source, field, options.clone()).expect("a decoder");
    decoder.decode(&BinaryArray::from_vec(blobs.to_vec())).expect("a column")
}

fn encode_again(rows: &Decoded, stage: &Stage, field: &Field, options: &Options) {
    let mut encoder = Encoder::new(stage.clone(), field, options.clone()).expect("an encoder");
    let encoded = encoder.encode(rows.column.as_ref()).expect("a column");
    if encoded.column.is_valid(0) {
        let reread = decode_blobs(stage.clone().into(), field, &[encoded.column.value(0)], options);
        assert_eq!(reread.column.len(), 1);
    }
}

/// Checks that blobs between good ones do not affect those.
fn check_between_good_blobs(data: &[u8], stage: &Stage, options: &Options) {
    let mut builder = Builder::new();
    builder.begin_map().text_key("id").int(7).text_key("name").text("é").end();
    let document = builder.finish().expect("a document");
    let mut good = Vec::new();
    icecore::write_to(&document, stage, &Limits::default(), &mut good).expect("written");
    let field = schema::parse("id int64, name utf8").expect("a schema");
    let rows = decode_blobs(stage.clone().into(), &field, &[&good, data, &good, data, &good], options);
    let (ids, names) = (rows.column.as_struct().column(0), rows.column.as_struct().column(1));
    for row in [0, 2, 4] {
        assert!(rows.column.is_valid(row) && ids.as_primitive::<Int64Type>().value(row) == 7);
        assert_eq!(names.as_string::<i32>().value(row), "é");
    }
    assert_eq!(rows.column.slice(1, 1).as_ref(), rows.column.slice(3, 1).as_ref());
}
