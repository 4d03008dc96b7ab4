//! `--limit depth=N,nodes=N,…`, and numbers of other options.

use icecore::Limits;
use std::ops::Deref;

/// The limits of a command: those of the engine, and those of filters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandLimits {
    limits: Limits,
    /// Maximum number of steps of a filter, if given.
    pub steps: Option<u64>,
    /// Maximum number of bytes that the values of a filter may hold at a time, if given.
    pub memory: Option<u64>,
}

impl Deref for CommandLimits {
    type Target = Limits;

    fn deref(&self) -> &Limits {
        &self.limits
    }
}

/// A limit and its number, such as `depth=100`.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSetting {
    name: String,
    number: u64,
}

/// Parses one of the settings of `--limit`.
pub fn parse_limit(text: &str) -> Result<LimitSetting, String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "use NAME=N, such as depth=100".to_owned())?;
    if !limit_names().any(|known| known == name) {
        return Err(unknown_limit_error(name));
    }
    let number =
        parse_number(value).ok_or_else(|| format!("`{value}` is not a number: use {name}=1000 or {name}=64M"))?;
    let setting = LimitSetting { name: name.to_owned(), number };
    CommandLimits::default().apply(&setting)?;
    Ok(setting)
}

impl CommandLimits {
    /// Returns the default limits with these settings. The last one of a name counts.
    pub fn from_settings(settings: &[LimitSetting]) -> CommandLimits {
        let mut command_limits = CommandLimits::default();
        for setting in settings {
            // `parse_limit` has checked that it can be applied.
            let _ = command_limits.apply(setting);
        }
        command_limits
    }

    fn apply(&mut self, setting: &LimitSetting) -> Result<(), String> {
        match setting.name.as_str() {
            "steps" => self.steps = Some(setting.number),
            "memory" => self.memory = Some(setting.number),
            name => self.limits.set(name, setting.number).map_err(|_| unknown_limit_error(name))?,
        }
        Ok(())
    }
}

fn limit_names() -> impl Iterator<Item = &'static str> {
    Limits::names().chain(["steps", "memory"])
}

/// Returns the error for a limit that does not exist.
fn unknown_limit_error(name: &str) -> String {
    let names: Vec<&str> = limit_names().collect();
    let suggestion = icecore::text::nearest(name, names.iter().copied());
    let suggestion =
        suggestion.map_or_else(|| ". ".to_owned(), |suggestion| format!("; did you mean `{suggestion}`? "));
    format!("there is no limit `{name}`{suggestion}The limits are {}", names.join(", "))
}

/// Parses a size: `64M`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    parse_number(text).ok_or_else(|| "use a size such as 4096, 64K, 16M or 2G".to_owned())
}

/// Returns a parser for a whole number in this range.
pub fn whole_number<T: TryFrom<i64>>(min_value: i64, max_value: i64) -> impl Fn(&str) -> Result<T, String> + Clone {
    /// The message does not mention a larger maximum.
    const MAX_MENTIONED: i64 = 1_000_000;
    move |text| {
        let number = text.parse().ok().filter(|number| (min_value..=max_value).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match (min_value, max_value) {
            (..0, _) => "use a whole number".to_owned(),
            (_, ..=MAX_MENTIONED) => format!("use a whole number from {min_value} to {max_value}"),
            _ => format!("use a whole number from {min_value} on"),
        })
    }
}

/// Parses the size of a window, between 1K and 1G.
pub fn parse_window_size(text: &str) -> Result<u64, String> {
    const MIN_WINDOW: u64 = 1 << 10;
    const MAX_WINDOW: u64 = 1 << 30;
    let size = parse_size(text)?;
    if (MIN_WINDOW..=MAX_WINDOW).contains(&size) { Ok(size) } else { Err("use a size between 1K and 1G".to_owned()) }
}

/// Parses the number of levels to show.
pub fn parse_levels(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "use a number of levels, such as --depth 2: values, and what is in them".to_owned())
}

/// Parses the number of items to show.
pub fn parse_item_count(text: &str) -> Result<u64, String> {
    parse_number(text).ok_or_else(|| "use a number of items, such as --items 10 for the first ten".to_owned())
}

fn parse_number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last()? {
        (index, 'k' | 'K') => (&text[..index], 10),
        (index, 'm' | 'M') => (&text[..index], 20),
        (index, 'g' | 'G') => (&text[..index], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed_by_name() {
        let parse = |text: &str| {
            let settings: Result<Vec<LimitSetting>, String> = text.split(',').map(parse_limit).collect();
            settings.map(|settings| CommandLimits::from_settings(&settings))
        };
        let limits = parse("depth=20000,string=4K,depth=7").unwrap();
        assert_eq!((limits.depth, limits.string, limits.ratio), (7, 4096, Limits::default().ratio));
        let command_limits = parse("steps=1M,memory=2G").unwrap();
        assert_eq!((command_limits.steps, command_limits.memory), (Some(1 << 20), Some(2 << 30)));
        assert!(parse("depth=3,1K").unwrap_err().contains("use NAME=N"));
        assert_eq!(parse_item_count("1K"), Ok(1024));
        assert!(
            parse_limit("dept=1")
                .unwrap_err()
                .starts_with("there is no limit `dept`; did you mean `depth`? The limits are")
        );
        assert_eq!(whole_number::<u8>(1, 7)("7"), Ok(7));
        assert_eq!(whole_number::<u8>(1, 7)("x"), Err("use a whole number from 1 to 7".to_owned()));
        assert_eq!(whole_number::<u64>(0, i64::MAX)("-1"), Err("use a whole number from 0 on".to_owned()));
        for wrong in ["depth", "depth=x", "deep=1", "string=99999999999G"] {
            assert!(parse_limit(wrong).is_err(), "{wrong}");
        }
    }
}
