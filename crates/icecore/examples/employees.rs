//! Writes a list of employees as a Perl program would freeze it:
//! `cargo run --release --example employees -- 1000000 storable employees.storable`.

use icecore::{Builder, Limits, Stage};
use std::io::{Error, ErrorKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [count, stage, path] = words.as_slice() else {
        return Err(Error::new(ErrorKind::InvalidInput, "give a count, a format and a file").into());
    };
    let mut b = Builder::new();
    b.begin_array();
    for id in 1..=count.parse::<i64>()? {
        b.begin_map();
        b.bytes_key("id").int(id);
        b.bytes_key("name").bytes(format!("Employee_{id}"));
        b.bytes_key("age").int(20 + id % 50);
        b.end();
    }
    b.end();
    let mut bytes = Vec::new();
    icecore::write_to(&b.finish()?, &Stage::parse(stage)?, &Limits::default(), &mut bytes)?;
    std::fs::write(path, bytes)?;
    Ok(())
}
