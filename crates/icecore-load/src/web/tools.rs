//! The programs of a PHP web server.

use std::path::{Path, PathBuf};

/// Locations of the programs.
#[derive(Clone, Debug)]
pub(super) struct Tools {
    pub fpm: PathBuf,
    pub nginx: PathBuf,
    /// Ends the servers even if this program is killed. Not every system has it.
    pub setpriv: Option<PathBuf>,
    /// Folder with Icecore's modules, if they are not installed.
    pub modules: Option<PathBuf>,
}

/// Missing programs, and the command that installs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTools {
    /// `nginx and php-fpm`
    pub programs: String,
    /// `apt-get install nginx-light php-fpm`
    pub install: String,
}

/// Checks that web scenarios can run here.
///
/// # Errors
///
/// The missing programs.
pub fn check_tools() -> Result<(), MissingTools> {
    find_tools(&program_folders()).map(drop)
}

/// Looks for the programs in these folders.
pub(super) fn find_tools(folders: &[PathBuf]) -> Result<Tools, MissingTools> {
    let find_program = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    let fpm = find_program("php-fpm").or_else(|| find_versioned_fpm(folders));
    match (fpm, find_program("nginx")) {
        (Some(fpm), Some(nginx)) => Ok(Tools { fpm, nginx, setpriv: find_program("setpriv"), modules: None }),
        (fpm, nginx) => {
            let missing = [(nginx.is_none(), "nginx", "nginx-light"), (fpm.is_none(), "php-fpm", "php-fpm")];
            let missing: Vec<_> = missing.iter().filter(|(is_gone, _, _)| *is_gone).collect();
            let names: Vec<&str> = missing.iter().map(|(_, name, _)| *name).collect();
            let packages: Vec<&str> = missing.iter().map(|(_, _, package)| *package).collect();
            Err(MissingTools {
                programs: names.join(" and "),
                install: format!("apt-get install {}", packages.join(" ")),
            })
        }
    }
}

/// Returns the newest php-fpm with a version in its name, as on Debian: `php-fpm8.2`.
fn find_versioned_fpm(folders: &[PathBuf]) -> Option<PathBuf> {
    let mut found: Vec<((u32, u32), PathBuf)> = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if let Some(version) = parse_fpm_version(&entry.path()) {
                found.push((version, entry.path()));
            }
        }
    }
    found.into_iter().max().map(|(_, path)| path)
}

fn parse_fpm_version(path: &Path) -> Option<(u32, u32)> {
    let version = path.file_name()?.to_str()?.strip_prefix("php-fpm")?;
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the folders in PATH and those of administration programs, which are often not in PATH.
pub(super) fn program_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_php_is_found_and_missing_programs_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = [folder.path().to_owned()];
        let missing = find_tools(&places).expect_err("nothing is there");
        assert_eq!(missing.programs, "nginx and php-fpm");
        assert_eq!(missing.install, "apt-get install nginx-light php-fpm");
        for name in ["php-fpm8.9", "php-fpm8.10", "php-fpm.conf", "nginx"] {
            std::fs::write(folder.path().join(name), "").expect("it is written");
        }
        let tools = find_tools(&places).expect("all is there");
        assert_eq!(tools.fpm, folder.path().join("php-fpm8.10"));
        std::fs::remove_file(folder.path().join("nginx")).expect("it is removed");
        assert_eq!(find_tools(&places).expect_err("nginx is gone").install, "apt-get install nginx-light");
    }
}
