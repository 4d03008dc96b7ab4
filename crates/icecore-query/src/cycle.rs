//! Documents that contain themselves.

use icecore::{Cursor, Document, Error, ErrorKind};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    Open,
    Done,
}

/// Refuses a document in which a container contains itself: filters would not terminate.
pub fn refuse(document: &Document<'_>) -> Result<(), Error> {
    if !document.nodes().iter().any(|node| node.kind.is_again()) {
        return Ok(());
    }
    let mut seen = vec![Seen::No; document.nodes().len()];
    let root = document.root();
    let mut open = vec![(root, root.children())];
    set(&mut seen, root, Seen::Open);
    while let Some((container, children)) = open.last_mut() {
        let Some(child) = children.next() else {
            set(&mut seen, *container, Seen::Done);
            open.pop();
            continue;
        };
        let target = child.target();
        match seen.get(target.index() as usize) {
            Some(Seen::Open) => return Err(circle(child, target)),
            Some(Seen::No) if target.kind().is_container() => {
                set(&mut seen, target, Seen::Open);
                open.push((target, target.children()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn set(seen: &mut [Seen], cursor: Cursor<'_>, state: Seen) {
    if let Some(place) = seen.get_mut(cursor.index() as usize) {
        *place = state;
    }
}

#[cold]
fn circle(link: Cursor<'_>, target: Cursor<'_>) -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .on_path(link.path())
        .expecting("values that do not contain themselves")
        .finding(format!("a link to {}, which it is in", target.path()))
        .helping("`icecore convert -t json:cycles=null | icecore query …` has null in the place of the link")
}
