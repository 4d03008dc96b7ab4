//! Runs the command with hostile inputs of four sizes, each twice as long as the one before. The instructions may
//! only double with the input.
//!
//! The tests of the engine and of the command count the bytes that are written, and those requested from the
//! allocator. Work that allocates nothing is visible only here.

use crate::callgrind::{self, Program};
use crate::measure::is_wanted;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Approximate sizes of an input, in bytes.
const SIZES: [usize; 4] = [4 << 10, 8 << 10, 16 << 10, 32 << 10];

/// How many times more the last doubling may add than the first one. Linear work adds 4 times as
/// much, work that sorts about 5 times, and quadratic work 16 times.
const MOST: u64 = 7;

/// Number of instructions that the last doubling may always add. Tables that grow and blocks that are read cost this
/// much now and then, at any size.
const ALWAYS: u64 = 4_000_000;

/// An input that a command gets in four sizes.
struct Case {
    name: &'static str,
    /// The words of the command. `FILE` is the input, `NEW` a file that does not exist.
    words: &'static str,
    make: fn(usize) -> Vec<u8>,
}

macro_rules! cases {
    ($($name:literal, $words:literal, $make:expr;)*) => {
        const CASES: &[Case] = &[$(Case { name: $name, words: $words, make: $make }),*];
    };
}

