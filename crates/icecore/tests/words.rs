//! The language of comments and pages: plain words, and names that exist.
//!
//! `words.tsv` has how many odd phrases, names and types that share a name there are. The numbers may only fall: whoever
//! lowers one writes it down with `UPDATE_WORDS=1 cargo test -p icecore --test engine words::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words that mean nothing outside of this project, or too many things, as names of functions.
const PRIVATE_NAMES: &[&str] = &[
    "again", "alone", "behind", "beside", "board", "crew", "given", "handing", "held", "late", "look", "looks", "mend",
    "mended", "misfit", "most", "pen", "plain", "room", "said", "seen", "shown", "spelled", "stands", "taken", "there",
    "told", "turned", "way", "ways", "what", "whole", "worth",
];

/// Phrases that stop a reader, and what to write.
const PHRASES: &[(&str, &str)] = &[
    ("behind the", "after the"),
    ("behind a", "after a"),
    ("behind an", "after an"),
    ("behind it", "after it"),
    ("behind them", "after them"),
    ("behind that", "after that"),
    ("behind its", "after its"),
    ("behind each", "after each"),
    ("behind what", "after what"),
    ("one behind the other", "one after another"),
    ("stands in", "is in"),
    ("stands at", "is at"),
    ("stands for itself", "is itself"),
    ("stand in", "are in"),
    ("stands there", "is there"),
    ("stand there", "are there"),
    ("stands before", "is before"),
    ("stand before", "are before"),
    ("beside the", "next to the, in addition to the"),
    ("beside it", "next to it, in addition to it"),
    ("beside them", "next to them, in addition to them"),
    ("is no", "is not a"),
    ("are no", "are not"),
    ("who asks", "callers, clients"),
    ("who wants", "callers, users"),
    ("who reads", "readers, callers"),
    ("who writes", "writers, callers"),
    ("who has", "users who have"),
    ("whoever", "callers, users"),
    ("so many", "this many"),
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("be told", "be reported"),
    ("what stands", "the content, the bytes"),
    ("what comes", "the input, the rest"),
    ("what came", "the input"),
    ("what is asked", "the request"),
    ("what was asked", "the request"),
    ("what is wanted", "the request"),
    ("worth to", "worth -ing"),
    ("anew", "again"),
    ("mends", "repairs"),
    ("mended", "repaired"),
    ("to be had", "available"),
    ("can't be had", "is not available"),
];

/// Folders with files that are not written by hand: `/target` is the one at the top.
const GENERATED: &[&str] = &["/target", "/dist", ".git", "corpus", "artifacts", "testdata", "node_modules", "blib"];
/// Files of other projects that our pages name, and one of an example.
const FOREIGN_FILES: &[&str] = &[
    "Zend/zend_compile.c",
    "active_support/cache/coder.rb",
    "active_support/key_generator.rb",
    "active_support/message_verifier.rb",
    "ext/standard/string.c",
    "ext/standard/url.c",
    "library.c",
    "lz4_Block_format.md",
    "lzf_d.c",
    "mine/ruby/marshal-zlib.rb",
    "php_memcached.c",
];

const EXTENSIONS: &[&str] = &["rs", "c", "h", "xs", "pm", "pl", "rb", "py", "php", "sh", "js", "md", "toml"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the checkout").to_owned()
}

/// All files of the checkout, by their paths below it.
fn list_files(folder: &Path, below: &str, files: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if entry.file_type().expect("a type").is_dir() {
            let at_top = format!("/{path}");
            if !GENERATED.iter().any(|skipped| *skipped == name || *skipped == at_top) {
                list_files(&entry.path(), &path, files);
            }
        } else {
            files.push(path);
        }
    }
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The comment of a line, or the prose of a page; empty, if there is none.
fn find_prose<'t>(name: &str, line: &'t str) -> &'t str {
    let comment = |mark: &str| line.find(mark).map_or("", |offset| &line[offset + mark.len()..]);
    match extension(name) {
        "md" if line.starts_with("    ") || line.starts_with('|') => "",
        "md" => line,
        "rs" | "js" | "php" => comment("//"),
        "c" | "h" | "xs" => [comment("/*"), line.trim_start().strip_prefix("* ").unwrap_or("")]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or(""),
        _ => line.trim_start().strip_prefix("# ").unwrap_or(""),
    }
}

/// How often a phrase is in a text, as whole words.
fn count_phrase(text: &str, phrase: &str) -> usize {
    let is_letter = |character: Option<char>| character.is_some_and(|one| one.is_alphanumeric() || one == '_');
    let is_whole = |offset: usize| {
        !is_letter(text[..offset].chars().next_back()) && !is_letter(text[offset + phrase.len()..].chars().next())
    };
    text.match_indices(phrase).filter(|(offset, _)| is_whole(*offset)).count()
}

/// The name that a line of Rust defines with one of these words.
fn find_defined_name<'t>(line: &'t str, words: &[&str]) -> Option<&'t str> {
    let mut rest = line.trim_start();
    for modifier in ["pub(crate) ", "pub(super) ", "pub ", "const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(modifier).unwrap_or(rest);
    }
    let rest = words.iter().find_map(|word| rest.strip_prefix(word)?.strip_prefix(' '))?;
    let len = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
    Some(&rest[..len])
}

