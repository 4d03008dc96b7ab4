//! Tables in each dialect are detected, read, and written back.

use crate::random_numbers::Random;
use icecore_csv::{DetectError, Dialect, Escape, LineEnd, Next, Scanner, Style, detect_dialect};

/// Returns the texts of all cells.
pub fn read_rows(dialect: Dialect, text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let (mut rows, mut cells, mut offset) = (Vec::new(), Vec::new(), 0);
    let scanner = Scanner::new(dialect);
    while let Next::Row { end } = scanner.next_row(&text[offset..], true, &mut cells) {
        rows.push(cells.iter().map(|cell| dialect.decode_cell(cell, &text[offset..]).into_owned()).collect());
        offset += end;
    }
    rows
}

fn detect(text: &str) -> Result<Dialect, DetectError> {
    detect_dialect(text.as_bytes(), true, &mut |_| false).map(|found| found.dialect)
}

#[test]
fn common_dialects_are_detected() {
    let rfc = Dialect::RFC_4180;
    for (text, expected) in [
        ("id,name\n1,\"a, b\"\n", rfc),
        ("id;name\r\n1;\"a, b\"\r\n", Dialect { delimiter: b';', ..rfc }),
        ("id;price\n1;1,50\n2;2,75\n", Dialect { delimiter: b';', ..rfc }),
        ("id\tname\n1\tx;y\n", Dialect { delimiter: b'\t', ..rfc }),
        ("id|name\n1|x\n", Dialect { delimiter: b'|', ..rfc }),
        ("sep=;\n1;2,3\n", Dialect { delimiter: b';', ..rfc }),
        ("id,name\n1,'it, too'\n", Dialect { quote: Some(b'\''), ..rfc }),
        ("id,name\r1,\"x\"\r", Dialect { line_end: LineEnd::Return, ..rfc }),
        ("id,name\n\"1\",\"say \\\"hi\\\", \\\\ you\"\n", Dialect { escape: Escape::Backslash, ..rfc }),
        ("id,name\n1,\"a \\\" and \"\"b\"\", c\"\n", Dialect { escape: Escape::PhpFputcsv, ..rfc }),
        ("id,name\n1,5\" disk\n", rfc),
        // One column.
        ("name\nAnna\nBob\n", rfc),
        // A comma that occurs in only one row is text, not a delimiter. The file then has one column.
        ("note\nHello, you\nplain\n", Dialect { delimiter: b';', ..rfc }),
        ("", rfc),
    ] {
        assert_eq!(detect(text), Ok(expected), "{text:?}");
    }
}

#[test]
fn ambiguous_tables_list_the_possible_dialects() {
    let error = detect("1;2,3\n4;5,6\n").unwrap_err();
    assert!(matches!(&error, DetectError::Several(readings) if readings.len() == 2), "{error:?}");
    assert_eq!(
        error.to_string(),
        "it can be read in several ways: `,` between cells, `\"` around them, quotes inside are doubled; or `;` \
         between cells, `\"` around them, quotes inside are doubled"
    );
    // `\"` is either an escaped quote, or PHP's `fputcsv` wrote a backslash and a quote.
    let error = detect("id,name\n1,\"say \\\"hi\\\"\"\n").unwrap_err();
    assert!(matches!(&error, DetectError::Several(readings) if readings.len() == 2), "{error:?}");
    // The callback recognizes a cell, which decides.
    let is_known_cell = |text: &[u8]| text == b"5,6";
    assert_eq!(detect_dialect(b"1;2,3\n4;5,6\n", true, &mut { is_known_cell }).unwrap().dialect.delimiter, b';');
}

/// Cells that a dialect can represent are the same after writing and reading. The texts are random.
#[test]
fn written_cells_are_read_back() {
    let quotings = [
        (Some(b'"'), Escape::Doubled),
        (Some(b'"'), Escape::PhpFputcsv),
        (Some(b'"'), Escape::Backslash),
        (Some(b'\''), Escape::Doubled),
        (None, Escape::Doubled),
    ];
    let pieces: [&[u8]; 9] = [b"a", b" ", b"\"", b"'", b"\\", b",", b"\n", b"\r", b"\xff"];
    let mut random = Random(3);
    let mut written = 0;
    for round in 0..20_000 {
        let (quote, escape) = quotings[round % quotings.len()];
        let dialect = Dialect { quote, escape, ..Dialect::RFC_4180 };
        let texts: Vec<Vec<u8>> = (0..1 + random.below(3))
            .map(|_| (0..random.below(6)).flat_map(|_| pieces[random.below(9)].iter().copied()).collect())
            .collect();
        let mut file = Vec::new();
        let mut is_representable = true;
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                file.push(b',');
            }
            let style = [Style::Plain, Style::Quoted][random.below(2)];
            is_representable &= dialect.encode_cell(text, style, &mut file);
        }
        // An empty line is a row with one empty cell.
        file.push(b'\n');
        if is_representable {
            written += 1;
            assert_eq!(read_rows(dialect, &file), [texts], "{dialect}: {:?}", String::from_utf8_lossy(&file));
        }
    }
    assert!(written > 10_000, "only {written}");
}
