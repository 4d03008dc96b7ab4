//! Writing Data::Dumper's text: settings, values that the text can't represent, and hostile documents.

use crate::common;

use crate::common::on_a_small_stack;
use icecore::format::dumper::{self, WriteOptions};
use icecore::{Builder, Document, ErrorKind, Limits, LossKind, Losses, Stage, value::Form};

fn read_typed_json(text: &str) -> Document<'_> {
    let stage = Stage::parse("json:typed").unwrap();
    icecore::read_as(text.as_bytes(), &stage, &Limits::default()).unwrap()
}

fn try_write(document: &Document<'_>, set: impl FnOnce(&mut WriteOptions)) -> Result<(String, Losses), icecore::Error> {
    let mut options = WriteOptions::default();
    set(&mut options);
    let mut out = Vec::new();
    let losses = dumper::write(document, &options, &Limits::default(), &mut out)?;
    Ok((String::from_utf8_lossy(&out).into_owned(), losses))
}

fn on_one_line(options: &mut WriteOptions) {
    (options.indent, options.terse) = (0, true);
}

#[track_caller]
fn check(text: &str, expected: &str, lost: &[LossKind]) {
    let (written, losses) = try_write(&read_typed_json(text), on_one_line).unwrap();
    assert_eq!(written, expected);
    assert_eq!(losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), lost, "{text}");
}

#[test]
fn default_settings_write_data_dumpers_layout() {
    let document = read_typed_json(r#"{"name":"Alice","tags":[1,"two",null],"at":{"x":1.5}}"#);
    let (text, losses) = try_write(&document, |_| ()).unwrap();
    assert_eq!(
        text,
        "\
$VAR1 = {
          'name' => 'Alice',
          'tags' => [
                      1,
                      'two',
                      undef
                    ],
          'at' => {
                    'x' => '1.5'
                  }
        };
"
    );
    let losses: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.path.as_str())).collect();
    assert_eq!(losses, [(LossKind::Quoted, "$.at.x")]);
    let (text, _) = try_write(&document, |options| {
        (options.indent, options.quotekeys, options.trailingcomma) = (1, false, true);
        options.names = vec!["*person".into()];
    })
    .unwrap();
    assert_eq!(
        text,
        "\
%person = (
  name => 'Alice',
  tags => [
    1,
    'two',
    undef,
  ],
  at => {
    x => '1.5',
  },
);
"
    );
}

