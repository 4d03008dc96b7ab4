//! The seeds of fuzzing: the blobs of `fixtures/`, and some JSON.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// Maximum length of a seed. Longer ones only make each execution slow.
const MAX_SEED_LEN: usize = 2_048;

/// Returns the folder of the fixtures.
pub fn fixtures_folder() -> PathBuf {
    std::env::var_os("ICECORE_FIXTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"), PathBuf::from)
}

/// Returns the distinct blobs of these files, the shortest first.
pub fn load_seeds(files: &[&str]) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for file in files {
        match *file {
            "sql" => seeds.extend(SQL.iter().map(|text| text.as_bytes().to_vec())),
            "json" => seeds.extend(JSON.iter().map(|text| text.as_bytes().to_vec())),
            _ => seeds.extend(read_blobs(&fixtures_folder().join(file))),
        }
    }
    seeds.retain(|seed| seed.len() <= MAX_SEED_LEN);
    seeds.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    seeds.dedup();
    assert!(!seeds.is_empty(), "no seeds in {files:?}");
    seeds
}

fn read_blobs(path: &Path) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().filter_map(parse_blob).collect()
}

/// Returns the blob of a line, or the typed JSON of a line that describes an expected document.
fn parse_blob(line: &str) -> Option<Vec<u8>> {
    if let Some(start) = line.find("\"typed\":") {
        return Some(line.as_bytes()[start + 8..line.len() - 1].to_vec());
    }
    let line: Value = serde_json::from_str(line).expect("a line of JSON");
    line["blob"].as_str().map(decode_base64)
}

/// Decodes Base64 with padding.
pub fn decode_base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for value in text.bytes().map_while(|c| digits.iter().position(|digit| *digit == c)) {
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// Small dumps. The first byte selects how they are read.
const SQL: &[&str] = &[
    "\0-- MySQL dump 10\nCREATE TABLE `t` (`a` text, b blob, KEY (a));\nINSERT INTO `t` VALUES (1,'it\\'s','x''y',0xAB),(2,NULL,_binary '\\0');\n",
    "\u{1}/*!50003 SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES' */;\nINSERT INTO \"t\" SET a='\\', b=\"x\";\nDELIMITER ;;\nCREATE TRIGGER x BEGIN END;;\nDELIMITER ;\n",
    "\u{2}-- PostgreSQL database dump\nCREATE TABLE public.t (a text, b bytea);\nCOPY public.t (a, b) FROM stdin;\na\\tb\t\\\\x4142\n\\N\t\\\\000\n\\.\nSELECT $x$ ' $x$, E'\\'', '\\x41';\n",
    "\u{3}PRAGMA foreign_keys=OFF;\nCREATE TABLE [t](a,b);\nINSERT INTO t VALUES(replace(replace('a\\nb\\r','\\r',char(13)),'\\n',char(10)),unistr('\\u0041'));\nINSERT INTO t VALUES(X'41','it''s');\n",
    "\u{7}insert ignore into d.t (b, `a``x`) values ('1', N'y') on duplicate key update a='4';update t set x='7', z='8' where k='9';",
];

/// JSON of every kind, valid and invalid.
const JSON: &[&str] = &[
    "null",
    " true ",
    "[false,0,-0,1.5,-1e10,1E+2,2e-3,1e400,1e-400,18446744073709551615,18446744073709551616,-9223372036854775809]",
    "[0.1,1.7976931348623157e308,4.9e-324,123456789012345678901234567890,1.00000000000000011102230246251565]",
    r#"{"a":1,"b":[{"a":2,"b":[]},{"a":3,"b":[{}]}],"a":"again"}"#,
    r#"["","\u0000","\ud834\udd1e","\ud834","\"\\\/\b\f\n\r\t","caf\u00e9","café","𝄞","\u2028"]"#,
    "[1,]",
    "{\"a\":}",
    "[01]",
    "[1.]",
    "\u{feff}[]",
    "[\"\t\"]",
    "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    r#"{"$icecore":1,"$strings":"bytes","$value":{"$class":"A","$value":{"$id":1,"$value":[{"$link":1}]}}}"#,
    r#"[{"id":1,"name":"Employee_1","age":21},{"id":2,"name":"Employee_2","age":22},{"id":3,"name":"Employee_3","age":23}]"#,
];
