//! Hostile inputs of any size: few bytes that could become many when they are converted, for example a long string and
//! many short links to it.

/// A kind of hostile input.
pub struct Shape {
    pub name: &'static str,
    pub format: &'static str,
    /// Makes an input of about this many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

impl Shape {
    pub fn make(&self, size: usize) -> Vec<u8> {
        (self.make)(size)
    }
}

/// Returns the shape with this name.
pub fn named(name: &str) -> &'static Shape {
    ALL.iter().find(|shape| shape.name == name).unwrap()
}

macro_rules! shapes {
    ($($name:literal, $format:literal, $make:expr;)*) => {
        pub const ALL: &[Shape] = &[$(Shape { name: $name, format: $format, make: $make }),*];
    };
}

shapes! {
    "a COPY of a long string", "sereal", |size| sereal_copies(size, &[b'a'; 1].repeat(size / 2));
    "a COPY of a string that is packed", "sereal", packed_copies;
    "a COPY of a container", "sereal", container_copies;
    "a COPY of a long key", "sereal", |size| sereal_named(size, Repeated::Key);
    "a long class of many objects", "sereal", |size| sereal_named(size, Repeated::Class);
    "many classes below a long key", "sereal", classes_below;
    "an id of a long string", "igbinary", |size| igbinary(size, Repeated::String);
    "an id of a long key", "igbinary", |size| igbinary(size, Repeated::Key);
    "an id of a long class", "igbinary", |size| igbinary(size, Repeated::Class);
    "a symlink to a long symbol", "marshal", |size| marshal(size, b":", b";\0");
    "a link to a long string", "marshal", |size| marshal(size, b"\"", b"@\x06");
    "members with a long name", "marshal", |size| marshal_named(size, b"{\x06:", b"i\x06", b"{\x06;\0i\x06");
    "objects of a long class", "marshal", |size| marshal_named(size, b"o:", b"\0", b"o;\0\0");
    "strings in a long encoding", "marshal", encodings;
    "an OBJECT that is an array", "storable", storable_links;
    "an OBJECT that is a string", "storable", storable_strings;
    "many objects of a long class", "storable", storable_classes;
    "R to a long string", "php", |size| php_links(size, 'R');
    "r to an object", "php", |size| php_links(size, 'r');
    "lengths that are too large", "php:repair=lengths", |size| b"s:999999999:\"".repeat(size / 13);
    "lengths that are too large in an array", "php:repair=lengths", |size| {
        [&b"a:1:{i:0;"[..], &b"s:999999999:\"".repeat(size / 13)].concat()
    };
    "wrong strings below arrays", "php:repair=lengths", |size| {
        [b"a:1:{i:0;".repeat((size / 18).min(9000)), b"s:5:\"abc\";".repeat(size / 20)].concat()
    };
    "wrong strings in an array", "php:repair=lengths", |size| {
        let items: String = (0..size / 20).map(|index| format!("i:{index};s:9:\"abc\";")).collect();
        format!("a:{}:{{{items}}}", size / 20).into_bytes()
    };
    "lines far to the right", "json", |size| {
        let deep = (size / 8).min(9000);
        ["[".repeat(deep), vec!["1"; size / 4].join(","), "]".repeat(deep)].concat().into_bytes()
    };
    "entries far to the right", "json", |size| {
        let deep = (size / 32).min(9000);
        let entries: Vec<String> = (0..size / 12).map(|index| format!("\"{index}\":1")).collect();
        ["{\"aaaa\":".repeat(deep), format!("{{{}}}", entries.join(",")), "}".repeat(deep)].concat().into_bytes()
    };
    "the same key", "json", |size| format!("{{{}}}", vec!["\"a\":1"; size / 6].join(",")).into_bytes();
    "long numbers", "json", |size| format!("[{}]", vec!["1".repeat(size.min(15_000)); 1 + size / 15_001].join(",")).into_bytes();
    "paths to one place", "dumper", |size| {
        let deep = (size / 40).min(5000);
        let first = format!("$VAR1 = {}[]{};\n", "{'aaaa' => ".repeat(deep), "}".repeat(deep));
        format!("{first}{}", "$VAR1->{'aaaa'}{'b'} = 1;\n".repeat(size / 50)).into_bytes()
    };
    "names of a long string", "dumper", |size| {
        format!("$VAR1 = ['{}'{}];\n", "a".repeat(size / 2), ",$VAR1->[0]".repeat(size / 22)).into_bytes()
    };
}

