//! Format detection: every fixture is detected as its own format only, foreign files are called by
//! their names, and no ordinary file is taken for one of our formats.

use crate::common::usual_or_full;
use crate::fixtures;

use icecore::{detect::Finding, format::Certainty, identify};
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(top: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// Returns a name like `gzip/json`, for comparison.
fn full_name(found: Option<Finding>) -> String {
    found.map_or("unknown".to_owned(), |found| {
        let names: Vec<_> = found.wrappers.iter().copied().chain([found.name]).collect();
        names.join("/")
    })
}

/// The samples are named `FORMAT.anything` or `WRAPPER_FORMAT.anything`.
#[test]
fn foreign_formats_are_named() {
    let mut seen = 0;
    for path in files(&folder("tests/foreign")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "make.py" {
            continue;
        }
        // The content of data that can't be decompressed is not known.
        let is_closed = |wrapper: &str, is_built: bool| name.starts_with(wrapper) && !is_built;
        if is_closed("gzip_", cfg!(feature = "zlib"))
            || is_closed("zlib_", cfg!(feature = "zlib"))
            || is_closed("zstd_", cfg!(feature = "zstd"))
        {
            continue;
        }
        let expected = name.split('.').next().unwrap().replace('_', "/");
        let found = identify(&fs::read(&path).unwrap());
        assert!(found.as_ref().is_some_and(|found| found.certainty >= Certainty::Likely), "{name}: {found:?}");
        assert_eq!(full_name(found), expected, "{name}");
        seen += 1;
    }
    assert!(seen > 60, "only {seen} samples");
}

/// A part of a foreign file, or the file with an extra byte, is still not taken for one of our
/// formats. A format that is recognized by its structure alone is not recognized from a part.
#[test]
fn parts_of_foreign_files_are_not_detected_as_ours() {
    for path in files(&folder("tests/foreign")) {
        let bytes = fs::read(&path).unwrap();
        let full_format = full_name(identify(&bytes));
        let longer = [&bytes[..], b"\0"].concat();
        let parts = (0..bytes.len().min(400)).map(|len| &bytes[..len]).chain([&longer[..]]);
        for part in parts {
            let found = full_name(identify(part));
            let ours = ["storable", "sereal"].contains(&&*found);
            assert!(!ours, "{} cut to {} is {found}", path.display(), part.len());
            if ["msgpack", "cbor", "bson", "igbinary"].contains(&&*full_format) {
                // A shorter part may be complete by chance; a longer one may not.
                assert!(
                    path.ends_with("cbor.tagged") || part.len() < bytes.len() || found != full_format,
                    "{}",
                    path.display()
                );
            }
        }
    }
}

/// Rows: the formats of the fixtures. Columns: the formats that are detected.
#[test]
fn fixtures_are_detected_as_their_own_format() {
    let mut wrong = Vec::new();
    for (file, format, least) in [
        ("storable.jsonl", "storable", 2000),
        ("storable-arch.jsonl", "storable", 100),
        ("sereal.jsonl", "sereal", 2000),
    ] {
        let blobs = fixtures::load(file);
        assert!(blobs.len() >= least, "{file} has only {} fixtures", blobs.len());
        for fixture in blobs {
            let name = format!("{} {}", fixture.name, fixture.mode);
            let blob = fixture.blob;
            let found = identify(&blob);
            let is_sure = found.as_ref().is_some_and(|found| found.certainty >= Certainty::Likely);
            let found = full_name(found);
            // The header of a memory image of major version 1 in network order is a single byte. That
            // is not enough to name a format.
            if name.ends_with(" memory,1") && blob.first() == Some(&3) {
                assert_eq!(found, "unknown", "{name}");
                continue;
            }
            // The floats of these images can't be read unless their size is given.
            let is_sure = is_sure || name.starts_with("floats/") && name.ends_with(" memory,1");
            if found != format || !is_sure {
                wrong.push(format!("{file} {name}: {found}"));
            }
        }
    }
    for path in files(&folder("../../fixtures/files")) {
        let format = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let found = full_name(identify(&fs::read(&path).unwrap()));
        if found != format {
            wrong.push(format!("{}: {found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} are mistaken:\n{}", wrong.len(), wrong.join("\n"));
}

/// Files of this machine are detected as one of these formats only if they contain such data.
#[test]
fn ordinary_files_are_not_detected_as_ours() {
    const MAX_FILE_LEN: u64 = 1 << 20;
    let most_files = usual_or_full(2000, 6000);
    let mut paths = Vec::new();
    for top in ["/etc", "/bin", "/sbin", "/lib", "/usr/bin", "/usr/lib", "/usr/share", "/usr/include"] {
        // Every n-th file, so that all kinds of files are included.
        let all = files(Path::new(top));
        let step = all.len() / (most_files / 8) + 1;
        paths.extend(all.into_iter().step_by(step));
    }
    let mut checked = 0;
    for path in paths {
        let small = path.metadata().is_ok_and(|known| known.len() <= MAX_FILE_LEN);
        let Some(bytes) = small.then(|| fs::read(&path).ok()).flatten() else { continue };
        checked += 1;
        let found = identify(&bytes);
        let Some(format) = found.as_ref().and_then(|found| found.format) else { continue };
        // Perl keeps some of its own data as Storable, and Ruby its help pages as Marshal; JSON is
        // everywhere, and PHP files may return a value.
        let is_data = match format.name {
            "json" => true,
            "storable" => bytes.starts_with(b"pst0"),
            // Ruby stores its documentation this way.
            "marshal" => path.extension().is_some_and(|end| end == "ri"),
            // Perl has its own tables in this form.
            "dumper" => path.extension().is_some_and(|end| end == "pl" || end == "pm" || end == "ph"),
            "var-export" => path.extension().is_some_and(|end| end == "php"),
            _ => bytes.starts_with(b"=srl") || bytes.starts_with(b"=\xf3rl"),
        };
        assert!(is_data, "{} is taken for {}", path.display(), format.name);
        if format.name == "json" && found.is_some_and(|found| found.wrappers.is_empty()) {
            assert!(bytes.trim_ascii().is_ascii() || std::str::from_utf8(&bytes).is_ok(), "{}", path.display());
        }
    }
    println!("{checked} files");
}

#[test]
fn random_bytes_do_not_panic_detection() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    // Mutations of the samples reach deeper than noise does.
    let samples: Vec<_> = files(&folder("tests/foreign")).iter().map(|path| fs::read(path).unwrap()).collect();
    for round in 0..20_000 {
        let mut bytes = samples[round % samples.len()].clone();
        bytes.truncate(600);
        for _ in 0..1 + random() % 4 {
            let offset = random() as usize % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(offset) {
                *byte = random() as u8;
            }
        }
        let _ = identify(&bytes);
        let _ = icecore::detect::identify_head(&bytes);
        let _ = icecore::detect::stage_of(&bytes);
    }
}

/// Deep nesting and false lengths cost no more than the bytes that are present.
#[test]
fn hostile_bytes_need_no_deep_stack() {
    let deep = |byte: u8| vec![byte; 1_000_000];
    let samples = [
        deep(0x91),
        deep(0x81),
        deep(0x9f),
        deep(0xdd),
        deep(0xc6),
        deep(b'('),
        [b"\x04\x08".to_vec(), deep(b'[')].concat(),
        [b"\x04\x08".to_vec(), b"[\x06".repeat(500_000)].concat(),
        [b"\0\0\0\x02".to_vec(), b"\x14\x01\x06\x00".repeat(200_000)].concat(),
        b"a:1:{i:0;".repeat(200_000),
        b"array(".repeat(200_000),
        b"[".repeat(1_000_000),
        b"\x80\x04((((((((((((((((((((((((((((((".repeat(30_000),
        b"\xdd\xff\xff\xff\xff\x01\x02".to_vec(),
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01".to_vec(),
        b"\x80\x05\x8e\xff\xff\xff\xff\xff\xff\xff\xff.".to_vec(),
    ];
    let run = move || {
        for sample in &samples {
            let _ = identify(sample);
            let _ = icecore::detect::identify_head(sample);
        }
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
}

/// A blob that begins like a format, and that the format reads as a list, a map or an object, is
/// not detected as anything else.
#[test]
fn formats_that_read_a_container_are_detected() {
    let mut seen = std::collections::BTreeMap::new();
    let files = ["php", "php-session", "igbinary", "marshal", "storable", "sereal", "var-export", "dumper-read"];
    let mut check = |blob: &[u8]| {
        for format in icecore::format::all().iter().filter(|format| icecore::detect::settles(format, blob)) {
            let limits = icecore::Limits::default();
            let outcome = format.read(blob, &icecore::format::Settings::new(), icecore::Request::new(&limits));
            let root = outcome.document.root().kind();
            if outcome.error.is_none() && outcome.consumed == blob.len() && root.is_container() {
                let stage = icecore::detect::stage_of(blob).map(|stage| stage.to_string());
                assert_eq!(stage.as_deref(), Ok(format.name), "{}", blob.escape_ascii());
                *seen.entry(format.name).or_insert(0) += 1;
            }
        }
    };
    for file in files {
        for fixture in fixtures::load(&format!("{file}.jsonl")) {
            check(&fixture.blob);
            // The same data as JSON, and with single bytes changed.
            let from = icecore::detect::stage_of(&fixture.blob).map(|stage| stage.to_string());
            if let Ok(Ok(json)) = from.map(|from| icecore::convert(&fixture.blob, &from, "json")) {
                check(&json);
            }
            for offset in (0..fixture.blob.len().min(64)).step_by(usual_or_full(5, 1)) {
                let mut other = fixture.blob.clone();
                other[offset] = b"{[\"a:;1}]\0"[offset % 10];
                check(&other);
            }
        }
    }
    for format in ["json", "php", "igbinary", "marshal", "storable", "sereal"] {
        assert!(seen.get(format).is_some_and(|count| *count > 500), "{seen:?}");
    }
}

#[test]
fn a_large_document_in_a_wrapper_is_detected() {
    // Detection unpacks the first megabyte, which can't hold as many items as the list promises.
    let mut text = b"a:600000:{".to_vec();
    for index in 0..600_000 {
        text.extend_from_slice(format!("i:{index};i:7;").as_bytes());
    }
    text.push(b'}');
    let mut marshal = vec![4, 8, b'[', 3, 0xc0, 0xc6, 0x2d];
    marshal.extend_from_slice(&[b'i', 6].repeat(3_000_000));
    for (name, bytes) in [("php", &text), ("marshal", &marshal)] {
        for wrapper in ["gzip", "zstd", "base64"] {
            let stage = format!("{wrapper}/{name}");
            let wrapped = icecore::convert(bytes, name, &stage).unwrap_or_else(|error| panic!("{stage}: {error}"));
            let found = icecore::detect::stage_of(&wrapped).unwrap_or_else(|error| panic!("{stage}: {error}"));
            assert_eq!(found.name(), stage);
            let finding = icecore::identify(&wrapped).unwrap_or_else(|| panic!("{stage}"));
            assert_eq!((finding.name, finding.is_read), (name, true), "{stage}");
        }
    }
}
