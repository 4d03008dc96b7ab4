//! Opens databases by their addresses.

use crate::address::{Address, Scheme};
use crate::backend::Backend;
use crate::driver::{self, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::query::EachLine;
use crate::sql::SqlBackend;

/// Opens a database, and brings its tables to the version of this program.
///
/// # Errors
/// Of kind `Address` if the driver is not in this build, `Away` if the database can't be
/// reached, `Schema` if a newer program made its tables.
pub fn open(address: &Address) -> Result<Box<dyn Backend>> {
    Reopener::new(address.clone()).open()
}

/// Opens the same database again and again, for programs that keep several connections or replace
/// lost ones.
///
/// The first connection finds the file of SQLite. Later ones take no other file in its place: a
/// file that was put there while the program runs may be a half of a copy, or stand beside the log
/// of the one before. They do not make a new file either.
pub struct Reopener {
    address: Address,
    #[cfg(feature = "sqlite")]
    file: driver::PinnedFile,
}

impl Reopener {
    /// Nothing is opened yet.
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
    /// As for [`open`]; of kind `Moved` if the path names another file than at first, or none.
    pub fn open(&self) -> Result<Box<dyn Backend>> {
        let session: Box<dyn Session + Send> = match self.address.scheme() {
            #[cfg(feature = "mongodb")]
            Scheme::Mongodb => return crate::mongo::open(&self.address),
            #[cfg(feature = "sqlite")]
            Scheme::Sqlite => driver::connect_pinned(&self.address, &self.file)?,
            _ => driver::connect(&self.address)?,
        };
        Ok(Box::new(SqlBackend::open(session)?))
    }
}

/// Hands over the documents of a collection of MongoDB as rows, their fields as columns. `wanted`
/// says as JSON what they must have, as `find` takes it. Nothing is written.
///
/// # Errors
/// As for [`open`]; of kind `Input`, if this is no such database, or `wanted` is no JSON object.
pub fn documents(address: &Address, collection: &str, wanted: Option<&str>, each: EachLine<'_>) -> Result<()> {
    match address.scheme() {
        #[cfg(feature = "mongodb")]
        Scheme::Mongodb => crate::mongo::documents(address, collection, wanted, each),
        #[cfg(not(feature = "mongodb"))]
        Scheme::Mongodb => {
            let _ = (collection, wanted, each);
            Err(driver::missing(Scheme::Mongodb))
        }
        _ => Err(Error::new(
            ErrorKind::Input,
            format!("{address} has no collections: MongoDB has, and others have a query"),
        )),
    }
}
