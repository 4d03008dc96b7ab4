//! Random values with random options, pushed in one language and worked in each: they are equal to the runtimes.
//! `ICECORE_SEED=N` repeats the same values.

use super::clients::Language;
use super::daemon::Daemon;
use crate::common::Random;
use serde_json::{Map, Value, json};

/// Number of jobs from each language to each.
const CASES: usize = 40;

#[test]
fn each_language_works_on_jobs_of_every_other() {
    let languages = Language::available();
    let (mut random, folder) = (Random::new(), tempfile::tempdir().expect("a folder"));
    let daemon = Daemon::start(&format!("sqlite:{}", folder.path().join("a.db").display()), &[]);
    for from in &languages {
        for to in &languages {
            let queue = format!("{from:?} to {to:?} & co");
            let cases: Vec<Value> = (0..CASES).map(|number| case(&mut random, *from, &queue, number)).collect();
            let file = folder.path().join("cases");
            let lines: Vec<String> = cases.iter().map(Value::to_string).collect();
            std::fs::write(&file, lines.join("\n") + "\n").expect("written");
            let run = |language: Language, name, args: &[&str]| {
                let output = language.program(name, daemon.address).args(args).output().expect("it runs");
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && stderr.is_empty(), "{name} in {language:?}: {stderr}");
                String::from_utf8(output.stdout).expect("text")
            };
            let file = file.to_str().expect("text");
            let pushed = run(*from, "push", &[file]);
            let ids: Vec<&str> = pushed.lines().collect();
            assert_eq!(ids.len(), CASES, "{queue}");
            assert_eq!(run(*to, "check", &[&queue, file]), CASES.to_string(), "{queue}");
            for (number, (id, case)) in ids.iter().zip(&cases).enumerate() {
                let job = daemon.ask("GET", &format!("/jobs/{id}"), "").json();
                assert_eq!((&job["state"], &job["queue"]), (&json!("done"), &json!(queue)), "{case}: {job}");
                assert_eq!(job["result"], json!([number, "same"]), "{queue}, {case}: {job}");
                let options = &case["options"];
                assert_eq!(job["format"], options["format"], "{case}: {job}");
                assert_eq!(job["unique_key"], options["unique"], "{case}: {job}");
                let option_or = |name: &str, default: i64| options[name].as_i64().unwrap_or(default);
                assert_eq!(job["priority"], json!(option_or("priority", 0)), "{case}: {job}");
                assert_eq!(job["max_attempts"], json!(option_or("max_attempts", 20)), "{case}: {job}");
            }
        }
    }
}

/// Without this, the test above would prove nothing.
#[test]
fn the_clients_notice_a_wrong_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(&format!("sqlite:{}", folder.path().join("a.db").display()), &[]);
    let file = folder.path().join("cases");
    let expected = json!({ "a": [1, "x", null, "\u{e9}"] });
    let others = [
        json!({ "a": [1, "x", null, "e"] }),
        json!({ "a": [1, "x", "", "\u{e9}"] }),
        json!({ "a": [1, "x", null] }),
        json!({
            "b": [1, "x", null, "\u{e9}"]
        }),
        json!([1.5]),
    ];
    for language in Language::available() {
        let mut ids = Vec::new();
        for (number, other) in others.iter().enumerate() {
            let answer = daemon.ask("POST", "/jobs?queue=q", &json!([number, other]).to_string());
            ids.push(answer.str("/id"));
        }
        let lines = format!("{}\n", json!({ "value": expected })).repeat(others.len());
        std::fs::write(&file, lines).expect("written");
        let mut check = language.program("check", daemon.address);
        assert!(check.arg("q").arg(&file).output().expect("it runs").status.success(), "{language:?}");
        for (number, id) in ids.iter().enumerate() {
            let job = daemon.ask("GET", &format!("/jobs/{id}"), "").json();
            assert_eq!(job["result"], json!([number, "other"]), "{language:?}: {job}");
        }
    }
}

fn one_of<'l, T>(random: &mut Random, list: &'l [T]) -> &'l T {
    &list[random.below(list.len() as u64) as usize]
}

fn case(random: &mut Random, from: Language, queue: &str, number: usize) -> Value {
    let formats: &[&str] = match from {
        Language::Perl => &["storable", "sereal", "json", "php", "marshal"],
        Language::Php => &["php", "igbinary", "json", "marshal", "sereal"],
        Language::Ruby => &["marshal", "json", "php", "storable", "sereal"],
    };
    let mut options = Map::new();
    options.insert("format".into(), json!(one_of(random, formats)));
    if random.below(2) == 0 {
        options.insert("priority".into(), json!(random.below(2001) as i64 - 1000));
    }
    if random.below(2) == 0 {
        options.insert("max_attempts".into(), json!(1 + random.below(1000)));
    }
    if random.below(2) == 0 {
        let key: String = text(random).chars().filter(|character| !character.is_control()).collect();
        options.insert("unique".into(), json!(format!("{number}{key}")));
    }
    if random.below(3) == 0 {
        options.insert("delay".into(), if random.below(2) == 0 { json!(0) } else { json!("0s") });
    }
    json!({ "queue": queue, "value": value(random, 4), "options": options })
}

/// Returns a value that all the languages have: no true and false, which are objects in Perl, no empty map, which is an
/// empty list in PHP, and no numeric key, which is a number in PHP.
fn value(random: &mut Random, levels: u64) -> Value {
    let kinds = if levels == 0 { 5 } else { 9 };
    match random.below(kinds) {
        0 => Value::Null,
        1 => json!(random.below(u64::MAX) as i64 >> random.below(64)),
        2 => json!((random.below(1 << 53) as f64 + 0.5) / 1024.0 * if random.below(2) == 0 { 1.0 } else { -1e-9 }),
        3 | 4 => json!(text(random)),
        5 | 6 => (0..random.below(6)).map(|_| value(random, levels - 1)).collect(),
        _ => {
            let entries = (0..=random.below(5)).map(|_| (format!("k{}", text(random)), value(random, levels - 1)));
            Value::Object(entries.collect())
        }
    }
}

fn text(random: &mut Random) -> String {
    const PARTS: [&str; 14] = [
        "a",
        "Z",
        "7",
        " ",
        "",
        "\u{e9}",
        "\u{20ac}",
        "\u{1f600}",
        "\u{0}",
        "\"",
        "\\",
        "&=%2e+",
        "\u{ff}",
        "\u{202e}",
    ];
    (0..random.below(9)).map(|_| *one_of(random, &PARTS)).collect()
}
