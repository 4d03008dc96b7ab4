//! The file of `--resume`: the progress in each table.

use crate::report::{Abort, code, io_reason};
use icecore_replace::Rules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The progress in each table, and the file that it is saved in, if any.
#[derive(Default)]
pub struct ResumeState {
    file: Option<PathBuf>,
    state: SavedState,
}

#[derive(Default, Serialize, Deserialize)]
struct SavedState {
    /// The pairs of the change: progress with other pairs does not count.
    pairs: Vec<(String, String)>,
    tables: BTreeMap<String, TableProgress>,
    /// The undo file, if one is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undo: Option<UndoPosition>,
}

/// An undo file, and the offset up to which its records are in the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UndoPosition {
    pub file: PathBuf,
    /// Records from this offset on may belong to transactions that are not in the state yet.
    pub len: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct TableProgress {
    /// The key of the last row that is done.
    #[serde(rename = "after")]
    last_key: Option<Vec<String>>,
    done: bool,
}

impl ResumeState {
    /// Reads the file, if it exists.
    pub fn open(file: &Path, rules: &Rules) -> Result<ResumeState, Abort> {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let pairs: Vec<_> = rules.pairs().iter().map(|pair| (lossy(pair.old()), lossy(pair.replacement()))).collect();
        let state = match fs::read(file) {
            Ok(bytes) => {
                let state: SavedState = serde_json::from_slice(&bytes)
                    .map_err(|error| file_error(file, format!("not a file of --resume: {error}")))?;
                if state.pairs != pairs {
                    return Err(file_error(
                        file,
                        "it belongs to other pairs: name another file, or none, to start again".to_owned(),
                    ));
                }
                state
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => SavedState { pairs, ..SavedState::default() },
            Err(error) => return Err(file_error(file, io_reason(&error))),
        };
        Ok(ResumeState { file: Some(file.to_owned()), state })
    }

    /// Returns true if a table is done.
    pub fn is_done(&self, table: &str) -> bool {
        self.state.tables.get(table).is_some_and(|table| table.done)
    }

    /// Returns the key after which to continue.
    pub fn last_key(&self, table: &str) -> Option<Vec<String>> {
        self.state.tables.get(table).and_then(|table| table.last_key.clone())
    }

    /// Returns the undo file of the change so far.
    pub fn undo_position(&self) -> Option<&UndoPosition> {
        self.state.undo.as_ref()
    }

    /// Sets the undo file and its length. They are saved with the next write of the state.
    pub fn set_undo_file(&mut self, file: &Path, len: u64) {
        // The next command may run in another folder.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        self.state.undo = Some(UndoPosition { file, len });
    }

    /// Sets the offset up to which the records of the undo file are in the state. It is saved with the next write.
    pub fn set_undo_len(&mut self, len: u64) {
        if let Some(undo) = &mut self.state.undo {
            undo.len = len;
        }
    }

    /// Records that all rows up to this key are done.
    pub fn set_last_key(&mut self, table: &str, key: &[String]) -> Result<(), Abort> {
        self.state.tables.entry(table.to_owned()).or_default().last_key = Some(key.to_vec());
        self.write()
    }

    /// Records that all rows are done.
    pub fn finish_table(&mut self, table: &str) -> Result<(), Abort> {
        self.state.tables.entry(table.to_owned()).or_default().done = true;
        self.write()
    }

    /// Writes the file, if there is one.
    pub fn write(&self) -> Result<(), Abort> {
        self.file.as_ref().map_or(Ok(()), |file| replace_file(file, &self.state))
    }
}

/// Replaces a file atomically: at any time it is the old one or the new one.
pub fn replace_file(file: &Path, state: &impl Serialize) -> Result<(), Abort> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        let mut new_file = tempfile::Builder::new().prefix(".icecore-").suffix(".part").tempfile_in(folder)?;
        new_file.write_all(&serde_json::to_vec(state)?)?;
        // Without this, a power failure could leave an empty file under the final name.
        new_file.as_file().sync_data()?;
        new_file.persist(file).map_err(|failure| failure.error)?;
        Ok(())
    };
    write().map_err(|error| file_error(file, io_reason(&error)))
}

/// Returns the error for a file that can't be used.
pub fn file_error(file: &Path, reason: String) -> Abort {
    Abort::Failed(code::USAGE, format!("{}: {reason}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_resumed_only_with_the_same_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let rules = |new: &str| Rules::builder().pair("old", new).build().unwrap();
        let mut resume = ResumeState::open(&file, &rules("new")).unwrap();
        assert_eq!((resume.last_key("t"), resume.is_done("t")), (None, false));
        resume.set_last_key("t", &["7".to_owned(), "a".to_owned()]).unwrap();
        let mut resume = ResumeState::open(&file, &rules("new")).unwrap();
        assert_eq!(resume.last_key("t"), Some(vec!["7".to_owned(), "a".to_owned()]));
        resume.finish_table("t").unwrap();
        assert!(ResumeState::open(&file, &rules("new")).unwrap().is_done("t"));
        assert!(ResumeState::open(&file, &rules("newer")).is_err());
        std::fs::write(&file, "{").unwrap();
        assert!(ResumeState::open(&file, &rules("new")).is_err());
    }
}
