//! Driver for PostgreSQL.

use super::open_transaction::OpenTransaction;
#[cfg(feature = "tls")]
use super::tls::Mode;
use super::tls::{self, Tls};
use super::{EachRow, ResultRow, Session, Value, connection_lost_error, nul_character_error};
use crate::address::Address;
use crate::backend::Flow;
use crate::dialect::{Dialect, POSTGRES};
use crate::error::{Error, ErrorKind, Result};
use crate::query::{ColumnValue, EachLine, Line, with_fraction};
use bytes::BytesMut;
use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{IsNull, Kind, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, GenericClient, Statement, Transaction};
use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::time::Duration;

/// Number of statements that stay prepared.
const MAX_PREPARED_STATEMENTS: usize = 128;
/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which the connection to a silent server counts as lost.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings of every connection. Commits are durable even if the server is configured otherwise. Plans are generic
/// and use indexes, because the statistics of a queue are outdated when they are used. A plan based on them may scan
/// a whole table that was empty when the statistics were made. If a plan needs a disabled method, its estimated cost
/// is very high. JIT is off, because the server compiles plans with a high cost, and this would take longer than the
/// statement.
const SETTINGS: &str = "
SET default_transaction_isolation = 'read committed';
SET lock_timeout = '30s';
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, false)
    FROM pg_settings WHERE name IN ('plan_cache_mode', 'jit', 'enable_seqscan', 'enable_bitmapscan', 'enable_sort',
    'enable_hashjoin', 'enable_mergejoin');
";
/// Restores the server's own planner settings, for statements that are not the store's own.
const RESET_PLANNER_SETTINGS: &str = "
SELECT set_config(name, reset_val, false) FROM pg_settings WHERE name IN ('plan_cache_mode', 'jit', 'enable_seqscan',
    'enable_bitmapscan', 'enable_sort', 'enable_hashjoin', 'enable_mergejoin');
";
/// Takes the lock of schema migrations. Its number is the bytes of "icecore".
const LOCK_MIGRATIONS: &str = "SELECT pg_advisory_xact_lock(29656347310551653)";

pub(super) struct Postgres {
    config: Config,
    tls: Tls,
    /// Address without its password.
    display_address: String,
    connection: Option<PostgresConnection>,
    is_in_transaction: bool,
}

struct PostgresConnection {
    client: Client,
    prepared: Prepared,
}

