//! Connections to MongoDB.

use super::MongoBackend;
use super::store_error::store_error;
use crate::address::Address;
use crate::backend::Backend;
use crate::error::{Error, ErrorKind, Result};
use mongodb::options::{Acknowledgment, ClientOptions, ReadConcern, ReadPreference, SelectionCriteria, WriteConcern};
use mongodb::sync::Client;
use std::fmt::Write;
use std::time::Duration;

/// How long to look for a server that accepts writes.
const SERVER_SELECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a database, and updates its collections to the schema version of this program.
pub(crate) fn open_backend(address: &Address) -> Result<Box<dyn Backend>> {
    let (client, name) = connect_client(address)?;
    let mut backend = MongoBackend::from_client(client, &name);
    backend.find_time_command()?;
    backend.migrate()?;
    backend.settle_batches()?;
    Ok(Box::new(backend))
}

/// Returns a client, and the name of the database in the address.
pub(super) fn connect_client(address: &Address) -> Result<(Client, String)> {
    let address_error = |reason: &str| Error::new(ErrorKind::Address, format!("{address} {reason}"));
    let text = address.text_with_secrets();
    if text.starts_with("mongodb+srv:") {
        return Err(address_error(
            "needs DNS records, which this build does not support: name the servers, mongodb://HOST,HOST/NAME",
        ));
    }
    let text = match address.password() {
        Some(password) => insert_password(text, password)
            .ok_or_else(|| address_error("has no user for the password: mongodb://USER@HOST/NAME"))?,
        None => text.to_owned(),
    };
    // The parser's message is not shown, because it may contain a part of the password.
    let mut options = ClientOptions::parse(text).run().map_err(|_| {
        address_error(
            "is invalid: use mongodb://USER:PASSWORD@HOST:PORT/NAME, with @, / and % in a password \
             as %40, %2F and %25",
        )
    })?;
    let name = options.default_database.clone().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| address_error("does not name a database: mongodb://USER@HOST/NAME"))?;
    options.app_name.get_or_insert_with(|| "icecore".to_owned());
    options.server_selection_timeout.get_or_insert(SERVER_SELECTION_TIMEOUT);
    // Confirmed writes are on the disks of most servers, and reads return only such writes.
    options.write_concern = Some(WriteConcern::builder().w(Acknowledgment::Majority).journal(true).build());
    options.read_concern = Some(ReadConcern::majority());
    options.selection_criteria = Some(SelectionCriteria::ReadPreference(ReadPreference::Primary));
    Ok((Client::with_options(options).map_err(store_error)?, name))
}

/// Returns the address with a password that was kept elsewhere.
fn insert_password(text: &str, password: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (user, rest) = rest.split_once('@').filter(|(user, _)| !user.is_empty() && !user.contains(['/', '?']))?;
    let user = user.split(':').next().unwrap_or_default();
    let mut escaped = String::new();
    for byte in password.bytes() {
        match byte.is_ascii_alphanumeric() {
            true => escaped.push(char::from(byte)),
            false => drop(write!(escaped, "%{byte:02X}")),
        }
    }
    Some(format!("{scheme}://{user}:{escaped}@{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_inserted_into_addresses() {
        let put = |text: &str| insert_password(text, "a/@ü");
        assert_eq!(put("mongodb://ann@db/x").as_deref(), Some("mongodb://ann:a%2F%40%C3%BC@db/x"));
        assert_eq!(put("mongodb://ann:old@db/x?w=1").as_deref(), Some("mongodb://ann:a%2F%40%C3%BC@db/x?w=1"));
        assert_eq!(put("mongodb://db/x"), None);
        assert_eq!(put("mongodb://db/x?appName=a@b"), None);
    }

    #[test]
    fn invalid_addresses_are_refused_without_their_password() {
        for text in [
            "mongodb://ann:secret@db",
            "mongodb://ann:se%cret@db/",
            "mongodb+srv://ann:secret@db/x",
            "mongodb://ann:secret@:x/y",
        ] {
            let address: Address = text.parse().expect("an address");
            let error = connect_client(&address).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::Address, "{text}: {error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
