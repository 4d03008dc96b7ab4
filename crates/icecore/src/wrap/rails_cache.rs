//! Entries of Rails caches, as written by Rails up to 6.1, 7.0 and 7.1.

use super::rails_entry_array::{self, EntryProperties};
use super::{Changing, ContentHead, Remark, Unwrapped, Wrapper, WrapperEvidence};
use crate::compress::zlib;
use crate::document::{Document, Metadata, Value};
use crate::error::{Error, ErrorKind};
use crate::format::Request;
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "rails-cache",
    title: "an entry of a Rails cache (6.1, 7.0, 7.1): expiry and version, then a value of Ruby",
    extension: "cache",
    text: Some(false),
    layer: "value of the Rails cache entry",
    options: &[
        OptionSpec {
            name: "expires",
            takes: OptionType::Text,
            side: Side::Write,
            help: "when the entry expires, in seconds since 1970, with or without a fraction; never by default",
        },
        OptionSpec { name: "version", takes: OptionType::Text, side: Side::Write, help: "the version of the entry" },
        OptionSpec {
            name: "compress",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "compress the value with zlib",
        },
        OptionSpec {
            name: "layout",
            takes: OptionType::Choice(&["7.1", "7.0", "6.1"]),
            side: Side::Write,
            help: "the version of Rails that reads the entry; 7.1 by default, 6.1 is not written",
        },
    ],
    page: include_str!("rails_cache.md"),
    detect,
    evidence: WrapperEvidence::Envelope,
    head: Some(read_head),
    needed_settings: None,
    stream: None,
    changing: Changing::Allowed,
    unwrap,
    wrap,
};

const SIGNATURE: [u8; 2] = [0x00, 0x11];
/// The first bytes of Marshal's output.
const MARSHAL: [u8; 2] = [4, 8];
// Types of a value in Rails 7.1: a dump, or a bare string in one of three encodings.
const OBJECT: u8 = 1;
const UTF8_STRING: u8 = 2;
const BINARY_STRING: u8 = 3;
const ASCII_STRING: u8 = 4;
/// Bit of the type of a compressed value.
const COMPRESSED: u8 = 0x80;
/// Length of signature, type, expiry and the length of the version.
const HEADER_LEN: usize = 15;

fn detect(input: &[u8]) -> bool {
    match input {
        [0x00, 0x11, kind, ..] => input.len() > HEADER_LEN && (OBJECT..=ASCII_STRING).contains(&(kind & !COMPRESSED)),
        [0x00, 4, 8, ..] => true,
        [0x01, 0x78, flags, ..] => u16::from_be_bytes([0x78, *flags]).is_multiple_of(31),
        _ => false,
    }
}

/// How much of the compressed content is needed.
#[derive(Clone, Copy)]
enum ContentReach<'l> {
    All(&'l Limits),
    Head(usize),
}

impl ContentReach<'_> {
    fn inflate_body(self, body: &[u8]) -> Result<Vec<u8>, Error> {
        match self {
            ContentReach::All(limits) => zlib::decompress(body, limits.decompressed_from(body.len()), limits),
            ContentReach::Head(max_len) => {
                zlib::head(body, max_len).map(|(bytes, _)| bytes).ok_or_else(|| Error::new(ErrorKind::Malformed))
            }
        }
    }
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, limits: &Limits) -> Result<Unwrapped<'a>, Error> {
    open_entry(input, ContentReach::All(limits))
}

/// Returns the beginning of the value. Decompressed data is complete if it is shorter than requested.
fn read_head<'a>(input: &'a [u8], is_complete: bool, _: &Settings, max_len: usize) -> Option<ContentHead<'a>> {
    let bytes = open_entry(input, ContentReach::Head(max_len)).ok()?.bytes;
    let is_cut = matches!(bytes, Cow::Owned(_)) && bytes.len() >= max_len;
    Some(ContentHead { bytes, is_complete: is_complete && !is_cut })
}

