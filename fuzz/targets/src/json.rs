//! JSON.

use crate::check::{self, Detail, assert_agreement};
use crate::choice_from_bytes;
use crate::storable::assert_bytes;
use icecore::{Document, ErrorKind, Limits, Stage, raw::Outcome};

fn read_json<'a>(data: &'a [u8], stage: &Stage, limits: &Limits, detail: Detail) -> Outcome<'a> {
    stage.format().read(data, stage.settings(), check::request_with(limits, detail))
}

pub(crate) fn write_json(document: &Document<'_>, stage: &str) -> Result<Vec<u8>, icecore::Error> {
    let mut out = Vec::new();
    icecore::write_to(document, &Stage::parse(stage)?, &check::wide_limits(), &mut out)?;
    Ok(out)
}

/// Checks that the two readers agree, spans tile, serde_json accepts and rejects the same input, and that the document
/// can be written and read back, with its spelling and as an equal document.
pub fn json_read(data: &[u8]) {
    let limits = check::small_limits();
    let stage = Stage::parse("json:typed=no").expect("a stage");
    let fast = read_json(data, &stage, &limits, Detail::Without);
    let slow = read_json(data, &stage, &limits, Detail::With);
    assert_agreement(&fast, &slow);
    check::assert_spans_tile(&slow, data.len());
    check::visit_document(&fast.document);
    compare_with_serde(data, &fast);
    if fast.error.is_some() {
        return;
    }
    let wide = check::wide_limits();
    let compact = write_json(&fast.document, "json").expect("what was JSON is JSON");
    let reread = read_json(&compact, &stage, &wide, Detail::Without);
    assert!(reread.error.is_none(), "{:?}\n{}", reread.error, String::from_utf8_lossy(&compact));
    assert!(reread.document == fast.document, "{:?}\n{:?}", fast.document, reread.document);
    let rewritten = write_json(&reread.document, "json").expect("written again");
    assert_bytes(&compact, &rewritten);
    // Other layouts have the same meaning.
    let layout =
        ["json:indent=2", "json:ascii", "json:sort_keys", "json:indent=1,ascii"][choice_from_bytes(data) as usize % 4];
    let laid_out = write_json(&fast.document, layout).expect("what was JSON is JSON");
    let reread_layout = read_json(&laid_out, &stage, &wide, Detail::Without);
    assert!(reread_layout.error.is_none(), "{:?}\n{}", reread_layout.error, String::from_utf8_lossy(&laid_out));
    let comparison = if layout == "json:sort_keys" {
        icecore::value::Comparison::new().any_order()
    } else {
        icecore::value::Comparison::new()
    };
    assert!(
        comparison.equal(&reread_layout.document, &fast.document),
        "{layout}: {:?}\n{:?}",
        fast.document,
        reread_layout.document
    );
    assert!(!layout.contains("ascii") || laid_out.is_ascii(), "{layout}: not ASCII");
}

/// Checks that serde_json accepts and rejects the same input, except for limits, ours (depth, nodes, digits) and its
/// own (128 levels).
fn compare_with_serde(data: &[u8], ours: &Outcome<'_>) {
    let theirs = serde_json::from_slice::<serde_json::Value>(data);
    let is_accepted = ours.error.is_none() && ours.consumed == data.len();
    match (&ours.error, theirs) {
        (Some(error), _) if error.kind() == ErrorKind::Limit => {}
        (_, Ok(_)) if !is_accepted => {
            panic!("serde_json accepts it: {:?}, {} of {}", ours.error, ours.consumed, data.len())
        }
        (_, Err(error)) if is_accepted && !error.to_string().starts_with("recursion limit exceeded") => {
            panic!("serde_json refuses it: {error}")
        }
        _ => {}
    }
}

/// Checks that any document that is read from any format can be written as `json:typed` and comes back equal, also with
/// its spelling. Text that looks typed is read, or refused.
pub fn json_typed(data: &[u8]) {
    let limits = check::small_limits();
    let wide = check::wide_limits();
    let typed = Stage::parse("json:typed").expect("a stage");
    for name in ["storable", "sereal", "json"] {
        let stage = match name {
            "json" if data.trim_ascii_start().starts_with(b"{\"$icecore\"") => typed.clone(),
            _ => Stage::parse(name).expect("a stage"),
        };
        let fast = read_json(data, &stage, &limits, Detail::Without);
        check::visit_document(&fast.document);
        if fast.error.is_some() {
            continue;
        }
        let slow = read_json(data, &stage, &limits, Detail::With);
        assert_agreement(&fast, &slow);
        let typed_json =
            write_json(&fast.document, "json:typed").unwrap_or_else(|error| panic!("{error}\n{:?}", fast.document));
        let reread = read_json(&typed_json, &typed, &wide, Detail::Without);
        let text = || String::from_utf8_lossy(&typed_json);
        assert!(reread.error.is_none(), "{:?}\n{}\n{:?}", reread.error, text(), fast.document);
        assert!(reread.document == fast.document, "{}\n{:?}\n{:?}", text(), fast.document, reread.document);
        let rewritten = write_json(&reread.document, "json:typed").expect("written again");
        assert_bytes(&typed_json, &rewritten);
        if name == "json" {
            continue;
        }
        // With its spelling, the original bytes come back.
        let spelled_json = write_json(&slow.document, "json:typed,spelling").expect("written with its spelling");
        let reread_spelled = read_json(&spelled_json, &typed, &wide, Detail::Without);
        assert!(
            reread_spelled.error.is_none(),
            "{:?}\n{}",
            reread_spelled.error,
            String::from_utf8_lossy(&spelled_json)
        );
        assert!(reread_spelled.document == fast.document, "{}", String::from_utf8_lossy(&spelled_json));
        // JSON has doubles: a signaling NaN of 32 bits comes back as a quiet one.
        let is_signaling = |node: &icecore::raw::Node| {
            let bits = node.payload as u32;
            node.kind == icecore::Kind::Float32 && f32::from_bits(bits).is_nan() && bits & 0x0040_0000 == 0
        };
        if slow.document.nodes().iter().any(is_signaling) {
            continue;
        }
        let direct = write_json(&slow.document, name).expect("written");
        let round_trip = write_json(&reread_spelled.document, name).expect("written");
        assert_bytes(&direct, &round_trip);
    }
}
