//! Determines the form and the encoding of an input from its beginning.

use super::ReplaceJob;
use crate::document_reader::can_repair;
use crate::foreign_input::is_sqlite;
use crate::report::{Abort, usage_text_error};
use crate::source::Source;
use icecore::Stage;
use icecore_tables::charset::CharsetArg;
use icecore_tables::form::{InputForm, detect_stage, is_decided};
use icecore_tables::packing::{HEAD_LEN, Head, Packing};
use icecore_tables::unicode::{Decoder, WideEncoding};
use std::io::{self, Read};

/// An examined input.
pub struct ExaminedInput {
    pub head: Head,
    pub form: InputForm,
    /// Whether the form was detected rather than given.
    pub is_guessed: bool,
    /// UTF-16 or UTF-32, if the input is in one of them; `head` is then converted to UTF-8.
    pub wide_encoding: Option<WideEncoding>,
    /// Whether it is a file that can be read a second time.
    pub is_file: bool,
}

/// Number of bytes of a file that are examined before its form is guessed. For a pipe, this is `--window`.
const MAX_FILE_HEAD_LEN: u64 = 4 << 20;

impl ReplaceJob<'_> {
    /// Examines an input.
    pub fn examine_input(
        &self,
        input: Box<dyn Read + Send>,
        source: &Source,
        name: &str,
    ) -> Result<ExaminedInput, Abort> {
        let read_error = |error: io::Error| super::input_error(&error);
        let max_head_len = self.args.window.unwrap_or(HEAD_LEN);
        let mut head = Head::read_up_to(input, max_head_len).map_err(read_error)?;
        // A compressed document keeps its compression, as part of its format.
        let is_document = matches!(self.form, Some(InputForm::Document(_)));
        let packing = Packing::from_head(&head.bytes)
            .filter(|_| !is_document && detect_stage(&head.bytes, head.is_complete).is_none());
        if let Some(packing) = packing {
            if self.args.in_place_args.in_place || self.args.in_place_args.output_args.out_dir.is_some() {
                return Err(usage_text_error(
                    "the input is compressed, and the output would not be: `icecore replace … FILE | gzip > NEW`",
                ));
            }
            let unpacked = packing.unpack_input(head.input).and_then(|input| Head::read_up_to(input, max_head_len));
            head = unpacked.map_err(read_error)?;
        }
        let is_file =
            packing.is_none() && source.metadata().is_ok_and(|metadata| metadata.is_file()) && source.path().is_some();
        let wide_encoding = self.detect_wide_encoding(&head);
        if let Some(encoding) = wide_encoding {
            let text = Box::new(Decoder::new(head.input, encoding));
            head = Head::read_up_to(text, max_head_len).map_err(read_error)?;
        }
        let mut form = self.form.clone().or_else(|| InputForm::guess(name, &head.bytes, head.is_complete));
        if self.form.is_none() && is_file && !head.is_complete && !is_decided(form.as_ref(), &head.bytes) {
            head = head.extend_up_to(MAX_FILE_HEAD_LEN).map_err(read_error)?;
            form = InputForm::guess(name, &head.bytes, head.is_complete);
        }
        if matches!(form, Some(InputForm::Csv)) && is_file {
            head = head.extend_up_to(MAX_FILE_HEAD_LEN).map_err(read_error)?;
        }
        if self.args.mend
            && self.form.is_none()
            && head.is_complete
            && !matches!(form, Some(InputForm::Sql | InputForm::Csv))
        {
            form = find_damaged_value(&head.bytes).map(InputForm::Document).or(form);
        }
        if form.is_none() && is_sqlite(&head.bytes) {
            let name = icecore::text::printable(name);
            let text = format!(
                "{name} is a SQLite database: `icecore replace OLD NEW --db sqlite:{name} --all-tables` changes its rows"
            );
            return Err(usage_text_error(text));
        }
        let form = form.ok_or_else(|| {
            usage_text_error(
                "the form of the input is not known: use --in sql, csv, tsv, ndjson, text or the name of a format",
            )
        })?;
        Ok(ExaminedInput { head, form, is_guessed: self.form.is_none(), wide_encoding, is_file })
    }

    /// Returns UTF-16 or UTF-32 if the input with this beginning is in one of them.
    fn detect_wide_encoding(&self, head: &Head) -> Option<WideEncoding> {
        match (&self.args.charset, &self.form) {
            (Some(CharsetArg::Wide(units)), _) => Some(WideEncoding::from_units(*units, &head.bytes)),
            (Some(_), _) => None,
            (None, Some(InputForm::Document(stage))) if is_binary(stage) => None,
            // Data frozen in a binary format is not text, even if it looks like text.
            (None, None) if detect_stage(&head.bytes, head.is_complete).is_some_and(|stage| is_binary(&stage)) => None,
            (None, _) => WideEncoding::from_head(&head.bytes, head.is_complete),
        }
    }
}

/// Returns the stage of an input that is a single damaged value, if its format has a repair.
fn find_damaged_value(bytes: &[u8]) -> Option<Stage> {
    let damage = icecore::detect::find_damage(bytes).filter(|damage| damage.stage.wrappers().is_empty())?;
    can_repair(&damage.stage).then_some(damage.stage)
}

fn is_binary(stage: &Stage) -> bool {
    stage.format().can.binary || !stage.wrappers().is_empty()
}
