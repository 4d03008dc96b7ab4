//! Formats that are recognised, but can't be read.

use super::magic::MAGIC;
use super::{Finding, Sample};
use super::{bson, cbor, msgpack, pickle, text};
use crate::format::{Certainty, Guess};

/// A format whose detection takes more than a signature.
struct RecognizedFormat {
    name: &'static str,
    title: &'static str,
    detect: fn(&Sample<'_>) -> Option<Guess>,
}

static FOREIGN: &[RecognizedFormat] = &[
    RecognizedFormat { name: "java", title: "Java serialization", detect: detect_java },
    RecognizedFormat { name: "pickle", title: "Python pickle", detect: pickle::detect_pickle },
    RecognizedFormat { name: "plist", title: "Apple property list", detect: text::detect_plist },
    RecognizedFormat { name: "xml", title: "XML", detect: text::detect_xml },
    RecognizedFormat { name: "yaml", title: "YAML", detect: text::detect_yaml },
    RecognizedFormat {
        name: "perl-reference",
        title: "Perl reference that was printed as text, without its data",
        detect: text::detect_perl_reference,
    },
    RecognizedFormat {
        name: "rails-encrypted",
        title: "encrypted cookie of Rails",
        detect: text::detect_rails_encrypted,
    },
    RecognizedFormat { name: "php-literal", title: "PHP array as in source code", detect: text::detect_php_literal },
    RecognizedFormat { name: "bson", title: "BSON", detect: bson::detect_bson },
    RecognizedFormat { name: "msgpack", title: "MessagePack", detect: msgpack::detect_msgpack },
    RecognizedFormat { name: "cbor", title: "CBOR", detect: cbor::detect_cbor },
    RecognizedFormat { name: "pe", title: "DOS or Windows program", detect: detect_pe },
];

/// Names and titles of all formats that are recognised here.
pub(super) fn list_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let special = FOREIGN.iter().map(|foreign| (foreign.name, foreign.title));
    special.chain(MAGIC.iter().map(|magic| (magic.name, magic.title)))
}

/// Returns the best match.
pub(super) fn detect_recognized(sample: &Sample<'_>) -> Option<Finding> {
    if let Some(magic) = MAGIC.iter().find(|magic| magic.matches_input(sample.bytes)) {
        return Some(Finding {
            name: magic.name,
            title: magic.title,
            variant: magic.variant.to_owned(),
            certainty: Certainty::Sure,
            wrappers: Vec::new(),
            is_read: false,
            format: None,
        });
    }
    let mut best: Option<Finding> = None;
    for foreign in FOREIGN {
        let Some(Guess { certainty, variant }) = (foreign.detect)(sample) else { continue };
        if best.as_ref().is_none_or(|best| best.certainty < certainty) {
            let (name, title) = (foreign.name, foreign.title);
            best =
                Some(Finding { name, title, variant, certainty, wrappers: Vec::new(), is_read: false, format: None });
        }
    }
    best
}

/// `ObjectOutputStream`: a magic number, a version and a type code.
fn detect_java(sample: &Sample<'_>) -> Option<Guess> {
    match sample.bytes {
        [0xac, 0xed, 0, 5, 0x70..=0x7e, ..] => Some(Guess { certainty: Certainty::Sure, variant: "version 5".into() }),
        [0xac, 0xed, 0, 5] => Some(Guess { certainty: Certainty::Likely, variant: "version 5, empty".into() }),
        _ => None,
    }
}

/// Detects a DOS header that points to a PE header.
fn detect_pe(sample: &Sample<'_>) -> Option<Guess> {
    let bytes = sample.bytes;
    let offset = u32::from_le_bytes(*bytes.strip_prefix(b"MZ")?.get(0x3a..)?.first_chunk::<4>()?);
    let is_pe = bytes.get(usize::try_from(offset).ok()?..)?.starts_with(b"PE\0\0");
    is_pe.then(|| Guess { certainty: Certainty::Sure, variant: String::new() })
}
