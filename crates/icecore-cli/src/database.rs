//! The options and functions that the commands with a database share.

use crate::report::{Abort, code};
use crate::secrets::{DATABASE, PASSWORD, PASSWORD_FILE};
use clap::Args;
use icecore_store::{Address, Backend, Error, ErrorKind, open};
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

const DEFAULT_DATABASE: &str = "sqlite:icecore.db";

/// The database of a command.
#[derive(Debug, Args)]
pub struct Database {
    /// URL of the database
    ///
    /// One of sqlite:FILE, postgres://USER@HOST/NAME, mysql://USER@HOST/NAME, mongodb://USER@HOST/NAME, and for `rows`
    /// and --key redis://USER@HOST/NUMBER, memcached://HOST. Without it, the environment variable ICECORE_DB is used,
    /// or sqlite:icecore.db.
    ///
    /// Do not put a password into the URL: all users of the machine can see the command line. Use ICECORE_DB_PASSWORD,
    /// a file named by ICECORE_DB_PASSWORD_FILE, or the full URL in the file of --db-file. If the URL does contain a
    /// password, it is removed from the visible command line at once.
    #[arg(long, value_name = "URL", global = true, display_order = 800)]
    pub db: Option<String>,
    /// Read the URL of the database from this file
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "db", display_order = 801)]
    pub db_file: Option<PathBuf>,
}

impl Database {
    /// Returns the address of the database, with its password if there is one.
    pub fn resolve_address(&self) -> Result<Address, Abort> {
        let environment_address = std::env::var(DATABASE).ok().filter(|text| !text.is_empty());
        let text = match (&self.db, &self.db_file) {
            // If the password was removed from the command line (see `hide_password`), the variable has the full
            // address.
            (Some(text), _) => {
                environment_address.filter(|address| is_same_address(address, text)).unwrap_or_else(|| text.clone())
            }
            (None, Some(file)) => read_address_file(file)?,
            (None, None) => environment_address.unwrap_or_else(|| DEFAULT_DATABASE.to_owned()),
        };
        let address = parse_address(&text)?;
        if self.db.as_ref() == Some(&text) && address.has_password() {
            hide_password(&text, &address);
        }
        if address.has_password() {
            return Ok(address);
        }
        let password = std::env::var(PASSWORD).ok().map_or_else(
            || std::env::var_os(PASSWORD_FILE).map(|file| read_first_line(&PathBuf::from(file))).transpose(),
            |password| Ok(Some(password)),
        )?;
        Ok(match password {
            Some(password) => address.with_password(password),
            None => address,
        })
    }

    /// Returns the address of a database. Fails if the file of the database does not exist.
    pub fn resolve_existing_address(&self) -> Result<Address, Abort> {
        let address = self.resolve_address()?;
        check_existence(&address, "")?;
        Ok(address)
    }

    /// Opens a connection for commands that only read a store or a queue; creates no database.
    pub fn open_existing(&self) -> Result<Box<dyn Backend>, Abort> {
        let address = self.resolve_address()?;
        check_existence(
            &address,
            "; `icecore store put` and `icecore queue push` create one, and --db names another one",
        )?;
        open(&address).map_err(database_error)
    }

    /// Opens a connection; creates a database that does not exist yet.
    pub fn open(&self) -> Result<Box<dyn Backend>, Abort> {
        open(&self.resolve_address()?).map_err(database_error)
    }
}

/// Returns an error with this advice if the file of the database does not exist.
fn check_existence(address: &Address, advice: &str) -> Result<(), Abort> {
    let Some(file) = address.missing_file() else { return Ok(()) };
    let file = icecore::text::printable(&file.to_string_lossy()).into_owned();
    Err(Abort::Failed(code::USAGE, format!("there is no database {file}{advice}")))
}

/// Parses the address of a database. A file that exists, or whose name looks like that of a database, is an address
/// too.
pub fn parse_address(text: &str) -> Result<Address, Abort> {
    text.parse().or_else(|error: Error| {
        let is_file = has_database_extension(Path::new(text)) || Path::new(text).is_file();
        match is_file && !text.contains([':', '@']) {
            true => format!("sqlite:{text}").parse().map_err(database_error),
            false => Err(database_error(error)),
        }
    })
}

/// Returns true if the name of the file ends as that of an SQLite database.
fn has_database_extension(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("db" | "sqlite" | "sqlite3" | "db3"))
}

