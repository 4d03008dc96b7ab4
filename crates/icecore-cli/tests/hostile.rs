//! Names of files, columns, classes, keys and scenarios that would act on a terminal or a page: no command prints them
//! unescaped.
#![cfg(unix)]

use crate::run;

use icecore::Builder;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Characters on which a terminal acts, or that hide or reorder the text next to them.
fn hidden_characters() -> Vec<char> {
    let ranges: [std::ops::RangeInclusive<u32>; 9] = [
        1..=0x1f,
        0x7f..=0x9f,
        0x61c..=0x61c,
        0x200b..=0x200f,
        0x2028..=0x202e,
        0x2060..=0x206f,
        0xad..=0xad,
        0xfeff..=0xfeff,
        0xe0041..=0xe0041,
    ];
    ranges.into_iter().flatten().filter_map(char::from_u32).collect()
}

/// Returns a name with all of them between letters, and one that would be HTML.
fn name() -> String {
    let mut name = String::from("a");
    for c in hidden_characters() {
        name.extend([c, 'b']);
    }
    name.truncate((0..=200).rev().find(|offset| name.is_char_boundary(*offset)).unwrap());
    name
}

/// Returns names with all of them, of at most 200 bytes, which file systems accept.
fn names() -> Vec<String> {
    let mut names = vec![String::from("a"), "<script>alert(1)</script>&\"'".replace('/', "\u{2215}")];
    for c in hidden_characters() {
        if names.last().is_some_and(|name| name.len() > 180) || names.len() == 2 {
            names.push(String::from("a"));
        }
        names.last_mut().unwrap().extend([c, 'b']);
    }
    names
}

/// Checks that no hidden character is in the text; those that are used between words occur only in our own text.
fn assert_no_hidden_character(context: &str, text: &[u8], name: &str) {
    let text = String::from_utf8_lossy(text);
    let hidden: std::collections::HashSet<char> = hidden_characters().into_iter().collect();
    for (offset, c) in text.char_indices().filter(|(_, c)| !matches!(c, ' '..='~') && hidden.contains(c)) {
        let is_ours = matches!(c, '\n' | '\t' | '\r');
        let is_in_name =
            || name.contains(&format!("{c}b")) && text[..offset].ends_with('b') && text[offset + 1..].starts_with('b');
        assert!(is_ours && !is_in_name(), "{context}: {c:?} in {text:?}");
    }
}

fn icecore(folder: &Path, args: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let output =
        Command::new(run::ICECORE).args(args).current_dir(folder).stdin(Stdio::null()).output().expect("icecore runs");
    assert!(output.status.code().is_some_and(|code| code <= 5), "{args:?}: {:?}", output.status);
    (output.stdout, output.stderr)
}

/// Returns a document in which everything has this name.
fn document(name: &str) -> icecore::Document<'static> {
    let mut builder = Builder::new();
    let top = builder.begin_map().at();
    builder.text_key(name).begin_object(name);
    builder.begin_map();
    builder.text_key(name).text(name);
    builder.bytes_key(format!("{name}\u{ff}").as_bytes()).float(f64::INFINITY);
    builder.text_key("class").begin_object(format!("{name}::B"));
    builder.begin_map();
    builder.end().end();
    builder.end().end();
    builder.text_key("symbol").symbol(name, "UTF-8");
    builder.text_key("again").link(top);
    builder.end();
    builder.finish().unwrap()
}

