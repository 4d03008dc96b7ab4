//! Hostile input that multiplies: the command reports it, and stops.

use crate::common::usual_or_full;
use crate::run;

use std::process::Output;

use crate::shapes;

fn run(args: &[&str], input: &[u8]) -> Output {
    run::output(run::ICECORE, args, input)
}

/// Checks how much each command may print for each byte of the input, with limits below the amounts that are always
/// allowed.
#[test]
fn output_of_commands_stays_within_the_budget() {
    let commands: &[&[&str]] = &[
        &["inspect"],
        &["inspect", "--all"],
        &["inspect", "--json"],
        &["inspect", "--deep", "--all"],
        &["classes"],
        &["classes", "--json"],
        &["convert", "--deep"],
        &["convert", "--each", "--keep-going"],
        &["convert", "-t", "json:indent=8"],
        &["convert", "-t", "var-export"],
        &["convert", "-t", "storable", "--strict"],
    ];
    for shape in shapes::ALL {
        let input = shape.make(usual_or_full(8 << 10, 24 << 10));
        let max_kilobytes = 16 * input.len();
        let limit = format!("output={max_kilobytes}");
        for command in commands {
            let args = [command, &["-f", shape.format, "--limit", &limit][..]].concat();
            let output = run(&args, &input);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1 | 4 | 5)), "{} {args:?}: {code:?}", shape.name);
            // A report has lines for each byte.
            let allowed = 8 * max_kilobytes + (512 << 10);
            assert!(output.stdout.len() < allowed, "{} {args:?}: {}", shape.name, output.stdout.len());
            assert!(output.stderr.len() < 16 << 10, "{} {args:?}: {}", shape.name, output.stderr.len());
        }
    }
}

/// Each level has two links to the level below, so there are 2^levels paths to the bottom. No command follows them all.
#[test]
fn links_that_double_with_each_level_are_not_all_followed() {
    type Make = fn(usize) -> Vec<u8>;
    let php: Make = |levels| {
        let links: String = (0..levels).rev().map(|level| format!("i:1;R:{};}}", level + 2)).collect();
        format!("{}i:1;{links}", "a:2:{i:0;".repeat(levels)).into_bytes()
    };
    let objects: Make = |levels| {
        let links: String = (0..levels).rev().map(|level| format!("s:1:\"b\";r:{};}}", level + 2)).collect();
        format!("{}O:1:\"A\":0:{{}}{links}", "O:1:\"A\":2:{s:1:\"a\";".repeat(levels)).into_bytes()
    };
    let marshal: Make = |levels| {
        let links = (0..levels as u8).rev().flat_map(|level| [b'@', level + 6]);
        [&b"\x04\x08"[..], &b"[\x07".repeat(levels), b"\"\x06x"].concat().into_iter().chain(links).collect()
    };
    let commands: &[&[&str]] = &[
        &["convert", "-t", "json"],
        &["convert", "-t", "php"],
        &["convert", "--deep"],
        &["inspect"],
        &["inspect", "--all"],
        &["inspect", "--json"],
        &["classes"],
        &["paths"],
        &["get", "$[0]"],
        &["query", ".[0] | length"],
        &["query", "--limit", "steps=10K", "[..] | length"],
        &["query", "--limit", "steps=10K", "flatten"],
        &["edit", "--append", "$=1"],
        &["edit", "--set", "$[0]=1"],
        &["edit", "--rename-class", "A=B"],
        &["replace", "x", "longer"],
    ];
    for (format, make) in [("php", php), ("php", objects), ("marshal", marshal)] {
        let inputs = [20, 40].map(make);
        for command in commands {
            let sizes = inputs.each_ref().map(|input| {
                let output = match command {
                    ["query", options @ .., filter] => {
                        run(&[&["query", "-f", format][..], options, &[*filter, "-"]].concat(), input)
                    }
                    ["replace", ..] => run(&[command, &["-f", format, "-"][..]].concat(), input),
                    _ => run(&[command, &["-f", format][..]].concat(), input),
                };
                let code = output.status.code();
                assert!(matches!(code, Some(0..=5)), "{command:?}: {code:?}");
                output.stdout.len() + output.stderr.len()
            });
            // The path of a value is as long as its depth, so all paths together may grow with the square.
            assert!(sizes[1] <= 5 * sizes[0] + 4096, "{format} {command:?}: {sizes:?}");
        }
    }
}

#[test]
fn errors_name_the_limit_to_raise() {
    let input = shapes::named("a COPY of a long string").make(24 << 10);
    let output = run(&["convert", "--limit", "output=100K"], &input);
    assert_eq!(output.status.code(), Some(4));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("at most 102400 bytes of output") && stderr.contains("--limit output=N"), "{stderr}");
    assert_eq!(run(&["convert", "--limit", "output=1G"], &input).status.code(), Some(0));
}

