//! A row must not depend on the rows before it: any table, including rows that do not fit, equals the same table
//! decoded row by row, each with its own decoder. Schemas, documents and formats are random.

use crate::random_numbers::Random;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_schema::Field as ArrowField;
use arrow_select::concat::concat;
use icecore::{Builder, Limits, Stage};
use icecore_columns::{Decoder, Error, OnError, Options, Source, decode_chunks, schema};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Keys of the documents; so few that fields and values often meet.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A type of a schema.
enum Type {
    Scalar(&'static str),
    Struct(Vec<Field>),
    List(Box<Type>),
    Map(Box<Type>),
}

/// A field of a struct. The ones with an ending such as ` at "$.a"` are filled from a path.
struct Field {
    name: String,
    data_type: Type,
    ending: String,
}

impl Type {
    fn random(random: &mut Random, depth: u32) -> Type {
        const SCALARS: [&str; 7] = ["int64", "utf8", "float64", "bool", "int8", "json", "timestamp"];
        match random.below(if depth == 0 { 7 } else { 12 }) {
            7..10 => Type::Struct(Field::random_list(random, depth - 1)),
            10 => Type::List(Box::new(Type::random(random, depth - 1))),
            11 => Type::Map(Box::new(Type::random(random, depth - 1))),
            scalar => Type::Scalar(SCALARS[scalar as usize]),
        }
    }

    /// Returns the field as a schema writes it.
    fn text(&self) -> String {
        match self {
            Type::Scalar(name) => (*name).to_owned(),
            Type::Struct(fields) => format!("struct<{}>", Field::text_of(fields)),
            Type::List(item) => format!("list<{}>", item.text()),
            Type::Map(value) => format!("map<utf8, {}>", value.text()),
        }
    }

    /// Adds a value that fits, except for one in forty.
    fn build(&self, random: &mut Random, builder: &mut Builder) {
        if random.below(40) == 0 {
            builder.begin_array().text("does not fit").end();
            return;
        }
        match self {
            _ if random.below(12) == 0 => drop(builder.null()),
            Type::Scalar("int64" | "int8") => drop(builder.int(random.below(120) as i64 - 20)),
            Type::Scalar("float64") => drop(builder.float(random.below(100) as f64 + 0.5)),
            Type::Scalar("bool") => drop(builder.bool(random.below(2) == 0)),
            Type::Scalar("timestamp") => drop(builder.text("2020-01-02 03:04:05")),
            Type::Scalar(_) => drop(builder.text(["x", "12", "a longer text é"][random.below(3) as usize])),
            Type::Struct(fields) => {
                let is_object = random.below(6) == 0;
                if is_object {
                    builder.begin_object(["Shop", "App\\Order"][random.below(2) as usize]);
                }
                build_map(random, builder, fields);
                if is_object {
                    builder.end();
                }
            }
            Type::List(item) => {
                builder.begin_array();
                for _ in 0..random.below(4) {
                    item.build(random, builder);
                }
                builder.end();
            }
            Type::Map(value) => {
                builder.begin_map();
                for name in &NAMES[..random.below(4) as usize] {
                    builder.text_key(name);
                    value.build(random, builder);
                }
                builder.end();
            }
        }
    }
}

impl Field {
    fn random_list(random: &mut Random, depth: u32) -> Vec<Field> {
        let count = 1 + random.below(NAMES.len() as u64) as usize;
        let mut fields: Vec<Field> = NAMES[..count]
            .iter()
            .map(|name| Field {
                name: (*name).to_owned(),
                data_type: Type::random(random, depth),
                ending: if random.below(6) == 0 { " not null".to_owned() } else { String::new() },
            })
            .collect();
        for (name, word) in [("others", "rest"), ("kind", "class")] {
            if random.below(3) == 0 {
                fields.push(Field { name: name.to_owned(), data_type: Type::Scalar(word), ending: String::new() });
            }
        }
        fields
    }

