//! Dependencies between modules point one way. The engine and the command have lists of layers: a
//! module uses only those above it. In every other crate no module leads back to itself.
//!
//! Every `crate::…` and `super::…` of every file is checked, except in tests and comments. There is
//! no list of exceptions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the engine, starting with those that depend on nothing. A module uses only those
/// above it in this list.
const LAYERS: &[&str] = &[
    "steps",
    "hash",
    "shortened",
    "printable",
    "spreadsheet",
    "suggest",
    "find_byte",
    "html_entities",
    "base64",
    "num",
    "error",
    "limits",
    "options",
    "losses",
    "edit",
    "string_locations",
    "class_map",
    "encoding",
    "document",
    "policy",
    "output",
    "compress",
    "known",
    "serde_values",
    "regexp",
    "format",
    "wrap",
    "stage",
    "detect",
    "codec",
    "deep",
    "rewrite",
    "converter",
    "api",
    "salvage",
    "select",
    "alter",
];

/// Modules of the command, in the same order.
const COMMAND_LAYERS: &[&str] = &[
    // Words and numbers.
    "allocator",
    "secrets",
    "json",
    "limits",
    // The terminal; it does not know any command.
    "tty",
    "paint",
    "short_help",
    "shell_words",
    "hints",
    "signals",
    "pager",
    "progress",
    "screen",
    // Messages on stderr, and how a command ends.
    "report_message",
    "report",
    // Input and output.
    "class_map",
    "terminal",
    "output_writer",
    "stream",
    "file_id",
    "file_bytes",
    "source",
    "target",
    "records",
    "csv_style",
    // Suggestions for mistyped arguments.
    "mistakes",
    // Databases, and the arguments that commands share.
    "foreign_input",
    "database",
    "key_args",
    "arguments",
    "document_reader",
    // The commands, and the table of them.
    "commands",
    "cli",
];

/// Modules of the crate for tables, in the same order.
const TABLE_LAYERS: &[&str] = &[
    // Words, numbers, errors.
    "plural",
    "filter",
    "error",
    // An input, from its first bytes on.
    "byte_order_mark",
    "unicode",
    "charset",
    "packing",
    "window",
    "form",
    "csv",
    // Batches that pass through threads, and their counts.
    "pool",
    "tally",
    "record_converter",
    // Operations on rows.
    "rows",
    "replace",
];

/// Collects the files with code. `tests.rs` contains the tests of a module and is left out.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// Returns the path of a file's module below the crate: `["format", "json", "read"]`.
fn module(root: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(root).unwrap().with_extension("");
    let mut names: Vec<_> = below.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// Returns the text without comments and tests.
fn code(text: &str) -> String {
    let without = |text, tests| str::split(text, tests).next().unwrap();
    let text = ["#[cfg(test)]\nmod tests", "#[cfg(test)]\npub mod tests"].into_iter().fold(text, without);
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Returns the paths after `crate::` and `super::`, as far as they are names, relative to the crate.
fn list_named_paths(code: &str, module: &[String]) -> BTreeSet<Vec<String>> {
    let mut paths = BTreeSet::new();
    for (prefix, base) in [("crate::", &[][..]), ("super::", module)] {
        for (offset, _) in code.match_indices(prefix) {
            let before = &code[..offset];
            // The second part of `super::super::` was counted with the first, and `a::crate::` does not
            // occur.
            if before.ends_with("::") || before.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                continue;
            }
            let mut rest = &code[offset..];
            let mut path = base.to_vec();
            while let Some(more) = rest.strip_prefix("super::") {
                path.pop();
                rest = more;
            }
            rest = rest.strip_prefix("crate::").unwrap_or(rest);
            collect(rest, &path, &mut paths);
        }
    }
    paths
}

/// Collects the paths at the start of `rest`: a name, `name::…`, or `{…}` around several.
fn collect(rest: &str, path: &[String], paths: &mut BTreeSet<Vec<String>>) {
    if let Some(inside) = rest.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (offset, byte) in inside.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                b',' | b'}' if depth == 0 => {
                    collect(inside[start..offset].trim(), path, paths);
                    start = offset + 1;
                    if byte == b'}' {
                        return;
                    }
                }
                _ => {}
            }
        }
        return;
    }
    let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if len == 0 {
        return;
    }
    let path = [path, &[rest[..len].to_owned()]].concat();
    match rest[len..].strip_prefix("::") {
        Some(more) if more.starts_with(|first: char| first == '{' || first == '_' || first.is_alphabetic()) => {
            collect(more, &path, paths);
        }
        _ => {
            paths.insert(path);
        }
    }
}

/// A file of a crate: its module, and the paths it names.
struct Source {
    file: PathBuf,
    module: Vec<String>,
    named: BTreeSet<Vec<String>>,
}

/// Reads the files of a crate.
fn read_crate(name: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let read = |file: PathBuf| {
        let module = module(&root, &file);
        let paths_in_code = list_named_paths(&code(&fs::read_to_string(&file).unwrap()), &module);
        Source { file, module, named: paths_in_code }
    };
    files.into_iter().map(read).collect()
}

