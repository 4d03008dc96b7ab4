//! Records from pipes: whatever pieces they arrive in, in constant memory, and without waiting for more than a record
//! needs.

use crate::run;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

fn icecore(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_icecore"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("icecore runs")
}

/// Returns documents of several kinds and sizes in this format, without separators.
fn documents(format: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..12 {
        let json = match number % 4 {
            0 => format!(r#"{{"id":{number},"name":"Alice","list":[1,2.5,null,"é"]}}"#),
            1 => format!("[{number}]"),
            2 => format!(r#"{{"long":"{}","n":{{"a":{{}},"b":[]}}}}"#, "x".repeat(100)),
            _ => "\"text\"".to_owned(),
        };
        let (from, to) = ("json", format);
        bytes.extend(icecore::convert(json.as_bytes(), from, to).unwrap());
        if format == "json" {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[test]
fn documents_are_read_from_pieces_of_any_size() {
    for format in
        ["sereal", "sereal:compress=zlib", "storable", "storable:memory", "php", "marshal", "igbinary", "json"]
    {
        let name = format.split(':').next().unwrap();
        let bytes = documents(format);
        let at_once = run::icecore(&["convert", "-f", name, "--each"], &bytes);
        let (stdout, stderr, code) = &at_once;
        assert_eq!((stdout.split(|byte| *byte == b'\n').count(), *code), (13, 0), "{format}: {stderr}");
        for chunk in (1..40).chain([64, 100, 127, 128, 200, 255, 500]) {
            let args = ["convert", "-f", name, "--each", "--chunk", &chunk.to_string()];
            assert_eq!(run::icecore(&args, &bytes), at_once, "{format}, {chunk} bytes at once");
        }
    }
}

#[test]
fn frames_are_read_from_pieces_of_any_size() {
    let bytes = documents("sereal");
    for frame in ["u16be", "u16le", "u32be", "u32le", "u64be", "u64le", "varint", "netstring"] {
        let (framed, stderr, code) =
            run::icecore(&["convert", "-f", "sereal", "--each", "-t", "sereal", "--frame", frame], &bytes);
        assert_eq!((stderr.as_str(), code), ("", 0), "{frame}");
        let each = format!("--each={frame}");
        for chunk in [1, 2, 3, 5, 7, 50, 1000] {
            let args = ["convert", "-f", "sereal", &each, "-t", "sereal", "--chunk", &chunk.to_string()];
            let (stdout, stderr, code) = run::icecore(&args, &framed);
            assert_eq!((&stdout, code), (&bytes, 0), "{frame}: {stderr}");
        }
        let (_, stderr, code) = run::icecore(&["convert", "-q", "-f", "sereal", &each], &framed[..framed.len() - 1]);
        assert_eq!(code, 4, "{frame}");
        assert!(stderr.contains("record 12"), "{frame}: {stderr}");
    }
}

#[test]
fn a_bad_document_in_a_stream_is_an_error_with_its_offset() {
    let document = |n: u32| icecore::convert(format!("{{\"n\":{n}}}").as_bytes(), "json", "sereal").unwrap();
    let mut bytes = [document(1), document(2)].concat();
    let offset = bytes.len();
    let mut bad = document(3);
    bad.truncate(bad.len() - 1);
    bytes.extend(bad);
    bytes.extend(document(4));
    bytes.extend(document(5));
    for chunk in ["1", "7", "30", "100000"] {
        let (stdout, stderr, code) = run::icecore(&["convert", "--each", "--chunk", chunk], &bytes);
        assert_eq!((stdout.as_slice(), code), (&b"{\"n\":1}\n{\"n\":2}\n"[..], 4), "{stderr}");
        assert!(stderr.contains("record 3") && stderr.contains("1 of 3 records can't be decoded"), "{stderr}");
        let (stdout, stderr, code) = run::icecore(&["convert", "--each", "--keep-going", "--chunk", chunk], &bytes);
        assert_eq!(
            (stdout.as_slice(), code),
            (&b"{\"n\":1}\n{\"n\":2}\n{\"n\":4}\n{\"n\":5}\n"[..], 4),
            "{chunk}: {stderr}"
        );
        assert!(stderr.contains("1 of 5 records can't be decoded"), "{stderr}");
    }
    assert!(offset > 0);
}

#[test]
fn few_errors_are_printed_and_all_are_counted() {
    let mut lines = String::new();
    for number in 0..3000 {
        let line = if number % 100 == 99 { "{\"n\":\n".to_owned() } else { format!("{{\"n\":{number}}}\n") };
        lines += &line;
    }
    let folder = std::env::temp_dir().join(format!("icecore-streams-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let summary = folder.join("summary.json");
    let args =
        ["convert", "-f", "ndjson", "--each", "--keep-going", "--summary", summary.to_str().unwrap(), "-t", "php"];
    let (stdout, stderr, code) = run::icecore(&args, lines.as_bytes());
    assert_eq!(code, 4);
    assert_eq!(stderr.matches(": record ").count(), 10, "{stderr}");
    assert!(stderr.contains("30 of 3,000 records can't be decoded"), "{stderr}");
    assert!(stdout.starts_with(b"a:1:{s:1:\"n\";i:0;}"));
    let summary: serde_json::Value = serde_json::from_slice(&std::fs::read(&summary).unwrap()).unwrap();
    assert_eq!((&summary["records"], &summary["ok"], &summary["bad"]), (&3000.into(), &2970.into(), &30.into()));
    let first = &summary["inputs"][0]["errors"][0];
    let offset = lines.lines().take(99).map(|line| line.len() + 1).sum::<usize>();
    assert_eq!((&first["record"], &first["offset"]), (&100.into(), &offset.into()));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn losses_are_summed() {
    let mut lines = String::new();
    for number in 0..1000 {
        writeln!(lines, r#"{{"$icecore":1,"$value":{{"a":[{{"$class":"A{}","$value":{{}}}}]}}}}"#, number % 3).unwrap();
    }
    let (stdout, stderr, code) = run::icecore(&["convert", "-f", "ndjson", "--each"], lines.as_bytes());
    assert_eq!((stdout, code), (b"{\"a\":[{}]}\n".repeat(1000), 0));
    assert_eq!(stderr, "icecore: stdin: 1,000 class names dropped, first in record 1 at $.a[0]\n");
    let (stdout, stderr, code) =
        run::icecore(&["convert", "-f", "ndjson", "--each", "--strict", "--keep-going"], lines.as_bytes());
    assert_eq!((stdout.len(), code), (0, 1), "{stderr}");
    assert!(stderr.contains("1,000 of 1,000 records refused"), "{stderr}");
}

/// Returns the peak memory of a process according to the kernel, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Feeds this many pieces; returns the peak of memory before the input ends, and the number of output lines.
#[cfg(target_os = "linux")]
fn run_with_repeated_input(args: &[&str], head: &[u8], piece: &[u8], times: usize) -> (u64, usize) {
    let mut child = icecore(args);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut lines, mut buffer) = (0, vec![0; 1 << 16]);
        loop {
            match stdout.read(&mut buffer).unwrap() {
                0 => return lines,
                count => lines += buffer[..count].iter().filter(|byte| **byte == b'\n').count(),
            }
        }
    });
    stdin.write_all(head).unwrap();
    for _ in 0..times {
        stdin.write_all(piece).unwrap();
    }
    let peak = peak_memory(&child);
    drop(stdin);
    let lines = reader.join().unwrap();
    assert!(child.wait().unwrap().success());
    (peak, lines)
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_length_of_a_stream() {
    let piece = |format: &str| {
        let document = icecore::convert(br#"{"id":12345,"name":"Employee","age":30}"#, "json", format).unwrap();
        document.repeat(1000)
    };
    let lines = b"{\"id\":12345,\"name\":\"Employee\",\"age\":30}\n".repeat(1000);
    let rows = b"17,Employee,\"a:2:{s:2:\"\"id\"\";i:1;s:3:\"\"tag\"\";s:2:\"\"t1\"\";}\"\n".repeat(1000);
    for (args, head, piece) in [
        (&["convert", "-f", "sereal", "--each"][..], &b""[..], piece("sereal")),
        (&["convert", "-f", "php", "--each"], b"", piece("php")),
        (&["convert", "-f", "ndjson", "--each", "-t", "ndjson"], b"", lines),
        (&["rows", "--in", "csv", "-c", "data=php"], b"id,name,data\n", rows),
    ] {
        let (peak, count) = run_with_repeated_input(args, head, &piece, 500);
        assert_eq!(count, 500_000, "{args:?}");
        assert!(peak < 50 << 10, "{args:?}: {peak} KiB");
    }
}

#[test]
fn output_does_not_wait_for_the_next_record() {
    for (args, document, answer) in [
        (&["convert", "-f", "sereal", "--each"][..], &b"=\xF3rl\x05\x00\x28\x2a\x01an\x01"[..], &b"{\"n\":1}\n"[..]),
        (&["convert", "-f", "ndjson", "--each"], b"{\"n\":1}\n", b"{\"n\":1}\n"),
        (&["convert", "-f", "json", "--each"], b"{\"n\":1}", b"{\"n\":1}\n"),
        (&["convert", "-f", "php", "--each=lines"], b"a:1:{s:1:\"n\";i:1;}\n", b"{\"n\":1}\n"),
        (&["rows", "--in", "lines"], b"a:1:{s:1:\"n\";i:1;}\n", b"{\"value\":{\"n\":1}}\n"),
    ] {
        let mut child = icecore(args);
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        for _ in 0..3 {
            stdin.write_all(document).unwrap();
            stdin.flush().unwrap();
            let mut found = vec![0; answer.len()];
            stdout.read_exact(&mut found).unwrap();
            assert_eq!(found, answer, "{args:?}");
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

/// Without a format, the first bytes decide, and the command does not wait for more of them than there are.
#[test]
fn output_does_not_wait_while_the_format_is_detected() {
    for (format, frame, each) in [
        ("sereal", "", "--each"),
        ("sereal:compress=zlib", "", "--each"),
        ("storable", "", "--each"),
        ("storable:memory", "", "--each"),
        ("storable:memory,netorder", "", "--each"),
        ("php", "", "--each"),
        ("php", "\n", "--each"),
        ("marshal", "", "--each"),
        ("igbinary", "", "--each"),
        ("json", "\n", "--each"),
        ("json", "", "--each"),
        ("json:indent=1", "\n", "--each"),
        ("php", "\n", "--each=lines"),
        ("base64/marshal", "\n", "--each=lines"),
        ("php", "\0", "--each=nul"),
    ] {
        for json in [r#"{"n":[1,{"a":"Zoë"}]}"#, "[1,2,3]", "\"text of some length\""] {
            // A single JSON word may be anything.
            if json.starts_with('"') && (format.starts_with("json") || format.starts_with("base64")) {
                continue;
            }
            let mut document = icecore::convert(json.as_bytes(), "json", format).unwrap();
            document.extend(frame.bytes());
            let mut child = icecore(&["convert", each]);
            let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            for round in 0..3 {
                // Whatever pieces it arrives in.
                let half = if round == 1 { document.len() / 2 } else { 0 };
                stdin.write_all(&document[..half]).unwrap();
                stdin.flush().unwrap();
                stdin.write_all(&document[half..]).unwrap();
                stdin.flush().unwrap();
                let mut found = vec![0; json.len() + 1];
                stdout.read_exact(&mut found).unwrap();
                assert_eq!(String::from_utf8(found).unwrap(), format!("{json}\n"), "{format} {each}");
            }
            drop(stdin);
            assert!(child.wait().unwrap().success());
        }
    }
}

/// Documents without separators are found, wherever a piece ends.
#[test]
fn documents_of_unnamed_format_are_read_from_any_pieces() {
    for format in ["sereal", "storable", "storable:memory", "storable:memory,netorder", "php", "marshal", "igbinary"] {
        let bytes = documents(format);
        let at_once = run::icecore(&["convert", "--each"], &bytes);
        let (stdout, stderr, code) = &at_once;
        assert_eq!((stdout.split(|byte| *byte == b'\n').count(), *code), (13, 0), "{format}: {stderr}");
        for chunk in [1, 2, 3, 7, 20, 64, 100, 127, 500] {
            assert_eq!(
                run::icecore(&["convert", "--each", "--chunk", &chunk.to_string()], &bytes),
                at_once,
                "{format}, {chunk}"
            );
        }
        for command in ["classes", "inspect"] {
            let (_, stderr, code) = run::icecore(&[command, "--each"], &bytes);
            assert_eq!((stderr.as_str(), code), ("", 0), "{command} {format}");
        }
    }
}

#[test]
fn records_longer_than_max_record_are_refused() {
    let mut bytes = b"\xFF\xFF\xFF\xFF".to_vec();
    bytes.extend(vec![b'x'; 3 << 20]);
    let (_, stderr, code) = run::icecore(&["convert", "-f", "php", "--each=u32be", "--max-record", "1M"], &bytes);
    assert!(code == 4 && stderr.contains("--max-record"), "{stderr}");
    let (_, stderr, code) = run::icecore(&["rows", "--in", "lines", "--max-record", "1M"], &bytes[4..]);
    assert!(code == 2 && stderr.contains("--max-record"), "{stderr}");
}

#[test]
fn rows_are_read_from_pieces_of_any_size() {
    let csv = b"\xEF\xBB\xBFid,data\r\n1,\"a:1:{s:1:\"\"x\"\";s:3:\"\"a\nb\"\";}\"\r\n\r\n2,i:5;\r\n3,\n\"4\",\"N;\"";
    let mysql = b"id\tdata\n1\ta:1:{s:1:\"x\";s:3:\"a\\nb\";}\n2\ti:5;\n3\t\\N\n4\tN;\n";
    let pg = b"1\ta:1:{s:1:\"x\";s:3:\"a\\nb\";}\n2\t\\\\x693a353b\n3\t\\N\n4\tN;\n\\.\nbehind\n";
    let expected = "{\"id\":\"1\",\"data\":{\"x\":\"a\\nb\"}}\n{\"id\":\"2\",\"data\":5}\n{\"id\":\"3\",\"data\":null}\n{\"id\":\"4\",\"data\":null}\n";
    for (args, bytes) in [
        (&["rows", "--in", "csv", "-c", "data=php"][..], &csv[..]),
        (&["rows", "--in", "mysql", "-c", "data=php"], mysql),
        (&["rows", "--in", "pgcopy", "--columns", "id,data", "-c", "data=php"], pg),
    ] {
        for chunk in (1..30).chain([100_000]) {
            let (stdout, stderr, code) = run::icecore(&[args, &["--chunk", &chunk.to_string()]].concat(), bytes);
            assert_eq!(
                (String::from_utf8(stdout).unwrap().as_str(), code),
                (expected, 0),
                "{args:?} {chunk}: {stderr}"
            );
        }
    }
}

/// The order of the rows is that of the input, however many threads there are.
#[test]
fn rows_stay_in_order() {
    let mut csv = String::from("id,data\n");
    let mut expected = String::new();
    for id in 0..100_000 {
        // Some take much longer than others.
        let many = if id % 5000 == 0 { 2000 } else { 1 };
        let items: Vec<String> = (0..many).map(|item| format!("i:{item};i:{item};")).collect();
        writeln!(csv, "{id},a:{many}:{{{}}}", items.concat()).unwrap();
        let items: Vec<String> = (0..many).map(|item| item.to_string()).collect();
        writeln!(expected, "{{\"id\":\"{id}\",\"data\":[{}]}}", items.join(",")).unwrap();
    }
    let (stdout, stderr, code) = run::icecore(&["rows", "--in", "csv", "-c", "data=php"], csv.as_bytes());
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(String::from_utf8(stdout).unwrap() == expected);
}

/// A record has a maximum length, regardless of how records are separated. Reading continues with the next record if
/// the end of the long one is known.
#[test]
fn reading_continues_after_a_record_that_is_too_long() {
    let input = format!("[1]\n[\"{}\"]\n[3]\n", "x".repeat(200));
    for each in ["--each", "--each=lines"] {
        for (more, out) in [(&["--keep-going"][..], "[1]\n[3]\n"), (&[], "[1]\n")] {
            let args = [&["convert", each, "-f", "json", "-t", "json", "--max-record", "100"], more].concat();
            let (found, stderr, code) = run::icecore(&args, input.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), out, "{args:?} {stderr}");
            assert!(stderr.contains("a record of at most 100 bytes") && code == 4, "{args:?} {stderr}");
        }
    }
}

/// A broken line of JSON does not end the reading: the next line begins a document.
#[test]
fn a_broken_json_line_does_not_end_the_reading() {
    let input = b"{\"a\":1}\n{\"b\":\n{\"c\":3}\n[4,\n[5]\n";
    let (stdout, stderr, code) =
        run::icecore(&["convert", "--each", "--keep-going", "-f", "json", "-t", "json"], input);
    assert_eq!((String::from_utf8(stdout).unwrap().as_str(), code), ("{\"a\":1}\n{\"c\":3}\n[5]\n", 4), "{stderr}");
}

/// The form of another format, which json:typed records next to the values, is also followed record by record.
#[test]
fn records_of_json_typed_keep_their_spelling() {
    let (typed, ..) = run::icecore(&["convert", "-f", "php", "-t", "json:typed,spelling"], b"i:+005;");
    let two = [&typed[..], &typed].concat();
    let (stdout, stderr, code) = run::icecore(&["convert", "--each", "-f", "json:typed", "-t", "php"], &two);
    assert_eq!((String::from_utf8(stdout).unwrap().as_str(), code), ("i:+005;i:+005;", 0), "{stderr}");
}