#[derive(Clone, Copy, PartialEq)]
pub enum Repeated {
    String,
    Key,
    Class,
}

const SEREAL: &[u8] = b"=\xF3rl\x05\0";

fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn binary(text: &[u8]) -> Vec<u8> {
    [&[0x26][..], &varint(text.len()), text].concat()
}

/// Makes a string and as many copies of it as fit in the size.
fn sereal_copies(size: usize, text: &[u8]) -> Vec<u8> {
    let count = size.saturating_sub(text.len()) / 3;
    let head = [&[0x2B][..], &varint(count + 1)].concat();
    let copy = [&[0x2F][..], &varint(1 + head.len())].concat();
    [SEREAL, &head, &binary(text), &copy.repeat(count)].concat()
}

/// Makes copies of a compressed document that is larger than the size.
fn packed_copies(size: usize) -> Vec<u8> {
    let text = format!("[{}1]", "1,".repeat(size * 4));
    let packed = icecore::convert(text.as_bytes(), "json", "gzip/json").unwrap();
    sereal_copies(size, &packed)
}

fn container_copies(size: usize) -> Vec<u8> {
    let inner = [&[0x28, 0x2B, 30][..], &binary(&vec![b'b'; size / 2]), &[1; 29]].concat();
    let count = size / 6;
    let head = [&[0x2B][..], &varint(count + 1)].concat();
    let copy = [&[0x2F][..], &varint(1 + head.len())].concat();
    [SEREAL, &head, &inner, &copy.repeat(count)].concat()
}

/// Makes a list of maps or objects: the first one contains a long name, and the others refer to it.
fn sereal_named(size: usize, repeated: Repeated) -> Vec<u8> {
    let name = binary(&vec![b'n'; size / 2]);
    let count = size / 12;
    let mut out = [&[0x2B][..], &varint(count)].concat();
    let mut offset = 0;
    for index in 0..count {
        if repeated == Repeated::Class {
            out.push(if index == 0 { 0x2C } else { 0x2D });
        } else {
            out.extend_from_slice(&[0x28, 0x2A, 1]);
        }
        match index {
            0 => {
                offset = 1 + out.len();
                out.extend_from_slice(&name);
            }
            _ if repeated == Repeated::Class => out.extend_from_slice(&varint(offset)),
            _ => out.extend_from_slice(&[&[0x2F][..], &varint(offset)].concat()),
        }
        out.extend_from_slice(if repeated == Repeated::Class { &[0x28, 0x2A, 0] } else { &[1] });
    }
    [SEREAL, &out].concat()
}

fn classes_below(size: usize) -> Vec<u8> {
    let count = size / 24;
    let mut out = [SEREAL, &[0x28, 0x2A, 1], &binary(&vec![b'k'; size / 2]), &[0x28, 0x2B], &varint(count)].concat();
    for index in 0..count {
        out.push(0x2C);
        out.extend_from_slice(&binary(format!("C{index:06}").as_bytes()));
        out.extend_from_slice(&[0x28, 0x2A, 0]);
    }
    out
}

