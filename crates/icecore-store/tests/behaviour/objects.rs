//! Objects.

use super::{Behaviour, behaviours};
use crate::common::{Cell, HOUR, Random, World, error_kind};
use icecore_store::{BlobDescription, ErrorKind, Flow, Id, NewObject, Object, ObjectFilter, describe};

pub const ALL: &[Behaviour] = behaviours! {
    stored_objects_are_returned
    empty_calls_change_nothing
    all_objects_of_a_call_are_stored_or_none
    many_objects_are_stored_like_single_ones
    a_key_belongs_to_one_object
    keys_are_compared_byte_by_byte
    keys_have_a_maximum_length
    undecodable_bytes_are_kept
    an_object_can_be_quarantined
    a_walk_continues_after_the_last_object
    a_walk_lends_the_same_objects
    an_index_keeps_all_its_values
    a_walk_is_not_disturbed_by_writers
    a_walk_stops_on_request
    objects_are_found_by_class
    long_class_names_are_stored
    texts_with_nul_are_stored
    values_are_found_with_and_without_an_index
    filters_give_the_same_with_and_without_an_index
    an_index_finds_objects_stored_later
    paths_of_indexes_have_a_maximum_length
    an_unfinished_index_is_not_used
    removed_objects_are_gone
    removals_are_recorded_in_the_audit
    expired_objects_are_removed
    many_expired_objects_are_removed
    statistics_count_objects_and_bytes
    base64_is_kept_as_text
    empty_objects_are_stored
    large_objects_round_trip
    times_are_those_of_the_database
};

fn json_object(text: &str) -> NewObject {
    describe::describe_object(text.as_bytes().to_vec(), Some("json"))
}

fn object_with_key(key: &str) -> NewObject {
    NewObject { key: Some(key.to_owned()), ..json_object("1") }
}

pub fn find_objects(world: &mut World, after: i64, max_objects: usize, filter: &ObjectFilter) -> Vec<Object> {
    let mut all = Vec::new();
    world
        .store
        .objects(after, max_objects, filter, &mut |object| {
            all.push(object);
            Ok(Flow::Continue)
        })
        .unwrap_or_else(|error| panic!("{filter:?}: {error}"));
    all
}

fn ids_of(objects: &[Object]) -> Vec<Id> {
    objects.iter().map(|object| object.id).collect()
}

fn all_objects(world: &mut World) -> Vec<Object> {
    find_objects(world, 0, usize::MAX, &ObjectFilter::default())
}

fn at_path(path: &str, value: &str) -> ObjectFilter {
    ObjectFilter { path_value: Some((path.to_owned(), value.to_owned())), ..ObjectFilter::default() }
}

fn stored_objects_are_returned(world: &mut World) {
    let blobs: [&[u8]; 5] = [
        b"a:1:{s:1:\"k\";O:4:\"User\":1:{s:4:\"name\";s:3:\"Ann\";}}",
        b"\x04\x08[\x06i\x06",
        b"{\"a\":1}",
        b"\x00\xff\xfe not a document",
        b"O:4:\"Root\":0:{}",
    ];
    let new: Vec<NewObject> = blobs.iter().map(|bytes| describe::describe_object(bytes.to_vec(), None)).collect();
    let before = world.store.now().expect("the time");
    let ids = world.store.put(&new).expect("put");
    let after = world.store.now().expect("the time");
    let mut last = 0;
    for (new, id) in new.iter().zip(&ids) {
        let object = world.store.object(*id).expect("it is asked for").expect("it is there");
        assert_eq!((object.id, &object.bytes), (*id, &new.bytes));
        assert_eq!((&object.format, &object.class), (&new.description.format, &new.description.class));
        assert_eq!((&object.json, &object.problem), (&new.description.json, &new.description.problem));
        assert_eq!(object.checksum, describe::compute_checksum(&new.bytes));
        assert_eq!((object.key, object.expires_at), (None, None));
        assert!((before..=after).contains(&object.stored_at), "{before} {} {after}", object.stored_at);
        assert!(object.sequence > last);
        last = object.sequence;
    }
    assert_eq!(world.store.object(Id::new()).expect("it is asked for"), None);
    assert_eq!(world.store.object_named("none").expect("it is asked for"), None);
}

fn empty_calls_change_nothing(world: &mut World) {
    assert_eq!(world.store.put(&[]).expect("put"), []);
    assert_eq!(world.store.remove(&[], "ann").expect("remove"), 0);
    assert_eq!(world.store.remove_expired().expect("expire"), 0);
    assert_eq!(world.store.object_stats().expect("stats"), icecore_store::ObjectStats::default());
    assert_eq!(all_objects(world), []);
}

fn all_objects_of_a_call_are_stored_or_none(world: &mut World) {
    world.store.index("$").expect("an index");
    world.store.put(&[object_with_key("a")]).expect("put");
    let user = describe::describe_object(b"O:4:\"User\":0:{}".to_vec(), None);
    assert_eq!(
        error_kind(world.store.put(&[user.clone(), object_with_key("b"), object_with_key("a"), object_with_key("c")])),
        ErrorKind::Taken
    );
    assert_eq!(all_objects(world).len(), 1);
    assert_eq!(world.store.object_named("b").expect("asked"), None);
    // The same key twice in one call.
    assert_eq!(error_kind(world.store.put(&[user, object_with_key("b"), object_with_key("b")])), ErrorKind::Taken);
    assert_eq!(all_objects(world).len(), 1);
    assert_eq!(world.count("icecore_object_classes"), 0);
    assert_eq!(world.count("icecore_index_values"), 1);
    // The connection still works.
    world.store.put(&[object_with_key("b")]).expect("put");
}