    fn text_of(fields: &[Field]) -> String {
        let text = |field: &Field| format!("{} {}{}", field.name, field.data_type.text(), field.ending);
        fields.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// Returns `true` if documents have an entry with its name.
    fn is_named(&self) -> bool {
        !matches!(self.data_type, Type::Scalar("rest" | "class")) && !self.ending.contains(" at ")
    }
}

/// Chooses the schema of a table, and the fields of its documents. In some tables all fields are on paths: then long
/// rows are not read as a whole.
fn choose_schema(random: &mut Random) -> (String, Vec<Field>) {
    let documents = Field::random_list(random, 2);
    let on_path = |name: &str, field: &Field, path: &str| format!("{name} {} at \"{path}\"", field.data_type.text());
    let mut texts = Vec::new();
    match random.below(3) {
        0 => {
            let named_fields = documents.iter().filter(|field| field.is_named()).take(3);
            texts.extend(
                named_fields.map(|field| on_path(&format!("at_{}", field.name), field, &format!("$.{}", field.name))),
            );
        }
        1 => {
            texts.extend(documents.iter().map(|field| Field::text_of(std::slice::from_ref(field))));
            texts.push(on_path("path", &documents[0], ["$.a", "$.*", "$..a"][random.below(3) as usize]));
        }
        _ => texts.extend(documents.iter().map(|field| Field::text_of(std::slice::from_ref(field)))),
    }
    (texts.join(", "), documents)
}

/// Builds a map with these fields, mostly in the same order, so that rows are alike.
fn build_map(random: &mut Random, builder: &mut Builder, fields: &[Field]) {
    builder.begin_map();
    let start = if random.below(5) == 0 { random.below(6) as usize } else { 0 };
    for index in 0..fields.len() {
        let field = &fields[(index + start) % fields.len()];
        if field.is_named() && random.below(12) > 0 {
            builder.text_key(&field.name);
            field.data_type.build(random, builder);
        }
    }
    if random.below(3) == 0 {
        builder.text_key("unknown").int(random.below(1000) as i64);
    }
    builder.end();
}

/// Builds the bytes of a document in this stage; some can't be read.
fn build_blob(random: &mut Random, stage: &Stage, fields: &[Field]) -> Vec<u8> {
    if random.below(20) == 0 {
        return b"\xff?".to_vec();
    }
    loop {
        let mut builder = Builder::new();
        builder.begin_map();
        for field in fields.iter().filter(|field| field.is_named()) {
            if random.below(12) > 0 {
                builder.text_key(&field.name);
                field.data_type.build(random, &mut builder);
            }
        }
        match random.below(6) {
            // Above a certain length, paths are found without reading everything.
            0 | 1 => drop(builder.text_key("z").text(&"long ".repeat(300))),
            2 => drop(builder.text_key("z").int(random.below(1000) as i64)),
            _ => {}
        }
        builder.end();
        let document = builder.finish().expect("a document");
        let mut blob = Vec::new();
        // Some formats have no objects; then another document is tried.
        if icecore::write_to(&document, stage, &Limits::default(), &mut blob).is_ok() {
            return blob;
        }
    }
}

/// The result for a table: its column, bad rows with their errors, and rows with entries that no field has.
#[derive(Debug)]
struct Outcome {
    column: ArrayRef,
    bad: Vec<(usize, String)>,
    extra: Option<(usize, usize)>,
}

fn null_options() -> Options {
    let mut options = Options::default();
    options.on_error = OnError::Null;
    options
}

fn decode_row_by_row(source: &Source, field: &ArrowField, blobs: &[Option<Vec<u8>>]) -> Outcome {
    let (mut columns, mut bad, mut extra) = (Vec::new(), Vec::new(), None::<(usize, usize)>);
    for (row, blob) in blobs.iter().enumerate() {
        let mut decoder = Decoder::new(source.clone(), field, null_options()).expect("a decoder");
        let decoded = decoder.decode(&BinaryArray::from(vec![blob.as_deref()])).expect("decoded");
        columns.push(decoded.column);
        bad.extend(decoded.bad.into_iter().map(|bad| (row, bad.error.to_string())));
        if decoded.extra.is_some() {
            extra.get_or_insert((0, row)).0 += 1;
        }
    }
    let columns: Vec<&dyn Array> = columns.iter().map(|column| column.as_ref()).collect();
    Outcome { column: concat(&columns).expect("columns of one type"), bad, extra }
}

fn decode_on_threads(source: &Source, field: &ArrowField, blobs: &[Option<Vec<u8>>], threads: usize) -> Outcome {
    let chunks: Vec<ArrayRef> = blobs
        .chunks(blobs.len().div_ceil(3))
        .map(|part| Arc::new(BinaryArray::from(part.iter().map(Option::as_deref).collect::<Vec<_>>())) as ArrayRef)
        .collect();
    let threads = NonZeroUsize::new(threads).expect("a thread");
    let parts = decode_chunks(source, field, &null_options(), &chunks, threads).expect("decoded");
    let (mut bad, mut extra) = (Vec::new(), None::<(usize, usize)>);
    for part in &parts {
        bad.extend(part.bad.iter().map(|bad| (part.start + bad.row, bad.error.to_string())));
        if let Some((count, first)) = part.extra {
            extra.get_or_insert((0, part.start + first)).0 += count;
        }
    }
    let columns: Vec<&dyn Array> = parts.iter().map(|part| part.column.as_ref()).collect();
    Outcome { column: concat(&columns).expect("columns of one type"), bad, extra }
}

/// Checks that in strict mode the first bad row is the error, and that the decoder can be used again afterwards.
fn check_strict_mode(source: &Source, field: &ArrowField, blobs: &[Option<Vec<u8>>], expected: &Outcome) {
    let mut decoder = Decoder::new(source.clone(), field, Options::default()).expect("a decoder");
    let mut rest = blobs;
    for (row, error) in &expected.bad {
        let row = row - (blobs.len() - rest.len());
        let column = BinaryArray::from(rest.iter().map(Option::as_deref).collect::<Vec<_>>());
        match decoder.decode(&column) {
            Err(Error::Row { row: found, error: message }) => {
                assert_eq!((found, message.to_string()), (row, error.clone()));
            }
            other => panic!("row {row} is bad, not {other:?}"),
        }
        rest = &rest[row + 1..];
    }
    let column = BinaryArray::from(rest.iter().map(Option::as_deref).collect::<Vec<_>>());
    let decoded = decoder.decode(&column).expect("no row is bad after the last one");
    assert_eq!(&decoded.column, &expected.column.slice(blobs.len() - rest.len(), rest.len()));
}

#[test]
fn a_table_equals_its_rows_decoded_one_by_one() {
    // `ICECORE_FULL=1`: about 30,000 tables.
    let rounds = if std::env::var_os("ICECORE_FULL").is_some() { 5000 } else { 60 };
    for name in ["json", "php", "sereal", "igbinary", "marshal", "storable"] {
        let mut random = Random(name.len() as u64 * 77);
        for round in 0..rounds {
            let (text, fields) = choose_schema(&mut random);
            let field = schema::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let stage = Stage::parse(name).expect("a stage");
            let count = 4 + random.below(30) as usize;
            let blobs: Vec<Option<Vec<u8>>> =
                (0..count).map(|_| random.maybe(|random| build_blob(random, &stage, &fields))).collect();
            let source = if round % 3 == 0 { Source::Detect } else { Source::from(Stage::of(stage.format())) };
            let expected = decode_row_by_row(&source, &field, &blobs);
            for threads in [1, 2] {
                let found = decode_on_threads(&source, &field, &blobs, threads);
                let context = || format!("{name}, round {round}, {threads} threads: {text}");
                assert_eq!((&found.bad, found.extra), (&expected.bad, expected.extra), "{}", context());
                assert_eq!(&found.column, &expected.column, "{}", context());
            }
            check_strict_mode(&source, &field, &blobs, &expected);
        }
    }
}
