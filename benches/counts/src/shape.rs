//! The values that benchmarks read, write and convert.
//!
//! They are the same in every run, because counts are compared with older ones.

use icecore::{Builder, Document};

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list of maps that have the same keys.
    Records,
    /// A list of integers of all sizes.
    Ints,
    /// A list of strings: short and long, with escapes, with text that is not ASCII.
    Strings,
    /// A list of objects with lists, maps, floats, booleans and nulls in them.
    Nested,
}

impl Shape {
    /// The word in the names of benchmarks.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Records => "records",
            Shape::Ints => "ints",
            Shape::Strings => "strings",
            Shape::Nested => "nested",
        }
    }

    /// Builds a value of this shape with a number of items, for a format.
    pub fn build(self, format: &str, items: usize) -> Document<'static> {
        let mut b = Builder::new();
        match format {
            "pack" | "join" => add_fields(&mut b, items),
            "php-session" => add_session(&mut b, items),
            _ => {
                b.begin_array();
                (0..items).for_each(|id| self.add_item(&mut b, id));
                b.end();
            }
        }
        finish(b)
    }

    /// One item of this shape as a document of its own.
    pub fn build_item(self, id: usize) -> Document<'static> {
        let mut b = Builder::new();
        self.add_item(&mut b, id);
        finish(b)
    }

    fn add_item(self, b: &mut Builder, id: usize) {
        match self {
            Shape::Records => add_record(b, id),
            Shape::Ints => add_int(b, id),
            Shape::Strings => add_string(b, id),
            Shape::Nested => add_order(b, id),
        }
    }
}

fn finish(b: Builder) -> Document<'static> {
    b.finish().expect("every container is closed")
}

fn as_i64(number: usize) -> i64 {
    i64::try_from(number).expect("counts of items are small")
}

fn add_record(b: &mut Builder, id: usize) {
    b.begin_map();
    b.bytes_key("id").int(as_i64(id));
    b.bytes_key("name").bytes(format!("Employee_{id}"));
    b.bytes_key("email").bytes(format!("employee.{id}@example.org"));
    b.bytes_key("age").int(20 + as_i64(id % 50));
    b.end();
}

/// Adds an integer. Four lengths follow one another in turn: one digit, three digits, six digits with a sign, and up
/// to seventeen digits.
fn add_int(b: &mut Builder, id: usize) {
    let number = as_i64(id);
    match id % 4 {
        0 => b.int(number % 10),
        1 => b.int(number * 7 % 1000),
        2 => b.int(-(number * 7919 % 1_000_003)),
        _ => b.int(number * 98_765_432_101 % 100_000_000_000_007),
    };
}

fn add_string(b: &mut Builder, id: usize) {
    match id % 8 {
        0 => b.text(&format!("na\u{ef}ve caf\u{e9} \u{2603} {id}")),
        1 => b.bytes(format!("first line\n\tsecond \"line\" of {id} \\ it's all")),
        2 => b.bytes("x".repeat(id % 200)),
        3 => b.bytes(""),
        _ => b.bytes(format!("item number {id}{}", "-".repeat(id % 40))),
    };
}

fn add_order(b: &mut Builder, id: usize) {
    let number = as_i64(id);
    b.begin_object("Order");
    b.begin_map();
    b.bytes_key("number").int(number * 1_000_003);
    b.bytes_key("total").float(number as f64 * 0.25 + 0.1);
    b.bytes_key("note").text("na\u{ef}ve caf\u{e9}");
    b.bytes_key("paid").bool(id.is_multiple_of(3));
    b.bytes_key("lines");
    b.begin_array();
    for line in 0..as_i64(id % 4) {
        b.begin_map();
        b.bytes_key("sku").bytes(format!("SKU-{line:04}"));
        b.bytes_key("count").int(line + 1);
        b.end();
    }
    b.end();
    b.bytes_key("by").null();
    b.end();
    b.end();
}

/// Adds the fields of records one after the other, for formats that don't have containers in a document.
fn add_fields(b: &mut Builder, records: usize) {
    b.begin_array();
    for id in 0..records {
        b.int(as_i64(id));
        b.bytes(format!("Employee_{id}"));
        b.bytes(format!("employee.{id}@example.org"));
        b.int(20 + as_i64(id % 50));
    }
    b.end();
}

/// Adds the variables of a session. The list `cart` in it has this number of records.
fn add_session(b: &mut Builder, records: usize) {
    b.begin_map();
    b.bytes_key("user");
    add_record(b, 7);
    b.bytes_key("visits").int(3);
    b.bytes_key("token").bytes("5f2b9d7c41e8");
    b.bytes_key("cart");
    b.begin_array();
    (0..records).for_each(|id| add_record(b, id));
    b.end();
    b.end();
}
