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
    place: SourcePlace,
    /// The path relative to the folder that was given, or the file name if the file itself was given.
    pub below: PathBuf,
}

#[derive(Clone, Debug)]
enum SourcePlace {
    Stdin,
    File(PathBuf),
    /// Bytes from elsewhere, and their name there.
    #[cfg_attr(not(feature = "store"), expect(dead_code, reason = "for databases"))]
    Value(String, Arc<[u8]>),
}

impl Source {
    fn stdin() -> Source {
        Source { place: SourcePlace::Stdin, below: PathBuf::from("stdin") }
    }

    /// Returns one file, or the standard input.
    pub fn from_path(path: Option<&Path>) -> Source {
        match path {
            None => Source::stdin(),
            Some(path) if path.as_os_str() == "-" => Source::stdin(),
            Some(path) => Source {
                place: SourcePlace::File(path.to_owned()),
                below: path.file_name().map_or_else(|| path.to_owned(), PathBuf::from),
            },
        }
    }

    /// Returns a value that has this name in a database.
    #[cfg(feature = "store")]
    pub fn from_value(name: String, bytes: Vec<u8>) -> Source {
        /// Maximum length of the name of a file.
        const MAX_NAME_LEN: usize = 100;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let below: String =
            name.chars().take(MAX_NAME_LEN).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        Source { place: SourcePlace::Value(name, bytes.into()), below: PathBuf::from(below) }
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
                let before = sources.len();
                collect_files(path, report, &mut sources);
                if sources.len() == before {
                    report.note(&path.display().to_string(), "empty", "there are no files in this folder".to_owned());
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
        match &self.place {
            SourcePlace::Stdin => "stdin".to_owned(),
            SourcePlace::File(path) => path.display().to_string(),
            SourcePlace::Value(name, _) => name.clone(),
        }
    }

    /// Returns the path, if this is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            SourcePlace::File(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the metadata of the file.
    pub fn metadata(&self) -> io::Result<Metadata> {
        match &self.place {
            SourcePlace::File(path) => fs::metadata(path),
            SourcePlace::Stdin => stream_metadata(&io::stdin()),
            SourcePlace::Value(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Returns the metadata of the standard output.
    pub fn stdout_metadata() -> io::Result<Metadata> {
        stream_metadata(&io::stdout())
    }

    /// Returns the identity of the file.
    pub fn id(&self, known: &Metadata) -> Option<FileId> {
        let path = if let SourcePlace::File(path) = &self.place { path } else { Path::new("-") };
        FileId::from_file(path, known)
    }

    /// Reads all bytes.
    pub fn read(&self) -> io::Result<Bytes> {
        self.begin_input();
        match &self.place {
            SourcePlace::File(path) => file_bytes::read_file(path),
            SourcePlace::Stdin => {
                let mut bytes = Vec::new();
                progress::read_to_end(io::stdin().lock(), &mut bytes)?;
                Ok(Bytes::Read(bytes))
            }
            SourcePlace::Value(_, bytes) => Ok(Bytes::Read(bytes.to_vec())),
        }
    }

    /// Notes that the work on this input begins.
    fn begin_input(&self) {
        if matches!(self.place, SourcePlace::Stdin) && io::stdin().is_terminal() {
            // The user types the input on the terminal.
            progress::remove_line();
        }
        progress::begin_input(&self.name());
    }

    /// Opens the file, if this is one.
    pub fn open_file(&self) -> Option<io::Result<File>> {
        match &self.place {
            SourcePlace::File(path) => Some(File::open(path)),
            SourcePlace::Stdin | SourcePlace::Value(..) => None,
        }
    }

    /// Opens the input for reading in sequence.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.begin_input();
        Ok(match &self.place {
            SourcePlace::File(path) => {
                let file = File::open(path)?;
                let known = file.metadata()?;
                let len = if known.is_file() { known.len() } else { 0 };
                progress::add_expected_bytes(len);
                Box::new(CountedReader(LengthCheckedFile { file, remaining: len }))
            }
            SourcePlace::Stdin => Box::new(CountedReader(unbuffered_stdin())),
            SourcePlace::Value(_, bytes) => Box::new(io::Cursor::new(Arc::clone(bytes))),
        })
    }

    /// Reads the first bytes, and returns whether these are all.
    pub fn read_head(&self, max_len: u64) -> io::Result<(Vec<u8>, bool)> {
        self.begin_input();
        let mut bytes = Vec::new();
        match &self.place {
            SourcePlace::File(path) => File::open(path)?.take(max_len + 1).read_to_end(&mut bytes)?,
            SourcePlace::Stdin => io::stdin().lock().take(max_len + 1).read_to_end(&mut bytes)?,
            SourcePlace::Value(_, value) => value.take(max_len + 1).read_to_end(&mut bytes)?,
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
        let mut inner = Vec::new();
        for entry in entries {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                inner.push(path);
            } else if path.is_file() {
                let below = path.strip_prefix(top).map_or_else(|_| path.clone(), Path::to_owned);
                sources.push(Source { place: SourcePlace::File(path), below });
            }
        }
        folders.extend(inner.into_iter().rev());
    }
}
