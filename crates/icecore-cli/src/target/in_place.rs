//! Files that are changed where they are; what they were stays beside them.

use super::{Destination, FileDestination, Target};
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file, and what it is kept as.
pub struct InPlace {
    path: PathBuf,
    kept: PathBuf,
    /// How messages call the file, and what it is kept as.
    name: String,
    kept_name: String,
    force: bool,
}

impl InPlace {
    /// Finds out what stands in the way.
    pub fn new(source: &Source, suffix: &str, force: bool) -> Result<InPlace, Abort> {
        let Some(path) = source.path() else {
            return Err(usage(format!("{}: --in-place changes files", source.name())));
        };
        if suffix.is_empty() || suffix.contains(['/', '\0']) {
            return Err(usage("--backup takes what is put behind the name of a file, such as .bak".to_owned()));
        }
        // What a link leads to is changed, not the link.
        let path = fs::canonicalize(path).map_err(|error| failed(path, &error))?;
        let known = path.metadata().map_err(|error| failed(&path, &error))?;
        if !known.is_file() {
            return Err(usage(format!("{}: --in-place changes files", path.display())));
        }
        let mut kept = path.clone().into_os_string();
        kept.push(suffix);
        let kept = PathBuf::from(kept);
        let (name, kept_name) = (source.name(), format!("{}{suffix}", source.name()));
        Ok(InPlace { path, kept, name, kept_name, force })
    }

    /// The file that is to take its place.
    pub fn target(&self) -> Result<Target, Abort> {
        let known = self.path.metadata().map_err(|error| failed(Path::new(&self.name), &error))?;
        Target::new(Destination::File(FileDestination {
            path: self.path.clone(),
            known: Some(known),
            mode: None,
            force: true,
        }))
    }

    /// Keeps what was, and puts the new one there. At no time the file is missing.
    pub fn keep(self, target: Target) -> Result<(), Abort> {
        if self.force {
            match fs::remove_file(&self.kept) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&self.kept, &error)),
                _ => {}
            }
        }
        let kept = fs::hard_link(&self.path, &self.kept).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Err(error),
            // Not every file system has links.
            _ => copy(&self.path, &self.kept),
        });
        kept.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => usage(format!(
                "{} exists: it may have what {} was at first (--force overwrites it, --backup names another)",
                self.kept_name, self.name
            )),
            _ => failed(&self.kept, &error),
        })?;
        target.keep()
    }
}

/// Copies a file to one that does not exist.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut new = fs::File::options().write(true).create_new(true).open(to)?;
    io::copy(&mut fs::File::open(from)?, &mut new)?;
    new.set_permissions(from.metadata()?.permissions())?;
    new.sync_all()
}

fn usage(text: String) -> Abort {
    Abort::Failed(code::USAGE, text)
}

fn failed(path: &Path, error: &io::Error) -> Abort {
    usage(format!("{}: {}", path.display(), io_reason(error)))
}
