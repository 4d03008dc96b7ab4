//! Detection of wrappers: compressed data, Base64, hex and others.

use super::{Finding, Sample, identify_in};
use crate::format::Certainty;
use crate::wrap::{self, Wrapper, WrapperEvidence};

/// Maximum number of unwrapped bytes that are examined.
pub(super) const MAX_CONTENT_LEN: usize = 1 << 20;

/// Names and titles of wrappers that are recognised, but can't be removed.
pub(super) static CLOSED: &[(&str, &str)] = &[("bzip2", "bzip2-compressed data")];

pub(super) fn detect_wrapper(sample: &Sample<'_>, level: u32) -> Option<Finding> {
    if let [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] = sample.bytes {
        return CLOSED.first().map(|(name, title)| wrapper_finding(name, title));
    }
    wrap::all().iter().filter(|wrapper| (wrapper.detect)(sample.bytes)).find_map(|wrapper| {
        let head = wrapper.content_head(sample.bytes, sample.is_complete, MAX_CONTENT_LEN);
        let finding = head.as_ref().and_then(|head| detect_content(wrapper, &head.bytes, head.is_complete, level));
        let is_plain = match wrapper.evidence {
            WrapperEvidence::Magic => true,
            WrapperEvidence::Content => head.is_some(),
            WrapperEvidence::Envelope | WrapperEvidence::Text => false,
        };
        finding.or_else(|| is_plain.then(|| wrapper_finding(wrapper.name, wrapper.title)))
    })
}

/// Compressed data is recognised whatever it contains.
fn wrapper_finding(name: &'static str, title: &'static str) -> Finding {
    Finding {
        name,
        title,
        variant: String::new(),
        certainty: Certainty::Sure,
        wrappers: Vec::new(),
        is_read: false,
        format: None,
    }
}

/// Returns the format of the content, if it can be detected.
fn detect_content(wrapper: &Wrapper, bytes: &[u8], is_complete: bool, level: u32) -> Option<Finding> {
    let mut finding = identify_in(&Sample { bytes, is_complete }, level + 1)?;
    if finding.certainty < Certainty::Likely {
        return None;
    }
    finding.wrappers.insert(0, wrapper.name);
    Some(finding)
}
