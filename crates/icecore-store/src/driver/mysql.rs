//! Driver for MariaDB and MySQL.

use super::open_transaction::OpenTransaction;
#[cfg(feature = "tls")]
use super::tls::Mode;
use super::tls::{self, Tls};
use super::{EachRow, ResultRow, Session, Value, connection_lost_error};
use crate::address::Address;
use crate::backend::Flow;
use crate::dialect::{Dialect, MARIADB, MYSQL, OR_NOTHING};
use crate::error::{Error, ErrorKind, Result};
use crate::query::{ColumnValue, EachLine, Line, with_fraction};
use mysql::consts::{CapabilityFlags, ColumnType};
use mysql::prelude::Queryable;
use mysql::{Conn, DriverError, Opts, OptsBuilder, Transaction};
use std::borrow::Cow;
use std::io;
use std::time::Duration;

/// Number of statements that stay prepared.
const MAX_PREPARED_STATEMENTS: usize = 128;
/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of milliseconds after which the connection to a silent server counts as lost.
const SILENCE_TIMEOUT_MS: u32 = 30_000;
/// Maximum length of a row that is read, even if the server's limit for writing is lower.
const MAX_ROW_LEN: usize = 1 << 30;
/// Upper bound of a packet's size without its values: the header, the types, and the lengths.
const PACKET_OVERHEAD: usize = 4096;
/// Length of the longest packet of the protocol (the length has 3 bytes). The driver sends the values of a longer
/// statement one by one.
const SPLIT_PACKET_LEN: usize = 0xff_ff_ff;

/// Settings of every connection. Times are UTC. A value that does not fit into its column is an error, because
/// `STRICT_ALL_TABLES` forbids the server to truncate it.
const SETTINGS: [&str; 3] = [
    "SET NAMES utf8mb4",
    "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', \
     innodb_lock_wait_timeout = 30, autocommit = 1",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
];
/// Takes the lock for migrations, and waits at most 60 seconds for it. Lock names are global to the server, so the
/// name contains a hash of the database name. The hash is shorter than the limit for lock names (64 characters).
const LOCK_MIGRATIONS: &str = "SELECT GET_LOCK(CONCAT('icecore ', MD5(DATABASE())), 60)";
const UNLOCK_MIGRATIONS: &str = "SELECT RELEASE_LOCK(CONCAT('icecore ', MD5(DATABASE())))";

/// Server error codes that this driver handles.
mod code {
    /// A row has the same unique key as another one.
    pub(super) const DUPLICATE: [u16; 2] = [1062, 1586];
    /// Errors of a schema step that is repeated after an interruption. A table, column or key already exists, or it
    /// is already removed, so there is nothing left to do.
    pub(super) const STEP_DONE: [u16; 5] = [1050, 1051, 1060, 1061, 1091];
}

pub(super) struct Mysql {
    opts: Opts,
    tls: Tls,
    /// Address without its password.
    display_address: String,
    connection: Option<MysqlConnection>,
    dialect: &'static Dialect,
    is_in_transaction: bool,
}

struct MysqlConnection {
    conn: Conn,
    /// Length of the longest packet that the server accepts, in bytes.
    max_packet: usize,
}

/// Connects to the database of an address.
pub(super) fn connect(address: &Address) -> Result<Mysql> {
    // The parser's message is not shown, because it may contain a part of the password.
    let invalid_address = |_| {
        Error::new(
            ErrorKind::Address,
            format!(
                "{address} is invalid: use mysql://USER:PASSWORD@HOST:PORT/DATABASE, with @, / and % \
                 in a password as %40, %2F and %25"
            ),
        )
    };
    let (text, tls) = tls::split_address(address)?;
    let rest = text.strip_prefix("mariadb:").or_else(|| text.strip_prefix("mysql:")).unwrap_or(&text);
    let opts = Opts::from_url(&format!("mysql:{rest}")).map_err(invalid_address)?;
    if opts.get_db_name().is_none_or(str::is_empty) {
        return Err(Error::new(
            ErrorKind::Address,
            format!("{address} does not name a database: mysql://USER@HOST/DATABASE"),
        ));
    }
    let password = address.password().or(opts.get_pass()).map(str::to_owned);
    let timeout = opts.get_tcp_connect_timeout().unwrap_or(CONNECT_TIMEOUT);
    let opts = OptsBuilder::from_opts(opts)
        .pass(password)
        // The address decides between socket and TCP.
        .prefer_socket(false)
        // With this flag, the server counts the rows that matched. Without it, an UPDATE that sets the same values
        // again would count as 0 rows, and look like a missing row.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .max_allowed_packet(Some(MAX_ROW_LEN))
        .stmt_cache_size(MAX_PREPARED_STATEMENTS)
        .tcp_connect_timeout(Some(timeout))
        .tcp_keepalive_time_ms(Some(SILENCE_TIMEOUT_MS));
    #[cfg(target_os = "linux")]
    let opts = opts.tcp_user_timeout_ms(Some(SILENCE_TIMEOUT_MS));
    let mut session = Mysql {
        opts: opts.into(),
        tls,
        display_address: address.to_string(),
        connection: None,
        dialect: &MARIADB,
        is_in_transaction: false,
    };
    session.ensure_connected()?;
    Ok(session)
}

