//! Nested wrappers: in every order, limited together, and distinguished from ordinary text.

use crate::common::{Random, on_a_small_stack};
use icecore::{ErrorKind, Limits, Stage, convert, deep, detect::stage_of, identify, read};

/// Wrappers that need no options; compression only if it was built in.
fn layers() -> Vec<&'static str> {
    let mut names = vec!["base64", "base64url", "hex", "uri"];
    if cfg!(feature = "zlib") {
        names.extend(["gzip", "zlib"]);
    }
    if cfg!(feature = "zstd") {
        names.push("zstd");
    }
    names
}

fn wrap(path: &str, bytes: &[u8]) -> Vec<u8> {
    Stage::parse(&format!("{path}/json")).unwrap().wrap(bytes.to_vec()).unwrap()
}

fn unwrap(path: &str, bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, ErrorKind> {
    let stage = Stage::parse(&format!("{path}/json")).unwrap();
    stage.unwrap(bytes, limits).map(|inside| inside.bytes.into_owned()).map_err(|error| error.kind())
}

/// Returns the name that is detected: base64url without one of its own digits is plain Base64.
fn expected_layer(layer: &'static str, bytes: &[u8]) -> &'static str {
    let is_url = bytes.contains(&b'-') || bytes.contains(&b'_');
    if layer == "base64url" && !is_url { "base64" } else { layer }
}

const PHP: &[u8] = br#"a:2:{s:4:"name";s:5:"alice";s:3:"age";i:42;}"#;

#[test]
fn every_pair_of_wrappers_round_trips() {
    for outer in layers() {
        for inner in layers() {
            let stage = format!("{outer}/{inner}/php");
            let bytes = convert(PHP, "php", &stage).unwrap();
            assert_eq!(convert(&bytes, &stage, "php").unwrap(), PHP, "{stage}");
            // Base64 that needs no escaping is the same text.
            if outer == "uri" && !bytes.contains(&b'%') {
                continue;
            }
            // The same without naming the wrappers.
            let (outside, inside) = (expected_layer(outer, &bytes), expected_layer(inner, &wrap(inner, PHP)));
            assert_eq!(stage_of(&bytes).unwrap().name(), format!("{outside}/{inside}/php"));
            assert_eq!(icecore::write(&read(&bytes).unwrap(), "php").unwrap(), PHP, "{stage}");
            let found = identify(&bytes).unwrap();
            assert_eq!((found.name, &*found.wrappers, found.is_read), ("php", &[outside, inside][..], true), "{stage}");
        }
    }
}

#[test]
fn every_format_is_detected_inside_every_wrapper() {
    for format in ["storable", "storable:memory", "sereal", "marshal", "igbinary", "json", "php", "var-export"] {
        for layer in layers() {
            let stage = format!("{layer}/{format}");
            let bytes = convert(PHP, "php", &stage).unwrap();
            let found = stage_of(&bytes).unwrap();
            assert_eq!(
                found.name(),
                format!("{}/{}", expected_layer(layer, &bytes), format.split(':').next().unwrap())
            );
            let document = read(&bytes).unwrap();
            assert_eq!(document.root().get("age").unwrap().as_i64(), Some(42), "{stage}");
        }
    }
}

#[test]
fn long_content_is_detected_from_its_beginning() {
    let rows: Vec<String> = (0..200_000).map(|row| format!("{{\"id\":{row},\"name\":\"row {row}\"}}")).collect();
    let json = format!("[{}]", rows.join(",")).into_bytes();
    for layer in layers() {
        let bytes = wrap(layer, &json);
        let layer = expected_layer(layer, &bytes);
        assert_eq!(stage_of(&bytes).unwrap().name(), format!("{layer}/json"));
        assert_eq!(read(&bytes).unwrap().root().len(), 200_000);
        // The start of a file that is too long to be examined as a whole.
        let found = icecore::detect::identify_head(&bytes[..bytes.len() / 2 + 1]).unwrap();
        assert_eq!((found.name, &*found.wrappers), ("json", &[layer][..]));
    }
}

#[cfg(feature = "zlib")]
#[test]
fn nested_bombs_share_one_limit() {
    // 64 MB of zeros, packed to 64 KB and then to about 300 bytes.
    let zeros = vec![0; 64 << 20];
    let outer = wrap("gzip/zlib", &zeros);
    assert!(outer.len() < 1000, "{}", outer.len());
    let mut limits = Limits::default();
    limits.ratio = 2000;
    assert_eq!(unwrap("gzip/zlib", &outer, &limits), Err(ErrorKind::Limit));
    // Each layer would be allowed by itself.
    let middle = unwrap("gzip", &outer, &limits).unwrap();
    assert_eq!(unwrap("zlib", &middle, &limits).map(|inside| inside.len()), Ok(zeros.len()));
    limits.ratio = 1 << 20;
    assert_eq!(unwrap("gzip/zlib", &outer, &limits).map(|inside| inside.len()), Ok(zeros.len()));
    // The output of one layer also counts against the limit of the next.
    limits.decompressed = zeros.len() as u64;
    assert_eq!(unwrap("zlib", &middle, &limits).map(|inside| inside.len()), Ok(zeros.len()));
    assert_eq!(unwrap("gzip/zlib", &outer, &limits), Err(ErrorKind::Limit));
    // Layers between them do not hide it.
    let hidden = wrap("base64/gzip/base64/zlib", &zeros);
    assert_eq!(unwrap("base64/gzip/base64/zlib", &hidden, &limits), Err(ErrorKind::Limit));
    assert!(unwrap("base64/gzip/base64/zlib", &hidden, &Limits::default()).is_ok());
}

/// The compressed body of a format counts as a layer too.
#[cfg(all(feature = "zlib", feature = "zstd"))]
#[test]
fn compression_inside_a_format_shares_the_limit_of_its_wrappers() {
    let text = format!("[\"{}\"]", "x".repeat(20 << 20));
    let bytes = convert(text.as_bytes(), "json", "gzip/sereal:compress=zstd").unwrap();
    assert!(bytes.len() < 8000);
    let mut limits = Limits::default();
    let stage = Stage::parse("gzip/sereal").unwrap();
    assert!(icecore::read_as(&bytes, &stage, &limits).is_ok());
    limits.ratio = 1000;
    let error = icecore::read_as(&bytes, &stage, &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.help().unwrap().contains("`ratio` and `decompressed`"), "{error}");
    limits = Limits::default();
    limits.decompressed = 20 << 20;
    let error = icecore::read_as(&bytes, &stage, &limits).unwrap_err();
    assert!(error.help().unwrap().contains("raise the limit `decompressed`"), "{error}");
}

#[cfg(feature = "zlib")]
#[test]
fn bombs_in_strings_do_not_evade_the_limits() {
    // Each string unpacks to 4 MB, which would be allowed for each string alone.
    let json = format!("[{}1]", "1,".repeat(2 << 20));
    let bomb = wrap("base64/zlib", json.as_bytes());
    let bomb = String::from_utf8(bomb).unwrap();
    let document = format!("[{}]", vec![format!("\"{bomb}\""); 200].join(","));
    let error = deep::open(read(document.as_bytes()).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

/// Decompression that fails counts as well: otherwise each of many strings that break off at their
/// end would cost as much as the limit allows.
#[cfg(all(feature = "zlib", feature = "zstd"))]
#[test]
fn cut_bombs_in_strings_count_against_the_limit() {
    let json = format!("[{}1]", "1,".repeat(1 << 20));
    for layer in ["gzip", "zlib", "zstd", "sereal"] {
        let bomb = match layer {
            "sereal" => {
                convert(format!("[\"{}\"]", "a".repeat(2 << 20)).as_bytes(), "json", "sereal:compress=zlib").unwrap()
            }
            _ => wrap(layer, json.as_bytes()),
        };
        let mut broken = bomb.clone();
        match layer {
            // The last bytes are a checksum or part of the length.
            "sereal" | "gzip" => *broken.last_mut().unwrap() ^= 1,
            _ => broken.truncate(bomb.len() - 2),
        }
        let document = || {
            let mut builder = icecore::Builder::new();
            builder.begin_array();
            for _ in 0..10 {
                builder.bytes(&broken);
            }
            builder.end();
            builder.finish().unwrap()
        };
        let mut limits = Limits::default();
        assert_eq!(deep::open(document(), &limits).unwrap().opened.len(), 0, "{layer}");
        limits.decompressed = 8 << 20;
        match deep::open(document(), &limits) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Limit, "{layer}"),
            Ok(_) => panic!("{layer}: all of them were decompressed"),
        }
    }
}

#[test]
fn errors_name_the_layer() {
    let error = |stage: &str, bytes: &[u8]| convert(bytes, stage, "json").unwrap_err();
    let e = error("base64/php", b"aToxO3g*");
    assert_eq!((e.format(), e.layer(), e.offset(), e.found()), (Some("base64"), None, Some(7), Some("`*`")));
    let e = error("hex/base64/php", &wrap("hex", b"aToxO3g*"));
    assert_eq!((e.format(), e.layer(), e.offset()), (Some("base64"), Some("data in hex"), Some(7)));
    let e = error("base64/php", &wrap("base64", b"a:1:{i:0;x"));
    assert_eq!((e.format(), e.layer(), e.offset()), (Some("php"), Some("data in Base64"), Some(9)));
    let e = error("base64/php", b"a-_x");
    assert_eq!(e.help(), Some("the alphabet with - and _ is `base64url`"));
    let e = error("uri/json", b"%5B1%5");
    assert_eq!((e.kind(), e.offset()), (ErrorKind::Truncated, Some(4)));
    let e = error("hex/json", b"5b3z5d");
    assert_eq!((e.kind(), e.offset(), e.found()), (ErrorKind::Malformed, Some(3), Some("`z`")));
    let e = error("hex/json", b"5b315");
    assert_eq!((e.kind(), e.offset()), (ErrorKind::Truncated, Some(5)));
}

#[test]
fn damaged_wrappers_do_not_panic() {
    for layer in layers() {
        let wrapped = wrap(layer, PHP);
        for offset in 0..wrapped.len() {
            let cut = unwrap(layer, &wrapped[..offset], &Limits::default());
            if ["gzip", "zlib", "zstd"].contains(&layer) {
                assert!(cut.is_err(), "{layer} cut to {offset}");
            }
            for change in [1, 0x20, 0x80, 0xff] {
                let mut bytes = wrapped.clone();
                bytes[offset] ^= change;
                let _ = unwrap(layer, &bytes, &Limits::default());
                let _ = stage_of(&bytes);
            }
        }
    }
}

#[test]
fn many_layers_need_no_deep_stack() {
    on_a_small_stack(|| {
        let path = "hex/base64/".repeat(8) + "json";
        let bytes = convert(b"[1,[2]]", "json", &path).unwrap();
        assert_eq!(convert(&bytes, &path, "json").unwrap(), b"[1,[2]]");
        // Detection looks through a limited number of wrappers: four are found.
        assert_eq!(stage_of(&bytes).unwrap_err().kind(), ErrorKind::Format);
        let four = convert(b"[1,[2]]", "json", "hex/base64/hex/base64/json").unwrap();
        assert_eq!(stage_of(&four).unwrap().name(), "hex/base64/hex/base64/json");
    });
}

/// Words, numbers, tokens and digests, as columns and files often contain.
#[test]
fn ordinary_text_is_not_detected_as_wrapped() {
    let mut texts: Vec<String> = [
        "username",
        "everyone",
        "password1234",
        "0408690600000000",
        "040869060000000000000000",
        "00000002062a0000",
        "20260101",
        "BAhp",
        "BAgw",
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "550e8400-e29b-41d4-a716-446655440000",
        "100%25",
        "a%20b",
        "%41%42",
        "2026-01-01T00:00:00Z",
        "AAAAAAAA",
        "00000000",
        "hello%20world%21",
        "C0FFEE00",
        "deadbeefdeadbeef",
        "100",
        "true",
        "nullnull",
        "WzFd",
        "e30=",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut random = Random::new(7);
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
    for round in 0..60_000u64 {
        let (digits, len) = match round % 4 {
            0 => (16, 8 + 2 * random.below(30)),
            1 => (10, 8 + random.below(20)),
            2 => (62, 4 + random.below(40)),
            _ => (66, 4 + random.below(40)),
        };
        let text: Vec<u8> = match digits {
            16 => (0..len).map(|_| b"0123456789abcdef"[random.below(16) as usize]).collect(),
            10 => (0..len).map(|_| b"0123456789"[random.below(10) as usize]).collect(),
            digits => (0..len).map(|_| alphabet[random.below(digits) as usize]).collect(),
        };
        texts.push(String::from_utf8(text).unwrap());
    }
    for text in texts {
        assert!(deep::stage_of(text.as_bytes(), &Limits::default()).is_none(), "{text} is opened");
        let found = identify(text.as_bytes());
        assert!(found.as_ref().is_none_or(|found| !found.is_read || found.wrappers.is_empty()), "{text}: {found:?}");
    }
}

#[test]
fn wrapped_strings_are_opened() {
    for layer in layers().into_iter().filter(|layer| !["gzip", "zlib", "zstd"].contains(layer)) {
        for format in ["php", "marshal", "storable:memory", "sereal", "igbinary", "json"] {
            let text = String::from_utf8(convert(PHP, "php", &format!("{layer}/{format}")).unwrap()).unwrap();
            let outer = convert(format!("{{\"blob\":{text:?}}}").as_bytes(), "json", "php").unwrap();
            let deep = deep::open(read(&outer).unwrap(), &Limits::default()).unwrap();
            let name = format.split(':').next().unwrap();
            assert_eq!(deep.opened[0].name(), format!("{}/{name}", expected_layer(layer, text.as_bytes())));
            assert_eq!(deep.document.find("$.blob.age").unwrap().as_i64(), Some(42), "{layer}/{format}");
        }
    }
}

#[test]
fn plus_is_a_blank_in_form_encoding() {
    let form = convert(br#"{"a b":"c+d"}"#, "json", "uri:as=form/json").unwrap();
    assert_eq!(form, b"%7B%22a+b%22%3A%22c%2Bd%22%7D");
    assert_eq!(convert(&form, "uri:plus/json", "json").unwrap(), br#"{"a b":"c+d"}"#);
    assert_eq!(convert(&form, "uri:as=cgi/json", "json").unwrap(), br#"{"a b":"c+d"}"#);
    assert_eq!(convert(&form, "uri/json", "json").unwrap(), br#"{"a+b":"c+d"}"#);
    assert_eq!(read(&form).unwrap().root().get("a b").unwrap().as_str(), Some("c+d"));
}

#[test]
fn consecutive_members_and_frames_are_joined() {
    let (front, back) = PHP.split_at(11);
    for layer in layers().into_iter().filter(|layer| ["gzip", "zstd"].contains(layer)) {
        let mut bytes = [wrap(layer, front), wrap(layer, b""), wrap(layer, back)].concat();
        assert_eq!(unwrap(layer, &bytes, &Limits::default()).unwrap(), PHP, "{layer}");
        assert_eq!(stage_of(&bytes).unwrap().name(), format!("{layer}/php"));
        bytes.push(b'x');
        assert!(unwrap(layer, &bytes, &Limits::default()).is_err(), "{layer}");
    }
}

#[cfg(feature = "zlib")]
#[test]
fn optional_fields_of_a_gzip_header_are_skipped() {
    // With a comment, an extra field, a name and a checksum of the header.
    let plain = wrap("gzip", b"[1]");
    let mut header = vec![0x1f, 0x8b, 8, 0b1_1110, 1, 0, 0, 0x5e, 0, 3];
    header.extend(b"\x04\0ab\0\0data.json\0a comment\0");
    let mut crc = crc32(&header);
    crc.truncate(2);
    let bytes = [&header[..], &crc, &plain[10..]].concat();
    let stage = Stage::parse("gzip/json").unwrap();
    let inside = stage.unwrap(&bytes, &Limits::default()).unwrap();
    assert_eq!(&*inside.bytes, b"[1]");
    assert_eq!(
        inside.remarks[1..],
        [("file name", "data.json".to_owned()), ("file time", "1577058305 (seconds since 1970)".to_owned())]
    );
    // A wrong checksum and a wrong length.
    for offset in [plain.len() - 8, plain.len() - 1] {
        let mut wrong = plain.clone();
        wrong[offset] ^= 1;
        assert!(unwrap("gzip", &wrong, &Limits::default()).is_err());
    }
}

/// CRC-32, bit by bit.
#[cfg(feature = "zlib")]
fn crc32(bytes: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_le_bytes().to_vec()
}
