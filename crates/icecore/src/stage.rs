//! Stages: `gzip/sereal:compress=zstd,level=3`.

use crate::document::Metadata;
use crate::error::{Error, ErrorKind};
use crate::format::{self, Format};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use crate::suggest::nearest;
use crate::wrap::{self, Unwrapped, Wrapper, WrapperEvidence};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A format with its options, and its wrappers.
///
/// Syntax: `NAME[:option[=value],…]`, with wrappers before it, outermost first, each followed by `/`. A value that
/// contains `/ , : =` or blanks is quoted: single quotes have no escapes, double quotes have JSON's escapes.
///
/// ```
/// let stage = icecore::Stage::parse("sereal:compress=zstd,level=3")?;
/// assert_eq!(stage.format().name, "sereal");
/// assert_eq!(stage.settings().number("level"), Some(3));
/// let stage = icecore::Stage::parse("slashes/json")?;
/// assert_eq!(stage.wrappers()[0].wrapper().name, "slashes");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// With wrappers, and the properties that they store in addition to the content:
///
/// ```
/// use icecore::{Limits, Stage};
/// let stage = Stage::parse("laravel-cache:expires=1770000000/php")?;
/// assert_eq!(stage.wrappers()[0].wrapper().name, "laravel-cache");
/// let bytes = stage.wrap(b"i:1;".to_vec())?;
/// assert_eq!(bytes, b"1770000000i:1;");
/// let mut limits = Limits::default();
/// let inside = stage.unwrap_within(&bytes, &mut limits)?;
/// let properties: Vec<_> = inside.metadata.iter().map(|property| (property.option, &*property.value)).collect();
/// assert_eq!(properties, [("expires", "1770000000")]);
/// // Another stage writes the properties again, except for those that it has no place for.
/// let (again, lost) = Stage::parse("laravel-cache/php")?.wrap_with(b"i:2;".to_vec(), &inside.metadata)?;
/// assert_eq!((again, lost.len()), (b"1770000000i:2;".to_vec(), 0));
/// assert_eq!(stage.layer(), Some(stage.wrappers()[0].wrapper().layer));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stage {
    wrappers: Vec<Wrap>,
    format: &'static Format,
    settings: Settings,
}

/// A wrapper with its options.
#[derive(Clone, Debug)]
pub struct Wrap {
    wrapper: &'static Wrapper,
    settings: Settings,
}

