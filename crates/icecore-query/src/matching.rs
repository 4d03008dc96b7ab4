//! Regular expressions. Each match becomes a value as soon as it is found, so that its memory is counted.

use crate::memory;
use crate::query_thread;
use crate::run::FilterTypes;
use crate::value::{Error, Key, Members, Text, ValR, Value, key_from_name};
use bstr::ByteSlice;
use jaq_core::Cv;
use jaq_std::ValT as _;
use regex_bites::bytes::{Captures, Regex, RegexBuilder};

/// Maximum memory of a compiled expression.
const MAX_REGEX_SIZE: u64 = 10 << 20;
/// Number of bytes of a text or an expression that count as one step.
const BYTES_PER_STEP: usize = 64;

/// What a function returns for an expression and a text.
#[derive(Clone, Copy)]
pub enum MatchOutput {
    Matches,
    /// The texts between matches.
    Rest,
    Both,
}

/// The meaning of the flags of an expression.
#[derive(Clone, Copy, Default)]
struct Flags {
    is_global: bool,
    ignores_empty: bool,
}

/// Finds the matches of `$re` with `$flags`.
pub fn find_matches(output: MatchOutput, mut cv: Cv<'_, FilterTypes>) -> ValR {
    let (flags, expression) = (cv.0.pop_var(), cv.0.pop_var());
    let (flags, regex) = compile_regex(require_utf8(&expression)?, require_utf8(&flags)?)?;
    let bytes = cv.1.try_as_utf8_bytes()?;
    let names: Vec<_> = regex.capture_names().map(|name| name.map(|name| Text::new(name.as_bytes()))).collect();
    let member_names = ["offset", "length", "string", "name"].map(key_from_name);
    let mut characters = CharacterCounter { text: bytes, offset: 0, count: 0 };
    let mut matches = Vec::new();
    let mut end = 0;
    query_thread::count_steps((bytes.len() / BYTES_PER_STEP) as u64);
    for captures in regex.captures_iter(bytes) {
        query_thread::count_steps(1 + names.len() as u64);
        let Some(full_match) = captures.get(0) else { continue };
        if flags.ignores_empty && full_match.as_bytes().is_empty() {
            continue;
        }
        if !matches!(output, MatchOutput::Matches) {
            reserve_one(&mut matches)?;
            matches.push(cv.1.as_sub_str(bytes.get(end..full_match.start()).unwrap_or_default()));
        }
        end = full_match.end();
        if !matches!(output, MatchOutput::Rest) {
            reserve_one(&mut matches)?;
            matches.push(groups_to_objects(&captures, &names, &member_names, &mut characters, &cv.1));
        }
        if !flags.is_global {
            break;
        }
    }
    if !matches!(output, MatchOutput::Matches) {
        matches.push(cv.1.as_sub_str(bytes.get(end..).unwrap_or_default()));
    }
    Ok(Value::from_items(matches))
}

/// Reserves space for one more value, if there is enough memory.
fn reserve_one(values: &mut Vec<Value>) -> Result<(), Error> {
    if values.len() == values.capacity() {
        let added = values.len().max(4);
        memory::require_bytes(((values.len() + added) * size_of::<Value>()) as u64);
        values.reserve_exact(added);
    }
    Ok(())
}

/// Returns a match and its groups as objects.
fn groups_to_objects(
    captures: &Captures<'_>,
    names: &[Option<Text>],
    [offset, length, string, name]: &[Key; 4],
    characters: &mut CharacterCounter<'_>,
    all: &Value,
) -> Value {
    let groups = captures.iter().zip(names).filter_map(|(group, group_name)| Some((group?, group_name)));
    let objects = groups.map(|(group, group_name)| {
        let number = |count: usize| Value::from(count as isize);
        let mut members = Members::default();
        members.insert(offset.clone(), number(characters.count_before(group.start())));
        members.insert(length.clone(), number(group.as_bytes().chars().count()));
        members.insert(string.clone(), all.as_sub_str(group.as_bytes()));
        if let Some(group_name) = group_name {
            members.insert(name.clone(), Value::Text(group_name.clone()));
        }
        Value::from_members(members)
    });
    objects.collect()
}

fn require_utf8(value: &Value) -> Result<&str, Error> {
    value.try_as_utf8_bytes().and_then(|bytes| std::str::from_utf8(bytes).map_err(Error::str))
}

/// Compiles a regular expression with flags, which are letters such as `g` and `i`.
fn compile_regex(expression: &str, letters: &str) -> Result<(Flags, Regex), Error> {
    let mut builder = RegexBuilder::new(expression);
    let mut flags = Flags::default();
    for letter in letters.chars() {
        match letter {
            'g' => flags.is_global = true,
            'n' => flags.ignores_empty = true,
            'i' => drop(builder.case_insensitive(true)),
            'm' => drop(builder.multi_line(true)),
            's' => drop(builder.dot_matches_new_line(true)),
            'l' => drop(builder.swap_greed(true)),
            'x' => drop(builder.ignore_whitespace(true)),
            'p' => drop(builder.multi_line(true).dot_matches_new_line(true)),
            other => return Err(Error::str(format_args!("invalid regex flag: {other}"))),
        }
    }
    query_thread::count_steps((expression.len() / BYTES_PER_STEP) as u64);
    // Each state of the automaton stores both ends of each group, and repetitions duplicate groups.
    let groups = 1 + expression.matches('(').count() as u64;
    let size_limit = (memory::remaining_bytes() / (4 * groups)).min(MAX_REGEX_SIZE);
    builder.size_limit(usize::try_from(size_limit).unwrap_or(usize::MAX));
    let regex = builder.build().map_err(|error| Error::str(format_args!("invalid regex: {error}")))?;
    Ok((flags, regex))
}

/// Counts the characters before byte positions. It is fast for increasing positions.
struct CharacterCounter<'t> {
    text: &'t [u8],
    offset: usize,
    count: usize,
}

impl CharacterCounter<'_> {
    /// Returns the number of characters before a byte.
    fn count_before(&mut self, offset: usize) -> usize {
        // A group may begin before the position of the previous call.
        if offset < self.offset {
            let skipped = self.text.get(offset..self.offset).unwrap_or_default();
            return self.count - skipped.chars().count();
        }
        self.count += self.text.get(self.offset..offset).unwrap_or_default().chars().count();
        self.offset = offset;
        self.count
    }
}
