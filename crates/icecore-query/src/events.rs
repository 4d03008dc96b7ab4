//! `tostream`. It turns a value into events, and generates them one by one.

use crate::query_thread;
use crate::value::Value;

/// Generates the path and the value of each leaf. When a container ends, it generates only the path of the
/// container's last entry.
pub struct StreamEvents {
    /// The value to generate events for next, if there is one.
    next: Option<Value>,
    /// The open containers, and the number of entries taken from each.
    open: Vec<(Value, usize)>,
    /// The key of the last entry taken from each of them.
    path: Vec<Value>,
}

impl StreamEvents {
    pub fn new(value: Value) -> StreamEvents {
        StreamEvents { next: Some(value), open: Vec::new(), path: Vec::new() }
    }

    fn path_value(&self) -> Value {
        self.path.iter().cloned().collect()
    }
}

/// Returns an entry of a container.
fn entry_at(container: &Value, index: usize) -> Option<(Value, Value)> {
    match container.visible_value() {
        Value::List(list) => Some((Value::from(index as isize), list.get().get(index)?.clone())),
        Value::Map(map) => map.get().get_index(index).map(|(key, value)| (Value::Text(key.to_text()), value.clone())),
        _ => None,
    }
}

impl Iterator for StreamEvents {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            query_thread::count_step();
            if let Some(value) = self.next.take() {
                if entry_at(&value, 0).is_none() {
                    return Some([self.path_value(), value].into_iter().collect());
                }
                self.open.push((value, 0));
            }
            let depth = self.open.len();
            let (container, next_index) = self.open.last_mut()?;
            match entry_at(container, *next_index) {
                Some((key, value)) => {
                    *next_index += 1;
                    self.path.truncate(depth - 1);
                    self.path.push(key);
                    self.next = Some(value);
                }
                None => {
                    let end = [self.path_value()].into_iter().collect();
                    self.path.pop();
                    self.open.pop();
                    return Some(end);
                }
            }
        }
    }
}
