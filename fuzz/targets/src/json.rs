//! JSON.

use crate::check::{self, agree};
use crate::choice;
use crate::storable::assert_bytes;
use icecore::{Document, ErrorKind, Limits, Request, Stage, raw::Outcome};

fn read<'a>(data: &'a [u8], stage: &Stage, limits: &Limits, detail: bool) -> Outcome<'a> {
    let request = Request::new(limits);
    stage.format().read(data, stage.settings(), if detail { request.detailed() } else { request })
}

pub(crate) fn written(document: &Document<'_>, stage: &str) -> Result<Vec<u8>, icecore::Error> {
    let mut out = Vec::new();
    icecore::write_to(document, &Stage::parse(stage)?, &check::wide_limits(), &mut out)?;
    Ok(out)
}

/// Checks that the two readers agree, spans tile, serde_json accepts and rejects the same input, and that the document
/// can be written and read back, with its spelling and as an equal document.
pub fn json_read(data: &[u8]) {
    let limits = check::limits();
    let stage = Stage::parse("json:typed=no").expect("a stage");
    let fast = read(data, &stage, &limits, false);
    let slow = read(data, &stage, &limits, true);
    agree(&fast, &slow);
    check::tiles(&slow, data.len());
    check::visit(&fast.document);
    against_serde(data, &fast);
    if fast.error.is_some() {
        return;
    }
    let wide = check::wide_limits();
    let plain = written(&fast.document, "json").expect("what was JSON is JSON");
    let again = read(&plain, &stage, &wide, false);
    assert!(again.error.is_none(), "{:?}\n{}", again.error, String::from_utf8_lossy(&plain));
    assert!(again.document == fast.document, "{:?}\n{:?}", fast.document, again.document);
    let twice = written(&again.document, "json").expect("written again");
    assert_bytes(&plain, &twice);
    // Other layouts have the same meaning.
    let other = ["json:indent=2", "json:ascii", "json:sort_keys", "json:indent=1,ascii"][choice(data) as usize % 4];
    let laid_out = written(&fast.document, other).expect("what was JSON is JSON");
    let again = read(&laid_out, &stage, &wide, false);
    assert!(again.error.is_none(), "{:?}\n{}", again.error, String::from_utf8_lossy(&laid_out));
    let order = if other == "json:sort_keys" {
        icecore::value::Comparison::new().any_order()
    } else {
        icecore::value::Comparison::new()
    };
    assert!(order.equal(&again.document, &fast.document), "{other}: {:?}\n{:?}", fast.document, again.document);
    assert!(!other.contains("ascii") || laid_out.is_ascii(), "{other}: not ASCII");
}

/// Checks that serde_json accepts and rejects the same input, except for limits, ours (depth, nodes, digits) and its
/// own (128 levels).
fn against_serde(data: &[u8], ours: &Outcome<'_>) {
    let theirs = serde_json::from_slice::<serde_json::Value>(data);
    let accepted = ours.error.is_none() && ours.consumed == data.len();
    match (&ours.error, theirs) {
        (Some(error), _) if error.kind() == ErrorKind::Limit => {}
        (_, Ok(_)) if !accepted => {
            panic!("serde_json accepts it: {:?}, {} of {}", ours.error, ours.consumed, data.len())
        }
        (_, Err(error)) if accepted && !error.to_string().starts_with("recursion limit exceeded") => {
            panic!("serde_json refuses it: {error}")
        }
        _ => {}
    }
}

/// Checks that any document that is read from any format can be written as `json:typed` and comes back equal, also with
/// its spelling. Text that looks typed is read, or refused.
pub fn json_typed(data: &[u8]) {
    let limits = check::limits();
    let wide = check::wide_limits();
    let typed = Stage::parse("json:typed").expect("a stage");
    for name in ["storable", "sereal", "json"] {
        let stage = match name {
            "json" if data.trim_ascii_start().starts_with(b"{\"$icecore\"") => typed.clone(),
            _ => Stage::parse(name).expect("a stage"),
        };
        let fast = read(data, &stage, &limits, false);
        check::visit(&fast.document);
        if fast.error.is_some() {
            continue;
        }
        let slow = read(data, &stage, &limits, true);
        agree(&fast, &slow);
        let said = written(&fast.document, "json:typed").unwrap_or_else(|error| panic!("{error}\n{:?}", fast.document));
        let again = read(&said, &typed, &wide, false);
        let text = || String::from_utf8_lossy(&said);
        assert!(again.error.is_none(), "{:?}\n{}\n{:?}", again.error, text(), fast.document);
        assert!(again.document == fast.document, "{}\n{:?}\n{:?}", text(), fast.document, again.document);
        let twice = written(&again.document, "json:typed").expect("written again");
        assert_bytes(&said, &twice);
        if name == "json" {
            continue;
        }
        // With its spelling, the original bytes come back.
        let said = written(&slow.document, "json:typed,spelling").expect("written with its spelling");
        let again = read(&said, &typed, &wide, false);
        assert!(again.error.is_none(), "{:?}\n{}", again.error, String::from_utf8_lossy(&said));
        assert!(again.document == fast.document, "{}", String::from_utf8_lossy(&said));
        // JSON has doubles: a signaling NaN of 32 bits comes back as a quiet one.
        let signals = |node: &icecore::raw::Node| {
            let bits = node.payload as u32;
            node.kind == icecore::Kind::Float32 && f32::from_bits(bits).is_nan() && bits & 0x0040_0000 == 0
        };
        if slow.document.nodes().iter().any(signals) {
            continue;
        }
        let direct = written(&slow.document, name).expect("written");
        let around = written(&again.document, name).expect("written");
        assert_bytes(&direct, &around);
    }
}