cases! {
    // -- SQL
    "sql/one long literal", "replace --in sql old newer FILE", |size| {
        [b"INSERT INTO t VALUES (1,'", &b"x\\'old ".repeat(size / 7)[..], b"');\n"].concat()
    };
    "sql/a literal without an end", "replace --in sql old newer FILE", |size| {
        [b"INSERT INTO t VALUES (1,'", &b"it''s old".repeat(size / 9)[..]].concat()
    };
    "sql/a literal that seems to be frozen at every place", "replace --in sql old newer FILE", |size| {
        [b"INSERT INTO t VALUES (1,'", &b"a:9:{i:0;s:3:\"old\";".repeat(size / 19)[..], b"');\n"].concat()
    };
    "sql/strings without an end in a literal", "replace --in sql old newer FILE", |size| {
        [b"INSERT INTO t VALUES (1,'", &b"s:99999:\"old".repeat(size / 12)[..], b"');\n"].concat()
    };
    "sql/comments in comments", "replace --in sql old newer FILE", |size| b"/*!50000 old ".repeat(size / 13);
    "sql/parentheses", "replace --in sql old newer FILE", |size| {
        [b"INSERT INTO t VALUES ", &b"(".repeat(size)[..]].concat()
    };
    "sql/tags of quotes", "replace --in sql old newer FILE", |size| {
        let tags = (0..size / 12).map(|index| format!("SELECT $a{index}$ ")).collect::<String>();
        tags.into_bytes()
    };
    "sql/delimiters", "replace --in sql old newer FILE", |size| b"DELIMITER ;;\nold;;\nDELIMITER ;\n".repeat(size / 31);
    "sql/many tables", "replace --in sql old newer FILE", |size| {
        let make = |index| format!("CREATE TABLE t{index} (a int, b text);\nINSERT INTO t{index} VALUES (1,'old');\n");
        (0..size / 70).map(make).collect::<String>().into_bytes()
    };
    "sql/many columns", "replace --in sql old newer FILE", |size| {
        let count = size / 16;
        let names = (0..count).map(|index| format!("c{index}")).collect::<Vec<_>>().join(",");
        format!("INSERT INTO t ({names}) VALUES ({});\n", vec!["'old'"; count].join(",")).into_bytes()
    };
    "sql/rows of many tables", "rows --in sql FILE --table t", |size| {
        let make = |index| format!("CREATE TABLE t{index} (a int, b text);\nINSERT INTO t VALUES (1,'old');\n");
        (0..size / 70).map(make).collect::<String>().into_bytes()
    };
    "sql/COPY of short lines", "replace --in sql old newer FILE", |size| {
        [b"COPY t (a, b) FROM stdin;\n", &b"1\told\\n\n".repeat(size / 8)[..], b"\\.\n"].concat()
    };
    // -- CSV
    "csv/quotes", "replace --in csv old newer FILE", |size| b"\"".repeat(size);
    "csv/quotes in quotes", "replace --in csv old newer FILE", |size| {
        [b"a,b\n1,\"", &b"\"\"old".repeat(size / 5)[..], b"\"\n"].concat()
    };
    "csv/a row of many cells", "replace --in csv old newer FILE", |size| b"old,".repeat(size / 4);
    "csv/several delimiters", "replace old newer FILE", |size| b"a;b,c|d\t\"e\"\n".repeat(size / 12);
    "csv/backslashes", "rows --in csv --column a=php FILE", |size| b"a,\"b\\\"\",\"c\"\n".repeat(size / 12);
    "csv/columns that nobody named", "rows --in csv FILE", |size| {
        // The names have equal length, because a longer name might be taken for Base64.
        let names = (0..size / 12).map(|index| format!("name{index:05}")).collect::<Vec<_>>().join(",");
        format!("{names}\n").into_bytes()
    };
    "csv/many columns", "rows --in csv --column name0=php FILE", |size| {
        let count = size / 12;
        let names = (0..count).map(|index| format!("name{index}")).collect::<Vec<_>>().join(",");
        format!("{names}\n{}\n", vec!["1"; count].join(",")).into_bytes()
    };
    "csv/frozen cells that end too early", "replace --in csv old newer FILE", |size| {
        [&b"a,b\n"[..], &b"1,\"a:9:{i:0;s:99:\"\"old\"\";\"\n".repeat(size / 28)].concat()
    };
    // -- Text
    "text/frozen strings", "replace --in text old newer FILE", |size| b"s:3:\"old\"; ".repeat(size / 11);
    "text/beginnings", "replace old newer FILE", |size| b"a:1:{s:9:\"old".repeat(size / 13);
    "text/an expression", "replace --regex --in text (a|aa)+$ b FILE", |size| b"a".repeat(size);
    "text/addresses", "replace --in text --url http://old.example http://new.example FILE", |size| {
        b"http://old.example.http:\\/\\/old.example".repeat(size / 39)
    };
    // -- Repair
    "mend/lengths that are too large", "replace --mend --in php old newer FILE", |size| {
        let items = (0..size / 20).map(|index| format!("i:{index};s:9:\"old\";")).collect::<String>();
        format!("a:{}:{{{items}}}", size / 20).into_bytes()
    };
    "mend/lengths that may end anywhere", "replace --mend --in php old newer FILE", |size| {
        [b"a:1:{i:0;s:5:\"", &b"\";".repeat(size / 2)[..], b"}"].concat()
    };
    "mend/texts in texts", "replace --mend --in php old newer FILE", |size| {
        b"a:1:{i:0;s:99999:\"".repeat(size / 18)
    };
    "mend/characters", "convert -f php:repair=lengths -t json FILE", |size| {
        let items = (0..size / 24).map(|index| format!("i:{index};s:5:\"\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\";")).collect::<String>();
        format!("a:{}:{{{items}}}", size / 24).into_bytes()
    };
    // -- Rows and columns
    "rows/other keys in each row", "rows --in ndjson --column data=php FILE", |size| {
        let make = |index| format!("{{\"id\":{index},\"data\":\"a:1:{{s:6:\\\"k{index:05}\\\";i:1;}}\"}}\n");
        (0..size / 45).map(make).collect::<String>().into_bytes()
    };
    "rows/keys that only one row has", "rows --in ndjson --column k0=php FILE", |size| {
        (0..size / 16).map(|index| format!("{{\"k{index}\":{index}}}\n")).collect::<String>().into_bytes()
    };
    "rows/values that do not fit", "rows --in ndjson --column data=php FILE", |size| {
        b"{\"data\":\"a:1:{s:1:\\\"a\\\";a:1:{i:0;i:1;}}\"}\n{\"data\":\"a:1:{s:1:\\\"a\\\";i:1;}\"}\n".repeat(size / 78)
    };
    "rows/lists of records", "rows FILE", |size| {
        let items = (0..size / 22).map(|index| format!("i:{index};a:1:{{s:1:\"a\";i:1;}}")).collect::<String>();
        format!("a:{}:{{{items}}}", size / 22).into_bytes()
    };
    // -- Documents
    "diff/a list that is turned", "diff FILE TURNED", |size| {
        format!("[{}]", (0..size / 5).map(|index| index.to_string()).collect::<Vec<_>>().join(",")).into_bytes()
    };
    "diff/the same keys with other values", "diff FILE TURNED", |size| {
        let entries = (0..size / 12).map(|index| format!("\"k{index}\":{index}")).collect::<Vec<_>>();
        format!("{{{}}}", entries.join(",")).into_bytes()
    };
    "diff/levels", "diff FILE TURNED", |size| {
        let deep = (size / 2).min(9000);
        ["[".repeat(deep), "1".to_owned(), "]".repeat(deep)].concat().into_bytes()
    };
    "edit/many renamed keys", "edit --rename-key $[*].a=b FILE", |size| {
        format!("[{}]", vec!["{\"a\":1}"; size / 8].join(",")).into_bytes()
    };
    "get/every item", "get $[*].a FILE", |size| format!("[{}]", vec!["{\"a\":1}"; size / 8].join(",")).into_bytes();
    "inspect/strings that seem to be frozen", "inspect --deep --all FILE", |size| {
        format!("[{}]", vec!["\"a:1:{i:0;s:9:\\\"x\\\";}\""; size / 26].join(",")).into_bytes()
    };
    "classes/many classes", "classes FILE", |size| {
        let items = (0..size / 24).map(|index| format!("i:{index};O:6:\"C{index:05}\":0:{{}}")).collect::<String>();
        format!("a:{}:{{{items}}}", size / 24).into_bytes()
    };
    "detect/beginnings of all formats", "detect FILE", |size| b"a:1:{pst0=srl\x04\x08[{\"a\":$VAR1 = ".repeat(size / 30);
    // -- The store
    "store/many objects", "store put --db sqlite:NEW --each --key k FILE", |size| {
        (0..size / 16).map(|index| format!("{{\"k\":{index}}}\n")).collect::<String>().into_bytes()
    };
}