impl Wrap {
    /// Returns the wrapper.
    pub fn wrapper(&self) -> &'static Wrapper {
        self.wrapper
    }

    /// Its options.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Stage {
    /// Returns a stage of this format without options.
    pub fn of(format: &'static Format) -> Stage {
        Stage { wrappers: Vec::new(), format, settings: Settings::new() }
    }

    /// Parses a stage.
    ///
    /// # Errors
    /// Of kind `Usage`, if the syntax is wrong, or the format or an option is unknown.
    pub fn parse(text: &str) -> Result<Stage, Error> {
        let mut stages = parse_path(text)
            .map_err(|error| if formats_with_alias(text).is_empty() { error } else { unknown_format_error(text) })?;
        let raw = stages.pop().ok_or_else(|| unknown_format_error(text))?;
        if let Some(first) = stages.first().filter(|first| format::by_name(&first.name).is_some())
            && wrap::by_name(&raw.name).is_some()
        {
            return Err(wrapper_after_format_error(&raw.name, &first.name));
        }
        let mut stage = Stage::from_raw(raw)?;
        for raw in stages {
            let wrapper = wrap::by_name(&raw.name).ok_or_else(|| unknown_wrapper_error(&raw.name))?;
            let mut settings = Settings::new();
            for (name, value) in raw.into_options(wrapper.options) {
                settings.set(wrapper.options, wrapper.name, &name, value.as_deref())?;
            }
            stage.wrappers.push(Wrap { wrapper, settings });
        }
        Ok(stage)
    }

    fn from_raw(raw: RawStage) -> Result<Stage, Error> {
        let format = format::by_name(&raw.name).ok_or_else(|| unknown_format_error(&raw.name))?;
        let mut stage = Stage::of(format);
        for (name, value) in raw.into_options(format.options) {
            stage.set(&name, value.as_deref())?;
        }
        Ok(stage)
    }

    /// Sets an option; the value is used verbatim. An option that the format does not have is that of the innermost
    /// wrapper with such an option.
    ///
    /// ```
    /// use icecore::Stage;
    /// let mut stage = Stage::parse("rails-signed/json")?;
    /// stage.set("key", Some("secret"))?;
    /// assert_eq!(stage.to_string(), "rails-signed:key=secret/json");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Usage`, if there is no such option or the value does not fit.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Error> {
        let is_option = |options: &[OptionSpec]| options.iter().any(|option| option.name == name);
        if !is_option(self.format.options)
            && let Some(wrap) = self.wrappers.iter_mut().rev().find(|wrap| is_option(wrap.wrapper.options))
        {
            return wrap.settings.set(wrap.wrapper.options, wrap.wrapper.name, name, value);
        }
        self.settings.set(self.format.options, self.format.name, name, value)
    }

    /// Returns the options of the format that were set, but apply only to the other side: options for writing if the
    /// stage is read, and options for reading if it is written.
    ///
    /// ```
    /// use icecore::{Stage, format::Side};
    /// let stage = Stage::parse("json:indent=2")?;
    /// assert_eq!(stage.options_without_effect(Side::Read), ["indent"]);
    /// assert!(stage.options_without_effect(Side::Write).is_empty());
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn options_without_effect(&self, side: Side) -> Vec<&'static str> {
        let is_unused = |name: &&'static str| {
            let option = self.format.options.iter().find(|option| option.name == *name);
            option.is_some_and(|option| option.side != Side::Both && option.side != side)
        };
        if side == Side::Both { Vec::new() } else { self.settings.names().filter(is_unused).collect() }
    }

    /// Returns the extension of files in this stage, without a dot: that of the format, followed by those of the
    /// wrappers.
    ///
    /// ```
    /// use icecore::Stage;
    /// assert_eq!(Stage::parse("gzip/base64/php")?.extension(), "ser.b64.gz");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn extension(&self) -> String {
        let wrappers = self.wrappers.iter().rev().map(|wrap| wrap.wrapper().extension);
        let all: Vec<_> = std::iter::once(self.format().can.extension).chain(wrappers).collect();
        all.into_iter().filter(|extension| !extension.is_empty()).collect::<Vec<_>>().join(".")
    }

    /// Returns `true` if the output is binary and should not be shown in a terminal.
    ///
    /// ```
    /// use icecore::Stage;
    /// assert!(Stage::parse("gzip/php")?.is_binary() && !Stage::parse("base64/marshal")?.is_binary());
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn is_binary(&self) -> bool {
        let wrapper_is_text = self.wrappers.iter().find_map(|wrap| wrap.wrapper().text);
        wrapper_is_text.map_or(self.format().can.binary, |is_text| !is_text)
    }

    /// Returns the format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns the options.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the wrappers, outermost first.
    pub fn wrappers(&self) -> &[Wrap] {
        &self.wrappers
    }

    /// Returns the stage of one line, if this is a format of lines that are a document each.
    ///
    /// ```
    /// let stage = icecore::Stage::parse("ndjson:sort_keys")?;
    /// assert_eq!(stage.of_line().map(|line| line.name()).as_deref(), Some("json"));
    /// assert!(icecore::Stage::parse("php")?.of_line().is_none());
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn of_line(&self) -> Option<Stage> {
        self.format.can.line.map(|format| Stage { format, ..self.clone() })
    }

    /// Returns this stage without its outermost wrapper.
    ///
    /// ```
    /// let stage = icecore::Stage::parse("gzip/base64/php")?;
    /// assert_eq!(stage.inner().map(|inner| inner.name()).as_deref(), Some("base64/php"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn inner(&self) -> Option<Stage> {
        let (_, wrappers) = self.wrappers.split_first()?;
        Some(Stage { wrappers: wrappers.to_vec(), ..self.clone() })
    }

    /// Adds an outer wrapper to the stage.
    pub(crate) fn wrapped_in(mut self, wrapper: &'static Wrapper, settings: Settings) -> Stage {
        self.wrappers.insert(0, Wrap { wrapper, settings });
        self
    }

    /// Name in error messages of the bytes that the format reads, if they are not the input.
    pub fn layer(&self) -> Option<&'static str> {
        self.wrappers.last().map(|wrap| wrap.wrapper.layer)
    }

    /// Removes the wrappers.
    ///
    /// ```
    /// let stage = icecore::Stage::parse("slashes/json")?;
    /// let inside = stage.unwrap(br#"[\"a\"]"#, &icecore::Limits::default())?;
    /// assert_eq!(&*inside.bytes, br#"["a"]"#);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of a wrapper; of kind `Limit`, if the content is too large.
    pub fn unwrap<'a>(&self, input: &'a [u8], limits: &Limits) -> Result<Unwrapped<'a>, Error> {
        self.unwrap_within(input, &mut limits.clone())
    }

    /// Like [`Stage::unwrap`], for callers that also read the content: the limit for decompression applies to all
    /// layers together, and `limits` is reduced to what remains for the format.
    ///
    /// # Errors
    /// Those of [`Stage::unwrap`].
    pub fn unwrap_within<'a>(&self, input: &'a [u8], limits: &mut Limits) -> Result<Unwrapped<'a>, Error> {
        self.unwrap_with_remarks(input, limits, None)
    }

    /// Like [`Stage::unwrap_within`], for callers that want the readable part of damaged data. If a wrapper is
    /// truncated or damaged, returns the content before the damage, and the reason.
    ///
    /// ```
    /// use icecore::{Limits, Stage};
    /// let (stage, php) = (Stage::parse("gzip/php")?, b"a:2:{i:0;s:3:\"abc\";i:1;s:3:\"def\";}");
    /// let gzip = stage.wrap(php.to_vec())?;
    /// let cut = &gzip[..gzip.len() - 12];
    /// assert!(stage.unwrap(cut, &Limits::new()).is_err());
    /// let (unwrapped, reason) = stage.unwrap_as_far(cut, &mut Limits::new())?;
    /// assert!(php.starts_with(&unwrapped.bytes) && unwrapped.bytes.len() > 10 && reason.is_some());
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Stage::unwrap`], if there is no content, or too much.
    pub fn unwrap_as_far<'a>(
        &self,
        input: &'a [u8],
        limits: &mut Limits,
    ) -> Result<(Unwrapped<'a>, Option<Error>), Error> {
        let mut broken = None;
        let unwrapped = self.unwrap_with_remarks(input, limits, Some(&mut broken))?;
        Ok((unwrapped, broken))
    }

    fn unwrap_with_remarks<'a>(
        &self,
        input: &'a [u8],
        limits: &mut Limits,
        broken: Option<&mut Option<Error>>,
    ) -> Result<Unwrapped<'a>, Error> {
        let (mut remarks, mut metadata, mut unchecked) = (Vec::new(), Vec::new(), None);
        let bytes = self.remove_wrappers(input, limits, broken, |wrapper, outside, unwrapped| {
            if wrapper.evidence != WrapperEvidence::Envelope {
                remarks.push((wrapper.name, format!("{} bytes in {outside}", unwrapped.bytes.len())));
            }
            remarks.append(&mut unwrapped.remarks);
            metadata.append(&mut unwrapped.metadata);
            unchecked = unchecked.or(unwrapped.unchecked);
        })?;
        Ok(Unwrapped { bytes, remarks, metadata, unchecked })
    }

    /// Like [`Stage::unwrap_within`], without remarks.
    pub(crate) fn unwrap_bytes<'a>(&self, input: &'a [u8], limits: &mut Limits) -> Result<Cow<'a, [u8]>, Error> {
        self.remove_wrappers(input, limits, None, |_, _, _| {})
    }

    /// Removes the wrappers. For each, `report` gets the length of the wrapped data and the content. With `broken`, the
    /// beginning of the content is used if not all of it can be unwrapped, and the first reason is stored there.
    fn remove_wrappers<'a>(
        &self,
        input: &'a [u8],
        limits: &mut Limits,
        mut broken: Option<&mut Option<Error>>,
        mut report: impl FnMut(&Wrapper, usize, &mut Unwrapped<'_>),
    ) -> Result<Cow<'a, [u8]>, Error> {
        let mut bytes = Cow::Borrowed(input);
        let mut layer = None;
        if !self.wrappers.is_empty() {
            limits.decompressed = limits.decompressed_from(input.len());
        }
        for Wrap { wrapper, settings } in &self.wrappers {
            let unwrapped = match &bytes {
                Cow::Borrowed(bytes) => (wrapper.unwrap)(bytes, settings, limits),
                Cow::Owned(bytes) => (wrapper.unwrap)(bytes, settings, limits)
                    .map(|unwrapped| Unwrapped { bytes: Cow::Owned(unwrapped.bytes.into_owned()), ..unwrapped }),
            };
            let unwrapped = unwrapped.map_err(|error| {
                let error = error.in_format(wrapper.name);
                layer.map_or(error.clone(), |layer| error.in_layer(layer))
            });
            let mut unwrapped = match (unwrapped, &mut broken) {
                (Err(error), Some(broken)) => {
                    let beginning = wrapper
                        .salvage_beginning(&bytes, settings, limits)
                        .filter(|_| error.kind() != ErrorKind::Limit);
                    let beginning = beginning.ok_or_else(|| error.clone())?;
                    broken.get_or_insert(error);
                    Unwrapped {
                        bytes: Cow::Owned(beginning),
                        remarks: Vec::new(),
                        metadata: Vec::new(),
                        unchecked: None,
                    }
                }
                (unwrapped, _) => unwrapped?,
            };
            let (wrapped_len, content_len) = (bytes.len(), unwrapped.bytes.len());
            // The limit is for data that grows. Content that is not larger than its input does not count.
            if content_len > wrapped_len {
                limits.decompressed = limits.decompressed.saturating_sub(content_len as u64);
            }
            report(wrapper, wrapped_len, &mut unwrapped);
            bytes = unwrapped.bytes;
            layer = Some(wrapper.layer);
        }
        Ok(bytes)
    }

    /// Returns the names of the wrappers and the format, outermost first: `slashes/php`.
    ///
    /// ```
    /// let stage = icecore::Stage::parse("laravel-cache/php:lenient")?;
    /// assert_eq!(stage.name(), "laravel-cache/php");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn name(&self) -> String {
        let wrappers = self.wrappers().iter().map(|wrap| wrap.wrapper().name);
        wrappers.chain([self.format().name]).collect::<Vec<_>>().join("/")
    }

    /// Like [`Stage::wrap`], but keeps the properties that the wrappers of the source stored. Options of this stage
    /// replace them. Properties that no wrapper of this stage can store are returned.
    ///
    /// # Errors
    /// Those of [`Stage::wrap`].
    pub fn wrap_with(&self, bytes: Vec<u8>, metadata: &[Metadata]) -> Result<(Vec<u8>, Vec<Metadata>), Error> {
        let mut stage = self.clone();
        let mut lost = Vec::new();
        for property in metadata {
            match stage.wrappers.iter_mut().find(|wrap| wrap.wrapper.name == property.wrapper) {
                Some(Wrap { wrapper, settings }) if !settings.has(property.option) => {
                    settings.set(wrapper.options, wrapper.name, property.option, Some(&property.value))?;
                }
                Some(_) => {}
                None => lost.push(property.clone()),
            }
        }
        Ok((stage.wrap(bytes)?, lost))
    }

    /// Adds the wrappers.
    ///
    /// # Errors
    /// Of kind `Usage`, if options are unsuitable.
    pub fn wrap(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        if self.wrappers.is_empty() {
            return Ok(bytes);
        }
        let mut outside = Vec::new();
        self.wrap_onto(&mut bytes, &mut outside)?;
        Ok(outside)
    }

    /// Adds the wrappers and appends the result. There must be at least one wrapper. `content` is consumed.
    ///
    /// # Errors
    /// Those of [`Stage::wrap`]; then a part may have been appended.
    pub(crate) fn wrap_onto(&self, content: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), Error> {
        for (position, Wrap { wrapper, settings }) in self.wrappers.iter().enumerate().rev() {
            let mut intermediate = Vec::new();
            let output = if position == 0 { &mut *out } else { &mut intermediate };
            (wrapper.wrap)(content, settings, output).map_err(|error| error.in_format(wrapper.name))?;
            if position > 0 {
                *content = intermediate;
            }
        }
        Ok(())
    }
}

