//! A file under a temporary name, until it is complete.

use super::destination::FileDestination;
use super::file_error;
use crate::report::Abort;
use crate::signals;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file that is removed unless it is completed.
pub struct UnfinishedFile {
    destination: FileDestination,
    file: File,
    /// Removes the file when it is dropped; `None` once the file has its final name.
    temp_path: Option<TempPath>,
    /// Path in the set of unfinished files, which a signal removes.
    registered_path: PathBuf,
}

impl UnfinishedFile {
    /// Creates the temporary file in the folder of the final file.
    pub fn new(destination: FileDestination) -> Result<(File, UnfinishedFile), Abort> {
        signals::watch_signals()?;
        let path = destination.path.clone();
        let result = create_temporary(&destination).and_then(|(file, temp_path, registered_path)| {
            let build = |file| UnfinishedFile { destination, file, temp_path: Some(temp_path), registered_path };
            Ok((file.try_clone()?, build(file)))
        });
        result.map_err(|error| file_error(&path, &error))
    }

    /// Gives the complete file its name.
    pub fn complete_file(mut self) -> Result<(), Abort> {
        let FileDestination { path, existing_metadata, mode, force } = &self.destination;
        set_file_permissions(&self.file, existing_metadata.as_ref(), *mode)
            .map_err(|error| file_error(path, &error))?;
        let Some(temp_path) = self.temp_path.take() else { return Ok(()) };
        let mut unfinished_files = signals::lock_unfinished();
        let result = if *force { temp_path.persist(path) } else { temp_path.persist_noclobber(path) };
        // This drops, and so removes, a temporary file that could not be renamed.
        let result = result.map_err(|failure| failure.error);
        unfinished_files.remove(&self.registered_path);
        result.map_err(|error| file_error(path, &error))
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if let Some(temp_path) = self.temp_path.take() {
            let mut unfinished_files = signals::lock_unfinished();
            unfinished_files.remove(&self.registered_path);
            drop(temp_path);
        }
    }
}

fn create_temporary(destination: &FileDestination) -> io::Result<(File, TempPath, PathBuf)> {
    let folder = match destination.path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut unfinished_files = signals::lock_unfinished();
    let mut builder = tempfile::Builder::new();
    builder.prefix(".icecore-").suffix(".part");
    // Only the owner may read the file until it gets the permissions of the target. If there are none to copy, it has
    // the default permissions from the start.
    #[cfg(unix)]
    if destination.existing_metadata.is_none() && destination.mode.is_none() {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let (file, path) = builder.tempfile_in(folder)?.into_parts();
    let absolute_path = std::path::absolute(&path).unwrap_or_else(|_| path.to_path_buf());
    unfinished_files.insert(absolute_path.clone());
    Ok((file, path, absolute_path))
}

/// Sets the owner and the permissions to those of the file that it replaces, or else the permissions to `mode`.
#[cfg(unix)]
fn set_file_permissions(file: &File, existing_metadata: Option<&Metadata>, mode: Option<u32>) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mode = match existing_metadata {
        Some(existing_metadata) => {
            let own_metadata = file.metadata()?;
            let is_same =
                (own_metadata.uid(), own_metadata.gid()) == (existing_metadata.uid(), existing_metadata.gid());
            let has_same_owner =
                is_same || fchown(file, Some(existing_metadata.uid()), Some(existing_metadata.gid())).is_ok();
            // With another owner or group, the set-user-ID, set-group-ID and sticky bits are not copied.
            Some(existing_metadata.mode() & if has_same_owner { 0o7777 } else { 0o777 })
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
        let destination = || FileDestination { path: path.clone(), existing_metadata: None, mode: None, force: false };
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let Ok((_, unfinished)) = UnfinishedFile::new(destination()) else { panic!() };
        assert_eq!((count(), signals::lock_unfinished().len()), (1, 1));
        drop(unfinished);
        assert_eq!((count(), signals::lock_unfinished().len()), (0, 0));
        let Ok((mut file, unfinished)) = UnfinishedFile::new(destination()) else { panic!() };
        file.write_all(b"[]\n").unwrap();
        assert!(!path.exists());
        assert!(unfinished.complete_file().is_ok());
        assert_eq!((fs::read(&path).unwrap(), count()), (b"[]\n".to_vec(), 1));
        // A file that was created meanwhile is not overwritten.
        let Ok((_, unfinished)) = UnfinishedFile::new(destination()) else { panic!() };
        assert!(unfinished.complete_file().is_err());
        assert_eq!((fs::read(&path).unwrap(), count()), (b"[]\n".to_vec(), 1));
    }
}