#[cfg(not(feature = "tls"))]
fn open_connection(opts: &Opts, _: &Tls) -> std::result::Result<Conn, mysql::Error> {
    Conn::new(opts.clone())
}

#[cfg(feature = "tls")]
fn open_connection(opts: &Opts, tls: &Tls) -> std::result::Result<Conn, mysql::Error> {
    if tls.mode == Mode::Disable {
        return Conn::new(opts.clone());
    }
    // The driver uses the default provider of the process. It can't choose one if two are compiled in, so this call
    // chooses. It fails only if the program has chosen already, and that choice is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ssl = mysql::SslOpts::default()
        .with_root_cert_path(tls.authorities.clone())
        .with_danger_skip_domain_validation(tls.mode < Mode::VerifyFull)
        .with_danger_accept_invalid_certs(tls.mode < Mode::VerifyAuthority);
    let encrypted = Conn::new(OptsBuilder::from_opts(opts.clone()).ssl_opts(ssl));
    match encrypted {
        // This error comes from the driver: the server has no TLS, or an incompatible one. An error that the server
        // reported (such as a wrong password) would occur without TLS too.
        Err(error)
            if tls.mode == Mode::Prefer
                && store_error(&error).kind() == ErrorKind::Address
                && server_error_code(&error).is_none() =>
        {
            Conn::new(opts.clone())
        }
        conn => conn,
    }
}

fn error_kind_of_code(code: u16) -> ErrorKind {
    match code {
        // Too many clients, a server that shuts down, a killed connection, network errors.
        1040 | 1053 | 1077 | 1152 | 1158..=1161 | 1184 | 1203 | 1226 | 1927 | 4031 => ErrorKind::Away,
        // A wrong user, password or database.
        1044 | 1045 | 1046 | 1049 | 1698 => ErrorKind::Address,
        // Lock timeout, deadlock, a conflicting change, a time limit.
        1205 | 1213 | 1020 | 3572 | 1317 | 1969 | 3024 => ErrorKind::Busy,
        code if code::DUPLICATE.contains(&code) => ErrorKind::Taken,
        // A full disk or table, or not enough memory.
        1021 | 1037 | 1038 | 1041 | 1114 => ErrorKind::Full,
        // A value that is too long, a packet that is too large, characters that a column can't store.
        1153 | 1264 | 1366 | 1406 | 1071 => ErrorKind::Input,
        _ => ErrorKind::Database,
    }
}

fn error_kind_of_io(error: Option<&io::Error>) -> ErrorKind {
    match error.map(io::Error::kind) {
        // The TLS library reports an untrusted certificate with this kind.
        Some(io::ErrorKind::InvalidData) => ErrorKind::Address,
        _ => ErrorKind::Away,
    }
}

/// Converts an error of the driver.
fn store_error(error: &mysql::Error) -> Error {
    let (kind, message) = match error {
        mysql::Error::MySqlError(error) => {
            (error_kind_of_code(error.code), format!("{} ({})", error.message, error.code))
        }
        #[cfg(feature = "tls")]
        mysql::Error::TlsError(error) => (ErrorKind::Address, error.to_string()),
        mysql::Error::DriverError(error @ DriverError::TlsNotSupported) => (ErrorKind::Address, error.to_string()),
        mysql::Error::IoError(error) => (error_kind_of_io(Some(error)), error.to_string()),
        mysql::Error::CodecError(error) => {
            let source = std::error::Error::source(error);
            (error_kind_of_io(source.and_then(|source| source.downcast_ref())), error.to_string())
        }
        mysql::Error::DriverError(DriverError::PacketTooLarge) => (ErrorKind::Input, "a row is too long".to_owned()),
        mysql::Error::DriverError(
            error @ (DriverError::ConnectTimeout
            | DriverError::CouldNotConnect(_)
            | DriverError::PacketOutOfSync
            | DriverError::UnexpectedPacket
            | DriverError::SetupError
            | DriverError::Timeout),
        ) => (ErrorKind::Away, error.to_string()),
        mysql::Error::DriverError(error) => (ErrorKind::Database, error.to_string()),
        _ => (ErrorKind::Database, "unexpected kind of answer".to_owned()),
    };
    Error::new(kind, format!("MySQL: {message}"))
}

