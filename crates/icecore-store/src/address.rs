//! Addresses of databases: `sqlite:icecore.db`, `postgres://user@host/db`, `mysql://…`,
//! `mongodb://…`, `redis://…`, `memcached://…`.

use crate::dialect::Family;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::path::PathBuf;

/// Address of a database. Its `Display` and `Debug` output contains no password.
///
/// ```
/// use icecore_store::Address;
/// let address: Address = "postgres://ann:secret@db.example/jobs".parse()?;
/// assert_eq!(address.to_string(), "postgres://ann@db.example/jobs");
/// # Ok::<(), icecore_store::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    scheme: Scheme,
    /// The address as the caller wrote it.
    text: String,
    password: Option<String>,
}

/// Kinds of databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A file, or a database in memory.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
    /// A MySQL or MariaDB server.
    Mysql,
    /// MongoDB, or a server that speaks its protocol.
    Mongodb,
    /// Redis, or a server that speaks its protocol. Its data can be read, but it can't be used as a store.
    Redis,
    /// memcached. Like Redis, it can only be read.
    Memcached,
}

impl Scheme {
    /// Returns the name of this kind of database in addresses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scheme::Sqlite => "sqlite",
            Scheme::Postgres => "postgres",
            Scheme::Mysql => "mysql",
            Scheme::Mongodb => "mongodb",
            Scheme::Redis => "redis",
            Scheme::Memcached => "memcached",
        }
    }

    /// Returns the port that clients use if an address has none; empty for a file.
    pub(crate) fn default_port(self) -> &'static str {
        match self {
            Scheme::Sqlite => "",
            Scheme::Postgres => "5432",
            Scheme::Mysql => "3306",
            Scheme::Mongodb => "27017",
            Scheme::Redis => "6379",
            Scheme::Memcached => "11211",
        }
    }

    /// Returns the SQL family of the database, or `None` if it has no tables.
    pub(crate) fn family(self) -> Option<Family> {
        match self {
            Scheme::Sqlite => Some(Family::Sqlite),
            Scheme::Postgres => Some(Family::Postgres),
            Scheme::Mysql => Some(Family::Mysql),
            Scheme::Mongodb | Scheme::Redis | Scheme::Memcached => None,
        }
    }
}

impl Address {
    /// Returns the kind of the database.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns whether the database has tables that SQL reads.
    ///
    /// ```
    /// use icecore_store::Address;
    /// assert!("mysql://shop@localhost/shop".parse::<Address>()?.has_tables());
    /// assert!(!"redis://localhost".parse::<Address>()?.has_tables());
    /// # Ok::<(), icecore_store::Error>(())
    /// ```
    pub fn has_tables(&self) -> bool {
        self.scheme.family().is_some()
    }

    /// Returns the path of the SQLite file.
    pub(crate) fn file_path(&self) -> PathBuf {
        let path = self.text.split_once(':').map_or("", |(_, path)| path);
        let path = path.strip_prefix("//").unwrap_or(path);
        PathBuf::from(path.split('?').next().unwrap_or_default())
    }

    /// Returns the path of the SQLite file if it does not exist yet, so that opening the address would create it.
    ///
    /// ```
    /// let address: icecore_store::Address = "sqlite:/nowhere/jobs.db".parse()?;
    /// assert_eq!(address.missing_file(), Some("/nowhere/jobs.db".into()));
    /// # Ok::<(), icecore_store::Error>(())
    /// ```
    pub fn missing_file(&self) -> Option<PathBuf> {
        let is_file = self.scheme == Scheme::Sqlite && !self.file_path().as_os_str().is_empty();
        let file = self.file_path();
        (is_file && file.as_os_str() != ":memory:" && !file.exists()).then_some(file)
    }