/// Returns true if the file is an SQLite database.
pub fn is_database_file(file: &Path) -> bool {
    // Only a regular file can be read a second time.
    if !std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut first_bytes = [0; 64];
    let len = std::fs::File::open(file).and_then(|mut file| file.read(&mut first_bytes)).unwrap_or(0);
    crate::foreign_input::is_sqlite(&first_bytes[..len])
}

/// Reads the address of a database from a file.
fn read_address_file(file: &PathBuf) -> Result<String, Abort> {
    if is_database_file(file) || has_database_extension(file) && !file.exists() {
        let file = icecore::text::printable(&file.to_string_lossy()).into_owned();
        let text = format!("--db-file names a file that contains the URL of a database: use --db {file}");
        return Err(Abort::Failed(code::USAGE, text));
    }
    read_first_line(file)
}

/// Reads the first line of a file.
pub fn read_first_line(file: &PathBuf) -> Result<String, Abort> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Abort::Failed(code::USAGE, format!("{}: {}", file.display(), crate::report::io_reason(&error)))
    })?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Returns true if `full_address` is the address `visible_address` with a password.
fn is_same_address(full_address: &str, visible_address: &str) -> bool {
    full_address
        .parse()
        .is_ok_and(|full_address: Address| full_address.has_password() && full_address.to_string() == visible_address)
}

/// Restarts the command with the address in its environment, which other users can't see. If that fails, the command
/// continues unchanged.
#[cfg(unix)]
fn hide_password(text: &str, address: &Address) {
    use std::os::unix::process::CommandExt;
    let Ok(program) = std::env::current_exe() else { return };
    let mut words = std::env::args_os();
    let mut command = std::process::Command::new(program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    let mut new_words: Vec<OsString> = Vec::new();
    while let Some(word) = words.next() {
        if word == "--db" {
            words.next();
        } else if !word.to_string_lossy().starts_with("--db=") {
            new_words.push(word);
            continue;
        }
        new_words.push(format!("--db={address}").into());
    }
    let _ = command.args(new_words).env(DATABASE, text).exec();
}

#[cfg(not(unix))]
fn hide_password(_text: &str, _address: &Address) {}

/// Converts an error of a database into the end of the command.
pub fn database_error(error: Error) -> Abort {
    let code = match error.kind() {
        ErrorKind::Missing => code::FINDING,
        ErrorKind::Address | ErrorKind::Away | ErrorKind::Moved | ErrorKind::Input | ErrorKind::Schema => code::USAGE,
        _ => code::OTHER,
    };
    Abort::Failed(code, error.to_string())
}

/// Adds the names of the tables to an error, if the database has no table of this name.
pub fn table_error(address: &Address, table: &str, error: Abort) -> Abort {
    let Abort::Failed(code, message) = error else { return error };
    let names = icecore_store::table::list_names(address).unwrap_or_default();
    let exists = names.iter().any(|name| name == table) || table.contains('.');
    match explain_missing_table(table, &names) {
        Some(advice) if !exists => Abort::Failed(code, format!("{message}; {advice}")),
        _ => Abort::Failed(code, message),
    }
}

/// Returns which table was probably meant, or else which tables there are. `None` if there are none.
pub fn explain_missing_table(table: &str, names: &[String]) -> Option<String> {
    use icecore::text::{printable, shortened};
    let quote = |name: &str| format!("`{}`", shortened(&printable(name), 64));
    if let Some(similar) = icecore::text::nearest(table, names.iter().map(String::as_str)) {
        return Some(format!("did you mean {}?", quote(similar)));
    }
    let quoted_names: Vec<String> = names.iter().map(|name| quote(name)).collect();
    (!quoted_names.is_empty()).then(|| format!("the tables are {}", icecore_tables::plural::join_names(&quoted_names)))
}

/// Returns the name of the user for the records: that of the system, not of the database.
pub fn current_user_name() -> String {
    let user = ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let user = user.unwrap_or_else(|| "somebody".to_owned());
    let user_at_host = match host.trim() {
        "" => user,
        host => format!("{user}@{host}"),
    };
    icecore::text::shortened(&icecore::text::printable(&user_at_host), 200).into_owned()
}

/// Parses an id from the command line.
pub fn parse_id(text: &str) -> Result<icecore_store::Id, String> {
    text.parse().map_err(|error: icecore_store::InvalidId| error.to_string())
}

/// Parses a duration from the command line.
pub fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    icecore_store::time::parse_duration(text).map_err(|error| error.to_string())
}