fn many_objects_are_stored_like_single_ones(world: &mut World) {
    let mut random = Random::from(7);
    world.store.index("$.a").expect("an index");
    let mut many: Vec<NewObject> = (0..300).map(|_| object_of(&mut random)).collect();
    // Together these are too large for one statement.
    many.extend((0..3).map(|number| json_object(&format!("{{\"a\":{number},\"b\":\"{}\"}}", "x".repeat(2 << 20)))));
    let together = world.store.put(&many).expect("put");
    let objects = all_objects(world);
    assert_eq!(ids_of(&objects), together, "in their order");
    let one_by_one: Vec<Id> = many
        .iter()
        .map(|object| {
            let key = object.key.as_ref().map(|key| format!("{key}+"));
            world.store.put(&[NewObject { key, ..object.clone() }]).expect("put")[0]
        })
        .collect();
    for ((first, second), new) in together.iter().zip(&one_by_one).zip(&many) {
        let [first, mut second] =
            [first, second].map(|id| world.store.object(*id).expect("asked").expect("what was put is there"));
        assert_eq!(first.key, new.key);
        if let Some(at_path) = new.stored_at {
            assert_eq!((first.stored_at, second.stored_at), (at_path, at_path));
        }
        (second.id, second.sequence, second.stored_at) = (first.id, first.sequence, first.stored_at);
        second.key.clone_from(&first.key);
        assert_eq!(first, second);
    }
    let all_ids: Vec<Id> = together.iter().chain(&one_by_one).copied().collect();
    let alike = |world: &mut World, filter: &ObjectFilter| {
        let found = ids_of(&find_objects(world, 0, usize::MAX, filter));
        let places: Vec<usize> =
            found.iter().map(|id| all_ids.iter().position(|one| one == id).expect("one")).collect();
        let (first, second): (Vec<usize>, Vec<usize>) = places.iter().partition(|place| **place < many.len());
        assert_eq!(first, second.iter().map(|place| place - many.len()).collect::<Vec<usize>>(), "{filter:?}");
        first.len()
    };
    for class in ["User", "Order", "Us\u{fffd}"] {
        assert!(alike(world, &ObjectFilter { class: Some(class.to_owned()), ..ObjectFilter::default() }) > 0);
    }
    for value in ["1", "\"x\"", "null"] {
        assert!(alike(world, &at_path("$.a", value)) > 0, "{value}");
    }
    // A key that is already taken, in the middle of many.
    let key = many.iter().find_map(|object| object.key.clone()).expect("one has a key");
    let count = all_objects(world).len();
    let batch = [&vec![json_object("1"); 70][..], &[object_with_key(&key)], &vec![json_object("1"); 5]].concat();
    assert_eq!(error_kind(world.store.put(&batch)), ErrorKind::Taken);
    let twice = [object_with_key("twice"), json_object("1"), object_with_key("twice")];
    assert_eq!(error_kind(world.store.put(&twice)), ErrorKind::Taken);
    assert_eq!(all_objects(world).len(), count);
}

/// Returns a random object: one of several classes, with a key, as Base64, or of bytes in no known format.
fn object_of(random: &mut Random) -> NewObject {
    let text = match random.below(8) {
        0 => "O:4:\"User\":1:{s:1:\"a\";i:1;}".into(),
        1 => "a:2:{s:1:\"a\";O:4:\"User\":0:{}i:1;O:4:\"User\":0:{}}".into(),
        2 => "O:5:\"Order\":1:{s:1:\"a\";O:4:\"User\":0:{}}".into(),
        3 => b"O:3:\"Us\xff\":0:{}".to_vec(),
        4 => "a:1:{s:1:\"a\";s:1:\"x\";}".into(),
        5 => "a:1:{s:1:\"a\";N;}".into(),
        6 => "a:1:{broken".into(),
        _ => format!("a:1:{{s:1:\"b\";s:3:\"\0{:02}\";}}", random.below(100)).into_bytes(),
    };
    NewObject {
        key: (random.below(10) == 0).then(|| format!("key {}", random.below(u64::MAX))),
        as_base64: random.below(4) == 0,
        stored_at: (random.below(4) == 0).then(|| 1_000_000 + random.below(1000) as i64),
        expires_at: (random.below(4) == 0).then(|| i64::MAX / 2 - random.below(1000) as i64),
        ..describe::describe_object(text, Some("php"))
    }
}

fn a_key_belongs_to_one_object(world: &mut World) {
    let id = world.store.put(&[object_with_key("a")]).expect("put")[0];
    let mut other = world.open();
    assert_eq!(error_kind(other.put(&[object_with_key("a")])), ErrorKind::Taken);
    let object = other.object_named("a").expect("asked").expect("there");
    assert_eq!((object.id, object.key.as_deref()), (id, Some("a")));
    other.remove(&[id], "ann").expect("removed");
    let second_id = world.store.put(&[object_with_key("a")]).expect("the key is free")[0];
    assert_ne!(id, second_id);
}

