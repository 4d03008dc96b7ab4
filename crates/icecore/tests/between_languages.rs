//! A value of one language becomes what programs of another language would write for it.

use icecore::{Limits, LossKind, Stage};

fn convert(bytes: &[u8], from: &str, to: &str) -> (Vec<u8>, Vec<LossKind>) {
    let limits = Limits::default();
    let document = icecore::read_as(bytes, &Stage::parse(from).unwrap(), &limits).unwrap();
    let mut out = Vec::new();
    let losses = icecore::write_to(&document, &Stage::parse(to).unwrap(), &limits, &mut out).unwrap();
    (out, losses.iter().map(|loss| loss.kind).collect())
}

fn convert_to_text(bytes: &[u8], from: &str, to: &str) -> (String, Vec<LossKind>) {
    let (out, losses) = convert(bytes, from, to);
    (String::from_utf8_lossy(&out).into_owned(), losses)
}

#[test]
fn two_members_never_get_the_same_name() {
    // class E < StandardError; @mesg = 7
    let dump = b"\x04\x08o:\x06E\x08:\x09mesg\"\x07hi:\x07bt0:\x0a@mesgi\x0c";
    let (php, losses) = convert_to_text(dump, "marshal", "php");
    assert_eq!(php, r#"O:1:"E":3:{s:4:"mesg";s:2:"hi";s:2:"bt";N;s:5:"@mesg";i:7;}"#);
    assert_eq!(losses, [LossKind::Symbol]);
    let php = b"O:1:\"A\":2:{s:4:\"\0A\0x\";i:1;s:4:\"\0B\0x\";i:2;}";
    assert_eq!(convert_to_text(php, "php", "json").0, "{\"x\":1,\"\\u0000B\\u0000x\":2}");
}

#[test]
fn objects_without_a_ruby_name_become_hashes() {
    for php in
        [&br#"O:8:"stdClass":1:{s:1:"a";i:1;}"#[..], br#"O:3:"Foo":1:{s:3:"x-y";i:1;}"#, br#"O:3:"Foo":1:{i:5;i:1;}"#]
    {
        let (dump, losses) = convert(php, "php", "marshal");
        assert_eq!(dump[..4], *b"\x04\x08{\x06", "{}", dump.escape_ascii());
        assert_eq!(losses, [LossKind::Class]);
    }
    let (dump, losses) = convert(br#"O:7:"App\Foo":1:{s:1:"a";i:1;}"#, "php", "marshal");
    assert_eq!((dump, losses), (b"\x04\x08o:\x0dApp::Foo\x06:\x07@ai\x06".to_vec(), vec![]));
}

#[test]
fn regexp_dots_still_match_newlines() {
    let ruby = b"\x04\x08/\x08a.b\x04";
    assert_eq!(convert_to_text(ruby, "marshal", "json").0, r#""(?^s:a.b)""#);
    assert_eq!(convert(ruby, "marshal", "marshal").0, ruby);
    for (flags, option) in [("s", 4), ("m", 0), ("ms", 4)] {
        let typed = format!(r#"{{"$icecore":1,"$strings":"bytes","$value":{{"$regexp":"a.b","$flags":"{flags}"}}}}"#);
        let (dump, losses) = convert(typed.as_bytes(), "json:typed", "marshal");
        assert_eq!((dump.last(), losses), (Some(&option), vec![]), "{flags}");
    }
}

#[test]
fn an_exception_may_have_variables_before_its_message() {
    let dump = b"\x04\x08o:\x06E\x08:\x0a@codei\x0a:\x09mesg\"\x07hi:\x07bt0";
    assert_eq!(convert_to_text(dump, "marshal", "json").0, r#"{"code":5,"message":"hi","backtrace":null}"#);
}

#[test]
fn every_format_refuses_a_number_of_a_million_digits() {
    let mut dump = b"\x04\x08[\x06l+\x03\x40\x0d\x03".to_vec();
    dump.extend(vec![0x7f; 2 * 0x30d40]);
    let limits = Limits::default();
    let document = icecore::read_as(&dump, &Stage::parse("marshal").unwrap(), &limits).unwrap();
    for to in ["json", "json:typed", "php", "php-session", "var-export", "igbinary", "storable", "sereal"] {
        let error = icecore::write_to(&document, &Stage::parse(to).unwrap(), &limits, &mut Vec::new());
        let kind = error.map(|_| ()).map_err(|error| error.kind());
        let expected =
            if to == "php-session" { icecore::ErrorKind::Unrepresentable } else { icecore::ErrorKind::Limit };
        assert_eq!(kind, Err(expected), "{to}");
    }
}

#[test]
fn old_rails_cache_entries_are_unwrapped() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cookbook/samples/ruby/cache");
    let entry = std::fs::read(format!("{folder}/5C0/010/menu")).unwrap();
    let json = icecore::convert(&entry, "rails-cache/marshal", "json").unwrap();
    let menu = r#"[{"title":"Home","path":"/"},{"title":"Shop","path":"/shop"}]"#;
    assert_eq!(String::from_utf8_lossy(&json), menu);
    let error = icecore::convert(b"\x04\x080", "rails-cache/marshal", "json").unwrap_err();
    assert!(error.to_string().contains("ActiveSupport::Cache::Entry"), "{error}");
}

#[test]
fn objects_as_keys_are_refused() {
    let typed =
        r#"{"$icecore":1,"$strings":"text","$value":{"$map":[[{"$opaque":"U","$class":"Date","$payload":[1]},true]]}}"#;
    let limits = Limits::default();
    let document = icecore::read_as(typed.as_bytes(), &Stage::parse("json:typed").unwrap(), &limits).unwrap();
    for to in ["storable", "sereal", "php", "igbinary", "var-export"] {
        let error = icecore::write_to(&document, &Stage::parse(to).unwrap(), &limits, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), icecore::ErrorKind::Unrepresentable, "{to}");
    }
    assert_eq!(convert_to_text(typed.as_bytes(), "json:typed", "marshal:utf8").1, []);
}
