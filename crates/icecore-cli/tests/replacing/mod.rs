//! Random values as programs store them, created from a seed, and the forms that contain them.

/// A random number generator with the same sequence in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Pieces of the texts: the old address in its spellings, quotes, escapes, line ends, bytes of several encodings, and
/// beginnings of possible frozen data.
const PIECES: [&[u8]; 26] = [
    b"https://old.example",
    b"http://old.example/a/",
    b"//old.example",
    b"https:\\/\\/old.example",
    b"https%3A%2F%2Fold.example",
    b"old.example",
    b" and ",
    b"'",
    b"\"",
    b"\\",
    b"\\'",
    b"\n",
    b"\r\n",
    b"\t",
    b"\";",
    b";s:3:\"",
    b"{",
    b"}",
    b"a:1:{",
    "\u{e4}\u{20ac}".as_bytes(),
    b",",
    b"`",
    b"%",
    b"$",
    b"--",
    b"NULL",
];

/// Returns a text of a few pieces.
pub fn text(random: &mut Random) -> Vec<u8> {
    let count = random.below(7);
    (0..count).flat_map(|_| random.pick(&PIECES).to_vec()).collect()
}

/// Returns a random value in the format of PHP's `serialize`, up to this depth.
pub fn php(random: &mut Random, depth: usize) -> Vec<u8> {
    let string = |text: &[u8]| [format!("s:{}:\"", text.len()).as_bytes(), text, b"\";"].concat();
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => format!("i:{};", random.below(100_000)).into_bytes(),
        1 => random.pick(&[&b"N;"[..], b"b:1;", b"d:0.10000000000000001;", b"d:1.0E+25;"]).to_vec(),
        2 | 3 => string(&text(random)),
        4 => string(b"https://old.example/x"),
        // Serialized once more, and JSON.
        5 => string(&php(random, depth - 1)),
        6 => string(&json(random, depth - 1)),
        kind => {
            let count = random.below(4);
            let mut items = Vec::new();
            for index in 0..count {
                let key = if kind == 7 {
                    format!("i:{index};").into_bytes()
                } else {
                    string(format!("\0*\0k{index}").as_bytes())
                };
                items.extend([key, php(random, depth - 1)].concat());
            }
            let head = if kind == 7 { format!("a:{count}:{{") } else { format!("O:4:\"Shop\":{count}:{{") };
            [head.as_bytes(), &items, b"}"].concat()
        }
    }
}

/// Returns JSON as PHP or Perl write it, up to this depth.
pub fn json(random: &mut Random, depth: usize) -> Vec<u8> {
    let count = random.below(3) + 1;
    let escapes = random.below(2) == 0;
    let items = (0..count).map(|index| {
        let value = if depth > 0 && random.below(3) == 0 { php(random, depth - 1) } else { text(random) };
        let value = serde_json::to_string(&String::from_utf8_lossy(&value)).expect("text");
        let value = if escapes { value.replace('/', "\\/") } else { value };
        format!("\"k{index}\":{value}")
    });
    format!("{{{}}}", items.collect::<Vec<_>>().join(",")).into_bytes()
}

/// Returns a possible value of a column.
pub fn value(random: &mut Random) -> Vec<u8> {
    match random.below(4) {
        0 => text(random),
        1 => json(random, 2),
        _ => php(random, 4),
    }
}

/// How values are written in a file.
#[derive(Clone, Copy, Debug)]
pub enum DumpForm {
    /// mysqldump: backslashes, many rows in one statement.
    Mysql,
    /// Quotes doubled, double quotes unchanged, and some values in hexadecimal digits.
    Doubled,
    /// pg_dump's COPY.
    Copy,
    Csv,
    Tsv,
    Ndjson,
}

pub const ALL: [DumpForm; 6] =
    [DumpForm::Mysql, DumpForm::Doubled, DumpForm::Copy, DumpForm::Csv, DumpForm::Tsv, DumpForm::Ndjson];

