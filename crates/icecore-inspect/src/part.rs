//! Parts of a document, for programs that request them one by one. The size of a part is limited for any document.

use crate::item::Item;
use crate::tree::{Tree, TreeOptions};
use icecore::text::to_base64;
use icecore::{Document, Kind, Limits, deep};
use serde::Serialize;
use serde_json::Value;

/// Maximum number of bytes of a value that are shown.
const MAX_SHOWN_BYTES: usize = 16;
/// Maximum number of paths that are looked up for links. Each lookup walks through the document.
const MAX_PATHS: usize = 64;
/// Maximum length of a string whose format is detected.
const MAX_STRING_LENGTH: usize = 1 << 20;
/// Maximum length of all such strings together.
const MAX_STRINGS_LENGTH: usize = 4 << 20;
/// Maximum length of their decompressed data.
const MAX_DECOMPRESSED: u64 = 16 << 20;
/// If the texts of a part have more bytes than this, no further row is added. The last text may exceed the limit.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// The requested part.
#[derive(Clone, Debug)]
pub struct PartRequest {
    /// The node of the value that is shown, with everything in it; `None` for the whole document.
    pub node: Option<u32>,
    /// Number of its items that are skipped.
    pub skip: u64,
    /// Maximum number of levels.
    pub depth: u32,
    /// Maximum number of items of each list.
    pub items: u64,
    /// Maximum number of rows.
    pub rows: usize,
    /// Maximum number of bytes of a text.
    pub max_text_len: usize,
}

/// A part of a document. If a container has more items than the part, the others can be requested.
#[derive(Default, Serialize)]
pub struct Part {
    /// Its rows, as JSON.
    items: Vec<Value>,
    /// Whether the number of rows reached its limit.
    is_cut: bool,
}

/// An item with additional data for a program.
#[derive(Serialize)]
struct DetailedItem<'i> {
    #[serde(flatten)]
    item: Item<'i>,
    /// The first bytes from which it was read, in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    /// The full length of a text of which only the beginning is included.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    /// The path of the target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The format of a string that is frozen data.
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<String>,
}

impl Part {
    /// Returns a part of a document that was read from these bytes.
    pub fn from_document(document: &Document<'_>, input: &[u8], request: &PartRequest) -> Part {
        let PartRequest { node, skip, depth, items, .. } = *request;
        let top = node.filter(|node| (*node as usize) < document.nodes().len());
        let mut part = Part { items: Vec::new(), is_cut: false };
        if node.is_some() && top.is_none() {
            return part;
        }
        let (mut text_bytes, mut path_count, mut detection) = (0, 0, DetectionBudget::new());
        let options = TreeOptions { top, skip, depth, items: skip.saturating_add(items), ..TreeOptions::default() };
        for row in Tree::new(document, options) {
            let Some(item) = Item::from_row(document, &row).filter(|item| item.kind != "more") else { continue };
            if part.items.len() >= request.rows || text_bytes > MAX_TEXT_BYTES {
                part.is_cut = true;
                break;
            }
            let inside = item.node.and_then(|node| detection.detect_format(document, node));
            let mut detailed =
                DetailedItem { bytes: first_bytes(document, input, &item), item, size: None, to: None, inside };
            if let Some(target) = detailed.item.target.filter(|_| path_count < MAX_PATHS) {
                path_count += 1;
                let mut path = document.path(target);
                cut_text(&mut path, request.max_text_len);
                detailed.to = Some(path);
            }
            text_bytes += shorten_texts(&mut detailed, request.max_text_len);
            part.items.extend(serde_json::to_value(&detailed));
        }
        part
    }
}

/// What remains of the limits for detecting the formats of strings.
struct DetectionBudget {
    limits: Limits,
    remaining_bytes: usize,
}

impl DetectionBudget {
    fn new() -> DetectionBudget {
        let mut limits = Limits::new();
        limits.decompressed = MAX_DECOMPRESSED;
        DetectionBudget { limits, remaining_bytes: MAX_STRINGS_LENGTH }
    }

    fn detect_format(&mut self, document: &Document<'_>, node: u32) -> Option<String> {
        let node_data = document.nodes().get(node as usize)?;
        let bytes = matches!(node_data.kind, Kind::Bytes | Kind::Text).then(|| document.bytes(node_data))?;
        if bytes.len() > MAX_STRING_LENGTH {
            return None;
        }
        self.remaining_bytes = self.remaining_bytes.checked_sub(bytes.len())?;
        deep::stage_within(bytes, &mut self.limits).map(|stage| stage.name())
    }
}

/// Returns the first bytes of a value.
fn first_bytes(document: &Document<'_>, input: &[u8], item: &Item<'_>) -> Option<String> {
    let layer = match item.layer {
        0 => input,
        _ => document.trace().and_then(|trace| trace.layer.as_deref())?,
    };
    let start = usize::try_from(item.start?).ok()?;
    let end = item.end.and_then(|end| usize::try_from(end).ok()).unwrap_or(usize::MAX);
    let end = end.min(layer.len()).min(start.saturating_add(MAX_SHOWN_BYTES));
    layer.get(start..end).map(to_base64)
}

