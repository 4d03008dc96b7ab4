//! Shared by formats of flat lists: names of fields, the items of a document, and maps made
//! from a list.

mod convert_list;
mod item;
mod items;

pub(crate) use convert_list::convert_list;
pub(crate) use item::Item;
pub(crate) use items::{Items, gather_items};

use crate::error::{Error, ErrorKind};
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(crate) const NAMES: OptionSpec = OptionSpec {
    name: "names",
    takes: OptionType::List,
    side: Side::Both,
    help: "names for the items, in order: the list reads as a map with these keys, and is written from one",
};

pub(crate) const MAP: OptionSpec = OptionSpec {
    name: "map",
    takes: OptionType::Flag,
    side: Side::Both,
    help: "the list is keys and values in turn, as a hash in a list: it reads as a map, and is written from one",
};

/// What the items of a list are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ItemsAs {
    /// Items of a list.
    #[default]
    List,
    /// The values of these keys.
    Names(Vec<String>),
    /// Keys and values in turn.
    Map,
}

impl ItemsAs {
    pub(crate) fn from_settings(settings: &Settings) -> Result<ItemsAs, Error> {
        match (settings.text("names"), settings.flag("map")) {
            (None, false) => Ok(ItemsAs::List),
            (None, true) => Ok(ItemsAs::Map),
            (Some(names), false) => Ok(ItemsAs::Names(names.split(',').map(str::to_owned).collect())),
            (Some(_), true) => Err(Error::new(ErrorKind::Usage)
                .expecting("one of the options `names` and `map`")
                .finding("both of them")),
        }
    }
}
