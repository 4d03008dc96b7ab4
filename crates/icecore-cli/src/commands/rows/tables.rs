//! Tables of a database: which are read, and errors for tables and columns that do not exist.

use super::Rows;
use crate::database::{database_error, explain_missing_table};
use crate::report::{Abort, usage_text_error};
use icecore::text::{printable, shortened};
use icecore_store::{Address, Scheme, table};
use icecore_tables::plural::join_names;
use std::collections::BTreeSet;

/// Returns the error for a file that is an SQLite database. It shows how to read the requested table, or lists the
/// tables.
pub fn sqlite_file_error(file: &str, is_file: bool, requested_tables: &[String]) -> Abort {
    if !is_file {
        return usage_text_error(
            "this is a SQLite database: its rows are read from a file, as `icecore rows --db sqlite:FILE --table TABLE`",
        );
    }
    match (list_table_names(file), requested_tables.first()) {
        (Ok(tables), Some(table)) if tables.contains(table) => {
            usage_text_error(format!("this is a SQLite database: {} reads this table", format_command(file, table)))
        }
        (Ok(tables), Some(table)) => {
            let advice = explain_missing_table(table, &tables).map_or_else(String::new, |advice| format!("; {advice}"));
            usage_text_error(format!("this SQLite database has no table `{}`{advice}", printable(table)))
        }
        (Ok(tables), None) => table_list_error(file, &tables),
        (Err(error), _) => error,
    }
}

/// Returns the command that reads a table of a file.
fn format_command(file: &str, table: &str) -> String {
    format!("`icecore rows {} --table {}`", printable(file), printable(table))
}

/// Returns the error that names the tables of a file.
fn table_list_error(file: &str, tables: &[String]) -> Abort {
    let Some(first) = tables.first() else { return usage_text_error("this is a SQLite database without tables") };
    let names: Vec<String> = tables.iter().map(|table| format!("`{}`", shortened(&printable(table), 64))).collect();
    let (noun, verb) = if names.len() == 1 { ("the table", "reads it") } else { ("the tables", "reads one") };
    let command = format_command(file, first);
    usage_text_error(format!("this is a SQLite database with {noun} {}: {command} {verb}", join_names(&names)))
}

/// Returns the names of all tables of a file, in order.
fn list_table_names(file: &str) -> Result<Vec<String>, Abort> {
    let address: Address = format!("sqlite:{file}").parse().map_err(database_error)?;
    table::list_names(&address).map_err(database_error)
}

/// Returns the error for a database without a table or query to read.
pub fn missing_table_error(address: &Address) -> Abort {
    match (address.scheme(), address.to_string().strip_prefix("sqlite:")) {
        (Scheme::Sqlite, Some(file)) => match list_table_names(file) {
            Ok(tables) => table_list_error(file, &tables),
            Err(_) => usage_text_error(format!("{address} has no keys, and no tables that can be read")),
        },
        _ if address.has_tables() => {
            usage_text_error(format!("{address} has no keys: use --table TABLE, --all-tables or --query SQL"))
        }
        _ => usage_text_error(format!("{address} has no keys: use --collection NAME")),
    }
}

/// Returns the query for all rows of the table that `--table` names.
pub fn select_all(address: &Address, tables: &[String]) -> Result<String, Abort> {
    let [table] = tables else {
        return Err(usage_text_error("--db takes one --table at a time; --all-tables reads all"));
    };
    table::select_all(address, table)
        .ok_or_else(|| usage_text_error(format!("{address} has no tables: use --collection NAME or --match PATTERN")))
}

/// Returns the name of the file for a table, without an extension.
pub fn table_file_name(table: &str) -> String {
    let name = table.replace(['/', '\0'], "_");
    if name.starts_with('.') { format!("_{name}") } else { name }
}

/// With `--all-tables`, returns the columns to decode that this table has, each with its position among the given
/// columns. Otherwise returns `None`: then the given columns apply.
pub fn own_columns(args: &Rows, table: &str, header: &[String]) -> Option<Vec<(usize, String)>> {
    let own_column = |(position, column): (usize, &String)| {
        let column = column.strip_prefix(&format!("{table}.")).unwrap_or(column);
        let name = column.split('=').next().unwrap_or(column);
        header.iter().any(|known| known == name).then(|| (position, column.to_owned()))
    };
    (args.all_tables && !args.columns.is_empty())
        .then(|| args.columns.iter().enumerate().filter_map(own_column).collect())
}

/// Returns the error for columns that no table has.
pub fn missing_columns_error(args: &Rows, found_columns: &BTreeSet<usize>) -> Option<String> {
    let missing_columns = args.columns.iter().enumerate().filter(|(position, _)| !found_columns.contains(position));
    let names: Vec<String> = missing_columns.map(|(_, column)| format!("`{}`", printable(column))).collect();
    (!names.is_empty()).then(|| format!("no table has the column {}", join_names(&names)))
}
