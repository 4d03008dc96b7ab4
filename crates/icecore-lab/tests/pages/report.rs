//! An invented report: numbers with a known order, ties, and gaps.

use icecore_lab::model::*;
use std::collections::BTreeMap;

pub const OPERATIONS: [Operation; 2] = [Operation::Write, Operation::Read];

/// Returns a report of three scenarios: one size with everything that a size can have, eight sizes, and many
/// competitors.
pub fn report() -> Report {
    Report {
        schema: SCHEMA,
        icecore: "0.1.0".into(),
        made: "2026-11-22T12:00:00Z".into(),
        seconds: 251.0,
        machine: machine(),
        settings: Settings { seed: 42, rounds: 5, turns: 4, sample_ms: 20, small: false },
        scenarios: vec![mix(), objects(), flat()],
    }
}

fn machine() -> Machine {
    Machine {
        system: "Debian GNU/Linux 12 (bookworm)".into(),
        kernel: "6.1.0-18-amd64".into(),
        processor: "AMD EPYC 7763".into(),
        cores: 2,
        memory: 24_000_000_000,
        load: [0.34, 0.24, 0.75],
        runtimes: [("perl", "5.36.0"), ("php", "8.2.7")]
            .map(|(language, version)| Runtime { language: language.into(), version: version.into() })
            .to_vec(),
        memcpy: 13.2,
    }
}

pub fn noise(level: NoiseLevel, words: &str) -> Noise {
    Noise { level, spread: 0.021, drift: 0.004, resolution: 0.03, words: words.into() }
}

/// Makes samples around a time: with noise that a round shares, and a little noise of their own.
pub fn samples(ns: f64, noise_seed: u32) -> Vec<Sample> {
    let wave = |of: &[u32]| {
        let seed = of.iter().fold(17, |seed: u64, number| seed * 31 + u64::from(*number));
        fastrand::Rng::with_seed(seed).f64() - 0.5
    };
    let common = |round, turn| 0.10 * wave(&[1, round, turn]);
    let alone = |round, turn| 0.05 * wave(&[2, noise_seed, round]) + 0.04 * wave(&[3, noise_seed, round, turn]);
    let at = |round, turn| ns * (1.0 + common(round, turn) + alone(round, turn));
    (0..5).flat_map(|round| (0..4).map(move |turn| Sample { round, turn, ns: at(round, turn) })).collect()
}

fn summary(samples: &[Sample], outliers: Vec<usize>) -> Summary {
    let mut all: Vec<f64> = samples.iter().map(|sample| sample.ns).collect();
    all.sort_by(f64::total_cmp);
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize];
    let median = Interval { estimate: at(0.5), low: at(0.2), high: at(0.8) };
    Summary { median, fastest: at(0.0), slowest: at(1.0), outliers }
}

pub fn cell(operation: Operation, ns: f64, noise_seed: u32, baseline: Option<f64>) -> Cell {
    let samples = samples(ns, noise_seed);
    let against = baseline.map(|base| {
        let times = base / ns;
        let times = Interval { estimate: times, low: times * 0.96, high: times * 1.05 };
        Comparison { times, tie: times.low <= 1.0 && times.high >= 1.0 }
    });
    Cell { operation, summary: summary(&samples, if noise_seed == 3 { vec![7] } else { vec![] }), samples, against }
}

/// Makes an entry with its write and read times; a time of 0 means that it lacks the operation.
pub fn entry(id: &str, name: &str, times: [f64; 2], size: u64, baseline: Option<[f64; 2]>) -> Entry {
    let noise_seed = id.bytes().map(u32::from).sum::<u32>() % 13;
    let cells = OPERATIONS.iter().enumerate().filter(|(index, _)| times[*index] > 0.0);
    Entry {
        id: id.into(),
        name: name.into(),
        version: "1.0".into(),
        role: Role::Competitor,
        fidelity: Fidelity::Exact,
        size: (size > 0).then_some(size),
        cells: cells
            .map(|(index, operation)| cell(*operation, times[index], noise_seed, baseline.map(|times| times[index])))
            .collect(),
        memory: vec![],
    }
}

fn steps(sizes: [u64; 5]) -> Vec<MemoryStep> {
    let names = ["start", "data", "written", "freed", "read"];
    let step =
        |(name, mb): (&str, u64)| MemoryStep { step: name.into(), resident: mb * 1_000_000, peak: mb * 1_080_000 };
    names.into_iter().zip(sizes).map(step).collect()
}

