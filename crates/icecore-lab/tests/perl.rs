//! The runners of Perl: the values that each of them returns, with the real modules; and runners that are wrong on
//! purpose.
//!
//! Reports what was skipped if perl or a module is not installed.

use crate::common;

use icecore_lab::model::{Entry, Fidelity, Operation, Report, Role};
use icecore_lab::run::{Options, run_scenarios};
use icecore_lab::scenario;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn options() -> Options {
    Options { rounds: 1, turns: 1, modules: common::find_modules(), ..Options::default().small() }
}

/// Selects these runners: starting all of them takes seconds.
fn options_for(names: &[&str]) -> Options {
    Options { only: names.iter().map(|name| format!("perl/{name}")).collect(), ..options() }
}

fn has_perl() -> bool {
    let is_installed = common::is_installed("perl");
    if !is_installed {
        eprintln!("skipped: perl is not installed");
    }
    is_installed
}

/// Measures this value with runners of Perl.
fn measure_value(json: &str, settings: &str, options: &Options) -> Report {
    let text = format!(
        "title = \"data\"\nlanguage = \"perl\"\noperations = [\"write\", \"read\", \"round-trip\"{settings}\n\
         [data]\njson = '''{{\"$icecore\":1,\"$strings\":\"bytes\",\"$value\":{json}}}'''\n"
    );
    let scenario = scenario::parse_scenario("data", &text).expect("a scenario");
    run_scenarios(&[scenario], options, &mut (), &AtomicBool::new(false)).expect("it runs")
}

fn entry<'r>(report: &'r Report, name: &str) -> Option<&'r Entry> {
    let id = format!("perl/{name}");
    let found = report.scenarios[0].points[0].entries.iter().find(|entry| entry.id == id && entry.role != Role::Twin);
    if found.is_none() {
        let absent = report.scenarios[0].absent.iter().find(|absent| absent.competitor == id);
        let absent = absent.unwrap_or_else(|| panic!("{name} is nowhere"));
        assert!(absent.install.is_some(), "{name}: {}", absent.why);
        eprintln!("skipped: {name}: {}", absent.why);
    }
    found
}

fn reason_of_absence<'r>(report: &'r Report, name: &str) -> &'r str {
    let id = format!("perl/{name}");
    let absent = report.scenarios[0].absent.iter().find(|absent| absent.competitor == id);
    absent.map_or_else(|| panic!("{name} is not absent"), |absent| absent.why.as_str())
}

/// Returns the result in a word, with the differences.
fn describe_fidelity(entry: &Entry) -> String {
    match &entry.fidelity {
        Fidelity::Exact => "exact".to_owned(),
        Fidelity::Unchecked => "unchecked".to_owned(),
        Fidelity::Alike { differences } => format!("alike: {}", differences.join("; ")),
        Fidelity::Differs { differences } => format!("differs: {}", differences.join("; ")),
        other => format!("{other:?}"),
    }
}

const STRUCTURES: [&str; 21] = [
    "storable",
    "storable-net",
    "sereal",
    "sereal-functions",
    "sereal-snappy",
    "sereal-zlib",
    "sereal-zstd",
    "json-xs",
    "cpanel-json-xs",
    "json-pp",
    "cbor-xs",
    "messagepack",
    "dumper",
    "dumper-pp",
    "icecore-storable",
    "icecore-sereal",
    "icecore-sereal-snappy",
    "icecore-sereal-zstd",
    "icecore-json",
    "icecore-dumper",
    "floor",
];

const FLAT: [&str; 9] =
    ["split-join", "pack-a8", "pack-a16", "pack-la", "pack-na", "pack-l", "pack-n", "icecore-pack-l", "icecore-pack-n"];

const NESTED: &str = r#"[{"name":"Zoe","boss":null,"list":[[],{},[[1,-2,300]]],"empty":"","quotes":"a'b\"c\\d$e@f"},
    {"lines":"a\nb\u0000c","big":123456789,"text":{"$text":"Zo\u00eb \u263a"},"zip":"00123"}]"#;

