//! Bytes after a document: line ends after a text format are ignored, after any other format they are an error.

use crate::run;

/// Returns stdout, stderr and the exit code.
fn icecore(args: &[&str], input: &[u8]) -> (String, String, i32) {
    let (stdout, stderr, code) = run::icecore(args, input);
    (String::from_utf8_lossy(&stdout).into_owned(), stderr, code)
}

const JSON: &str = r#"{"a":[1,"x"],"b":{"c":2}}"#;

fn freeze_text(format: &str) -> Vec<u8> {
    icecore::convert(JSON.as_bytes(), "json", format).unwrap()
}

const TEXT: &[&str] = &["php", "php-session", "php-session:handler=php_serialize", "var-export", "dumper", "json"];

#[test]
fn blanks_after_text_formats_are_ignored() {
    for format in TEXT {
        for blanks in ["\n", "\r\n", " ", "\t\n\n", "\n   \r\n"] {
            let mut text = freeze_text(format);
            text.extend(blanks.bytes());
            let name = format.split(':').next().unwrap();
            let format_option = ["-f", name];
            // A session of one array is a plain array if no format is given.
            let found: &[&str] = if format.contains("php_serialize") { &format_option } else { &[] };
            for from in [&format_option[..], found] {
                let context = format!("{format} {from:?} {blanks:?}");
                let (stdout, stderr, code) = icecore(&[&["convert"], from].concat(), &text);
                assert_eq!(
                    (stdout.as_str(), stderr.as_str(), code),
                    (format!("{JSON}\n").as_str(), "", 0),
                    "{context}"
                );
                let (stdout, stderr, code) = icecore(&[&["convert", "--strict"], from].concat(), &text);
                assert_eq!((stdout.as_str(), code), (format!("{JSON}\n").as_str(), 0), "{context}: {stderr}");
                // Some readers treat blanks as part of their text, so there is nothing to report.
                let is_told = stderr.contains("after the document ignored") && stderr.lines().count() == 1;
                assert!(is_told || stderr.is_empty() && !format.starts_with("php"), "{context}: {stderr}");
                for command in ["inspect", "classes"] {
                    let (_, stderr, code) = icecore(&[&[command], from].concat(), &text);
                    assert_eq!((stderr.as_str(), code), ("", 0), "{command} {context}");
                }
            }
            let (found, _, code) = icecore(&["detect"], &text);
            assert!(
                code == 0 && found.contains(if found.contains("php_serialize") { "php" } else { "sure" }),
                "{format}: {found}"
            );
        }
    }
    let (stdout, stderr, code) = icecore(&["convert"], b"i:5;\n");
    assert_eq!((stdout.as_str(), stderr.as_str(), code), ("5\n", "", 0));
    let (stdout, stderr, code) = icecore(&["convert", "--strict"], b"i:5;\n");
    assert_eq!(
        (stdout.as_str(), stderr.as_str(), code),
        ("5\n", "icecore: stdin: 1 blank after the document ignored\n", 0)
    );
    // Also in a text wrapper, on both sides of it.
    for wrapper in ["base64", "hex"] {
        let inside = [freeze_text("php"), b"\n".to_vec()].concat();
        let mut text = icecore::Stage::parse(&format!("{wrapper}/php")).unwrap().wrap(inside).unwrap();
        text.push(b'\n');
        let (stdout, stderr, code) = icecore(&["convert"], &text);
        assert_eq!((stdout.as_str(), stderr.as_str(), code), (format!("{JSON}\n").as_str(), "", 0), "{wrapper}");
    }
    // A long array is converted in windows.
    let mut long = icecore::convert(format!("[{}1]", "1,".repeat(300_000)).as_bytes(), "json", "php").unwrap();
    long.push(b'\n');
    let (_, stderr, code) = icecore(&["convert"], &long);
    assert_eq!((stderr.as_str(), code), ("", 0));
    // Anything that is not blank is an error, and so are these characters that only look blank.
    for more in ["x", "\n\n;", "\0", "\u{a0}", "\u{b}"] {
        let (_, stderr, code) = icecore(&["convert", "-f", "php"], format!("i:5;{more}").as_bytes());
        assert!(code == 4 && stderr.contains("bytes after the end"), "{more:?}: {stderr}");
    }
}