/// Like [`Stage::parse`].
///
/// ```
/// let stage: icecore::Stage = "gzip/json:sort_keys".parse()?;
/// assert_eq!(stage.to_string(), "gzip/json:sort_keys");
/// # Ok::<(), icecore::Error>(())
/// ```
impl FromStr for Stage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Stage, Error> {
        Stage::parse(text)
    }
}

/// The syntax of [`Stage::parse`], which returns the same stage for it. Keys of signatures are included;
/// [`Stage::name`] has no options.
impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Wrap { wrapper, settings } in &self.wrappers {
            write!(f, "{}{settings}/", wrapper.name)?;
        }
        write!(f, "{}{}", self.format.name, self.settings)
    }
}

fn unknown_format_error(name: &str) -> Error {
    if wrap::by_name(name).is_some() {
        return Error::new(ErrorKind::Usage)
            .expecting(format!("a format after the wrapper, for example `{name}/json`"))
            .finding(format!("`{name}` alone"));
    }
    let known: Vec<_> = format::all().iter().map(|format| format.name).collect();
    let error = Error::new(ErrorKind::Usage)
        .expecting(format!("one of the formats {}", known.join(", ")))
        .finding(format!("`{name}`"));
    with_suggestion(error, &suggest_formats(name))
}

/// Returns the formats of which this is an alias.
fn formats_with_alias(name: &str) -> Vec<&'static str> {
    let has_alias = |format: &Format| format.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name));
    format::all().iter().filter(|format| has_alias(format)).map(|format| format.name).collect()
}

