//! Objects.

use crate::common::{World, backends};
use icecore_store::{ErrorKind, Flow, Id, NewObject, ObjectFilter, describe};
use proptest::collection::vec;
use proptest::prelude::*;

/// One call. Objects are chosen by their number among all that were ever stored.
#[derive(Clone, Debug)]
enum Step {
    Put(Vec<GeneratedObject>),
    Remove(Vec<usize>),
    Quarantine(usize),
    Index(usize),
    Expire,
    /// Continues over another connection.
    Reopen,
}

#[derive(Clone, Debug)]
struct GeneratedObject {
    class: Option<usize>,
    /// The class of an object in it.
    inner: Option<usize>,
    value: usize,
    key: Option<u8>,
    /// Whether the time at which it expires is over.
    expires: Option<bool>,
    as_base64: bool,
    is_broken: bool,
}

const CLASSES: [&str; 3] = ["User", "user", "Order"];
/// Values as PHP writes them, and as a search gives them.
const VALUES: [(&str, &str); 8] = [
    ("i:7;", "7"),
    ("d:7;", "7"),
    ("s:1:\"7\";", "\"7\""),
    ("N;", "null"),
    ("b:1;", "true"),
    ("s:0:\"\";", "\"\""),
    ("d:0.5;", "0.5"),
    ("a:0:{}", ""),
];
const SEARCH_VALUES: [&str; 7] = ["7", "\"7\"", "null", "true", "\"\"", "0.5", "8"];
const PATHS: [&str; 3] = ["$[0]", "$[\"k\"]", "$"];