    /// Returns the address with its password, for a driver.
    #[cfg_attr(
        not(any(
            feature = "postgres",
            feature = "mysql",
            feature = "mongodb",
            feature = "redis",
            feature = "memcached"
        )),
        expect(dead_code, reason = "only drivers of servers need it")
    )]
    pub(crate) fn text_with_secrets(&self) -> &str {
        &self.text
    }

    /// Returns the password that was set separately from the address.
    #[cfg_attr(
        not(any(
            feature = "postgres",
            feature = "mysql",
            feature = "mongodb",
            feature = "redis",
            feature = "memcached"
        )),
        expect(dead_code, reason = "only drivers of servers need it")
    )]
    pub(crate) fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Returns whether the address contains a password.
    pub fn has_password(&self) -> bool {
        self.text != self.display_text()
    }

    /// Sets a password that was kept elsewhere.
    pub fn with_password(mut self, password: impl Into<String>) -> Address {
        self.password = Some(password.into());
        self
    }

    /// Returns where user, password and host end in `rest`, the part after `://`.
    #[cfg_attr(
        not(any(feature = "redis", feature = "memcached")),
        expect(dead_code, reason = "only Redis and memcached need it")
    )]
    pub(crate) fn find_authority_end(&self, rest: &str) -> usize {
        end_of_authority(rest)
    }

    /// Returns the address without anything that looks like a password, even if it is not one.
    fn display_text(&self) -> String {
        let Some((scheme, rest)) = self.text.split_once("://").filter(|_| self.scheme != Scheme::Sqlite) else {
            return self.text.clone();
        };
        let (authority, path) = rest.split_at(end_of_authority(rest));
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => match user.split_once(':') {
                Some((user, _)) => format!("{user}@{host}"),
                None => authority.to_owned(),
            },
            None => authority.to_owned(),
        };
        // Drivers also accept passwords as parameters.
        let path = path.split('#').next().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let kept: Vec<&str> = query.split('&').filter(|part| !may_be_secret(part)).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        format!("{scheme}://{host}{path}{}", if query == "?" { "" } else { &*query })
    }
}

/// Returns where user, password and host end. A password may contain an unescaped `/`, `?` or `#` instead of `%2F`,
/// `%3F` or `%23`. In that case the host begins after the last `@`.
fn end_of_authority(rest: &str) -> usize {
    let find_end = |start: usize| rest[start..].find(['/', '?', '#']).map_or(rest.len(), |index| start + index);
    let head = &rest[..find_end(0)];
    // Only a `name:text` without an `@` may be cut. It is either `host:port`, or `user:` and the start of a password.
    let Some((_, port)) = head.split_once(':').filter(|_| !head.contains('@')) else { return head.len() };
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    // After `host:port`, an `@` after the `?` belongs to a parameter.
    let search_end = if is_port { rest.find('?').unwrap_or(rest.len()) } else { rest.len() };
    rest[..search_end].rfind('@').map_or(head.len(), find_end)
}

/// Decodes percent escapes: `%41` becomes `A`.
#[cfg_attr(
    not(any(feature = "postgres", feature = "mysql", feature = "redis", feature = "memcached")),
    expect(dead_code, reason = "only drivers of servers need it")
)]
pub(crate) fn percent_decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        // `from_str_radix` would accept a sign.
        let digits = after.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether a parameter is a password, or may be one.
fn may_be_secret(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    ["pass", "pwd", "secret", "mechanismproperties", "%"].iter().any(|word| name.contains(word))
}