fn server_error_code(error: &mysql::Error) -> Option<u16> {
    match error {
        mysql::Error::MySqlError(error) => Some(error.code),
        _ => None,
    }
}

fn to_params(values: &[Value<'_>]) -> mysql::Params {
    if values.is_empty() {
        return mysql::Params::Empty;
    }
    let values = values.iter().map(|value| match *value {
        Value::Int(number) => mysql::Value::Int(number),
        Value::Text(text) => mysql::Value::Bytes(text.as_bytes().to_vec()),
        Value::Bytes(bytes) => mysql::Value::Bytes(bytes.to_vec()),
        // Lists do not get here: `check_sizes` refuses them.
        Value::Null | Value::List(_) => mysql::Value::NULL,
    });
    mysql::Params::Positional(values.collect())
}

impl MysqlConnection {
    fn new(opts: &Opts, tls: &Tls) -> std::result::Result<(MysqlConnection, bool), mysql::Error> {
        let mut conn = open_connection(opts, tls)?;
        SETTINGS.iter().try_for_each(|setting| conn.query_drop(setting))?;
        let server_info: Option<(String, usize)> = conn.query_first("SELECT VERSION(), @@max_allowed_packet")?;
        let (version, max_packet) = server_info.unwrap_or_default();
        Ok((MysqlConnection { conn, max_packet }, version.contains("MariaDB")))
    }
}

/// Checks sizes before the values are sent, because a server that receives too much closes the connection.
fn check_sizes(max_packet: usize, values: &[Value<'_>]) -> Result<()> {
    if values.iter().any(|value| matches!(value, Value::List(_))) {
        return Err(Error::new(ErrorKind::Database, "MySQL has no lists"));
    }
    let sizes = values.iter().map(|value| match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Null | Value::Int(_) | Value::List(_) => 8,
    });
    let (total, largest) = sizes.fold((PACKET_OVERHEAD, 0), |(total, largest), size| (total + size, largest.max(size)));
    // The values of a longer statement have a packet each, so only the largest one must fit.
    let sent = if total < SPLIT_PACKET_LEN { total } else { largest + PACKET_OVERHEAD };
    if sent <= max_packet {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Input,
        format!("{sent} bytes are more than the server accepts: its max_allowed_packet is {max_packet}"),
    ))
}

