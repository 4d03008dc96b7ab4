//! The format of an output file, determined by its name.

use icecore::format::{self, Evidence, Format};
use icecore::text::printable;
use icecore_tables::form::JSON;
use std::path::Path;

/// Extensions that may follow the extension of a format, and the wrappers that they name.
const WRAPPER_EXTENSIONS: [(&str, &str); 3] = [("gz", "gzip"), ("zst", "zstd"), ("b64", "base64")];

/// Returns the format given with -t; without it, the format that the extension of the output file indicates; else JSON.
pub fn target_format(to: Option<&str>, output: Option<&Path>) -> String {
    let by_name = || output.and_then(format_from_path);
    to.map(str::to_owned).or_else(by_name).unwrap_or_else(|| JSON.to_owned())
}

/// Returns the note for an output file whose extension names no format, so that it becomes JSON.
pub fn unknown_extension_note(to: Option<&str>, output: Option<&Path>) -> Option<String> {
    let path = output.filter(|path| to.is_none() && format_from_path(path).is_none())?;
    let extension = path.extension()?.to_str()?;
    Some(format!("`.{}` names no format, so this is {JSON}; -t FORMAT chooses another", printable(extension)))
}

/// Returns the format that a file name indicates: its extension is the name of a format, or a common one for files of
/// that format.
fn format_from_path(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (mut rest, mut wrappers) = (&*name, String::new());
    while let Some((stem, extension)) = rest.rsplit_once('.') {
        if let Some((_, wrapper)) = WRAPPER_EXTENSIONS.iter().find(|(known, _)| *known == extension) {
            wrappers = wrappers + wrapper + "/";
            rest = stem;
            continue;
        }
        return format_from_extension(extension).map(|format| wrappers + format);
    }
    (!wrappers.is_empty()).then(|| wrappers + JSON)
}

fn format_from_extension(extension: &str) -> Option<&str> {
    if matches!(extension, "csv" | "tsv" | "parquet" | "arrow" | "arrows" | "feather") {
        return Some(extension);
    }
    let is_own_extension =
        |format: &&&Format| format.can.extension == extension || format.can.more_extensions.contains(&extension);
    let fits_extension = |format: &&&Format| is_own_extension(format) || format.aliases.contains(&extension);
    let by_extension = || format::all().iter().find(fits_extension).copied();
    let format = format::by_name(extension).or_else(by_extension)?;
    // A format that can't be detected needs options, so a file name does not choose it.
    (!matches!(format.can.evidence, Evidence::None)).then_some(format.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_give_the_format() {
        for (name, format) in [
            ("a.storable", Some("storable")),
            ("dir.php/a.PHP", Some("php")),
            ("a.ser", Some("php")),
            ("a.srl.zst", Some("zstd/sereal")),
            ("a.ser.b64.gz", Some("gzip/base64/php")),
            ("a.pl", Some("dumper")),
            ("a.nst", Some("storable")),
            ("a.gz", Some("gzip/json")),
            ("a.ndjson", Some("ndjson")),
            ("a.jsonl", Some("ndjson")),
            ("a.csv", Some("csv")),
            ("a.txt", None),
            ("a.bin", None),
            ("php", None),
            (".json", Some("json")),
        ] {
            assert_eq!(format_from_path(Path::new(name)).as_deref(), format, "{name}");
        }
        assert_eq!(target_format(Some("php"), Some(Path::new("a.json"))), "php");
        assert_eq!(target_format(None, None), "json");
        let note = |to, name: &str| unknown_extension_note(to, Some(Path::new(name)));
        assert!(note(None, "a.xyz").is_some_and(|note| note.starts_with("`.xyz` names no format")));
        assert_eq!((note(None, "a"), note(None, "a.php"), note(Some("php"), "a.xyz")), (None, None, None));
    }
}
