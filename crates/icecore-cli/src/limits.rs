//! `--limit depth=N,nodes=N,…`, and numbers of other options.

use icecore::Limits;
use std::ops::Deref;

/// The value of `--limit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    limits: Limits,
    /// Steps of a filter and bytes that it may hold, if given.
    pub steps: Option<u64>,
    pub memory: Option<u64>,
}

impl Deref for Bounds {
    type Target = Limits;

    fn deref(&self) -> &Limits {
        &self.limits
    }
}

/// Parses the value of `--limit`.
pub fn parse(text: &str) -> Result<Bounds, String> {
    let mut bounds = Bounds::default();
    for setting in text.split(',').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some((name, value)) => {
                let number = number(value).ok_or_else(|| format!("`{value}` is not a number"))?;
                match name {
                    "steps" => bounds.steps = Some(number),
                    "memory" => bounds.memory = Some(number),
                    _ => bounds.limits.set(name, number).map_err(|error| error.to_string())?,
                }
            }
            None if number(setting).is_some() => {
                return Err(format!("bounds are NAME=N, such as depth=100, not `{setting}`"));
            }
            None => return Err(format!("`{setting}` is not NAME=N")),
        }
    }
    Ok(bounds)
}

/// Parses a size: `64M`.
pub fn size(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("invalid size `{text}`: use 4096, 64K, 16M or 2G"))
}

/// Parses the size of a window, between 1K and 1G.
pub fn window(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 10;
    const MOST: u64 = 1 << 30;
    let size = size(text)?;
    if (LEAST..=MOST).contains(&size) { Ok(size) } else { Err(format!("`{text}` is not between 1K and 1G")) }
}

/// Parses the number of levels to show.
pub fn levels(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of levels: --depth 2 shows values and their items"))
}

/// Parses the number of items to show.
pub fn items(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("`{text}` is not a number of items: --items 10 shows the first ten"))
}

fn number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_and_checked() {
        let limits = parse("depth=20000,string=4K").unwrap();
        assert_eq!((limits.depth, limits.string, limits.ratio), (20_000, 4096, Limits::default().ratio));
        let bounds = parse("steps=1M,memory=2G").unwrap();
        assert_eq!((bounds.steps, bounds.memory), (Some(1 << 20), Some(2 << 30)));
        assert_eq!(parse("").unwrap(), Bounds::default());
        assert!(parse("depth=3,1K").unwrap_err().contains("not `1K`"));
        assert_eq!(items("1K"), Ok(1024));
        for wrong in ["depth", "depth=x", "deep=1", "string=99999999999G"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
