//! Changes at paths of a document: the bytes of everything else stay the same.
//!
//! Alterations are applied in their order. A value that is set becomes one of the format: a string of
//! JSON becomes what PHP, Perl or Ruby would store there. Assignment works as in these languages: a value that is
//! shared with a place that is set or deleted stays in its other places, and a variable with several names is set under
//! all of them.
//!
//! ```
//! use icecore::{Limits, Stage, alter::{Alteration, alter}, select::Pattern};
//! let (php, limits) = (br#"a:2:{s:1:"n";i:+7;s:4:"list";a:1:{i:0;d:1.50;}}"#, Limits::default());
//! let set = Alteration::Set(Pattern::parse("$.list[0]")?, icecore::read(b"[true]")?);
//! let altered = alter(php, &Stage::parse("php")?, &[set], &limits).unwrap();
//! assert_eq!(altered.bytes, br#"a:2:{s:1:"n";i:+7;s:4:"list";a:1:{i:0;a:1:{i:0;b:1;}}}"#);
//! # Ok::<(), icecore::Error>(())
//! ```

mod ambiguous;
mod classes;
mod combined_alterations;
mod draft;
mod index;
mod layout;
mod native;
mod places;
mod refusal;
mod written;

pub use refusal::Refusal;

use crate::class_map::ClassMap;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::Request;
use crate::limits::Limits;
use crate::losses::Losses;
use crate::select::Pattern;
use crate::stage::Stage;
use crate::wrap::Unwrapped;
use draft::Draft;