/// Returns the formats or the wrapper that an unknown name probably means: an alias, the usual extension of files, or
/// a name that is spelled similarly.
fn suggest_formats(name: &str) -> Vec<&'static str> {
    let aliased = formats_with_alias(name);
    if !aliased.is_empty() {
        return aliased;
    }
    if let Some(format) = format::all().iter().find(|format| format.name.eq_ignore_ascii_case(name)) {
        return vec![format.name];
    }
    let by_extension = || {
        let has_extension = |format: &&&Format| {
            format.can.extension.eq_ignore_ascii_case(name) && !matches!(format.can.evidence, format::Evidence::None)
        };
        format::all().iter().find(has_extension).map(|format| format.name).or_else(|| wrapper_of_extension(name))
    };
    let by_spelling = || {
        let aliases = || format::all().iter().flat_map(|format| format.aliases).copied();
        let similar =
            nearest(name, format::all().iter().map(|format| format.name)).or_else(|| nearest(name, aliases()))?;
        format::all().iter().find(|format| format.has_name(similar)).map(|format| format.name)
    };
    let wrapper = || nearest(name, wrap::all().iter().map(|wrapper| wrapper.name));
    by_extension().or_else(by_spelling).or_else(wrapper).into_iter().collect()
}

/// Returns the wrapper whose files usually have this extension.
fn wrapper_of_extension(name: &str) -> Option<&'static str> {
    let is_usual = |extension: &str| !extension.is_empty() && extension.eq_ignore_ascii_case(name);
    wrap::all().iter().find(|wrapper| is_usual(wrapper.extension)).map(|wrapper| wrapper.name)
}

