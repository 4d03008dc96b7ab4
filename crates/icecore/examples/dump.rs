//! Prints the tape of a file: `cargo run --example dump -- FILE`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let input = std::fs::read(path)?;
    let document = icecore::read(&input)?;
    print!("{document:?}");
    Ok(())
}