fn open_entry<'a>(input: &'a [u8], reach: ContentReach<'_>) -> Result<Unwrapped<'a>, Error> {
    match input {
        [0x00, 0x11, ..] => open_packed_entry(input, reach),
        [4, 8, ..] => open_legacy_entry(input, reach),
        [0x00, rest @ ..] if rest.starts_with(&MARSHAL) => open_array_entry(rest, false, reach),
        [0x01, rest @ ..] => open_array_entry(&reach.inflate_body(rest)?, true, reach),
        _ => Err(Error::new(ErrorKind::Malformed)
            .at(0)
            .expecting("an entry of Rails 6.1 (04 08), 7.0 (00 or 01) or 7.1 (00 11)")
            .finding(match input.first() {
                Some(byte) => format!("the byte 0x{byte:02x}"),
                None => "the end of the input".to_owned(),
            })),
    }
}

/// Unwraps the layout of Rails 7.0: the dump of an array.
fn open_array_entry(dump: &[u8], is_compressed: bool, reach: ContentReach<'_>) -> Result<Unwrapped<'static>, Error> {
    let mut remarks = vec![("layout", "Rails 7.0".to_owned())];
    remarks.extend(is_compressed.then(|| ("compressed", "zlib".to_owned())));
    let (value, properties) = match reach {
        // A short value is complete, and is detected only without what follows it.
        ContentReach::Head(max_len) => {
            let whole = || rails_entry_array::open_array(dump, &Limits::default()).ok().flatten();
            let entry = (dump.len() < max_len).then(whole).flatten();
            entry.unwrap_or_else(|| (rails_entry_array::open_array_head(dump), EntryProperties::default()))
        }
        ContentReach::All(limits) => rails_entry_array::open_array(dump, limits)?.ok_or_else(|| {
            Error::new(ErrorKind::Malformed)
                .expecting("an array of a value, an expiry and a version")
                .finding("another value, which Rails does not read")
        })?,
    };
    remarks.push(("expires", describe_expiry(properties.expires)));
    remarks.extend(properties.version.iter().map(|version| ("version", version.clone())));
    let unwrapped = with_properties(Cow::Owned(value), remarks, &properties, is_compressed);
    Ok(with_layout(unwrapped, "7.0"))
}

/// Describes the time at which an entry expires.
fn describe_expiry(expires: Option<f64>) -> String {
    expires.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds} (seconds since 1970)"))
}

/// The class of the object that Rails 6.1 and earlier dump.
const ENTRY: &[u8] = b"ActiveSupport::Cache::Entry";

/// Unwraps the layout of Rails 6.1 and earlier: an object whose variable `@value` is the value, or its compressed
/// dump.
fn open_legacy_entry(input: &[u8], reach: ContentReach<'_>) -> Result<Unwrapped<'static>, Error> {
    let default = Limits::default();
    let limits = match reach {
        ContentReach::All(limits) => limits,
        ContentReach::Head(_) => &default,
    };
    let marshal = rails_entry_array::marshal()?;
    let settings = Settings::new();
    let document = marshal.read(input, &settings, Request::new(limits)).into_whole_document(input, marshal)?;
    let root = document.root();
    let value = root.get("@value").filter(|_| root.class() == ENTRY).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .at(0)
            .expecting("an object of ActiveSupport::Cache::Entry with a value")
            .finding("another dump of Ruby's")
            .helping("a dump that is not from Rails' cache needs no wrapper: name the format `marshal`")
    })?;
    let mut remarks = vec![("layout", "Rails 6.1 or before".to_owned())];
    let seconds = |member| match root.get(member).map(|value| value.target().value()) {
        Some(Value::Float(seconds)) => Some(seconds),
        Some(Value::Int(seconds)) => Some(seconds as f64),
        _ => None,
    };
    let expiry_from_duration =
        || seconds("@expires_in").zip(seconds("@created_at")).map(|(duration, created)| created + duration);
    let version = root.get("@version").and_then(|version| version.target().as_bytes().map(<[u8]>::to_vec));
    let properties = EntryProperties {
        expires: seconds("@expires_at").or_else(expiry_from_duration),
        version: version.and_then(|version| String::from_utf8(version).ok()),
    };
    for (member, name) in
        [("@created_at", "created"), ("@expires_in", "expires in"), ("@expires_at", "expires"), ("@version", "version")]
    {
        match root.get(member).map(|value| value.target().value()) {
            Some(Value::Float(seconds)) => remarks.push((name, format!("{seconds} seconds"))),
            Some(Value::Int(seconds)) => remarks.push((name, format!("{seconds} seconds"))),
            Some(Value::Text(text) | Value::Bytes(text)) => {
                remarks.push((name, String::from_utf8_lossy(text).into_owned()))
            }
            _ => {}
        }
    }
    let is_compressed = root.get("@compressed").is_some_and(|flag| matches!(flag.value(), Value::Bool(true)));
    if is_compressed && let Some(bytes) = value.as_bytes() {
        remarks.push(("compressed", "zlib".to_owned()));
        let bytes = reach.inflate_body(bytes)?;
        return Ok(with_layout(with_properties(Cow::Owned(bytes), remarks, &properties, true), "6.1"));
    }
    let mut tape = document.tape().clone();
    tape.root = value.index();
    let mut bytes = Vec::new();
    let content = Document::from_tape(input, tape);
    marshal.write(&content, &settings, limits, &mut bytes)?;
    Ok(with_layout(with_properties(Cow::Owned(bytes), remarks, &properties, false), "6.1"))
}