/// Adds the names that were probably meant to the help text of an error.
fn with_suggestion(error: Error, meant: &[&str]) -> Error {
    if meant.is_empty() {
        return error;
    }
    let meant: Vec<_> = meant.iter().map(|meant| format!("`{meant}`")).collect();
    error.helping(format!("did you mean {}?", meant.join(" or ")))
}

fn unknown_wrapper_error(name: &str) -> Error {
    let known: Vec<_> = wrap::all().iter().map(|wrapper| wrapper.name).collect();
    let error = Error::new(ErrorKind::Usage)
        .expecting(format!("one of the wrappers {} before `/`", known.join(", ")))
        .finding(format!("`{name}`"));
    if format::by_name(name).is_some() {
        return error.helping(format!("`{name}` is a format, and the format is the last name: gzip/{name}"));
    }
    let meant = wrapper_of_extension(name).or_else(|| nearest(name, known.into_iter()));
    with_suggestion(error, meant.as_slice())
}

/// Returns the error for a wrapper that is written after the format.
fn wrapper_after_format_error(wrapper: &str, format: &str) -> Error {
    Error::new(ErrorKind::Usage)
        .expecting(format!("wrappers before the format: `{wrapper}/{format}`"))
        .finding(format!("the wrapper `{wrapper}` after the format"))
}

