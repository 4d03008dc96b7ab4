//! `tostream`: a value as events, which are made one after the other.

use crate::room;
use crate::value::Value;

/// The path and the value of each leaf; behind the last one in a container its path alone.
pub struct Events {
    /// What comes next.
    next: Option<Value>,
    /// The containers around, and how many of their entries were taken.
    open: Vec<(Value, usize)>,
    /// The key of the last entry that was taken of each.
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

/// An entry of a container.
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
