//! The result of each crate for everything that the originals wrote in `fixtures/`.

use std::panic::catch_unwind;

/// Reads, and writes again if possible: `Ok(None)` if it only reads.
pub type Again = fn(&[u8]) -> Result<Option<Vec<u8>>, String>;

pub fn check(file: &str, modes: &[&str], crates: &[(&str, Again)]) {
    let path = format!("{}/../../fixtures/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let fixtures: Vec<(String, Vec<u8>)> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .filter(|line| modes.contains(&line["mode"].as_str().expect("a mode")))
        .map(|line| (line["name"].as_str().expect("a name").to_owned(), base64(line["blob"].as_str().expect("a blob"))))
        .collect();
    for (name, again) in crates {
        let (mut read_count, mut same_count, mut first_problem) = (0, 0, String::new());
        for (fixture, blob) in &fixtures {
            let result = catch_unwind(|| again(blob)).unwrap_or_else(|_| Err("panics".to_owned()));
            let problem = match result {
                Ok(out) => {
                    read_count += 1;
                    match out {
                        Some(out) if out == *blob => {
                            same_count += 1;
                            continue;
                        }
                        Some(_) => "other bytes".to_owned(),
                        None => continue,
                    }
                }
                Err(error) => error,
            };
            if first_problem.is_empty() {
                let problem: String = problem.replace(['|', '\n'], " ").chars().take(60).collect();
                first_problem = format!("`{fixture}`: {problem}");
            }
        }
        let same_count = if name.contains("only") { "-".to_owned() } else { same_count.to_string() };
        println!("| {name} | {} of {file} | {read_count} | {same_count} | {first_problem} |", fixtures.len());
    }
}

fn base64(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}
