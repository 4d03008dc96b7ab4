//! Tests that work is linear in the template and the data.

#[path = "../../../tests/packing/hostile.rs"]
mod hostile;

use super::{Options, write};
use crate::document::{Builder, Document};
use crate::format::Reader as _;
use crate::format::Request;
use crate::limits::Limits;
use crate::steps::counted;

/// Returns the allowed steps. The reader's own budget is 64 steps for each byte, plus about a
/// million.
fn allowed_steps(template: &str, data: usize) -> u64 {
    (4 << 20) + 200 * (template.len() + data) as u64
}

fn make_list(items: usize) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_array();
    for item in 0..items {
        b.int(item as i64);
    }
    b.end();
    b.finish().unwrap()
}

#[test]
fn steps_are_bounded_by_the_size_of_the_input() {
    let limits = Limits::default();
    let sizes = [3_125, 6_250, 12_500, 25_000, 50_000];
    // `make test-all` sets this.
    let tried = if std::env::var_os("ICECORE_FULL").is_some() { sizes.len() } else { 2 };
    for &size in &sizes[..tried] {
        let list = make_list(size / 50);
        for template in hostile::templates(size) {
            let name: String = template.chars().take(40).collect();
            let mut options = None;
            let steps = counted(|| options = Some(Options::new(&template)));
            assert!(steps <= allowed_steps(&template, 0), "{name}: {steps} to compile it");
            let options = options.unwrap();
            for byte in [0u8, b'_', 0xFF, b'1'] {
                let data = vec![byte; size];
                let steps = counted(|| drop(options.read(&data, Request::new(&limits))));
                assert!(steps <= allowed_steps(&template, size), "{name} on {size} times {byte}: {steps}");
            }
            let steps = counted(|| drop(write(&list, &options, &limits, &mut Vec::new())));
            assert!(steps <= allowed_steps(&template, size), "{name}, written: {steps}");
        }
    }
}
