//! Tests that work is linear in the depth of an image.

#[path = "../../../tests/nested/mod.rs"]
mod nested;

use crate::steps::is_linear;
use nested::{SHAPES, run_every_operation};

#[test]
fn deep_images_take_linear_time() {
    for shape in SHAPES {
        is_linear(shape.name, 500, |levels| run_every_operation(shape, &shape.image(levels)));
    }
}