impl std::str::FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Address> {
        let scheme = match text.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => Scheme::Sqlite,
            Some("postgres" | "postgresql") => Scheme::Postgres,
            Some("mysql" | "mariadb") => Scheme::Mysql,
            Some("mongodb" | "mongodb+srv") => Scheme::Mongodb,
            Some("redis" | "rediss" | "redis+unix") => Scheme::Redis,
            Some("memcached" | "memcached+unix") => Scheme::Memcached,
            // The message does not quote the text, because it may contain a password.
            _ => {
                return Err(Error::new(
                    ErrorKind::Address,
                    "the address of a database begins with sqlite:, postgres:, mysql:, mongodb:, redis: or memcached:, \
                     such as sqlite:icecore.db",
                ));
            }
        };
        if scheme != Scheme::Sqlite && !text.contains("://") {
            return Err(Error::new(
                ErrorKind::Address,
                "the address of a server must look like postgres://user@host/database",
            ));
        }
        let address = Address { scheme, text: text.to_owned(), password: None };
        if scheme == Scheme::Sqlite && address.file_path().as_os_str().is_empty() {
            return Err(Error::new(ErrorKind::Address, "sqlite: needs a file, such as sqlite:icecore.db"));
        }
        Ok(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_text())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.display_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (text, displayed) in [
            ("postgres://ann:se:c@ret@db/jobs?sslmode=require", "postgres://ann@db/jobs?sslmode=require"),
            ("mysql://:secret@db", "mysql://@db"),
            ("postgres://db/jobs?password=secret&user=ann", "postgres://db/jobs?user=ann"),
            ("postgres://ann@db/jobs", "postgres://ann@db/jobs"),
            ("postgres://ann@db/jobs?&sslmode=require", "postgres://ann@db/jobs?&sslmode=require"),
            ("postgres://ann@db/jobs?application_name=a@b", "postgres://ann@db/jobs?application_name=a@b"),
            ("postgres://db:5432/jobs?application_name=a@b", "postgres://db:5432/jobs?application_name=a@b"),
            ("postgres://db/jobs?sslPassword=secret", "postgres://db/jobs"),
            ("postgres://db/jobs?p%61ssword=secret&user=ann", "postgres://db/jobs?user=ann"),
            ("postgres://db/jobs?user=ann#password=secret", "postgres://db/jobs?user=ann"),
            ("postgres://ann:se/secret@db/jobs", "postgres://ann@db/jobs"),
            ("postgres://ann:se?secret#@db/jobs?user=ann", "postgres://ann@db/jobs?user=ann"),
            ("postgres://ann:12/secret@db/jobs", "postgres://ann@db/jobs"),
            ("postgres://ann:secret@one:1,two:2/jobs", "postgres://ann@one:1,two:2/jobs"),
            ("mysql://ann:@db", "mysql://ann@db"),
            ("postgres://ann:1/secret@db/jobs", "postgres://ann@db/jobs"),
            ("postgres://ann:se?secret@db/jobs", "postgres://ann@db/jobs"),
            ("mongodb://ann:se:c@ret@one:1,two:2/jobs?w=1", "mongodb://ann@one:1,two:2/jobs?w=1"),
            ("mongodb://db/a?tlsCertificateKeyFilePassword=secret", "mongodb://db/a"),
            ("mongodb://db/a?authMechanismProperties=AWS_SESSION_TOKEN:secret", "mongodb://db/a"),
            ("mongodb+srv://ann:secret@db/a", "mongodb+srv://ann@db/a"),
            ("redis://:secret@cache:6379/2", "redis://@cache:6379/2"),
            ("rediss://ann:se/cret@cache?timeout=3", "rediss://ann@cache?timeout=3"),
            ("redis+unix://ann:secret@/run/redis.sock?db=1", "redis+unix://ann@/run/redis.sock?db=1"),
            ("memcached://cache:11211", "memcached://cache:11211"),
            ("sqlite:a.db", "sqlite:a.db"),
            ("sqlite://a:b@c.db", "sqlite://a:b@c.db"),
        ] {
            let address: Address = text.parse().expect("an address");
            assert_eq!(address.to_string(), displayed);
            assert_eq!(address.has_password(), text != displayed);
            assert!(!format!("{address:?}").contains("secret"));
        }
    }

    #[test]
    fn refused_addresses_are_not_shown() {
        for text in [
            "",
            "secret",
            "gopher://secret@host",
            "sqlite:",
            "sqlite://?mode=ro",
            "postgres:ann:secret@host",
            "postgres:host=db password=secret",
            "mysql:secret",
            "POSTGRES://ann:secret@host",
        ] {
            let error = text.parse::<Address>().expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Address);
            assert!(!error.to_string().contains("secret"));
        }
    }
}
