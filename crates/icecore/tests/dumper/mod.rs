//! Lines of `fixtures/perl/dumper-write.pl`: what Data::Dumper writes.

use super::fixtures::base64;
use icecore::format::dumper::{self, WriteOptions};
use icecore::{Limits, Stage};
use serde_json::Value;

/// The settings of Data::Dumper, by their own names.
pub fn options(settings: &Value) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.list = true;
    // Data::Dumper checks nothing itself.
    options.trusted = true;
    let flag = |value: &Value| value.as_u64() == Some(1);
    for (name, value) in settings.as_object().expect("settings") {
        let text = || value.as_str().expect("text").to_owned();
        let number = || value.as_u64().expect("a number");
        match name.as_str() {
            "Indent" => options.indent = number() as u8,
            "Terse" => options.terse = flag(value),
            "Useqq" => options.useqq = flag(value),
            "Deepcopy" => options.deepcopy = flag(value),
            "Purity" => options.purity = flag(value),
            "Sortkeys" => options.sortkeys = flag(value),
            "Quotekeys" => options.quotekeys = flag(value),
            "Trailingcomma" => options.trailingcomma = flag(value),
            "Sparseseen" => options.sparseseen = flag(value),
            "Useperl" => options.useperl = flag(value),
            "Pad" => options.pad = text(),
            "Pair" => options.pair = text(),
            "Varname" => options.varname = text(),
            "Bless" => options.bless = text(),
            "Toaster" => options.toaster = Some(text()),
            "Maxdepth" => options.maxdepth = number() as u32,
            "Names" => {
                let names = value.as_array().expect("names").iter();
                options.names = names.map(|name| name.as_str().expect("a name").to_owned()).collect();
            }
            other => panic!("no setting {other}"),
        }
    }
    options
}

/// Removes the digits of addresses, which differ from run to run; the fixtures have none.
fn without_addresses(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(3).position(|window| window == b"(0x") {
        let (before, behind) = rest.split_at(at + 3);
        out.extend_from_slice(before);
        let digits = behind.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        rest = &behind[digits..];
    }
    out.extend_from_slice(rest);
    out
}

/// Compares our output with the texts of a line. Returns the number of texts, and the differences.
pub fn compare(line: &Value) -> (usize, Vec<String>) {
    let stage = Stage::parse(line["format"].as_str().expect("a format")).expect("a stage");
    let blob = base64(line["blob"].as_str().expect("a blob"));
    let limits = Limits::default();
    let document = icecore::read_as(&blob, &stage, &limits).expect("a document");
    let mut failures = Vec::new();
    let texts = line["texts"].as_array().expect("texts");
    for text in texts {
        let settings = &text[0];
        let theirs = base64(text[1].as_str().expect("a text"));
        let mut ours = Vec::new();
        let written = dumper::write(&document, &options(settings), &limits, &mut ours);
        let ours = without_addresses(&ours);
        if written.is_err() || ours != theirs {
            let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (theirs, ours) = (show(&theirs), show(&ours));
            let (name, format) = (&line["name"], &line["format"]);
            let error = written.err().map_or(String::new(), |error| error.to_string());
            let same = theirs.lines().zip(ours.lines()).take_while(|(a, b)| a == b).count();
            let part = |text: &str| text.lines().skip(same).take(3).collect::<Vec<_>>().join("\n");
            failures.push(format!(
                "{name} {format} {settings} {error}\nline {same}:\n{}\n--- but\n{}\n",
                part(&theirs),
                part(&ours)
            ));
        }
    }
    (texts.len(), failures)
}
