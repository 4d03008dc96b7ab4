//! The conversion of one record.

use icecore::{Codec, Converted, Converter, Document, Error, Limits, Output, Request, Stage, deep};

/// How records are converted.
pub enum RecordConverter {
    /// Without looking into strings.
    Plain(Box<Converter>),
    /// Strings that are frozen data are opened too.
    Deep(Box<DeepConverter>),
}

/// The conversion of records whose strings are opened.
pub struct DeepConverter {
    from: Stage,
    to: Codec,
    limits: Limits,
}

impl RecordConverter {
    /// Creates the conversion from one stage to another.
    pub fn new(from: Stage, to: Stage, limits: &Limits, is_deep: bool) -> RecordConverter {
        if is_deep {
            return RecordConverter::Deep(Box::new(DeepConverter { from, to: Codec::new(to), limits: limits.clone() }));
        }
        RecordConverter::Plain(Box::new(Converter::new(from, to).limited(limits)))
    }

    /// Returns the stage that is read.
    pub fn source(&self) -> &Stage {
        match self {
            RecordConverter::Plain(converter) => converter.source(),
            RecordConverter::Deep(deep) => &deep.from,
        }
    }

    /// Converts the document at the start of these bytes. Also returns the number of opened strings.
    pub fn convert(&mut self, bytes: &[u8], out: &mut dyn Output) -> (Converted, u64) {
        match self {
            RecordConverter::Plain(converter) => (converter.convert(bytes, out), 0),
            RecordConverter::Deep(deep) => deep.convert(bytes, out),
        }
    }
}

impl DeepConverter {
    fn convert(&self, bytes: &[u8], out: &mut dyn Output) -> (Converted, u64) {
        let mut result =
            Converted { consumed: 0, is_read: false, written: Ok(Default::default()), repairs: Vec::new() };
        let mut opened = 0;
        result.written = self.read_document(bytes, &mut result.consumed).and_then(|document| {
            result.is_read = true;
            result.repairs = document.repairs().to_vec();
            let deep = deep::open(document, &self.limits)?;
            opened = deep.opened.len() as u64;
            self.to.write(&deep.document, out)
        });
        (result, opened)
    }

    fn read_document<'b>(&self, bytes: &'b [u8], consumed: &mut usize) -> Result<Document<'b>, Error> {
        let format = self.from.format();
        if !self.from.wrappers().is_empty() {
            *consumed = bytes.len();
            return icecore::read_with(bytes, &self.from, Request::new(&self.limits));
        }
        let request = Request::new(&self.limits);
        let outcome = format.read(bytes, self.from.settings(), request);
        *consumed = outcome.consumed;
        outcome.error.map_or(Ok(outcome.document), |error| Err(format.explain(error)))
    }
}
