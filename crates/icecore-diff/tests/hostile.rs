//! Documents that are made to be expensive, and invalid differences.

use icecore::{Builder, Document, Limits};
use icecore_diff::{Patch, Rules, find_differences, find_reference_differences};

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}

fn end_container(builder: &mut Builder) {
    builder.end();
}

fn make_nested_document(depth: usize, leaf: i64) -> Document<'static> {
    let mut builder = Builder::new();
    for index in 0..depth {
        match index % 3 {
            0 => builder.begin_array(),
            1 => builder.begin_map().text_key("next"),
            _ => builder.begin_object("Node").begin_map().text_key("next"),
        };
    }
    builder.int(leaf);
    // Objects have two levels: themselves and their bodies.
    (0..depth + depth / 3).for_each(|_| end_container(&mut builder));
    builder.finish().unwrap()
}

#[test]
fn deep_documents_need_no_deep_stack() {
    on_small_stack(|| {
        let (left, right) = (make_nested_document(5_000, 1), make_nested_document(5_000, 2));
        let found = find_differences(&left, &right, Rules::new());
        assert_eq!(found.changes().len(), 1);
        let json = found.to_json(&Limits::default()).unwrap();
        let patched = Patch::read(&json, &Limits::default()).unwrap().apply(&left).unwrap();
        assert!(find_differences(&patched, &right, Rules::new()).is_empty());
        // A value of the same depth.
        let (left, right) = (make_nested_document(0, 1), make_nested_document(5_000, 2));
        let json = find_differences(&left, &right, Rules::new()).to_json(&Limits::default()).unwrap();
        let patched = Patch::read(&json, &Limits::default()).unwrap().apply(&left).unwrap();
        assert!(find_differences(&patched, &right, Rules::new()).is_empty());
    });
}

#[test]
fn a_million_levels_are_compared() {
    on_small_stack(|| {
        let (left, right) = (make_nested_document(1_000_000, 1), make_nested_document(1_000_000, 2));
        assert_eq!(find_differences(&left, &right, Rules::new()).changes().len(), 1);
        assert!(find_differences(&left, &left, Rules::new()).is_empty());
    });
}

/// Makes a list of lists, each of which contains the previous one twice: through links, 2^depth
/// values.
fn build_doubled_value(depth: usize, leaf: i64) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_array();
    let mut last = builder.begin_array().at();
    builder.int(leaf).end();
    for _ in 0..depth {
        let index = builder.begin_array().at();
        builder.link(last).link(last).end();
        last = index;
    }
    builder.end();
    builder.finish().unwrap()
}

#[test]
fn values_multiplied_by_links_are_compared_once() {
    let (left, right) = (build_doubled_value(60, 1), build_doubled_value(60, 2));
    assert!(find_differences(&left, &build_doubled_value(60, 1), Rules::new()).is_empty());
    let found = find_differences(&left, &right, Rules::new());
    assert_eq!(found.list_paths(), ["$[0][0]"]);
    let json = found.to_json(&Limits::default()).unwrap();
    let patched = Patch::read(&json, &Limits::default()).unwrap().apply(&left).unwrap();
    assert!(find_differences(&patched, &right, Rules::new()).is_empty());
    // The other one has the same values through other links.
    let mut builder = Builder::new();
    builder.begin_array();
    let mut last = builder.begin_array().at();
    builder.int(1).end();
    for _ in 0..60 {
        let index = builder.begin_array().at();
        builder.link(last).link(last).end();
        last = index;
    }
    builder.begin_array().link(last).end();
    builder.end();
    let longer = builder.finish().unwrap();
    assert_eq!(find_differences(&left, &longer, Rules::new()).list_paths(), ["$[61]"]);
}

/// Makes a ring of lists.
fn build_ring(length: usize) -> Document<'static> {
    let mut builder = Builder::new();
    let first = builder.begin_array().at();
    for _ in 1..length {
        builder.begin_array();
    }
    builder.link(first);
    (0..length).for_each(|_| end_container(&mut builder));
    builder.finish().unwrap()
}

