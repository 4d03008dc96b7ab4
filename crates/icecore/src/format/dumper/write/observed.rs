//! The recorded settings of a text that was read.

use super::super::options::WriteOptions;
use super::super::{NAME, spelling as code};
use crate::document::{Document, Spelling};

impl WriteOptions {
    /// Data::Dumper's defaults, and what the text showed that the document was read
    /// from, if it was.
    pub(in crate::format::dumper) fn observed(document: &Document<'_>) -> WriteOptions {
        let mut options = WriteOptions::default();
        let Some(spelling) = document.spelling_of(NAME) else { return options };
        let flag = |code| spelling.get(code) == Some(1);
        options.indent = spelling.get(code::INDENT).map_or(options.indent, |indent| indent.min(3) as u8);
        options.terse = flag(code::TERSE);
        options.useqq = flag(code::USEQQ);
        options.quotekeys = spelling.get(code::QUOTEKEYS) != Some(0);
        options.trailingcomma = flag(code::TRAILINGCOMMA);
        options.purity = flag(code::PURITY);
        options.list = flag(code::LIST);
        for (code, option) in
            [(code::PAD, &mut options.pad), (code::PAIR, &mut options.pair), (code::BLESS, &mut options.bless)]
        {
            if let Some(text) = spelling.get(code).and_then(|at| text(spelling, at)) {
                *option = text;
            }
        }
        let names = spelling.header.iter().filter(|(known, _)| *known == code::NAME);
        options.names = names.filter_map(|(_, at)| text(spelling, *at)).map(|name| as_given(&name)).collect();
        options
    }
}

fn text(spelling: &Spelling, at: u64) -> Option<String> {
    std::str::from_utf8(spelling.kept(at)).ok().map(str::to_owned)
}

/// The name as it is given to Data::Dumper: a star stands for what the value is.
fn as_given(name: &str) -> String {
    match name.strip_prefix(['@', '%']) {
        Some(name) => format!("*{name}"),
        None => name.to_owned(),
    }
}