fn keys_are_compared_byte_by_byte(world: &mut World) {
    let keys = [
        "key",
        "Key",
        "KEY",
        "key ",
        " key",
        "key  ",
        "k\u{e9}y",
        "ke\u{301}y",
        "k\u{c9}y",
        "ß",
        "ss",
        "ﬀ",
        "ff",
        "%",
        "_",
        "'",
        "\\",
        "\"",
        "NULL",
        "0",
        "🦀",
    ];
    let new: Vec<NewObject> = keys.iter().map(|key| object_with_key(key)).collect();
    let ids = world.store.put(&new).expect("all of them are different");
    for (key, id) in keys.iter().zip(ids) {
        let object = world.store.object_named(key).expect("asked").expect("there");
        assert_eq!((object.id, object.key.as_deref()), (id, Some(*key)));
    }
}

fn keys_have_a_maximum_length(world: &mut World) {
    let longest = "ü".repeat(127) + "x";
    assert_eq!(longest.len(), 255);
    let id = world.store.put(&[object_with_key(&longest)]).expect("255 bytes")[0];
    assert_eq!(world.store.object_named(&longest).expect("asked").map(|object| object.id), Some(id));
    for key in ["", "a\0b", "a\nb", "\u{7f}", "\u{85}", &format!("{longest}x"), &"x".repeat(70_000)] {
        assert_eq!(error_kind(world.store.put(&[object_with_key(key)])), ErrorKind::Input, "{key:?}");
        assert_eq!(world.store.object_named(key).expect("asked"), None);
    }
    assert_eq!(all_objects(world).len(), 1);
}

fn undecodable_bytes_are_kept(world: &mut World) {
    let bad = describe::describe_object(b"\x04\x08[".to_vec(), Some("marshal"));
    let ids = world.store.put(&[json_object("1"), bad, json_object("2")]).expect("put");
    let is = |quarantined| ObjectFilter { quarantined: Some(quarantined), ..ObjectFilter::default() };
    let marked = find_objects(world, 0, 10, &is(true));
    assert_eq!((marked.len(), marked[0].id, &*marked[0].bytes), (1, ids[1], &b"\x04\x08["[..]));
    assert!(marked[0].problem.is_some() && marked[0].format.is_none());
    assert_eq!(ids_of(&find_objects(world, 0, 10, &is(false))), [ids[0], ids[2]]);
    assert_eq!(ids_of(&all_objects(world)), ids);
    assert_eq!(world.store.object_stats().expect("stats").quarantined, 1);
}

fn an_object_can_be_quarantined(world: &mut World) {
    let ids = world.store.put(&[json_object("1"), json_object("2")]).expect("put");
    for problem in ["no class", "no class", "zwei \u{1f980}\nZeilen", &"long ".repeat(20_000), ""] {
        world.store.quarantine(ids[0], problem).expect("marked, also with the same words again");
        let object = world.store.object(ids[0]).expect("asked").expect("there");
        assert_eq!(object.problem.as_deref(), Some(problem));
        assert_eq!(object.bytes, b"1");
    }
    assert_eq!(error_kind(world.store.quarantine(Id::new(), "none")), ErrorKind::Missing);
    let filter = ObjectFilter { quarantined: Some(true), ..ObjectFilter::default() };
    assert_eq!(ids_of(&find_objects(world, 0, 10, &filter)), ids[..1]);
}

fn a_walk_continues_after_the_last_object(world: &mut World) {
    let new: Vec<NewObject> = (0..100).map(|number| json_object(&number.to_string())).collect();
    let ids = world.store.put(&new).expect("put");
    for max_objects in [1, 7, 99, 100, 101] {
        let (mut after, mut walked) = (0, Vec::new());
        loop {
            let page = find_objects(world, after, max_objects, &ObjectFilter::default());
            assert!(page.len() <= max_objects);
            let Some(last) = page.last() else { break };
            after = last.sequence;
            walked.extend(ids_of(&page));
        }
        assert_eq!(walked, ids, "pages of {max_objects}");
    }
    assert_eq!(find_objects(world, i64::MAX, 10, &ObjectFilter::default()), []);
    assert_eq!(find_objects(world, i64::MIN, usize::MAX, &ObjectFilter::default()).len(), 100);
}

fn a_walk_lends_the_same_objects(world: &mut World) {
    let bad = describe::describe_object(b"\x04\x08[".to_vec(), Some("marshal"));
    let user = b"O:4:\"User\":0:{}".to_vec();
    let user = NewObject { expires_at: Some(i64::MAX), as_base64: true, ..describe::describe_object(user, None) };
    world.store.put(&[object_with_key("a"), bad, user, json_object("{\"k\":1}")]).expect("put");
    world.store.index("$.k").expect("an index");
    let class = ObjectFilter { class: Some("User".to_owned()), ..ObjectFilter::default() };
    for filter in [ObjectFilter::default(), class, at_path("$.k", "1"), at_path("$", "1")] {
        let mut lent = Vec::new();
        let mut add = |object: icecore_store::LentObject<'_>| {
            assert_eq!(object.json, None);
            lent.push(object.to_owned_object());
            Ok(Flow::Continue)
        };
        world.store.walk(0, 10, &filter, &mut add).expect("walked");
        let all = find_objects(world, 0, 10, &filter);
        assert!(!all.is_empty(), "{filter:?}");
        let without_json: Vec<Object> = all
            .into_iter()
            .map(|mut object| {
                assert_eq!(object.to_lent().to_owned_object(), object);
                object.json = None;
                object
            })
            .collect();
        assert_eq!(lent, without_json, "{filter:?}");
    }
}

