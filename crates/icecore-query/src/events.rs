//! `tostream`: a value as events, which are generated one by one.

use crate::room;
use crate::value::Value;

/// Generates the path and the value of each leaf; after the last one in a container, only its path.
pub struct Events {
    /// The next value.
    next: Option<Value>,
    /// The open containers, and the number of entries taken from each.
    open: Vec<(Value, usize)>,
    /// The key of the last entry taken from each of them.
    path: Vec<Value>,
}

impl Events {
    pub fn new(value: Value) -> Events {
        Events { next: Some(value), open: Vec::new(), path: Vec::new() }
    }

    fn path(&self) -> Value {
        self.path.iter().cloned().collect()
    }
}

/// Returns an entry of a container.
fn entry(container: &Value, at: usize) -> Option<(Value, Value)> {
    match container.plain() {
        Value::List(list) => Some((Value::from(at as isize), list.get().get(at)?.clone())),
        Value::Map(map) => map.get().get_index(at).map(|(key, value)| (Value::Text(key.text()), value.clone())),
        _ => None,
    }
}

impl Iterator for Events {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            room::step();
            if let Some(value) = self.next.take() {
                if entry(&value, 0).is_none() {
                    return Some([self.path(), value].into_iter().collect());
                }
                self.open.push((value, 0));
            }
            let depth = self.open.len();
            let (container, taken) = self.open.last_mut()?;
            match entry(container, *taken) {
                Some((key, value)) => {
                    *taken += 1;
                    self.path.truncate(depth - 1);
                    self.path.push(key);
                    self.next = Some(value);
                }
                None => {
                    let end = [self.path()].into_iter().collect();
                    self.path.pop();
                    self.open.pop();
                    return Some(end);
                }
            }
        }
    }
}