fn is_test(name: &str) -> bool {
    name.split('/').any(|part| ["tests", "test", "t", "spec", "benches", "examples"].contains(&part))
        || name.ends_with("tests.rs")
}

#[derive(Default)]
struct Counts {
    phrases: BTreeMap<&'static str, usize>,
    names: usize,
    /// Where types of a crate are defined. A format's folder is a namespace of its own.
    types: BTreeMap<(String, String), usize>,
}

impl Counts {
    fn add_file(&mut self, name: &str, text: &str) {
        let is_rust = extension(name) == "rs" && !is_test(name);
        let namespace = match name.split_once("/format/").and_then(|(_, rest)| rest.split_once('/')) {
            Some((format, _)) => format.to_owned(),
            None => name.split('/').nth(1).unwrap_or_default().to_owned(),
        };
        let (mut is_block, mut is_code) = (false, is_rust);
        for line in text.lines() {
            is_block ^= line.trim_start().starts_with("```") && extension(name) == "md";
            is_code &= line != "#[cfg(test)]";
            if is_code {
                self.names +=
                    usize::from(find_defined_name(line, &["fn"]).is_some_and(|name| PRIVATE_NAMES.contains(&name)));
                if let Some(found) = find_defined_name(line, &["struct", "enum", "trait", "type"])
                    && !line.starts_with(' ')
                {
                    *self.types.entry((namespace.clone(), found.to_owned())).or_default() += 1;
                }
            }
            let prose = if is_block { String::new() } else { find_prose(name, line).to_lowercase() };
            for (phrase, _) in PHRASES {
                *self.phrases.entry(phrase).or_default() += count_phrase(&prose, phrase);
            }
        }
    }

    fn table(&self) -> BTreeMap<String, usize> {
        let twice = self.types.values().filter(|count| **count > 1).count();
        let phrases = self.phrases.values().sum();
        let rows = [("odd phrases", phrases), ("private names of functions", self.names), ("types of one name", twice)];
        rows.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }
}

fn count_words() -> Counts {
    let (root, mut files, mut counts) = (root(), Vec::new(), Counts::default());
    list_files(&root, "", &mut files);
    let is_ours = |name: &&String| {
        !name.starts_with("docs/bench/") && EXTENSIONS.contains(&extension(name)) && !name.ends_with("tests/words.rs")
    };
    for name in files.iter().filter(is_ours) {
        if let Ok(text) = fs::read_to_string(root.join(name)) {
            counts.add_file(name, &text);
        }
    }
    counts
}

#[test]
fn odd_phrases_do_not_increase() {
    let counts = count_words();
    let file = root().join("crates/icecore/tests/words.tsv");
    let table_now = counts.table();
    if std::env::var_os("UPDATE_WORDS").is_some() {
        let text: String = table_now.iter().map(|(name, count)| format!("{name}\t{count}\n")).collect();
        fs::write(&file, text).expect("the table is written");
    }
    let table = fs::read_to_string(&file).expect("words.tsv");
    for line in table.lines() {
        let (name, allowed) = line.split_once('\t').expect("a name and a number");
        let allowed: usize = allowed.parse().expect("a number");
        let count = table_now[name];
        let found: Vec<_> = counts.phrases.iter().filter(|(_, count)| **count > 0).collect();
        assert!(
            count <= allowed,
            "{name}: {count}, and {allowed} were allowed. Plain words are in docs/glossary.md; these phrases were \
             found, and what to write is in words.rs: {found:?}"
        );
        assert!(
            count + 25 > allowed,
            "{name}: only {count} are left. Write that down: UPDATE_WORDS=1 cargo test -p icecore --test engine words::"
        );
    }
}

/// Names in backticks that are files of this project, in comments and pages.
fn files_named(prose: &str) -> impl Iterator<Item = &str> {
    let is_file = |word: &&str| {
        let extension = extension(word);
        ["rs", "sh", "md", "toml", "tsv", "c", "h", "pl", "rb", "phpt", "xsh"].contains(&extension)
            && word.len() > extension.len() + 1
            && word.chars().all(|one| one.is_ascii_alphanumeric() || "._-/".contains(one))
    };
    prose.split('`').skip(1).step_by(2).filter(is_file)
}

#[test]
fn files_in_comments_and_pages_exist() {
    let (root, mut files) = (root(), Vec::new());
    list_files(&root, "", &mut files);
    let known: BTreeSet<&str> =
        files.iter().flat_map(|file| file.match_indices('/').map(|(offset, _)| &file[offset + 1..])).collect();
    let is_known =
        |name: &str| known.contains(name) || FOREIGN_FILES.contains(&name) || files.iter().any(|file| file == name);
    let mut missing = Vec::new();
    for name in files.iter().filter(|name| ["rs", "c", "h", "md"].contains(&extension(name))) {
        if is_test(name) || name.ends_with("CHANGELOG.md") {
            continue;
        }
        let text = fs::read_to_string(root.join(name)).unwrap_or_default();
        for (number, line) in (1..).zip(text.lines()) {
            missing.extend(
                files_named(find_prose(name, line))
                    .filter(|file| !is_known(file.trim_start_matches("../").trim_start_matches("./")))
                    .map(|file| format!("{name}:{number}: `{file}`")),
            );
        }
    }
    assert!(missing.is_empty(), "files that do not exist:\n{}", missing.join("\n"));
}