fn an_index_keeps_all_its_values(world: &mut World) {
    let paths = ["$.a", "$.b[0]", "$.c", "$"];
    for path in paths {
        world.store.index(path).expect("an index");
    }
    let ids = world
        .store
        .put(&[json_object("{\"a\":1,\"b\":[\"x\"]}"), json_object("7"), json_object("{\"c\":{}}")])
        .expect("put");
    let rows = world.count("icecore_index_values");
    assert_eq!(rows, 3, "a value that is not a plain one is not kept");
    for (path, value, expected) in [("$.a", "1", &ids[..1]), ("$.b[0]", "x", &ids[..1]), ("$", "7", &ids[1..2])] {
        assert_eq!(ids_of(&find_objects(world, 0, 10, &at_path(path, value))), expected, "{path}");
    }
}

fn a_walk_is_not_disturbed_by_writers(world: &mut World) {
    let new: Vec<NewObject> = (0..60).map(|number| json_object(&number.to_string())).collect();
    let ids = world.store.put(&new).expect("put");
    let mut other = world.open();
    let (mut after, mut walked) = (0, Vec::new());
    for _ in 0..20 {
        let mut page = Vec::new();
        world
            .store
            .objects(after, 10, &ObjectFilter::default(), &mut |object| {
                // At this point of the walk, others store objects and remove one that was seen.
                other.put(&[json_object("100")])?;
                if let Some(expired) = walked.last() {
                    other.remove(&[*expired], "other")?;
                }
                after = object.sequence;
                page.push(object.id);
                Ok(Flow::Continue)
            })
            .expect("a page");
        walked.extend(page);
        if walked.len() >= ids.len() {
            break;
        }
    }
    assert_eq!(walked[..ids.len()], ids);
}

fn a_walk_stops_on_request(world: &mut World) {
    let ids = world.store.put(&[json_object("1"), json_object("1"), json_object("1")]).expect("put");
    world.store.index("$").expect("an index");
    let class = ObjectFilter { class: Some("A".to_owned()), ..ObjectFilter::default() };
    for filter in [ObjectFilter::default(), class, at_path("$", "1"), at_path("$[0]", "1")] {
        assert_eq!(find_objects(world, 0, 0, &filter), [], "none of {filter:?}");
    }
    for filter in [ObjectFilter::default(), at_path("$", "1")] {
        assert_eq!(ids_of(&find_objects(world, 0, 2, &filter)), ids[..2]);
        let mut count = 0;
        let mut stop = |_| {
            count += 1;
            Ok(Flow::Stop)
        };
        world.store.objects(0, 10, &filter, &mut stop).expect("stopped");
        assert_eq!(count, 1);
        let mut fail = |_| Err(icecore_store::Error::new(ErrorKind::Input, "enough"));
        assert_eq!(error_kind(world.store.objects(0, 10, &filter, &mut fail)), ErrorKind::Input);
        // Nothing is left open afterwards.
        world.store.put(&[json_object("2")]).expect("put");
    }
    // The same without an index.
    let objects = [json_object("[7]"), json_object("[7]")];
    let ids = world.store.put(&objects).expect("put");
    assert_eq!(find_objects(world, 0, 0, &at_path("$[0]", "7")), []);
    assert_eq!(ids_of(&find_objects(world, 0, 1, &at_path("$[0]", "7"))), ids[..1]);
}

fn objects_are_found_by_class(world: &mut World) {
    let blobs: [&[u8]; 6] = [
        b"O:4:\"User\":0:{}",
        b"a:2:{i:0;O:4:\"User\":0:{}i:1;O:4:\"User\":0:{}}",
        b"O:5:\"Order\":1:{s:4:\"user\";O:4:\"User\":0:{}}",
        b"O:4:\"user\":0:{}",
        b"a:0:{}",
        b"O:3:\"Us\xff\":0:{}",
    ];
    let new: Vec<NewObject> =
        blobs.iter().map(|bytes| describe::describe_object(bytes.to_vec(), Some("php"))).collect();
    let ids = world.store.put(&new).expect("put");
    let mut of = |name: &str| {
        let filter = ObjectFilter { class: Some(name.to_owned()), ..ObjectFilter::default() };
        ids_of(&find_objects(world, 0, 10, &filter))
    };
    assert_eq!(of("User"), ids[..3], "once each, the root or inside");
    assert_eq!(of("Order"), ids[2..3]);
    assert_eq!(of("user"), ids[3..4]);
    assert_eq!(of("Us\u{fffd}"), ids[5..]);
    assert_eq!(of("User "), []);
    assert_eq!(of(""), []);
    let classes = world.store.object_stats().expect("stats").classes;
    assert_eq!(classes.len(), 4);
}

fn long_class_names_are_stored(world: &mut World) {
    let of = |length: usize| {
        let name = "C".repeat(length);
        (name.clone(), describe::describe_object(format!("O:{length}:\"{name}\":0:{{}}").into_bytes(), Some("php")))
    };
    for (length, is_found) in [(255, true), (256, false), (5_000, false)] {
        let (name, object) = of(length);
        let id = world.store.put(&[object]).expect("put")[0];
        let filter = ObjectFilter { class: Some(name), ..ObjectFilter::default() };
        assert_eq!(find_objects(world, 0, 10, &filter).len(), usize::from(is_found), "{length}");
        assert!(world.store.object(id).expect("asked").is_some());
    }
}

