//! Walking through objects a page at a time, the same way for every database.

use crate::backend::{EachLent, Flow};
use crate::describe;
use crate::error::Result;
use crate::object::LentObject;

/// Number of objects per query, for drivers that hold a whole page in memory. A walk consists of several short queries.
pub(crate) const OBJECTS_PER_QUERY: usize = 256;

/// A condition. It has a path, and the value that an object must have there.
pub(crate) struct PathValue {
    path: [String; 1],
    value: String,
}

impl PathValue {
    /// Parses a path and a value that a user wrote.
    pub(crate) fn new(path: &str, value: &str) -> Result<PathValue> {
        describe::check_path(path)?;
        Ok(PathValue { path: [path.to_owned()], value: describe::parse_wanted_value(value)? })
    }

    pub(crate) fn path(&self) -> &str {
        &self.path[0]
    }

    /// Returns the value in the form of an index.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    fn matches_object(&self, object: &LentObject<'_>) -> bool {
        let values = describe::find_index_values(&object.bytes, object.format.as_deref(), &self.path);
        values.iter().any(|(_, value)| *value == self.value)
    }
}

/// Requests up to this many objects after a sequence, in order.
pub(crate) type PageQuery<'p> = &'p mut dyn FnMut(i64, usize, EachLent<'_>) -> Result<()>;

/// Passes up to `max_objects` objects after a sequence to `each`, fetched in pages of `page_size`. `unindexed` is a
/// value whose path does not have an index. So each object is decoded, and only objects with this value are passed
/// on.
pub(crate) fn walk_pages(
    page_size: usize,
    mut after: i64,
    max_objects: usize,
    unindexed: Option<&PathValue>,
    page: PageQuery<'_>,
    each: EachLent<'_>,
) -> Result<()> {
    let mut remaining = max_objects;
    while remaining > 0 {
        let (mut found_count, mut is_enough) = (0, false);
        let page_limit = if unindexed.is_some() { page_size } else { remaining.min(page_size) };
        page(after, page_limit, &mut |object| {
            (found_count, after) = (found_count + 1, object.sequence);
            if unindexed.is_some_and(|path_value| !path_value.matches_object(&object)) {
                return Ok(Flow::Continue);
            }
            remaining -= 1;
            is_enough = each(object)? == Flow::Stop || remaining == 0;
            Ok(if is_enough { Flow::Stop } else { Flow::Continue })
        })?;
        if is_enough || found_count < page_limit {
            return Ok(());
        }
    }
    Ok(())
}
