//! The query string of a request.

use crate::failure::Failure;
use icecore_store::time;
use std::str::FromStr;
use std::time::Duration;

/// Query parameters of a request.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the parameters. A name that is not in `allowed` is an error, because it is probably mistyped.
    pub fn parse(text: &str, allowed: &[&str]) -> Result<Query, Failure> {
        let mut pairs = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(name), Some(value)) = (decode_form_text(name), decode_form_text(value)) else {
                return Err(Failure::invalid_request("parameter", "a percent-encoded parameter is not valid UTF-8"));
            };
            if !allowed.contains(&&*name) {
                let list = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
                return Err(Failure::invalid_request(
                    "parameter",
                    format!("unknown parameter {name:?}; allowed parameters: {list}"),
                ));
            }
            pairs.push((name, value));
        }
        Ok(Query(pairs))
    }

    /// Returns the last value of a parameter, or `None` if it is missing or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(parameter, _)| parameter == name);
        found.map(|(_, value)| &**value).filter(|value| !value.is_empty())
    }

    /// Returns the value of a numeric parameter, or `None` if it is missing or empty.
    pub fn parse_number<N: FromStr>(&self, name: &str) -> Result<Option<N>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().map_err(|_| {
            Failure::invalid_request("parameter", format!("{name} must be an integer in its range, not {text:?}"))
        })?;
        Ok(Some(number))
    }

    /// Returns the value of a duration parameter, or `None` if it is missing or empty.
    pub fn parse_duration(&self, name: &str) -> Result<Option<Duration>, Failure> {
        self.get(name).map(|text| parse_duration(name, text)).transpose()
    }
}

/// Parses a duration. The error message contains `name`, the name of the parameter.
pub fn parse_duration(name: &str, text: &str) -> Result<Duration, Failure> {
    time::parse_duration(text).map_err(|error| Failure::invalid_request("parameter", format!("{name}: {error}")))
}

/// Decodes `+` and `%XX`. Returns `None` if a `%` is not followed by two digits, or if the result is not UTF-8.
fn decode_form_text(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16));
                (digit()? << 4 | digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_parameters_are_parsed_and_checked() {
        let query = Query::parse("a=1&b=x%20y+z%C3%A9&&c", &["a", "b", "c"]).expect("a query");
        assert_eq!((query.get("a"), query.get("b"), query.get("c")), (Some("1"), Some("x y zé"), None));
        assert_eq!(query.parse_number::<u8>("a").expect("a number"), Some(1));
        assert!(query.parse_number::<u8>("b").is_err() && query.parse_duration("b").is_err());
        for text in ["a=%", "a=%4", "a=%+f", "a=%zz", "a=%ff", "d=1"] {
            assert!(Query::parse(text, &["a"]).is_err(), "{text}");
        }
    }
}
