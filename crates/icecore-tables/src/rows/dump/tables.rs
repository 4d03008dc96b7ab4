//! The selected tables of a dump, and the plans for their rows.

use crate::error::{Error, Result};
use crate::filter::matches_column;
use crate::rows::column::ColumnSpec;
use crate::rows::plan::Plan;
use icecore_sql::{Cell, Table};
use std::io;
use std::sync::Arc;

/// The tables and columns that were requested.
pub struct TableSelection {
    base: Option<Plan>,
    specs: Vec<ColumnSpec>,
}

impl TableSelection {
    /// Parses the values of `--column`.
    pub fn new(columns: &[String]) -> Result<TableSelection> {
        let specs = columns.iter().map(|column| ColumnSpec::parse(column, &[])).collect::<Result<_, _>>()?;
        Ok(TableSelection { base: None, specs })
    }

    /// Sets the part of the plan that does not depend on the tables.
    pub fn with_base(self, base: Plan) -> TableSelection {
        TableSelection { base: Some(base), ..self }
    }

    /// Returns whether rows of this table are written.
    pub fn selects_table(&self, table: &Table) -> bool {
        let Some(base) = &self.base else { return false };
        let matches_spec = |spec: &ColumnSpec| {
            spec.given_name().is_none() || table.columns().iter().any(|column| names_column(spec, table, column.name()))
        };
        base.filter().selects_table(table.schema(), table.name())
            && (base.filter().has_tables() || self.specs.is_empty() || self.specs.iter().any(matches_spec))
    }

    /// Returns the names of the tables with columns that are left out only because they have no column to decode.
    pub fn list_skipped(&self, tables: &[Table]) -> Vec<String> {
        let Some(base) = self.base.as_ref().filter(|base| !base.filter().has_tables()) else { return Vec::new() };
        let is_skipped =
            |table: &&Table| base.filter().selects_table(table.schema(), table.name()) && !self.selects_table(table);
        tables.iter().filter(is_skipped).map(|table| table.name().to_owned()).collect()
    }

    /// Returns the name of the column of a value.
    pub fn qualified_column(&self, table: &Table, cell: &Cell) -> String {
        format!("{}.{}", table.name(), column_or_number(table, cell.column, cell.position as usize))
    }

    /// Returns the plan for rows with these columns.
    pub fn create_plan(&self, table: &Table, columns: impl Iterator<Item = Option<u32>>) -> io::Result<Arc<Plan>> {
        let columns: Vec<String> =
            columns.enumerate().map(|(index, column)| column_or_number(table, column, index)).collect();
        let matching = self.specs.iter().filter_map(|spec| {
            let position = columns.iter().position(|column| *column == spec.name);
            let position = position.or_else(|| columns.iter().position(|column| names_column(spec, table, column)));
            let position = position.or(spec.position.filter(|position| *position < columns.len()))?;
            Some(ColumnSpec { position: Some(position), ..spec.clone() })
        });
        let specs = matching.collect();
        let base = self.base.clone().ok_or_else(|| io::Error::other("no plan"))?;
        base.with_columns(table.schema(), table.name(), columns, specs).map(Arc::new).map_err(to_io_error)
    }

    /// Returns an error for given tables and columns that do not exist, because they are probably typing errors.
    pub fn check_selection(&self, tables: &[Table]) -> io::Result<()> {
        let Some(base) = &self.base else { return Ok(()) };
        let all_columns = tables.iter().flat_map(|table| {
            let names = table.columns().iter().map(|column| column.name()).chain([""]);
            names.map(|column| (table.schema(), table.name(), column))
        });
        let mut unknown = base.filter().find_unknown_names(all_columns.clone());
        for spec in &self.specs {
            let is_named =
                |(schema, table, column): (Option<&str>, &str, &str)| matches_column(&spec.name, schema, table, column);
            if spec.given_name().is_some() && !all_columns.clone().any(is_named) {
                unknown.push(format!("there is no column `{}`", spec.name));
            }
        }
        if unknown.is_empty() { Ok(()) } else { Err(io::Error::other(unknown.join("; "))) }
    }
}

/// Returns whether the spec names this column.
fn names_column(spec: &ColumnSpec, table: &Table, column: &str) -> bool {
    matches_column(&spec.name, table.schema(), table.name(), column)
}

/// Returns the name of a column. If it is not known, returns the number of the column.
fn column_or_number(table: &Table, column: Option<u32>, index: usize) -> String {
    let column = column.and_then(|column| table.columns().get(column as usize));
    column.map_or_else(|| (index + 1).to_string(), |column| column.name().to_owned())
}

fn to_io_error(error: Error) -> io::Error {
    io::Error::other(error.to_string())
}