/// Connects to the database of an address.
pub(super) fn connect(address: &Address) -> Result<Postgres> {
    // The parser's message is not shown, because it may contain a part of the password.
    let (text, tls) = tls::split_address(address)?;
    let mut config: Config = text.parse().map_err(|_| {
        Error::new(
            ErrorKind::Address,
            format!(
                "{address} is invalid: use postgres://USER:PASSWORD@HOST:PORT/DATABASE, with @, / \
                 and % in a password as %40, %2F and %25"
            ),
        )
    })?;
    if let Some(password) = address.password() {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_application_name().is_none() {
        config.application_name("icecore");
    }
    config.keepalives_idle(SILENCE_TIMEOUT);
    config.tcp_user_timeout(SILENCE_TIMEOUT);
    let mut session =
        Postgres { config, tls, display_address: address.to_string(), connection: None, is_in_transaction: false };
    session.ensure_connected()?;
    Ok(session)
}

/// Opens a connection for tables that are not the store's own.
pub(super) fn connect_unmanaged(address: &Address) -> Result<Postgres> {
    let mut session = connect(address)?;
    session.run_script(RESET_PLANNER_SETTINGS)?;
    Ok(session)
}

#[cfg(not(feature = "tls"))]
fn open_client(config: &mut Config, _: &Tls) -> Result<Client> {
    config.ssl_mode(SslMode::Disable);
    config.connect(postgres::NoTls).map_err(|error| store_error(&error))
}

#[cfg(feature = "tls")]
fn open_client(config: &mut Config, tls: &Tls) -> Result<Client> {
    let maker = tls::stream::MakeTls::new(tls)?;
    config.ssl_mode(match tls.mode {
        Mode::Disable => SslMode::Disable,
        Mode::Prefer => SslMode::Prefer,
        _ => SslMode::Require,
    });
    match config.connect(maker.clone()) {
        // The server's TLS is incompatible. The mode allows a connection without TLS then.
        Err(error) if tls.mode == Mode::Prefer && error.to_string().contains("TLS") => {
            config.ssl_mode(SslMode::Disable);
            config.connect(maker)
        }
        client => client,
    }
    .map_err(|error| store_error(&error))
}

fn error_kind_of_state(state: &SqlState) -> ErrorKind {
    match state.code() {
        // Connection errors, a server that starts or shuts down, too many clients.
        "57P01" | "57P02" | "57P03" | "57P05" | "53300" | "25P03" => ErrorKind::Away,
        code if code.starts_with("08") => ErrorKind::Away,
        // A wrong user, password or database.
        "28000" | "28P01" | "3D000" => ErrorKind::Address,
        // Serialization failures, deadlocks, time limits of locks and statements.
        "40001" | "40P01" | "55P03" | "57014" => ErrorKind::Busy,
        // A row has the same unique key as another one.
        "23505" => ErrorKind::Taken,
        // A full disk, or not enough memory.
        "53100" | "53200" => ErrorKind::Full,
        // A value that is too long, a character that the database can't store, a program limit.
        "22001" | "22021" | "22P05" | "54000" => ErrorKind::Input,
        _ => ErrorKind::Database,
    }
}

/// Converts an error of the driver.
fn store_error(error: &postgres::Error) -> Error {
    if let Some(error) = error.as_db_error() {
        let (code, message) = (error.code(), error.message());
        return Error::new(error_kind_of_state(code), format!("PostgreSQL: {message} ({})", code.code()));
    }
    let source = error.source();
    if source.is_some_and(|source| source.is::<NulCharacter>()) {
        return nul_character_error("PostgreSQL");
    }
    let io = source.and_then(|source| source.downcast_ref::<io::Error>());
    let kind = match io {
        _ if error.is_closed() => ErrorKind::Away,
        // A certificate that is not trusted, or a server without TLS.
        Some(io) if matches!(io.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => ErrorKind::Address,
        None if error.to_string().contains("TLS") => ErrorKind::Address,
        Some(_) => ErrorKind::Away,
        None => ErrorKind::Database,
    };
    match source {
        Some(source) if !error.to_string().contains(&source.to_string()) => {
            Error::new(kind, format!("PostgreSQL: {error}: {source}"))
        }
        _ => Error::new(kind, format!("PostgreSQL: {error}")),
    }
}

#[derive(Debug)]
struct PostgresParameter<'v>(Value<'v>);

#[derive(Debug)]
struct NulCharacter;

impl std::fmt::Display for NulCharacter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a NUL character")
    }
}

impl std::error::Error for NulCharacter {}

