//! `store copy`: copies from one database to another.

use super::args::CopyObjects;
use crate::database::{database_error, parse_address};
use crate::progress;
use crate::report::Abort;
use icecore_store::{Backend, Flow, NewObject, Object, ObjectFilter, describe, open};

/// Maximum number of objects that are copied at once.
const MAX_PAGE_OBJECTS: usize = 500;
/// Number of bytes after which no further object is copied at once.
const MAX_PAGE_LEN: usize = 8 << 20;

pub fn run(args: &CopyObjects, from: &mut dyn Backend) -> Result<(), Abort> {
    let address = parse_address(&args.to)?;
    let mut target = open(&address).map_err(database_error)?;
    progress::begin_input("objects");
    let (mut last_sequence, mut copied_count) = (0, 0);
    loop {
        let mut page = Vec::new();
        let mut size = 0;
        from.walk(last_sequence, MAX_PAGE_OBJECTS, &ObjectFilter::default(), &mut |object| {
            size += object.bytes.len();
            page.push(object.to_owned_object());
            Ok(if size < MAX_PAGE_LEN { Flow::Continue } else { Flow::Stop })
        })
        .map_err(database_error)?;
        let Some(last) = page.last() else { break };
        last_sequence = last.sequence;
        let mut new_objects = Vec::new();
        for object in page {
            if target.object(object.id).map_err(database_error)?.is_none() {
                new_objects.push(to_new_object(object));
            }
        }
        copied_count += target.put(&new_objects).map_err(database_error)?.len() as u64;
        progress::set_record_count(copied_count);
    }
    super::print_count(copied_count, "object", "copied")
}

/// Returns the same object for another database. A mark for an object that can't be decoded is kept.
fn to_new_object(object: Object) -> NewObject {
    let mut description = describe::describe(&object.bytes, object.format.as_deref());
    if object.problem.is_some() {
        description.problem = object.problem;
    }
    NewObject {
        description,
        id: Some(object.id),
        stored_at: Some(object.stored_at),
        key: object.key,
        expires_at: object.expires_at,
        bytes: object.bytes,
        as_base64: false,
    }
}
