//! Documents that mean the same have no differences; the difference of two documents makes one the
//! other.

use crate::common;

use crate::common::{Palette, Random};
use icecore::{Builder, Document, Limits, Request, Stage};
use icecore_diff::{Differences, Patch, Rules, find_differences, find_reference_differences};

/// Formats that keep everything that JSON has.
const FORMATS: &[&str] =
    &["json", "json:typed", "storable", "sereal", "php", "var-export", "igbinary", "marshal", "dumper:purity"];

fn convert_and_read<'b>(document: &Document<'_>, format: &str, bytes: &'b mut Vec<u8>) -> Option<Document<'b>> {
    let (stage, limits) = (Stage::parse(format).expect("a format"), Limits::default());
    let losses = icecore::write_to(document, &stage, &limits, bytes).ok()?;
    if !losses.is_empty() {
        return None;
    }
    icecore::read_with(bytes, &stage, Request::new(&limits).detailed()).ok()
}

fn list_differences(found: &Differences<'_>) -> Vec<String> {
    let all = found.changes().iter().zip(found.list_paths()).zip(found.list_new_paths());
    all.map(|((one, old), new)| format!("{} {old} {new}", one.kind.as_str())).collect()
}

/// Checks that the patch of the difference makes the first document the second, and fits no
/// document that differs from the first; also for the difference found by the twin.
fn check_patch(left: &Document<'_>, right: &Document<'_>, rules: Rules, note: &str) {
    for found in [find_differences(left, right, rules), find_reference_differences(left, right, rules)] {
        check_patch_of(&found, left, right, rules, note);
    }
}

fn check_patch_of(found: &Differences<'_>, left: &Document<'_>, right: &Document<'_>, rules: Rules, note: &str) {
    let json = found.to_json(&Limits::default()).unwrap_or_else(|error| panic!("{note}: {error}"));
    let text = || String::from_utf8_lossy(&json).into_owned();
    let patch = Patch::read(&json, &Limits::default()).unwrap_or_else(|error| panic!("{note}: {error}\n{}", text()));
    assert_eq!(patch.is_empty(), found.is_empty());
    let result = patch.apply(left).unwrap_or_else(|error| panic!("{note}: {error}\n{}", text()));
    // A patch contains neither sharing nor the order of keys.
    let is_exact = rules.is_exact();
    let rules = if is_exact { Rules::new() } else { rules };
    let rest = find_differences(&result, right, rules);
    assert!(rest.is_empty(), "{note}: {:?} after {:?}\n{}", list_differences(&rest), list_differences(found), text());
    if !found.is_empty() && !is_exact {
        assert!(patch.apply(right).is_err(), "{note}: {}", text());
    }
}

#[test]
fn a_document_does_not_differ_between_formats() {
    let mut pairs = 0;
    for seed in 0..60 {
        let document = common::document(seed, Palette::Json);
        let mut all: Vec<Vec<u8>> = FORMATS.iter().map(|_| Vec::new()).collect();
        let read: Vec<_> =
            FORMATS.iter().zip(&mut all).map(|(format, bytes)| convert_and_read(&document, format, bytes)).collect();
        for (left, from) in read.iter().zip(FORMATS) {
            for (right, to) in read.iter().zip(FORMATS) {
                let (Some(left), Some(right)) = (left, right) else { continue };
                for compare in [find_differences, find_reference_differences] {
                    let found = compare(left, right, Rules::new().across_formats());
                    assert!(found.is_empty(), "{seed}: {from} {to}: {:?}", list_differences(&found));
                }
                pairs += 1;
            }
        }
    }
    assert!(pairs > 1500, "{pairs}");
}

#[test]
fn a_document_does_not_differ_from_itself() {
    for seed in 0..1500 {
        let document = common::document(seed, Palette::All);
        for rules in [Rules::new(), Rules::new().across_formats(), Rules::new().exact()] {
            for compare in [find_differences, find_reference_differences] {
                let found = compare(&document, &document, rules);
                assert!(found.is_empty(), "{seed}: {rules:?}: {:?}", list_differences(&found));
            }
        }
    }
}

