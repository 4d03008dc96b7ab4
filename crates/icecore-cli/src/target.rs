//! Files to write: they appear when they are complete.

use crate::report::{Stop, code, plain};
use crate::sink::Sink;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Where a conversion goes.
pub struct Target {
    pub sink: Sink,
    file: Option<Pending>,
}

/// A file under a temporary name, which is taken away if nothing comes of it.
struct Pending {
    temporary: PathBuf,
    path: PathBuf,
    kept: bool,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl Target {
    pub fn stdout() -> Target {
        Target { sink: Sink::stdout(), file: None }
    }

    /// A file; one that exists is replaced in the end.
    pub fn file(path: &Path) -> Result<Target, Stop> {
        // A device or a pipe can't be replaced: it is written to.
        if path.metadata().is_ok_and(|known| !known.is_file() && !known.is_dir()) {
            let file = File::options().write(true).open(path).map_err(|error| failed(path, &error))?;
            return Ok(Target { sink: Sink::new(Box::new(file), path.display().to_string()), file: None });
        }
        if path.is_dir() {
            let help = "it is a folder: --out-dir writes into one";
            return Err(Stop::Failed(code::USAGE, format!("{}: {help}", path.display())));
        }
        // What a link points to is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut temporary = path.clone().into_os_string();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let file = File::create_new(&temporary).map_err(|error| failed(&path, &error))?;
        if let Ok(known) = path.metadata() {
            let _ = file.set_permissions(known.permissions());
        }
        let sink = Sink::new(Box::new(file), path.display().to_string());
        Ok(Target { sink, file: Some(Pending { temporary, path, kept: false }) })
    }

    /// Whether this is a file that appears in the end.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// All was written.
    pub fn keep(mut self) -> Result<(), Stop> {
        self.sink.flush()?;
        if let Some(file) = &mut self.file {
            fs::rename(&file.temporary, &file.path).map_err(|error| failed(&file.path, &error))?;
            file.kept = true;
        }
        Ok(())
    }
}

fn failed(path: &Path, error: &io::Error) -> Stop {
    Stop::Failed(code::USAGE, format!("{}: {}", path.display(), plain(error)))
}

/// A folder that mirrors the folders of the input.
pub struct Folder {
    top: PathBuf,
    force: bool,
    /// What this run has written.
    written: HashSet<PathBuf>,
}

impl Folder {
    pub fn new(top: &Path, force: bool) -> Folder {
        Folder { top: top.to_owned(), force, written: HashSet::new() }
    }

    /// The file for the input that stands at `below`; or why it is not
    /// written.
    pub fn target(&mut self, below: &Path, format: &str) -> Result<Target, String> {
        let path = self.top.join(below).with_extension(extension(format));
        let shown = path.display();
        if !self.written.insert(path.clone()) {
            return Err(format!("another input already became {shown}"));
        }
        if !self.force && path.symlink_metadata().is_ok() {
            return Err(format!("{shown} exists (--force overwrites it)"));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {}", folder.display(), plain(&error)))?;
        }
        Target::file(&path).map_err(|stop| match stop {
            Stop::Failed(_, message) => message,
            Stop::Closed => "closed".to_owned(),
        })
    }
}

/// The usual extension of a format's files.
fn extension(format: &str) -> &str {
    match format {
        "sereal" => "srl",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_complete_appears() {
        let folder = std::env::temp_dir().join(format!("icecore-target-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.json");
        let target = Target::file(&path).unwrap();
        drop(target);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let mut target = Target::file(&path).unwrap();
        target.sink.text("[]\n").unwrap_or_else(|_| panic!());
        assert!(!path.exists());
        target.keep().unwrap_or_else(|_| panic!());
        assert_eq!(fs::read(&path).unwrap(), b"[]\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