fn any_object() -> impl Strategy<Value = GeneratedObject> {
    let class = || proptest::option::of(0..CLASSES.len());
    let key = proptest::option::weighted(0.3, 0..8u8);
    let expires = proptest::option::weighted(0.3, any::<bool>());
    let rare = || proptest::bool::weighted(0.15);
    (class(), class(), 0..VALUES.len(), key, expires, rare(), rare()).prop_map(
        |(class, inner, value, key, expires, as_base64, is_broken)| GeneratedObject {
            class,
            inner,
            value,
            key,
            expires,
            as_base64,
            is_broken,
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => vec(any_object(), 0..5).prop_map(Step::Put),
        3 => vec(0..40usize, 0..4).prop_map(Step::Remove),
        2 => (0..40usize).prop_map(Step::Quarantine),
        1 => (0..PATHS.len()).prop_map(Step::Index),
        1 => Just(Step::Expire),
        1 => Just(Step::Reopen),
    ]
}

impl GeneratedObject {
    fn bytes(&self) -> Vec<u8> {
        let inner = self.inner.map_or(String::new(), |class| {
            let name = CLASSES[class];
            format!("s:1:\"o\";O:{}:\"{name}\":0:{{}}", name.len())
        });
        let count = 2 + usize::from(self.inner.is_some());
        let value = VALUES[self.value].0;
        let end = if self.is_broken { "" } else { "}" };
        let body = format!("{count}:{{i:0;{value}s:1:\"k\";{value}{inner}{end}");
        match self.class {
            Some(class) => format!("O:{}:\"{}\":{body}", CLASSES[class].len(), CLASSES[class]).into_bytes(),
            None => format!("a:{body}").into_bytes(),
        }
    }

    fn object(&self) -> NewObject {
        NewObject {
            key: self.key.map(|key| format!("key {key}")),
            expires_at: self.expires.map(|is_over| if is_over { 1 } else { i64::MAX }),
            as_base64: self.as_base64,
            ..describe::describe_object(self.bytes(), Some("php"))
        }
    }

    fn has_class(&self, class: usize) -> bool {
        !self.is_broken && (self.class == Some(class) || self.inner == Some(class))
    }

    fn has_value(&self, path: usize, search_value: &str) -> bool {
        !self.is_broken && PATHS[path] != "$" && VALUES[self.value].1 == search_value
    }
}

struct ExpectedObject {
    id: Id,
    new: GeneratedObject,
    is_quarantined: bool,
}

#[derive(Default)]
struct Model {
    /// All stored objects, in order.
    stored: Vec<ExpectedObject>,
    /// All objects that were ever stored.
    ids: Vec<Id>,
    indexes: Vec<String>,
}

type Outcome = Result<(), TestCaseError>;

impl Model {
    /// Makes a call, and compares the answer with the model's.
    fn run_step(&mut self, world: &mut World, step: &Step) -> Outcome {
        match step {
            Step::Put(new) => {
                let objects: Vec<NewObject> = new.iter().map(GeneratedObject::object).collect();
                let mut keys: Vec<u8> = self.stored.iter().filter_map(|expected| expected.new.key).collect();
                let is_taken = new.iter().filter_map(|new| new.key).any(|key| {
                    let is_taken = keys.contains(&key);
                    keys.push(key);
                    is_taken
                });
                match world.store.put(&objects) {
                    Ok(ids) => {
                        prop_assert!(!is_taken && ids.len() == new.len());
                        self.ids.extend(&ids);
                        let expected = ids.into_iter().zip(new);
                        self.stored.extend(expected.map(|(id, new)| ExpectedObject {
                            id,
                            new: new.clone(),
                            is_quarantined: new.is_broken,
                        }));
                    }
                    Err(error) => prop_assert!(is_taken && error.kind() == ErrorKind::Taken, "{error}"),
                }
            }
            Step::Remove(numbers) => {
                let ids: Vec<Id> = numbers.iter().filter_map(|number| self.ids.get(*number).copied()).collect();
                let before = self.stored.len();
                self.stored.retain(|expected| !ids.contains(&expected.id));
                prop_assert_eq!(world.store.remove(&ids, "ann").expect("removed"), (before - self.stored.len()) as u64);
            }
            Step::Quarantine(number) => {
                let Some(id) = self.ids.get(*number) else { return Ok(()) };
                let expected = self.stored.iter_mut().find(|expected| expected.id == *id);
                let result = world.store.quarantine(*id, "for a test").map_err(|error| error.kind());
                prop_assert_eq!(result, if expected.is_some() { Ok(()) } else { Err(ErrorKind::Missing) });
                if let Some(expected) = expected {
                    expected.is_quarantined = true;
                }
            }
            Step::Index(path) => {
                world.store.index(PATHS[*path]).expect("an index");
                self.indexes.push(PATHS[*path].to_owned());
                self.indexes.sort();
                self.indexes.dedup();
            }
            Step::Expire => {
                let before = self.stored.len();
                self.stored.retain(|expected| expected.new.expires != Some(true));
                prop_assert_eq!(world.store.remove_expired().expect("expired"), (before - self.stored.len()) as u64);
            }
            Step::Reopen => world.store = world.open(),
        }
        Ok(())
    }

    /// Compares the stored data with the model. Each step tries other filters: its number selects them.
    fn compare_with_store(&self, world: &mut World, number: usize) -> Outcome {
        prop_assert_eq!(&world.store.indexes().expect("indexes"), &self.indexes);
        for id in &self.ids {
            let expected = self.stored.iter().find(|expected| expected.id == *id);
            let object = world.store.object(*id).expect("asked");
            prop_assert_eq!(object.is_some(), expected.is_some());
            if let (Some(object), Some(expected)) = (object, expected) {
                let new = expected.new.object();
                prop_assert_eq!((object.bytes, object.key, object.expires_at), (new.bytes, new.key, new.expires_at));
                prop_assert_eq!(
                    (object.format, object.class, object.json),
                    (new.description.format, new.description.class, new.description.json)
                );
                prop_assert_eq!(object.problem.is_some(), expected.is_quarantined);
            }
        }
        for key in 0..8 {
            let stored_id = world.store.object_named(&format!("key {key}")).expect("asked").map(|object| object.id);
            let expected =
                self.stored.iter().find(|expected| expected.new.key == Some(key)).map(|expected| expected.id);
            prop_assert_eq!(stored_id, expected);
        }
        let classes = [None, Some(0), Some(1), Some(2)];
        let class = classes[number % classes.len()];
        for quarantined in [None, Some(true), Some(false)] {
            self.compare_search(world, class, None, quarantined, number)?;
            for path in 0..PATHS.len() {
                let search_value = SEARCH_VALUES[(number + path) % SEARCH_VALUES.len()];
                self.compare_search(world, class, Some((path, search_value)), quarantined, number)?;
            }
        }
        let stats = world.store.object_stats().expect("stats");
        let size: usize = self.stored.iter().map(|expected| expected.new.bytes().len()).sum();
        let quarantined_count = self.stored.iter().filter(|expected| expected.is_quarantined).count();
        prop_assert_eq!((stats.count, stats.bytes), (self.stored.len() as u64, size as u64));
        prop_assert_eq!(stats.quarantined, quarantined_count as u64);
        Ok(())
    }

    /// Compares the objects that match a filter. They are read page by page.
    fn compare_search(
        &self,
        world: &mut World,
        class: Option<usize>,
        searched: Option<(usize, &str)>,
        quarantined: Option<bool>,
        number: usize,
    ) -> Outcome {
        let filter = ObjectFilter {
            class: class.map(|class| CLASSES[class].to_owned()),
            path_value: searched.map(|(path, search_value)| (PATHS[path].to_owned(), search_value.to_owned())),
            quarantined,
            before: None,
        };
        let is_wanted = |expected: &&ExpectedObject| {
            class.is_none_or(|class| expected.new.has_class(class))
                && searched.is_none_or(|(path, search_value)| expected.new.has_value(path, search_value))
                && quarantined.is_none_or(|quarantined| expected.is_quarantined == quarantined)
        };
        let expected: Vec<Id> = self.stored.iter().filter(is_wanted).map(|expected| expected.id).collect();
        let (page_size, mut after, mut found) = (1 + number % 5, 0, Vec::new());
        loop {
            let (mut count, page_start) = (0, after);
            let mut add = |object: icecore_store::Object| {
                after = object.sequence;
                found.push(object.id);
                count += 1;
                Ok(Flow::Continue)
            };
            world.store.objects(page_start, page_size, &filter, &mut add).expect("found");
            prop_assert!(count <= page_size);
            if count == 0 {
                break;
            }
        }
        prop_assert_eq!(found, expected, "{:?}", filter);
        Ok(())
    }
}

#[test]
fn objects_behave_like_the_model() {
    for (backend, new_database) in backends() {
        println!("{backend}");
        let steps = vec(any_step(), 1..25);
        let answer = super::runner().run(&steps, |steps| {
            let mut world = World::new(new_database());
            let mut model = Model::default();
            for (number, step) in steps.iter().enumerate() {
                let answer =
                    model.run_step(&mut world, step).and_then(|()| model.compare_with_store(&mut world, number));
                answer.map_err(|error| TestCaseError::fail(format!("step {number}, {step:?}: {error}")))?;
            }
            // Nothing is left of a removed object. In MongoDB all of it is in one document.
            if backend == "mongodb" {
                return Ok(());
            }
            let orphans =
                "SELECT COUNT(*) FROM icecore_index_values WHERE seq NOT IN (SELECT seq FROM icecore_objects)";
            prop_assert_eq!(world.raw_one(orphans), Some("0".to_owned()));
            let orphans =
                "SELECT COUNT(*) FROM icecore_object_classes WHERE seq NOT IN (SELECT seq FROM icecore_objects)";
            prop_assert_eq!(world.raw_one(orphans), Some("0".to_owned()));
            Ok(())
        });
        answer.unwrap_or_else(|error| panic!("{backend}: {error}"));
    }
}
