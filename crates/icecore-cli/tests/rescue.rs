//! `convert --each --keep-going`: the documents after a damaged one are found.

use crate::run::icecore;

/// Xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as usize % n
    }
}

fn document(id: usize, random: &mut Random) -> String {
    let items: Vec<String> = (0..random.below(6))
        .map(|index| match random.below(4) {
            0 => random.below(100_000).to_string(),
            1 => format!("\"text {index} with }} and ; and {}\"", "long ".repeat(random.below(20))),
            2 => format!("{{\"key{index}\":[true,null,{}]}}", random.below(10)),
            _ => "[]".to_owned(),
        })
        .collect();
    format!("{{\"id\":{id},\"list\":[{}]}}", items.join(","))
}

/// Returns how many of the good documents after damaged ones are found, and their total number.
fn count_found(format: &str, separator: &str, seed: u64) -> (usize, usize) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut input, mut expected) = (Vec::new(), Vec::new());
    for id in 0..12 {
        let json = document(id, &mut random);
        let mut bytes = icecore::convert(json.as_bytes(), "json", format).unwrap();
        if id % 4 == 2 {
            if random.below(2) == 0 {
                bytes.truncate(1 + random.below(bytes.len() - 1));
            } else {
                let index = random.below(bytes.len());
                bytes[index] ^= 1 << random.below(8);
            }
        } else {
            // Not every format has booleans.
            let stage = |name| icecore::Stage::parse(name).unwrap();
            let mut line = Vec::new();
            icecore::Converter::new(stage(format), stage("json")).convert(&bytes, &mut line).written.unwrap();
            expected.push(line);
        }
        input.extend_from_slice(&bytes);
        input.extend_from_slice(separator.as_bytes());
    }
    let args = ["convert", "--each", "--keep-going", "-f", format, "-t", "json", "-q", "-"];
    let (stdout, stderr, code) = icecore(&args, &input);
    assert!(matches!(code, 0 | 4 | 5), "{format} {seed}: {code}: {stderr}");
    let lines: Vec<&[u8]> = stdout.split(|byte| *byte == b'\n').collect();
    let mut index = 0;
    let is_there = |expected: &&Vec<u8>| {
        let place = lines.get(index..).and_then(|rest| rest.iter().position(|line| line == &expected.as_slice()));
        index += place.map_or(0, |place| place + 1);
        place.is_some()
    };
    (expected.iter().filter(is_there).count(), expected.len())
}

#[test]
fn documents_after_damage_are_found() {
    for (format, separator, least) in [
        ("php", "\n", 97),
        ("php", "", 90),
        ("json", "\n", 97),
        ("var-export", "\n", 95),
        ("dumper", "\n", 95),
        ("sereal", "", 85),
        ("storable", "", 95),
        ("marshal", "", 95),
        ("igbinary", "", 85),
    ] {
        let (mut found_all, mut all) = (0, 0);
        for seed in 0..40 {
            let (found, of) = count_found(format, separator, seed);
            (found_all, all) = (found_all + found, all + of);
        }
        println!("{format} {separator:?}: {found_all} of {all}");
        assert!(found_all * 100 >= all * least, "{format} {separator:?}: {found_all} of {all}");
    }
}

#[test]
fn the_readable_part_of_each_document_is_written() {
    let many = b"a:1:{s:1:\"a\";i:1;}\na:2:{s:1:\"b\";i:7;s:1:\"x\";i:\na:1:{s:1:\"c\";i:3;}\n";
    // Data after the damage is not part of what was lost.
    let mark = r#""lost":10,"rest":"s:1:\"x\";i:""#;
    for frame in ["documents", "lines"] {
        let each = format!("--each={frame}");
        let args = ["convert", &each, "--keep-going", "--partial", "-f", "php", "-t", "json", "-"];
        let (stdout, stderr, code) = icecore(&args, many);
        let stdout = String::from_utf8(stdout).unwrap();
        let lines: Vec<&str> = stdout.lines().collect();
        assert_eq!((code, lines.len()), (4, 3), "{stdout} {stderr}");
        assert_eq!((lines[0], lines[2]), (r#"{"a":1}"#, r#"{"c":3}"#));
        assert!(
            lines[1].starts_with(r#"{"b":7,"(missing)":{"read":1,"of":2,"#) && lines[1].contains(mark),
            "{}",
            lines[1]
        );
        assert!(stderr.contains("record 2: 2 values were read"), "{stderr}");
    }
}

#[test]
fn the_content_of_a_cut_wrapper_is_read() {
    let list: Vec<String> = (0..400).map(|index| format!("\"text {}\"", index * 7919 % 1009)).collect();
    let json = format!("[{}]", list.join(","));
    let lines: String = (0..400).map(|index| format!("{{\"n\":{index},\"m\":{}}}\n", index * 7919 % 1009)).collect();
    for wrapper in ["gzip", "zlib", "base64", "gzip/base64"] {
        let stage = icecore::Stage::parse(&format!("{wrapper}/json")).unwrap();
        let cut = |text: &str| {
            let mut bytes = stage.wrap(text.as_bytes().to_vec()).unwrap();
            bytes.truncate(bytes.len() * 2 / 3);
            bytes
        };
        let name = stage.name();
        let convert = |args: &[&str], bytes: &[u8]| {
            let all = [&["convert", "--partial", "-f", &name, "-t", "json"][..], args, &["-"]].concat();
            let (stdout, stderr, code) = icecore(&all, bytes);
            assert_eq!(code, 4, "{wrapper} {args:?}: {stderr}");
            String::from_utf8(stdout).unwrap()
        };
        let at_once = convert(&[], &cut(&json));
        assert!(
            at_once.starts_with(r#"["text 0","text 856","#) && at_once.contains(r#"{"(missing)":{"read":"#),
            "{at_once}"
        );
        assert!(at_once.matches("text").count() > 100, "{at_once}");
        let each = convert(&["--each"], &cut(&lines));
        assert!(each.lines().count() > 100 && each.starts_with("{\"n\":0,\"m\":0}\n"), "{wrapper}: {each}");
        let good = each.lines().filter(|line| !line.contains("(missing)"));
        assert!(good.zip(lines.lines()).all(|(read, line)| read == line), "{wrapper}: {each}");
    }
}
