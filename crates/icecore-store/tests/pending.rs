//! The model of waiting objects in Ruby and PHP (`examples/pending.rb`, `pending_mongo.rb`, `pending.php`): the
//! engine reads what the model stores in its own transaction, and the model restores what the engine stores.

use crate::common::{World, backends};
use crate::languages::Example;
use icecore_store::{Flow, NewObject, Object, ObjectFilter, describe};

/// An `Order` of each language, as a program that uses the store passes it to the engine.
const OF_RUBY: &[u8] = b"\x04\x08o:\x0aOrder\x07:\x0e@customerI\"\x08max\x06:\x06ET:\x0a@note\"\x00";
const OF_PHP: &[u8] = br#"O:5:"Order":2:{s:8:"customer";s:3:"max";s:4:"note";s:0:"";}"#;

#[test]
fn the_model_and_the_engine_read_each_others_objects() {
    for (name, new_database) in backends() {
        let examples: &[(Example, &str)] = match name {
            "mongodb" => &[(Example::RubyMongo("pending_mongo.rb"), "marshal")],
            _ => &[(Example::Ruby("pending.rb"), "marshal"), (Example::Php("pending.php"), "php")],
        };
        for (example, format) in examples {
            let address = new_database();
            if let Some(missing) = example.is_missing(&address, true) {
                eprintln!("SKIPPED: {name} and {format}, as there is no {missing}");
                continue;
            }
            let model =
                Model { world: World::new(address), example: *example, format, name: format!("{name}, {format}") };
            model.check_exchange(name != "mongodb");
        }
    }
}

struct Model {
    world: World,
    example: Example,
    format: &'static str,
    name: String,
}

impl Model {
    /// Returns the lines that the program prints.
    fn run_program(&self, args: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
        let output = self.example.run(&self.world.address, true, args, variables);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{}, {args:?}: {stderr}", self.name);
        String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
    }

    fn objects(&mut self, class: Option<&str>) -> Vec<Object> {
        let mut found = Vec::new();
        let filter = ObjectFilter { class: class.map(str::to_owned), ..ObjectFilter::default() };
        let mut add = |object| {
            found.push(object);
            Ok(Flow::Continue)
        };
        self.world.store.objects(0, 100, &filter, &mut add).expect("objects");
        found
    }

    fn put(&mut self, bytes: &[u8], as_base64: bool) -> String {
        let description = describe::describe(bytes, None);
        let object = NewObject { bytes: bytes.to_vec(), description, as_base64, ..NewObject::default() };
        self.world.store.put(&[object]).expect("stored")[0].to_string()
    }

    fn check_exchange(mut self, has_transactions: bool) {
        let name = self.name.clone();
        let mut ids = self.run_program(&["store", "ann", "bob"], &[]);
        ids.extend(self.run_program(&["store", "zo\u{eb}"], &[("BASE64", "1")]));
        assert_eq!(ids.len(), 3, "{name}");
        if has_transactions {
            let refused = self.example.run(&self.world.address, true, &["store", "eve", ""], &[]);
            let stderr = String::from_utf8_lossy(&refused.stderr);
            assert!(!refused.status.success() && stderr.contains("an order of nobody"), "{name}: {stderr}");
            let columns =
                self.world.query_raw("SELECT bytes IS NULL, base64 IS NULL FROM icecore_objects ORDER BY seq");
            let are_bytes: Vec<bool> =
                columns.iter().map(|row| matches!(row[0].as_deref(), Some("0" | "f" | "false"))).collect();
            let are_texts: Vec<bool> =
                columns.iter().map(|row| matches!(row[1].as_deref(), Some("0" | "f" | "false"))).collect();
            assert_eq!(
                (are_bytes, are_texts),
                (vec![true, true, false], vec![false, false, true]),
                "{name}: {columns:?}"
            );
        }

        // The engine reads them, from either column.
        let objects = self.objects(None);
        let stored: Vec<(String, Option<&str>, Option<&str>)> = objects
            .iter()
            .map(|object| (object.id.to_string(), object.format.as_deref(), object.class.as_deref()))
            .collect();
        let expected: Vec<_> = ids.iter().map(|id| (id.clone(), Some(self.format), Some("Order"))).collect();
        assert_eq!(stored, expected, "{name}: what was undone is nowhere");
        for (object, customer) in objects.iter().zip(["ann", "bob", "zo\u{eb}"]) {
            let description = describe::describe(&object.bytes, None);
            assert_eq!(
                (description.checksum, description.class),
                (object.checksum.clone(), object.class.clone()),
                "{name}"
            );
            let json = description.json.expect("a readable copy");
            assert!(json.contains(&format!("\"customer\":\"{customer}\"")), "{name}: {json}");
        }
        assert_eq!(self.objects(Some("Order")).len(), 3, "{name}: found by their class");

        // It restores objects of either language that the engine stored, and prints null for the others.
        let mut expected: Vec<String> =
            ids.iter().zip(["ann", "bob", "zo\u{eb}"]).map(|(id, customer)| self.line(id, customer)).collect();
        for (bytes, format, as_base64) in
            [(OF_RUBY, "marshal", false), (OF_PHP, "php", false), (OF_RUBY, "marshal", true)]
        {
            let id = self.put(bytes, as_base64);
            expected.push(format!(r#"{{"id":"{id}","format":"{format}","class":"Order","object":"max"}}"#));
            ids.push(id);
        }
        let hostile = self.put(b"\x04\x08o:\x0bGadget\x00", false);
        expected.push(format!(r#"{{"id":"{hostile}","format":"marshal","class":"Gadget","object":null}}"#));
        let plain = self.put(b"[1,\"a\"]", false);
        expected.push(format!(r#"{{"id":"{plain}","format":"json","class":null,"object":[1,"a"]}}"#));
        assert_eq!(self.run_program(&["each"], &[]), expected, "{name}");
        let restore: Vec<&str> = std::iter::once("restore").chain(ids.iter().map(String::as_str)).collect();
        assert_eq!(self.run_program(&restore, &[]), ["ann", "bob", "zo\u{eb}", "max", "max", "max"], "{name}");
    }

    fn line(&self, id: &str, customer: &str) -> String {
        format!(r#"{{"id":"{id}","format":"{}","class":"Order","object":"{customer}"}}"#, self.format)
    }
}
