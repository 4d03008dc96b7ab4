//! The identity of the file that a path leads to.

#[cfg(not(unix))]
use std::fs;
use std::fs::Metadata;
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;

/// Identity of a file, independent of its path: on Unix the numbers of its device and inode, elsewhere its canonical
/// path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl FileId {
    #[cfg(unix)]
    pub fn from_file(_: &Path, metadata: &Metadata) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    pub fn from_file(path: &Path, _: &Metadata) -> Option<FileId> {
        fs::canonicalize(path).ok().map(FileId)
    }
}
