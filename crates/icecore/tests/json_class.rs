//! `json:class=KEY`: the value of KEY is always the class of an object, never a member of the data.

use icecore::{Cursor, Kind, Limits, LossKind, Losses, Stage, Value};

fn convert(php: &[u8], to: &str) -> (Vec<u8>, Losses) {
    let document = icecore::read_as(php, &Stage::parse("php").unwrap(), &Limits::default()).unwrap();
    let mut json = Vec::new();
    let losses = icecore::write_to(&document, &Stage::parse(to).unwrap(), &Limits::default(), &mut json).unwrap();
    (json, losses)
}

fn find_reserved_loss(losses: &Losses) -> Option<(u64, String)> {
    losses.iter().find(|loss| loss.kind == LossKind::Reserved).map(|loss| (loss.count, loss.path.clone()))
}

#[test]
fn a_member_cannot_take_the_key_of_the_class() {
    for (php, to, json, lost) in [
        (
            &b"O:1:\"D\":2:{s:5:\"CLASS\";s:4:\"evil\";s:1:\"x\";i:1;}"[..],
            "json:class=CLASS",
            r#"{"CLASS":"D","x":1}"#,
            "$.CLASS",
        ),
        (b"a:2:{s:5:\"CLASS\";s:4:\"evil\";s:1:\"x\";i:1;}", "json:class=CLASS", r#"{"x":1}"#, "$.CLASS"),
        (b"a:1:{s:1:\"a\";a:1:{s:5:\"CLASS\";a:1:{i:5;i:6;}}}", "json:class=CLASS", r#"{"a":{}}"#, "$.a.CLASS"),
        // Keys of every kind and visibility.
        (b"O:1:\"D\":1:{s:8:\"\0*\0CLASS\";i:1;}", "json:class=CLASS", r#"{"CLASS":"D"}"#, "$.CLASS:protected"),
        (b"a:2:{i:7;i:1;s:1:\"x\";i:2;}", "json:class=7", r#"{"x":2}"#, "$[7]"),
        (b"a:1:{s:1:\"\xe9\";i:1;}", "json:class=é", "{}", "$"),
        (b"O:1:\"D\":2:{s:1:\"C\";i:1;s:1:\"A\";i:2;}", "json:class=C,sort_keys", r#"{"C":"D","A":2}"#, "$.C"),
        (b"O:1:\"D\":1:{s:1:\"C\";i:1;}", "json:class=C,indent=1", "{\n \"C\": \"D\"\n}", "$.C"),
    ] {
        let (found, losses) = convert(php, to);
        assert_eq!(String::from_utf8(found).unwrap().trim_end(), json, "{to}");
        let (count, path) = find_reserved_loss(&losses).unwrap();
        assert_eq!(count, 1, "{to}");
        assert!(lost == "$" || path == lost, "{path}, not {lost}");
    }
    // The class takes its key even if we would have used that key ourselves.
    let marshal = b"\x04\x08C:\x06A[\x06i\x06";
    assert_eq!(icecore::convert(marshal, "marshal", "json:class=value").unwrap(), br#"{"value":"A","body":[1]}"#);
    assert_eq!(icecore::convert(marshal, "marshal", "json:class=C").unwrap(), br#"{"C":"A","value":[1]}"#);
    // We give names to the parts of Ruby's exceptions; one of them may be the key of the class.
    let (message, bt) = (b"mesg", b"bt");
    let mut exception = b"\x04\x08o:\x11RuntimeError\x07:\x09".to_vec();
    exception.extend(message);
    exception.extend(b"\"\x06x:\x07");
    exception.extend(bt);
    exception.extend(b"0");
    assert_eq!(
        icecore::convert(&exception, "marshal", "json:class=message").unwrap(),
        br#"{"message":"RuntimeError","backtrace":null}"#
    );
    // Without the option, every name is free.
    assert_eq!(convert(b"a:1:{s:5:\"CLASS\";i:1;}", "json").0, b"{\"CLASS\":1}");
}

/// Makes nested objects and arrays whose keys are names with a meaning.
fn write_random_object(state: &mut u64, depth: u32, objects: &mut usize, keys: &mut usize, out: &mut Vec<u8>) {
    let mut next = |below: u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    };
    if depth == 0 || next(4) == 0 {
        return out.extend(b"i:1;");
    }
    // Names that are equal without their prefix would keep it, so they are too far apart in this
    // list to meet.
    let names: &[&str] = &["CLASS", "value", "x", "CLASS2", "body", "\0*\0CLASS", "\0*\0y", "CLAS", "class", "z"];
    let count = next(4);
    let is_object = next(2) == 0;
    *objects += usize::from(is_object);
    let head = if is_object { format!("O:1:\"D\":{count}:{{") } else { format!("a:{count}:{{") };
    out.extend(head.bytes());
    let first = next(10);
    for index in 0..count {
        // Names in an array are not mangled, so they stay as they are.
        let name = names[((first + index) % 10) as usize];
        let printed_name = name.rsplit('\0').next().unwrap();
        let is_left_out = if is_object { printed_name } else { name } == "CLASS";
        *keys += usize::from(is_left_out);
        out.extend(format!("s:{}:\"{name}\";", name.len()).bytes());
        // A member that is left out takes its content with it.
        let objects = if is_left_out { &mut 0 } else { &mut *objects };
        write_random_object(state, depth - 1, objects, keys, out);
    }
    out.push(b'}');
}

/// Counts the members of that name; no object has it twice.
fn count_class_members(value: Cursor<'_>) -> usize {
    let mut count = 0;
    if value.kind() == Kind::Map {
        let own = value.entries().filter(|(key, _)| key.bytes() == b"CLASS").count();
        assert!(own <= 1);
        count += own;
        for (key, inner) in value.entries() {
            if key.bytes() == b"CLASS" {
                assert!(matches!(inner.value(), Value::Text(b"D") | Value::Bytes(b"D")));
            }
            count += count_class_members(inner);
        }
    } else if value.kind() == Kind::Array {
        count += value.items().map(count_class_members).sum::<usize>();
    }
    count
}

#[test]
fn json_names_one_class_for_each_object() {
    let rounds = std::env::var("ICECORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2000);
    for seed in 0..rounds {
        let (mut php, mut objects, mut keys) = (Vec::new(), 0, 0);
        write_random_object(&mut (seed * 7919 + 1), 4, &mut objects, &mut keys, &mut php);
        for to in ["json:class=CLASS", "json:class=CLASS,sort_keys", "json:class=CLASS,indent=2"] {
            let (json, losses) = convert(&php, to);
            let found = icecore::read(&json).unwrap();
            let text = String::from_utf8_lossy(&php).into_owned();
            assert_eq!(count_class_members(found.root()), objects, "{to}: {text}");
            assert_eq!(find_reserved_loss(&losses).is_some(), keys > 0, "{to}: {text}");
        }
    }
}