#[test]
fn runners_return_structures_exactly() {
    if !has_perl() {
        return;
    }
    for settings in ["]\nmemory = true", ", \"to-json\"]\nmedium = \"file\"\nmemory = true"] {
        let report = measure_value(NESTED, settings, &options());
        for name in STRUCTURES {
            let Some(entry) = entry(&report, name) else { continue };
            let expected = if name == "floor" { "unchecked" } else { "exact" };
            assert_eq!(describe_fidelity(entry), expected, "{name}");
            assert_eq!(entry.find_cell(Operation::Write).is_some(), name != "floor", "{name}");
            assert!(entry.find_cell(Operation::Read).is_some(), "{name}");
            if name != "floor" {
                let steps: Vec<&str> = entry.memory.iter().map(|step| step.step.as_str()).collect();
                assert_eq!(steps, ["start", "data", "written", "freed", "read"], "{name}");
                assert!(entry.memory.iter().all(|step| step.resident > 1 << 20), "{name}");
            }
            let is_text = name.contains("json") || name == "floor";
            let converts = entry.find_cell(Operation::ToJson).is_some();
            assert_eq!(converts, !is_text && settings.contains("to-json"), "{name}: {:?}", report.scenarios[0].notes);
        }
        for name in FLAT {
            if name.starts_with("icecore") && !common::is_built("perl") {
                continue;
            }
            assert_eq!(reason_of_absence(&report, name), "it can't carry this: it only carries what is not nested");
        }
    }
}