fn texts_with_nul_are_stored(world: &mut World) {
    let object = describe::describe_object(b"a:1:{s:3:\"k\0y\";s:3:\"v\0l\";}".to_vec(), Some("php"));
    assert_eq!(object.description.problem, None);
    let id = world.store.put(&[object]).expect("put")[0];
    world.store.index("$[\"k\\u0000y\"]").expect("an index");
    assert_eq!(ids_of(&find_objects(world, 0, 10, &at_path("$[\"k\\u0000y\"]", "\"v\\u0000l\""))), [id]);
    assert_eq!(ids_of(&find_objects(world, 0, 10, &at_path("$[\"k\\u0000y\"]", "v\0l"))), [id]);
    // A class name that no Ruby program can have.
    let object = describe::describe_object(b"\x04\x08o:\x08A\0b\x00".to_vec(), Some("marshal"));
    assert_eq!((object.description.problem.as_deref(), object.description.classes.len()), (None, 1));
    let id = world.store.put(&[object]).expect("put")[0];
    let class = ObjectFilter { class: Some("A\0b".to_owned()), ..ObjectFilter::default() };
    assert_eq!(ids_of(&find_objects(world, 0, 10, &class)), [id]);
    world.store.quarantine(id, "a problem\0with NUL").expect("marked");
    let marked = world.store.object(id).expect("asked").expect("there");
    assert!(marked.problem.is_some_and(|problem| problem.starts_with("a problem")));
}

/// Returns test values: bytes, their format, a path, the value searched for, and whether the object is found.
fn sample_values() -> Vec<(Vec<u8>, &'static str, &'static str, String, bool)> {
    let mut all: Vec<(Vec<u8>, &str, &str, String, bool)> = Vec::new();
    let mut add = |bytes: &[u8], format, path, search_value: &str, is_found| {
        all.push((bytes.to_vec(), format, path, search_value.to_owned(), is_found));
    };
    let numbers = [
        // Numbers are equal however they are written.
        ("7", "7", true),
        ("7.0", "7", true),
        ("7", "7.0", true),
        ("7", "7e0", true),
        ("7", "\"7\"", false),
        ("\"7\"", "7", false),
        ("0", "-0.0", true),
        ("-7", "-7", true),
        ("7", "8", false),
        ("0.1", "0.1", true),
        ("0.1", "1e-1", true),
        ("1e308", "1e308", true),
        ("1.7976931348623157e308", "1.7976931348623157e308", true),
        ("5e-324", "5e-324", true),
        ("1e300", "1e301", false),
        ("9007199254740993", "9007199254740993", true),
        ("9007199254740993", "9007199254740992", false),
        ("4611686018427387904", "4611686018427387904.0", true),
        ("9223372036854775807", "9223372036854775807", true),
        ("-9223372036854775808", "-9223372036854775808", true),
        ("9223372036854775808", "9223372036854775808", true),
        ("9223372036854775809", "9223372036854775809", true),
        ("9223372036854775809", "9223372036854775808", false),
        ("18446744073709551615", "18446744073709551615", true),
        ("18446744073709551616", "18446744073709551616", true),
        ("18446744073709551616", "18446744073709551617", false),
        ("-18446744073709551616", "-18446744073709551616", true),
        ("-18446744073709551616", "18446744073709551616", false),
        ("18446744073709551616", "18446744073709551616.0", true),
        // Other values.
        ("true", "true", true),
        ("false", "false", true),
        ("true", "1", false),
        ("true", "\"true\"", false),
        ("false", "null", false),
        ("null", "null", true),
        ("\"null\"", "null", false),
        ("\"null\"", "\"null\"", true),
        ("\"\"", "\"\"", true),
        ("\"\"", "", true),
        ("\"a\"", "a", true),
        ("\"a\"", "\"a\"", true),
        ("\"a\"", "\"A\"", false),
        ("\"a\"", "\"a \"", false),
        ("\"a \"", "\"a \"", true),
        ("\"it's\"", "it's", true),
        ("\"\u{1f980} é\"", "\"\\ud83e\\udd80 é\"", true),
        ("\"e\u{301}\"", "\"\u{e9}\"", false),
        ("\"a\\u0000b\"", "\"a\\u0000b\"", true),
        ("\"a\\u0000b\"", "\"a\\u0000c\"", false),
        ("\"a\\u0000b\"", "\"a\"", false),
    ];
    for (value, search_value, is_found) in numbers {
        add(format!("{{\"k\":{value}}}").as_bytes(), "json", "$.k", search_value, is_found);
    }
    // Long texts, including texts that differ only at the end.
    for length in [199, 200, 201, 255, 256, 5_000] {
        let text = "x".repeat(length - 1);
        add(format!("{{\"k\":\"{text}y\"}}").as_bytes(), "json", "$.k", &format!("\"{text}y\""), true);
        add(format!("{{\"k\":\"{text}y\"}}").as_bytes(), "json", "$.k", &format!("\"{text}z\""), false);
    }
    let crabs = "🦀".repeat(50);
    add(format!("{{\"k\":\"{crabs}\"}}").as_bytes(), "json", "$.k", &format!("\"{crabs}\""), true);
    let nines = "9".repeat(400);
    add(format!("{{\"k\":{nines}}}").as_bytes(), "json", "$.k", &nines, true);
    add(format!("{{\"k\":{nines}}}").as_bytes(), "json", "$.k", &format!("{}8", &nines[1..]), false);
    // No search finds bytes that are not text.
    add(b"a:1:{s:1:\"k\";s:2:\"\xff\xfe\";}", "php", "$.k", "\"\\ufffd\\ufffd\"", false);
    // Other formats, through objects, links and aliases.
    add(b"a:1:{s:1:\"k\";i:7;}", "php", "$.k", "7", true);
    add(b"a:1:{s:1:\"k\";d:7;}", "php", "$.k", "7", true);
    add(b"a:1:{s:1:\"k\";s:1:\"7\";}", "php", "$.k", "7", false);
    add(b"a:1:{s:1:\"k\";N;}", "php", "$.k", "null", true);
    add(b"a:1:{s:1:\"k\";d:INF;}", "php", "$.k", "7", false);
    add(b"a:1:{s:1:\"k\";d:NAN;}", "php", "$.k", "NaN", false);
    add(b"a:1:{s:1:\"k\";O:1:\"A\":1:{s:4:\"\0*\0x\";i:7;}}", "php", "$.k.x", "7", true);
    add(b"a:2:{i:0;O:1:\"A\":1:{s:1:\"x\";i:7;}i:1;r:2;}", "php", "$[1].x", "7", true);
    add(b"a:2:{i:0;i:7;i:1;R:2;}", "php", "$[1]", "7", true);
    add(b"a:2:{i:0;s:1:\"t\";i:1;R:2;}", "php", "$[1]", "\"t\"", true);
    add(b"\x04\x08[\x07I\"\x06a\x06:\x06ET@\x06", "marshal", "$[1]", "\"a\"", true);
    add(b"\x04\x08:\x06a", "marshal", "$", "\"a\"", true);
    add(b"\x04\x08l+\x0a\0\0\0\0\0\0\0\0\x01\0", "marshal", "$", "18446744073709551616", true);
    // Containers, missing entries, repeated and unusual keys.
    add(b"{\"k\":[1]}", "json", "$.k", "1", false);
    add(b"{\"k\":{}}", "json", "$.k", "null", false);
    add(b"{\"k\":1}", "json", "$.l", "null", false);
    add(b"{\"k\":1,\"k\":2}", "json", "$.k", "2", true);
    add(b"{\"k\":{\"\":{\"a b\":[0,[true]]}}}", "json", "$.k[\"\"][\"a b\"][1][0]", "true", true);
    all
}

