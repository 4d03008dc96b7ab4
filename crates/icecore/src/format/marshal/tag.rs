//! The types of values, by their letters.

use crate::format::tags::{Count, Part, tags};

tags! {
    _ = b'0', "nil", ["nil", "no"], [];
    _ = b'T', "true", ["true", "no"], [];
    _ = b'F', "false", ["false", "no"], [];
    _ = b'i', "integer", ["an integer", "no"], [Part::Integer];
    _ = b':', "symbol", ["length and bytes: a symbol, which takes the next symbol number", "no"], [Part::Name];
    _ = b';', "symbol number", ["the number of a symbol", "no"], [Part::Again];
    _ = b'f', "float", ["length and text: a float", "yes"], [Part::Number, Part::Float];
    _ = b'l', "bignum", ["sign, length in pairs, little-endian pairs of bytes: a larger integer", "yes"], [Part::Number, Part::Bytes(1), Part::Pairs];
    _ = b'"', "string", ["length and bytes: a string", "yes"], [Part::Number, Part::Text(Count::Usual)];
    _ = b'/', "regexp", ["length and bytes, option byte: a regexp", "yes"], [Part::Number, Part::Text(Count::Usual), Part::Bytes(1)];
    _ = b'[', "array", ["count, items", "yes"], [Part::Number, Part::Items(Count::Usual)];
    _ = b'{', "hash", ["count, keys and values", "yes"], [Part::Number, Part::Entries(Count::Usual)];
    _ = b'}', "hash", ["the same, and a default value after them", "yes"], [Part::Number, Part::Entries(Count::Usual), Part::Value];
    _ = b'o', "object", ["class, count, names and values: an object", "yes, before the class"], [Part::Number, Part::Named, Part::Members];
    _ = b'S', "struct", ["the same of a Struct or Data", "yes, before the class"], [Part::Number, Part::Named, Part::Members];
    _ = b'U', "marshalled object", ["class, a value: what `marshal_dump` returned", "yes, before the value"], [Part::Named, Part::Number, Part::Value];
    _ = b'd', "data", ["the same: what `_dump_data` returned", "yes, before the value"], [Part::Named, Part::Number, Part::Value];
    _ = b'u', "dumped object", ["class, length and bytes: what `_dump` returned", "yes, after its instance variables"], [Part::Named, Part::Text(Count::Usual), Part::Number];
    _ = b'c' | b'm' | b'M', "class or module", ["length and bytes: the name of a class, of a module, of either (old)", "yes"], [Part::Number, Part::Text(Count::Usual)];
    _ = b'I', "instance variables", ["a value, count, names and values: instance variables", "no"], [Part::Value, Part::Members];
    _ = b'e', "module in", ["a name, a value: with this module mixed in", "no"], [Part::Named, Part::Value];
    _ = b'C', "class of", ["a name, a value: of this subclass of one of Ruby's own classes", "no"], [Part::Named, Part::Value];
    _ = b'@', "link", ["the number of an object", "no"], [Part::Link];
}

/// Returns the name of a type.
pub(super) fn type_name(tag: u8) -> &'static str {
    TAGS.name_of_tag(tag).unwrap_or("type")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_shows_the_table() {
        // Some letters are in another order than their numbers.
        super::TAGS.is_on_page(include_str!("FORMAT.md"), |tags| {
            let mut tags = tags.to_vec();
            tags.sort_by_key(|tag| (tag.to_ascii_lowercase(), tag.is_ascii_uppercase()));
            tags.iter().map(|tag| format!("`{}`", char::from(*tag))).collect::<Vec<_>>().join(" ")
        });
    }
}
