//! Runs the examples in Perl, PHP and Ruby on the database of a test. If an example lacks something
//! that it needs, this is reported, and its part of the test is skipped.
#![allow(dead_code, reason = "each test uses a part of it")]

use crate::common::{AddressParts, address_with_password, file_of};
use icecore_store::{Address, Scheme};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program in the folder `examples`.
#[derive(Clone, Copy)]
pub enum Example {
    Perl(&'static str),
    Php(&'static str),
    Ruby(&'static str),
    /// A Ruby program that uses MongoDB.
    RubyMongo(&'static str),
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the path of a module that `make modules` built.
fn built(path: &str) -> PathBuf {
    manifest().join("../../bindings").join(path)
}

fn ends_well(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Returns the name of a database for PDO and DBI.
fn dsn(address: &Address, sqlite: &str, postgres: &str, mysql: &str) -> String {
    let (prefix, name) = match address.scheme() {
        Scheme::Sqlite => return format!("{sqlite}:{}", file_of(address)),
        Scheme::Postgres => (postgres, "dbname"),
        // DBD::MariaDB has another key than PDO.
        _ => (mysql, if mysql.starts_with("dbi") { "database" } else { "dbname" }),
    };
    let AddressParts { host, port, database, .. } = AddressParts::of(address);
    format!("{prefix}:{name}={database};host={host};port={port}")
}

impl Example {
    /// Returns why it can't run on this database.
    pub fn is_missing(self, address: &Address, needs_module: bool) -> Option<String> {
        let pick = |names: [&'static str; 3]| match address.scheme() {
            Scheme::Sqlite => names[0],
            Scheme::Postgres => names[1],
            _ => names[2],
        };
        let (missing, is_there) = match self {
            Example::Perl(_) => {
                let module = pick(["DBD::SQLite", "DBD::Pg", "DBD::MariaDB"]);
                let mut perl = Command::new("perl");
                (format!("perl with {module}"), ends_well(perl.args(["-MDBI", &format!("-M{module}"), "-e1"])))
            }
            Example::Php(_) => {
                let driver = pick(["pdo_sqlite", "pdo_pgsql", "pdo_mysql"]);
                let mut php = self.interpreter(needs_module);
                let module = if needs_module { " && extension_loaded('icecore')" } else { "" };
                let code = format!("exit(extension_loaded('{driver}'){module} ? 0 : 1);");
                (format!("php with {driver}, and the extension"), ends_well(php.args(["-r", &code])))
            }
            Example::Ruby(_) | Example::RubyMongo(_) => {
                let library = match self {
                    Example::RubyMongo(_) => "mongo",
                    _ => pick(["sqlite3", "pg", "mysql2"]),
                };
                let mut ruby = self.interpreter(needs_module);
                ruby.arg(format!("-r{library}"));
                if !matches!(self, Example::RubyMongo(_)) {
                    ruby.arg("-ractive_record");
                }
                if needs_module {
                    ruby.arg("-ricecore");
                }
                (format!("ruby with {library}, ActiveRecord and the module"), ends_well(ruby.args(["-e", "exit"])))
            }
        };
        (!is_there).then_some(missing)
    }

    fn interpreter(self, needs_module: bool) -> Command {
        match self {
            Example::Perl(_) => Command::new("perl"),
            Example::Php(_) => {
                let mut php = Command::new("php");
                if needs_module {
                    php.arg("-d").arg(format!("extension={}", built("php/modules/icecore.so").display()));
                }
                // Its error output is checked.
                php.args(["-d", "display_errors=stderr", "-d", "log_errors=0"]);
                php
            }
            Example::Ruby(_) | Example::RubyMongo(_) => {
                let mut ruby = Command::new("ruby");
                ruby.arg("-W0").env("RUBYLIB", built("ruby/lib"));
                ruby
            }
        }
    }

    /// Runs it on this database.
    pub fn run(self, address: &Address, needs_module: bool, args: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = self.interpreter(needs_module);
        let (Example::Perl(file) | Example::Php(file) | Example::Ruby(file) | Example::RubyMongo(file)) = self;
        command.arg(manifest().join("examples").join(file));
        let login = (address.scheme() != Scheme::Sqlite && address.scheme() != Scheme::Mongodb)
            .then(|| AddressParts::of(address))
            .map(|parts| (parts.user, parts.password));
        match self {
            Example::Perl(_) => {
                command.arg(dsn(address, "dbi:SQLite", "dbi:Pg", "dbi:MariaDB"));
                command.envs(login.iter().flat_map(|(user, password)| [("DBI_USER", user), ("DBI_PASS", password)]));
            }
            Example::Php(_) => {
                command.arg(dsn(address, "sqlite", "pgsql", "mysql"));
                let login = login.iter();
                command.envs(login.flat_map(|(user, password)| [("PDO_USER", user), ("PDO_PASSWORD", password)]));
            }
            Example::Ruby(_) => {
                let url = address_with_password(address);
                let (_, place) = url.split_once(':').expect("scheme:");
                let scheme = match address.scheme() {
                    Scheme::Sqlite => "sqlite3",
                    Scheme::Postgres => "postgresql",
                    _ => "mysql2",
                };
                command.env("DATABASE_URL", format!("{scheme}:{place}"));
            }
            Example::RubyMongo(_) => {
                command.env("MONGODB_URL", address_with_password(address));
            }
        }
        command.args(args).envs(variables.iter().copied()).output().expect("it runs")
    }
}