fn values_are_found_with_and_without_an_index(world: &mut World) {
    let all = sample_values();
    let put: Vec<NewObject> =
        all.iter().map(|(bytes, format, ..)| describe::describe_object(bytes.clone(), Some(format))).collect();
    for (object, (bytes, format, ..)) in put.iter().zip(&all) {
        assert_eq!(object.description.problem, None, "{format} {}", bytes.escape_ascii());
    }
    let ids = world.store.put(&put).expect("put");
    let mut without_index = Vec::new();
    let mut wrong = Vec::new();
    let search_all = |world: &mut World, wrong: &mut Vec<String>, when| -> Vec<Vec<Id>> {
        let mut answers = Vec::new();
        for ((bytes, format, path, search_value, is_found), id) in all.iter().zip(&ids) {
            let mut found = Vec::new();
            let answer = world.store.objects(0, usize::MAX, &at_path(path, search_value), &mut |object| {
                found.push(object.id);
                Ok(Flow::Continue)
            });
            if answer.is_err() || found.contains(id) != *is_found {
                let search_value = search_value.escape_debug().to_string();
                wrong.push(format!(
                    "{when}: {format} {:.80} {path} = {search_value:.80}: {answer:?}",
                    bytes.escape_ascii().to_string()
                ));
            }
            answers.push(found);
        }
        answers
    };
    without_index.extend(search_all(world, &mut wrong, "without index"));
    let mut paths: Vec<&str> = all.iter().map(|value| value.2).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in &paths {
        world.store.index(path).expect("an index");
    }
    assert_eq!(world.store.indexes().expect("indexes"), paths);
    let with_index = search_all(world, &mut wrong, "with index");
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(without_index, with_index);
    for search_value in ["[]", "{}", "[1]"] {
        assert_eq!(
            error_kind(world.store.objects(0, 1, &at_path("$.k", search_value), &mut |_| Ok(Flow::Continue))),
            ErrorKind::Input
        );
    }
}

fn filters_give_the_same_with_and_without_an_index(world: &mut World) {
    let mut new: Vec<NewObject> = Vec::new();
    for number in 0..24 {
        let class = ["A", "B"][number % 2];
        let text = format!("O:1:\"{class}\":1:{{s:1:\"k\";i:{};}}", number % 3);
        new.push(NewObject { as_base64: number % 5 == 0, ..describe::describe_object(text.into_bytes(), Some("php")) });
    }
    let ids = world.store.put(&new[..12]).expect("put");
    let middle = crate::common::until("the clock goes on", || {
        let now = world.store.now().expect("the time");
        (now > world.store.object(ids[0]).expect("asked").expect("there").stored_at).then_some(now)
    });
    crate::common::until("the clock goes on", || (world.store.now().expect("the time") > middle).then_some(()));
    let more = world.store.put(&new[12..]).expect("put");
    for id in ids.iter().chain(&more).step_by(4) {
        world.store.quarantine(*id, "for a test").expect("marked");
    }
    let mut filters = Vec::new();
    for class in [None, Some("A"), Some("C")] {
        for quarantined in [None, Some(true), Some(false)] {
            for before in [None, Some(middle), Some(0)] {
                for search_value in ["0", "1", "9"] {
                    let class = class.map(str::to_owned);
                    filters.push(ObjectFilter { class, quarantined, before, ..at_path("$.k", search_value) });
                }
            }
        }
    }
    let after = world.store.object(ids[5]).expect("asked").expect("there").sequence;
    let all = |world: &mut World| -> Vec<Vec<Id>> {
        let pages = [(0, usize::MAX), (0, 2), (after, usize::MAX), (after, 1), (0, 0)];
        let answers = filters.iter().flat_map(|filter| pages.map(|(after, max_objects)| (filter, after, max_objects)));
        answers.map(|(filter, after, max_objects)| ids_of(&find_objects(world, after, max_objects, filter))).collect()
    };
    let without_index = all(world);
    world.store.index("$.k").expect("an index");
    let with_index = all(world);
    for ((without_index, with_index), at_path) in without_index.iter().zip(&with_index).zip(0..) {
        assert_eq!(without_index, with_index, "{:?}, page {}", filters[at_path / 5], at_path % 5);
    }
    assert!(without_index.iter().any(|answer| answer.len() > 2));
}