fn mix() -> ScenarioReport {
    let base = Some([60_300.0, 41_200.0]);
    let mut entries = vec![
        entry("perl/storable", "Storable", [60_300.0, 41_200.0], 10_432, None),
        entry("perl/sereal", "Sereal", [21_400.0, 30_900.0], 4_321, base),
        entry("perl/sereal-zstd", "Sereal, zstd", [39_100.0, 35_800.0], 2_210, base),
        entry("perl/json-xs", "JSON::XS", [25_500.0, 38_000.0], 6_004, base),
        entry("perl/cbor-xs", "CBOR::XS", [21_700.0, 24_100.0], 4_410, base),
        entry("perl/icecore-sereal", "Icecore::Sereal", [11_900.0, 20_500.0], 4_321, base),
        entry("perl/dumper", "Data::Dumper", [402_000.0, 512_000.0], 15_200, base),
        entry("perl/broken", "Broken", [9_000.0, 9_500.0], 900, base),
        entry("perl/storable", "Storable, once more", [60_100.0, 41_300.0], 10_432, base),
        entry("perl/floor", "bare values", [0.0, 14_800.0], 0, base),
        entry("engine/sereal", "Rust engine, Sereal", [4_100.0, 6_700.0], 4_321, base),
    ];
    entries[3].fidelity = Fidelity::Alike { differences: vec!["numbers came back as text, first at $[0]".into()] };
    entries[7].fidelity = Fidelity::Differs { differences: vec!["'hash' is missing, first at $.hash".into()] };
    for (i, role) in [(8, Role::Twin), (9, Role::Floor), (10, Role::Engine)] {
        (entries[i].role, entries[i].fidelity) = (role, Fidelity::Unchecked);
    }
    entries[0].memory = steps([12, 260, 379, 131, 402]);
    entries[1].memory = steps([12, 260, 302, 54, 290]);
    entries[2].memory = steps([12, 260, 271, 23, 268]);
    let point = Point { name: "the mix".into(), at: 1.0, parameters: BTreeMap::new(), entries, memcpy_ns: Some(170.0) };
    ScenarioReport {
        name: "perl-mix".into(),
        title: "A list of 1000 integers, a hash of 100, 26 short lists".into(),
        about: "The data of an article on Perl's serializers. Nothing in it is blessed or shared.".into(),
        operations: OPERATIONS.to_vec(),
        baseline: Some("perl/storable".into()),
        axis: String::new(),
        points: vec![point],
        published: vec![
            published("perl/storable", Some(Operation::Write), 3.42, "a second"),
            published("perl/sereal", None, 10_200_000.0, "bytes"),
        ],
        claims: vec![claim("Sereal is 2.9 times as fast as Storable", 2.9, 2.9, Some((2.8, 2.7, 3.0)), Verdict::Holds)],
        absent: vec![
            absent(
                "perl/message-pack",
                "the Perl module Data::MessagePack is missing",
                Some("apt-get install libdata-messagepack-perl"),
            ),
            absent("perl/pack-l", "it only carries flat lists", None),
        ],
        noise: noise(NoiseLevel::Quiet, "Differences of a few percent can be seen."),
        stopped: false,
        notes: vec![],
    }
}

fn published(competitor: &str, operation: Option<Operation>, value: f64, unit: &str) -> Published {
    Published {
        competitor: competitor.into(),
        operation,
        value,
        unit: unit.into(),
        source: "the article on Perl".into(),
    }
}

fn absent(competitor: &str, why: &str, install: Option<&str>) -> Absent {
    Absent { competitor: competitor.into(), why: why.into(), install: install.map(Into::into) }
}

pub fn claim(text: &str, from: f64, to: f64, now: Option<(f64, f64, f64)>, verdict: Verdict) -> ClaimResult {
    let side = |competitor: &str| Side { competitor: competitor.into(), operation: Some(Operation::Write) };
    ClaimResult {
        claim: Claim {
            text: text.into(),
            source: "the article".into(),
            quantity: if from > 100.0 { Quantity::Crossing } else { Quantity::Time },
            over: side("perl/storable"),
            under: side("perl/sereal"),
            from,
            to,
            at: BTreeMap::new(),
            explanation: "Its newer version keeps short strings on the stack.".into(),
        },
        now: now.map(|(estimate, low, high)| Interval { estimate, low, high }),
        verdict,
        words: now.map_or("It could not be measured here.".into(), |(now, ..)| format!("{from} then, {now} now.")),
    }
}

