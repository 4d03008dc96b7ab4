//! What the suites share: databases to test on, a way into them that is not the store, and
//! patience.
#![allow(dead_code, unused_imports, reason = "each suite uses a part of it")]

#[cfg(feature = "mongodb")]
mod documents;
mod patience;
mod random_numbers;
mod table;

use icecore_store::{Address, Backend, Error, ErrorKind, Flow, Job, JobFilter, Scheme, open};
pub use patience::{patiently, until};
pub use random_numbers::Random;
use std::cell::RefCell;
use std::time::Duration;
pub use table::{Cell, Cells};

/// Returns the address of a new database each time it is called.
pub type NewDatabase = Box<dyn Fn() -> Address + Send + Sync>;

/// An hour: for a lease that does not end, or a time that does not come, during a test.
pub const HOUR: Duration = Duration::from_secs(3_600);

/// Returns the available databases: always SQLite, and servers if their addresses are set in
/// `ICECORE_TEST_POSTGRES`, `ICECORE_TEST_MYSQL` and `ICECORE_TEST_MONGODB`. The user there must be
/// allowed to create databases; these stay for inspection.
#[allow(clippy::vec_init_then_push, unused_mut, reason = "not all of them are in each build")]
pub fn backends() -> Vec<(&'static str, NewDatabase)> {
    let mut all: Vec<(&'static str, NewDatabase)> = Vec::new();
    #[cfg(feature = "sqlite")]
    all.push(("sqlite", Box::new(new_sqlite_address)));
    #[cfg(feature = "postgres")]
    match std::env::var("ICECORE_TEST_POSTGRES") {
        Ok(server) => all.push(("postgres", Box::new(move || servers::new_database(&server)))),
        Err(_) => eprintln!("SKIPPED: PostgreSQL, as ICECORE_TEST_POSTGRES is not set"),
    }
    #[cfg(feature = "mysql")]
    match std::env::var("ICECORE_TEST_MYSQL") {
        Ok(server) => all.push(("mysql", Box::new(move || servers::new_database(&server)))),
        Err(_) => eprintln!("SKIPPED: MySQL, as ICECORE_TEST_MYSQL is not set"),
    }
    #[cfg(feature = "mongodb")]
    match std::env::var("ICECORE_TEST_MONGODB") {
        Ok(server) => all.push(("mongodb", Box::new(move || documents::new_database(&server)))),
        Err(_) => eprintln!("SKIPPED: MongoDB, as ICECORE_TEST_MONGODB is not set"),
    }
    all
}

/// Returns the backends that speak SQL.
pub fn sql_backends() -> Vec<(&'static str, NewDatabase)> {
    backends().into_iter().filter(|(name, _)| *name != "mongodb").collect()
}

thread_local! {
    /// Removed when the thread of a test ends.
    static FOLDERS: RefCell<Vec<tempfile::TempDir>> = const { RefCell::new(Vec::new()) };
}

/// Makes a folder for this test, in memory if possible: these tests are not about the disk.
pub fn new_folder() -> std::path::PathBuf {
    let memory = std::path::Path::new("/dev/shm");
    let result = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    };
    let result = result.expect("a folder");
    let path = result.path().to_owned();
    FOLDERS.with(|folders| folders.borrow_mut().push(result));
    path
}

/// Removes the folders of this thread now. The destructors of the last thread of a program do not
/// always run.
pub fn remove_folders() {
    FOLDERS.with(|folders| folders.borrow_mut().clear());
}

/// Returns the address of an SQLite database that does not exist yet.
pub fn new_sqlite_address() -> Address {
    format!("sqlite:{}", new_folder().join("icecore.db").display()).parse().expect("an address")
}

/// Returns the file of an SQLite database.
pub fn file_of(address: &Address) -> String {
    address.to_string().trim_start_matches("sqlite:").to_owned()
}

/// Returns the address with its password, for another process.
pub fn address_with_password(address: &Address) -> String {
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    return servers::secret(address);
    #[cfg(not(any(feature = "postgres", feature = "mysql")))]
    address.to_string()
}

/// The parts of a server's address, for programs that take them separately.
pub struct AddressParts {
    pub user: String,
    pub password: String,
    pub host: String,
    pub port: String,
    pub database: String,
}

impl AddressParts {
    /// Splits an address such as `scripts/servers.sh` gives: it has all parts, and nothing is
    /// escaped.
    pub fn of(address: &Address) -> AddressParts {
        let url = address_with_password(address);
        let (_, rest) = url.split_once("://").expect("scheme://");
        let (login, rest) = rest.split_once('@').expect("USER:PASSWORD@");
        let (place, database) = rest.split_once('/').expect("/DATABASE");
        let (user, password) = login.split_once(':').expect("USER:PASSWORD");
        let (host, port) = place.split_once(':').expect("HOST:PORT");
        let [user, password, host, port, database] = [user, password, host, port, database].map(str::to_owned);
        AddressParts { user, password, host, port, database }
    }
}

/// A row as text; NULL is `None`.
pub type TextRow = Vec<Option<String>>;

/// Runs SQL on a connection outside of the store, as another program would.
pub fn query_raw(address: &Address, sql: &str) -> Result<Vec<TextRow>, String> {
    match address.scheme() {
        #[cfg(feature = "sqlite")]
        Scheme::Sqlite => query_raw_sqlite(address, sql).map_err(|error| error.to_string()),
        #[cfg(feature = "postgres")]
        Scheme::Postgres => servers::query_raw_postgres(address, sql),
        #[cfg(feature = "mysql")]
        Scheme::Mysql => servers::query_raw_mysql(address, sql),
        #[allow(unreachable_patterns, reason = "all drivers may be enabled")]
        scheme => Err(format!("no driver for {scheme:?}")),
    }
}