/// A stage as written: a name and options that are not checked yet.
#[derive(Debug, PartialEq, Eq)]
struct RawStage {
    name: String,
    options: Vec<(String, Option<String>)>,
}

impl RawStage {
    /// Returns the options. A list option was split at its commas; its words are joined again.
    fn into_options(self, table: &[OptionSpec]) -> Vec<(String, Option<String>)> {
        let takes = |name: &str| table.iter().find(|option| option.name == name).map(|option| option.takes);
        let mut joined: Vec<(String, Option<String>)> = Vec::with_capacity(self.options.len());
        for (name, value) in self.options {
            match joined.last_mut() {
                Some((list, Some(words)))
                    if value.is_none() && takes(&name).is_none() && takes(list) == Some(OptionType::List) =>
                {
                    words.push(',');
                    words.push_str(&name);
                }
                _ => joined.push((name, value)),
            }
        }
        joined
    }
}

/// Splits a path of stages; the outermost is first.
fn parse_path(text: &str) -> Result<Vec<RawStage>, Error> {
    let mut scan = StageScanner { text, offset: 0 };
    let mut stages = Vec::new();
    loop {
        let name = scan.read_word();
        if name.is_empty() {
            return Err(scan.syntax_error("the name of a format"));
        }
        let mut stage = RawStage { name: name.to_owned(), options: Vec::new() };
        if scan.take_char(':') {
            loop {
                let name = scan.read_word();
                if name.is_empty() {
                    return Err(scan.syntax_error("the name of an option"));
                }
                let value = if scan.take_char('=') { Some(scan.read_value()?) } else { None };
                stage.options.push((name.to_owned(), value));
                if !scan.take_char(',') {
                    break;
                }
            }
        }
        stages.push(stage);
        if !scan.take_char('/') {
            break;
        }
    }
    if scan.offset < text.len() {
        return Err(scan.syntax_error("`/`, `,` or the end"));
    }
    Ok(stages)
}

