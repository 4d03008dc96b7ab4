//! Files that are changed in place, with a backup of the original next to them.

use super::{Destination, FileDestination, Target};
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Prefix of the session files of PHP, which deletes old files with such names.
const SESSION: &str = "sess_";

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
            return Err(usage_failure(format!(
                "{}: --in-place needs a file to change; without it, the result goes to the standard output",
                source.name()
            )));
        };
        if suffix.contains(['/', '\0']) {
            let text = "--backup takes the end of a file name, such as .bak, without `/`; '' keeps no backup";
            return Err(usage_failure(text.to_owned()));
        }
        // The target of a link is changed, not the link.
        let path = fs::canonicalize(path).map_err(|error| file_error(path, &error))?;
        let known = path.metadata().map_err(|error| file_error(&path, &error))?;
        if !known.is_file() {
            return Err(usage_failure(format!("{}: --in-place needs an ordinary file", path.display())));
        }
        let kept = (!suffix.is_empty()).then(|| Backup {
            path: path.with_file_name(backup_name(path.file_name().unwrap_or_default(), suffix)),
            name: Path::new(&source.name())
                .with_file_name(backup_name(source.path().and_then(Path::file_name).unwrap_or_default(), suffix))
                .display()
                .to_string(),
        });
        Ok(InPlaceFile { path, backup: kept, name: source.name(), force })
    }

    /// Returns the name of the backup; `None` if none is kept.
    pub fn backup_name(&self) -> Option<String> {
        self.backup.as_ref().map(|backup| backup.name.clone())
    }

    /// Opens the file that replaces the original.
    pub fn open_target(&self) -> Result<Target, Abort> {
        let known = self.path.metadata().map_err(|error| file_error(Path::new(&self.name), &error))?;
        Target::new(Destination::File(FileDestination {
            path: self.path.clone(),
            known: Some(known),
            mode: None,
            force: true,
        }))
    }

    /// Returns the error that [`InPlaceFile::replace_original`] would return for a backup that exists.
    pub fn check_backup(&self) -> Result<(), Abort> {
        match &self.backup {
            Some(kept) if !self.force && fs::symlink_metadata(&kept.path).is_ok() => Err(self.backup_exists(kept)),
            _ => Ok(()),
        }
    }

    fn backup_exists(&self, kept: &Backup) -> Abort {
        usage_failure(format!(
            "the backup {} exists, and may be the original of {}: --force overwrites it, --backup SUFFIX names another",
            kept.name, self.name
        ))
    }

    /// Makes the backup, then replaces the original. The file exists at every moment.
    pub fn replace_original(self, target: Target) -> Result<(), Abort> {
        let Some(kept) = &self.backup else { return target.complete_output() };
        if self.force {
            match fs::remove_file(&kept.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file_error(&kept.path, &error)),
                _ => {}
            }
        }
        let linked = fs::hard_link(&self.path, &kept.path).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no links.
            _ => copy_to_new_file(&self.path, &kept.path),
        });
        linked.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.backup_exists(kept),
            _ => file_error(&kept.path, &error),
        })?;
        target.complete_output()
    }
}

/// Returns the name of the backup of a file with this name.
fn backup_name(name: &OsStr, suffix: &str) -> OsString {
    let mut kept = OsString::new();
    if name.as_encoded_bytes().starts_with(SESSION.as_bytes()) {
        kept.push(".");
    }
    kept.push(name);
    kept.push(suffix);
    kept
}

/// Copies a file to one that does not exist yet.
fn copy_to_new_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut new = fs::File::options().write(true).create_new(true).open(to)?;
    io::copy(&mut fs::File::open(from)?, &mut new)?;
    new.set_permissions(from.metadata()?.permissions())?;
    new.sync_all()
}

fn usage_failure(text: String) -> Abort {
    Abort::Failed(code::USAGE, text)
}

fn file_error(path: &Path, error: &io::Error) -> Abort {
    usage_failure(format!("{}: {}", path.display(), io_reason(error)))
}