/// One change of a document.
#[derive(Debug)]
#[non_exhaustive]
pub enum Alteration {
    /// Sets the values on a path. A key that a map lacks is added.
    Set(Pattern, Document<'static>),
    /// Deletes the values on a path: entries of maps, items of lists.
    Delete(Pattern),
    /// Appends an item to the lists on a path.
    Append(Pattern, Document<'static>),
    /// Assigns this key to the entries on a path.
    RenameEntry(Pattern, String),
    /// Renames each key with the first name to the second.
    RenameKey(String, String),
    /// Renames classes as the map says, also in strings that are frozen data.
    RenameClass(ClassMap),
}

/// A document after its alterations.
#[derive(Debug)]
#[non_exhaustive]
pub struct Altered {
    /// The complete output, in its wrappers; the input itself if nothing changed.
    pub bytes: Vec<u8>,
    /// Whether anything changed.
    pub is_changed: bool,
    /// What the format could not store of the new values; and arrays that it stored once for several places, if one of
    /// them changed.
    pub losses: Losses,
    /// Whether unchanged parts have another form as well, because only their original writer knows that form, or
    /// because values that were stored once are now written out.
    pub is_rewritten: bool,
}

/// Applies alterations to the document in these bytes.
///
/// ```
/// use icecore::{Limits, Stage, alter::{Alteration, alter}, select::Pattern};
/// let json = b"{ \"a\": 1.50,\n  \"b\": [1, 2] }\n";
/// let gone = [Alteration::Delete(Pattern::parse("$.b[-1]")?)];
/// let altered = alter(json, &Stage::parse("json")?, &gone, &Limits::default()).unwrap();
/// assert_eq!(altered.bytes, b"{ \"a\": 1.50,\n  \"b\": [1] }\n");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// If the input can't be read, a path leads nowhere, or the result can't be written so that it reads back the same.
pub fn alter(input: &[u8], stage: &Stage, alterations: &[Alteration], limits: &Limits) -> Result<Altered, Refusal> {
    alter_unwrapped(input, stage, limits, |draft, stage, limits| {
        ambiguous::refuse_ambiguous_paths(draft.document(), alterations, limits)?;
        draft.apply_all(alterations, stage, limits)
    })
}

/// Replaces the document in these bytes. `edit` gets the document with its detail and returns the new one together with
/// pairs of the nodes that stayed: index in the old document, index in the new one. These keep their bytes.
///
/// ```
/// use icecore::{Builder, Limits, Stage, alter};
/// let (php, stage) = (b"a:2:{i:0;i:+7;i:1;i:8;}", Stage::parse("php")?);
/// let altered = alter::exchange(php, &stage, &Limits::default(), |_| {
///     let mut b = Builder::new();
///     b.begin_array().int(7).int(9).end();
///     Ok((b.finish()?, vec![(0, 0), (1, 1)]))
/// });
/// assert_eq!(altered.unwrap().bytes, b"a:2:{i:0;i:+7;i:1;i:9;}");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Those of [`alter()`], and those of `edit`.
pub fn exchange(
    input: &[u8],
    stage: &Stage,
    limits: &Limits,
    edit: impl FnOnce(&Document<'_>) -> Result<(Document<'static>, Vec<(u32, u32)>), Error>,
) -> Result<Altered, Refusal> {
    alter_unwrapped(input, stage, limits, |draft, _, _| {
        let (document, kept) = edit(draft.document()).map_err(Refusal::Unwritable)?;
        draft.replace_document(document, &kept);
        Ok(())
    })
}

fn alter_unwrapped(
    input: &[u8],
    stage: &Stage,
    limits: &Limits,
    edit: impl FnOnce(&mut Draft<'_>, &Stage, &Limits) -> Result<(), Refusal>,
) -> Result<Altered, Refusal> {
    let mut limits = limits.clone();
    let Unwrapped { bytes, metadata, .. } = stage.unwrap_within(input, &mut limits).map_err(Refusal::Unreadable)?;
    let format = stage.format();
    let in_layer = |error: Error| match stage.layer() {
        Some(layer) => Refusal::Unreadable(error.in_layer(layer)),
        None => Refusal::Unreadable(error),
    };
    let mark = if format.can.no_mark && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let text = bytes.get(mark..).unwrap_or_default();
    let outcome = format.read(text, stage.settings(), Request::new(&limits).detailed());
    let (body, trailing) = text.split_at(outcome.consumed.min(text.len()));
    let ends = outcome.error.is_none() && format.ends_as_printed(trailing);
    let document = outcome.into_whole_document(if ends { body } else { text }, format).map_err(in_layer)?;
    let stage = &stage_of_form(stage, &document).map_err(Refusal::Unwritable)?;
    let mut draft = Draft::new(&document);
    edit(&mut draft, stage, &limits)?;
    if !draft.is_changed() {
        return Ok(Altered { bytes: input.to_vec(), is_changed: false, losses: draft.losses, is_rewritten: false });
    }
    let written = written::write_draft(&draft, body, stage, &limits).map_err(Refusal::Unwritable)?;
    let content = [bytes.get(..mark).unwrap_or_default(), &written.bytes, trailing].concat();
    let (output, _) = stage.wrap_with(content, &metadata).map_err(Refusal::Unwritable)?;
    let mut unwrapped = stage.unwrap(&output, &limits).map_err(Refusal::Unwritable)?;
    if unwrapped.bytes.to_mut().get(mark..).and_then(|text| text.strip_suffix(trailing)) != Some(&written.bytes[..]) {
        return Err(Refusal::Unwritable(not_preserved_error()));
    }
    let mut losses = draft.losses;
    losses.merge(written.losses);
    let is_rewritten = written.is_rewritten || draft.written_out.is_some();
    losses.merge(draft.written_out.unwrap_or_default());
    Ok(Altered { bytes: output, is_changed: true, losses, is_rewritten })
}

/// Returns the stage that writes new values in the form that the document has.
fn stage_of_form(stage: &Stage, document: &Document<'_>) -> Result<Stage, Error> {
    let mut stage = stage.clone();
    if let Some(flag) = (stage.format().writer)(stage.settings()).flag_of_form(document) {
        stage.set(flag, None)?;
    }
    Ok(stage)
}

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cold]
fn not_preserved_error() -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting("a document that reads back as it was edited")
        .finding("a value that this format can't hold in this place")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::is_linear;

    /// Returns a list of records.
    fn records(size: usize) -> Vec<u8> {
        let record = |index: usize| format!("i:{index};a:2:{{s:1:\"a\";i:{index};s:1:\"b\";a:1:{{i:0;i:7;}}}}");
        format!("a:{size}:{{{}}}", (0..size).map(record).collect::<String>()).into_bytes()
    }

    fn alter_records(size: usize, alterations: &[Alteration]) {
        let stage = Stage::parse("php").unwrap();
        assert!(alter(&records(size), &stage, alterations, &Limits::default()).unwrap().is_changed);
    }

    /// Applied together, they do the same as one after the other.
    #[test]
    fn overlapping_sets_are_applied_in_order() {
        let stage = Stage::parse("json").unwrap();
        let set = |(path, json): &(&str, &str)| {
            Alteration::Set(Pattern::parse(path).unwrap(), crate::read(json.as_bytes()).unwrap().into_owned())
        };
        let json = br#"{"a":[1,[2,3]],"b":{"c":4},"d":{}}"#;
        for (sets, expected) in [
            (&[("$.a[0]", "5"), ("$.b.c", "6")][..], r#"{"a":[5,[2,3]],"b":{"c":6},"d":{}}"#),
            (&[("$.a[1][0]", "5"), ("$.a[1]", "[7]"), ("$.a[1][0]", "8")], r#"{"a":[1,[8]],"b":{"c":4},"d":{}}"#),
            (&[("$.a", "[[9]]"), ("$.a[0][0]", "[8]"), ("$.a[0][0][0]", "7")], r#"{"a":[[[7]]],"b":{"c":4},"d":{}}"#),
            (&[("$.a[0]", "5"), ("$.a[0]", "6"), ("$.a[-1]", "7")], r#"{"a":[6,7],"b":{"c":4},"d":{}}"#),
            (&[("$.e", "{}"), ("$.e.f", "1"), ("$.e.f", "2")], r#"{"a":[1,[2,3]],"b":{"c":4},"d":{},"e":{"f":2}}"#),
            (&[("$.d.x", "1"), ("$.d.y", "2"), ("$.d", "3")], r#"{"a":[1,[2,3]],"b":{"c":4},"d":3}"#),
            (&[("$.d.x", "1"), ("$.a[0]", "2"), ("$.d.x", "3")], r#"{"a":[2,[2,3]],"b":{"c":4},"d":{"x":3}}"#),
        ] {
            let sets: Vec<_> = sets.iter().map(set).collect();
            let altered = alter(json, &stage, &sets, &Limits::default()).unwrap();
            assert_eq!(String::from_utf8(altered.bytes).unwrap(), expected);
        }
        let wrong = [("$.a[0]", "5"), ("$.x.y", "6")].map(|pair| set(&pair));
        assert!(matches!(alter(json, &stage, &wrong, &Limits::default()), Err(Refusal::Absent { .. })));
    }

    /// Returns the result when each alteration is applied to the output of the previous one.
    fn one_by_one(input: &[u8], stage: &Stage, alterations: &[Alteration]) -> String {
        let apply_all = |draft: &mut Draft<'_>, _: &Stage, limits: &Limits| {
            alterations.iter().try_for_each(|alteration| draft.apply_alteration(alteration, stage, limits, 0))
        };
        describe_result(alter_unwrapped(input, stage, &Limits::default(), apply_all))
    }

    fn describe_result(altered: Result<Altered, Refusal>) -> String {
        match altered {
            Ok(altered) => {
                let text = String::from_utf8_lossy(&altered.bytes).into_owned();
                format!("{text}\n{:?} {} {}", altered.losses, altered.is_changed, altered.is_rewritten)
            }
            Err(refusal) => refusal.to_string(),
        }
    }

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % bound
        }

        fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
            all[self.below(all.len())]
        }

        /// Returns a value as PHP writes it, at times with links.
        fn php(&mut self, depth: usize) -> String {
            let entries = |r: &mut Random, keys: &[&str]| {
                let count = r.below(5);
                let some = |r: &mut Random| {
                    let key = match r.below(keys.len() + 2) {
                        0 => format!("i:{};", r.below(9)),
                        index => {
                            keys.get(index).map_or("i:-1;".to_owned(), |key| format!("s:{}:\"{key}\";", key.len()))
                        }
                    };
                    key + &r.php(depth - 1)
                };
                format!("{count}:{{{}}}", (0..count).map(|_| some(r)).collect::<String>())
            };
            match self.below(if depth == 0 { 4 } else { 12 }) {
                0 => "i:7;".to_owned(),
                1 => "s:1:\"x\";".to_owned(),
                2 => "s:2:\"\u{e9}\";".to_owned(),
                3 => match self.below(6) {
                    0 => format!("{}:{};", self.pick(&["R", "r"]), 1 + self.below(6)),
                    _ => "d:1.50;".to_owned(),
                },
                4..=6 => {
                    let count = self.below(7);
                    let items = (0..count).map(|index| format!("i:{index};{}", self.php(depth - 1)));
                    let items: String = items.collect();
                    format!("a:{count}:{{{items}}}")
                }
                7..=9 => format!("a:{}", entries(self, &["a", "b", "c", "@a", "\u{e9}"])),
                _ => format!("O:1:\"A\":{}", entries(self, &["a", "b", "\0A\0a", "\0*\0c", "@a"])),
            }
        }

        fn path(&mut self, paths: &[String]) -> String {
            let mut path = match self.below(4) {
                0 => "$".to_owned(),
                _ => paths[self.below(paths.len())].clone(),
            };
            for _ in 0..[0, 0, 1, 1, 2][self.below(5)] {
                let steps = [".a", ".a", ".b", ".c", ".d", "[0]", "[1]", "[2]", "[5]", "[-1]", "[-2]"];
                path += match self.below(4) {
                    0 => self.pick(&[".@a", "{0}", "{2}", "^", "[\"\u{e9}\"]", "[\"x\u{2026}\"]", "[*]", "..a"]),
                    _ => self.pick(&steps),
                };
            }
            path
        }

        fn alteration(&mut self, paths: &[String]) -> Alteration {
            let path = Pattern::parse(&self.path(paths)).unwrap();
            let json = self.pick(&["1", "\"x\"", "\"\u{e9}\"", "{}", "[]", "[1, [2]]", "{\"a\": {\"b\": 2}}", "null"]);
            let value = crate::read(json.as_bytes()).unwrap().into_owned();
            match self.below(12) {
                0..=4 => Alteration::Set(path, value),
                5..=7 => Alteration::Delete(path),
                8..=9 => Alteration::Append(path, value),
                10 => Alteration::RenameEntry(path, self.pick(&["a", "d", "e", "0", "\u{e9}"]).to_owned()),
                _ => Alteration::RenameKey(self.pick(&["a", "b"]).to_owned(), self.pick(&["d", "e"]).to_owned()),
            }
        }
    }

    /// Alterations that do not fit are left out, except the last one. Otherwise most lists would end early.
    #[test]
    fn combined_alterations_equal_alterations_one_by_one() {
        let full = std::env::var_os("ICECORE_FULL").is_some();
        let (mut done, mut refused) = (0, 0);
        for seed in 0..if full { 300_000 } else { 3_000 } {
            let mut r = Random(seed);
            for _ in 0..3 {
                r.below(2);
            }
            let depth = 1 + r.below(3);
            let php = r.php(depth);
            let format =
                r.pick(&["php", "php", "json", "json:pretty", "igbinary", "marshal", "storable", "sereal", "dumper"]);
            let Ok(bytes) = crate::convert(php.as_bytes(), "php", format) else { continue };
            let stage = Stage::parse(format).unwrap();
            let Ok(document) = crate::read_as(&bytes, &stage, &Limits::default()) else { continue };
            let paths: Vec<_> = (0..document.nodes().len()).map(|index| document.full_path(index as u32)).collect();
            let paths: Vec<_> = paths.into_iter().filter(|path| Pattern::parse(path).is_ok()).collect();
            let mut alterations = Vec::new();
            let mut expected = String::new();
            for _ in 0..1 + r.below(12) {
                alterations.push(r.alteration(&paths));
                let apply_all = |draft: &mut Draft<'_>, _: &Stage, limits: &Limits| {
                    alterations.iter().try_for_each(|alteration| draft.apply_alteration(alteration, &stage, limits, 0))
                };
                let altered = alter_unwrapped(&bytes, &stage, &Limits::default(), apply_all);
                let is_refused = altered.is_err();
                if is_refused && r.below(8) > 0 {
                    alterations.pop();
                    continue;
                }
                expected = describe_result(altered);
                if is_refused {
                    refused += 1;
                    break;
                }
            }
            if alterations.is_empty() {
                continue;
            }
            done += 1;
            assert_eq!(one_by_one(&bytes, &stage, &alterations), expected);
            let together = describe_result(alter(&bytes, &stage, &alterations, &Limits::default()));
            let texts: Vec<_> = alterations.iter().map(|alteration| format!("{alteration:.200?}")).collect();
            assert_eq!(together, expected, "{seed}: {php:?} as {format}: {}", texts.join("\n"));
        }
        assert!(done > 1_000 && refused > 100, "{done} {refused}");
    }

    /// Options of one sort, one for each entry.
    #[test]
    fn many_alterations_take_linear_time() {
        let path = |text: String| Pattern::parse(&text).unwrap();
        let value = || crate::read(b"5").unwrap().into_owned();
        let list = |size: usize| format!("[{}]", vec!["1"; size].join(",")).into_bytes();
        let map = |size: usize| {
            let entries: Vec<_> = (0..size).map(|index| format!("\"k{index}\":1")).collect();
            format!("{{{}}}", entries.join(",")).into_bytes()
        };
        let php = |size: usize| crate::convert(&map(size), "json", "php").unwrap();
        let apply = |input: Vec<u8>, format: &str, alterations: Vec<Alteration>| {
            let stage = Stage::parse(format).unwrap();
            assert!(alter(&input, &stage, &alterations, &Limits::default()).unwrap().is_changed);
        };
        let set = |text: String| Alteration::Set(path(text), value());
        let delete = |text: String| Alteration::Delete(path(text));
        type Make<'m> = &'m dyn Fn(usize) -> Vec<u8>;
        type Each<'e> = &'e dyn Fn(usize, usize) -> Alteration;
        let sorts: [(&str, Make<'_>, &str, Each<'_>); 21] = [
            ("items", &list, "json", &|_, index| set(format!("$[{index}]"))),
            ("items from the end", &list, "json", &|_, index| set(format!("$[-{}]", index + 1))),
            ("entries", &map, "json", &|_, index| set(format!("$.k{index}"))),
            ("entries of PHP", &php, "php", &|_, index| set(format!("$.k{index}"))),
            ("the same entry", &map, "json", &|_, _| set("$.k0".to_owned())),
            ("new entries", &map, "json", &|_, index| set(format!("$.new{index}"))),
            ("new numbers", &php, "php", &|_, index| set(format!("$[{index}]"))),
            ("the first item goes", &list, "json", &|_, _| delete("$[0]".to_owned())),
            ("the last item goes", &list, "json", &|_, _| delete("$[-1]".to_owned())),
            ("items go, the last first", &list, "json", &|size, index| delete(format!("$[{}]", size - index - 1))),
            ("items go here and there", &list, "json", &|size, index| {
                delete(format!("$[{}]", index * 7 % (size - index)))
            }),
            ("entries go", &map, "json", &|_, index| delete(format!("$.k{index}"))),
            ("entries go by place", &map, "json", &|_, _| delete("${0}".to_owned())),
            ("items come", &list, "json", &|_, _| Alteration::Append(path("$".to_owned()), value())),
            ("items of PHP come", &php, "php", &|_, _| Alteration::Append(path("$".to_owned()), value())),
            ("keys", &map, "json", &|_, index| {
                Alteration::RenameEntry(path(format!("$.k{index}")), format!("n{index}"))
            }),
            ("items change and go", &list, "json", &|size, index| match index % 2 {
                0 => set(format!("$[{}]", size - index / 2 - 1)),
                _ => delete(format!("$[{}]", size - index / 2 - 1)),
            }),
            ("records come, and values in them", &map, "json", &|_, index| match index % 2 {
                0 => Alteration::Set(path(format!("$.n{index}")), crate::read(b"{}").unwrap().into_owned()),
                _ => set(format!("$.n{}.a", index - 1)),
            }),
            ("items come, and values in them", &list, "json", &|_, index| match index % 2 {
                0 => Alteration::Append(path("$".to_owned()), crate::read(b"{}").unwrap().into_owned()),
                _ => set("$[-1].a".to_owned()),
            }),
            ("a record comes, and all that is in it", &map, "json", &|_, index| match index {
                0 => Alteration::Set(path("$.n".to_owned()), crate::read(b"{}").unwrap().into_owned()),
                _ => set(format!("$.n.a{index}")),
            }),
            ("entries go and come back", &map, "json", &|_, index| match index % 2 {
                0 => delete(format!("$.k{}", index / 2)),
                _ => set(format!("$.k{}", index / 2)),
            }),
        ];
        for (name, input, format, each) in sorts {
            is_linear(name, 400, |size| apply(input(size), format, (0..size).map(|index| each(size, index)).collect()));
        }
    }

    #[test]
    fn altering_many_records_takes_linear_time() {
        let path = |text: &str| Pattern::parse(text).unwrap();
        let value = || crate::read(b"5").unwrap().into_owned();
        is_linear("a key of all", 50, |size| alter_records(size, &[Alteration::RenameKey("a".into(), "c".into())]));
        is_linear("entries on a path", 50, |size| {
            alter_records(size, &[Alteration::RenameEntry(path("$[*].a"), "c".into())]);
        });
        is_linear("a value of each", 50, |size| alter_records(size, &[Alteration::Set(path("$[*].a"), value())]));
        is_linear("a new one in each", 50, |size| alter_records(size, &[Alteration::Set(path("$[*].c"), value())]));
        is_linear("one less in each", 50, |size| alter_records(size, &[Alteration::Delete(path("$[*].a"))]));
        is_linear("one more in each", 50, |size| alter_records(size, &[Alteration::Append(path("$[*].b"), value())]));
    }
}