#[test]
fn no_command_prints_hidden_characters_unescaped() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    for name in names() {
        let made = document(&name);
        let file = |extension: &str| format!("{name}.{extension}");
        for (extension, stage) in [("marshal", "marshal"), ("srl", "sereal"), ("sto", "storable")] {
            let Ok(bytes) = icecore::write(&made, stage) else { continue };
            fs::write(top.join(file(extension)), &bytes).unwrap();
            fs::write(top.join(file(&format!("{extension}.half"))), &bytes[..bytes.len() - 3]).unwrap();
        }
        let (whole, half) = (file("marshal"), file("marshal.half"));
        fs::write(top.join(file("csv")), format!("\"{name}\",x\ns:9:bad,b:1\n")).unwrap();
        let (csv, column) = (file("csv"), format!("{name}=php"));
        fs::write(top.join(file("ndjson")), "{\"a\":i}\n").unwrap();
        let (lines, path) = (file("ndjson"), format!("$[\"{name}\"].x"));
        fs::create_dir_all(top.join(file("d"))).unwrap();
        let (dir, out) = (file("d"), format!("{}/x", file("nowhere")));
        // Tables, trees and pages: neither stream contains anything unescaped.
        let commands: &[&[&str]] = &[
            &["inspect", &whole, &half, &file("srl"), &file("sto.half"), &name],
            &["edit", &whole, &half, "--in-place", "--delete", &path],
            &["inspect", "--all", &whole, &half],
            &["inspect", "--json", "--deep", &whole, &half],
            &["inspect", "--path", &path, &whole],
            &["inspect", "--path", &name, &whole],
            &["inspect", "--deep", "--report", "json", "--path", &path, &whole, &half, &name],
            &["detect", "--json", &whole, &half, &csv, &name],
            &["detect", &whole, &half, &csv, &name],
            &["classes", &whole, &half, &file("srl"), &name],
            &["classes", "--deep", "--json", "--report", "json", &whole, &half, &name],
            &["classes", "--as", "perl", &whole],
            &["classes", "--as", "ruby", &whole],
            &["convert", "-t", "pack:template=N", &whole, &half, &name],
            &["convert", "--strict", &whole, &half, &name],
            &["convert", "--strict", "--report", "json", &whole, &half, &name],
            &["convert", &whole, "-o", &whole],
            &["convert", &whole, "-o", &dir],
            &["convert", &whole, "-o", &out],
            &["convert", "--each", "--keep-going", "-f", "ndjson", &lines],
            &["convert", "--each", "--strict", &whole],
            &["convert", "-t", &name, &whole],
            &["convert", "-f", &name, &whole],
            &["convert", "--to-opt", &name, &whole],
            &["convert", "--limit", &format!("{name}=1"), &whole],
            &["rows", "--in", "csv", "--column", &name, &name],
            &["rows", "--in", "csv", "--column", "nothing", &csv],
            &["rows", "--in", &name, "--column", "nothing", &csv],
            &["formats", &name],
            &["man", &name],
            &["completions", &name],
            &["bench", &name],
            &["bench", "--only", &name],
            &["bench", "--weight", &name],
            &["bench", "--data", &half],
            &["bench", "--show", &name],
            &[&format!("--{name}"), &whole],
            &[&name],
            &[&format!("inspec{name}")],
        ];
        for args in commands {
            let (stdout, stderr) = icecore(top, args);
            assert_no_hidden_character(&format!("{args:?}"), &stdout, &name);
            assert_no_hidden_character(&format!("{args:?}"), &stderr, &name);
        }
        // The output is data and may contain them; messages may not.
        for args in [
            &["convert", &whole][..],
            &["convert", "--deep", "-t", "json:typed", &whole, &half],
            &["rows", "--in", "csv", "--column", &column, &csv],
            &["rows", "--in", "csv", "--column", &column, "--report", "json", &csv],
            &["rows", "--in", "ndjson", "--column", &name, &lines, &name],
        ] {
            assert_no_hidden_character(&format!("{args:?}"), &icecore(top, args).1, &name);
        }
    }
}

#[test]
fn pages_of_a_report_escape_hostile_names() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let report = include_str!("../../../docs/bench/report.json");
    let name = name() + "<script>alert(1)</script>";
    let json = serde_json::to_string(&name).unwrap();
    let json = &json[1..json.len() - 1];
    // Names of scenarios and competitors, versions, notes.
    let mut hostile = report.to_owned();
    for known in ["perl-mix", "employees", "Storable", "JSON::XS", "Sereal", "php/serialize", "perl/sereal"] {
        hostile = hostile.replace(known, &format!("{known}{json}"));
    }
    assert!(hostile.len() > report.len() + 1000);
    fs::write(top.join("report.json"), hostile).unwrap();
    let files = ["--html", "page.html", "--markdown", "page.md", "--charts", "charts", "--force"];
    let args = [&["bench", "--show", "report.json", "--full", "--weight", "write:1", "--explain"][..], &files].concat();
    let (stdout, stderr) = icecore(top, &args);
    assert_no_hidden_character("the tables", &stdout, &name);
    assert_no_hidden_character("stderr", &stderr, &name);
    let mut pages = vec![top.join("page.html"), top.join("page.md")];
    pages.extend(fs::read_dir(top.join("charts")).unwrap().map(|entry| entry.unwrap().path()));
    for page in pages {
        let bytes = fs::read(&page).unwrap();
        assert_no_hidden_character(&page.display().to_string(), &bytes, &name);
        assert!(!String::from_utf8_lossy(&bytes).contains("<script"), "{page:?}");
    }
}

/// The data of `bench --data` has the name of its file.
#[test]
fn hostile_names_of_data_files_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let name = format!("{}.json", name());
    fs::write(top.join(&name), "{\"a\":[1,2,3]}").unwrap();
    let args = ["bench", "--data", &name, "--small", "--only", "engine", "--html", "page.html", "--csv", "t.csv"];
    let (stdout, stderr) = icecore(top, &args);
    assert!(String::from_utf8_lossy(&stdout).contains("Your data"), "{}", String::from_utf8_lossy(&stderr));
    assert_no_hidden_character("the tables", &stdout, &name);
    assert_no_hidden_character("stderr", &stderr, &name);
    assert_no_hidden_character("the page", &fs::read(top.join("page.html")).unwrap(), &name);
}
