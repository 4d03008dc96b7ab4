//! `--limit depth=N,nodes=N,…`

use icecore::Limits;

/// Reads the value of `--limit`.
pub fn parse(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for setting in text.split(',').filter(|setting| !setting.is_empty()) {
        let (name, value) = setting.split_once('=').ok_or_else(|| format!("`{setting}` is not NAME=N"))?;
        let number = number(value).ok_or_else(|| format!("`{value}` is no number"))?;
        let small = || u32::try_from(number).map_err(|_| format!("{name} can be at most {}", u32::MAX));
        match name {
            "depth" => limits.depth = small()?,
            "nodes" => limits.nodes = small()?.min(u32::MAX - 1),
            "string" => limits.string = number,
            "decompressed" => limits.decompressed = number,
            "ratio" => limits.ratio = number,
            "expansion" => limits.expansion = number,
            "digits" => limits.digits = small()?,
            _ => {
                return Err(format!(
                    "`{name}` is no limit: they are depth, nodes, string, decompressed, ratio, expansion and digits"
                ));
            }
        }
    }
    Ok(limits)
}

/// Reads a size: `64M`.
pub fn size(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| format!("`{text}` is no size: they are written 4096, 64K, 16M or 2G"))
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
        assert_eq!(parse("").unwrap(), Limits::default());
        for wrong in ["depth", "depth=x", "deep=1", "depth=5000000000", "string=99999999999G"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
