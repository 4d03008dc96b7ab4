//! Where output may go: never onto an input, and onto what exists only if that is
//! asked for.

use super::failed;
use crate::file_id::FileId;
use crate::report::{Abort, code};
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// How many links a path may lead over.
const LINKS: usize = 40;

/// What the outputs of a command may not be.
#[derive(Default)]
pub struct Outputs {
    force: bool,
    /// The inputs that are files, and how messages call them.
    inputs: HashMap<FileId, String>,
    /// The permissions that all inputs have: an output is not readable for users that an
    /// input is not readable for.
    mode: Option<u32>,
    written: HashSet<PathBuf>,
}

/// Where one output goes.
#[derive(Debug)]
pub enum Destination {
    Stdout,
    /// A device, a pipe, or what is open already: it is written to as it is.
    Open(PathBuf),
    /// A file that appears when it is complete.
    File(FileDestination),
}

/// A file that is to appear.
#[derive(Debug)]
pub struct FileDestination {
    /// Its path, over all links.
    pub path: PathBuf,
    /// What stands there now, and is replaced.
    pub known: Option<Metadata>,
    /// The permissions of a new one; those that are usual, if nothing is said.
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

    /// One more input.
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

    /// Where what `--output` names goes.
    pub fn output(&mut self, path: Option<&PathBuf>) -> Result<Destination, Abort> {
        match path {
            Some(path) => self.place(path),
            None => self.stdout(),
        }
    }

    /// Where an output goes; `-` is the standard output.
    pub fn place(&mut self, path: &Path) -> Result<Destination, Abort> {
        self.place_of(path, self.mode)
    }

    /// Where the output for one of the inputs goes.
    pub fn place_for(&mut self, source: &Source, path: &Path) -> Result<Destination, Abort> {
        let known = source.metadata().ok().filter(Metadata::is_file);
        self.place_of(path, known.and_then(|known| mode(&known)))
    }

    /// The standard output.
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
                return Err(refused(shown, "it is a folder: --out-dir writes into one"));
            }
            if !known.is_file() {
                return Ok(Destination::Open(path));
            }
            self.refuse_input(shown, known)?;
        }
        if !self.written.insert(path.clone()) {
            return Err(refused(shown, "another output goes there already"));
        }
        if known.is_some() && !self.force {
            return Err(refused(shown, "it exists (--force overwrites it)"));
        }
        Ok(Destination::File(FileDestination { path, known, mode, force: self.force }))
    }

    fn refuse_input(&self, path: &Path, known: &Metadata) -> Result<(), Abort> {
        let input = FileId::of(path, known).and_then(|id| self.inputs.get(&id));
        match input {
            Some(input) if known.is_file() => {
                Err(refused(path, &format!("it is an input ({input}): write to another file")))
            }
            _ => Ok(()),
        }
    }
}

fn refused(path: &Path, why: &str) -> Abort {
    Abort::Failed(code::USAGE, format!("{}: {why}", path.display()))
}

/// Where a path leads to.
enum End {
    Path(PathBuf),
    /// A file that this program has open, by its number.
    Open(&'static str),
}

/// Follows links, as far as they lead; the last one may lead to nothing yet.
fn end_of(path: &Path) -> io::Result<End> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Some(name) = path.file_name() else { break };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // An error of the folder is reported when the file is made.
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

/// What is open under this name is written to as it is: a file gets longer.
pub fn open(path: &Path) -> io::Result<File> {
    let is_file = path.metadata().is_ok_and(|known| known.is_file());
    File::options().write(true).append(is_file).open(path)
}