#[test]
fn runners_return_objects_if_their_format_has_them() {
    if !has_perl() {
        return;
    }
    let report =
        measure_value(r#"{"$class":"Employee","$value":{"id":1001,"name":"Alice"}}"#, "]", &options_for(&STRUCTURES));
    for name in STRUCTURES {
        if name.contains("json") || ["cbor-xs", "messagepack"].contains(&name) {
            if report.scenarios[0]
                .absent
                .iter()
                .any(|one| one.competitor == format!("perl/{name}") && one.install.is_some())
            {
                continue;
            }
            assert!(
                reason_of_absence(&report, name).starts_with("it can't carry this: encountered object 'Employee'"),
                "{name}"
            );
        } else if let Some(entry) = entry(&report, name).filter(|entry| entry.role == Role::Competitor) {
            assert_eq!(describe_fidelity(entry), "exact", "{name}");
        }
    }
}

#[test]
fn runners_return_flat_lists_and_hashes() {
    if !has_perl() {
        return;
    }
    let options = options_for(&FLAT);
    let texts =
        measure_value(r#"{"title":"hoge","author":"fuga","body":"hogehoge"}"#, "]\nmedium = \"file\"", &options);
    for (name, size) in [("split-join", 18), ("pack-a8", 24), ("pack-a16", 48), ("pack-la", 28), ("pack-na", 28)] {
        let entry = entry(&texts, name).expect("it needs nothing");
        assert_eq!((describe_fidelity(entry).as_str(), entry.size), ("exact", Some(size)), "{name}");
    }
    let numbers = measure_value("[-2147483648,-1,0,7,2147483647]", "]", &options);
    for (name, size) in [("pack-l", 20), ("icecore-pack-l", 20)] {
        let Some(entry) = entry(&numbers, name) else { continue };
        assert_eq!((describe_fidelity(entry).as_str(), entry.size), ("exact", Some(size)), "{name}");
    }
    let as_text = "alike: numbers came back as text, 5 times, first at $[0]";
    assert_eq!(describe_fidelity(entry(&numbers, "split-join").expect("it needs nothing")), as_text);
    assert!(reason_of_absence(&numbers, "pack-n").contains("from 0 to 2**32 - 1"));
    assert!(reason_of_absence(&numbers, "pack-a8").contains("up to 8 characters"));
}

#[test]
fn runners_for_flat_text_refuse_other_values() {
    if !has_perl() {
        return;
    }
    let report = measure_value(r#"["a\u001cb"]"#, "]", &options_for(&["split-join"]));
    assert!(reason_of_absence(&report, "split-join").contains("separator"));
    let report = measure_value(r#"["a",null]"#, "]", &options_for(&["split-join"]));
    assert!(reason_of_absence(&report, "split-join").contains("undef"));
    let report = measure_value("[4294967296]", "]", &options_for(&["pack-l", "pack-n"]));
    assert!(reason_of_absence(&report, "pack-l").contains("32 bits"));
    assert!(reason_of_absence(&report, "pack-n").contains("2**32"));
    // The template A removes blanks at the end, also after a length. The runners do not notice that, but the check
    // does.
    let trimming = ["pack-a8", "pack-a16", "pack-la", "pack-na"];
    let report = measure_value(r#"["a "]"#, "]", &options_for(&[&trimming[..], &["split-join"]].concat()));
    for name in trimming {
        assert!(describe_fidelity(entry(&report, name).expect("it takes part")).starts_with("differs"), "{name}");
    }
    assert_eq!(describe_fidelity(entry(&report, "split-join").expect("it takes part")), "exact");
}

/// The claims of the scenarios are about competitors and operations that exist.
#[test]
fn claims_name_existing_competitors() {
    let runners = Path::new(env!("CARGO_MANIFEST_DIR")).join("runners");
    for name in ["perl-mix", "employees", "job-hash", "flat-strings", "int-list"] {
        let scenario = scenario::find_scenario(name).expect("the scenario");
        assert!(!scenario.claims.is_empty() && !scenario.published.is_empty(), "{name}");
        let sides = scenario.claims.iter().flat_map(|claim| [&claim.over, &claim.under]);
        let sides = sides.map(|side| (&side.competitor, side.operation));
        for (competitor, operation) in
            sides.chain(scenario.published.iter().map(|one| (&one.competitor, one.operation)))
        {
            assert!(runners.join(format!("{competitor}.pl")).exists(), "{name}: {competitor}");
            assert!(operation.is_none_or(|operation| scenario.operations.contains(&operation)), "{name}: {competitor}");
        }
        assert!(scenario.only.iter().all(|id| runners.join(format!("{id}.pl")).exists()), "{name}");
    }
}

fn run_wrong_runners(folder: &str, names: &[&str], answer_timeout: Duration, sample: Duration) -> Report {
    let options = Options {
        sample,
        runners: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder)),
        answer_timeout,
        ..options_for(names)
    };
    measure_value(r#"{"list":[1,2,3],"name":"Alice"}"#, "]", &options)
}

#[test]
fn wrong_runners_are_caught() {
    if !has_perl() {
        return;
    }
    let names = [
        "storable",
        "forgets",
        "textual",
        "liar",
        "liar-tenth",
        "liar-more",
        "liar-less",
        "dies",
        "fails",
        "cannot",
        "noise",
        "absent",
    ];
    // A runner that reports a tenth of its time is detected once it has worked longer than the slack. None of these
    // lets the lab wait forever.
    let report = run_wrong_runners("runners", &names, Duration::from_secs(3600), Duration::from_millis(30));
    assert_eq!(describe_fidelity(entry(&report, "storable").expect("it is right")), "exact");
    let forgets = describe_fidelity(entry(&report, "forgets").expect("it takes part"));
    assert!(forgets.starts_with("differs: "), "{forgets}");
    let textual = describe_fidelity(entry(&report, "textual").expect("it takes part"));
    assert_eq!(textual, "alike: numbers came back as text, 3 times, first at $.list[0]");
    for (name, expected) in [
        ("liar", "ns, which is impossible"),
        ("liar-more", "it reports 3600000000000 ns"),
        ("liar-less", "it reports -1"),
        ("dies", "it could not go on"),
        ("fails", "the bytes are bad"),
        ("cannot", "it can't carry this: it carries nothing"),
        ("noise", "its answer"),
        ("absent", "the Perl module No::Such::Module is missing"),
    ] {
        assert!(reason_of_absence(&report, name).contains(expected), "{name}: {}", reason_of_absence(&report, name));
    }
    if cfg!(target_os = "linux") {
        let why = reason_of_absence(&report, "liar-tenth");
        assert!(why.contains(" ms for everything, but used ") && why.contains(" ms of processor time"), "{why}");
    } else {
        eprintln!("skipped: who claims a tenth of its work, as only Linux tells how long that was");
    }
}

#[test]
fn runners_that_do_not_answer_time_out() {
    if !has_perl() {
        return;
    }
    for (folder, name) in [("runners", "silent"), ("mute", "mute")] {
        // Only the runner that never answers is started, so no other one has this short limit. A start that takes
        // longer also counts as no answer.
        let report = run_wrong_runners(folder, &[name], Duration::from_secs(2), options().sample);
        assert_eq!(reason_of_absence(&report, name), "it did not answer for 2 seconds");
    }
}
