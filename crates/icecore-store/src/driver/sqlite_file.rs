//! Checks that the path of an SQLite database still names the file that a connection has open.
//!
//! A process keeps an open file when another program renames, deletes or replaces it. Later commits go to the open
//! file, so a program that opens the path does not find them. So the path is compared with the open file before each
//! change, and again before the change is reported as done.
//!
//! The log of the database (`-wal`) and the index of the log (`-shm`) are checked in the same way, because SQLite
//! finds them by name, and other programs read commits from them.

use crate::error::{Error, ErrorKind, Result};
use rusqlite::{Connection, DEFAULT_NAME, FileControl};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// Identity of a file. The inode number of a deleted file may be reused, so the creation time counts too, if the file
/// system records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    /// Inode number.
    number: u64,
    created: Option<SystemTime>,
}

impl FileId {
    /// Returns the id of the file at a path. Returns `None` if there is no file, or if the file can't be examined.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(FileId { device: metadata.dev(), number: metadata.ino(), created: metadata.created().ok() })
    }

    /// Returns the same value for every file that exists. Other systems do not let a program rename or delete a file
    /// that SQLite has open, so this is enough.
    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<FileId> {
        std::fs::metadata(path).ok().map(|_| FileId { device: 0, number: 0, created: None })
    }
}

/// The database file that the connections of one program share. The first connection determines the file. Later
/// connections do not accept another file at the path, and they never create one.
#[derive(Default)]
pub(crate) struct PinnedFile(Mutex<Pin>);

#[derive(Default)]
struct Pin {
    database: Option<FileId>,
    /// The files of the open connections. All connections of a process share one index of the log (`-shm`), so a new
    /// connection must not open another log.
    open: Weak<OpenFiles>,
}

impl PinnedFile {
    /// Returns whether a database was already opened.
    pub(super) fn is_known(&self) -> bool {
        self.lock_pin().database.is_some()
    }

    /// Checks the path before the database is opened again.
    pub(super) fn check_path(&self, path: &Path) -> Result<()> {
        // The lock is released before the files are examined, because a file system can be slow.
        let (database, open) = {
            let pin = self.lock_pin();
            (pin.database, pin.open.upgrade())
        };
        if let Some(open) = open {
            return open.check_paths();
        }
        match database {
            Some(database) if FileId::of(path) != Some(database) => Err(file_moved_error(path)),
            _ => Ok(()),
        }
    }

    fn lock_pin(&self) -> std::sync::MutexGuard<'_, Pin> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of a connection: the database and, in WAL mode, its log with the index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenFiles {
    path: PathBuf,
    database: FileId,
    logs: Vec<(PathBuf, FileId)>,
}

impl OpenFiles {
    /// Returns the files of a connection that was just opened. Returns `None` if other programs can't find a file, as
    /// for a database in memory.
    ///
    /// # Errors
    /// Of kind `Moved` if the path does not name the file that was opened, or names another file than that of earlier
    /// connections.
    pub(super) fn find(connection: &Connection, path: &Path, pinned: &PinnedFile) -> Result<Option<OpenFiles>> {
        let Some(opened) = connection.path().filter(|opened| !opened.is_empty()) else { return Ok(None) };
        // The address may also be a URI, which only SQLite parses.
        let path = if has_scheme(path) { Path::new(opened) } else { path };
        let database = FileId::of(path).ok_or_else(|| file_moved_error(path))?;
        // SQLite compares its open file with the path. The id is read before and after this comparison. If both ids
        // are equal, the comparison was about the file with this id.
        let has_moved = has_moved(connection);
        if has_moved || FileId::of(path) != Some(database) {
            return Err(file_moved_error(path));
        }
        let mut pin = pinned.lock_pin();
        if *pin.database.get_or_insert(database) != database {
            return Err(file_moved_error(path));
        }
        Ok(Some(OpenFiles { path: path.to_owned(), database, logs: Vec::new() }))
    }

    /// Adds the log of the database and its index. The connection opened them when it first read something in WAL
    /// mode.
    ///
    /// # Errors
    /// Of kind `Moved` if they are gone, or differ from those of earlier connections.
    pub(super) fn with_logs(mut self, connection: &Connection, pinned: &PinnedFile) -> Result<Arc<OpenFiles>> {
        // SQLite follows a link to the database, and puts the log next to the target of the link.
        let is_link = std::fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_symlink());
        let database_path = match connection.path() {
            Some(opened) if is_link => PathBuf::from(opened),
            _ => self.path.clone(),
        };
        for suffix in ["-wal", "-shm"] {
            let mut name = database_path.clone().into_os_string();
            name.push(suffix);
            let name = PathBuf::from(name);
            let log = FileId::of(&name).ok_or_else(|| file_moved_error(&self.path))?;
            self.logs.push((name, log));
        }
        let mut pin = pinned.lock_pin();
        if let Some(open) = pin.open.upgrade() {
            return if *open == self { Ok(open) } else { Err(file_moved_error(&self.path)) };
        }
        let files = Arc::new(self);
        pin.open = Arc::downgrade(&files);
        Ok(files)
    }

    /// Checks that the paths name the open files.
    ///
    /// # Errors
    /// Of kind `Moved` if they do not.
    pub(super) fn check_paths(&self) -> Result<()> {
        if FileId::of(&self.path) == Some(self.database) && self.has_original_logs() {
            return Ok(());
        }
        Err(file_moved_error(&self.path))
    }

    /// Returns whether the names of the log and its index still refer to the open files.
    fn has_original_logs(&self) -> bool {
        self.logs.iter().all(|(path, log)| FileId::of(path) == Some(*log))
    }

    /// Copies the log into the open database file, wherever that file is now. A file that was renamed without its log
    /// then contains everything that was reported as done. The log still contains it too.
    ///
    /// Does nothing if another file now has the database's name and the log has kept its own. A program that opened
    /// both may have written to the log, and its changes do not belong into this database.
    pub(super) fn save_moved_log(&self, connection: &Connection) {
        if FileId::of(&self.path).is_none() || !self.has_original_logs() {
            // A passive checkpoint does not wait for other connections. Each later call that finds the file moved
            // tries again.
            let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
    }

    /// Prepares a connection to be closed. A connection that closes deletes the log by its name, and this name may
    /// belong to the log of another database now. So SQLite is instructed to keep the log. (SQLite keeps it anyway if
    /// the database file itself was moved.)
    pub(super) fn prepare_close(&self, connection: &Connection) {
        if !self.has_original_logs() {
            let mut keep = 1;
            let _ = connection.file_control(DEFAULT_NAME, FileControl::PersistWal(&mut keep));
        }
    }
}

/// Returns whether a path is meant as a URI.
fn has_scheme(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(b"file:")
}

/// Returns whether SQLite reports that its open file is no longer the one at the path.
fn has_moved(connection: &Connection) -> bool {
    #[cfg(unix)]
    {
        let mut has_moved = 0;
        let result = connection.file_control(DEFAULT_NAME, FileControl::HasMoved(&mut has_moved));
        // Without an answer, the safe assumption is that the file has moved.
        result.is_err() || has_moved != 0
    }
    #[cfg(not(unix))]
    {
        let _ = connection;
        false
    }
}

fn file_moved_error(path: &Path) -> Error {
    let path = path.display();
    let text = format!(
        "SQLite: {path}, its -wal or its -shm is not the file any more that was opened: it was moved, deleted or \
         replaced. Put all of them back under their names, or start the program again to use what is there now"
    );
    Error::new(ErrorKind::Moved, text)
}