/// Checks that each module uses only those above it in the list. Returns the number of uses checked.
fn check_layers(name: &str, layers: &[&str]) -> usize {
    let level = |name: &str| layers.iter().position(|layer| *layer == name);
    let mut upwards = Vec::new();
    let mut arrows = 0;
    for Source { file, module, named } in read_crate(name) {
        let Some(from) = module.first().filter(|first| *first != "main") else { continue };
        let own = level(from).unwrap_or_else(|| panic!("{}: in which layer is `{from}`?", file.display()));
        for path in named {
            // Exports at the root of the crate are for other crates only.
            let Some(to) = level(&path[0]) else {
                upwards.push(format!("{}: `crate::{}` is not a module", file.display(), path.join("::")));
                continue;
            };
            arrows += 1;
            if to > own {
                upwards.push(format!("{}: {}", file.display(), path.join("::")));
            }
        }
    }
    assert!(upwards.is_empty(), "{} arrows point outwards:\n{}", upwards.len(), upwards.join("\n"));
    arrows
}

#[test]
fn modules_use_only_the_layers_above_them() {
    let arrows = check_layers("icecore", LAYERS);
    assert!(arrows > 1000, "{arrows} arrows were found");
    let arrows = check_layers("icecore-cli", COMMAND_LAYERS);
    assert!(arrows > 200, "{arrows} arrows were found");
    let arrows = check_layers("icecore-tables", TABLE_LAYERS);
    assert!(arrows > 100, "{arrows} arrows were found");
}

/// Returns a path of uses from a module back to itself, if there is one.
fn find_cycle(uses: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    for start in uses.keys() {
        let mut paths = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = paths.pop() {
            for next in uses.get(&way[way.len() - 1]).into_iter().flatten() {
                if next == start {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    paths.push([&way[..], std::slice::from_ref(next)].concat());
                }
            }
        }
    }
    None
}

#[test]
fn no_crate_has_a_cycle_of_modules() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut count = 0;
    for entry in fs::read_dir(crates).unwrap() {
        let entry = entry.unwrap();
        if !entry.path().join("src").is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        let sources = read_crate(&name);
        let modules: BTreeSet<&String> = sources.iter().filter_map(|source| source.module.first()).collect();
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in &sources {
            let Some(from) = source.module.first() else { continue };
            let others = source.named.iter().map(|path| &path[0]).filter(|to| *to != from && modules.contains(to));
            uses.entry(from.clone()).or_default().extend(others.cloned());
        }
        let cycle = find_cycle(&uses);
        assert!(cycle.is_none(), "{name}: {}", cycle.unwrap_or_default().join(" -> "));
        count += 1;
    }
    assert!(count > 10, "{count} crates");
}

#[test]
fn find_cycle_finds_a_cycle() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        uses
    };
    assert!(find_cycle(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])).is_none());
    assert!(find_cycle(&uses(&[("a", "b"), ("b", "c"), ("c", "b")])).is_some());
}

#[test]
fn no_format_uses_another_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format");
    let folders: BTreeSet<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("FORMAT.md").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert!(folders.len() > 8, "{folders:?}");
    for Source { file, module, named } in read_crate("icecore") {
        // A module outside the formats names none of them: the registry does.
        let own = module.get(1).filter(|own| module[0] == "format" && folders.contains(*own));
        let is_other = |path: &&Vec<String>| {
            path[0] == "format" && path.len() > 1 && folders.contains(&path[1]) && Some(&path[1]) != own
        };
        let other = named.iter().find(is_other).filter(|_| !module.is_empty());
        assert!(other.is_none(), "{}: {other:?}", file.display());
    }
}

/// Places outside the registry that name a format. Each has its own reason: the content of a signed
/// message of Rails, the format of rows and their values, the default of `-t`, how an input of
/// `replace` is written, whether Ruby looks up the classes that the data contains as values, and an
/// option that has the same name by chance.
#[test]
fn only_listed_places_name_a_format() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut places = Vec::new();
    for krate in ["icecore", "icecore-cli", "icecore-tables", "icecore-capi"] {
        let mut files = Vec::new();
        sources(&crates.join(krate).join("src"), &mut files);
        for file in files.iter().filter(|file| !file.iter().any(|part| part == "format")) {
            let text = code(&fs::read_to_string(file).unwrap());
            // Names of options are not formats.
            for line in text.lines().filter(|line| !line.contains("conflicts_with")) {
                let literals = line.split('"').skip(1).step_by(2);
                let name = |text: &str| text.split([':', '/']).next().and_then(icecore::format::by_name);
                if literals.clone().any(|text| name(text).is_some()) {
                    places.push(format!("{}: {}", file.display(), line.trim()));
                }
            }
        }
    }
    assert!(places.len() <= 16, "{} places:\n{}", places.len(), places.join("\n"));
}
