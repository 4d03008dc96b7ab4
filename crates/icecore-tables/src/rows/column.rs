//! A column to decode: `--column payload=base64/php`.

use crate::error::{Error, Result, usage_error};
use icecore::Stage;

/// The value of `--column`.
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    /// The name or the number that the user gave.
    pub name: String,
    /// Its position, if columns have one.
    pub position: Option<usize>,
    /// The stage that reads the values of the column. If it is `None`, the format of each value is detected.
    pub stage: Option<Stage>,
}

impl ColumnSpec {
    /// Parses `NAME[=FORMAT]`. NAME is one of `names`, or a number from 1 on.
    pub fn parse(text: &str, names: &[String]) -> Result<ColumnSpec> {
        let (name, stage) = match text.split_once('=') {
            Some((name, stage)) => (name, Some(Stage::parse(stage).map_err(Error::from_engine)?)),
            None => (text, None),
        };
        let number = name.parse().ok().filter(|number: &usize| (1..=MAX_NUMBER).contains(number));
        let position = names.iter().position(|known_name| known_name == name).or(number.map(|number| number - 1));
        match position {
            None if !names.is_empty() => {
                if let Some((column, _)) =
                    name.split_once('.').filter(|(column, _)| names.iter().any(|name| name == column))
                {
                    return Err(usage_error(format!(
                        "there is no column `{name}`: `{column}` is a column, and `icecore query --each '.{name}'` takes a \
                         field from the rows that are decoded with `-c {column}`; --schema makes columns of fields in \
                         parquet and arrow"
                    )));
                }
                let known = crate::plural::join_names(names);
                Err(usage_error(format!(
                    "there is no column `{name}`: there are {known}; numbers from 1 on work as well"
                )))
            }
            Some(position) if !names.is_empty() && position >= names.len() => {
                Err(usage_error(format!("there is no column {name}: there are {} of them", names.len())))
            }
            _ => Ok(ColumnSpec { name: name.to_owned(), position, stage }),
        }
    }

    /// Returns what the user gave, if it is a name and not a number.
    pub fn given_name(&self) -> Option<&str> {
        Some(&*self.name).filter(|name| name.parse::<usize>().is_err())
    }
}

/// The largest number of a column.
const MAX_NUMBER: usize = 10_000;