#[test]
fn a_patch_turns_one_document_into_the_other() {
    for seed in 0..1500_u64 {
        let palette = [Palette::All, Palette::Perl, Palette::Json][(seed % 3) as usize];
        let (left, right) = (common::document(seed, palette), common::document(seed + 5000, palette));
        for rules in [Rules::new(), Rules::new().across_formats(), Rules::new().exact()] {
            check_patch(&left, &right, rules, &format!("{seed} {rules:?}"));
        }
    }
}

/// A value that is easy to change.
#[derive(Clone, Debug, PartialEq)]
enum PlainValue {
    Number(u64),
    Text(u64),
    List(Vec<PlainValue>),
    Map(Vec<(String, PlainValue)>),
}

impl PlainValue {
    fn make_random_value(random: &mut Random, depth: u32) -> PlainValue {
        match random.below(if depth == 0 { 2 } else { 6 }) {
            0 => PlainValue::Number(random.below(50)),
            1 => PlainValue::Text(random.below(1000)),
            2 | 3 => PlainValue::List(
                (0..random.below(6)).map(|_| PlainValue::make_random_value(random, depth - 1)).collect(),
            ),
            _ => PlainValue::Map(
                (0..random.below(5))
                    .map(|index| (format!("k{index}"), PlainValue::make_random_value(random, depth - 1)))
                    .collect(),
            ),
        }
    }