/// Id, name, nanoseconds to write and to read an object at both ends, bytes of an object.
type Cost = (&'static str, &'static str, [f64; 2], [f64; 2], u64);

fn objects() -> ScenarioReport {
    let costs: [Cost; 6] = [
        ("php/serialize", "serialize", [71.0, 76.0], [176.0, 322.0], 62),
        ("php/unserialize-manual", "manual __unserialize", [90.0, 92.0], [168.0, 201.0], 62),
        ("php/var-export", "var_export, require", [269.0, 283.0], [980.0, 1483.0], 140),
        ("php/opcache", "require with opcache", [269.0, 290.0], [76.0, 1400.0], 140),
        ("php/igbinary", "igbinary", [60.0, 98.0], [95.0, 170.0], 28),
        ("php/json", "json", [55.0, 58.0], [120.0, 150.0], 40),
    ];
    let sizes = [10.0_f64, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 20_000.0];
    let between = |[from, to]: [f64; 2], at: f64| from + (to - from) * ((at / 10.0).ln() / 2000_f64.ln()).powi(2);
    let point = |at: f64| {
        let times = |write, read| [write, read].map(|cost| (between(cost, at) + 400.0 / at) * at);
        let base = times(costs[0].2, costs[0].3);
        let one =
            |(i, c): (usize, &Cost)| entry(c.0, c.1, times(c.2, c.3), 30 + c.4 * at as u64, (i > 0).then_some(base));
        Point {
            name: format!("{at} objects"),
            at,
            parameters: BTreeMap::from([("count".into(), at as i64)]),
            entries: costs.iter().enumerate().map(one).collect(),
            memcpy_ns: Some(at * 2.5),
        }
    };
    ScenarioReport {
        name: "php-objects".into(),
        title: "Objects with a readonly int and a string".into(),
        about: String::new(),
        operations: OPERATIONS.to_vec(),
        baseline: Some("php/serialize".into()),
        axis: "objects".into(),
        points: sizes.map(point).to_vec(),
        published: vec![],
        claims: vec![
            claim("a class list costs little", 1.05, 1.05, Some((1.07, 1.03, 1.11)), Verdict::Holds),
            claim("var_export is slower than serialize", 1.5, 2.0, Some((3.7, 3.5, 3.9)), Verdict::Stronger),
            claim("a manual __unserialize is faster", 1.9, 2.1, Some((1.3, 1.2, 1.4)), Verdict::Weaker),
            claim("igbinary reads faster", 1.4, 1.4, Some((1.0, 0.97, 1.02)), Verdict::Gone),
            claim("the constructor is slower than reflection", 1.2, 1.2, Some((0.8, 0.75, 0.86)), Verdict::Reversed),
            claim(
                "require is ahead up to 5,000 objects",
                5000.0,
                5000.0,
                Some((7400.0, 6800.0, 8100.0)),
                Verdict::Stronger,
            ),
            claim("msgpack is smaller", 1.2, 1.2, None, Verdict::Unknown),
        ],
        absent: vec![],
        noise: noise(NoiseLevel::Noisy, "Another program keeps a core busy: close it, or ask for more rounds"),
        stopped: true,
        notes: vec!["Sizes above 20,000 are left out.".into()],
    }
}

fn flat() -> ScenarioReport {
    let entries = (0..15).map(|number| {
        let name = ["split/join", "(A16)*", "(l/A*)*", "JSON::XS <fast>", "a \"quoted\" name"];
        let ns = 600.0 * 1.31_f64.powi(number);
        let id = format!("perl/flat-{number}");
        entry(
            &id,
            name.get(number as usize).unwrap_or(&id.as_str()),
            [ns, ns * 1.4],
            40 + 3 * number as u64,
            Some([600.0, 840.0]),
        )
    });
    let point = Point {
        name: "flat".into(),
        at: 1.0,
        parameters: BTreeMap::new(),
        entries: entries.collect(),
        memcpy_ns: None,
    };
    ScenarioReport {
        name: "flat-strings".into(),
        title: "Three short strings".into(),
        points: vec![point],
        axis: String::new(),
        claims: vec![],
        published: vec![],
        absent: vec![],
        stopped: false,
        baseline: Some("perl/flat-0".into()),
        noise: noise(NoiseLevel::Restless, "Differences of ten percent can be seen."),
        ..objects()
    }
}
