//! Parses the text of fields.

use super::words;
use crate::error::Error;
use crate::{FILLED_WITH, PATH_METADATA};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use std::sync::Arc;

/// Maximum nesting depth of types.
const MAX_DEPTH: usize = 64;
/// The name of a field without a name.
const UNNAMED_FIELD: &str = "value";
/// The types of virtual fields, whose values are computed.
const VIRTUAL_TYPES: [&str; 3] = ["class", "json", "rest"];

/// Parses a schema: a struct of its fields, or a single type as a field with the name `value`.
/// See the [module](super).
///
/// ```
/// use arrow_schema::DataType;
/// use icecore_columns::schema;
/// let text = "id bigint not null, tags varchar[], price decimal(10, 2), city utf8 at '$.address.city'";
/// let DataType::Struct(fields) = schema::parse(text)?.data_type().clone() else { panic!() };
/// assert_eq!(fields[0].data_type(), &DataType::Int64);
/// assert_eq!(fields[1].data_type(), &DataType::new_list(DataType::Utf8, true));
/// assert_eq!(schema::parse("list<utf8>")?.data_type(), fields[1].data_type());
/// let error = schema::parse("id int65").unwrap_err();
/// assert_eq!(error.to_string(), r#"invalid schema at byte 3: expected a type such as int64, utf8 or list<utf8>, not "int65""#);
/// # Ok::<(), icecore_columns::Error>(())
/// ```
///
/// # Errors
/// [`Error::Schema`], with the offset in the text.
pub fn parse(text: &str) -> Result<Field, Error> {
    let mut parser = Parser { text, offset: 0 };
    let field = match parser.is_single_type() {
        true => parser.parse_value(UNNAMED_FIELD, 0)?,
        false => Field::new(UNNAMED_FIELD, DataType::Struct(parser.parse_fields(0, None)?), true),
    };
    parser.expect_end()?;
    Ok(field)
}