impl DumpForm {
    pub fn extension(self) -> &'static str {
        match self {
            DumpForm::Mysql | DumpForm::Doubled | DumpForm::Copy => "sql",
            DumpForm::Csv => "csv",
            DumpForm::Tsv => "tsv",
            DumpForm::Ndjson => "ndjson",
        }
    }

    /// Returns a file with these values.
    pub fn file(self, values: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        let rows = values.iter().enumerate();
        match self {
            DumpForm::Mysql => {
                out.extend(b"-- MySQL dump 10.13\n/*!40101 SET NAMES utf8mb4 */;\nINSERT INTO `wp_options` VALUES ");
                for (row, value) in rows {
                    out.extend(if row == 0 { &b""[..] } else { b"," });
                    out.extend(format!("({row},'").as_bytes());
                    out.extend(each(value, |byte| match byte {
                        b'\'' | b'"' | b'\\' => Some(vec![b'\\', byte]),
                        b'\n' => Some(b"\\n".to_vec()),
                        b'\r' => Some(b"\\r".to_vec()),
                        0 => Some(b"\\0".to_vec()),
                        _ => None,
                    }));
                    out.extend(b"')");
                }
                out.extend(b";\n");
            }
            DumpForm::Doubled => {
                out.extend(b"-- MySQL dump 10.13\n");
                for (row, value) in rows {
                    out.extend(format!("INSERT INTO wp_options (option_id, option_value) VALUES ({row}, ").as_bytes());
                    if row % 5 == 4 && !value.is_empty() {
                        out.extend(b"0x");
                        out.extend(value.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()));
                    } else {
                        out.push(b'\'');
                        out.extend(each(value, |byte| match byte {
                            b'\'' => Some(b"''".to_vec()),
                            b'\\' => Some(b"\\\\".to_vec()),
                            0 => Some(b"\\0".to_vec()),
                            _ => None,
                        }));
                        out.push(b'\'');
                    }
                    out.extend(b");\r\n");
                }
            }
            DumpForm::Copy | DumpForm::Tsv => {
                out.extend(match self {
                    DumpForm::Copy => {
                        &b"--\n-- PostgreSQL database dump\n--\n\nCOPY public.options (id, value) FROM stdin;\n"[..]
                    }
                    _ => b"id\tvalue\n",
                });
                for (row, value) in rows {
                    out.extend(format!("{row}\t").as_bytes());
                    out.extend(each(value, |byte| match byte {
                        b'\t' => Some(b"\\t".to_vec()),
                        b'\n' => Some(b"\\n".to_vec()),
                        b'\r' => Some(b"\\r".to_vec()),
                        b'\\' => Some(b"\\\\".to_vec()),
                        _ => None,
                    }));
                    out.push(b'\n');
                }
                if let DumpForm::Copy = self {
                    out.extend(b"\\.\n");
                }
            }
            DumpForm::Csv => {
                out.extend(b"id,value\n");
                for (row, value) in rows {
                    out.extend(format!("{row},").as_bytes());
                    let needs = value.iter().any(|byte| b"\",\r\n".contains(byte));
                    out.extend(if needs { &b"\""[..] } else { b"" });
                    out.extend(each(value, |byte| (byte == b'"').then(|| b"\"\"".to_vec())));
                    out.extend(if needs { &b"\"\n"[..] } else { b"\n" });
                }
            }
            DumpForm::Ndjson => {
                for (row, value) in rows {
                    let value = serde_json::to_string(&String::from_utf8_lossy(value)).expect("text");
                    out.extend(format!("{{\"id\": {row}, \"value\": {value}}}\n").as_bytes());
                }
            }
        }
        out
    }

    /// Returns `true` if the form can contain a value.
    pub fn takes(self, value: &[u8]) -> bool {
        match self {
            // PostgreSQL's text has no NUL.
            DumpForm::Copy => !value.contains(&0),
            _ => true,
        }
    }
}

fn each(value: &[u8], escape: impl Fn(u8) -> Option<Vec<u8>>) -> Vec<u8> {
    value.iter().flat_map(|byte| escape(*byte).unwrap_or_else(|| vec![*byte])).collect()
}
