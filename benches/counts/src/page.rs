//! The history as a page: a single file of HTML, without scripts.

use crate::history::{Step, Version, steps, tool_changes};
use crate::ratios::{MUCH, Ratios};
use crate::table::{grouped, percent_more};
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// The width of a sparkline.
const WIDTH: f64 = 180.0;
/// The height of a sparkline.
const HEIGHT: f64 = 26.0;
/// Free space at its edges, for the points.
const EDGE: f64 = 4.0;
/// A sparkline shows at least this part of the count upwards and downwards, so that noise looks flat.
const LEAST: f64 = 0.05;

/// The page of all versions; the last one is the table of today.
pub fn draw(versions: &[Version], ratios: &[Ratios]) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    out += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Instructions by commit</title>\n";
    _ = write!(out, "<style>\n{STYLE}</style>\n<h1>Instructions by commit</h1>\n");
    let Some(newest) = versions.last() else {
        return out + "<p>No commit has the table yet.</p>\n</html>\n";
    };
    _ = writeln!(
        out,
        "<p>What the work of each cell takes, counted by callgrind. A row opens to its history: the commits that \
         changed the count. The table has {} and {}; the last is of {}, {}.</p>",
        plural(versions.len(), "version"),
        plural(newest.table.entries.len(), "cell"),
        newest.date,
        escape(&newest.subject)
    );
    out += "<p>A dashed line marks a commit with other tools (compiler, C library, valgrind): counts on its two sides \
            are not of the same machine code.</p>\n";
    let breaks = tool_changes(versions);
    for (kind, names) in by_kind(newest) {
        _ = write!(out, "<section>\n<h2>{}</h2>\n", escape(kind));
        out += "<div class=\"head row\"><span>cell</span><span>history</span><span>now</span><span>of the \
                first</span><span>of the previous</span><span>last change</span></div>\n";
        for name in names {
            out += &draw_row(name, &steps(versions, name), versions.len(), &breaks);
        }
        out += "</section>\n";
    }
    out += &draw_ratios(ratios);
    out += &draw_tools(newest);
    out + "</html>\n"
}

/// The benchmarks of a version by the first word of their names.
fn by_kind(version: &Version) -> BTreeMap<&str, Vec<&str>> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in version.table.entries.keys() {
        kinds.entry(name.split('/').next().unwrap_or(name)).or_default().push(name);
    }
    kinds
}

fn draw_row(name: &str, steps: &[Step<'_>], versions: usize, breaks: &[usize]) -> String {
    let [first, .., last] = steps else {
        let Some(only) = steps.first() else { return String::new() };
        return format!(
            "<div class=\"row\"><span>{}</span><span>{}</span><span>{}</span><span></span><span></span>\
             <span class=\"quiet\">since {}</span></div>\n",
            escape(name),
            draw_sparkline(steps, versions, breaks),
            grouped(only.count),
            only.version.date
        );
    };
    let before = steps.iter().rev().nth(1).map_or(last.count, |step| step.count);
    let mut out = format!(
        "<details>\n<summary class=\"row\"><span>{}</span><span>{}</span><span>{}</span>{}{}\
         <span>{} {}</span></summary>\n",
        escape(name),
        draw_sparkline(steps, versions, breaks),
        grouped(last.count),
        draw_ratio(first.count, last.count),
        draw_ratio(before, last.count),
        last.version.date,
        escape(&last.version.subject)
    );
    out += "<table>\n<tr><th>date</th><th>commit</th><th>instructions</th><th>of the first</th>\
            <th>of the previous</th><th>subject</th></tr>\n";
    for (at, step) in steps.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|before| steps.get(before));
        let ratio = |old: Option<u64>| old.map_or("<span></span>".to_owned(), |old| draw_ratio(old, step.count));
        _ = writeln!(
            out,
            "<tr><td>{}</td><td><code>{}</code></td><td class=\"number\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            step.version.date,
            escape(&step.version.commit),
            grouped(step.count),
            ratio(before.map(|_| first.count)),
            ratio(before.map(|before| before.count)),
            escape(&step.version.subject)
        );
    }
    out + "</table>\n</details>\n"
}

/// Draws the factor between the counts, in a colour if it is more than noise.
fn draw_ratio(old: u64, new: u64) -> String {
    let class = match percent_more(old, new) {
        more if more > 1.0 => "up",
        more if more < -1.0 => "down",
        _ => "quiet",
    };
    format!("<span class=\"{class}\">{:.3}</span>", new as f64 / (old as f64).max(1.0))
}