fn with_properties<'a>(
    bytes: Cow<'a, [u8]>,
    remarks: Vec<Remark>,
    properties: &EntryProperties,
    is_compressed: bool,
) -> Unwrapped<'a> {
    let unwrapped = Unwrapped::new(bytes, remarks)
        .with_metadata(WRAPPER.name, "expires", properties.expires.map(|seconds| seconds.to_string()))
        .with_metadata(WRAPPER.name, "version", properties.version.clone());
    with_compression_flag(unwrapped, is_compressed)
}

fn with_compression_flag(mut unwrapped: Unwrapped<'_>, is_compressed: bool) -> Unwrapped<'_> {
    let yes = || Metadata { wrapper: WRAPPER.name, option: "compress", value: "yes".to_owned(), is_form: true };
    unwrapped.metadata.extend(is_compressed.then(yes));
    unwrapped
}

/// Keeps the layout, so that an entry that is made from this one has it too.
fn with_layout<'a>(mut unwrapped: Unwrapped<'a>, layout: &str) -> Unwrapped<'a> {
    let value = layout.to_owned();
    unwrapped.metadata.push(Metadata { wrapper: WRAPPER.name, option: "layout", value, is_form: true });
    unwrapped
}

/// Unwraps the layout of Rails 7.1.
fn open_packed_entry<'a>(input: &'a [u8], reach: ContentReach<'_>) -> Result<Unwrapped<'a>, Error> {
    let truncated_error = |expected: &str| {
        Error::new(ErrorKind::Truncated).at(input.len()).expecting(expected.to_owned()).finding("the end of the input")
    };
    let header: &[u8; HEADER_LEN] = input.first_chunk().ok_or_else(|| truncated_error("15 bytes of a header"))?;
    let [_, _, kind, expires @ .., a, b, c, d] = *header;
    let expires = f64::from_le_bytes(expires);
    let mut remarks = vec![("layout", "Rails 7.1".to_owned())];
    remarks.push(("expires", describe_expiry((expires >= 0.0).then_some(expires))));
    let mut properties = EntryProperties { expires: (expires >= 0.0).then_some(expires), version: None };
    let mut offset = HEADER_LEN;
    if let Ok(len) = usize::try_from(i32::from_le_bytes([a, b, c, d])) {
        let version =
            input.get(offset..).and_then(|rest| rest.get(..len)).ok_or_else(|| truncated_error("the version"))?;
        remarks.push(("version", String::from_utf8_lossy(version).into_owned()));
        properties.version = String::from_utf8(version.to_vec()).ok();
        offset += len;
    }
    let payload = &input[offset..];
    let payload = match kind & COMPRESSED {
        0 => Cow::Borrowed(payload),
        _ => {
            remarks.push(("compressed", "zlib".to_owned()));
            Cow::Owned(reach.inflate_body(payload)?)
        }
    };
    let bytes = match kind & !COMPRESSED {
        OBJECT => payload,
        UTF8_STRING => Cow::Owned(marshal_string(&payload, b"\x06:\x06ET")),
        BINARY_STRING => Cow::Owned(marshal_string(&payload, b"")),
        ASCII_STRING => Cow::Owned(marshal_string(&payload, b"\x06:\x06EF")),
        other => {
            return Err(Error::new(ErrorKind::Malformed)
                .at(2)
                .expecting("a type of value from 1 to 4")
                .finding(format!("{other}")));
        }
    };
    if kind & !COMPRESSED != OBJECT {
        remarks.push(("value", "a bare string, shown as Marshal would write it".to_owned()));
    }
    Ok(with_properties(bytes, remarks, &properties, kind & COMPRESSED != 0))
}