struct Parser<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Parser<'t> {
    /// Returns `true` if the text is a type, and not a name followed by its type.
    fn is_single_type(&mut self) -> bool {
        let word = self.read_word();
        self.skip_blanks();
        let is_alone = self.rest().is_empty() || self.rest().starts_with(['<', '(', '[']);
        self.offset = 0;
        word.is_some() && is_alone
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        self.offset += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips this character, if it is next.
    fn accept_char(&mut self, letter: char) -> bool {
        self.skip_blanks();
        let is_next = self.rest().starts_with(letter);
        self.offset += if is_next { letter.len_utf8() } else { 0 };
        is_next
    }

    fn expect_char(&mut self, letter: char) -> Result<(), Error> {
        if self.accept_char(letter) { Ok(()) } else { Err(self.expected_error(format!("expected {letter:?}"))) }
    }

    fn read_word(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let rest = self.rest();
        let ends_word = |letter: char| letter.is_whitespace() || ",:<>()[]\"'`".contains(letter);
        let len = rest.find(ends_word).unwrap_or(rest.len());
        self.offset += len;
        rest.get(..len).filter(|word| !word.is_empty())
    }

    /// Skips these words, if they are next.
    fn accept_words(&mut self, words: &[&str]) -> bool {
        let start = self.offset;
        let is_next = words.iter().all(|word| self.read_word().is_some_and(|found| found.eq_ignore_ascii_case(word)));
        if !is_next {
            self.offset = start;
        }
        is_next
    }

    /// Parses a quoted text, in which quotes are doubled.
    fn read_quoted(&mut self, quotes: &str) -> Option<String> {
        self.skip_blanks();
        let quote = self.rest().chars().next().filter(|letter| quotes.contains(*letter))?;
        let mut text = String::new();
        let mut from = self.offset + quote.len_utf8();
        loop {
            let rest = self.text.get(from..)?;
            let end = rest.find(quote)?;
            text.push_str(&rest[..end]);
            from += end + quote.len_utf8();
            if !self.text[from..].starts_with(quote) {
                self.offset = from;
                return Some(text);
            }
            text.push(quote);
            from += quote.len_utf8();
        }
    }

    /// Skips an opening bracket. Returns the matching closing one.
    fn accept_opening(&mut self) -> Option<char> {
        match () {
            () if self.accept_char('<') => Some('>'),
            () if self.accept_char('(') => Some(')'),
            () => None,
        }
    }

    fn expect_opening(&mut self) -> Result<char, Error> {
        self.accept_opening().ok_or_else(|| self.expected_error("expected \"<\"".to_owned()))
    }

    fn expect_end(&mut self) -> Result<(), Error> {
        self.skip_blanks();
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected_error("expected a comma or the end".to_owned())) }
    }

    /// Parses fields with commas between them, up to the closing sign or, without one, to the end.
    fn parse_fields(&mut self, depth: usize, close: Option<char>) -> Result<Fields, Error> {
        let mut fields: Vec<Field> = Vec::new();
        self.skip_blanks();
        if close.map_or(self.rest().is_empty(), |close| self.accept_char(close)) {
            return Ok(Fields::empty());
        }
        loop {
            self.skip_blanks();
            let start = self.offset;
            let field = self.parse_field(depth)?;
            if fields.iter().any(|earlier| earlier.name() == field.name()) {
                self.offset = start;
                return Err(self.expected_error(format!("expected a name other than the earlier {:?}", field.name())));
            }
            fields.push(field);
            match close {
                _ if self.accept_char(',') => {}
                Some(close) => {
                    self.expect_char(close)?;
                    break;
                }
                None => break,
            }
        }
        Ok(fields.into())
    }

    fn parse_field(&mut self, depth: usize) -> Result<Field, Error> {
        let name = match self.read_quoted("\"`") {
            Some(name) => name,
            None => self
                .read_word()
                .ok_or_else(|| self.expected_error("expected the name of a field".to_owned()))?
                .to_owned(),
        };
        self.accept_char(':');
        let mut field = self.parse_value(&name, depth)?;
        if self.accept_words(&["at"]) {
            let path =
                self.read_quoted("\"'").ok_or_else(|| self.expected_error("expected a path in quotes".to_owned()))?;
            let mut metadata = field.metadata().clone();
            metadata.insert(PATH_METADATA.to_owned(), path);
            field.set_metadata(metadata);
        }
        Ok(field)
    }

    /// Parses a type, and `not null` if it follows.
    fn parse_value(&mut self, name: &str, depth: usize) -> Result<Field, Error> {
        if depth > MAX_DEPTH {
            return Err(self.expected_error(format!("expected at most {MAX_DEPTH} nested types")));
        }
        self.skip_blanks();
        let start = self.offset;
        let word = self.read_word().unwrap_or_default().to_ascii_lowercase();
        let mut field = if VIRTUAL_TYPES.contains(&word.as_str()) {
            Field::new(name, DataType::Utf8, true).with_metadata([(FILLED_WITH.to_owned(), word)].into())
        } else {
            Field::new(name, self.parse_type(&word, start, depth)?, true)
        };
        loop {
            let before = self.offset;
            if !(self.accept_char('[') && self.accept_char(']')) {
                self.offset = before;
                break;
            }
            let item = field.with_name("item");
            field = Field::new(name, DataType::List(Arc::new(item)), true);
        }
        let is_nullable = !self.accept_words(&["not", "null"]);
        Ok(field.with_nullable(is_nullable))
    }

    /// Parses the rest of a type. It begins with this word at `start`.
    fn parse_type(&mut self, word: &str, start: usize, depth: usize) -> Result<DataType, Error> {
        Ok(match word {
            "list" | "array" | "large_list" => {
                let close = self.expect_opening()?;
                let item = Arc::new(self.parse_value("item", depth + 1)?);
                self.expect_char(close)?;
                if word == "large_list" { DataType::LargeList(item) } else { DataType::List(item) }
            }
            "map" => {
                let close = self.expect_opening()?;
                let key = self.parse_value("key", depth + 1)?.with_nullable(false);
                self.expect_char(',')?;
                let value = self.parse_value("value", depth + 1)?;
                self.expect_char(close)?;
                let entries = DataType::Struct(vec![key, value].into());
                DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
            }
            "struct" | "row" | "record" => {
                let close = self.expect_opening()?;
                DataType::Struct(self.parse_fields(depth + 1, Some(close))?)
            }
            "decimal" | "decimal128" | "numeric" => self.parse_decimal()?,
            "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            "timestamp" | "datetime" => self.parse_timestamp()?,
            "varchar" => {
                if self.accept_char('(') {
                    self.parse_number::<u32>()?;
                    self.expect_char(')')?;
                }
                DataType::Utf8
            }
            _ => match words::find_plain_type(word) {
                Some(data_type) => data_type,
                None => {
                    self.offset = start;
                    return Err(self.expected_error("expected a type such as int64, utf8 or list<utf8>".to_owned()));
                }
            },
        })
    }

    fn parse_number<N: std::str::FromStr>(&mut self) -> Result<N, Error> {
        self.skip_blanks();
        let start = self.offset;
        let number = self.read_word().and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            self.offset = start;
            self.expected_error("expected a number".to_owned())
        })
    }

    fn parse_decimal(&mut self) -> Result<DataType, Error> {
        let Some(close) = self.accept_opening() else { return Ok(DataType::Decimal128(38, 10)) };
        let start = self.offset;
        let digits = self.parse_number()?;
        let scale = if self.accept_char(',') { self.parse_number()? } else { 0 };
        self.expect_char(close)?;
        match digits {
            1..=38 if (0..=digits as i8).contains(&scale) => Ok(DataType::Decimal128(digits, scale)),
            _ => {
                self.offset = start;
                Err(self.expected_error("1 to 38 digits, and not more of them after the point, are needed".to_owned()))
            }
        }
    }

    fn parse_timestamp(&mut self) -> Result<DataType, Error> {
        let before = self.offset;
        if !self.accept_char('[') || self.accept_char(']') {
            self.offset = before;
            return Ok(DataType::Timestamp(TimeUnit::Microsecond, None));
        }
        let unit = self.read_word().and_then(words::parse_unit);
        let unit = unit.ok_or_else(|| self.expected_error("expected a unit: s, ms, us or ns".to_owned()))?;
        let mut zone = None;
        if self.accept_char(',') {
            self.skip_blanks();
            let len = self.rest().find(']').unwrap_or(0);
            let text = self.rest()[..len].trim_end();
            self.offset += len;
            if text.is_empty() {
                return Err(self.expected_error("expected a time zone such as UTC or +02:00".to_owned()));
            }
            zone = Some(text.into());
        }
        self.expect_char(']')?;
        Ok(DataType::Timestamp(unit, zone))
    }

    #[cold]
    fn expected_error(&self, expected: String) -> Error {
        const MAX_SHOWN_CHARS: usize = 20;
        let head: String = self.rest().trim_start().chars().take(MAX_SHOWN_CHARS).collect();
        let found = if head.is_empty() { "the end".to_owned() } else { format!("{head:?}") };
        Error::Schema { offset: self.offset, expected, found }
    }
}
