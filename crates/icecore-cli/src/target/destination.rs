//! Where output may go: never to an input, and to an existing file only with --force.

use super::file_error;
use crate::file_id::FileId;
use crate::report::{Abort, code};
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links on the way to a destination.
const MAX_LINKS: usize = 40;

/// Restrictions on the outputs of a command.
#[derive(Default)]
pub struct Outputs {
    force: bool,
    /// The inputs that are files, with their names in messages.
    inputs: HashMap<FileId, String>,
    /// The permissions common to all inputs: users who can't read an input must not be able to read an output.
    mode: Option<u32>,
    /// Paths of the outputs so far.
    output_paths: HashSet<PathBuf>,
}

/// Destination of one output.
#[derive(Debug)]
pub enum Destination {
    Stdout,
    /// A device, a pipe or an already open file, which is written to directly.
    Direct(PathBuf),
    /// A file that appears when it is complete.
    File(FileDestination),
}

/// A file to create.
#[derive(Debug)]
pub struct FileDestination {
    /// Its path, with all links resolved.
    pub path: PathBuf,
    /// Metadata of the existing file that it replaces.
    pub existing_metadata: Option<Metadata>,
    /// Permissions of a new file; the default ones if `None`.
    pub mode: Option<u32>,
    pub force: bool,
}

impl Outputs {
    pub fn new(sources: &[Source], force: bool) -> Outputs {
        let mut outputs = Outputs { force, ..Outputs::default() };
        for source in sources {
            outputs.add_input(source);
        }
        outputs
    }

    /// Adds an input.
    pub fn add_input(&mut self, source: &Source) {
        let Ok(metadata) = source.metadata() else { return };
        if !metadata.is_file() {
            return;
        }
        if let Some(mode) = permission_bits(&metadata) {
            // The owner may read and write an output in any case.
            self.mode = Some(self.mode.map_or(mode, |common| common & mode | 0o600));
        }
        if let Some(id) = source.id(&metadata) {
            self.inputs.entry(id).or_insert_with(|| source.name());
        }
    }

    /// Returns the destination of `--output`.
    pub fn output_destination(&mut self, path: Option<&PathBuf>) -> Result<Destination, Abort> {
        match path {
            Some(path) => self.destination_at(path),
            None => self.stdout_destination(),
        }
    }

    /// Returns the destination of an output; `-` is the standard output.
    pub fn destination_at(&mut self, path: &Path) -> Result<Destination, Abort> {
        self.resolve_destination(path, self.mode)
    }

    /// Returns the destination of the output for one of the inputs.
    pub fn destination_for(&mut self, source: &Source, path: &Path) -> Result<Destination, Abort> {
        let metadata = source.metadata().ok().filter(Metadata::is_file);
        self.resolve_destination(path, metadata.and_then(|metadata| permission_bits(&metadata)))
    }

    /// Returns the standard output.
    fn stdout_destination(&self) -> Result<Destination, Abort> {
        if let Ok(metadata) = Source::stdout_metadata() {
            self.check_not_input(Path::new("the standard output"), &metadata)?;
        }
        Ok(Destination::Stdout)
    }

    /// Follows links, and checks that the path may be written: it is not a folder, not an input, not the name of
    /// another output, and does not exist or --force is given.
    fn resolve_destination(&mut self, path: &Path, mode: Option<u32>) -> Result<Destination, Abort> {
        if path.as_os_str() == "-" {
            return self.stdout_destination();
        }
        let requested_path = path;
        let path = match resolve_links(path).map_err(|error| file_error(path, &error))? {
            PathEnd::Stdout => return self.stdout_destination(),
            PathEnd::OpenFile => return Ok(Destination::Direct(path.to_owned())),
            PathEnd::Path(path) => path,
        };
        let existing_metadata = match path.metadata() {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(file_error(requested_path, &error)),
        };
        if let Some(metadata) = &existing_metadata {
            if metadata.is_dir() {
                return Err(destination_error(requested_path, "this is a folder: --out-dir writes into one"));
            }
            if !metadata.is_file() {
                return Ok(Destination::Direct(path));
            }
            self.check_not_input(requested_path, metadata)?;
        }
        if !self.output_paths.insert(path.clone()) {
            return Err(destination_error(requested_path, "another output has this name already"));
        }
        if existing_metadata.is_some() && !self.force {
            return Err(destination_error(requested_path, "this file exists: --force overwrites it"));
        }
        Ok(Destination::File(FileDestination { path, existing_metadata, mode, force: self.force }))
    }

    fn check_not_input(&self, path: &Path, metadata: &Metadata) -> Result<(), Abort> {
        let input = FileId::from_file(path, metadata).and_then(|id| self.inputs.get(&id));
        match input {
            Some(input) if metadata.is_file() => Err(destination_error(
                path,
                &format!(
                    "this is an input ({input}): write to another file; `edit`, `patch` and `replace` change a file itself with --in-place"
                ),
            )),
            _ => Ok(()),
        }
    }
}

fn destination_error(path: &Path, reason: &str) -> Abort {
    Abort::Failed(code::USAGE, format!("{}: {reason}", path.display()))
}

/// What a path leads to.
enum PathEnd {
    /// A path without links, at which there may be no file yet.
    Path(PathBuf),
    /// The standard output, as `/dev/stdout`.
    Stdout,
    /// Another file that this process has open, as `/dev/fd/3`.
    OpenFile,
}

/// Follows symbolic links. The last one may lead to a file that does not exist yet.
fn resolve_links(path: &Path) -> io::Result<PathEnd> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(name) = path.file_name() else { break };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // An error of the folder is reported when the file is created.
        let Ok(folder) = fs::canonicalize(folder) else { break };
        if folder.starts_with("/proc") && folder.ends_with("fd") {
            return Ok(if name == "1" { PathEnd::Stdout } else { PathEnd::OpenFile });
        }
        let full_path = folder.join(name);
        match fs::read_link(&full_path) {
            Ok(link_target) => path = folder.join(link_target),
            Err(_) => return Ok(PathEnd::Path(full_path)),
        }
    }
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_symlink() => Err(io::Error::other("too many links")),
        _ => Ok(PathEnd::Path(path)),
    }
}

#[cfg(unix)]
fn permission_bits(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn permission_bits(_: &Metadata) -> Option<u32> {
    None
}

/// Opens an existing path for direct writing. Bytes are appended to a file.
pub fn open_for_writing(path: &Path) -> io::Result<File> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    File::options().write(true).append(is_file).open(path)
}