/// The counts over the versions as a line with steps, and a point where one changed.
fn draw_sparkline(steps: &[Step<'_>], versions: usize, breaks: &[usize]) -> String {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return String::new() };
    let counts = || steps.iter().map(|step| step.count as f64);
    let (low, high) = (counts().fold(f64::INFINITY, f64::min), counts().fold(0.0, f64::max));
    let middle = f64::midpoint(low, high);
    let half = f64::max((high - low) / 2.0, middle * LEAST).max(1.0);
    let place = |index: usize| match versions {
        0 | 1 => WIDTH / 2.0,
        _ => EDGE + (WIDTH - 2.0 * EDGE) * index as f64 / (versions - 1) as f64,
    };
    let level = |count: u64| HEIGHT / 2.0 - (count as f64 - middle) / half * (HEIGHT / 2.0 - EDGE);

    let mut path = format!("M{:.1} {:.1}", place(first.index), level(first.count));
    for step in steps.iter().skip(1) {
        _ = write!(path, "H{:.1}V{:.1}", place(step.index), level(step.count));
    }
    _ = write!(path, "H{:.1}", place(versions.saturating_sub(1)));
    let mut out = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"history\">");
    for index in breaks.iter().filter(|index| **index > first.index) {
        _ = write!(out, "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"0\" y2=\"{HEIGHT}\"/>", place(*index));
    }
    _ = write!(out, "<path d=\"{path}\"/>");
    for step in steps {
        let class = if step.index == last.index { " class=\"last\"" } else { "" };
        _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"{class}><title>{} {}: {} ({})</title></circle>",
            place(step.index),
            level(step.count),
            step.version.date,
            escape(&step.version.commit),
            grouped(step.count),
            escape(&step.version.subject)
        );
    }
    out + "</svg>"
}

fn draw_ratios(all: &[Ratios]) -> String {
    let mut out = String::from(
        "<section>\n<h2>A record as a whole, in windows, for itself</h2>\n<p>Instructions for one record or item.</p>\n\
         <table>\n<tr><th>conversion</th><th>whole</th><th>in windows</th><th>of the whole</th><th>each</th>\
         <th>of the whole</th></tr>\n",
    );
    for ratios in all {
        let way = |count: Option<f64>| match count {
            Some(count) => {
                let ratio = count / ratios.whole;
                let class = if ratio > MUCH { "up" } else { "quiet" };
                format!("<td class=\"number\">{count:.0}</td><td><span class=\"{class}\">{ratio:.2}</span></td>")
            }
            None => "<td></td><td></td>".to_owned(),
        };
        _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"number\">{:.0}</td>{}{}</tr>",
            escape(&ratios.name),
            ratios.whole,
            way(ratios.windows),
            way(ratios.each)
        );
    }
    out + "</table>\n</section>\n"
}

fn draw_tools(version: &Version) -> String {
    let mut out = String::from("<section>\n<h2>Tools</h2>\n<table>\n");
    for (name, text) in &version.table.tools {
        _ = writeln!(out, "<tr><td>{}</td><td>{}</td></tr>", escape(name), escape(text));
    }
    out + "</table>\n</section>\n"
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The newest changes as lines of Markdown: the benchmarks that the last version changed.
pub fn to_markdown(versions: &[Version]) -> String {
    let mut out =
        String::from("| cell | now | of the first | of the previous | last change |\n|---|---|---|---|---|\n");
    let Some(newest) = versions.last() else { return out };
    for name in newest.table.entries.keys() {
        let steps = steps(versions, name);
        let ([first, .., last], Some(before)) = (steps.as_slice(), steps.iter().rev().nth(1)) else { continue };
        let ratio = |old: u64| last.count as f64 / (old as f64).max(1.0);
        _ = writeln!(
            out,
            "| {name} | {} | {:.3} | {:.3} | {} {} |",
            grouped(last.count),
            ratio(first.count),
            ratio(before.count),
            last.version.date,
            last.version.subject.replace('|', "\\|")
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Entry, Table};

    fn version(subject: &str, instructions: u64) -> Version {
        let mut table = Table::default();
        table.entries.insert("read/<php>".into(), Entry { instructions, tolerance: None });
        Version { commit: "abc".into(), date: "2026-11-28".into(), subject: subject.into(), table }
    }

    #[test]
    fn a_history_is_drawn_with_its_ratios() {
        let page =
            draw(&[version("first & best", 1000), version("a \"slow\" one", 1500), version("better", 1200)], &[]);
        for part in ["read/&lt;php&gt;", "first &amp; best", "a &quot;slow&quot; one", ">1.200<", ">0.800<", "1 200"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script") && !page.contains("NaN"), "{page}");
    }

    #[test]
    fn pages_with_one_version_or_none_are_drawn() {
        assert!(draw(&[], &[]).contains("No commit has the table yet"));
        let page = draw(&[version("only", 0)], &[]);
        assert!(page.contains("since 2026-11-28") && !page.contains("NaN"), "{page}");
        assert!(!to_markdown(&[version("only", 1)]).contains("only"), "a cell that never changed has no line");
    }
}
