//! Walking through objects a page at a time, the same over every database.

use crate::backend::{EachLent, Flow};
use crate::describe;
use crate::error::Result;
use crate::object::LentObject;

/// How many objects are asked for in one go, where as many are held in memory: a walk is cut into
/// questions that end.
pub(crate) const ASKED: usize = 256;

/// What stands at a path of the objects that are wanted.
pub(crate) struct At {
    path: [String; 1],
    value: String,
}

impl At {
    /// Of a path and a value, as people write them.
    pub(crate) fn new(path: &str, value: &str) -> Result<At> {
        describe::check_path(path)?;
        Ok(At { path: [path.to_owned()], value: describe::wanted_value(value)? })
    }

    pub(crate) fn path(&self) -> &str {
        &self.path[0]
    }

    /// As an index has it.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    fn is_in(&self, object: &LentObject<'_>) -> bool {
        let found = describe::values_at(&object.bytes, object.format.as_deref(), &self.path);
        found.iter().any(|(_, found)| *found == self.value)
    }
}

/// Asks for the objects behind a sequence, at most so many, in order.
pub(crate) type Page<'p> = &'p mut dyn FnMut(i64, usize, EachLent<'_>) -> Result<()>;

/// Gives the objects behind a sequence to `each`, at most so many, as questions for `asked` of them
/// bring them. What has no index, each is looked into for.
pub(crate) fn walk(
    asked: usize,
    mut after: i64,
    most: usize,
    looked_for: Option<&At>,
    page: Page<'_>,
    each: EachLent<'_>,
) -> Result<()> {
    let mut left = most;
    while left > 0 {
        let (mut found, mut is_enough) = (0, false);
        let asked = if looked_for.is_some() { asked } else { left.min(asked) };
        page(after, asked, &mut |object| {
            (found, after) = (found + 1, object.sequence);
            if looked_for.is_some_and(|at| !at.is_in(&object)) {
                return Ok(Flow::On);
            }
            left -= 1;
            is_enough = each(object)? == Flow::Stop || left == 0;
            Ok(if is_enough { Flow::Stop } else { Flow::On })
        })?;
        if is_enough || found < asked {
            return Ok(());
        }
    }
    Ok(())
}
