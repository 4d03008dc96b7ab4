//! Opens databases by their addresses.

use crate::address::{Address, Scheme};
use crate::backend::Backend;
use crate::driver::{self, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::query::EachLine;
use crate::sql::SqlBackend;

/// Opens a database and updates its tables to the schema version of this program.
///
/// # Errors
/// Of kind `Address` if the driver is not in this build, `Away` if the database can't be reached, `Schema` if a newer
/// program created its tables.
pub fn open(address: &Address) -> Result<Box<dyn Backend>> {
    Reopener::new(address.clone()).open()
}

/// Opens the same database several times, for programs that keep several connections or replace lost ones.
///
/// The first connection remembers the SQLite file. Later connections refuse any other file at this path. Such a file
/// may be an incomplete copy, or be next to the log of the previous file. Later connections do not create a file
/// either.
pub struct Reopener {
    address: Address,
    #[cfg(feature = "sqlite")]
    file: driver::PinnedFile,
}

impl Reopener {
    /// Creates a reopener. It does not open a connection yet.
    pub fn new(address: Address) -> Reopener {
        Reopener {
            address,
            #[cfg(feature = "sqlite")]
            file: driver::PinnedFile::default(),
        }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// As for [`open`]; of kind `Moved` if the path no longer names the file of the first connection.
    pub fn open(&self) -> Result<Box<dyn Backend>> {
        let session: Box<dyn Session + Send> = match self.address.scheme() {
            #[cfg(feature = "mongodb")]
            Scheme::Mongodb => return crate::mongo::open_backend(&self.address),
            #[cfg(feature = "sqlite")]
            Scheme::Sqlite => driver::connect_pinned(&self.address, &self.file)?,
            _ => driver::connect(&self.address)?,
        };
        Ok(Box::new(SqlBackend::open(session)?))
    }
}

/// Passes the documents of a MongoDB collection to `each` as rows, with their fields as columns. `filter` is a filter
/// in JSON, as `find` takes it. Writes nothing.
///
/// # Errors
/// As for [`open`]; of kind `Input` if the database is not MongoDB, or `filter` is not a JSON object.
pub fn read_documents(address: &Address, collection: &str, filter: Option<&str>, each: EachLine<'_>) -> Result<()> {
    match address.scheme() {
        #[cfg(feature = "mongodb")]
        Scheme::Mongodb => crate::mongo::read_documents(address, collection, filter, each),
        #[cfg(not(feature = "mongodb"))]
        Scheme::Mongodb => {
            let _ = (collection, filter, each);
            Err(driver::missing_driver_error(Scheme::Mongodb))
        }
        _ => Err(Error::new(
            ErrorKind::Input,
            format!("{address} has no collections: only MongoDB has; use a query instead"),
        )),
    }
}
