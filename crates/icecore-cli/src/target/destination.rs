//! Where output may go: never to an input, and to an existing file only with --force.

use super::failed;
use crate::file_id::FileId;
use crate::report::{Abort, code};
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links that a path may follow.
const LINKS: usize = 40;

/// Restrictions on the outputs of a command.
#[derive(Default)]
pub struct Outputs {
    force: bool,
    /// The inputs that are files, with their names in messages.
    inputs: HashMap<FileId, String>,
    /// The permissions common to all inputs: users who can't read an input must not be able to read an output.
    mode: Option<u32>,
    written: HashSet<PathBuf>,
}

/// Destination of one output.
#[derive(Debug)]
pub enum Destination {
    Stdout,
    /// A device, a pipe or an already open file: it is written to directly.
    Open(PathBuf),
    /// A file that appears when it is complete.
    File(FileDestination),
}

/// A file to create.
#[derive(Debug)]
pub struct FileDestination {
    /// Its path, with all links resolved.
    pub path: PathBuf,
    /// Metadata of the existing file that it replaces.
    pub known: Option<Metadata>,
    /// Permissions of a new file; the default ones if `None`.
    pub mode: Option<u32>,
    pub force: bool,
}

impl Outputs {
    pub fn new(sources: &[Source], force: bool) -> Outputs {
        let mut outputs = Outputs { force, ..Outputs::default() };
        for source in sources {
            outputs.input(source);
        }
        outputs
    }

    /// Adds an input.
    pub fn input(&mut self, source: &Source) {
        let Ok(known) = source.metadata() else { return };
        if !known.is_file() {
            return;
        }
        if let Some(mode) = mode(&known) {
            self.mode = Some(self.mode.map_or(mode, |others| others & mode | 0o600));
        }
        if let Some(id) = source.id(&known) {
            self.inputs.entry(id).or_insert_with(|| source.name());
        }
    }

    /// Returns the destination of `--output`.
    pub fn output(&mut self, path: Option<&PathBuf>) -> Result<Destination, Abort> {
        match path {
            Some(path) => self.place(path),
            None => self.stdout(),
        }
    }

    /// Returns the destination of an output; `-` is the standard output.
    pub fn place(&mut self, path: &Path) -> Result<Destination, Abort> {
        self.place_of(path, self.mode)
    }

    /// Returns the destination of the output for one of the inputs.
    pub fn place_for(&mut self, source: &Source, path: &Path) -> Result<Destination, Abort> {
        let known = source.metadata().ok().filter(Metadata::is_file);
        self.place_of(path, known.and_then(|known| mode(&known)))
    }

    /// Returns the standard output.
    fn stdout(&self) -> Result<Destination, Abort> {
        if let Ok(known) = Source::of_stdout() {
            self.refuse_input(Path::new("the standard output"), &known)?;
        }
        Ok(Destination::Stdout)
    }

    fn place_of(&mut self, path: &Path, mode: Option<u32>) -> Result<Destination, Abort> {
        if path.as_os_str() == "-" {
            return self.stdout();
        }
        let shown = path;
        let path = match end_of(path).map_err(|error| failed(path, &error))? {
            End::Open("1") => return self.stdout(),
            End::Open(_) => return Ok(Destination::Open(path.to_owned())),
            End::Path(path) => path,
        };
        let known = match path.metadata() {
            Ok(known) => Some(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(shown, &error)),
        };
        if let Some(known) = &known {
            if known.is_dir() {
                return Err(refused(shown, "this is a folder: --out-dir writes into one"));
            }
            if !known.is_file() {
                return Ok(Destination::Open(path));
            }
            self.refuse_input(shown, known)?;
        }
        if !self.written.insert(path.clone()) {
            return Err(refused(shown, "another output has this name already"));
        }
        if known.is_some() && !self.force {
            return Err(refused(shown, "this file exists: --force overwrites it"));
        }
        Ok(Destination::File(FileDestination { path, known, mode, force: self.force }))
    }

    fn refuse_input(&self, path: &Path, known: &Metadata) -> Result<(), Abort> {
        let input = FileId::of(path, known).and_then(|id| self.inputs.get(&id));
        match input {
            Some(input) if known.is_file() => {
                Err(refused(path, &format!("this is an input ({input}): write to another file")))
            }
            _ => Ok(()),
        }
    }
}

fn refused(path: &Path, why: &str) -> Abort {
    Abort::Failed(code::USAGE, format!("{}: {why}", path.display()))
}

/// The target of a path.
enum End {
    Path(PathBuf),
    /// A file that this process has open, by its number.
    Open(&'static str),
}

/// Follows links to their end; the last one may lead to a file that does not exist yet.
fn end_of(path: &Path) -> io::Result<End> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Some(name) = path.file_name() else { break };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // An error of the folder is reported when the file is created.
        let Ok(folder) = fs::canonicalize(folder) else { break };
        if folder.starts_with("/proc") && folder.ends_with("fd") {
            return Ok(End::Open(if name == "1" { "1" } else { "" }));
        }
        let full = folder.join(name);
        match fs::read_link(&full) {
            Ok(to) => path = folder.join(to),
            Err(_) => return Ok(End::Path(full)),
        }
    }
    match fs::symlink_metadata(&path) {
        Ok(known) if known.is_symlink() => Err(io::Error::other("too many links")),
        _ => Ok(End::Path(path)),
    }
}

#[cfg(unix)]
fn mode(known: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(known.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Opens an existing path for direct writing: a file is appended to.
pub fn open(path: &Path) -> io::Result<File> {
    let is_file = path.metadata().is_ok_and(|known| known.is_file());
    File::options().write(true).append(is_file).open(path)
}
