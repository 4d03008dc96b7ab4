//! A file under a temporary name, until it is complete.

use super::destination::FileDestination;
use super::file_error;
use crate::report::Abort;
use crate::signals;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// The file; it is removed if it is not completed.
pub struct UnfinishedFile {
    place: FileDestination,
    file: File,
    /// `None` once the file has its final name.
    temporary: Option<TempPath>,
    /// The name in the set of unfinished files, for signals.
    name: PathBuf,
}

impl UnfinishedFile {
    /// Creates the temporary file in the folder of the final file.
    pub fn new(place: FileDestination) -> Result<(File, UnfinishedFile), Abort> {
        signals::watch_signals()?;
        let path = place.path.clone();
        let made = create_temporary(&place).and_then(|(file, temporary, name)| {
            let unfinished = |file| UnfinishedFile { place, file, temporary: Some(temporary), name };
            Ok((file.try_clone()?, unfinished(file)))
        });
        made.map_err(|error| file_error(&path, &error))
    }

    /// Gives the complete file its name.
    pub fn complete_file(mut self) -> Result<(), Abort> {
        let FileDestination { path, known, mode, force } = &self.place;
        set_file_permissions(&self.file, known.as_ref(), *mode).map_err(|error| file_error(path, &error))?;
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        let mut unfinished = signals::lock_unfinished();
        let kept = if *force { temporary.persist(path) } else { temporary.persist_noclobber(path) };
        // A file that could not be renamed is removed here.
        let kept = kept.map_err(|failure| failure.error);
        unfinished.remove(&self.name);
        kept.map_err(|error| file_error(path, &error))
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let mut unfinished = signals::lock_unfinished();
            unfinished.remove(&self.name);
            drop(temporary);
        }
    }
}

fn create_temporary(place: &FileDestination) -> io::Result<(File, TempPath, PathBuf)> {
    let folder = match place.path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut unfinished = signals::lock_unfinished();
    let mut builder = tempfile::Builder::new();
    builder.prefix(".icecore-").suffix(".part");
    // Only the owner may read it until it gets the permissions of the target.
    #[cfg(unix)]
    if place.known.is_none() && place.mode.is_none() {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let (file, path) = builder.tempfile_in(folder)?.into_parts();
    let name = std::path::absolute(&path).unwrap_or_else(|_| path.to_path_buf());
    unfinished.insert(name.clone());
    Ok((file, path, name))
}

/// Sets the permissions of the file that it replaces.
#[cfg(unix)]
fn set_file_permissions(file: &File, known: Option<&Metadata>, mode: Option<u32>) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mode = match known {
        Some(known) => {
            let own = file.metadata()?;
            let is_same = (own.uid(), own.gid()) == (known.uid(), known.gid());
            let is_given = is_same || fchown(file, Some(known.uid()), Some(known.gid())).is_ok();
            // With another owner or group, only the ordinary permission bits.
            Some(known.mode() & if is_given { 0o7777 } else { 0o777 })
        }
        None => mode,
    };
    mode.map_or(Ok(()), |mode| file.set_permissions(Permissions::from_mode(mode)))
}

#[cfg(not(unix))]
fn set_file_permissions(_: &File, _: Option<&Metadata>, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    #[test]
    fn only_complete_files_appear() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let place = || FileDestination { path: path.clone(), known: None, mode: None, force: false };
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let Ok((_, unfinished)) = UnfinishedFile::new(place()) else { panic!() };
        assert_eq!((count(), signals::lock_unfinished().len()), (1, 1));
        drop(unfinished);
        assert_eq!((count(), signals::lock_unfinished().len()), (0, 0));
        let Ok((mut file, unfinished)) = UnfinishedFile::new(place()) else { panic!() };
        file.write_all(b"[]\n").unwrap();
        assert!(!path.exists());
        assert!(unfinished.complete_file().is_ok());
        assert_eq!((fs::read(&path).unwrap(), count()), (b"[]\n".to_vec(), 1));
        // A file that was created meanwhile is not overwritten.
        let Ok((_, unfinished)) = UnfinishedFile::new(place()) else { panic!() };
        assert!(unfinished.complete_file().is_err());
        assert_eq!((fs::read(&path).unwrap(), count()), (b"[]\n".to_vec(), 1));
    }
}
