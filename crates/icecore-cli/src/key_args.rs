//! A value stored under a key of Redis or memcached, read instead of a file.

use crate::database::{Database, database_error};
use crate::report::{Abort, Report, code};
use crate::source::Source;
use clap::Args;
use icecore_store::{ErrorKind, Scheme, parse_key, read_value, spell_key};
use std::path::PathBuf;

/// Maximum number of bytes of a value.
const MAX_VALUE_LEN: u64 = 1 << 30;

/// The value to read.
#[derive(Debug, Args)]
pub struct KeyArgs {
    #[command(flatten)]
    pub database: Database,
    /// Read the value under this key of the Redis or memcached of --db, instead of a file
    ///
    /// Write the key as `icecore rows` shows it: a key that is not UTF-8, or has control characters, is `hex:` and its
    /// bytes in hexadecimal.
    #[arg(long, value_name = "KEY", conflicts_with = "files", allow_hyphen_values = true, display_order = 810)]
    pub key: Option<String>,
    /// Read this field of a hash, this index of a list, or this ID/FIELD of a stream
    #[arg(long, value_name = "FIELD", requires = "key", allow_hyphen_values = true, display_order = 811)]
    pub field: Option<String>,
}

impl KeyArgs {
    /// Returns the value, or the files.
    pub fn find_sources(&self, files: &[PathBuf], report: &mut Report) -> Result<Vec<Source>, Abort> {
        let Some(key) = &self.key else {
            if self.database.db.is_some() || self.database.db_file.is_some() {
                let text = "--db needs --key KEY here; `icecore rows --db URL` reads tables".to_owned();
                return Err(Abort::Failed(code::USAGE, text));
            }
            return Ok(Source::find_all(files, report));
        };
        let address = self.database.resolve_address()?;
        if !matches!(address.scheme(), Scheme::Redis | Scheme::Memcached) {
            let text = format!(
                "{address} has no keys of Redis or memcached: `icecore store get KEY` reads an object of a store, and \
                 `icecore rows --table TABLE` a table"
            );
            return Err(Abort::Failed(code::USAGE, text));
        }
        let key = parse_key(key).map_err(database_error)?;
        let field = self.field.as_deref().map(parse_key).transpose().map_err(database_error)?;
        let bytes = read_value(&address, &key, field.as_deref(), MAX_VALUE_LEN).map_err(|error| {
            match error.kind() {
                // Same exit code as for a missing file.
                ErrorKind::Missing => Abort::Failed(code::USAGE, error.to_string()),
                _ => database_error(error),
            }
        })?;
        let mut name = spell_key(&key).into_owned();
        if let Some(field) = &self.field {
            name = format!("{name} {field}");
        }
        Ok(vec![Source::from_value(name, bytes)])
    }
}