fn igbinary(size: usize, repeated: Repeated) -> Vec<u8> {
    let count = size / 20;
    let name = vec![b'n'; size / 2];
    let mut out = [&[0, 0, 0, 2, 0x16][..], &(count as u32).to_be_bytes()].concat();
    let new = |tag: u8| [&[tag][..], &(name.len() as u32).to_be_bytes(), &name].concat();
    for index in 0..count {
        out.push(0x0A);
        out.extend_from_slice(&(index as u32).to_be_bytes());
        let (tag, id): (u8, &[u8]) = match repeated {
            Repeated::Class => (0x19, &[0x1A, 0]),
            _ => (0x13, &[0x0E, 0]),
        };
        if repeated == Repeated::Key {
            out.extend_from_slice(&[0x14, 1]);
        }
        if index == 0 {
            out.extend_from_slice(&new(tag))
        } else {
            out.extend_from_slice(id)
        }
        match repeated {
            Repeated::String => {}
            Repeated::Key => out.extend_from_slice(&[6, 1]),
            Repeated::Class => out.extend_from_slice(&[0x14, 0]),
        }
    }
    out
}

/// Returns an integer in Marshal's form.
fn long(value: usize) -> Vec<u8> {
    match value {
        0 => vec![0],
        1..=122 => vec![value as u8 + 5],
        _ => {
            let bytes = (value as u32).to_le_bytes();
            let len = 4 - value.leading_zeros().saturating_sub(32) as usize / 8;
            [&[len as u8][..], &bytes[..len]].concat()
        }
    }
}

fn marshal(size: usize, tag: &[u8], repeated: &[u8]) -> Vec<u8> {
    marshal_named(size, tag, b"", repeated)
}

/// Makes an array: a long name between `before` and `after`, and then `repeated` many times, which refers to that name.
fn marshal_named(size: usize, before: &[u8], after: &[u8], repeated: &[u8]) -> Vec<u8> {
    let count = size / 2 / repeated.len();
    let name = vec![b'S'; size / 2];
    [b"\x04\x08[", &long(count + 1)[..], before, &long(name.len()), &name, after, &repeated.repeat(count)].concat()
}

fn encodings(size: usize) -> Vec<u8> {
    let count = size / 24;
    let first = [b"I\"\x06a\x06:\x0Dencoding\"", &long(size / 2)[..], &vec![b'E'; size / 2]].concat();
    [b"\x04\x08[", &long(count + 1)[..], &first, &b"I\"\x06a\x06;\0@\x07".repeat(count)].concat()
}

const STORABLE: &[u8] = b"pst0\x05\x0B\x0812345678\x04\x08\x08\x08";

fn storable(count: usize, first: &[u8], repeated: &[u8]) -> Vec<u8> {
    [STORABLE, &[2], &(count as u32 + 1).to_le_bytes(), first, &repeated.repeat(count)].concat()
}

fn storable_links(size: usize) -> Vec<u8> {
    let items = size as u32 / 4;
    let first = [&[4, 2][..], &items.to_le_bytes(), &b"\x08\x81".repeat(items as usize)].concat();
    storable(size / 12, &first, b"\x04\0\0\0\0\x02")
}

fn storable_strings(size: usize) -> Vec<u8> {
    let first = [&[1][..], &(size as u32 / 2).to_le_bytes(), &vec![b'a'; size / 2]].concat();
    storable(size / 10, &first, b"\0\0\0\0\x01")
}

fn storable_classes(size: usize) -> Vec<u8> {
    let first =
        [&b"\x04\x11\xFF"[..], &(size as u32 / 2).to_le_bytes(), &vec![b'C'; size / 2], b"\x03\0\0\0\0"].concat();
    storable(size / 16, &first, b"\x04\x12\0\x03\0\0\0\0")
}

fn php_links(size: usize, letter: char) -> Vec<u8> {
    let text = "a".repeat(size / 2);
    let count = size / 2 / 12;
    let first = match letter {
        'R' => format!("s:{}:\"{text}\";", text.len()),
        _ => format!("O:8:\"stdClass\":1:{{s:{}:\"{text}\";i:1;}}", text.len()),
    };
    let repeated: String = (1..=count).map(|index| format!("i:{index};{letter}:2;")).collect();
    format!("a:{}:{{i:0;{first}{repeated}}}", count + 1).into_bytes()
}