struct StageScanner<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> StageScanner<'t> {
    fn remaining_text(&self) -> &'t str {
        &self.text[self.offset..]
    }

    fn take_char(&mut self, c: char) -> bool {
        let found = self.remaining_text().starts_with(c);
        if found {
            self.offset += c.len_utf8();
        }
        found
    }

    fn read_word(&mut self) -> &'t str {
        let rest = self.remaining_text();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(rest.len());
        self.offset += end;
        &rest[..end]
    }

    fn read_value(&mut self) -> Result<String, Error> {
        if self.take_char('\'') {
            let end = self.remaining_text().find('\'').ok_or_else(|| self.syntax_error("a closing quote"))?;
            let value = self.remaining_text()[..end].to_owned();
            self.offset += end + 1;
            return Ok(value);
        }
        if self.take_char('"') {
            return self.read_quoted();
        }
        let rest = self.remaining_text();
        let end = rest.find(|c: char| matches!(c, '/' | ',' | ':' | '=') || c.is_whitespace()).unwrap_or(rest.len());
        self.offset += end;
        Ok(rest[..end].to_owned())
    }

    fn read_quoted(&mut self) -> Result<String, Error> {
        let mut value = String::new();
        loop {
            let c = self.remaining_text().chars().next().ok_or_else(|| self.syntax_error("a closing quote"))?;
            self.offset += c.len_utf8();
            match c {
                '"' => return Ok(value),
                '\\' => {
                    let c = self.remaining_text().chars().next().ok_or_else(|| self.syntax_error("an escape"))?;
                    self.offset += c.len_utf8();
                    value.push(match c {
                        '"' | '\\' | '/' => c,
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'u' => self.read_unicode_escape()?,
                        _ => return Err(self.syntax_error("one of JSON's escapes")),
                    });
                }
                c => value.push(c),
            }
        }
    }

    fn read_unicode_escape(&mut self) -> Result<char, Error> {
        let unit = self.read_hex_unit()?;
        let code = match unit {
            0xD800..=0xDBFF => {
                if !(self.take_char('\\') && self.take_char('u')) {
                    return Err(self.syntax_error("the second half of a surrogate pair"));
                }
                match self.read_hex_unit()? {
                    low @ 0xDC00..=0xDFFF => 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
                    _ => return Err(self.syntax_error("the second half of a surrogate pair")),
                }
            }
            unit => unit,
        };
        char::from_u32(code).ok_or_else(|| self.syntax_error("a Unicode character"))
    }

    fn read_hex_unit(&mut self) -> Result<u32, Error> {
        let digits = self.remaining_text().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.syntax_error("four hex digits"))?;
        self.offset += 4;
        Ok(unit)
    }

    fn syntax_error(&self, expected: &'static str) -> Error {
        let rest = self.remaining_text();
        let found = if rest.is_empty() { "the end".to_owned() } else { format!("`{rest}`") };
        Error::new(ErrorKind::Usage)
            .expecting(format!("{expected} in the stage `{}`", self.text))
            .finding(found)
            .helping("a stage is a format with wrappers before it and options after it: gzip/base64/json:indent=2")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_stages_are_parsed_back() {
        for text in [
            "json",
            "gzip:level=9/base64/sereal:compress=zstd,level=3",
            "pack:template=\"(N/A*)* x\"",
            "join:separator=\"\\u0009\"",
            "join:names=\"a,b\"",
            "dumper:indent=0,useqq=no",
            "rails-signed:key=\"it's \\\"my\\\" \\\\ key/1\",salt=\"signed cookie\"/json",
        ] {
            let stage = Stage::parse(text).unwrap();
            let printed = stage.to_string();
            let reparsed: Stage = printed.parse().unwrap();
            assert_eq!(printed, text);
            assert_eq!((reparsed.name(), reparsed.settings()), (stage.name(), stage.settings()), "{text}");
            let wrappers =
                |stage: &Stage| stage.wrappers().iter().map(|wrap| wrap.settings.clone()).collect::<Vec<_>>();
            assert_eq!(wrappers(&reparsed), wrappers(&stage), "{text}");
        }
    }
    use crate::options::Side;

    const TABLE: &[OptionSpec] = &[
        OptionSpec { name: "names", takes: OptionType::List, side: Side::Both, help: "" },
        OptionSpec { name: "map", takes: OptionType::Flag, side: Side::Both, help: "" },
    ];

    fn options(text: &str) -> Vec<(String, Option<String>)> {
        parse_path(text).unwrap().remove(0).into_options(TABLE)
    }

    #[test]
    fn lists_of_words_need_no_quotes() {
        let list = ("names".to_owned(), Some("title,author,body".to_owned()));
        assert_eq!(options("pack:names=title,author,body")[..], [list.clone()][..]);
        assert_eq!(options("pack:names=title,author,body,map"), [list.clone(), ("map".into(), None)]);
        assert_eq!(options("pack:names='title,author',body,sep=x"), [list, ("sep".into(), Some("x".into()))]);
    }

    #[test]
    fn values_may_be_quoted() {
        assert_eq!(
            options("pack:template='(N/A*)*',x"),
            [("template".into(), Some("(N/A*)*".into())), ("x".into(), None)]
        );
        assert_eq!(options(r#"join:separator="\u001c\n""#), [("separator".into(), Some("\u{1c}\n".into()))]);
        assert_eq!(options("a:b="), [("b".into(), Some(String::new()))]);
        assert_eq!(options(r#"a:b="\ud83d\ude00""#), [("b".into(), Some("\u{1f600}".into()))]);
        for half in [r"\ud800", r"\udc00", r"\ud800\u0000", r"\ud800\ud800"] {
            assert!(parse_path(&format!("a:b=\"{half}\"")).is_err(), "{half}");
        }
    }

    #[test]
    fn a_path_is_split_into_stages() {
        let names: Vec<_> = parse_path("gzip/base64:wrap/php").unwrap().into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["gzip", "base64", "php"]);
    }

    #[test]
    fn syntax_errors_name_what_is_expected() {
        for (text, expected) in [
            ("", "the name of a format"),
            ("json:", "the name of an option"),
            ("json:a='b", "a closing quote"),
            ("json typed", "`/`, `,` or the end"),
            (r#"a:b="\u12""#, "four hex digits"),
        ] {
            let error = parse_path(text).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
