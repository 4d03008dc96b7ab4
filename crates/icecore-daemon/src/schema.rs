//! Compiled JSON Schemas of queues.

use crate::threads::lock_ignoring_poison;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The last known schemas of queues. They may be out of date. So when a job is stored, the database compares the
/// schema, and reports the current one if it differs.
#[derive(Default)]
pub struct Schemas(Mutex<HashMap<String, Arc<Checker>>>);

impl Schemas {
    /// Returns the checker for the payloads of a queue.
    pub fn find_checker(&self, queue: &str) -> Option<Arc<Checker>> {
        lock_ignoring_poison(&self.0).get(queue).cloned()
    }

    /// Sets or removes the schema of a queue.
    pub fn set_checker(&self, queue: &str, checker: Option<Arc<Checker>>) {
        let mut checkers = lock_ignoring_poison(&self.0);
        match checker {
            Some(checker) => drop(checkers.insert(queue.to_owned(), checker)),
            None => drop(checkers.remove(queue)),
        }
    }
}

/// A compiled schema.
pub struct Checker {
    /// Text of the schema, as in the database.
    pub text: Arc<str>,
    /// Whether checking a short payload is fast, whatever it contains.
    #[cfg_attr(not(feature = "schema"), allow(dead_code, reason = "a build without schemas has no checkers"))]
    pub is_light: bool,
    #[cfg(feature = "schema")]
    validator: jsonschema::Validator,
}

#[cfg(not(feature = "schema"))]
mod without_validator {
    use super::Checker;
    use crate::failure::Failure;

    impl Checker {
        pub fn new(_: &str) -> Result<Checker, Failure> {
            let message = "this build can't check schemas, so it does not accept jobs for queues with a schema";
            Err(Failure::new(axum::http::StatusCode::NOT_IMPLEMENTED, "schema", message))
        }

        pub fn check(&self, _: &[u8]) -> Result<(), Failure> {
            Ok(())
        }
    }
}

#[cfg(feature = "schema")]
mod with_validator {
    use super::Checker;
    use crate::failure::{ErrorDetail, Failure};
    use jsonschema::error::ValidationErrorKind;
    use jsonschema::{PatternOptions, ValidationError, Validator};
    use serde_json::Value;

    /// Maximum number of errors reported for one payload.
    const MAX_ERRORS: usize = 10;
    /// Maximum length of a message, which may quote the payload.
    const MAX_MESSAGE_LEN: usize = 300;
    /// Maximum length of a light schema in bytes.
    const MAX_LIGHT_LEN: usize = 4 << 10;
    /// Maximum size of a light pattern in bytes, when compiled.
    const MAX_LIGHT_PATTERN_SIZE: usize = 64 << 10;
    /// Words that may make a check much slower than linear. They are references, and comparisons of all items with
    /// each other. `\u` is included, because a keyword may be spelled with escapes.
    const HEAVY_WORDS: [&str; 6] = ["$ref", "Ref", "uniqueItems", "contains", "format", "\\u"];

    /// Returns a validator for a schema, and whether its time is linear in the payload.
    fn compile_validator(text: &str, schema: &Value) -> Result<(Validator, bool), Box<ValidationError<'static>>> {
        if text.len() <= MAX_LIGHT_LEN && !HEAVY_WORDS.iter().any(|word| text.contains(word)) {
            // These patterns match in linear time, so they do not support look-around.
            let patterns = PatternOptions::regex().size_limit(MAX_LIGHT_PATTERN_SIZE);
            if let Ok(validator) = jsonschema::options().with_pattern_options(patterns).build(schema) {
                return Ok((validator, true));
            }
        }
        Ok((jsonschema::options().build(schema)?, false))
    }

    impl Checker {
        /// Compiles a schema. Schemas elsewhere that it refers to are not fetched.
        pub fn new(text: &str) -> Result<Checker, Failure> {
            let schema: Value = serde_json::from_str(text)
                .map_err(|error| Failure::invalid_request("schema", format!("the schema is not JSON: {error}")))?;
            let (validator, is_light) = compile_validator(text, &schema).map_err(|error| {
                let mut failure =
                    Failure::invalid_request("schema", format!("invalid schema: {}", shorten_message(&error)));
                failure.body.path = Some(error_path(&error));
                failure
            })?;
            Ok(Checker { text: text.into(), is_light, validator })
        }

        /// Checks a payload.
        pub fn check(&self, json: &[u8]) -> Result<(), Failure> {
            let value: Value = serde_json::from_slice(json).map_err(|error| {
                Failure::invalid_request("schema", format!("the payload can't be checked: {error}"))
            })?;
            let mut errors: Vec<ErrorDetail> = (self.validator.iter_errors(&value).take(MAX_ERRORS))
                .map(|error| ErrorDetail { path: error_path(&error), message: shorten_message(&error) })
                .collect();
            let Some(first) = errors.first() else { return Ok(()) };
            let mut failure = Failure::invalid_request("schema", first.message.clone());
            failure.body.path = Some(first.path.clone());
            if errors.len() > 1 {
                failure.body.errors = std::mem::take(&mut errors);
            }
            Err(failure)
        }
    }

    fn shorten_message(error: &ValidationError<'_>) -> String {
        let mut text = error.to_string();
        if text.len() > MAX_MESSAGE_LEN {
            let end = (0..=MAX_MESSAGE_LEN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        text
    }

    /// Returns the path of an error, such as `$.user.id`. It ends with the missing or unexpected property.
    fn error_path(error: &ValidationError<'_>) -> String {
        let mut path = "$".to_owned();
        for part in error.instance_path().as_str().split('/').skip(1) {
            push_path_step(&mut path, &part.replace("~1", "/").replace("~0", "~"));
        }
        match error.kind() {
            ValidationErrorKind::Required { property: Value::String(name) } => push_path_step(&mut path, name),
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                if let Some(name) = unexpected.first() {
                    push_path_step(&mut path, name);
                }
            }
            _ => {}
        }
        path
    }

    fn push_path_step(path: &mut String, name: &str) {
        let is_word = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        if is_word(name) {
            path.push('.');
            path.push_str(name);
        } else if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str(&format!("[{name}]"));
        } else {
            path.push_str(&format!("[{name:?}]"));
        }
    }
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::Checker;

    #[test]
    fn schemas_that_may_take_long_are_not_light() {
        for (schema, is_light) in [
            (r#"{"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}"#, true),
            (r#"{"pattern": "^[0-9a-f]{32}$", "maxLength": 40}"#, true),
            // Patterns with look-behind or look-ahead, or large ones.
            (r#"{"pattern": "^(a+)+\\1$"}"#, false),
            (r#"{"pattern": "^(?=.*a)(a+)+$"}"#, false),
            (r#"{"pattern": "((a{50}){50}){5}"}"#, false),
            (r##"{"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$dynamicRef": "#"}}}}"##, false),
            (r#"{"uniqueItems": true}"#, false),
            (r#"{"unique\u0049tems": true}"#, false),
            (r#"{"contains": {"const": 1}}"#, false),
        ] {
            let checker = Checker::new(schema).unwrap_or_else(|failure| panic!("{schema}: {failure:?}"));
            assert_eq!(checker.is_light, is_light, "{schema}");
        }
        let many = format!(r#"{{"enum": {:?}}}"#, (0..2_000).collect::<Vec<u32>>());
        assert!(!Checker::new(&many).map(|checker| checker.is_light).unwrap_or_else(|failure| panic!("{failure:?}")));
    }
}
