//! Changes documents at paths: the result can be read, and the reverse change gives the same document.

use crate::{check, choice_from_bytes};
use icecore::alter::{Alteration, alter as apply_alterations};
use icecore::select::Pattern;
use icecore::{ClassMap, Document, Kind, Limits, Request, Stage, raw::flag, value::Comparison};

const STAGES: [&str; 10] =
    ["php", "json", "php-session", "var-export", "dumper", "ndjson", "igbinary", "marshal", "storable", "sereal"];

/// Values that are set.
const VALUES: [&str; 6] = ["7", "\"text \\u00e9\"", "null", "[1, {\"a\": 2.5}]", "{\"b\": []}", "true"];

pub fn alter(data: &[u8]) {
    let (limits, chosen) = (check::small_limits(), choice_from_bytes(data));
    for stage in STAGES {
        let stage = Stage::parse(stage).expect("a stage");
        // Alterations that any document must survive, even one that can't be read.
        for alteration in general_alterations() {
            check_alteration(data, &stage, &[alteration], &limits);
        }
        let Some(document) = read_document(data, &stage, &limits) else { continue };
        let count = document.nodes().len() as u32;
        let index = chosen % count.max(1);
        let path_text = document.full_path(index);
        let Ok(path) = Pattern::parse(&path_text) else { continue };
        let value = json_value(VALUES[chosen as usize / 7 % VALUES.len()]);
        let alterations = [
            Alteration::Delete(path.clone()),
            Alteration::Append(path.clone(), value.clone()),
            Alteration::RenameEntry(path.clone(), "new".to_owned()),
        ];
        for alteration in alterations {
            check_alteration(data, &stage, &[alteration], &limits);
        }
        let Some(altered) = check_alteration(data, &stage, &[Alteration::Set(path.clone(), value)], &limits) else {
            continue;
        };
        check_reversal(data, &stage, &document, index, &path_text, &altered);
    }
}

/// Alterations whose paths exist in most documents.
fn general_alterations() -> [Alteration; 5] {
    let path = |text: &str| Pattern::parse(text).expect("a path");
    [
        Alteration::Set(path("..*"), json_value("{\"a\": [1]}")),
        Alteration::Append(path("$"), json_value("\"x\"")),
        Alteration::Delete(path("$[-1]")),
        Alteration::RenameKey("a".to_owned(), "b".to_owned()),
        Alteration::RenameClass(ClassMap::parse("*=New\\*").expect("a map of classes")),
    ]
}

fn json_value(json: &str) -> Document<'static> {
    icecore::read(json.as_bytes()).expect("JSON").into_owned()
}

fn read_document<'b>(bytes: &'b [u8], stage: &Stage, limits: &Limits) -> Option<Document<'b>> {
    icecore::read_with(bytes, stage, Request::new(limits)).ok()
}

/// Checks that the result can be read; without a change it is the input, and an unreadable document is refused.
fn check_alteration(data: &[u8], stage: &Stage, alterations: &[Alteration], limits: &Limits) -> Option<Vec<u8>> {
    let altered = match apply_alterations(data, stage, alterations, limits) {
        Ok(altered) => altered,
        Err(refusal) => {
            let _ = refusal.to_string();
            return None;
        }
    };
    // Like the commands, this ignores a byte order mark at the beginning and blanks at the end.
    let bytes = altered.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&altered.bytes);
    let is_read = [bytes, bytes.trim_ascii_end()]
        .iter()
        .any(|bytes| read_document(bytes, stage, &check::wide_limits()).is_some());
    assert!(is_read, "{}", altered.bytes.escape_ascii());
    assert!(altered.is_changed || altered.bytes == data && !altered.is_rewritten);
    Some(altered.bytes)
}

/// Sets a changed plain value back, and checks that the document is as before.
fn check_reversal(data: &[u8], stage: &Stage, document: &Document<'_>, index: u32, path_text: &str, altered: &[u8]) {
    let node = document.nodes()[index as usize];
    let is_plain = matches!(node.kind, Kind::Null | Kind::Bool | Kind::Int | Kind::Float | Kind::Bytes | Kind::Text);
    let is_shared = node.flags & (flag::TARGET | flag::WEAK | flag::OVERLOAD) != 0;
    let path_leads_here = document.find(path_text).is_ok_and(|found| found.index() == index);
    // Containers, patterns and data frozen by a class accept only certain values. In Data::Dumper's text, numbers may
    // become strings.
    if !is_plain || is_shared || !path_leads_here || path_text.contains('#') || stage.format().name == "dumper" {
        return;
    }
    let old = document.part(index).expect("a part").into_owned();
    let path = Pattern::parse(path_text).expect("a path");
    let wide = check::wide_limits();
    let Ok(restored) = apply_alterations(altered, stage, &[Alteration::Set(path, old)], &wide) else { return };
    if restored.bytes != data {
        let reread = read_document(&restored.bytes, stage, &wide).expect("it was written to be read");
        let is_same = Comparison::new().any_ascii().equal(&reread, document);
        assert!(is_same, "{path_text} of {}: {}", data.escape_ascii(), restored.bytes.escape_ascii());
    }
}
