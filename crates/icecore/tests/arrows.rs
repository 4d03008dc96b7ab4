//! Dependencies between the modules of the engine point one way: inwards, down this list.
//!
//! Every `crate::…` and `super::…` of every file is looked at, outside of tests and
//! comments. There is no list of exceptions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules, from those that need nothing to those that everyone may use. A module
/// uses what stands above it here.
const LAYERS: &[&str] = &[
    "steps",
    "hash",
    "shortened",
    "printable",
    "spreadsheet",
    "suggest",
    "near",
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

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The path of a file's module below the crate: `["format", "json", "read"]`.
fn module(root: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(root).unwrap().with_extension("");
    let mut names: Vec<_> = below.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// The text without comments and without its tests.
fn code(text: &str) -> String {
    let without = |text, tests| str::split(text, tests).next().unwrap();
    let text = ["#[cfg(test)]\nmod tests", "#[cfg(test)]\npub mod tests"].into_iter().fold(text, without);
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The paths behind `crate::` and `super::`, as far as they are names, from the crate on.
fn named(code: &str, module: &[String]) -> BTreeSet<Vec<String>> {
    let mut paths = BTreeSet::new();
    for (prefix, base) in [("crate::", &[][..]), ("super::", module)] {
        for (at, _) in code.match_indices(prefix) {
            let before = &code[..at];
            // The second of `super::super::` was counted with the first; of `a::crate::`
            // there is none.
            if before.ends_with("::") || before.ends_with(|last: char| last.is_alphanumeric() || last == '_') {
                continue;
            }
            let mut rest = &code[at..];
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

/// The paths that `rest` begins with: a name, `name::…`, or `{…}` of such.
fn collect(rest: &str, path: &[String], paths: &mut BTreeSet<Vec<String>>) {
    if let Some(inside) = rest.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (at, byte) in inside.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                b',' | b'}' if depth == 0 => {
                    collect(inside[start..at].trim(), path, paths);
                    start = at + 1;
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

/// The files, with their modules and what they name.
fn uses() -> Vec<(PathBuf, Vec<String>, BTreeSet<Vec<String>>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 200, "{} files", files.len());
    let of = |file: PathBuf| {
        let module = module(&root, &file);
        let named = named(&code(&fs::read_to_string(&file).unwrap()), &module);
        (file, module, named)
    };
    files.into_iter().map(of).collect()
}

#[test]
fn every_arrow_points_inwards() {
    let level = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let mut upwards = Vec::new();
    let mut arrows = 0;
    for (file, module, named) in uses() {
        let Some(from) = module.first() else { continue };
        let own = level(from).unwrap_or_else(|| panic!("{}: in which layer is `{from}`?", file.display()));
        for path in named {
            // What the crate exports at its root is for those outside.
            let Some(to) = level(&path[0]) else {
                upwards.push(format!("{}: `crate::{}` is no module", file.display(), path.join("::")));
                continue;
            };
            arrows += 1;
            if to > own {
                upwards.push(format!("{}: {}", file.display(), path.join("::")));
            }
        }
    }
    assert!(arrows > 1000, "{arrows} arrows were found");
    assert!(upwards.is_empty(), "{} arrows point outwards:\n{}", upwards.len(), upwards.join("\n"));
}

#[test]
fn no_format_uses_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format");
    let folders: BTreeSet<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("FORMAT.md").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert!(folders.len() > 8, "{folders:?}");
    for (file, module, named) in uses() {
        // Who is no format knows none: the registry has them.
        let own = module.get(1).filter(|own| module[0] == "format" && folders.contains(*own));
        let is_other = |path: &&Vec<String>| {
            path[0] == "format" && path.len() > 1 && folders.contains(&path[1]) && Some(&path[1]) != own
        };
        let other = named.iter().find(is_other).filter(|_| !module.is_empty());
        assert!(other.is_none(), "{}: {other:?}", file.display());
    }
}

/// Names of formats in the code beside the registry: each has a reason of its own. What a
/// signed message of Rails has in it, what rows and their values are written as, the
/// default of `-t`, how an input of `replace` is written, whether Ruby looks up the classes that stand in data as
/// values, the word of an option that happens to be the same.
#[test]
fn few_places_name_a_format() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut places = Vec::new();
    for krate in ["icecore", "icecore-cli", "icecore-capi"] {
        let mut files = Vec::new();
        sources(&crates.join(krate).join("src"), &mut files);
        for file in files.iter().filter(|file| !file.iter().any(|part| part == "format")) {
            let text = code(&fs::read_to_string(file).unwrap());
            // Names of options are no formats.
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
