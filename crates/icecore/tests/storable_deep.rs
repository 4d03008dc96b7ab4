//! Very deeply nested Storable images: nothing recurses, so a small stack is enough. Tests in the
//! engine count that the work is linear.

use crate::common::{levels, on_a_small_stack};
use crate::nested::{SHAPES, deep, run_every_operation};
use icecore::{ErrorKind, Limits, format::storable};

#[test]
fn depth_needs_no_stack() {
    for (number, shape) in SHAPES.iter().enumerate() {
        // Every second shape is a variation, for which less depth is enough.
        let image = shape.image(if number % 2 == 0 { levels() } else { levels() / 10 });
        on_a_small_stack(|| run_every_operation(shape, &image));
    }
}

#[test]
fn the_depth_limit_applies_to_every_shape() {
    for shape in SHAPES {
        let image = shape.image(20_000);
        for plain in [false, true] {
            let mut options = storable::ReadOptions::default();
            options.reference = plain;
            let limits = Limits::default();
            let error = on_a_small_stack(|| storable::read(&image, &options, &limits).unwrap_err());
            assert_eq!(error.kind(), ErrorKind::Limit, "{}: {error}", shape.name);
            let reached = error.offset().unwrap() as usize;
            assert!(reached < shape.front.len() + 10_000 * shape.open.len() + 16, "{}: {reached}", shape.name);
        }
        let document = storable::read(&image, &storable::ReadOptions::default(), &deep()).unwrap();
        let refused = on_a_small_stack(|| {
            let options = storable::WriteOptions::default();
            storable::write(&document, &options, &Limits::default(), &mut Vec::new()).map(|_| ())
        });
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::Limit), "{}", shape.name);
    }
}