#[cfg(feature = "sqlite")]
fn query_raw_sqlite(address: &Address, sql: &str) -> rusqlite::Result<Vec<TextRow>> {
    use rusqlite::types::ValueRef;
    let connection = rusqlite::Connection::open(file_of(address))?;
    connection.busy_timeout(Duration::from_secs(60))?;
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| -> rusqlite::Result<Option<String>> {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => None,
                ValueRef::Integer(number) => Some(number.to_string()),
                ValueRef::Real(number) => Some(number.to_string()),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            })
        };
        found.push((0..columns).map(text).collect::<rusqlite::Result<TextRow>>()?);
    }
    Ok(found)
}

/// Returns bytes as a literal in the SQL of this database.
pub fn blob_literal(scheme: Scheme, bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match scheme {
        Scheme::Postgres => format!("'\\x{digits}'::bytea"),
        _ => format!("X'{digits}'"),
    }
}

/// Databases of servers. Each new database has its own name.
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod servers {
    use super::TextRow;
    use icecore_store::{Address, Scheme};
    use std::collections::HashMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Addresses with their passwords, by the form that is shown.
    static SECRETS: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);
    static COUNT: AtomicU32 = AtomicU32::new(0);

    pub fn new_database(server: &str) -> Address {
        let name = format!("icecore_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let parsed: Address = server.parse().expect("the address of a server");
        remember(&parsed, server);
        let result = match parsed.scheme() {
            #[cfg(feature = "postgres")]
            Scheme::Postgres => query_raw_postgres(&parsed, &format!("CREATE DATABASE {name}")),
            #[cfg(feature = "mysql")]
            Scheme::Mysql => query_raw_mysql(&parsed, &format!("CREATE DATABASE {name}")),
            scheme => panic!("{scheme:?} has no server"),
        };
        result.expect("a database is made");
        let url = with_database(server, &name);
        let address: Address = url.parse().expect("an address");
        remember(&address, &url);
        address
    }

    fn with_database(server: &str, name: &str) -> String {
        let (scheme, rest) = server.split_once("://").expect("scheme://");
        let (rest, query) =
            rest.split_once('?').map_or((rest, String::new()), |(rest, query)| (rest, format!("?{query}")));
        let authority = rest.split('/').next().unwrap_or_default();
        format!("{scheme}://{authority}/{name}{query}")
    }

    fn remember(address: &Address, url: &str) {
        let mut secrets = SECRETS.lock().expect("no test panics here");
        secrets.get_or_insert_default().insert(address.to_string(), url.to_owned());
    }

    pub fn secret(address: &Address) -> String {
        let text = address.to_string();
        let secrets = SECRETS.lock().expect("no test panics here");
        secrets.as_ref().and_then(|known| known.get(&text).cloned()).unwrap_or(text)
    }

    #[cfg(feature = "postgres")]
    pub fn query_raw_postgres(address: &Address, sql: &str) -> Result<Vec<TextRow>, String> {
        use postgres::{Client, NoTls, SimpleQueryMessage};
        let mut client = Client::connect(&secret(address), NoTls).map_err(|error| error.to_string())?;
        let messages = client.simple_query(sql).map_err(|error| format!("{error}: {error:?}"))?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    #[cfg(feature = "mysql")]
    pub fn query_raw_mysql(address: &Address, sql: &str) -> Result<Vec<TextRow>, String> {
        use mysql::prelude::Queryable;
        let options = mysql::Opts::from_url(&secret(address).replace("mariadb://", "mysql://"))
            .map_err(|error| error.to_string())?;
        let mut connection = mysql::Conn::new(options).map_err(|error| error.to_string())?;
        let rows: Vec<mysql::Row> = connection.query(sql).map_err(|error| error.to_string())?;
        let text = |value: mysql::Value| match value {
            mysql::Value::NULL => None,
            mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(other.as_sql(true)),
        };
        Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
    }
}

/// A database in use by a test.
pub struct World {
    pub address: Address,
    pub store: Box<dyn Backend>,
}

impl World {
    pub fn new(address: Address) -> World {
        let store = open(&address).unwrap_or_else(|error| panic!("{address} opens: {error}"));
        World { address, store }
    }

    /// Opens another connection.
    pub fn open(&self) -> Box<dyn Backend> {
        open(&self.address).expect("a second connection")
    }

    pub fn query_raw(&self, sql: &str) -> Vec<TextRow> {
        query_raw(&self.address, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Returns the only value of the answer.
    pub fn raw_one(&self, sql: &str) -> Option<String> {
        self.query_raw(sql).remove(0).remove(0)
    }

    pub fn blob_literal(&self, bytes: &[u8]) -> String {
        blob_literal(self.address.scheme(), bytes)
    }

    pub fn jobs(&mut self, filter: &JobFilter) -> Vec<Job> {
        let mut found = Vec::new();
        self.store
            .jobs(filter, usize::MAX, &mut |job| {
                found.push(job);
                Ok(Flow::Continue)
            })
            .expect("jobs are listed");
        found
    }
}

/// Returns the kind of the expected error.
#[track_caller]
pub fn error_kind<T: std::fmt::Debug>(answer: Result<T, Error>) -> ErrorKind {
    answer.expect_err("an error").kind()
}
