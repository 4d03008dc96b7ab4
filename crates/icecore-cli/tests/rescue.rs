//! `convert --each --keep-going`: behind a damaged document the next ones are found.

mod run;

use run::icecore;

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
        .map(|at| match random.below(4) {
            0 => random.below(100_000).to_string(),
            1 => format!("\"text {at} with }} and ; and {}\"", "long ".repeat(random.below(20))),
            2 => format!("{{\"key{at}\":[true,null,{}]}}", random.below(10)),
            _ => "[]".to_owned(),
        })
        .collect();
    format!("{{\"id\":{id},\"list\":[{}]}}", items.join(","))
}

/// How many of the good documents are found behind the damaged ones, of how many.
fn found(format: &str, separator: &str, seed: u64) -> (usize, usize) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut input, mut wanted) = (Vec::new(), Vec::new());
    for id in 0..12 {
        let json = document(id, &mut random);
        let mut bytes = icecore::convert(json.as_bytes(), "json", format).unwrap();
        if id % 4 == 2 {
            if random.below(2) == 0 {
                bytes.truncate(1 + random.below(bytes.len() - 1));
            } else {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        } else {
            // Not every format has booleans.
            let stage = |name| icecore::Stage::parse(name).unwrap();
            let mut line = Vec::new();
            icecore::Converter::new(stage(format), stage("json")).convert(&bytes, &mut line).written.unwrap();
            wanted.push(line);
        }
        input.extend_from_slice(&bytes);
        input.extend_from_slice(separator.as_bytes());
    }
    let args = ["convert", "--each", "--keep-going", "-f", format, "-t", "json", "-q", "-"];
    let (stdout, stderr, code) = icecore(&args, &input);
    assert!(matches!(code, 0 | 4 | 5), "{format} {seed}: {code}: {stderr}");
    let lines: Vec<&[u8]> = stdout.split(|byte| *byte == b'\n').collect();
    let mut at = 0;
    let is_there = |wanted: &&Vec<u8>| {
        let place = lines.get(at..).and_then(|rest| rest.iter().position(|line| line == &wanted.as_slice()));
        at += place.map_or(0, |place| place + 1);
        place.is_some()
    };
    (wanted.iter().filter(is_there).count(), wanted.len())
}

#[test]
fn what_stands_behind_damage_is_found() {
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
            let (found, of) = found(format, separator, seed);
            (found_all, all) = (found_all + found, all + of);
        }
        println!("{format} {separator:?}: {found_all} of {all}");
        assert!(found_all * 100 >= all * least, "{format} {separator:?}: {found_all} of {all}");
    }
}