#[test]
fn bytes_after_binary_formats_are_an_error_with_a_tip() {
    for format in ["igbinary", "marshal", "storable", "storable:memory", "storable:memory,netorder", "sereal"] {
        let name = format.split(':').next().unwrap();
        let good = freeze_text(format);
        let text = [good.clone(), b"\n\n".to_vec()].concat();
        for from in [&["-f", name][..], &[]] {
            let (stdout, stderr, code) = icecore(&[&["convert"], from].concat(), &text);
            assert_eq!((stdout.as_str(), code), ("", 4), "{format} {from:?}");
            assert!(
                stderr.contains("found 2 more bytes") && (stderr.contains("head -c -2") || stderr.contains(":lenient")),
                "{format} {from:?}: {stderr}"
            );
        }
        // One line end is what `redis-cli` and other programs add to their output.
        for text in [&good[..], &text[..text.len() - 1]] {
            for words in [&["convert"][..], &["query", "."], &["get", "$"]] {
                let (stdout, stderr, code) = icecore(words, text);
                assert_eq!((stdout.as_str(), code), (format!("{JSON}\n").as_str(), 0), "{words:?} {format}: {stderr}");
            }
        }
    }
    let text = [freeze_text("igbinary"), b"\n\n".to_vec()].concat();
    let (_, stderr, _) = icecore(&["convert"], &text);
    assert!(stderr.contains("igbinary:lenient"), "{stderr}");
    let (stdout, stderr, code) = icecore(&["convert", "-f", "igbinary:lenient"], &text);
    assert_eq!((stdout.as_str(), stderr.as_str(), code), (format!("{JSON}\n").as_str(), "", 0));
    let (stdout, stderr, code) = icecore(&["inspect", "--all", "-f", "igbinary:lenient"], &text);
    assert!(code == 0 && stderr.is_empty() && stdout.contains("ignored"), "{stdout}");
}

/// A frame determines where a record ends.
#[test]
fn blanks_in_a_record_are_an_error() {
    for (frame, record) in
        [("lines", &b"i:5; \n"[..]), ("nul", b"i:5;\n\0"), ("u16be", b"\0\x05i:5;\n"), ("netstring", b"5:i:5;\n,")]
    {
        let each = format!("--each={frame}");
        let (stdout, stderr, code) = icecore(&["convert", "-f", "php", &each], record);
        assert!(stdout.is_empty() && code == 4 && stderr.contains("bytes after the end"), "{frame}: {stdout} {stderr}");
    }
    let (stdout, stderr, code) = icecore(&["convert", "-f", "php", "--each=lines"], b"i:5;\r\n\n  \ni:6;\n");
    assert_eq!((stdout.as_str(), stderr.as_str(), code), ("5\n6\n", "", 0));
    // Between documents without frames, they are ignored.
    let (stdout, stderr, code) = icecore(&["convert", "--each"], b"i:5;\ni:6;\n\n");
    assert_eq!((stdout.as_str(), stderr.as_str(), code), ("5\n6\n", "", 0));
}

#[test]
fn json_may_begin_with_a_byte_order_mark() {
    for text in ["{\"a\":1}", " [1,2]\n", "5", "{\"$icecore\":1,\"$value\":[1]}"] {
        let marked = format!("\u{feff}{text}");
        for from in [&["-f", "json"][..], &[]] {
            let (stdout, stderr, code) = icecore(&[&["convert"], from].concat(), marked.as_bytes());
            let plain = icecore(&[&["convert"], from].concat(), text.as_bytes());
            assert_eq!((stdout, stderr.as_str(), code), (plain.0, "", 0), "{text}");
            let (stdout, stderr, code) = icecore(&[&["inspect", "--all"], from].concat(), marked.as_bytes());
            assert!(code == 0 && stderr.is_empty() && !stdout.is_empty(), "{stdout}{stderr}");
        }
    }
    for args in
        [&["convert"][..], &["convert", "--each"], &["convert", "-f", "ndjson"], &["convert", "-f", "ndjson", "--each"]]
    {
        let (stdout, stderr, code) = icecore(args, "\u{feff}{\"a\":1}\n{\"b\":2}\n".as_bytes());
        assert_eq!((stderr.as_str(), code), ("", 0), "{args:?}");
        assert!(stdout.contains("\"a\":1") && stdout.contains("\"b\":2"), "{args:?}: {stdout}");
    }
    // Only at the beginning.
    assert_eq!(icecore(&["convert", "-f", "json"], "[\u{feff}1]".as_bytes()).2, 4);
}
