//! The tables of a database that was named in the place of a file with rows.

use crate::database::failed;
use crate::report::{Abort, usage_of};
use icecore::text::{printable, shortened};
use icecore_store::{Address, Flow, Line, Scheme, table};
use icecore_tables::plural::listed;

/// The error for a file that is a database of SQLite: which tables it has, and how one is read.
pub fn list(file: &str, is_file: bool) -> Abort {
    if !is_file {
        return usage_of(
            "this is a SQLite database: its rows are read from a file, as `icecore rows --db sqlite:FILE --table TABLE`",
        );
    }
    match read_names(file) {
        Ok(tables) => advise(file, &tables),
        Err(error) => error,
    }
}

/// The error that names the tables of a file.
fn advise(file: &str, tables: &[String]) -> Abort {
    let Some(first) = tables.first() else { return usage_of("this is a SQLite database without tables") };
    let names: Vec<String> = tables.iter().map(|table| format!("`{}`", shortened(&printable(table), 64))).collect();
    let (is, word) = if names.len() == 1 { ("the table", "reads it") } else { ("the tables", "reads one") };
    usage_of(format!(
        "this is a SQLite database with {is} {}: `icecore rows --db sqlite:{} --table {}` {word}",
        listed(&names),
        printable(file),
        printable(first)
    ))
}

/// The names of all tables of a file, in order.
fn read_names(file: &str) -> Result<Vec<String>, Abort> {
    let address: Address = format!("sqlite:{file}").parse().map_err(failed)?;
    let sql =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut names = Vec::new();
    icecore_store::query(&address, sql, &mut |line| {
        if let Line::Values([Some(name), ..]) = line {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        Ok(Flow::On)
    })
    .map_err(failed)?;
    Ok(names)
}

/// The error for a database of which nothing is asked.
pub fn ask(address: &Address) -> Abort {
    match (address.scheme(), address.to_string().strip_prefix("sqlite:")) {
        (Scheme::Sqlite, Some(file)) => match read_names(file) {
            Ok(tables) => advise(file, &tables),
            Err(_) => usage_of(format!("{address} has no keys, and no tables that can be read")),
        },
        (Scheme::Postgres | Scheme::Mysql, _) => {
            usage_of(format!("{address} has no keys: --table TABLE or --query SQL says what is read"))
        }
        _ => usage_of(format!("{address} has no keys: --collection NAME says what is read")),
    }
}

/// The query for all rows of the table that `--table` names.
pub fn select_all(address: &Address, tables: &[String]) -> Result<String, Abort> {
    let [table] = tables else { return Err(usage_of("with --db, one --table is read at a time")) };
    table::select_all(address, table)
        .ok_or_else(|| usage_of(format!("{address} has no tables: --collection and --match say what is read there")))
}
