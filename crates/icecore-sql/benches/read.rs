//! The speed of reading dumps of several shapes: literals only, and decoded.
//!
//!     cargo bench -p icecore-sql [SHAPE…]
//!
//! Environment: SIZE is the size of a dump, RUNS the number of runs whose best counts, DECODE=0
//! skips decoding, ROWS=1 reads rows with all their values.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use icecore::rewrite::Escaping;
use icecore_sql::{Content, Next, Options, Reader};

/// The window that a caller keeps in memory.
const WINDOW: usize = 256 << 10;
const DUMP: usize = 64 << 20;
const RUNS: usize = 7;

/// Returns a size or a count from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the processor time of this process, if the system reports it: others may use the machine
/// too.
fn time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanos = schedstat.and_then(|schedstat| schedstat.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn main() {
    let selected: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    for (name, make) in DUMPS {
        if selected.is_empty() || selected.iter().any(|selected| selected == name) {
            measure(name, &make());
        }
    }
}

fn measure(name: &str, dump: &[u8]) {
    let rows = setting("ROWS", 0) > 0;
    let best = |decode: bool| {
        let runs = (0..setting("RUNS", RUNS)).map(|_| {
            let start = time();
            let count = read(dump, decode, rows);
            (time() - start, count)
        });
        runs.min().expect("a run")
    };
    let (alone, count) = best(false);
    let (decoded, _) = if setting("DECODE", 1) > 0 { best(true) } else { (alone, count) };
    let speed = |time: Duration| dump.len() as f64 / time.as_secs_f64() / 1e6;
    println!("{name:<12} {:7.0} MB/s, decoded {:7.0} MB/s, {count} values", speed(alone), speed(decoded));
}

/// Returns the number of literals.
fn read(dump: &[u8], decode: bool, rows: bool) -> usize {
    let mut options = Options::default();
    options.rows = rows;
    let mut reader = Reader::with_options(options);
    let (mut start, mut end, mut count) = (0, WINDOW.min(dump.len()), 0);
    loop {
        let window = &dump[start..end];
        match reader.next(window, end == dump.len()).expect("a dump") {
            Next::Literal(literal) => {
                count += 1;
                if decode {
                    let decoded = literal.quoting.decode(&window[literal.body]).expect("a literal");
                    std::hint::black_box(decoded.text());
                }
            }
            Next::Value(value) => {
                count += 1;
                if let (true, Content::Literal(body, quoting)) = (decode, value.content) {
                    std::hint::black_box(quoting.decode(&window[body]).expect("a literal").text());
                }
            }
            Next::More { used } => {
                start += used;
                end = (end + used.max(WINDOW)).min(dump.len()).max(end);
            }
            Next::End => return count,
        }
    }
}

type Dump = (&'static str, fn() -> Vec<u8>);

const DUMPS: &[Dump] = &[
    ("posts", posts),
    ("options", options),
    ("rows", rows),
    ("listed", rows_with_column_list),
    ("copy", copy),
    ("sqlite", sqlite),
    ("hex", hex),
];

/// Makes rows until the dump is large enough. `head` comes before them, `between` between them.
fn rows_of(head: &str, separator: &str, mut row: impl FnMut(usize, &mut String)) -> Vec<u8> {
    let size = setting("SIZE", DUMP);
    let mut dump = String::from(head);
    let mut number = 0;
    while dump.len() < size {
        number += 1;
        row(number, &mut dump);
        dump.push_str(separator);
    }
    dump.into_bytes()
}

/// Makes a dump of long articles, as in WordPress.
fn posts() -> Vec<u8> {
    let article = "<!-- wp:paragraph --><p class=\\\"x\\\">It\\'s a long text about https://old.example/page/ and more of that.</p>\\n".repeat(40);
    rows_of("-- MySQL dump 10.13\nINSERT INTO `wp_posts` VALUES ", ",", |number, dump| {
        let _ = write!(
            dump,
            "({number},1,'2024-01-01 00:00:00','{article}','Title','','publish','open','','slug-{number}',0,'post')"
        );
    })
}

/// Makes a dump of small serialized values with many escaped quotes.
fn options() -> Vec<u8> {
    rows_of("-- MySQL dump 10.13\nINSERT INTO `wp_options` VALUES ", ",", |number, dump| {
        let _ = write!(
            dump,
            "({number},'widget_{number}','a:3:{{s:5:\\\"title\\\";s:4:\\\"News\\\";s:3:\\\"url\\\";s:15:\\\"http://old.org/\\\";s:1:\\\"n\\\";i:5;}}','yes')"
        );
    })
}

/// Makes a dump with a statement for each row.
fn rows() -> Vec<u8> {
    rows_of("-- MySQL dump 10.13\n", ";\n", |number, dump| {
        let _ = write!(dump, "INSERT INTO `wp_postmeta` VALUES ({number},{number},'_edit_lock','1700000000:1')");
    })
}

/// Makes a dump like `rows`, but with a list of columns in each statement.
fn rows_with_column_list() -> Vec<u8> {
    rows_of("-- MySQL dump 10.13\n", ";\n", |number, dump| {
        let _ = write!(
            dump,
            "INSERT INTO `wp_postmeta` (`meta_id`, `post_id`, `meta_key`, `meta_value`) VALUES ({number},{number},'_edit_lock','1700000000:1')"
        );
    })
}

fn copy() -> Vec<u8> {
    rows_of("-- PostgreSQL database dump\nCOPY public.t (a, b, c, d) FROM stdin;\n", "\n", |number, dump| {
        let _ = write!(dump, "{number}\twidget_{number}\ta:1:{{s:5:\"title\";s:4:\"News\";}}\\n\t\\N");
    })
}

fn sqlite() -> Vec<u8> {
    rows_of("PRAGMA foreign_keys=OFF;\nCREATE TABLE t (a INTEGER, b TEXT, c TEXT);\n", ";\n", |number, dump| {
        let _ = write!(
            dump,
            "INSERT INTO t VALUES({number},'widget_{number}',replace('it''s\\na line of text\\n','\\n',char(10)))"
        );
    })
}

fn hex() -> Vec<u8> {
    let digits = "53514c69746520".repeat(30);
    rows_of("-- MySQL dump 10.13\nINSERT INTO `t` VALUES ", ",", |number, dump| {
        let _ = write!(dump, "({number},0x{digits},_binary '\\0\\0x')");
    })
}