#[test]
fn comparing_cycles_ends() {
    // Rings of any length mean the same, and the number of compared pairs is not the product of the
    // lengths.
    let (short, long) = (build_ring(8_999), build_ring(9_001));
    assert!(find_differences(&short, &long, Rules::new()).is_empty());
    assert!(!find_differences(&short, &long, Rules::new().exact()).is_empty());
    let mut builder = Builder::new();
    let first = builder.begin_array().at();
    builder.link(first).int(1).end();
    let other = builder.finish().unwrap();
    let one = build_ring(1);
    let found = find_differences(&one, &other, Rules::new());
    assert_eq!(found.list_paths(), ["$[1]"]);
    let json = found.to_json(&Limits::default()).unwrap();
    let patched = Patch::read(&json, &Limits::default()).unwrap().apply(&one).unwrap();
    assert!(find_differences(&patched, &other, Rules::new()).is_empty());
}

#[test]
fn comparing_lists_that_are_hard_to_align_ends() {
    let list = |of: &dyn Fn(u64) -> u64, count: u64| {
        let mut builder = Builder::new();
        builder.begin_array();
        for index in 0..count {
            builder.uint(of(index));
        }
        builder.end();
        builder.finish().unwrap()
    };
    let mut seed = 9_u64;
    let scattered: Vec<u64> = (0..30_000)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 40
        })
        .collect();
    let shapes: Vec<Document<'_>> = vec![
        list(&|index| index, 30_000),
        list(&|index| 30_000 - index, 30_000),
        list(&|index| index % 2, 30_000),
        list(&|index| index % 3, 30_000),
        list(&|index| scattered[index as usize] % 7, 30_000),
        list(&|index| scattered[index as usize], 30_000),
    ];
    for left in &shapes {
        for right in &shapes {
            for compare in [find_differences, find_reference_differences] {
                let found = compare(left, right, Rules::new());
                assert_eq!(found.list_paths().len(), found.changes().len());
            }
        }
    }
}

#[test]
fn damaged_patches_are_refused() {
    let left = icecore::read(br#"{"a": [1, 2], "b": {"c": null}}"#).unwrap();
    let right = icecore::read(br#"{"a": [0, 1, 2, 9], "b": {"d": 5, "e": [7]}}"#).unwrap();
    let json = find_differences(&left, &right, Rules::new()).to_json(&Limits::default()).unwrap();
    let limits = Limits::default();
    assert!(Patch::read(&json, &limits).unwrap().apply(&left).is_ok());
    let mut tried = 0;
    // The last byte ends the line.
    for index in 0..json.len() - 1 {
        for byte in [b'0', b'"', b'[', b'x'] {
            let mut damaged = json.clone();
            damaged[index] = byte;
            if let Ok(patch) = Patch::read(&damaged, &limits) {
                // Any result is right, as long as the call ends.
                let _ = patch.apply(&left).map_err(|error| error.to_string());
                tried += 1;
            }
        }
        assert!(Patch::read(&json[..index], &limits).is_err());
    }
    assert!(tried > 100);
    for (text, why) in [
        ("{}", "no key `icecore_difference`"),
        ("[]", "no key `icecore_difference`"),
        (r#"{"icecore_difference":2}"#, "version 2; this program supports version 1"),
    ] {
        let error = Patch::read(text.as_bytes(), &limits).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn comparing_deep_maps_with_reordered_keys_ends() {
    // The levels only differ in the order of keys, down to the innermost one.
    let deep_maps = |keys: [&str; 2], leaf: i64| {
        const DEPTH: usize = 100_000;
        let mut builder = Builder::new();
        for _ in 0..DEPTH {
            builder.begin_array().begin_map();
            for key in keys {
                builder.text_key(key).int(1);
            }
            builder.end();
        }
        builder.int(leaf);
        (0..DEPTH).for_each(|_| end_container(&mut builder));
        builder.finish().unwrap()
    };
    on_small_stack(move || {
        let (left, right) = (deep_maps(["a", "b"], 1), deep_maps(["b", "a"], 2));
        assert!(find_differences(&left, &deep_maps(["b", "a"], 1), Rules::new()).is_empty());
        assert_eq!(find_differences(&left, &right, Rules::new()).changes().len(), 1);
    });
}
