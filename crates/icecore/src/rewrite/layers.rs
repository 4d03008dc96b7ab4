//! Layers around frozen data: escapes and wrappers.

use super::string_rewriter::{ProbeResult, StringRewriter};
use super::{Edits, raw_edits, trimmed};
use crate::deep::LEVELS;
use crate::edit::Escaping;
use crate::error::{Error, ErrorKind};
use crate::format::strings::Damage;
use crate::options::Settings;
use crate::stage::Stage;
use crate::wrap::{self, Changing, Unwrapped, Wrapper, WrapperEvidence};
use std::borrow::Cow;

impl StringRewriter<'_> {
    /// Returns the changes of the content of these bytes in this stage.
    pub(super) fn change_stage(&mut self, bytes: &[u8], stage: &Stage, level: u32) -> Result<Edits, Error> {
        let Some(outer) = stage.wrappers().first() else {
            let limits = self.limits.clone();
            let edits = self.change_document(stage.format(), stage.settings(), bytes, &limits, level);
            return match edits {
                Err(error) if matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated) => {
                    self.change_repaired(stage.format(), bytes, Damage::Whole, level)?.ok_or(error)
                }
                edits => edits,
            };
        };
        let (wrapper, settings) = (outer.wrapper(), outer.settings());
        let Some(inner) = stage.inner() else { return Ok(Edits::new()) };
        let refuse =
            |finding: &'static str| Error::new(ErrorKind::Unsupported).in_format(wrapper.name).finding(finding);
        let edits = match wrapper.changing {
            Changing::Never => return Err(refuse("signed data, which is not changed")),
            Changing::Escaped(escapings) => {
                let decoded = escapings.iter().find_map(|escaping| Some((*escaping, escaping.decode(bytes)?)));
                let Some((escaping, decoded)) = decoded else { return Err(refuse("other escapes")) };
                let edits = self.change_stage(decoded.text(), &inner, level + 1)?;
                raw_edits(bytes, &decoded, &edits, escaping)
            }
            Changing::Allowed | Changing::OnRequest(_) => {
                let unwrapped = (wrapper.unwrap)(bytes, settings, &self.limits)?;
                self.spend_decompressed(bytes.len(), unwrapped.bytes.len());
                let edits = self.change_stage(&unwrapped.bytes, &inner, level + 1)?;
                let settings = match wrapper.changing {
                    Changing::OnRequest(Some(detect_settings)) => detect_settings(bytes),
                    _ => settings.clone(),
                };
                let settings = with_stored_properties(wrapper, settings, &unwrapped.metadata);
                rewrap_edits(wrapper, &settings, bytes, &unwrapped.bytes, &edits)
            }
        };
        self.tally.frozen.add(wrapper.name, 1);
        edits.ok_or_else(|| refuse("data that would be wrapped in another way"))
    }

    /// Returns the result for the content of a wrapper, if that is frozen data.
    pub(super) fn change_wrapped(&mut self, bytes: &[u8], level: u32) -> Option<ProbeResult> {
        if level >= LEVELS {
            let is_escaped =
                |escaping: &&'static (dyn Escaping + Sync)| escaping.decode(bytes).is_some_and(|text| !text.is_plain());
            let has_escapes = |wrapper: &&'static Wrapper| match wrapper.changing {
                Changing::Escaped(escapings) => escapings.iter().any(is_escaped),
                _ => false,
            };
            return wrap::all().iter().any(has_escapes).then(|| self.keep_beyond_limit(bytes));
        }
        for wrapper in wrap::all() {
            let result = match wrapper.changing {
                Changing::Escaped(escapings) => Some(self.change_escaped(wrapper, escapings, bytes, level)),
                Changing::OnRequest(_) if !self.options.base64 => None,
                Changing::Never => (wrapper.detect)(bytes).then(|| self.count_signed(wrapper, bytes, level)),
                _ => (wrapper.detect)(bytes).then(|| self.change_unwrapped(wrapper, bytes, level)),
            };
            if let Some(edits) = result.flatten() {
                return Some(edits);
            }
        }
        None
    }

    fn change_escaped(
        &mut self,
        wrapper: &Wrapper,
        escapings: &[&'static (dyn Escaping + Sync)],
        bytes: &[u8],
        level: u32,
    ) -> Option<ProbeResult> {
        for escaping in escapings {
            let Some(decoded) = escaping.decode(bytes).filter(|decoded| !decoded.is_plain()) else { continue };
            let edits = match self.probe_text(decoded.text(), level + 1) {
                ProbeResult::Frozen(edits) => raw_edits(bytes, &decoded, &edits, *escaping),
                ProbeResult::Kept => return Some(ProbeResult::Kept),
                ProbeResult::Plain(_) => continue,
            };
            return Some(self.finish_wrapper(wrapper, edits));
        }
        None
    }

    fn change_unwrapped(&mut self, wrapper: &Wrapper, bytes: &[u8], level: u32) -> Option<ProbeResult> {
        let settings = wrapper.settings_for(bytes);
        let unwrapped = match (wrapper.unwrap)(bytes, &settings, &self.limits) {
            Ok(unwrapped) => unwrapped,
            Err(error) => {
                self.limits.decompressed = self.limits.decompressed.saturating_sub(error.decompressed_bytes());
                return (error.kind() == ErrorKind::Limit).then(|| self.keep_beyond_limit(bytes));
            }
        };
        self.spend_decompressed(bytes.len(), unwrapped.bytes.len());
        // The wrapper does not write blanks around a text, so a text with blanks would not be reproduced.
        let is_text = wrapper.evidence == WrapperEvidence::Text && trimmed::has_blanks(bytes);
        let written_settings = detect_written_settings(wrapper, bytes, &unwrapped);
        if is_text && !wraps_identically(wrapper, &written_settings, bytes, &unwrapped.bytes) {
            return None;
        }
        let edits = match self.probe_text(&unwrapped.bytes, level + 1) {
            ProbeResult::Frozen(edits) => edits,
            ProbeResult::Kept => return Some(ProbeResult::Kept),
            // A magic number is enough evidence for the wrapper, also if its content is plain text.
            ProbeResult::Plain(_) if matches!(wrapper.evidence, WrapperEvidence::Magic | WrapperEvidence::Content) => {
                self.change_value(&unwrapped.bytes, level + 1)
            }
            ProbeResult::Plain(_) => return None,
        };
        let edits = match &unwrapped.bytes {
            Cow::Borrowed(content)
                if offset_in_slice(bytes, content).is_some() && wrapper.evidence == WrapperEvidence::Envelope =>
            {
                let mut outer = Edits::new();
                outer.append(&edits, offset_in_slice(bytes, content).unwrap_or_default());
                Some(outer)
            }
            content => rewrap_edits(wrapper, &written_settings, bytes, content, &edits),
        };
        Some(self.finish_wrapper(wrapper, edits))
    }

    /// Returns a result if the bytes are signed; counts them if something in them would be changed.
    fn count_signed(&mut self, wrapper: &Wrapper, bytes: &[u8], level: u32) -> Option<ProbeResult> {
        let unwrapped = (wrapper.unwrap)(bytes, &wrapper.settings_for(bytes), &self.limits).ok()?;
        let would_change = self.would_change(&unwrapped.bytes, level);
        self.tally.signed += u64::from(would_change);
        Some(ProbeResult::Kept)
    }

    /// Returns changes inside a wrapper, if its escapes can represent them.
    fn finish_wrapper(&mut self, wrapper: &Wrapper, edits: Option<Edits>) -> ProbeResult {
        self.tally.frozen.add(wrapper.name, 1);
        match edits {
            Some(edits) => ProbeResult::Frozen(edits),
            None => {
                self.tally.unrepresentable += 1;
                ProbeResult::Kept
            }
        }
    }

    /// Subtracts decompressed data from the remaining limit.
    fn spend_decompressed(&mut self, wrapped_len: usize, content_len: usize) {
        if content_len > wrapped_len {
            self.limits.decompressed = self.limits.decompressed.saturating_sub(content_len as u64);
        }
    }
}