fn an_index_finds_objects_stored_later(world: &mut World) {
    let mut other = world.open();
    let first = world.store.put(&[json_object("{\"k\":1}")]).expect("put")[0];
    world.store.index("$.k").expect("an index");
    world.store.index("$.k").expect("the same again");
    assert_eq!(other.indexes().expect("indexes"), ["$.k"]);
    let second = other.put(&[json_object("{\"k\":1}")]).expect("put")[0];
    let third = NewObject { as_base64: true, ..json_object("{\"k\":1}") };
    let third = other.put(&[third]).expect("put")[0];
    assert_eq!(ids_of(&find_objects(world, 0, 10, &at_path("$.k", "1"))), [first, second, third]);
    world.store.remove(&[second], "ann").expect("removed");
    assert_eq!(ids_of(&find_objects(world, 0, 10, &at_path("$.k", "1"))), [first, third]);
    assert_eq!(world.count("icecore_index_values"), 2);
}

fn paths_of_indexes_have_a_maximum_length(world: &mut World) {
    let longest = format!("$.{}", "k".repeat(198));
    world.store.index(&longest).expect("200 bytes");
    for path in ["", "k", ".k", "$.a\0b", "$.[", "$[", "$.k.", "$[1", "$k", &format!("{longest}k")] {
        assert_eq!(error_kind(world.store.index(path)), ErrorKind::Input, "{path:?}");
        let answer = world.store.objects(0, 1, &at_path(path, "1"), &mut |_| Ok(Flow::Continue));
        assert_eq!(error_kind(answer), ErrorKind::Input, "{path:?}");
    }
    assert_eq!(world.store.indexes().expect("indexes"), [longest]);
}

/// Leaves an index as a program does that was killed while it made the index.
fn an_unfinished_index_is_not_used(world: &mut World) {
    let new: Vec<NewObject> = (0..10).map(|_| json_object("{\"k\":1}")).collect();
    let ids = world.store.put(&new).expect("put");
    world.store.index("$.k").expect("an index");
    world.unfinish_indexes(4);
    assert_eq!(world.store.indexes().expect("indexes"), [] as [&str; 0]);
    assert_eq!(ids_of(&find_objects(world, 0, 100, &at_path("$.k", "1"))), ids);
    let last = world.store.put(&[json_object("{\"k\":1}")]).expect("put")[0];
    world.store.index("$.k").expect("it is made whole");
    assert_eq!(world.store.indexes().expect("indexes"), ["$.k"]);
    assert_eq!(ids_of(&find_objects(world, 0, 100, &at_path("$.k", "1"))), [ids, vec![last]].concat());
}

fn removed_objects_are_gone(world: &mut World) {
    let user =
        NewObject { key: Some("u".to_owned()), ..describe::describe_object(b"O:4:\"User\":0:{}".to_vec(), None) };
    let ids = world.store.put(&[user, json_object("1"), json_object("2")]).expect("put");
    let removed = world.store.remove(&[ids[0], Id::new(), ids[1], ids[0]], "ann").expect("removed");
    assert_eq!(removed, 2, "each once, and none that is not there");
    assert_eq!(world.store.object(ids[0]).expect("asked"), None);
    assert_eq!(world.store.object_named("u").expect("asked"), None);
    let class = ObjectFilter { class: Some("User".to_owned()), ..ObjectFilter::default() };
    assert_eq!(find_objects(world, 0, 10, &class), []);
    assert_eq!(ids_of(&all_objects(world)), ids[2..]);
    assert_eq!(world.count("icecore_object_classes"), 0);
    // A sequence is not used again: a walk would miss the new object.
    let last = all_objects(world).last().expect("one").sequence;
    world.store.remove(&ids, "ann").expect("removed");
    let id = world.store.put(&[json_object("3")]).expect("put")[0];
    assert!(world.store.object(id).expect("asked").expect("there").sequence > last);
}

fn removals_are_recorded_in_the_audit(world: &mut World) {
    let ids = world.store.put(&[json_object("1")]).expect("put");
    for by in ["x".repeat(256), "a\0b".to_owned()] {
        assert_eq!(error_kind(world.store.remove(&ids, &by)), ErrorKind::Input);
    }
    world.store.remove(&ids, "Ann's \"crab\" 🦀").expect("removed");
    let audit_entries = world.select("icecore_audit", &["who", "what", "subject", "affected"], &[]);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(audit_entries, [vec![some("Ann's \"crab\" 🦀"), some("rm"), some(&ids[0].to_string()), some("1")]]);
}

