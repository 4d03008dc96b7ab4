//! Output to a terminal: JSON is indented, colored and truncated, and control characters are escaped.

mod control_escaper;
mod json_painter;
mod json_truncator;

pub use control_escaper::ControlEscaper;
pub use json_painter::JsonPainter;
pub use json_truncator::{DisplayLimits, JsonTruncator};

use crate::report::{Abort, code};
use icecore::Stage;
use icecore_tables::form::JSON;
use std::io::{self, IsTerminal};

/// Options that determine the layout of JSON. If one of them is given, `with_indented_json` does not change the layout.
const LAYOUT_OPTIONS: &[&str] = &["indent", "indent_length", "pretty", "space_before", "space_after", "as"];

/// Returns true if the standard output is a terminal.
pub fn is_stdout_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns what separates the two parts of a table row: a narrow terminal shows the second part on a line of its own.
#[cfg(feature = "store")]
pub fn row_separator(is_narrow: bool) -> &'static str {
    if is_narrow { "\n    " } else { "  " }
}

/// Returns an error if the stage writes binary data, unless `--force` was given.
pub fn check_not_binary(stage: &Stage, is_forced: bool) -> Result<(), Abort> {
    if is_forced || !stage.is_binary() {
        return Ok(());
    }
    let text = format!(
        "the standard output is a terminal, and {} is binary: write it to a file with `-o FILE`, or add `--force`",
        stage.name()
    );
    Err(Abort::Failed(code::USAGE, text))
}

/// Returns true if this stage writes JSON: one document, or one per line.
pub fn writes_json(stage: &Stage) -> bool {
    stage.wrappers().is_empty() && stage.format().of_document().name == JSON
}

/// Adds `indent=2` to a stage that writes JSON, unless it has an option for the layout.
pub fn with_indented_json(mut stage: Stage) -> Stage {
    let has_default_layout =
        stage.wrappers().is_empty() && !LAYOUT_OPTIONS.iter().any(|option| stage.settings().has(option));
    if has_default_layout && stage.format().name == JSON {
        // The option exists and accepts this value.
        let _ = stage.set("indent", Some("2"));
    }
    stage
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    /// A writer whose clones write to the same buffer, so that a test can read what another owner wrote.
    #[derive(Clone, Default)]
    pub struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

    impl SharedBuffer {
        pub fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn stages_with_layout_options_are_not_indented() {
        let indent_of = |name: &str| with_indented_json(Stage::parse(name).unwrap()).settings().number("indent");
        assert_eq!((indent_of("json"), indent_of("json:sort_keys")), (Some(2), Some(2)));
        assert_eq!(
            (indent_of("json:indent=0"), indent_of("json:as=json-xs"), indent_of("gzip/json")),
            (Some(0), None, None)
        );
        assert_eq!((indent_of("ndjson"), indent_of("php")), (None, None));
    }
}
