//! Tables and columns as small numbers that threads share.

use crate::filter::Filter;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A table and one of its columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableColumn {
    /// The schema, if there is one.
    pub schema: Option<String>,
    /// The table. It is empty if there is none.
    pub table: String,
    /// The column. It is empty if there is none.
    pub column: String,
}

impl TableColumn {
    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match (&*self.table, &*self.column) {
            (table, "") => table.to_owned(),
            ("", column) => column.to_owned(),
            (table, column) => format!("{table}.{column}"),
        }
    }
}

/// All places seen so far, and whether they are changed.
#[derive(Debug, Default)]
pub struct ColumnRegistry {
    filter: Filter,
    registry: Mutex<SeenPlaces>,
}

#[derive(Debug, Default)]
struct SeenPlaces {
    /// Each place, and whether it is changed.
    places: Vec<(TableColumn, bool)>,
    numbers: HashMap<TableColumn, u32>,
}

impl ColumnRegistry {
    /// Creates an empty set. The filter selects which places are changed.
    pub fn new(filter: Filter) -> ColumnRegistry {
        ColumnRegistry { filter, registry: Mutex::default() }
    }

    /// Returns the number of a place, or `None` if it is not changed.
    pub fn number_place(&self, schema: Option<&str>, table: &str, column: &str) -> Option<u32> {
        let place =
            TableColumn { schema: schema.map(str::to_owned), table: table.to_owned(), column: column.to_owned() };
        let mut registry = self.lock_registry();
        let SeenPlaces { places, numbers } = &mut *registry;
        let number = *numbers.entry(place).or_insert_with_key(|place| {
            places.push((place.clone(), self.filter.selects(schema, table, column)));
            (places.len() - 1) as u32
        });
        places.get(number as usize).filter(|(_, is_selected)| *is_selected).map(|_| number)
    }

    /// Returns whether some columns are not changed.
    pub fn has_selection(&self) -> bool {
        self.filter.has_columns()
    }

    /// Returns a place by its number.
    pub fn place(&self, number: u32) -> TableColumn {
        let unnamed = || TableColumn { schema: None, table: String::new(), column: String::new() };
        self.lock_registry().places.get(number as usize).map_or_else(unnamed, |(place, _)| place.clone())
    }

    /// Returns given tables and columns that did not occur.
    pub fn find_unknown_names(&self) -> Vec<String> {
        let registry = self.lock_registry();
        let names = registry.places.iter().map(|(place, _)| (place.schema.as_deref(), &*place.table, &*place.column));
        self.filter.find_unknown_names(names)
    }

    fn lock_registry(&self) -> MutexGuard<'_, SeenPlaces> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