    fn to_json_text(&self) -> String {
        match self {
            PlainValue::Number(n) => n.to_string(),
            PlainValue::Text(n) => format!("\"text {n}\""),
            PlainValue::List(items) => {
                format!("[{}]", items.iter().map(PlainValue::to_json_text).collect::<Vec<_>>().join(","))
            }
            PlainValue::Map(entries) => {
                let entry = |(key, value): &(String, PlainValue)| format!("\"{key}\":{}", value.to_json_text());
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Returns the number of values in it.
    fn count_values(&mut self) -> usize {
        match self {
            PlainValue::List(items) => 1 + items.iter_mut().map(PlainValue::count_values).sum::<usize>(),
            PlainValue::Map(entries) => 1 + entries.iter_mut().map(|(_, value)| value.count_values()).sum::<usize>(),
            _ => 1,
        }
    }

    /// Returns the value with this number in pre-order.
    fn value_at(&mut self, mut number: usize) -> &mut PlainValue {
        if number == 0 {
            return self;
        }
        number -= 1;
        let inside: Vec<&mut PlainValue> = match self {
            PlainValue::List(items) => items.iter_mut().collect(),
            PlainValue::Map(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
            _ => unreachable!("a number within the value"),
        };
        for one in inside {
            let count = one.count_values();
            if number < count {
                return one.value_at(number);
            }
            number -= count;
        }
        unreachable!("a number within the value")
    }

    fn change_randomly(&mut self, random: &mut Random) {
        let count = self.count_values();
        let value = self.value_at(random.below(count as u64) as usize);
        match value {
            PlainValue::List(items) if random.one_in(2) => {
                items.insert(random.below(items.len() as u64 + 1) as usize, PlainValue::make_random_value(random, 2))
            }
            PlainValue::List(items) if !items.is_empty() => {
                let one = items.remove(random.below(items.len() as u64) as usize);
                if random.one_in(2) {
                    items.insert(random.below(items.len() as u64 + 1) as usize, one);
                }
            }
            PlainValue::Map(entries) if random.one_in(3) => {
                entries.push((format!("new{}", random.below(9)), PlainValue::make_random_value(random, 2)))
            }
            PlainValue::Map(entries) if !entries.is_empty() && random.one_in(2) => {
                drop(entries.remove(random.below(entries.len() as u64) as usize));
            }
            PlainValue::Map(entries) => entries.reverse(),
            _ => *value = PlainValue::make_random_value(random, 1),
        }
        // Keys are unique.
        if let PlainValue::Map(entries) = value {
            let mut seen = std::collections::HashSet::new();
            entries.retain(|(key, _)| seen.insert(key.clone()));
        }
    }
}

#[test]
fn patches_of_random_edits_apply_in_all_formats() {
    let mut small = 0;
    for seed in 0..1200 {
        let random = &mut Random::new(seed);
        let before = PlainValue::make_random_value(random, 5);
        let mut after = before.clone();
        let edits = 1 + random.below(4);
        (0..edits).for_each(|_| after.change_randomly(random));
        let (before, after) = (before.to_json_text(), after.to_json_text());
        let (left, right) = (icecore::read(before.as_bytes()), icecore::read(after.as_bytes()));
        let (Ok(left), Ok(right)) = (left, right) else { continue };
        check_patch(&left, &right, Rules::new(), &format!("{seed}: {before} {after}"));
        check_patch(&left, &right, Rules::new().exact(), &format!("{seed}: {before} {after}"));
        let found = find_differences(&left, &right, Rules::new());
        // Both align short lists as a whole.
        let by_twin = find_reference_differences(&left, &right, Rules::new());
        assert_eq!(list_differences(&found), list_differences(&by_twin), "{seed}: {before} {after}");
        small += u64::from(found.changes().len() as u64 <= 2 * edits);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let (from, to) = (*random.pick(FORMATS), *random.pick(FORMATS));
        if let (Some(left), Some(right)) = (convert_and_read(&left, from, &mut a), convert_and_read(&right, to, &mut b))
        {
            check_patch(
                &left,
                &right,
                Rules::new().across_formats(),
                &format!("{seed}: {from} {to}: {before} {after}"),
            );
        }
    }
    assert!(small > 1000, "{small} differences are about as small as what was done");
}

/// Appends a random object. With `added_links`, some containers get one more item or entry: a link to a container that
/// precedes it, or that contains it.
fn append_object(
    builder: &mut Builder,
    random: &mut Random,
    added_links: Option<&mut Random>,
    known: &mut Vec<u32>,
    depth: u32,
) {
    let count = random.below(4);
    let mut added_links = added_links;
    builder.begin_object("Node").begin_map();
    known.push(builder.at() - 1);
    for index in 0..count {
        builder.text_key(&format!("f{index}"));
        match random.below(4) {
            0 | 1 if depth > 0 => append_object(builder, random, added_links.as_deref_mut(), known, depth - 1),
            2 if !known.is_empty() => drop(builder.link(*random.pick(known))),
            _ => drop(builder.int(random.below(9) as i64)),
        }
    }
    if let Some(random) = added_links
        && random.below(3) == 0
    {
        builder.text_key("new");
        match random.below(2) {
            0 => drop(builder.link(*random.pick(known))),
            // A link inside of a new value.
            _ => drop(builder.begin_array().int(1).link(*random.pick(known)).end()),
        }
    }
    builder.end().end();
}

#[test]
fn new_links_to_unchanged_values_stay_links() {
    let mut changed = 0;
    for seed in 1..800 {
        let make = |added_links: Option<&mut Random>| {
            let mut builder = Builder::new();
            append_object(&mut builder, &mut Random::new(seed), added_links, &mut Vec::new(), 4);
            builder.finish().unwrap()
        };
        let (left, right) = (make(None), make(Some(&mut Random::new(seed + 1000))));
        let found = find_differences(&left, &right, Rules::new().exact());
        let json = found.to_json(&Limits::default()).unwrap();
        let result = Patch::read(&json, &Limits::default()).unwrap().apply(&left).unwrap();
        let rest = find_differences(&result, &right, Rules::new().exact());
        assert!(rest.is_empty(), "{seed}: {:?}\n{}", list_differences(&rest), String::from_utf8_lossy(&json));
        changed += u64::from(!found.is_empty());
    }
    assert!(changed > 300, "{changed} have new links");
}

/// Makes a list of records, each with its own number.
fn make_records(count: u64) -> Vec<PlainValue> {
    let record = |index| {
        PlainValue::Map(vec![
            ("id".to_owned(), PlainValue::Number(index)),
            ("name".to_owned(), PlainValue::Text(index * 7)),
            ("tags".to_owned(), PlainValue::List(vec![PlainValue::Text(1), PlainValue::Text(index % 3)])),
        ])
    };
    (0..count).map(record).collect()
}

#[test]
fn one_edit_is_reported_as_one_change() {
    let found = |after: Vec<PlainValue>| {
        let (before, after) =
            (PlainValue::List(make_records(40)).to_json_text(), PlainValue::List(after).to_json_text());
        let (left, right) = (icecore::read(before.as_bytes()).unwrap(), icecore::read(after.as_bytes()).unwrap());
        check_patch(&left, &right, Rules::new(), &after);
        list_differences(&find_differences(&left, &right, Rules::new()))
    };
    for index in [0, 1, 20, 39] {
        let edited = |edit: &dyn Fn(&mut Vec<PlainValue>)| {
            let mut list = make_records(40);
            edit(&mut list);
            found(list)
        };
        let new = PlainValue::Map(vec![("id".to_owned(), PlainValue::Number(99))]);
        assert_eq!(edited(&|list| list.insert(index, new.clone())), [format!("added $[{index}] $[{index}]")]);
        assert_eq!(edited(&|list| drop(list.remove(index))), [format!("removed $[{index}] $[{index}]")]);
        let rename = |list: &mut Vec<PlainValue>| *list[index].value_at(2) = PlainValue::Text(12_345);
        assert_eq!(edited(&rename), [format!("changed $[{index}].name $[{index}].name")]);
        let both = |list: &mut Vec<PlainValue>| {
            rename(list);
            list.insert(index, new.clone());
        };
        let after = index + 1;
        assert_eq!(
            edited(&both),
            [format!("added $[{index}] $[{index}]"), format!("changed $[{index}].name $[{after}].name")]
        );
        if index < 39 {
            let to_end = |list: &mut Vec<PlainValue>| {
                let one = list.remove(index);
                list.push(one);
            };
            assert_eq!(edited(&to_end), [format!("moved $[{index}] $[39]")]);
        }
    }
}

#[test]
fn the_order_of_keys_is_not_a_difference() {
    let before = make_records(500);
    let mut after = before.clone();
    for record in &mut after {
        if let PlainValue::Map(entries) = record {
            entries.rotate_left(1);
        }
    }
    let found = |after: &[PlainValue]| {
        let (before, after) =
            (PlainValue::List(before.clone()).to_json_text(), PlainValue::List(after.to_vec()).to_json_text());
        let (left, right) = (icecore::read(before.as_bytes()).unwrap(), icecore::read(after.as_bytes()).unwrap());
        assert_eq!(find_differences(&left, &right, Rules::new().exact()).changes().len(), 500);
        list_differences(&find_differences(&left, &right, Rules::new()))
    };
    assert!(found(&after).is_empty());
    let name = after[70].count_values() - 4;
    *after[70].value_at(name) = PlainValue::Text(1);
    assert_eq!(found(&after).len(), 1);
}

#[test]
fn differences_of_long_lists_are_about_as_short_as_the_twins() {
    let (mut fast, mut by_twin) = (0, 0);
    for seed in 0..120 {
        let random = &mut Random::new(seed);
        let count = 100 + random.below(1500);
        // Records that are all different, or numbers that repeat.
        let before: Vec<PlainValue> = match random.below(3) {
            0 => make_records(count),
            1 => (0..count).map(|_| PlainValue::Number(random.below(4))).collect(),
            _ => (0..count).map(|_| PlainValue::Text(random.below(count))).collect(),
        };
        let mut after = before.clone();
        for _ in 0..1 + random.below(40) {
            let (index, to) = (random.below(after.len() as u64) as usize, random.below(after.len() as u64) as usize);
            match random.below(6) {
                0 => after[index] = PlainValue::make_random_value(random, 2),
                1 => after[index].change_randomly(random),
                2 => drop(after.remove(index)),
                3 => after.insert(index, PlainValue::make_random_value(random, 2)),
                4 => {
                    let one = after.remove(index);
                    after.insert(to.min(after.len()), one);
                }
                // Removes or inserts a range.
                _ if random.one_in(2) => drop(after.drain(index.min(to)..index.max(to).min(index.min(to) + 300))),
                _ => drop(
                    after
                        .splice(index..index, (0..random.below(300)).map(|index| PlainValue::Text(5_000 + index)))
                        .count(),
                ),
            }
            if after.is_empty() {
                break;
            }
        }
        let (before, after) = (PlainValue::List(before).to_json_text(), PlainValue::List(after).to_json_text());
        let (left, right) = (icecore::read(before.as_bytes()).unwrap(), icecore::read(after.as_bytes()).unwrap());
        check_patch(&left, &right, Rules::new(), &format!("{seed}"));
        fast += find_differences(&left, &right, Rules::new()).changes().len();
        by_twin += find_reference_differences(&left, &right, Rules::new()).changes().len();
    }
    assert!(fast * 10 < by_twin * 11, "{fast} {by_twin}");
    assert!(by_twin * 10 < fast * 15, "{fast} {by_twin}");
}
