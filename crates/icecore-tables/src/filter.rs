//! Selection of tables and columns.

use std::collections::BTreeSet;

/// A selection of tables and columns. Names ignore case.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    tables: Vec<String>,
    columns: Vec<String>,
    skipped: Vec<String>,
}

impl Filter {
    /// Selects only these tables and columns, or all if none is given, without those that are skipped.
    pub fn new(tables: &[String], columns: &[String], skipped: &[String]) -> Filter {
        Filter { tables: tables.to_vec(), columns: columns.to_vec(), skipped: skipped.to_vec() }
    }

    /// Returns whether columns are given.
    pub fn has_columns(&self) -> bool {
        !self.columns.is_empty() || !self.skipped.is_empty()
    }

    /// Returns the same filter for a table that was selected already.
    pub fn without_tables(self) -> Filter {
        Filter { tables: Vec::new(), ..self }
    }

    /// Returns whether this table is selected.
    pub fn selects_table(&self, schema: Option<&str>, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|name| matches_table(name, schema, table))
    }

    /// Returns whether tables are given.
    pub fn has_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Returns whether this column is selected.
    pub fn selects(&self, schema: Option<&str>, table: &str, column: &str) -> bool {
        self.selects_table(schema, table) && self.selects_column(schema, table, column)
    }

    /// Returns whether a column of a selected table is selected.
    pub fn selects_column(&self, schema: Option<&str>, table: &str, column: &str) -> bool {
        let is_column = |name: &String| matches_column(name, schema, table, column);
        (self.columns.is_empty() || self.columns.iter().any(is_column)) && !self.skipped.iter().any(is_column)
    }

    /// Returns the given names that match none of these tables and columns: probably typing errors.
    pub fn find_unknown_names<'n>(
        &self,
        places: impl Iterator<Item = (Option<&'n str>, &'n str, &'n str)> + Clone,
    ) -> Vec<String> {
        let mut unknown = BTreeSet::new();
        for name in &self.tables {
            if !places.clone().any(|(schema, table, _)| matches_table(name, schema, table)) {
                unknown.insert(format!("there is no table `{name}`"));
            }
        }
        for name in self.columns.iter().chain(&self.skipped) {
            if !places.clone().any(|(schema, table, column)| matches_column(name, schema, table, column)) {
                unknown.insert(format!("there is no column `{name}`"));
            }
        }
        unknown.into_iter().collect()
    }
}

/// Matches `table` or `schema.table`.
fn matches_table(name: &str, schema: Option<&str>, table: &str) -> bool {
    name.eq_ignore_ascii_case(table)
        || schema
            .is_some_and(|schema| strip_qualifier(name, schema).is_some_and(|rest| rest.eq_ignore_ascii_case(table)))
}

/// Matches `column`, `table.column` or `schema.table.column`.
pub fn matches_column(name: &str, schema: Option<&str>, table: &str, column: &str) -> bool {
    if name.eq_ignore_ascii_case(column) {
        return true;
    }
    let in_table = |name: &str| strip_qualifier(name, table).is_some_and(|rest| rest.eq_ignore_ascii_case(column));
    in_table(name) || schema.is_some_and(|schema| strip_qualifier(name, schema).is_some_and(in_table))
}

/// Returns the text after `qualifier.`.
fn strip_qualifier<'n>(name: &'n str, qualifier: &str) -> Option<&'n str> {
    let (front, rest) = (name.get(..qualifier.len())?, name.get(qualifier.len()..)?);
    front.eq_ignore_ascii_case(qualifier).then(|| rest.strip_prefix('.')).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_qualified_or_not() {
        let filter = |tables: &[&str], columns: &[&str], skipped: &[&str]| {
            let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            Filter::new(&all(tables), &all(columns), &all(skipped))
        };
        let posts = |filter: &Filter| filter.selects(Some("wp"), "Posts", "guid");
        for table in ["posts", "POSTS", "wp.posts"] {
            assert!(posts(&filter(&[table], &[], &[])), "{table}");
        }
        for column in ["guid", "posts.GUID", "wp.posts.guid"] {
            assert!(posts(&filter(&[], &[column], &[])), "{column}");
            assert!(!posts(&filter(&[], &[], &[column])), "{column}");
        }
        for table in ["post", "other.posts", "posts.guid", "wp"] {
            assert!(!posts(&filter(&[table], &[], &[])), "{table}");
        }
        assert!(!posts(&filter(&[], &["id", "users.guid"], &[])));
        let places = [(Some("wp"), "posts", "guid")];
        let unknown = filter(&["posts", "users"], &["guid"], &["gid"]).find_unknown_names(places.into_iter());
        assert_eq!(unknown, ["there is no column `gid`", "there is no table `users`"]);
    }
}
