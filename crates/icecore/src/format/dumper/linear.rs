//! Tests with texts that would take quadratic time if a step visited all earlier values.

use super::ReadOptions;
use crate::format::Reader as _;
use crate::format::Request;
use crate::limits::Limits;
use crate::steps::is_linear;

/// Makes a text of a given size.
type TextGenerator = Box<dyn Fn(usize) -> String>;

/// Returns `piece` for each number below the size, between `before` and `after`.
fn repeat_piece(before: &'static str, piece: impl Fn(usize) -> String + 'static, after: &'static str) -> TextGenerator {
    Box::new(move |size| format!("{before}{}{after}", (0..size).map(&piece).collect::<String>()))
}

fn sample_texts() -> Vec<(&'static str, TextGenerator)> {
    let repeat_literal = |before, piece: &'static str, after| repeat_piece(before, move |_| piece.to_owned(), after);
    vec![
        (
            "repairs of one array",
            Box::new(|size| {
                let repairs: String = (0..size).map(|index| format!("$x->[{index}] = $x;")).collect();
                format!("$x = [{}];{repairs}", "0,".repeat(size))
            }),
        ),
        (
            "repairs of one hash",
            Box::new(|size| {
                let keys: String = (0..size).map(|index| format!("k{index}=>1,")).collect();
                let repairs: String = (0..size).map(|index| format!("$x->{{k{index}}} = $x;")).collect();
                format!("$x = {{{keys}}};{repairs}")
            }),
        ),
        ("items that are added", repeat_piece("$x = [];", |index| format!("$x->[{index}] = {index};"), "")),
        ("keys that are added", repeat_piece("$x = {};", |index| format!("$x->{{k{index}}} = {index};"), "")),
        ("paths forwards", repeat_piece("$x = [", |index| format!("$x->[{}],", index + 1), "1];")),
        ("paths backwards", repeat_piece("$x = [1,", |index| format!("$x->[{index}],"), "];")),
        (
            "paths that lead nowhere",
            Box::new(|size| format!("$x = [{}1];", format!("$x->[{}],", size + 1).repeat(size))),
        ),
        ("paths to what leads nowhere", repeat_literal("$x = [$y,", "$x->[0][1],", "1];")),
        (
            "a long path",
            Box::new(|size| {
                let (open, close, steps) = ("[".repeat(size), "]".repeat(size), "->[0]".repeat(size));
                format!("$x = [{open}{close}, 1]; $y = $x{steps};")
            }),
        ),
        ("a path of many waits", repeat_literal("$x = [[$x->[1]],[$x->[0]],", "$x->[0][0][0][0],", "];")),
        ("a path in a cycle", repeat_literal("$x = [0]; $x->[0] = $x; $y = $x", "->[0]", ";")),
        ("many names", repeat_piece("", |index| format!("$x{index} = {index};"), "")),
        ("many pads", repeat_literal("", "> $VAR1 = ", "")),
        ("many sigils", repeat_literal("", "$", "")),
        ("wide strings", repeat_literal("$x = \"", "\\xff\\x{100}", "\";")),
        ("words", repeat_literal("$x = [", "a => ", "];")),
    ]
}

#[test]
fn reading_takes_linear_time() {
    let (options, limits) = (ReadOptions::default(), Limits::default());
    for (name, text) in sample_texts() {
        is_linear(name, 500, |size| {
            let text = text(size);
            options.read(text.as_bytes(), Request::new(&limits));
            options.read(text.as_bytes(), Request::new(&limits).detailed());
        });
    }
}
