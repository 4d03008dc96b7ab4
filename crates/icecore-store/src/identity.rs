//! Names of databases that do not depend on how an address is written.

use crate::address::{Address, Scheme};
use std::path::Path;

/// Parameters that determine which database an address names.
const LOCATION_PARAMETERS: [&str; 5] = ["dbname", "host", "hostaddr", "port", "socket"];

impl Address {
    /// Returns a name of the database without user, password and settings. Two addresses of one database usually have
    /// the same identity; addresses of different databases never do. For SQLite this resolves the path of the file.
    ///
    /// ```
    /// use icecore_store::Address;
    /// let one: Address = "mysql://ann:secret@localhost/shop".parse()?;
    /// let other: Address = "mariadb://root@127.0.0.1:3306/shop?sslmode=require".parse()?;
    /// assert_eq!(one.identity(), "mysql://localhost:3306/shop");
    /// assert_eq!(one.identity(), other.identity());
    /// # Ok::<(), icecore_store::Error>(())
    /// ```
    pub fn identity(&self) -> String {
        let (scheme, port) = (self.scheme().name(), self.scheme().default_port());
        if self.scheme() == Scheme::Sqlite {
            return format!("{scheme}:{}", full_path(&self.file_path()).display());
        }
        // This form does not contain the password, because a password may contain any character.
        let displayed = self.to_string();
        let rest = displayed.split_once("://").map_or("", |(_, rest)| rest);
        let (location, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = location.split_once('/').unwrap_or((location, ""));
        let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
        let hosts: Vec<String> = hosts.split(',').map(|host| full_host(host, port)).collect();
        let mut parameters: Vec<&str> =
            parameters.split('&').filter(|parameter| is_location_parameter(parameter)).collect();
        parameters.sort_unstable();
        let separator = if parameters.is_empty() { "" } else { "?" };
        format!("{scheme}://{}/{database}{separator}{}", hosts.join(","), parameters.join("&"))
    }

    /// Returns the common name of the database: its name, or the file name without its extension.
    ///
    /// ```
    /// let address: icecore_store::Address = "postgres://ann@db.example/shop?sslmode=require".parse()?;
    /// assert_eq!(address.database_name(), "shop");
    /// # Ok::<(), icecore_store::Error>(())
    /// ```
    pub fn database_name(&self) -> String {
        if self.scheme() == Scheme::Sqlite {
            return self.file_path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        let identity = self.identity();
        let name = identity.splitn(4, '/').nth(3).unwrap_or_default();
        name.split('?').next().unwrap_or_default().to_owned()
    }
}

/// Returns an absolute path, with links resolved if the file exists.
fn full_path(path: &Path) -> std::path::PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    std::fs::canonicalize(path).unwrap_or_else(|_| absolute())
}

/// Returns a host with its port. All names of the local host become `localhost`.
fn full_host(host: &str, default_port: &str) -> String {
    let host = host.to_ascii_lowercase();
    // The brackets of an IPv6 address contain colons too.
    let name_end = host.rfind(']').map_or(0, |end| end + 1);
    let (name, port) = match host.get(name_end..).and_then(|rest| rest.rfind(':')) {
        Some(colon) => (host.get(..name_end + colon).unwrap_or_default(), host.get(name_end + colon + 1..)),
        None => (&*host, None),
    };
    let name = if matches!(name, "" | "127.0.0.1" | "[::1]") { "localhost" } else { name };
    format!("{name}:{}", port.filter(|port| !port.is_empty()).unwrap_or(default_port))
}

fn is_location_parameter(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    LOCATION_PARAMETERS.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(text: &str) -> String {
        text.parse::<Address>().expect("an address").identity()
    }

    #[test]
    fn equal_databases_have_equal_identities() {
        for (one, other) in [
            ("postgres://ann:a@b@db/shop", "postgresql://DB:5432/shop?sslmode=require"),
            ("mysql://root@localhost:3307/shop", "mysql://[::1]:3307/shop"),
            ("postgres://one:1,two:2/shop", "postgres://u@one:1,two:2/shop?application_name=x"),
            ("postgres:///shop?host=/run/a&user=x", "postgres:///shop?user=y&host=/run/a"),
            ("sqlite:./a.db", "sqlite:a.db"),
        ] {
            assert_eq!(identity(one), identity(other));
        }
    }

    #[test]
    fn different_databases_have_different_identities() {
        for (one, other) in [
            ("mysql://localhost/shop", "mysql://localhost/blog"),
            ("mysql://localhost/shop", "mysql://localhost:3307/shop"),
            ("mysql://localhost/shop", "postgres://localhost/shop"),
            ("mysql://a/shop", "mysql://b/shop"),
            ("postgres:///shop?host=/run/a", "postgres:///shop?host=/run/b"),
            ("sqlite:a.db", "sqlite:b.db"),
        ] {
            assert_ne!(identity(one), identity(other));
        }
        assert!(!identity("mysql://ann:secret@db/shop").contains("secret"));
    }
}