/// Returns Marshal's form of a string; `encoding` is the data after it.
fn marshal_string(text: &[u8], encoding: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    out.extend_from_slice(&MARSHAL);
    if !encoding.is_empty() {
        out.push(b'I');
    }
    out.push(b'"');
    match u64::try_from(text.len()).unwrap_or(u64::MAX) {
        0 => out.push(0),
        len @ 1..=122 => out.push(len as u8 + 5),
        len => {
            let bytes = len.to_le_bytes();
            let count = 8 - len.leading_zeros() as usize / 8;
            out.push(count as u8);
            out.extend_from_slice(&bytes[..count]);
        }
    }
    out.extend_from_slice(text);
    out.extend_from_slice(encoding);
    out
}

/// Returns the time at which a written entry expires, in seconds since 1970.
fn parse_expiry(settings: &Settings) -> Result<Option<f64>, Error> {
    let parse = |text: &str| {
        text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0).ok_or_else(|| {
            Error::new(ErrorKind::Usage)
                .expecting("seconds since 1970 for rails-cache:expires")
                .finding(format!("`{text}`"))
        })
    };
    settings.text("expires").map(parse).transpose()
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let compress = settings.flag("compress");
    let properties =
        EntryProperties { expires: parse_expiry(settings)?, version: settings.text("version").map(str::to_owned) };
    match settings.choice("layout") {
        Some("7.0") => {
            let mut dump = Vec::new();
            rails_entry_array::write_array(content, &properties, &mut dump)?;
            out.push(u8::from(compress));
            match compress {
                true => out.extend_from_slice(&zlib::compress(&dump, None)?),
                false => out.extend_from_slice(&dump),
            }
            return Ok(());
        }
        Some("6.1") => {
            return Err(Error::new(ErrorKind::Unsupported)
                .expecting("the layout of Rails 7.0 or 7.1")
                .finding("that of 6.1, which is not written")
                .helping(match compress {
                    true => "`rails-cache:layout=7.1` writes the newer layout, which Rails 6.1 can't read; or let the program write the entry again",
                    false => "read the whole entry as `marshal`, where its value is `$.@value`; `rails-cache:layout=7.1` writes the newer layout",
                }));
        }
        _ => {}
    }
    out.extend_from_slice(&SIGNATURE);
    out.push(if compress { OBJECT | COMPRESSED } else { OBJECT });
    let expires = properties.expires.unwrap_or(-1.0);
    out.extend_from_slice(&expires.to_le_bytes());
    let version = properties.version;
    let len = match &version {
        None => -1,
        Some(version) => i32::try_from(version.len()).map_err(|_| {
            Error::new(ErrorKind::Usage).expecting("a version of less than 2 GB").finding("a longer one")
        })?,
    };
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(version.unwrap_or_default().as_bytes());
    match compress {
        true => out.extend_from_slice(&zlib::compress(content, None)?),
        false => out.extend_from_slice(content),
    }
    Ok(())
}
