//! Generated values of scenarios that would be too long to write down.

use crate::Error;
use icecore::{Builder, Document};
use std::collections::BTreeMap;

type Parameters = BTreeMap<String, i64>;

/// Creates the value with this name.
pub fn make_document(name: &str, parameters: &Parameters) -> Result<Document<'static>, Error> {
    let parameter_or = |parameter: &str, default: i64| parameters.get(parameter).copied().unwrap_or(default);
    let mut builder = Builder::new();
    match name {
        "mix" => add_mix(&mut builder),
        "employees" => add_employees(&mut builder, parameter_or("count", 1)),
        "ints" => add_ints(&mut builder, parameter_or("first", 1), parameter_or("count", 1)),
        "tree" => Tree::default().add_tree(&mut builder, parameter_or("s", 1), parameter_or("r", 1)),
        "items" => add_items(&mut builder, parameter_or("count", 1)),
        "rows" => add_rows(&mut builder, parameter_or("count", 1)),
        _ => {
            let names = "mix, employees, ints, tree, items, rows";
            return Err(Error::new(format!("unknown data `{name}`; there are {names}")));
        }
    }
    Ok(builder.finish()?)
}

/// Creates 1000 integers, a map with 100 entries, and 26 lists of five.
fn add_mix(builder: &mut Builder) {
    builder.begin_map();
    builder.bytes_key("array");
    add_ints(builder, 1, 1000);
    builder.bytes_key("hash");
    builder.begin_map();
    for number in 1..=100 {
        builder.bytes_key(number.to_string()).int(2 * number);
    }
    builder.end();
    builder.bytes_key("nested");
    builder.begin_map();
    for letter in b'a'..=b'z' {
        builder.bytes_key([letter]);
        builder.begin_array();
        for _ in 0..5 {
            builder.bytes([letter]);
        }
        builder.end();
    }
    builder.end();
    builder.end();
}

/// Creates records with a number, a name, and an age from 20 to 59.
fn add_employees(builder: &mut Builder, count: i64) {
    builder.begin_array();
    for number in 1..=count {
        builder.begin_map();
        builder.bytes_key("id").int(number);
        builder.bytes_key("name").bytes(format!("Employee_{number}"));
        builder.bytes_key("age").int(20 + number % 40);
        builder.end();
    }
    builder.end();
}

fn add_ints(builder: &mut Builder, first: i64, count: i64) {
    builder.begin_array();
    for number in 0..count {
        builder.int(first + number);
    }
    builder.end();
}

/// The objects of the PHP article: a leaf, a recursion, a list and a dictionary of leaves.
#[derive(Default)]
struct Tree {
    leaves: i64,
}

impl Tree {
    /// Adds an object with a leaf, a chain of nested objects, and a list and a dictionary of leaves.
    fn add_tree(mut self, builder: &mut Builder, list_len: i64, depth: i64) {
        begin_object(builder, "Tree");
        builder.bytes_key("leaf");
        self.add_leaf(builder);
        builder.bytes_key("recursion");
        for _ in 0..depth {
            begin_object(builder, "Deep");
            builder.bytes_key("leaf");
            self.add_leaf(builder);
            builder.bytes_key("next");
        }
        builder.null();
        for _ in 0..depth {
            builder.end().end();
        }
        builder.bytes_key("list");
        builder.begin_array();
        for _ in 0..list_len {
            self.add_leaf(builder);
        }
        builder.end();
        builder.bytes_key("dictionary");
        builder.begin_map();
        for number in 1..=list_len {
            builder.bytes_key(format!("k{number}"));
            self.add_leaf(builder);
        }
        builder.end();
        builder.end().end();
    }

    fn add_leaf(&mut self, builder: &mut Builder) {
        self.leaves += 1;
        begin_object(builder, "Leaf");
        builder.bytes_key("id").int(self.leaves);
        builder.bytes_key("name").bytes(format!("leaf {}", self.leaves));
        builder.end().end();
    }
}

/// Creates simple Ruby objects.
fn add_items(builder: &mut Builder, count: i64) {
    builder.begin_array();
    for number in 1..=count {
        begin_object(builder, "Item");
        builder.symbol_key("@id", "US-ASCII").int(number);
        builder.symbol_key("@name", "US-ASCII").text(&format!("Item {number}"));
        builder.symbol_key("@price", "US-ASCII").float(number as f64 * 0.25);
        builder.symbol_key("@active", "US-ASCII").bool(number % 2 == 0);
        builder.end().end();
    }
    builder.end();
}

/// Creates records of a table: a number, a text and a float.
fn add_rows(builder: &mut Builder, count: i64) {
    builder.begin_array();
    for number in 0..count {
        builder.begin_map();
        builder.text_key("id").int(number);
        builder.text_key("name").text(&format!("Employee {number}"));
        builder.text_key("score").float(number as f64 / 4.0);
        builder.end();
    }
    builder.end();
}

/// Begins an object whose body is a map of its members; two `end` calls close it.
fn begin_object(builder: &mut Builder, class: &str) {
    builder.begin_object(class);
    builder.begin_map();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_value(name: &str, parameters: &[(&str, i64)]) -> Document<'static> {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        make_document(name, &parameters).expect("it is made")
    }

    fn text(document: &Document<'_>, stage: &str) -> String {
        String::from_utf8(icecore::write(document, stage).expect("it is written")).expect("it is text")
    }

    #[test]
    fn employees_and_mix_have_the_data_of_the_articles() {
        assert_eq!(
            text(&make_value("employees", &[("count", 2)]), "json"),
            r#"[{"id":1,"name":"Employee_1","age":21},{"id":2,"name":"Employee_2","age":22}]"#
        );
        let mix = make_value("mix", &[]);
        let root = mix.root();
        let sizes: Vec<usize> =
            ["array", "hash", "nested"].iter().map(|key| root.get(key).expect("a key").len()).collect();
        assert_eq!(sizes, [1000, 100, 26]);
        assert_eq!(text(&make_value("ints", &[("first", 1000), ("count", 3)]), "json"), "[1000,1001,1002]");
    }

    #[test]
    fn the_tree_is_written_as_php_writes_it() {
        let tree = text(&make_value("tree", &[("s", 1), ("r", 1)]), "php");
        let leaf = |id| format!("O:4:\"Leaf\":2:{{s:2:\"id\";i:{id};s:4:\"name\";s:6:\"leaf {id}\";}}");
        let expected = format!(
            "O:4:\"Tree\":4:{{s:4:\"leaf\";{}s:9:\"recursion\";O:4:\"Deep\":2:{{s:4:\"leaf\";{}s:4:\"next\";N;}}\
             s:4:\"list\";a:1:{{i:0;{}}}s:10:\"dictionary\";a:1:{{s:2:\"k1\";{}}}}}",
            leaf(1),
            leaf(2),
            leaf(3),
            leaf(4)
        );
        assert_eq!(tree, expected);
    }

    #[test]
    fn the_items_are_written_as_ruby_writes_them() {
        let items = icecore::write(&make_value("items", &[("count", 1)]), "marshal").expect("it is written");
        let expected = b"\x04\x08[\x06o:\x09Item\x09:\x08@idi\x06:\x0a@nameI\"\x0bItem 1\x06:\x06ET:\x0b@pricef\x090.25:\x0c@activeF";
        assert_eq!(items.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }
}