fn expired_objects_are_removed(world: &mut World) {
    let now = world.store.now().expect("the time");
    let until = |time| NewObject { expires_at: time, key: Some(format!("{time:?}")), ..json_object("1") };
    let hour = HOUR.as_millis() as i64;
    let times = [None, Some(i64::MIN), Some(0), Some(now), Some(now + hour), Some(i64::MAX)];
    let new: Vec<NewObject> = times.iter().map(|time| until(*time)).collect();
    let ids = world.store.put(&new).expect("put");
    for (id, time) in ids.iter().zip(times) {
        assert_eq!(world.store.object(*id).expect("asked").expect("there").expires_at, time);
    }
    assert_eq!(world.store.remove_expired().expect("expire"), 3);
    assert_eq!(ids_of(&all_objects(world)), [ids[0], ids[4], ids[5]]);
    assert_eq!(world.store.remove_expired().expect("expire"), 0);
    world.store.put(&[until(Some(0))]).expect("the key is free again");
}

fn many_expired_objects_are_removed(world: &mut World) {
    let expired = NewObject { expires_at: Some(1), ..json_object("1") };
    let mut new = vec![expired; 2_500];
    new.push(json_object("2"));
    world.store.put(&new).expect("put");
    assert_eq!(world.store.remove_expired().expect("expire"), 2_500);
    assert_eq!(all_objects(world).len(), 1);
}

fn statistics_count_objects_and_bytes(world: &mut World) {
    let blobs: [&[u8]; 5] =
        [b"O:1:\"A\":0:{}", b"O:1:\"A\":0:{}", b"O:1:\"B\":1:{i:0;O:1:\"A\":0:{}}", b"[1]", b"\xff\xff"];
    let mut new: Vec<NewObject> = blobs.iter().map(|bytes| describe::describe_object(bytes.to_vec(), None)).collect();
    new[1].as_base64 = true;
    let ids = world.store.put(&new).expect("put");
    let stats = world.store.object_stats().expect("stats");
    let bytes: usize = blobs.iter().map(|bytes| bytes.len()).sum();
    assert_eq!((stats.count, stats.bytes, stats.quarantined), (5, bytes as u64, 1));
    let stored = |world: &mut World, id| world.store.object(id).expect("asked").expect("there").stored_at;
    assert_eq!((stats.first_at, stats.last_at), (Some(stored(world, ids[0])), Some(stored(world, ids[4]))));
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(stats.formats[0], (some("php"), 3));
    let mut rest = stats.formats[1..].to_vec();
    rest.sort();
    assert_eq!(rest, [(None, 1), (some("json"), 1)]);
    assert_eq!(stats.classes, [("A".to_owned(), 2), ("B".to_owned(), 1)]);
}

fn base64_is_kept_as_text(world: &mut World) {
    for bytes in [&b""[..], b"a", b"ab", b"abc", b"\x00\xff\xfb\xf0", &[0; 1000]] {
        let object = NewObject { as_base64: true, ..describe::describe_object(bytes.to_vec(), None) };
        let id = world.store.put(&[object]).expect("put")[0];
        let object = world.store.object(id).expect("asked").expect("there");
        assert_eq!((&*object.bytes, object.checksum), (bytes, describe::compute_checksum(bytes)));
        let columns =
            world.select("icecore_objects", &["bytes", "base64", "size"], &[("id", Cell::Text(&id.to_string()))]);
        let text = columns[0][1].as_ref().expect("a text");
        assert!(columns[0][0].is_none() && text.is_ascii());
        assert_eq!(columns[0][2], Some(bytes.len().to_string()));
    }
}

fn empty_objects_are_stored(world: &mut World) {
    let object = describe::describe_object(Vec::new(), None);
    assert!(object.description.problem.is_some(), "an empty document is none in any format");
    let id = world.store.put(&[object]).expect("put")[0];
    assert_eq!(world.store.object(id).expect("asked").expect("there").bytes, b"");
}

fn large_objects_round_trip(world: &mut World) {
    let bytes: Vec<u8> = (0..20_000_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let description = BlobDescription { checksum: describe::compute_checksum(&bytes), ..BlobDescription::default() };
    for as_base64 in [false, true] {
        let new =
            NewObject { bytes: bytes.clone(), description: description.clone(), as_base64, ..NewObject::default() };
        let id = world.store.put(&[new]).expect("put")[0];
        let object = world.store.object(id).expect("asked").expect("there");
        assert!(object.bytes == bytes && object.checksum == description.checksum);
    }
    // With a long readable copy too.
    let text = format!("s:{}:\"{}\";", 5_000_000, "x".repeat(5_000_000));
    let new = describe::describe_object(text.into_bytes(), Some("php"));
    let id = world.store.put(std::slice::from_ref(&new)).expect("put")[0];
    assert!(world.store.object(id).expect("asked").expect("there").json == new.description.json);
}

fn times_are_those_of_the_database(world: &mut World) {
    let (first, second) = (world.store.now().expect("the time"), world.store.now().expect("the time"));
    assert!(first <= second && first > 1_600_000_000_000 && second < 10_000_000_000_000, "{first} {second}");
    crate::common::until("the clock goes on", || (world.store.now().expect("the time") > second).then_some(()));
}
