//! Crates that read Ruby's Marshal.

use crate::{Rival, Times, timed};
use icecore::{Limits, Request, format::marshal};

pub const RIVALS: &[Rival] = &[
    Rival { name: "marshal-rs", into: "its Arena", records_only: false, run: marshal_rs },
    Rival { name: "alox-48", into: "its Value", records_only: false, run: alox },
];

fn shown(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub fn icecore(blob: &[u8]) -> Result<Times, String> {
    let limits = Limits::default();
    timed(
        blob,
        || marshal::read(blob, &marshal::ReadOptions::default(), &limits).map_err(shown),
        Some(|document: &icecore::Document<'_>| {
            let mut out = Vec::new();
            marshal::write(document, &marshal::WriteOptions::default(), &limits, &mut out).map_err(shown)?;
            Ok(out)
        }),
    )
}

pub fn icecore_again(blob: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let limits = Limits::default();
    let stage = icecore::Stage::parse("marshal").map_err(shown)?;
    let document = icecore::read_with(blob, &stage, Request::new(&limits).detailed()).map_err(shown)?;
    let mut out = Vec::new();
    marshal::write(&document, &marshal::WriteOptions::default(), &limits, &mut out).map_err(shown)?;
    Ok(Some(out))
}

fn marshal_rs(blob: &[u8]) -> Result<Times, String> {
    let read = || marshal_rs::load(blob).map_err(|error| format!("{error:?}"));
    timed(blob, read, Some(|arena: &marshal_rs::Arena<'_>| Ok(marshal_rs::dump(arena))))
}

pub fn marshal_rs_again(blob: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let arena = marshal_rs::load(blob).map_err(|error| format!("{error:?}"))?;
    Ok(Some(marshal_rs::dump(&arena)))
}

fn alox(blob: &[u8]) -> Result<Times, String> {
    let read = || alox_48::from_bytes::<alox_48::Value>(blob).map_err(shown);
    timed(blob, read, Some(|value: &alox_48::Value| alox_48::to_bytes(value).map_err(shown)))
}

pub fn alox_again(blob: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let value: alox_48::Value = alox_48::from_bytes(blob).map_err(shown)?;
    Ok(Some(alox_48::to_bytes(&value).unwrap_or_default()))
}
