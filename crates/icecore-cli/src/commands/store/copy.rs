//! `store copy`: copies from one database to another.

use super::args::CopyObjects;
use crate::database::{database_error, parse_address};
use crate::progress;
use crate::report::Abort;
use icecore_store::{Backend, Flow, NewObject, Object, ObjectFilter, describe, open};

/// Number of objects and of bytes that are copied at once.
const PAGE: usize = 500;
const BYTES: usize = 8 << 20;

pub fn run(args: &CopyObjects, from: &mut dyn Backend) -> Result<(), Abort> {
    let address = parse_address(&args.to)?;
    let mut to = open(&address).map_err(database_error)?;
    progress::begin_input("objects");
    let (mut after, mut copied) = (0, 0);
    loop {
        let mut page = Vec::new();
        let mut size = 0;
        from.walk(after, PAGE, &ObjectFilter::default(), &mut |object| {
            size += object.bytes.len();
            page.push(object.to_owned_object());
            Ok(if size < BYTES { Flow::Continue } else { Flow::Stop })
        })
        .map_err(database_error)?;
        let Some(last) = page.last() else { break };
        after = last.sequence;
        let mut new = Vec::new();
        for object in page {
            if to.object(object.id).map_err(database_error)?.is_none() {
                new.push(to_new_object(object));
            }
        }
        copied += to.put(&new).map_err(database_error)?.len() as u64;
        progress::set_record_count(copied);
    }
    super::print_count(copied, "object", "copied")
}

/// Returns the same object for another database; a marked object stays marked.
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