/// Cuts long texts. Returns the number of bytes of text that remain.
fn shorten_texts(detailed: &mut DetailedItem<'_>, max_bytes: usize) -> usize {
    let item = &mut detailed.item;
    let is_latin1 = item.latin1.is_some();
    let value = match &mut item.value {
        Some(Value::String(text)) => Some(text),
        _ => item.latin1.as_mut(),
    };
    let mut remaining_len = 0;
    if let Some(text) = value {
        // Each character of `latin1` is one byte of the value.
        let size = if is_latin1 { text.chars().count() } else { text.len() };
        detailed.size = cut_text(text, max_bytes).then_some(size);
        remaining_len += text.len();
    }
    let known_text = item.known.as_mut().and_then(|known| known.text.as_mut());
    for text in known_text.into_iter().chain(&mut item.class) {
        cut_text(text, max_bytes);
        remaining_len += text.len();
    }
    if let Some(step) = item.step {
        item.step = Some(&step[..cut_position(step, max_bytes)]);
        remaining_len += step.len().min(max_bytes);
    }
    remaining_len
}

/// Returns the position at which a text is cut.
fn cut_position(text: &str, max_bytes: usize) -> usize {
    let max_end = text.len().min(max_bytes);
    (0..=max_end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}

/// Cuts a text. Returns true if it was longer.
fn cut_text(text: &mut String, max_bytes: usize) -> bool {
    let end = cut_position(text, max_bytes);
    let is_longer = end < text.len();
    text.truncate(end);
    is_longer
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore::{Limits, Request, Stage};

    fn read_part(format: &str, bytes: &[u8], request: &PartRequest) -> Part {
        let (stage, limits) = (Stage::parse(format).expect("a format"), Limits::new());
        let outcome = stage.format().read(bytes, stage.settings(), Request::new(&limits).salvaging());
        Part::from_document(&outcome.document, bytes, request)
    }

    fn whole_request() -> PartRequest {
        PartRequest { node: None, skip: 0, depth: 100, items: 1_000, rows: 1_000, max_text_len: 100 }
    }

    fn list_items(part: &Part) -> Vec<String> {
        part.items.iter().map(|item| format!("{} {}", item["step"].as_str().unwrap_or("·"), item["value"])).collect()
    }

    #[test]
    fn lists_are_read_in_pieces() {
        let json = b"[10,[20],30,{\"a\":40},50]";
        let list = |skip, items| {
            list_items(&read_part("json", json, &PartRequest { node: Some(0), skip, items, ..whole_request() }))
        };
        assert_eq!(list(0, 2), ["$ null", "[0] 10", "[1] null", "[0] 20"]);
        assert_eq!(list(2, 2), ["$ null", "[2] 30", "[3] null", ".a 40"]);
        assert_eq!(list(4, 2), ["$ null", "[4] 50"]);
        assert_eq!(list(9, 2), ["$ null"]);
        assert_eq!(list_items(&read_part("json", json, &PartRequest { node: Some(99), ..whole_request() })), [""; 0]);
        let few = read_part("json", json, &PartRequest { rows: 3, ..whole_request() });
        assert!(few.is_cut && few.items.len() == 3);
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let json = format!("[\"{}\"]", "é".repeat(400));
        let item = &read_part("json", json.as_bytes(), &PartRequest { max_text_len: 7, ..whole_request() }).items[1];
        assert_eq!((item["value"].as_str(), item["size"].as_u64()), (Some("ééé"), Some(800)));
        let bytes = read_part(
            "php",
            b"s:9:\"\xff\xff\xff\xff\xff\xff\xff\xff\xff\";",
            &PartRequest { max_text_len: 7, ..whole_request() },
        );
        assert_eq!((bytes.items[0]["latin1"].as_str(), bytes.items[0]["size"].as_u64()), (Some("ÿÿÿ"), Some(9)));
    }

    #[test]
    fn parts_have_their_bytes_and_link_targets() {
        let parts = read_part("php", b"a:2:{i:0;O:1:\"A\":0:{}i:1;r:2;}", &whole_request());
        let object = parts.items.iter().find(|item| item["class"] == "A").expect("an object");
        assert_eq!(object["bytes"], to_base64(b"O:1:\"A\":0:{}"));
        let link = parts.items.iter().find(|item| item["type"] == "link").expect("a link");
        assert_eq!(link["to"], "$[0]");
    }

    #[test]
    fn frozen_strings_name_their_format() {
        let items = read_part("json", br#"["a:1:{i:0;i:7;}","plain"]"#, &whole_request()).items;
        assert_eq!((&items[1]["inside"], &items[2]["inside"]), (&Value::from("php"), &Value::Null));
    }

    /// Pseudo-random numbers, the same each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }

        fn json(&mut self, depth: u32) -> String {
            match self.below(if depth == 0 { 4 } else { 7 }) {
                0 => "null".to_owned(),
                1 => self.below(1_000).to_string(),
                2 => format!("{}.25", self.below(9)),
                3 => format!("\"{}\"", ["", "a", "é\\n", "a long one, and longer"][self.below(4) as usize]),
                4 | 5 => {
                    let items: Vec<_> = (0..self.below(5)).map(|_| self.json(depth - 1)).collect();
                    format!("[{}]", items.join(","))
                }
                _ => {
                    let entries: Vec<_> =
                        (0..self.below(5)).map(|index| format!("\"k{index}\":{}", self.json(depth - 1))).collect();
                    format!("{{{}}}", entries.join(","))
                }
            }
        }
    }

    /// Documents of each format; those with objects and links are not generated.
    fn sample_documents(random: &mut Random, count: usize) -> Vec<(&'static str, Vec<u8>)> {
        let mut all = vec![
            ("marshal", b"\x04\x08[\x08{\x06[\x06i\x06i\x07o:\x06A\x06:\x07@abi\x08I\"\x06x\x06:\x06ET".to_vec()),
            ("php", b"O:1:\"A\":2:{s:1:\"a\";a:2:{i:0;i:1;s:1:\"k\";R:2;}s:1:\"b\";d:0.5;}".to_vec()),
        ];
        for _ in 0..count {
            let json = random.json(4);
            for format in ["json", "php", "marshal", "storable", "sereal:compress=zlib", "sereal", "igbinary"] {
                all.push((format, icecore::convert(json.as_bytes(), "json", format).expect("it is converted")));
            }
        }
        all
    }

    /// Returns the nodes that are shown when each container is opened, one item at a time.
    fn open_all_parts(format: &str, bytes: &[u8]) -> Vec<u64> {
        let (mut nodes, mut open): (Vec<u64>, Vec<(Option<u64>, u64)>) = (Vec::new(), vec![(None, 0)]);
        while let Some((node, skip)) = open.pop() {
            let request =
                PartRequest { node: node.map(|node| node as u32), skip, depth: 1, items: 1, ..whole_request() };
            let part = read_part(format, bytes, &request);
            let depth = u64::from(node.is_some());
            let below = |item: &&Value| item["depth"] == depth && item["type"] != "piece";
            let mut is_more = false;
            for item in part.items.iter().filter(below) {
                nodes.push(item["node"].as_u64().expect("a node"));
                is_more |= item["what"] != "key";
                if item["count"].as_u64().is_some_and(|count| count > 0) {
                    open.push((item["node"].as_u64(), 0));
                }
            }
            if node.is_some() && is_more {
                open.push((node, skip + 1));
            }
        }
        nodes.sort_unstable();
        nodes
    }

    /// For any document, its parts together are the whole.
    #[test]
    fn parts_together_are_the_whole() {
        for (format, bytes) in sample_documents(&mut Random(1), 20) {
            let full_part = read_part(format, &bytes, &whole_request());
            let values = full_part.items.iter().filter(|item| item["type"] != "piece");
            let mut expected: Vec<u64> = values.filter_map(|item| item["node"].as_u64()).collect();
            expected.sort_unstable();
            assert_eq!(open_all_parts(format, &bytes), expected, "{format}");
        }
    }

    /// For any bytes and any request, there is an answer within its limits.
    #[test]
    fn broken_documents_have_parts() {
        let mut random = Random(2);
        let (limits, mut broken) = (Limits::new(), 0);
        for (format, bytes) in sample_documents(&mut random, 20) {
            let stage = Stage::parse(format).expect("a format");
            for _ in 0..40 {
                let mut bytes = bytes.clone();
                bytes.truncate(random.below(bytes.len() as u64 + 1) as usize);
                for _ in 0..random.below(3).min(bytes.len() as u64) {
                    let offset = random.below(bytes.len() as u64) as usize;
                    bytes[offset] = random.below(256) as u8;
                }
                let outcome = stage.format().read(&bytes, stage.settings(), Request::new(&limits).salvaging());
                broken += usize::from(outcome.error.is_some());
                let request = PartRequest {
                    node: [None, Some(random.below(20) as u32), Some(u32::MAX)][random.below(3) as usize],
                    skip: [0, random.below(5), u64::MAX][random.below(3) as usize],
                    depth: random.below(4) as u32,
                    items: random.below(4),
                    rows: random.below(10) as usize,
                    max_text_len: random.below(10) as usize,
                };
                let part = Part::from_document(&outcome.document, &bytes, &request);
                assert!(part.items.len() <= request.rows);
                crate::find_differences(&outcome.document, &outcome.document, 5);
            }
        }
        assert!(broken > 1_000, "{broken}");
    }
}
