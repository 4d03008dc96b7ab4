//! Names from the data: an allow-list allows what it names and nothing else, and no name affects the terminal that
//! shows it.

use crate::run;

use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// Returns stdout, stderr and the exit code.
fn run(program: &str, args: &[&str], input: &[u8]) -> (String, String, i32) {
    let output = run::output(program, args, input);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

fn icecore(args: &[&str], input: &[u8]) -> (String, String, i32) {
    run(env!("CARGO_BIN_EXE_icecore"), args, input)
}

/// Returns a Sereal document with an empty object of each class; the flag says whether the name is text.
fn sereal(names: &[(Vec<u8>, bool)]) -> Vec<u8> {
    let varint = |mut value: usize, out: &mut Vec<u8>| {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    };
    let mut out = b"=\xF3rl\x05\0\x28\x2b".to_vec();
    varint(names.len(), &mut out);
    for (name, is_text) in names {
        out.extend([0x2c, if *is_text { 0x27 } else { 0x26 }]);
        varint(name.len(), &mut out);
        out.extend(name);
        out.extend([0x28, 0x2a, 0]);
    }
    out
}

/// Returns names made of pieces with a special meaning somewhere.
fn names(seed: u64, count: usize) -> Vec<(Vec<u8>, bool)> {
    let pieces: &[&[u8]] = &[
        b"A",
        b"My::Class",
        b"App\\Job",
        b"'",
        b"\"",
        b"\\",
        b"\\\\",
        b"\\'",
        b"$x",
        b"@x",
        b"%x",
        b"#{1+1}",
        b"#$0",
        b"{$a}",
        b"${a}",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\x1b[31m",
        b"\x7f",
        b" ",
        b"]",
        b"],",
        b")",
        b";",
        b"\\x41",
        b"\\u{41}",
        b"\\n",
        b"qw(",
        b"<<",
        b"__END__",
        b"=cut",
        b"%s",
        b"%d",
        b"any",
        b"record",
        b".",
        b"^",
        b"?",
        b"-",
        b"~",
        b"`id`",
        "é".as_bytes(),
        "日本".as_bytes(),
        "\u{202e}".as_bytes(),
        "\u{1F600}".as_bytes(),
        b"\xff",
        b"\xc3",
        b"\x80",
        b"\xed\xa0\x80",
    ];
    let mut state = seed;
    let mut next = |below: usize| {
        // Knuth's generator is sufficient.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    (0..count)
        .map(|_| {
            let mut name = Vec::new();
            for _ in 0..=next(4) {
                match next(4) {
                    0 => name.push(next(256) as u8),
                    _ => name.extend(pieces[next(pieces.len())]),
                }
            }
            name.retain(|byte| *byte != b'*');
            let is_text = std::str::from_utf8(&name).is_ok() && next(2) == 0;
            (name, is_text)
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Returns the numbers of the characters, as perl sees them.
fn characters((name, is_text): &(Vec<u8>, bool)) -> String {
    let numbers: Vec<String> = match std::str::from_utf8(name) {
        Ok(text) if *is_text => text.chars().map(|c| format!("{:x}", u32::from(c))).collect(),
        _ => name.iter().map(|byte| format!("{byte:x}")).collect(),
    };
    numbers.join(".")
}

#[test]
fn an_allow_list_names_exactly_the_classes_of_the_data() {
    let rounds = std::env::var("ICECORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2);
    for seed in 0..rounds {
        let names = names(seed, 400);
        let bytes = sereal(&names);
        for (language, program, head, tail) in [
            ("perl", "perl", "my %l = (", "); print map { sprintf(\"%vx\", $_) . \"\\n\" } @{$l{classes}};"),
            ("php", "php", "<?php $l = [", "]; foreach ($l['allowed_classes'] as $n) echo bin2hex($n), \"\\n\";"),
            (
                "laravel",
                "php",
                "<?php $l = [",
                "]; foreach ($l['serializable_classes'] as $n) echo bin2hex($n), \"\\n\";",
            ),
            ("ruby", "ruby", "l = {", "}; l[:classes].each { |n| puts n.unpack1('H*') }"),
            ("rails", "ruby", "l = {", "}; l[:classes].drop(1).each { |n| puts n.unpack1('H*') }"),
            ("sereal", "perl", "my $l = ", "; print map { sprintf(\"%vx\", $_) . \"\\n\" } @{$l->{classes}};"),
        ] {
            let (list, stderr, code) = icecore(&["classes", "-f", "sereal", "--as", language], &bytes);
            assert_eq!((stderr.as_str(), code), ("", 0), "{language}");
            assert!(list.is_ascii() && (list.lines().count() == 1 || language == "laravel"), "{list}");
            if Command::new(program).arg("-v").stdout(Stdio::null()).status().is_err() {
                eprintln!("skipped: {program} is not installed");
                continue;
            }
            let (stdout, stderr, code) = run(program, &[], format!("{head}{list}{tail}").as_bytes());
            assert_eq!((stderr.as_str(), code), ("", 0), "{language}: {list}");
            let mut found: Vec<&str> = stdout.lines().collect();
            let is_perl = program == "perl";
            let mut expected: Vec<String> =
                names.iter().map(|name| if is_perl { characters(name) } else { hex(&name.0) }).collect();
            // In Perl, é as text and the byte E9 are the same string.
            found.sort_unstable();
            found.dedup();
            expected.sort();
            expected.dedup();
            assert_eq!(found, expected, "{language}: {list}");
        }
    }
}

#[test]
fn class_names_that_are_patterns_are_left_out_of_lists() {
    let names = [&b"*"[..], b"My::*", b"Good", b"**", b"A*B\x1b[31m\n"].map(|name| (name.to_vec(), false));
    let bytes = sereal(&names);
    for (language, list) in
        [("perl", "classes => ['Good']\n"), ("php", "'allowed_classes' => ['Good']\n"), ("ruby", "classes: ['Good']\n")]
    {
        let (stdout, stderr, code) = icecore(&["classes", "--as", language], &bytes);
        assert_eq!((stdout.as_str(), code), (list, 1), "{stderr}");
        assert_eq!(stderr.lines().count(), 4, "{stderr}");
        assert!(stderr.contains("the class `*` at $[0] is not in the list"), "{stderr}");
        assert!(stderr.contains("the class `A*B\\u{1b}[31m\\n` at $[4]"), "{stderr}");
    }
    // All are listed, and this is not a finding.
    let (stdout, stderr, code) = icecore(&["classes"], &bytes);
    assert_eq!((stdout.lines().count(), stderr.as_str(), code), (6, "", 0));
    // A plain value creates no object; Ruby looks up the class that its own dump names.
    let value = b"\x04\x08c\x06*";
    let (stdout, stderr, code) = icecore(&["classes", "--as", "perl"], value);
    let left_out = "icecore: 1 class is left out, because it is only a name, without an object: * (class-name)\n";
    assert_eq!((stdout.as_str(), stderr.as_str(), code), ("classes => []\n", left_out, 0));
    let (stdout, stderr, code) = icecore(&["classes", "--as", "ruby"], value);
    assert_eq!((stdout.as_str(), code), ("classes: []\n", 1), "{stderr}");
}

/// Text from data and file names is escaped for the terminal.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let evil = "x\x1b[2J\r\n\u{9b}31m\u{202e}\u{200b}\x07";
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let key =
        format!("a:1:{{s:{}:\"{evil}\";O:{}:\"{evil}\":1:{{s:{}:\"{evil}\";N;}}}}", evil.len(), evil.len(), evil.len());
    let php = path("a.php", key.as_bytes());
    let srl = path("a.srl", &sereal(&[(evil.as_bytes().to_vec(), true)]));
    let path_with_name = path(&evil.replace('\0', ""), key.as_bytes());
    let broken = path("broken", &key.as_bytes()[..key.len() - 1]);
    let broken_named = path(&format!("{evil}broken"), &key.as_bytes()[..key.len() - 1]);
    let csv = path("a.csv", format!("\"{evil}\",b\ni:5;,s:9:\"{evil}\"\n").as_bytes());
    let no = format!("{evil}=php");
    let is_clean = |text: &str| {
        let is_shown = |c: char| c == '\n' || !c.is_control() && !matches!(c, '\u{200b}' | '\u{202e}');
        text.chars().all(is_shown)
    };
    for args in [
        &["inspect", &php][..],
        &["inspect", "--all", &srl],
        &["inspect", &path_with_name],
        &["inspect", &broken],
        &["inspect", &broken_named],
        &["classes", &php, &srl, &path_with_name],
        &["classes", &broken_named],
        &["detect", &php, &path_with_name],
        &["convert", &php],
        &["convert", "--strict", &php],
        &["convert", "--each", &broken_named],
        &["convert", &broken],
        &["convert", "-t", "sereal", "-o", &path_with_name, &php],
        &["convert", &format!("{path_with_name}/none")],
        &["convert", "-t", evil, &php],
        &["rows", "--in", "csv", "-c", "b=php", "-q", &csv],
        &["rows", "--in", "csv", "-c", &no, &csv],
        &["rows", "--in", "csv", "-c", "none", &csv],
        &["rows", "--in", "csv", &csv],
        &["bench", "--show", &path_with_name],
        &["bench", "--data", &broken_named],
    ] {
        let (stdout, stderr, _) = icecore(args, b"");
        // JSON escapes what it must.
        if !matches!(args[0], "convert" | "rows") {
            assert!(is_clean(&stdout), "{args:?}: {stdout:?}");
        }
        assert!(is_clean(&stderr), "{args:?}: {stderr:?}");
    }
}