/// Returns the changes of wrapped bytes; `None` if the wrapper would not write the same bytes for the same content.
fn rewrap_edits(wrapper: &Wrapper, settings: &Settings, bytes: &[u8], content: &[u8], edits: &Edits) -> Option<Edits> {
    if edits.is_empty() {
        return Some(Edits::new());
    }
    let new = edits.apply(content);
    let rewrapped = wrap_like(wrapper, settings, bytes, &new)?;
    // Other compressors write other bytes for the same content, so only the content is compared.
    let is_same = match wrapper.evidence {
        WrapperEvidence::Magic | WrapperEvidence::Content => {
            let unwrapped = (wrapper.unwrap)(&rewrapped, settings, &crate::limits::Limits::default()).ok()?;
            unwrapped.bytes == new
        }
        _ => wraps_identically(wrapper, settings, bytes, content),
    };
    is_same.then(|| Edits::between(bytes, &rewrapped))
}

/// Returns `true` if the wrapper writes exactly these bytes for the content.
fn wraps_identically(wrapper: &Wrapper, settings: &Settings, bytes: &[u8], content: &[u8]) -> bool {
    wrap_like(wrapper, settings, bytes, content).is_some_and(|wrapped| wrapped == bytes)
}

/// Wraps the content. Text gets the line ends of `original`: CRLF, and no line end after the last line.
fn wrap_like(wrapper: &Wrapper, settings: &Settings, original: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let mut wrapped = Vec::new();
    (wrapper.wrap)(content, settings, &mut wrapped).ok()?;
    if wrapper.evidence != WrapperEvidence::Text {
        return Some(wrapped);
    }
    if !original.ends_with(b"\n") && wrapped.ends_with(b"\n") {
        wrapped.pop();
    }
    if memchr::memmem::find(original, b"\r\n").is_some() {
        let lines: Vec<&[u8]> = wrapped.split(|byte| *byte == b'\n').collect();
        wrapped = lines.join(&b"\r\n"[..]);
    }
    Some(wrapped)
}

/// Returns the options with which bytes were wrapped.
fn detect_written_settings(wrapper: &Wrapper, bytes: &[u8], unwrapped: &Unwrapped<'_>) -> Settings {
    let settings = match wrapper.changing {
        Changing::OnRequest(Some(detect_settings)) => detect_settings(bytes),
        _ => wrapper.settings_for(bytes),
    };
    with_stored_properties(wrapper, settings, &unwrapped.metadata)
}

/// Returns the settings with the properties that the wrapper stored in addition to its content.
fn with_stored_properties(
    wrapper: &Wrapper,
    mut settings: Settings,
    metadata: &[crate::document::Metadata],
) -> Settings {
    for property in metadata
        .iter()
        .filter(|property| property.wrapper == wrapper.name && !settings.has(property.option))
        .collect::<Vec<_>>()
    {
        // The wrapper's table has this option, so `set` does not fail.
        let _ = settings.set(wrapper.options, wrapper.name, property.option, Some(&property.value));
    }
    settings
}

/// Returns the offset of `content` in `bytes`, if it is a subslice and not a copy.
fn offset_in_slice(bytes: &[u8], content: &[u8]) -> Option<usize> {
    let (outer, inner) = (bytes.as_ptr_range(), content.as_ptr_range());
    let is_in = outer.start <= inner.start && inner.end <= outer.end;
    is_in.then(|| inner.start as usize - outer.start as usize)
}
