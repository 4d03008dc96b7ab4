//! What is left of a record that breaks off.

use icecore::raw::Outcome;
use icecore::{Document, Error, Limits, Output, Request, Stage, deep};
use icecore_tables::plural::counted;

/// How such records are read and written.
pub struct Rescue {
    from: Stage,
    to: Stage,
    limits: Limits,
    is_deep: bool,
}

/// What is said where there is nothing.
pub const NOTHING: &str = "nothing could be read before the break";

/// What could be read of a document, and that in words.
pub struct Rescued<'d> {
    pub document: Document<'d>,
    pub said: String,
}

impl Rescue {
    pub fn new(from: Stage, to: Stage, limits: &Limits, is_deep: bool) -> Rescue {
        Rescue { from, to, limits: limits.clone(), is_deep }
    }

    /// Writes what is left of the document at the start of these bytes, which stand at this offset of the
    /// input; what is wrong with it was found already. The next one begins at `end`. Gives what to say of
    /// it; `None`, if nothing is left.
    pub fn write(&self, bytes: &[u8], end: usize, offset: u64, out: &mut dyn Output) -> Result<Option<String>, Error> {
        let mut limits = self.limits.clone();
        let Ok((unwrapped, _)) = self.from.unwrap_as_far(bytes, &mut limits) else { return Ok(None) };
        let request = Request::new(&limits).detailed();
        let outcome = self.from.format().read(&unwrapped.bytes, self.from.settings(), request);
        // Offsets in a wrapper are those of what is inside.
        let (offset, end) = if self.from.wrappers().is_empty() { (offset, end) } else { (0, usize::MAX) };
        let Some(Rescued { document, said }) = rescued(outcome, unwrapped.bytes.len().min(end), offset)? else {
            return Ok(None);
        };
        let document = if self.is_deep { deep::open(document, &limits)?.document } else { document };
        icecore::write_to(&document, &self.to, &self.limits, out)?;
        Ok(Some(said))
    }
}

/// What there is of a document that starts at this offset and breaks off, with marks; `None`, if that is
/// nothing. It has to be read with detail. Behind `end` stands another one.
pub fn rescued(outcome: Outcome<'_>, end: usize, offset: u64) -> Result<Option<Rescued<'_>>, Error> {
    let said = |values: u64, lost: u64, from: u64| {
        let values = counted(values, "value was read", "values were read");
        let lost = counted(lost, "byte", "bytes");
        format!("{values}; {lost} from offset {} on were not", offset + from)
    };
    // What is wrong stands behind it.
    if outcome.error.is_none() {
        let lost = end.saturating_sub(outcome.consumed) as u64;
        let said = said(outcome.document.nodes().len() as u64, lost, outcome.consumed as u64);
        return Ok(Some(Rescued { document: outcome.document, said }));
    }
    let salvaged = outcome.salvage_before(end)?;
    Ok(salvaged.map(|found| Rescued { said: said(found.values, found.lost, found.from), document: found.document }))
}
