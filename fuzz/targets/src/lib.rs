//! The checks of the fuzz targets, as plain functions of bytes.
//!
//! libFuzzer (`fuzz_targets/`) and the driver (`driver/`), which needs nothing but Rust, run the same functions. Each
//! panics if a property does not hold.

mod alike;
mod alter;
pub mod check;
mod columns;
pub mod contest;
mod convert;
mod diff;
pub mod differ;
mod differ_php;
mod differ_ruby;
mod json;
pub mod mutate;
pub mod oracle;
mod others;
mod pack;
pub mod perl;
mod rewrite;
mod roundtrip;
pub mod seeds;
mod select;
mod sereal;
mod sql;
mod storable;
mod wrapped;

pub use alike::alike;
pub use alter::alter;
pub use columns::columns;
pub use convert::convert;
pub use diff::diff;
pub use json::{json_read, json_typed};
pub use others::{dumper_read, igbinary_read, marshal_read, php_read, php_session_read, var_export_read};
pub use pack::{join_read, pack_read, pack_template};
pub use rewrite::rewrite;
pub use select::select;
pub use sereal::sereal_read;
pub use sql::sql_read;
pub use storable::storable_read;
pub use wrapped::wrapped;

/// A target with its name.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// The function to run.
    pub run: fn(&[u8]),
    /// The files of `fixtures/` whose blobs are the seeds.
    pub seeds: &'static [&'static str],
}

/// Seeds of the formats whose documents are changed in place.
const EDITABLE_SEEDS: &[&str] = &[
    "php.jsonl",
    "php-session.jsonl",
    "json",
    "var-export.jsonl",
    "dumper-read.jsonl",
    "igbinary.jsonl",
    "marshal.jsonl",
    "storable.jsonl",
    "sereal.jsonl",
];

/// All targets.
pub static TARGETS: &[Target] = &[
    Target { name: "storable_read", run: storable_read, seeds: &["storable.jsonl", "storable-arch.jsonl"] },
    Target { name: "sereal_read", run: sereal_read, seeds: &["sereal.jsonl"] },
    Target { name: "php_read", run: php_read, seeds: &["php.jsonl", "php-mutated.jsonl"] },
    Target { name: "php_session_read", run: php_session_read, seeds: &["php-session.jsonl"] },
    Target { name: "var_export_read", run: var_export_read, seeds: &["var-export.jsonl"] },
    Target { name: "dumper_read", run: dumper_read, seeds: &["dumper-read.jsonl"] },
    Target { name: "igbinary_read", run: igbinary_read, seeds: &["igbinary.jsonl"] },
    Target { name: "marshal_read", run: marshal_read, seeds: &["marshal.jsonl", "marshal-known.jsonl"] },
    Target { name: "pack_read", run: pack_read, seeds: &["pack.jsonl"] },
    Target { name: "pack_template", run: pack_template, seeds: &["pack.jsonl"] },
    Target { name: "join_read", run: join_read, seeds: &["pack.jsonl"] },
    Target { name: "json_read", run: json_read, seeds: &["json", "expected.jsonl"] },
    Target { name: "sql_read", run: sql_read, seeds: &["sql"] },
    Target {
        name: "json_typed",
        run: json_typed,
        seeds: &["expected.jsonl", "storable.jsonl", "sereal.jsonl", "storable-arch.jsonl"],
    },
    Target {
        name: "diff",
        run: diff,
        seeds: &[
            "expected.jsonl",
            "storable.jsonl",
            "sereal.jsonl",
            "php.jsonl",
            "marshal.jsonl",
            "igbinary.jsonl",
            "json",
        ],
    },
    Target {
        name: "convert",
        run: convert,
        seeds: &[
            "storable.jsonl",
            "storable-arch.jsonl",
            "sereal.jsonl",
            "expected.jsonl",
            "json",
            "marshal-known.jsonl",
            "deep.jsonl",
            "dumper-read.jsonl",
        ],
    },
    Target { name: "wrapped", run: wrapped, seeds: EDITABLE_SEEDS },
    Target { name: "rewrite", run: rewrite, seeds: EDITABLE_SEEDS },
    Target { name: "alter", run: alter, seeds: EDITABLE_SEEDS },
    Target { name: "alike", run: alike, seeds: EDITABLE_SEEDS },
    Target { name: "columns", run: columns, seeds: EDITABLE_SEEDS },
    Target {
        name: "select",
        run: select,
        seeds: &["storable.jsonl", "sereal.jsonl", "php.jsonl", "igbinary.jsonl", "marshal.jsonl", "json"],
    },
];

/// Returns a number that depends only on the bytes, for choosing options.
pub fn choice_from_bytes(data: &[u8]) -> u32 {
    data.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)) >> 7
}