#[test]
fn values_of_other_languages_are_written_as_plain_values() {
    check(r#"{"$class":"A\\B","$value":{"x":1}}"#, r"bless( {'x' => 1}, 'A\\B' )", &[]);
    check(r#"[{"$symbol":"ok"}]"#, "['ok']", &[LossKind::Symbol]);
    check(r#"[{"$attributes":{"a":1},"$value":"abc"}]"#, "['abc']", &[LossKind::Attributes]);
    check(r#"{"$map":[["a",1]],"$default":[0]}"#, "{'a' => 1}", &[LossKind::MapKind]);
    check(
        r#"{"$map":[[1,2],[null,3],[true,4]]}"#,
        "{'1' => 2,'' => 3,'1' => 4}",
        &[LossKind::DuplicateKey, LossKind::Key],
    );
    check("[true,false]", "[1,'']", &[LossKind::Bool]);
    check("[123456789012345678901234567890]", "['123456789012345678901234567890']", &[LossKind::BigInt]);
    check("[0.1,1e300,3.0]", "['0.1','1e+300','3']", &[LossKind::Quoted]);
    check("[0.30000000000000004]", "['0.3']", &[LossKind::Precision, LossKind::Quoted]);
    check(r#"[{"$id":1,"$value":"s"},{"$link":1}]"#, "['s','s']", &[LossKind::Sharing]);
    check(r#"["caf\u00e9","\u263a"]"#, r#"["caf\x{e9}","\x{263a}"]"#, &[]);
}

#[test]
fn hook_payloads_and_code_are_reported_as_losses() {
    let mut builder = Builder::new();
    builder.begin_array();
    builder.begin_opaque("Date", Form::Hook);
    builder.text("2024");
    builder.end();
    builder.begin_code();
    builder.text("{ 1 }");
    builder.end();
    builder.end();
    let (text, losses) = try_write(&builder.finish().unwrap(), on_one_line).unwrap();
    assert_eq!(text, "[bless( do{\\(my $o = '2024')}, 'Date' ),sub { \"DUMMY\" }]");
    let lost: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.path.as_str())).collect();
    assert_eq!(lost, [(LossKind::Opaque, "$[0]"), (LossKind::Code, "$[1]")]);
}

#[test]
fn text_that_is_not_utf8_stays_bytes() {
    let blob = b"=\xf3rl\x05\x00\x42\x27\x02a\xff\x27\x03\xed\xa0\x80";
    let document = icecore::read_as(blob, &Stage::parse("sereal").unwrap(), &Limits::default()).unwrap();
    let mut out = Vec::new();
    let mut options = WriteOptions::default();
    on_one_line(&mut options);
    dumper::write(&document, &options, &Limits::default(), &mut out).unwrap();
    assert_eq!(out, b"['a\xff',\"\\x{d800}\"]");
}

#[test]
fn keys_that_are_arrays_are_refused() {
    let document = read_typed_json(r#"{"$map":[[[1],2]]}"#);
    let error = try_write(&document, |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
}

/// What Data::Dumper writes for globs, with its C code and with its Perl code.
#[test]
fn globs_are_written_like_data_dumper() {
    let read = |text: &str| {
        let stage = Stage::parse("dumper").unwrap();
        icecore::read_as(text.as_bytes(), &stage, &Limits::default()).unwrap().into_owned()
    };
    for (by_c, by_perl) in [
        (r"\*::G", r"\*::G"),
        (r"*Foo::Bar", r"*Foo::Bar"),
        (r"\*{'::a b'}", r"\*{'::a b'}"),
        (r"*{'::main::'}", r"*::main::"),
        (r"*{'::1'}", r"*::1"),
        (r"*{'::Foo::'}", r"*::Foo::"),
        (r#"\*{"::\x{263a}"}"#, r#"\*{"::\x{263a}"}"#),
        (r"bless( \*::G, 'IO' )", r"bless( \*::G, 'IO' )"),
    ] {
        let document = read(by_c);
        let (text, losses) = try_write(&document, on_one_line).unwrap();
        assert_eq!((text.as_str(), losses.is_empty()), (by_c, true));
        let (text, _) = try_write(&document, |options| {
            on_one_line(options);
            options.useperl = true;
        })
        .unwrap();
        assert_eq!(text, by_perl);
    }
}

// -- Hostile documents ----------------------------------------------------------------

/// Makes arrays nested in each other.
fn nest_arrays(depth: usize) -> Document<'static> {
    let mut builder = Builder::new();
    for _ in 0..depth {
        builder.begin_array();
    }
    for _ in 0..depth {
        builder.end();
    }
    builder.finish().unwrap()
}

#[test]
fn deep_arrays_need_no_deep_stack() {
    const DEPTH: usize = 1_000_000;
    let document = nest_arrays(DEPTH);
    on_a_small_stack(|| {
        assert_eq!(try_write(&document, on_one_line).unwrap_err().kind(), ErrorKind::Limit);
        let mut limits = Limits::default();
        limits.depth = u32::MAX;
        let mut options = WriteOptions::default();
        on_one_line(&mut options);
        let mut out = Vec::new();
        dumper::write(&document, &options, &limits, &mut out).unwrap();
        assert_eq!(out.len(), 2 * DEPTH);
        // The lines of an indented text would take terabytes.
        options.indent = 1;
        let error = dumper::write(&document, &options, &limits, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    });
}

/// References nested in each other, and objects nested in each other.
#[test]
fn deep_references_and_objects_need_no_deep_stack() {
    for (front, behind) in
        [(r#"{"$ref":"#, "}"), (r#"{"$class":"A","$value":"#, "}"), (r#"{"$attributes":{"a":1},"$value":"#, "}")]
    {
        let text = [front.repeat(9_000), "1".to_owned(), behind.repeat(9_000)].concat();
        let document = read_typed_json(&text);
        on_a_small_stack(|| {
            // It may be written or refused, depending on the value, but it must not crash.
            let _ = try_write(&document, on_one_line);
        });
    }
}

#[test]
fn names_of_deep_values_are_bounded() {
    let mut builder = Builder::new();
    builder.begin_array();
    let mut deepest = 0;
    for _ in 0..9_000 {
        deepest = builder.begin_array().at();
    }
    for _ in 0..9_000 {
        builder.end();
    }
    for _ in 0..100_000 {
        builder.link(deepest);
    }
    builder.end();
    let document = builder.finish().unwrap();
    for purity in [false, true] {
        let error = try_write(&document, |options| {
            on_one_line(options);
            options.purity = purity;
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
    }
}

#[test]
fn repeated_copies_are_bounded() {
    // Each array contains the previous one ten times.
    let mut text = String::from(r#"[{"$id":1,"$value":["x"]}"#);
    for level in 1..12 {
        let links = vec![format!(r#"{{"$link":{level}}}"#); 10].join(",");
        text += &format!(r#",{{"$id":{},"$value":[{links}]}}"#, level + 1);
    }
    text.push(']');
    let document = read_typed_json(&text);
    let deepcopy = |options: &mut WriteOptions| {
        on_one_line(options);
        options.deepcopy = true;
    };
    assert_eq!(try_write(&document, deepcopy).unwrap_err().kind(), ErrorKind::Limit);
    assert!(try_write(&document, on_one_line).is_ok());
}

#[test]
fn every_kind_is_written_or_refused() {
    let mut count = 0;
    for seed in 0..3_000 {
        let document = common::document(seed, common::Palette::All);
        for mode in 0..6 {
            let written = try_write(&document, |options| {
                options.purity = mode == 1;
                options.deepcopy = mode == 2;
                options.useperl = mode == 3;
                options.sortkeys = mode == 4;
                options.useqq = mode == 4;
                options.maxdepth = u32::from(mode == 5) * 2;
                options.list = mode == 5;
            });
            match written {
                Ok((text, _)) => count += usize::from(!text.is_empty()),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Unrepresentable | ErrorKind::BadLink), "{seed} {error}");
                }
            }
        }
    }
    assert!(count > 15_000, "only {count}");
}