/// A connection, or a transaction on one.
trait StatementRunner: Queryable {
    fn affected_row_count(&self) -> u64;

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> std::result::Result<u64, mysql::Error> {
        match self.exec_drop(sql, to_params(values)) {
            Ok(()) => Ok(self.affected_row_count()),
            // A statement that ends with `OR_NOTHING` leaves an existing row as it is.
            Err(error)
                if sql.ends_with(OR_NOTHING)
                    && server_error_code(&error).is_some_and(|code| code::DUPLICATE.contains(&code)) =>
            {
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs a query. The outer result is the database's error, the inner one the callback's.
    fn query_each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: EachRow<'_>,
    ) -> std::result::Result<Result<()>, mysql::Error> {
        let mut rows = self.exec_iter(sql, to_params(values))?;
        for row in rows.by_ref() {
            match each(&MysqlRow(row?)) {
                Ok(Flow::Continue) => {}
                Ok(Flow::Stop) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }
}

impl StatementRunner for Conn {
    fn affected_row_count(&self) -> u64 {
        self.affected_rows()
    }
}

impl StatementRunner for Transaction<'_> {
    fn affected_row_count(&self) -> u64 {
        self.affected_rows()
    }
}

/// A transaction that the caller began on its own connection.
struct MysqlTransaction<'t, 'c> {
    transaction: &'t mut Transaction<'c>,
    max_packet: usize,
    dialect: &'static Dialect,
}

pub(crate) fn within_transaction<'t>(transaction: &'t mut Transaction<'_>) -> Result<impl OpenTransaction + 't> {
    let server_info: Option<(String, usize, String)> = transaction
        .query_first("SELECT VERSION(), @@max_allowed_packet, @@sql_mode")
        .map_err(|error| store_error(&error))?;
    let (version, max_packet, mode) = server_info.unwrap_or_default();
    if !mode.contains("STRICT_") {
        let text = "MySQL: the sql_mode of this connection is not strict: values that are too long would be truncated";
        return Err(Error::new(ErrorKind::Input, text));
    }
    let dialect = if version.contains("MariaDB") { &MARIADB } else { &MYSQL };
    Ok(MysqlTransaction { transaction, max_packet, dialect })
}

impl OpenTransaction for MysqlTransaction<'_, '_> {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        check_sizes(self.max_packet, values)?;
        StatementRunner::run_statement(self.transaction, sql, values).map_err(|error| store_error(&error))
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        check_sizes(self.max_packet, values)?;
        StatementRunner::query_each(self.transaction, sql, values, each).map_err(|error| store_error(&error))?
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        self.transaction.query_drop(sql).map_err(|error| store_error(&error))
    }
}

impl Mysql {
    /// Returns the connection. Reconnects if it was lost outside of a transaction.
    fn ensure_connected(&mut self) -> Result<&mut MysqlConnection> {
        if self.connection.is_none() {
            if self.is_in_transaction {
                return Err(connection_lost_error("MySQL"));
            }
            let (connection, is_mariadb) = MysqlConnection::new(&self.opts, &self.tls).map_err(|error| {
                let error = store_error(&error);
                Error::new(error.kind(), format!("{}: {error}", self.display_address))
            })?;
            self.dialect = if is_mariadb { &MARIADB } else { &MYSQL };
            self.connection = Some(connection);
        }
        self.connection.as_mut().ok_or_else(|| connection_lost_error("MySQL"))
    }

    fn with_connection<T>(
        &mut self,
        body: impl FnOnce(&mut Conn) -> std::result::Result<T, mysql::Error>,
    ) -> Result<T> {
        let error = match body(&mut self.ensure_connected()?.conn) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let reported = store_error(&error);
        // If the server itself reported the error, it waits for the next statement. After any other error, a part of
        // an answer may still be on its way, so the connection can't be used again.
        if reported.kind() == ErrorKind::Away || server_error_code(&error).is_none() {
            self.connection = None;
        }
        Err(reported)
    }
}

struct MysqlRow(mysql::Row);

impl MysqlRow {
    fn get_bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.0.as_ref(column) {
            Some(mysql::Value::NULL) => Ok(None),
            Some(mysql::Value::Bytes(bytes)) => Ok(Some(bytes)),
            _ => Err(unexpected_type_error(column)),
        }
    }
}

fn unexpected_type_error(column: usize) -> Error {
    Error::new(ErrorKind::Database, format!("MySQL: column {column} has a value of another type"))
}

impl ResultRow for MysqlRow {
    fn read_int(&self, column: usize) -> Result<Option<i64>> {
        match self.0.as_ref(column) {
            Some(mysql::Value::NULL) => Ok(None),
            Some(mysql::Value::Int(number)) => Ok(Some(*number)),
            Some(mysql::Value::UInt(number)) => {
                i64::try_from(*number).map(Some).map_err(|_| unexpected_type_error(column))
            }
            _ => Err(unexpected_type_error(column)),
        }
    }

    fn borrow_text(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
        let Some(bytes) = self.get_bytes(column)? else { return Ok(None) };
        std::str::from_utf8(bytes).map(|text| Some(text.into())).map_err(|_| unexpected_type_error(column))
    }

    fn borrow_bytes(&self, column: usize) -> Result<Option<Cow<'_, [u8]>>> {
        Ok(self.get_bytes(column)?.map(Cow::Borrowed))
    }
}

