//! Letters that begin values. Everything that ends with the next semicolon is a
//! `Part::Integer` here: code that skips it needs no more.

use crate::format::tags::{Count, Part, tags};

tags! {
    _ = b'N', "null", ["`N;`", "null"], [Part::Integer];
    _ = b'b', "boolean", ["`b:0;` `b:1;`", "boolean"], [Part::Integer];
    _ = b'i', "integer", ["`i:-5;`", "integer, 64 bits; a sign and leading zeros are read"], [Part::Integer];
    _ = b'd', "float", ["`d:0.1;` `d:1.0E+25;` `d:INF;` `d:-INF;` `d:NAN;`", "float"], [Part::Integer];
    _ = b's', "string", [r#"`s:5:"hello";`"#, "byte string; the number counts bytes, nothing is escaped"], [Part::Text(Count::Usual)];
    _ = b'S', "escaped string", [r#"`S:5:"\68ello";`"#, "the same with bytes in hexadecimal; the number counts the decoded bytes"], [Part::Other];
    _ = b'a', "array", ["`a:2:{i:0;N;i:1;N;}`", "array: an `Array` if its keys are 0, 1, 2 and so on in order, otherwise a `Map`"], [Part::Entries(Count::Usual)];
    _ = b'O', "object", [r#"`O:4:"User":1:{s:4:"name";s:1:"A";}`"#, "object: its body is always a `Map`"], [Part::Named, Part::Members];
    _ = b'C', "custom object", [r#"`C:3:"Foo":2:{ab}`"#, "opaque object: only its class knows the payload (form `Serializable`)"], [Part::Other];
    _ = b'E', "enum case", [r#"`E:8:"Suit:One";`"#, "enum case"], [Part::Text(Count::Usual)];
    _ = b'r', "link", ["`r:2;`", "link: the same object as value 2"], [Part::Link];
    _ = b'R', "alias", ["`R:2;`", "alias: the same variable as value 2"], [Part::Link];
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_shows_the_table() {
        let page = include_str!("FORMAT.md");
        for (row, tags) in super::TAGS.rows.iter().zip(super::TAGS.tags_by_row()) {
            let line = format!("| {} |", row.page.join(" | "));
            assert!(page.lines().any(|found| found == line), "missing in FORMAT.md: {line}");
            assert!(row.page[0].starts_with(&format!("`{}", char::from(tags[0]))), "{line}");
        }
    }
}
