//! The output of PHP's `fputcsv` and Python's `csv` is detected, and has the cells that were written.

use crate::dialects::read_rows;
use crate::random_numbers::Random;
use icecore_csv::detect_dialect;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs a program with this input; `None` if it is not installed.
fn run(program: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let child = Command::new(program[0]).args(&program[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: {} is not installed", program[0]);
        return None;
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads all");
    assert!(output.status.success(), "{program:?}");
    Some(output.stdout)
}

/// Returns tables as lines of `hex hex hex`, with an empty line after each. The programs answer with a line of hex
/// for each file.
fn to_hex(tables: &[Vec<Vec<Vec<u8>>>]) -> Vec<u8> {
    let cell = |cell: &Vec<u8>| cell.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let row = |row: &Vec<Vec<u8>>| row.iter().map(cell).collect::<Vec<_>>().join(" ") + "\n";
    let table = |table: &Vec<Vec<Vec<u8>>>| table.iter().map(row).collect::<String>() + "\n";
    tables.iter().map(table).collect::<String>().into_bytes()
}

fn from_hex(line: &str) -> Vec<u8> {
    let digits = line.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hex")).collect()
}

const PHP: &str = r#"
[$delimiter, $escape] = [chr((int) $argv[1]), $argv[2] === 'none' ? '' : '\\'];
$file = fopen('php://memory', 'w+');
while (($line = fgets(STDIN)) !== false) {
    if ($line !== "\n") {
        fputcsv($file, array_map('hex2bin', explode(' ', rtrim($line, "\n"))), $delimiter, '"', $escape);
        continue;
    }
    rewind($file);
    echo bin2hex(stream_get_contents($file)), "\n";
    $file = fopen('php://memory', 'w+');
}
"#;

const PYTHON: &str = r#"
import csv, io, sys
kind = sys.argv[2]
style = dict(delimiter=chr(int(sys.argv[1])), lineterminator='\n')
if kind == 'backslash':
    style.update(doublequote=False, escapechar='\\', quoting=csv.QUOTE_ALL)
elif kind == 'all':
    style.update(quoting=csv.QUOTE_ALL, lineterminator='\r\n')
elif kind == 'single':
    style.update(quotechar="'")
rows = []
for line in sys.stdin.buffer:
    if line != b'\n':
        rows.append([bytes.fromhex(cell.decode()).decode('latin-1') for cell in line.rstrip(b'\n').split(b' ')])
        continue
    out = io.StringIO(newline='')
    csv.writer(out, **style).writerows(rows)
    print(out.getvalue().encode('latin-1').hex())
    rows = []
"#;

/// Makes a table of texts as in databases, with everything that makes CSV difficult. Some tables are large, and their
/// first rows may be simple.
fn random_table(random: &mut Random) -> Vec<Vec<Vec<u8>>> {
    let width = 2 + random.below(4);
    let mut rows = vec![(0..width).map(|column| format!("column_{column}").into_bytes()).collect::<Vec<_>>()];
    let is_large = random.below(20) == 0;
    let simple = if is_large { [0, 1000, 2800][random.below(3)] } else { 0 };
    let count = if is_large { 2500 + random.below(3000) } else { 3 + random.below(20) };
    for id in 0..count {
        let cell = |column: usize, random: &mut Random| match column {
            0 => id.to_string().into_bytes(),
            1 if id < simple => b"a:1:{s:4:\"name\";s:4:\"Anna\";}".to_vec(),
            _ if id < simple => b"plain words".to_vec(),
            _ => random_cell(random),
        };
        rows.push((0..width).map(|column| cell(column, random)).collect());
    }
    rows
}

fn random_cell(random: &mut Random) -> Vec<u8> {
    const PIECES: [&str; 14] =
        ["word", " ", ", ", ";", "\"", "'", "\t", "\n", "1,50", "C:\\dir", "\\\"", "|", "https://old.example", "é"];
    match random.below(4) {
        0 => {
            let text = format!("it's \"{}\"", "x".repeat(random.below(9)));
            format!("a:1:{{s:4:\"name\";s:{}:\"{text}\";}}", text.len()).into_bytes()
        }
        1 => (0..random.below(8)).flat_map(|_| PIECES[random.below(14)].bytes()).collect(),
        2 => format!("{}", random.below(1000)).into_bytes(),
        _ => b"plain words".to_vec(),
    }
}

/// Returns `true` if a cell is a serialized array: here such texts make sense as a whole.
fn is_serialized(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"a:1:{s:4:\"name\";s:") else { return false };
    let Some(colon) = rest.iter().position(|byte| *byte == b':') else { return false };
    let len: usize = std::str::from_utf8(&rest[..colon]).ok().and_then(|len| len.parse().ok()).unwrap_or(usize::MAX);
    rest.len() == colon.saturating_add(len).saturating_add(5) && rest.ends_with(b"\";}")
}

/// The results for one program and style: tables that were read correctly, were unclear, or were read wrongly.
#[derive(Debug, Default)]
struct Counts {
    correct: usize,
    unclear: usize,
    wrong: usize,
}

fn try_program(program: &[&str], delimiter: u8, rounds: usize, random: &mut Random, counts: &mut Counts) -> Option<()> {
    let tables: Vec<_> = (0..rounds).map(|_| random_table(random)).collect();
    let argument = delimiter.to_string();
    let program: Vec<&str> = program.iter().map(|part| if *part == "DELIMITER" { &*argument } else { *part }).collect();
    let files = String::from_utf8(run(&program, &to_hex(&tables))?).expect("hex");
    assert_eq!(files.lines().count(), rounds);
    for (rows, file) in tables.iter().zip(files.lines().map(from_hex)) {
        match detect_dialect(&file, true, &mut is_serialized) {
            Err(_) => counts.unclear += 1,
            Ok(found) if read_rows(found.dialect, &file) == *rows => counts.correct += 1,
            // No cell has these quotes: nothing shows that there are others.
            Ok(_) if program.contains(&"single") && !file.contains(&b'\'') => {}
            // Two backslashes and no other escapes: it may also be RFC 4180.
            Ok(_) if program.contains(&"backslash") && !file.windows(2).any(|pair| pair == b"\\\"") => {}
            Ok(found) => {
                eprintln!("{:?} reads {:?}", found.dialect, String::from_utf8_lossy(&file));
                counts.wrong += 1;
            }
        }
    }
    Some(())
}

#[test]
fn csv_of_php_and_python_is_detected_and_read_right() {
    let rounds = if std::env::var_os("ICECORE_FULL").is_some() { 20_000 } else { 100 };
    let mut random = Random(7);
    let styles: [&[&str]; 6] = [
        &["php", "-r", PHP, "--", "DELIMITER", "none"],
        &["php", "-r", PHP, "--", "DELIMITER", "default"],
        &["python3", "-c", PYTHON, "DELIMITER", "usual"],
        &["python3", "-c", PYTHON, "DELIMITER", "all"],
        &["python3", "-c", PYTHON, "DELIMITER", "single"],
        &["python3", "-c", PYTHON, "DELIMITER", "backslash"],
    ];
    for program in styles {
        let mut counts = Counts::default();
        for delimiter in *b",;\t|" {
            if try_program(program, delimiter, rounds, &mut random, &mut counts).is_none() {
                return;
            }
        }
        eprintln!("{} {}: {counts:?}", program[0], program[program.len() - 1]);
        assert_eq!(counts.wrong, 0, "{program:?}");
        assert!(counts.unclear * 100 <= counts.correct, "{program:?}: {counts:?}");
    }
}