impl Session for Mysql {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        check_sizes(self.ensure_connected()?.max_packet, values)?;
        self.with_connection(|conn| StatementRunner::run_statement(conn, sql, values))
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        check_sizes(self.ensure_connected()?.max_packet, values)?;
        self.with_connection(|conn| StatementRunner::query_each(conn, sql, values, each))?
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        for statement in sql.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
            self.with_connection(|conn| match conn.query_drop(statement) {
                Err(error) if server_error_code(&error).is_some_and(|code| code::STEP_DONE.contains(&code)) => Ok(()),
                result => result,
            })?;
        }
        Ok(())
    }

    fn lock_migrations(&mut self) -> Result<()> {
        let acquired: Option<Option<i64>> = self.with_connection(|conn| conn.query_first(LOCK_MIGRATIONS))?;
        if acquired.flatten() == Some(1) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Busy, "MySQL: another program has been setting up the tables for too long"))
    }

    fn unlock_migrations(&mut self) {
        if self.connection.is_some() {
            let _ = self.with_connection(|conn| conn.query_drop(UNLOCK_MIGRATIONS));
        }
    }

    fn begin(&mut self) -> Result<()> {
        const BEGIN: &str = "START TRANSACTION";
        let was_connected = self.connection.is_some();
        self.is_in_transaction = false;
        let result = match self.with_connection(|conn| conn.query_drop(BEGIN)) {
            // The connection was lost while it was idle. Nothing of the transaction was sent, so it can begin on a
            // new connection.
            Err(error) if error.kind() == ErrorKind::Away && was_connected => {
                self.with_connection(|conn| conn.query_drop(BEGIN))
            }
            result => result,
        };
        self.is_in_transaction = result.is_ok();
        result
    }

    fn commit(&mut self) -> Result<()> {
        let result = self.with_connection(|conn| conn.query_drop("COMMIT"));
        if result.is_ok() {
            self.is_in_transaction = false;
        }
        result
    }

    fn rollback(&mut self) {
        if self.is_in_transaction
            && self.connection.is_some()
            && self.with_connection(|conn| conn.query_drop("ROLLBACK")).is_err()
        {
            // The transaction may still be open. Closing the connection ends it.
            self.connection = None;
        }
        self.is_in_transaction = false;
    }
}

/// Runs a read-only query.
pub(super) fn query_read_only(address: &Address, sql: &str, each: EachLine<'_>) -> Result<()> {
    let mut words =
        sql.trim_start_matches(|c: char| c == '(' || c.is_whitespace()).split(|c: char| !c.is_ascii_alphabetic());
    let first_word = words.next().unwrap_or_default().to_ascii_uppercase();
    // The first word is checked too, because a data definition statement would end the read-only transaction and then
    // write.
    if !["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN"].contains(&&*first_word) {
        return Err(Error::new(ErrorKind::Input, "the query would write; only queries that read are allowed"));
    }
    let mut session = connect(address)?;
    // The callback's error leaves the closure through this variable, because the closure returns the driver's errors.
    let mut callback_result = Ok(());
    session.with_connection(|conn| {
        conn.query_drop("START TRANSACTION READ ONLY")?;
        let mut answer = conn.query_iter(sql)?;
        let names: Vec<String> =
            answer.columns().as_ref().iter().map(|column| column.name_str().into_owned()).collect();
        let types: Vec<ColumnType> = answer.columns().as_ref().iter().map(|column| column.column_type()).collect();
        match each(Line::Names(&names)) {
            Ok(Flow::Continue) => {}
            other => {
                callback_result = other.map(drop);
                return Ok(());
            }
        }
        for row in answer.by_ref() {
            let values: Vec<ColumnValue<'_>> =
                row?.unwrap().into_iter().zip(&types).map(|(value, sql_type)| column_value(value, *sql_type)).collect();
            match each(Line::Values(&values)) {
                Ok(Flow::Continue) => {}
                other => {
                    callback_result = other.map(drop);
                    break;
                }
            }
        }
        Ok(())
    })?;
    callback_result
}

/// Returns a value with the type of its column. The server sends all values as text, except those of BIT columns.
fn column_value(value: mysql::Value, sql_type: ColumnType) -> ColumnValue<'static> {
    use ColumnType::{
        MYSQL_TYPE_DECIMAL, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG,
        MYSQL_TYPE_LONGLONG, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_SHORT, MYSQL_TYPE_TINY, MYSQL_TYPE_YEAR,
    };
    let bytes = match value {
        mysql::Value::NULL => return ColumnValue::Null,
        mysql::Value::Bytes(bytes) => bytes,
        other => other.as_sql(true).into_bytes(),
    };
    if sql_type == ColumnType::MYSQL_TYPE_BIT && bytes.len() <= 8 {
        // The bytes of a BIT value are a big-endian number of at most 64 bits.
        let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        return ColumnValue::Number(number.to_string().into());
    }
    match (sql_type, String::from_utf8(bytes)) {
        (_, Err(error)) => ColumnValue::Bytes(error.into_bytes().into()),
        (MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE, Ok(text)) => ColumnValue::Number(with_fraction(text.into())),
        (
            MYSQL_TYPE_TINY
            | MYSQL_TYPE_SHORT
            | MYSQL_TYPE_INT24
            | MYSQL_TYPE_LONG
            | MYSQL_TYPE_LONGLONG
            | MYSQL_TYPE_YEAR
            | MYSQL_TYPE_DECIMAL
            | MYSQL_TYPE_NEWDECIMAL,
            Ok(text),
        ) => ColumnValue::Number(text.into()),
        (_, Ok(text)) => ColumnValue::from_text(text),
    }
}
