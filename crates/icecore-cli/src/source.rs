//! Inputs: files, folders, the standard input.

use crate::file_bytes::{self, Bytes};
use crate::file_id::FileId;
use crate::progress::{self, CountedReader};
use crate::report::Report;
use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input.
#[derive(Clone, Debug)]
pub struct Source {
    kind: SourceKind,
    /// The path relative to the folder that was given, or the file name if the file itself was given.
    pub relative_path: PathBuf,
}

#[derive(Clone, Debug)]
enum SourceKind {
    Stdin,
    File(PathBuf),
    /// Bytes from elsewhere, and their name there.
    #[cfg_attr(not(feature = "store"), expect(dead_code, reason = "for databases"))]
    Value(String, Arc<[u8]>),
}

impl Source {
    fn stdin() -> Source {
        Source { kind: SourceKind::Stdin, relative_path: PathBuf::from("stdin") }
    }

    /// Returns one file, or the standard input.
    pub fn from_path(path: Option<&Path>) -> Source {
        match path {
            None => Source::stdin(),
            Some(path) if path.as_os_str() == "-" => Source::stdin(),
            Some(path) => Source {
                kind: SourceKind::File(path.to_owned()),
                relative_path: path.file_name().map_or_else(|| path.to_owned(), PathBuf::from),
            },
        }
    }

    /// Returns a source for a value of a database, under this name in messages.
    #[cfg(feature = "store")]
    pub fn from_value(name: String, bytes: Vec<u8>) -> Source {
        /// Maximum length of the name of a file.
        const MAX_NAME_LEN: usize = 100;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let file_name: String =
            name.chars().take(MAX_NAME_LEN).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        Source { kind: SourceKind::Value(name, bytes.into()), relative_path: PathBuf::from(file_name) }
    }

    /// Returns all inputs: folders are replaced by the files in them, sorted. Folders that can't be listed are
    /// reported.
    pub fn find_all(paths: &[PathBuf], report: &mut Report) -> Vec<Source> {
        if paths.is_empty() {
            return vec![Source::stdin()];
        }
        let mut sources = Vec::new();
        for path in paths {
            if path.as_os_str() != "-" && path.is_dir() {
                let previous_count = sources.len();
                collect_files(path, report, &mut sources);
                if sources.len() == previous_count {
                    report.report_note(
                        &path.display().to_string(),
                        "empty",
                        "there are no files in this folder".to_owned(),
                    );
                }
            } else {
                sources.push(Source::from_path(Some(path)));
            }
        }
        progress::set_input_count(sources.len());
        sources
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match &self.kind {
            SourceKind::Stdin => "stdin".to_owned(),
            SourceKind::File(path) => path.display().to_string(),
            SourceKind::Value(name, _) => name.clone(),
        }
    }

    /// Returns the path, if this is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            SourceKind::File(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the metadata of the file.
    pub fn metadata(&self) -> io::Result<Metadata> {
        match &self.kind {
            SourceKind::File(path) => fs::metadata(path),
            SourceKind::Stdin => stream_metadata(&io::stdin()),
            SourceKind::Value(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Returns the metadata of the standard output.
    pub fn stdout_metadata() -> io::Result<Metadata> {
        stream_metadata(&io::stdout())
    }

    /// Returns the identity of the file.
    pub fn id(&self, metadata: &Metadata) -> Option<FileId> {
        let path = if let SourceKind::File(path) = &self.kind { path } else { Path::new("-") };
        FileId::from_file(path, metadata)
    }

    /// Reads all bytes.
    pub fn read(&self) -> io::Result<Bytes> {
        self.begin_input();
        match &self.kind {
            SourceKind::File(path) => file_bytes::read_file(path),
            SourceKind::Stdin => {
                let mut bytes = Vec::new();
                progress::read_to_end(io::stdin().lock(), &mut bytes)?;
                Ok(Bytes::Read(bytes))
            }
            SourceKind::Value(_, bytes) => Ok(Bytes::Read(bytes.to_vec())),
        }
    }

    /// Shows in the progress line that the work on this input begins.
    fn begin_input(&self) {
        if matches!(self.kind, SourceKind::Stdin) && io::stdin().is_terminal() {
            // The user types the input on the terminal.
            progress::remove_line();
        }
        progress::begin_input(&self.name());
    }

    /// Opens the file; `None` if the input is not a file.
    pub fn open_file(&self) -> Option<io::Result<File>> {
        match &self.kind {
            SourceKind::File(path) => Some(File::open(path)),
            SourceKind::Stdin | SourceKind::Value(..) => None,
        }
    }

    /// Opens the input for reading in sequence.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.begin_input();
        Ok(match &self.kind {
            SourceKind::File(path) => {
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                let len = if metadata.is_file() { metadata.len() } else { 0 };
                progress::add_expected_bytes(len);
                Box::new(CountedReader(LengthCheckedFile { file, remaining: len }))
            }
            SourceKind::Stdin => Box::new(CountedReader(unbuffered_stdin())),
            SourceKind::Value(_, bytes) => Box::new(io::Cursor::new(Arc::clone(bytes))),
        })
    }

    /// Reads at most `max_len` bytes; the flag is true if these are all bytes of the input.
    pub fn read_head(&self, max_len: u64) -> io::Result<(Vec<u8>, bool)> {
        self.begin_input();
        let mut bytes = Vec::new();
        match &self.kind {
            SourceKind::File(path) => File::open(path)?.take(max_len + 1).read_to_end(&mut bytes)?,
            SourceKind::Stdin => io::stdin().lock().take(max_len + 1).read_to_end(&mut bytes)?,
            SourceKind::Value(_, value) => value.take(max_len + 1).read_to_end(&mut bytes)?,
        };
        let is_complete = bytes.len() as u64 <= max_len;
        bytes.truncate(max_len as usize);
        Ok((bytes, is_complete))
    }
}

/// A file that must yield at least the bytes that it had when it was opened.
struct LengthCheckedFile {
    file: File,
    remaining: u64,
}

impl Read for LengthCheckedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        if count == 0 && self.remaining > 0 && !buffer.is_empty() {
            return Err(file_bytes::shortened_file_error());
        }
        self.remaining = self.remaining.saturating_sub(count as u64);
        Ok(count)
    }
}

/// Returns the standard input without its buffer.
#[cfg(unix)]
fn unbuffered_stdin() -> Box<dyn Read + Send> {
    use std::os::fd::AsFd;
    match io::stdin().as_fd().try_clone_to_owned() {
        Ok(fd) => Box::new(File::from(fd)),
        Err(_) => Box::new(io::stdin()),
    }
}

#[cfg(unix)]
fn stream_metadata(stream: &impl std::os::fd::AsFd) -> io::Result<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned()?).metadata()
}

#[cfg(not(unix))]
fn stream_metadata<T>(_: &T) -> io::Result<Metadata> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn unbuffered_stdin() -> Box<dyn Read + Send> {
    Box::new(io::stdin())
}

/// Collects the ordinary files below a folder. Links to folders are not followed, so the search always ends.
fn collect_files(top: &Path, report: &mut Report, sources: &mut Vec<Source>) {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries = match fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                report.report_io_error(&folder.display().to_string(), &error);
                continue;
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut subfolders = Vec::new();
        for entry in entries {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                subfolders.push(path);
            } else if path.is_file() {
                let relative_path = path.strip_prefix(top).map_or_else(|_| path.clone(), Path::to_owned);
                sources.push(Source { kind: SourceKind::File(path), relative_path });
            }
        }
        folders.extend(subfolders.into_iter().rev());
    }
}
