//! Files that are changed in place, with a backup of the original next to them.

use super::{Destination, FileDestination, Target};
use crate::hints::explain_missing_file;
use crate::report::{Abort, Report, code, io_reason};
use crate::source::Source;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of the session files of PHP. PHP deletes old files with such names.
const SESSION_PREFIX: &str = "sess_";

/// A file to change, and its backup.
pub struct InPlaceFile {
    path: PathBuf,
    /// Its name in messages.
    name: String,
    backup: Option<Backup>,
    force: bool,
}

/// The backup of the original.
struct Backup {
    path: PathBuf,
    /// Its name in messages.
    name: String,
}

impl InPlaceFile {
    /// Prepares the change of a file, and checks that it is possible.
    pub fn new(source: &Source, suffix: &str, force: bool) -> Result<InPlaceFile, Abort> {
        let Some(path) = source.path() else {
            return Err(usage_error(format!(
                "{}: --in-place needs a file to change; without it, the result goes to the standard output",
                source.name()
            )));
        };
        if suffix.contains(['/', '\0']) {
            let text = "--backup takes the end of a file name, such as .bak, without `/`; '' keeps no backup";
            return Err(usage_error(text.to_owned()));
        }
        // The target of a link is changed, not the link.
        let path = fs::canonicalize(path).map_err(|error| missing_file_error(path, &error))?;
        let metadata = path.metadata().map_err(|error| file_error(&path, &error))?;
        if !metadata.is_file() {
            return Err(usage_error(format!("{}: --in-place needs an ordinary file", path.display())));
        }
        let backup = (!suffix.is_empty()).then(|| Backup {
            path: path.with_file_name(backup_name(path.file_name().unwrap_or_default(), suffix)),
            name: Path::new(&source.name())
                .with_file_name(backup_name(source.path().and_then(Path::file_name).unwrap_or_default(), suffix))
                .display()
                .to_string(),
        });
        Ok(InPlaceFile { path, backup, name: source.name(), force })
    }

    /// Returns the name of the backup; `None` if none is kept.
    pub fn backup_name(&self) -> Option<String> {
        self.backup.as_ref().map(|backup| backup.name.clone())
    }

    /// Opens the file that replaces the original.
    pub fn open_target(&self) -> Result<Target, Abort> {
        let existing_metadata = self.path.metadata().map_err(|error| file_error(Path::new(&self.name), &error))?;
        Target::new(Destination::File(FileDestination {
            path: self.path.clone(),
            existing_metadata: Some(existing_metadata),
            mode: None,
            force: true,
        }))
    }

    /// Fails, as [`InPlaceFile::replace_original`] would, if the backup exists and may not be overwritten.
    pub fn check_backup(&self) -> Result<(), Abort> {
        match &self.backup {
            Some(backup) if !self.force && fs::symlink_metadata(&backup.path).is_ok() => {
                Err(self.backup_exists_error(backup))
            }
            _ => Ok(()),
        }
    }

    fn backup_exists_error(&self, backup: &Backup) -> Abort {
        usage_error(format!(
            "the backup {} exists, and may be the original of {}: --force overwrites it, --backup SUFFIX names another",
            backup.name, self.name
        ))
    }

    /// Makes the backup, then replaces the original. At every moment a file exists under the original name.
    pub fn replace_original(self, target: Target) -> Result<(), Abort> {
        let Some(backup) = &self.backup else { return target.complete_output() };
        if self.force {
            match fs::remove_file(&backup.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file_error(&backup.path, &error)),
                _ => {}
            }
        }
        let link_result = fs::hard_link(&self.path, &backup.path).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no hard links.
            _ => copy_to_new_file(&self.path, &backup.path),
        });
        link_result.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.backup_exists_error(backup),
            _ => file_error(&backup.path, &error),
        })?;
        target.complete_output()
    }
}

/// What the names of backups end with, unless another suffix is given.
pub const DEFAULT_BACKUP_SUFFIX: &str = ".bak";

/// Returns the sources without the backups of other sources: a second change of a folder must not change the originals
/// that the first one kept. They are reported.
pub fn leave_out_backups(sources: Vec<Source>, suffix: &str, report: &mut Report) -> Vec<Source> {
    let backups: HashSet<PathBuf> = sources.iter().filter_map(|source| backup_path(source.path()?, suffix)).collect();
    let is_backup = |source: &Source| source.path().is_some_and(|path| backups.contains(path));
    let (backups, others): (Vec<Source>, Vec<Source>) = sources.into_iter().partition(is_backup);
    if let Some(first) = backups.first() {
        let text = match backups.len() {
            1 => "a backup of another file, and left out".to_owned(),
            2 => "a backup of another file, and left out, like another one".to_owned(),
            count => format!("a backup of another file, and left out, like {} others", count - 1),
        };
        report.report_note(&first.name(), "backup", text);
    }
    others
}

/// Returns the path of the backup of a file.
fn backup_path(path: &Path, suffix: &str) -> Option<PathBuf> {
    let name = path.file_name().filter(|_| !suffix.is_empty())?;
    Some(path.with_file_name(backup_name(name, suffix)))
}

/// Returns the name of the backup of a file with this name.
fn backup_name(name: &OsStr, suffix: &str) -> OsString {
    let mut backup_name = OsString::new();
    if name.as_encoded_bytes().starts_with(SESSION_PREFIX.as_bytes()) {
        backup_name.push(".");
    }
    backup_name.push(name);
    backup_name.push(suffix);
    backup_name
}

/// Copies a file to one that does not exist yet.
fn copy_to_new_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut new_file = fs::File::options().write(true).create_new(true).open(to)?;
    io::copy(&mut fs::File::open(from)?, &mut new_file)?;
    new_file.set_permissions(from.metadata()?.permissions())?;
    new_file.sync_all()
}

fn usage_error(text: String) -> Abort {
    Abort::Failed(code::USAGE, text)
}

/// Returns the error for a file that can't be changed because it can't be found.
fn missing_file_error(path: &Path, error: &io::Error) -> Abort {
    let name = path.display().to_string();
    match explain_missing_file(&name) {
        Some(hint) => usage_error(format!("{name}: {}; {hint}", io_reason(error))),
        None => file_error(path, error),
    }
}

fn file_error(path: &Path, error: &io::Error) -> Abort {
    usage_error(format!("{}: {}", path.display(), io_reason(error)))
}