#[test]
fn classes_of_any_length_are_listed() {
    let input = shapes::named("a long class of many objects").make(400 << 10);
    let output = run(&["classes"], &input);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.len() < 4096, "{}", output.stdout.len());
    let all = run(&["classes", "--json"], &input);
    assert!(all.stdout.len() > 200 << 10, "the whole name is there");
}

/// Packed data is unpacked piece by piece, and is not held in memory as a document.
#[test]
fn compressed_streams_may_have_any_length() {
    let line = b"{\"id\":1,\"name\":\"the same in each line, so that it shrinks\"}\n";
    let lines = line.repeat(40_000);
    for packed in ["gzip", "zlib", "zstd"] {
        let input = run(&["convert", "-f", "ndjson", "-t", &format!("{packed}/ndjson")], &lines).stdout;
        let limits = ["--limit", "decompressed=100K"];
        let all = run(&[&["convert", "--each"], &limits[..]].concat(), &input);
        assert_eq!(all.status.code(), Some(0), "{packed}: {}", String::from_utf8_lossy(&all.stderr));
        assert_eq!(all.stdout, lines, "{packed}");
        let output = run(&[&["convert"], &limits[..]].concat(), &input);
        assert_eq!(output.status.code(), Some(4), "{packed}");
        // A stream that breaks off yields the records before that point, and an error.
        let cut = run(&["convert", "--each"], &input[..input.len() - 20]);
        assert_eq!(cut.status.code(), Some(4), "{packed}: {}", String::from_utf8_lossy(&cut.stderr));
    }
}

/// A bomb takes no more memory than twice its limit. The test can only limit the address space; the memory that is
/// actually used is about the limit once.
#[cfg(target_os = "linux")]
#[test]
fn a_bomb_takes_at_most_twice_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let sh = |command: &str| {
        let output = run::shell(folder.path(), command).output().expect("a shell");
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
    };
    // 256 MB, as a string of PHP and in layers; also with zlib and Zstandard.
    let make = "{ printf 's:268435456:\"'; head -c 268435456 /dev/zero | tr '\\0' x; printf '\";'; }";
    let (stderr, code) = sh(&format!(
        "{make} | gzip -9 > a.gz; gzip -9 < a.gz > b.gz; \
         icecore --limit decompressed=1G convert -f gzip/php -t zstd/php a.gz -o c.zst"
    ));
    assert_eq!(code, Some(0), "{stderr}");
    const LIMIT: u64 = 64 << 20;
    // The input, and the overhead of the allocator.
    const SLACK: u64 = 12 << 20;
    // Memory that the command maps before it reads anything: its code, threads, buffers.
    let own = own_memory();
    for file in ["a.gz", "b.gz", "c.zst"] {
        for command in [
            "convert",
            "inspect",
            "classes",
            "classes --deep",
            "convert --each",
            "convert --deep",
            "convert --each --deep",
        ] {
            let max_kilobytes = (own + 2 * LIMIT + SLACK) / 1024;
            let (stderr, code) =
                sh(&format!("ulimit -v {max_kilobytes}; icecore {command} --limit decompressed={LIMIT} {file} > out"));
            assert_eq!(code, Some(4), "{command} {file}: {stderr}");
            assert!(stderr.contains("limit reached"), "{command} {file}: {stderr}");
        }
    }
}

/// Returns the largest address space that the command needs for an empty input.
#[cfg(target_os = "linux")]
fn own_memory() -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let works = |megabytes: u64| {
        let command = format!("ulimit -v {}; echo '[1]' | icecore convert --each", megabytes << 10);
        run::shell(folder.path(), &command).output().expect("a shell").status.success()
    };
    // Bisects between too little and enough.
    let (mut too_little, mut enough) = (0, 4096);
    while enough - too_little > 4 {
        let middle = (too_little + enough) / 2;
        if works(middle) { enough = middle } else { too_little = middle }
    }
    enough << 20
}

