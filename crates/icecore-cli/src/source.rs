//! Inputs: files, folders, the standard input.

use crate::map::{self, Bytes};
use crate::report::Report;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An input.
#[derive(Clone, Debug)]
pub struct Source {
    /// None is the standard input.
    path: Option<PathBuf>,
    /// The path below the folder that was named; the file name, if the file
    /// itself was.
    pub below: PathBuf,
}

impl Source {
    fn stdin() -> Source {
        Source { path: None, below: PathBuf::from("stdin") }
    }

    /// One file, or the standard input.
    pub fn one(path: Option<&Path>) -> Source {
        match path {
            None => Source::stdin(),
            Some(path) if path.as_os_str() == "-" => Source::stdin(),
            Some(path) => Source {
                path: Some(path.to_owned()),
                below: path.file_name().map_or_else(|| path.to_owned(), PathBuf::from),
            },
        }
    }

    /// All inputs: folders are replaced by the files in them, sorted. What
    /// can't be listed is reported.
    pub fn all(paths: &[PathBuf], report: &mut Report) -> Vec<Source> {
        if paths.is_empty() {
            return vec![Source::stdin()];
        }
        let mut sources = Vec::new();
        for path in paths {
            if path.as_os_str() != "-" && path.is_dir() {
                below(path, report, &mut sources);
            } else {
                sources.push(Source::one(Some(path)));
            }
        }
        sources
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "stdin".to_owned(), |path| path.display().to_string())
    }

    /// All its bytes. A large file is mapped.
    pub fn read(&self) -> io::Result<Bytes> {
        match &self.path {
            Some(path) => map::file(path),
            None => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes)?;
                Ok(Bytes::Read(bytes))
            }
        }
    }

    /// Its bytes, one after the other.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.path {
            Some(path) => Box::new(File::open(path)?),
            None => stdin(),
        })
    }

    /// Its first bytes, and whether these are all.
    pub fn head(&self, most: u64) -> io::Result<(Vec<u8>, bool)> {
        let mut bytes = Vec::new();
        match &self.path {
            Some(path) => File::open(path)?.take(most + 1).read_to_end(&mut bytes)?,
            None => io::stdin().lock().take(most + 1).read_to_end(&mut bytes)?,
        };
        let whole = bytes.len() as u64 <= most;
        bytes.truncate(most as usize);
        Ok((bytes, whole))
    }
}

/// The standard input, without the buffer around it.
#[cfg(unix)]
fn stdin() -> Box<dyn Read + Send> {
    use std::os::fd::AsFd;
    match io::stdin().as_fd().try_clone_to_owned() {
        Ok(fd) => Box::new(File::from(fd)),
        Err(_) => Box::new(io::stdin()),
    }
}

#[cfg(not(unix))]
fn stdin() -> Box<dyn Read + Send> {
    Box::new(io::stdin())
}

/// The ordinary files below a folder. Links to folders are not followed, so
/// that this ends.
fn below(top: &Path, report: &mut Report, sources: &mut Vec<Source>) {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries = match fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                report.io(&folder.display().to_string(), &error);
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
                sources.push(Source { path: Some(path), below });
            }
        }
        folders.extend(inner.into_iter().rev());
    }
}