impl ToSql for PostgresParameter<'_> {
    fn to_sql(
        &self,
        sql_type: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Int(number) => match *sql_type {
                Type::INT2 => out.extend_from_slice(&i16::try_from(number)?.to_be_bytes()),
                Type::INT4 => out.extend_from_slice(&i32::try_from(number)?.to_be_bytes()),
                Type::INT8 => out.extend_from_slice(&number.to_be_bytes()),
                _ => return Err(format!("a number where the database expects {sql_type}").into()),
            },
            Value::Text(text) if text.contains('\0') => return Err(NulCharacter.into()),
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
            Value::List(values) => {
                let values: Vec<PostgresParameter<'_>> = values.iter().map(|value| PostgresParameter(*value)).collect();
                return values.to_sql(sql_type, out);
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(sql_type: &Type) -> bool {
        if let Kind::Array(element_type) = sql_type.kind() {
            return PostgresParameter::accepts(element_type);
        }
        matches!(*sql_type, Type::INT2 | Type::INT4 | Type::INT8 | Type::TEXT | Type::VARCHAR | Type::BYTEA)
    }

    to_sql_checked!();
}

/// Replaces `?` by the placeholders of PostgreSQL: `$1`, `$2`, ….
fn number_placeholders(sql: &str) -> String {
    let mut pieces = sql.split('?');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.zip(1..).fold(first, |sql, (piece, number)| format!("{sql}${number}{piece}"))
}

/// Prepared statements of a connection, by their text.
#[derive(Default)]
struct Prepared(HashMap<String, Statement>);

impl Prepared {
    fn prepare_cached(
        &mut self,
        client: &mut impl GenericClient,
        sql: &str,
    ) -> std::result::Result<Statement, postgres::Error> {
        if let Some(statement) = self.0.get(sql) {
            return Ok(statement.clone());
        }
        let statement = client.prepare(&number_placeholders(sql))?;
        // This happens rarely, so it is good enough to drop all of them.
        if self.0.len() >= MAX_PREPARED_STATEMENTS {
            self.0.clear();
        }
        self.0.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn run_statement(
        &mut self,
        client: &mut impl GenericClient,
        sql: &str,
        values: &[Value<'_>],
    ) -> std::result::Result<u64, postgres::Error> {
        let statement = self.prepare_cached(client, sql)?;
        let mut rows = client.query_raw(&statement, values.iter().map(|value| PostgresParameter(*value)))?;
        // The number of changed rows is known only after all rows of the answer were read.
        while rows.next()?.is_some() {}
        Ok(rows.rows_affected().unwrap_or(0))
    }

    /// Runs a query. The outer result is the database's error, the inner one the callback's.
    fn query_each(
        &mut self,
        client: &mut impl GenericClient,
        sql: &str,
        values: &[Value<'_>],
        each: EachRow<'_>,
    ) -> std::result::Result<Result<()>, postgres::Error> {
        let statement = self.prepare_cached(client, sql)?;
        let mut rows = client.query_raw(&statement, values.iter().map(|value| PostgresParameter(*value)))?;
        while let Some(row) = rows.next()? {
            match each(&PostgresRow(row)) {
                Ok(Flow::Continue) => {}
                Ok(Flow::Stop) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }
}

/// A transaction of the caller.
struct PostgresTransaction<'t, 'c> {
    transaction: &'t mut Transaction<'c>,
    prepared: Prepared,
}

pub(crate) fn within_transaction<'t>(transaction: &'t mut Transaction<'_>) -> impl OpenTransaction + 't {
    PostgresTransaction { transaction, prepared: Prepared::default() }
}

impl OpenTransaction for PostgresTransaction<'_, '_> {
    fn dialect(&self) -> &'static Dialect {
        &POSTGRES
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.prepared.run_statement(self.transaction, sql, values).map_err(|error| store_error(&error))
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        self.prepared.query_each(self.transaction, sql, values, each).map_err(|error| store_error(&error))?
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        self.transaction.batch_execute(sql).map_err(|error| store_error(&error))
    }
}

impl Postgres {
    /// Returns the connection. Reconnects if it was lost outside of a transaction.
    fn ensure_connected(&mut self) -> Result<&mut PostgresConnection> {
        if self.connection.as_ref().is_some_and(|connection| connection.client.is_closed()) {
            self.connection = None;
        }
        if self.connection.is_none() {
            if self.is_in_transaction {
                return Err(connection_lost_error("PostgreSQL"));
            }
            let with_address = |error: Error| Error::new(error.kind(), format!("{}: {error}", self.display_address));
            let mut client = open_client(&mut self.config, &self.tls).map_err(with_address)?;
            client.batch_execute(SETTINGS).map_err(|error| with_address(store_error(&error)))?;
            self.connection = Some(PostgresConnection { client, prepared: Prepared::default() });
        }
        self.connection.as_mut().ok_or_else(|| connection_lost_error("PostgreSQL"))
    }

    fn with_connection<T>(
        &mut self,
        body: impl FnOnce(&mut PostgresConnection) -> std::result::Result<T, postgres::Error>,
    ) -> Result<T> {
        let error = match body(self.ensure_connected()?) {
            Ok(value) => return Ok(value),
            Err(error) => store_error(&error),
        };
        if error.kind() == ErrorKind::Away {
            self.connection = None;
        }
        Err(error)
    }
}

struct PostgresRow(postgres::Row);

impl PostgresRow {
    fn get_column<'r, T: postgres::types::FromSql<'r>>(&'r self, column: usize) -> Result<Option<T>> {
        self.0.try_get(column).map_err(|error| store_error(&error))
    }
}

impl ResultRow for PostgresRow {
    fn read_int(&self, column: usize) -> Result<Option<i64>> {
        match self.0.columns().get(column).map(|column| column.type_()) {
            Some(&Type::INT4) => Ok(self.get_column::<i32>(column)?.map(i64::from)),
            Some(&Type::INT2) => Ok(self.get_column::<i16>(column)?.map(i64::from)),
            _ => self.get_column(column),
        }
    }

    fn borrow_text(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
        Ok(self.get_column(column)?.map(Cow::Borrowed))
    }

    fn borrow_bytes(&self, column: usize) -> Result<Option<Cow<'_, [u8]>>> {
        Ok(self.get_column(column)?.map(Cow::Borrowed))
    }
}

impl Session for Postgres {
    fn dialect(&self) -> &'static Dialect {
        &POSTGRES
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.with_connection(|connection| connection.prepared.run_statement(&mut connection.client, sql, values))
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        self.with_connection(|connection| connection.prepared.query_each(&mut connection.client, sql, values, each))?
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        self.with_connection(|connection| connection.client.batch_execute(sql))
    }

    fn lock_migrations(&mut self) -> Result<()> {
        self.run_script(LOCK_MIGRATIONS)
    }

    fn begin(&mut self) -> Result<()> {
        const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
        let was_connected = self.connection.is_some();
        self.is_in_transaction = false;
        let result = match self.run_script(BEGIN) {
            // The connection was lost while it was idle. Nothing of the transaction was sent, so it can begin on a
            // new connection.
            Err(error) if error.kind() == ErrorKind::Away && was_connected => self.run_script(BEGIN),
            result => result,
        };
        self.is_in_transaction = result.is_ok();
        result
    }

    fn commit(&mut self) -> Result<()> {
        let result = self.run_script("COMMIT");
        if result.is_ok() {
            self.is_in_transaction = false;
        }
        result
    }

    fn rollback(&mut self) {
        if self.is_in_transaction && self.connection.is_some() && self.run_script("ROLLBACK").is_err() {
            // The transaction may still be open. Closing the connection ends it.
            self.connection = None;
        }
        self.is_in_transaction = false;
    }
}

/// Runs a read-only query. The server converts all values except bytes to text.
pub(super) fn query_read_only(address: &Address, sql: &str, each: EachLine<'_>) -> Result<()> {
    let mut session = connect(address)?;
    let sql = sql.trim().trim_end_matches(';');
    // The callback's error leaves the closure through this variable, because the closure returns the driver's errors.
    let mut callback_result = Ok(());
    session.run_script(RESET_PLANNER_SETTINGS)?;
    session.run_script("BEGIN READ ONLY")?;
    session.with_connection(|connection| {
        let prepared = connection.client.prepare(sql)?;
        let names: Vec<String> = prepared.columns().iter().map(|column| column.name().to_owned()).collect();
        let aliases: Vec<String> = (0..names.len()).map(|column| format!("c{column}")).collect();
        let types: Vec<Type> = prepared.columns().iter().map(|column| base_type(column.type_())).collect();
        let values = prepared.columns().iter().zip(&aliases).map(|(column, alias)| match *column.type_() {
            Type::BYTEA => alias.clone(),
            _ => format!("convert_to({alias}::text, 'UTF8')"),
        });
        let values: Vec<String> = values.collect();
        // A statement without result columns, such as an INSERT, could only write.
        if names.is_empty() {
            callback_result =
                Err(Error::new(ErrorKind::Input, "the query would write; only queries that read are allowed"));
            return Ok(());
        }
        match each(Line::Names(&names)) {
            Ok(Flow::Continue) => {}
            other => {
                callback_result = other.map(drop);
                return Ok(());
            }
        }
        // The line feed ends a comment at the end of the query, so that the parenthesis is not a part of it.
        let wrapped_sql = format!("SELECT {} FROM ({sql}\n) AS asked ({})", values.join(", "), aliases.join(", "));
        let statement = connection.client.prepare(&wrapped_sql)?;
        let mut rows = connection.client.query_raw(&statement, std::iter::empty::<PostgresParameter<'_>>())?;
        while let Some(row) = rows.next()? {
            let mut values = Vec::with_capacity(names.len());
            for (column, sql_type) in types.iter().enumerate() {
                values.push(column_value(row.try_get(column)?, sql_type));
            }
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

/// Returns the base type of a domain.
fn base_type(sql_type: &Type) -> Type {
    match sql_type.kind() {
        Kind::Domain(inner) => base_type(inner),
        _ => sql_type.clone(),
    }
}

/// Returns a value with the type of its column. The server sends all values except bytes as text.
fn column_value<'v>(value: Option<&'v [u8]>, sql_type: &Type) -> ColumnValue<'v> {
    let Some(bytes) = value else { return ColumnValue::Null };
    match (sql_type, std::str::from_utf8(bytes)) {
        (&Type::BOOL, Ok("true")) => ColumnValue::Boolean(true),
        (&Type::BOOL, Ok("false")) => ColumnValue::Boolean(false),
        (&Type::INT2 | &Type::INT4 | &Type::INT8 | &Type::OID | &Type::NUMERIC, Ok(text)) => {
            ColumnValue::Number(text.into())
        }
        (&Type::FLOAT4 | &Type::FLOAT8, Ok(text)) => ColumnValue::Number(with_fraction(text.into())),
        _ => ColumnValue::Bytes(bytes.into()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn placeholders_are_numbered() {
        assert_eq!(super::number_placeholders("SELECT 1"), "SELECT 1");
        assert_eq!(super::number_placeholders("a = ? AND b = ?"), "a = $1 AND b = $2");
    }
}