/// Each piece of a long array needs only a little more memory than its bytes. The whole array needs twenty times as
/// much.
#[cfg(target_os = "linux")]
#[test]
fn splitting_a_long_array_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let records: Vec<String> = (0..usual_or_full(50_000, 250_000))
        .map(|n| format!("{{\"id\":{n},\"list\":[1,2,3],\"name\":\"n{n}\"}}"))
        .collect();
    let json = format!("[{}]", records.join(","));
    let own = own_memory();
    for format in ["json", "php", "marshal", "storable"] {
        let bytes = icecore::convert(json.as_bytes(), "json", format).unwrap();
        std::fs::write(folder.path().join("list"), &bytes).unwrap();
        let run = |limit: &str| {
            let max_kilobytes = (own + 4 * bytes.len() as u64 + (usual_or_full(18, 32) << 20)) / 1024;
            let command =
                format!("ulimit -v {max_kilobytes}; icecore inspect --all {limit} -f {format} list > /dev/null");
            run::shell(folder.path(), &command).output().expect("a shell").status.code()
        };
        assert_eq!(run(""), Some(0), "{format}");
        assert_ne!(run("--items 4G"), Some(0), "{format}: as a whole it fits too, so this shows nothing");
    }
}

/// Returns nested lists, each of which contains the next one twice.
fn doubling(levels: usize, format: &str) -> Vec<u8> {
    let mut builder = icecore::Builder::new();
    let mut begun = Vec::new();
    for _ in 0..levels {
        begun.push(builder.begin_array().at());
    }
    builder.int(1);
    let mut inner = None;
    for list in begun.into_iter().rev() {
        match inner {
            Some(inner) => builder.link(inner),
            None => builder.int(1),
        };
        builder.end();
        inner = Some(list);
    }
    icecore::write(&builder.finish().unwrap(), format).unwrap()
}

/// Filters that would take all memory, or run forever: over links in links, and over nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_filter_takes_little_more_than_its_limits() {
    // Filters run without optimization here: smaller limits take a quarter of the time and show the same.
    let limit: u64 = usual_or_full(12 << 20, 48 << 20);
    let steps = usual_or_full("500K", "2M");
    // Only the used part of it is memory; here all of it counts as address space.
    const STACK: u64 = 640 << 20;
    let folder = tempfile::tempdir().unwrap();
    // The allocator of glibc takes 64 MB of address space for a thread, aligned within 128 MB.
    const ARENA: u64 = 128 << 20;
    let max_kilobytes = (own_memory() + STACK + ARENA + limit) / 1024;
    let check = |file: &str, filter: &str| {
        std::fs::write(folder.path().join("filter"), filter).unwrap();
        let command = format!(
            "ulimit -v {max_kilobytes}; \
             icecore query --limit memory={limit},steps={steps} \"$(cat filter)\" {file} > out"
        );
        let output = run::shell(folder.path(), &command).output().expect("a shell");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{file} {filter}: {stderr}");
        let is_said = ["--limit memory=N", "--limit steps=N", "too large", "too deep"];
        assert!(is_said.iter().any(|words| stderr.contains(words)), "{file} {filter}: {stderr}");
    };
    for format in ["marshal", "storable", "sereal"] {
        let bytes = doubling(40, format);
        assert!(bytes.len() < 1000, "{format}: {}", bytes.len());
        std::fs::write(folder.path().join(format), &bytes).unwrap();
        for filter in ["walk(.)", "flatten", "[paths]", "[..] | length", "[tostream]", ".[] |= . | walk(.)"] {
            check(format, filter);
        }
    }
    std::fs::write(folder.path().join("null"), "null").unwrap();
    for filter in [
        "reduce range(40) as $i (1; [., .]) | tojson",
        "reduce range(40) as $i (1; [., .]) | tostring",
        "reduce range(40) as $i (1; [., .]) | @json",
        "reduce range(40) as $i (1; [., .]) | flatten",
        "reduce range(40) as $i (\"x\"; [., .]) | \"\\(.)\"",
        "reduce range(40) as $i (1; {a: ., b: .})",
        "\"x\" | until(false; . + .)",
        "\"x\" * 100000000",
        "[1] | until(false; . + .)",
        "[range(infinite)]",
        "[repeat(\"0123456789\" | ascii_upcase)]",
        "[range(infinite) | tostring]",
        "[range(infinite) | [.]]",
        "[range(infinite) | {a: .}]",
        "reduce range(infinite) as $i ({}; .[$i | tostring] = $i)",
        "reduce range(infinite) as $i (\"\"; . + ($i | tostring))",
        "reduce range(infinite) as $i (\"0123456789\" * 1000; . + ($i | select(true) | tostring))",
        "\"x\" * 1000000 | explode | [range(infinite) as $i | [.]]",
        "\"x\" * 1000000 | split(\"\")",
        "\"x\" * 10000000 | [range(100) as $i | ascii_upcase]",
        "\"x\" * 10000000 | [range(100) as $i | @base64]",
        "\"x\" * 10000000 | [range(100) as $i | .[1:]]",
        "[\"x\" * 10000000] | [range(100) as $i | tojson]",
    ] {
        check("null", filter);
    }
}