/// The result of a case.
enum Judged {
    Grows { counts: Vec<u64> },
    Failed(String),
    Passed,
}

/// Measures all cases whose names contain the word, and prints those that grow faster than their
/// input. Returns how many passed and how many failed.
///
/// # Errors
/// If the folder for inputs can't be written.
pub fn check(command: &Path, work: &Path, only: &str) -> Result<(usize, usize), String> {
    std::fs::create_dir_all(work).map_err(|error| format!("{}: {error}", work.display()))?;
    let cases: Vec<&Case> = CASES.iter().filter(|case| is_wanted(case.name, only)).collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let judged = judge(command, &work.join(format!("growth-{index}")), case);
                    results.lock().expect("no thread panics with the lock").push((case.name, judged));
                }
            });
        }
    });
    let (mut passed, mut failed) = (0, 0);
    for (name, judged) in results.into_inner().expect("no thread panics with the lock") {
        match judged {
            Judged::Passed => {
                passed += 1;
                continue;
            }
            Judged::Grows { counts } => println!("FAILED {name}: instructions of sizes that double: {counts:?}"),
            Judged::Failed(reason) => println!("FAILED {name}: {reason}"),
        }
        failed += 1;
    }
    Ok((passed, failed))
}

fn judge(command: &Path, folder: &Path, case: &Case) -> Judged {
    let mut counts = Vec::new();
    for size in SIZES {
        match count(command, folder, case, size) {
            Ok(count) => counts.push(count),
            Err(reason) => return Judged::Failed(reason),
        }
    }
    let added: Vec<u64> = counts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let (first, last) = (added[0], added[added.len() - 1]);
    if last > ALWAYS && last > MOST * first.max(ALWAYS / MOST) { Judged::Grows { counts } } else { Judged::Passed }
}

fn count(command: &Path, folder: &Path, case: &Case, size: usize) -> Result<u64, String> {
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf, String> {
        let file = folder.join(name);
        std::fs::write(&file, bytes).map(|()| file).map_err(|error| format!("{}: {error}", folder.display()))
    };
    _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let bytes = (case.make)(size);
    let (file, turned) = (write("input", &bytes)?, write("turned", &turn(&bytes))?);
    let fill = |word: &str| {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        word.replace("FILE", &path(&file)).replace("TURNED", &path(&turned)).replace("NEW", &path(&folder.join("new")))
    };
    let start = Program::new(command);
    let program = case.words.split(' ').fold(start, |program, word| program.arg(fill(word)));
    callgrind::count_refusal(&program, &folder.join("callgrind"))
}

/// Reverses the items of a JSON list.
fn turn(bytes: &[u8]) -> Vec<u8> {
    let [first, inside @ .., last] = bytes else { return bytes.to_vec() };
    let mut items: Vec<&[u8]> = inside.split(|byte| *byte == b',').collect();
    items.reverse();
    [&[*first][..], &items.join(&b','), &[*last]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_about_the_requested_size() {
        for case in CASES {
            for size in SIZES {
                let len = (case.make)(size).len();
                assert!(len > size / 3 && len < 2 * size + 200, "{} {size}: {len}", case.name);
            }
        }
    }
}
