//! Removing and adding wrappers.

use icecore::{
    ErrorKind, Limits, Stage, convert,
    detect::stage_of,
    identify,
    wrap::{self, Unwrapped},
};

/// The bytes inside a wrapper, and the notes.
type UnwrappedBytes = (Vec<u8>, Vec<(&'static str, String)>);

fn unwrap(name: &str, input: &[u8]) -> Result<UnwrappedBytes, ErrorKind> {
    // The format inside does not matter here.
    let stage = Stage::parse(&format!("{name}/json")).unwrap();
    stage
        .unwrap(input, &Limits::default())
        .map(|Unwrapped { bytes, remarks: notes, .. }| (bytes.into_owned(), notes))
        .map_err(|error| error.kind())
}

#[test]
fn wrapped_bytes_are_unwrapped() {
    let inside: Vec<u8> = (0..=255).chain(*b"it's \\ \"quoted\" \0").collect();
    for wrapper in wrap::all() {
        let name = match wrapper.name {
            "rails-signed" => "rails-signed:key=k",
            "plack-session" => "plack-session:key=k,id=1",
            name => name,
        };
        for len in [0, 1, 10, inside.len()] {
            let stage = Stage::parse(&format!("{name}/json")).unwrap();
            let outside = stage.wrap(inside[..len].to_vec()).unwrap();
            assert_eq!(unwrap(name, &outside).unwrap().0, &inside[..len], "{name}");
        }
    }
}

#[test]
fn slashes_are_removed_and_added() {
    assert_eq!(convert(br#"{\"a\":\"x\"}"#, "slashes/json", "json").unwrap(), br#"{"a":"x"}"#);
    assert_eq!(convert(br#"{"a":"it's"}"#, "json", "slashes/json").unwrap(), br#"{\"a\":\"it\'s\"}"#);
    assert_eq!(unwrap("slashes", br"a\0b\\c\d").unwrap().0, b"a\0b\\cd");
    assert_eq!(unwrap("slashes", br"abc\"), Err(ErrorKind::Truncated));
}

#[test]
fn laravel_cache_entries_are_read_and_written() {
    let (inside, notes) = unwrap("laravel-cache", b"9999999999N;").unwrap();
    assert_eq!((&*inside, &*notes), (&b"N;"[..], &[("expires", "never".to_owned())][..]));
    let (_, notes) = unwrap("laravel-cache", b"1700000000i:1;").unwrap();
    assert_eq!(notes[0].1, "1700000000 (seconds since 1970)");
    assert_eq!(unwrap("laravel-cache", b"12345"), Err(ErrorKind::Truncated));
    assert_eq!(unwrap("laravel-cache", b"12345x7890N;"), Err(ErrorKind::Malformed));
    assert_eq!(convert(b"[1]", "json", "laravel-cache:expires=17/json").unwrap(), b"0000000017[1]");
}

#[test]
fn rails_7_1_cache_entries_are_read() {
    let entry = |kind: u8, expires: f64, version: Option<&[u8]>, payload: &[u8]| {
        let mut bytes = vec![0, 0x11, kind];
        bytes.extend(expires.to_le_bytes());
        bytes.extend(version.map_or(-1, |version| version.len() as i32).to_le_bytes());
        bytes.extend(version.unwrap_or_default());
        bytes.extend(payload);
        bytes
    };
    let (inside, notes) = unwrap("rails-cache", &entry(1, -1.0, None, b"\x04\x08i\x06")).unwrap();
    assert_eq!(inside, b"\x04\x08i\x06");
    assert_eq!(notes, [("layout", "Rails 7.1".to_owned()), ("expires", "never".to_owned())]);
    let (_, notes) = unwrap("rails-cache", &entry(1, 1700000000.5, Some(b"v2"), b"\x04\x080")).unwrap();
    assert_eq!(notes[1..], [("expires", "1700000000.5 (seconds since 1970)".to_owned()), ("version", "v2".to_owned())]);
    // Bare strings, as Marshal writes them.
    assert_eq!(unwrap("rails-cache", &entry(2, -1.0, None, b"hi")).unwrap().0, b"\x04\x08I\"\x07hi\x06:\x06ET");
    assert_eq!(unwrap("rails-cache", &entry(3, -1.0, None, b"hi")).unwrap().0, b"\x04\x08\"\x07hi");
    let long = vec![b'x'; 300];
    let inside = unwrap("rails-cache", &entry(4, -1.0, None, &long)).unwrap().0;
    assert!(inside.starts_with(b"\x04\x08I\"\x02\x2c\x01x") && inside.ends_with(b"x\x06:\x06EF"));
    // Every cut in the header, and a missing version.
    let complete = entry(1, -1.0, Some(b"version"), b"");
    for len in 0..complete.len() {
        assert!(unwrap("rails-cache", &complete[..len]).is_err(), "{len}");
    }
    let mut lies = entry(1, -1.0, None, b"");
    lies[11..15].copy_from_slice(&i32::MAX.to_le_bytes());
    assert_eq!(unwrap("rails-cache", &lies), Err(ErrorKind::Truncated));
    assert_eq!(unwrap("rails-cache", &entry(9, -1.0, None, b"")), Err(ErrorKind::Malformed));
}

#[test]
fn rails_7_0_and_compressed_cache_entries_are_read() {
    assert_eq!(unwrap("rails-cache", b"\0\x04\x08[\x06i\x06").unwrap().0, b"\x04\x08i\x06");
    let packed = convert(b"[1,1,1,1,1,1,1,1,1,1,1,1]", "json", "rails-cache:compress,version=7/json").unwrap();
    assert_eq!(packed[2], 0x81);
    let (inside, notes) = unwrap("rails-cache", &packed).unwrap();
    assert_eq!(inside, b"[1,1,1,1,1,1,1,1,1,1,1,1]");
    assert_eq!(notes.last().unwrap(), &("compressed", "zlib".to_owned()));
    assert!(matches!(unwrap("rails-cache", &packed[..packed.len() - 3]), Err(ErrorKind::Malformed)));
    // A decompression bomb.
    let mut limits = Limits::default();
    limits.decompressed = 1000;
    let big = convert(format!("[{}1]", "1,".repeat(5000)).as_bytes(), "json", "rails-cache:compress/json").unwrap();
    let stage = Stage::parse("rails-cache/json").unwrap();
    assert_eq!(stage.unwrap(&big, &limits).unwrap_err().kind(), ErrorKind::Limit);
}

/// Digests of Ruby's OpenSSL, as Rails uses it.
#[test]
fn signed_messages_are_verified_with_a_key() {
    const SHA1: &str = "BAhpDA==--48b23a1ad35532844ee0e8c2903e2aaa28260b0d";
    const SHA256: &str = "BAhpDA==--b05755a0b70891d70a4b50a00c2d5b1f122917cb32e0169d70258795e03080e3";
    const COOKIE: &str = "BAhpDA==--2fb8e7c25365aba0fcae8256f1607e55fc9cc75e";
    const OLD_COOKIE: &str = "BAhpDA==--4a8f7cace3494837afada405df53defd2f1313e6d09ec4a2678e1dc4086916233564e56e8\
                              520e0a64434d1a9ff40e7d5f6157835275cb6fb0427f3509859a829";
    let keys = [
        (SHA1, "key=secret"),
        (SHA256, "key=secret"),
        (COOKIE, "key=secret,salt='signed cookie'"),
        (OLD_COOKIE, "key=secret,salt='signed cookie',derive=sha1"),
    ];
    for (signed, right) in keys {
        let (inside, notes) = unwrap("rails-signed", signed.as_bytes()).unwrap();
        assert_eq!(inside, b"\x04\x08i\x0c");
        assert!(notes[0].1.ends_with("not checked: no key was given"), "{notes:?}");
        for (_, key) in keys {
            let checked = unwrap(&format!("rails-signed:{key}"), signed.as_bytes());
            assert_eq!(checked.is_ok(), key == right, "{signed} with {key}");
        }
    }
    // As a browser sends it back, with a line break at the end.
    let escaped = SHA1.replace('=', "%3D") + "\n";
    assert!(unwrap("rails-signed:key=secret", escaped.as_bytes()).is_ok());
    let forged = SHA1.replace("BAhp", "BAhq");
    assert_eq!(unwrap("rails-signed:key=secret", forged.as_bytes()), Err(ErrorKind::Malformed));
    // Written as Rails writes it, but not without a key.
    let stage = Stage::parse("rails-signed:key=secret,digest=sha256/json").unwrap();
    assert_eq!(stage.wrap(b"\x04\x08i\x0c".to_vec()).unwrap(), SHA256.as_bytes());
    let stage = Stage::parse("rails-signed/json").unwrap();
    assert_eq!(stage.wrap(Vec::new()).unwrap_err().kind(), ErrorKind::Usage);
    for broken in ["", "--", "abc", "abc--1234", "****--48b23a1ad35532844ee0e8c2903e2aaa28260b0d"] {
        assert_eq!(unwrap("rails-signed", broken.as_bytes()), Err(ErrorKind::Malformed), "{broken}");
    }
}

#[test]
fn signed_messages_in_an_envelope_are_read() {
    let signed =
        b"eyJfcmFpbHMiOnsibWVzc2FnZSI6Ild6RmQiLCJleHAiOiIyMDMwLTAxLTAxVDAwOjAwOjAwLjAwMFoiLCJwdXIiOiJsb2dpbiJ9fQ\
                   ==--b129b8069f59d676d49e2c9349cc51478f92c3fd";
    let (inside, notes) = unwrap("rails-signed:key=secret", signed).unwrap();
    assert_eq!(inside, b"[1]");
    let more = [("expires", "2030-01-01T00:00:00.000Z".to_owned()), ("purpose", "login".to_owned())];
    assert_eq!(notes[1..], more);
    assert_eq!(icecore::read(signed).unwrap().root().len(), 1, "it is detected");
}

#[test]
fn errors_inside_name_the_layer() {
    let error = convert(br#"{\"a\":}"#, "slashes/json", "json").unwrap_err();
    assert_eq!((error.layer(), error.offset()), (Some("text without its backslashes"), Some(5)));
    assert!(error.to_string().contains("of the text without its backslashes"), "{error}");
    let error = convert(b"[1]", "gunzip/json", "json").unwrap_err();
    assert!(error.to_string().contains("one of the wrappers"), "{error}");
}

#[test]
fn plain_text_is_not_detected_as_wrapped() {
    for text in [&b"1234567890 apples"[..], b"1234567890a:", b"a:\\\"b\\\"", b"\0\x11", b"O:\\\" hello"] {
        assert!(identify(text).is_none_or(|found| found.wrappers.is_empty()), "{text:?}");
        assert!(stage_of(text).is_err(), "{text:?}");
    }
}

/// Metadata of a wrapper is kept if the target has the same wrapper, an option of the target
/// replaces it, and without such a wrapper it is a loss.
#[test]
fn metadata_of_wrappers_is_kept_or_reported_as_lost() {
    let limits = Limits::default();
    let mut source = Vec::new();
    let mut document = icecore::read_as(b"[1,2]", &Stage::parse("json").unwrap(), &limits).unwrap();
    let stage = |text: &str| Stage::parse(text).unwrap();
    let token = stage("rails-signed:key=k,expires='2030-01-01T00:00:00.000Z',purpose=login/json");
    icecore::write_to(&document, &token, &limits, &mut source).unwrap();
    let metadata_of = |bytes: &[u8]| {
        let unwrapped = stage("rails-signed:key=k/json").unwrap(bytes, &limits).unwrap();
        assert_eq!(unwrapped.unchecked, None);
        unwrapped.metadata.into_iter().map(|item| (item.option, item.value)).collect::<Vec<_>>()
    };
    let complete = [
        ("expires", "2030-01-01T00:00:00.000Z".to_owned()),
        ("purpose", "login".to_owned()),
        ("digest", "sha1".to_owned()),
    ];
    assert_eq!(metadata_of(&source), complete);
    assert_eq!(stage("rails-signed/json").unwrap(&source, &limits).unwrap().unchecked, Some("signature"));

    document = icecore::read_as(&source, &stage("rails-signed:key=k/json"), &limits).unwrap();
    let write = |to: &str| {
        let mut out = Vec::new();
        let losses = icecore::write_to(&document, &stage(to), &limits, &mut out).unwrap();
        (out, losses.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (same, losses) = write("rails-signed:key=k/marshal");
    assert_eq!((metadata_of(&same).as_slice(), losses.len()), (&complete[..], 0));
    let (other, _) = write("rails-signed:key=k,purpose=other/json");
    assert_eq!(metadata_of(&other)[1].1, "other");
    let (bare, losses) = write("json");
    assert_eq!(bare, b"[1,2]");
    assert_eq!(losses, ["2 statements of wrappers dropped, first at rails-signed:expires"]);

    let mut converter = icecore::Converter::new(stage("rails-signed:key=k/json"), stage("rails-signed:key=k/json"));
    let mut out = Vec::new();
    assert!(converter.convert(&source, &mut out).written.unwrap().is_empty());
    assert_eq!(out, source);
}

#[test]
fn cache_entries_keep_expiry_version_and_compression() {
    let limits = Limits::default();
    let entry = "rails-cache:expires=1700000000.5,version=v7,compress/marshal";
    let source = icecore::convert(b"[\"a\"]", "json", entry).unwrap();
    assert_eq!(icecore::convert(&source, "rails-cache/marshal", "rails-cache/marshal").unwrap(), source);
    let unwrapped = Stage::parse("rails-cache/marshal").unwrap().unwrap(&source, &limits).unwrap();
    let metadata: Vec<_> = unwrapped.metadata.iter().map(|item| (item.option, &*item.value)).collect();
    assert_eq!(metadata, [("expires", "1700000000.5"), ("version", "v7"), ("compress", "yes")]);
    let laravel = icecore::convert(b"[1]", "json", "laravel-cache:expires=1700000000/php").unwrap();
    assert_eq!(icecore::convert(&laravel, "laravel-cache/php", "laravel-cache/php").unwrap(), laravel);
    let error = icecore::convert(b"[1]", "json", "rails-cache:expires=soon/marshal").unwrap_err();
    assert!(error.to_string().contains("seconds since 1970"), "{error}");
}

/// An application reads neither another digest nor another layout.
#[test]
fn the_kind_of_digest_and_the_layout_are_kept() {
    let signed = icecore::convert(b"[1]", "json", "rails-signed:key=k,digest=sha256/json").unwrap();
    let again = icecore::convert(&signed, "rails-signed:key=k/json", "rails-signed:key=k/json").unwrap();
    assert_eq!(again, signed);
    let escaped = icecore::convert(b"[\"???>>>\",1]", "json", "rails-signed:key=k,percent/json").unwrap();
    assert!(escaped.starts_with(b"WyI%2FPz8%2BPj4iLDFd--"), "{}", String::from_utf8_lossy(&escaped));
    assert_eq!(icecore::convert(&escaped, "rails-signed:key=k/json", "rails-signed:key=k/json").unwrap(), escaped);
    let stage = "rails-signed:key=k,purpose=login,envelope=data/json";
    let message = icecore::convert(br#"{"a":1}"#, "json", stage).unwrap();
    let base64 = message.split(|byte| *byte == b'-').next().unwrap();
    let text = icecore::text::from_base64(base64).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), r#"{"_rails":{"data":{"a":1},"pur":"login"}}"#);
    assert_eq!(icecore::convert(&message, "rails-signed:key=k/json", "rails-signed:key=k/json").unwrap(), message);
    assert_eq!(icecore::convert(&message, "rails-signed:key=k/json", "json").unwrap(), br#"{"a":1}"#);
    let marshal = icecore::convert(b"[1,null]", "json", "marshal").unwrap();
    let entry = icecore::convert(&marshal, "marshal", "rails-cache:layout=7.0,version=v,expires=5.5/marshal").unwrap();
    assert_eq!(entry, b"\0\x04\x08[\x08[\x07i\x060f\x085.5I\"\x06v\x06:\x06ET");
    assert_eq!(icecore::convert(&entry, "rails-cache/marshal", "json").unwrap(), b"[1,null]");
    for layout in ["layout=7.0", "layout=7.0,compress"] {
        let entry = icecore::convert(&marshal, "marshal", &format!("rails-cache:{layout}/marshal")).unwrap();
        assert!(entry.starts_with(b"\0\x04\x08[") || entry.starts_with(b"\x01\x78"), "{layout}");
        assert_eq!(icecore::convert(&entry, "rails-cache/marshal", "rails-cache/marshal").unwrap(), entry);
    }
    let old = b"\x04\x08o: ActiveSupport::Cache::Entry\x06:\x0b@valuei\x06";
    let error = icecore::convert(old, "rails-cache/marshal", "rails-cache/marshal").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(icecore::convert(old, "rails-cache/marshal", "rails-cache:layout=7.1/marshal").is_ok());
}

/// ActiveSupport 7.2 omits the padding.
#[test]
fn signed_messages_need_no_padding() {
    let limits = Limits::default();
    for json in ["[1]", "[12]", "[123]", "[1234]", "[\"???>>>~~~\"]"] {
        let padded = icecore::convert(json.as_bytes(), "json", "rails-signed:key=k/json").unwrap();
        let padded = String::from_utf8(padded).unwrap();
        let (message, digest) = padded.split_once("--").unwrap();
        let bare = format!("{}--{digest}", message.trim_end_matches('=').replace('+', "-").replace('/', "_"));
        let document = icecore::read_as(bare.as_bytes(), &Stage::parse("rails-signed/json").unwrap(), &limits);
        assert_eq!(icecore::write(&document.unwrap(), "json").unwrap(), json.as_bytes(), "{bare}");
    }
}

/// Bytes written by phpredis 5.3.7 and memcached 3.2.0 of PHP.
#[test]
fn compressed_entries_of_phpredis_and_memcached_are_read() {
    let json = format!("{{\"name\":\"{}\",\"n\":42}}", "alice ".repeat(10));
    let text = "a:2:{s:4:\"name\";s:60:\"".to_owned() + &"alice ".repeat(10) + "\";s:1:\"n\";i:42;}";
    for (name, hex) in [
        ("lzf", "1b613a323a7b733a343a226e616d65223b733a36303a22616c69636520e02d0540430031204e07223b693a34323b7d"),
        (
            "phpredis-lz4",
            "4062000000ff0d613a323a7b733a343a226e616d65223b733a36303a22616c69636520060023004400c0313a226e223b693a34323b7d",
        ),
    ] {
        let stage = Stage::parse(&format!("hex/{name}/php")).unwrap();
        assert_eq!(stage.unwrap(hex.as_bytes(), &Limits::default()).unwrap().bytes, text.as_bytes());
        let compressed = Stage::parse("hex/php").unwrap().unwrap(hex.as_bytes(), &Limits::default()).unwrap();
        let complete = compressed.bytes.into_owned();
        // Detected without its name, and the content is the same in every wrapper.
        let found = stage_of(&complete).unwrap();
        assert_eq!(found.name(), format!("{name}/php"));
        assert_eq!(convert(&complete, &found.name(), "json").unwrap(), json.as_bytes());
        for len in 0..complete.len() {
            let cut = unwrap(name, &complete[..len]);
            assert!(cut.as_ref().is_err_and(|kind| *kind == ErrorKind::Malformed) || cut.unwrap().0.len() < text.len());
        }
    }
    let zlib = convert(text.as_bytes(), "php", "php-memcached/php").unwrap();
    assert_eq!(zlib[..6], [98, 0, 0, 0, 0x78, 0x9c]);
    assert_eq!(stage_of(&zlib).unwrap().name(), "php-memcached/php");
    let mut lie = zlib.clone();
    lie[0] = 97;
    assert_eq!(unwrap("php-memcached", &lie), Err(ErrorKind::Malformed));
    assert!(stage_of(&lie).is_err());
    // Words, numbers and other formats are none of these.
    for text in ["hello", "\t12", "\n\n\n\n", "\0\0\0\0", "\x01\0\0\0a"] {
        assert!(
            stage_of(text.as_bytes()).is_err() || stage_of(text.as_bytes()).unwrap().wrappers().is_empty(),
            "{text:?}"
        );
    }
}
