//! Messages on stderr, before and after the change.

use super::ReplaceResults;
use super::args::Replace;
use crate::report::Report;
use icecore::rewrite::Tally;
use icecore_replace::{LeftoverCounts, Pair, Rules, SecondRun, Spelling};
use icecore_tables::form::NDJSON;
use icecore_tables::plural::{format_count, group_digits};
use icecore_tables::replace::change_counts::ChangeCounts;
use icecore_tables::replace::places::ColumnRegistry;
use std::collections::{BTreeMap, BTreeSet};

/// Warns, before anything is changed, if a second run with the same pairs would change something again.
pub fn warn_about_rerun(rules: &Rules, report: &Report) {
    let new_text =
        |pair: usize| rules.pairs().get(pair).map_or_else(String::new, |pair| quote_text(pair.replacement()));
    let old_text = |pair: usize| rules.pairs().get(pair).map_or_else(String::new, |pair| quote_text(pair.old()));
    let message = match rules.check_second_run() {
        SecondRun::Contains(inserted, searched) if new_text(inserted) == old_text(searched) => {
            format!("the new text {} is also searched for: each further run changes it again", new_text(inserted))
        }
        SecondRun::Contains(inserted, searched) => {
            format!(
                "the new text {} contains {}: each further run changes it again",
                new_text(inserted),
                old_text(searched)
            )
        }
        SecondRun::Joins(inserted, searched) => format!(
            "the new text {} may form a new {} together with the text around it: a further run may change more",
            new_text(inserted),
            old_text(searched)
        ),
        _ => return,
    };
    report.report_command_note("again", message);
}

/// Forms whose contents are values in tables.
const TABLE_FORMS: [&str; 6] = ["sql", "csv", "tsv", NDJSON, "table", "text"];

/// Reports the totals at the end.
pub fn report_totals(
    results: &ReplaceResults,
    rules: &Rules,
    args: &Replace,
    column_registry: &ColumnRegistry,
    report: &Report,
) {
    let ReplaceResults { counts, inputs } = results;
    if inputs.is_empty() {
        return;
    }
    let all_forms = |is_form: fn(&str) -> bool| inputs.iter().all(|input| is_form(&input.form));
    let (value_word, values_word, table_word, tables_word) = if all_forms(|form| form == "text") {
        ("place", "places", "file", "files")
    } else if all_forms(|form| !TABLE_FORMS.contains(&form)) {
        ("document", "documents", "file", "files")
    } else {
        ("value", "values", "table", "tables")
    };
    let total = counts.total();
    let changed_columns = counts.places.iter().filter(|(_, column_counts)| column_counts.values > 0);
    let changed_tables: BTreeSet<_> = changed_columns
        .map(|(place, _)| (column_registry.place(*place).schema, column_registry.place(*place).table))
        .collect();
    let verb = if args.dry_run { "would change" } else { "changed" };
    let mut message = format!(
        "{} {verb} in {}",
        format_count(total.values, value_word, values_word),
        format_count(changed_tables.len() as u64, table_word, tables_word)
    );
    if total.tally.changed != total.values {
        message.push_str(&format!(" ({})", format_count(total.tally.changed, "string", "strings")));
    }
    let broken = total.tally.broken;
    message.push_str(&match broken {
        0 => "; 0 broken".to_owned(),
        count => {
            let hint = if args.mend { "" } else { " (--mend repairs what it can)" };
            let (look, were) = if count == 1 { ("it looks", "was") } else { ("they look", "were") };
            let treatment = if args.only_serialized { "left unchanged" } else { "treated as plain text" };
            let count = group_digits(count);
            format!("; {count} broken: {look} frozen, but can't be read, and {were} {treatment}{hint}")
        }
    });
    report.report_command_note("done", message);
    report_spellings(counts, rules, report);
    suggest_url(rules, report);
    report_repairs(&total.tally, args, report);
    let left_unchanged = [
        (total.refused + total.tally.unrepresentable, "because their form can't express the new text"),
        (total.skipped, "because another program changed them in the meantime: run the command again"),
        (total.tally.kept_keys, "in keys (--keys changes them)"),
        (total.tally.kept_classes, "in names of classes (--classes changes them)"),
        (total.tally.opaque, "in bytes that only their own class can read"),
        (total.tally.signed, "in signed or encrypted data"),
        (
            total.tally.embedded,
            "in serialized data inside other text, whose lengths would become wrong: change them by hand",
        ),
        (total.tally.beyond, "too deep (--limit depth=N searches deeper)"),
        (counts.outside, "in statements other than rows, such as defaults and views"),
    ];
    for (count, reason) in left_unchanged {
        if count > 0 {
            report.report_command_note("found", format!("{} left unchanged, {reason}", group_digits(count)));
        }
    }
    let doubtful_matches = [
        (
            counts.suspects,
            "in plain text that looks serialized, whose lengths are wrong now (--in csv, tsv or sql corrects them)",
        ),
        (
            counts.foreign,
            "in a charset other than UTF-8: OLD was searched for, and NEW written, in UTF-8 only (--charset NAME names theirs)",
        ),
    ];
    for (count, reason) in doubtful_matches {
        if count > 0 {
            report.report_command_note("found", format!("{} {reason}", group_digits(count)));
        }
    }
    report_leftovers(counts, rules, report);
    if counts.encoded_documents > 0 {
        let documents = format_count(counts.encoded_documents, "document has", "documents have");
        let text = format!("{documents} matches in compressed data or Base64: --base64 changes them");
        report.report_command_note("leftover", text);
    }
    for unknown in column_registry.find_unknown_names() {
        report.report_command_note("unknown", format!("{unknown} in the input"));
    }
}

/// Reports the repairs and their causes.
fn report_repairs(tally: &Tally, args: &Replace, report: &Report) {
    if tally.repaired == 0 {
        return;
    }
    let causes: Vec<String> =
        tally.explanations.iter().map(|(name, count)| format!("{} {name}", group_digits(*count))).collect();
    let verb = if args.dry_run { "would be repaired" } else { "repaired" };
    let values = format_count(tally.repaired, "damaged value", "damaged values");
    let message = format!("{values} {verb}: {}", causes.join(", "));
    report.report_command_note("found", message);
    if tally.guessed > 0 {
        let message = format!(
            "warning: {} of them are guesses: nothing explains their lengths, and strings end where the rest can be read",
            group_digits(tally.guessed)
        );
        report.report_command_note("guess", message);
    }
}

/// Reports the spellings in which addresses were found.
fn report_spellings(change_counts: &ChangeCounts, rules: &Rules, report: &Report) {
    if !rules.pairs().iter().any(has_spellings) {
        return;
    }
    let mut counts: BTreeMap<Spelling, u64> = BTreeMap::new();
    for (pair, count) in &change_counts.pairs {
        if let Some(pair) = rules.pairs().get(*pair) {
            *counts.entry(pair.spelling()).or_default() += count;
        }
    }
    let parts: Vec<String> =
        counts.iter().map(|(spelling, count)| format!("{} {}", group_digits(*count), spelling.name())).collect();
    if !parts.is_empty() {
        report.report_command_note("spellings", format!("addresses: {}", parts.join(", ")));
    }
}

/// Reports places that still have the host of a replaced URL.
fn report_leftovers(change_counts: &ChangeCounts, rules: &Rules, report: &Report) {
    let (LeftoverCounts { hosts, in_base64, .. }, names) = (change_counts.leftovers, rules.replaced_hosts());
    let Some(name) = names.first().map(|name| quote_text(name.as_bytes())) else { return };
    let name = if names.len() == 1 { name } else { "an old host".to_owned() };
    if hosts > 0 {
        let places = format_count(hosts, "place still has", "places still have");
        let text = format!(
            "{places} {name}, as in keys, mail addresses, capital letters or with HTML entities: `--keys`, `-e OLD NEW` with mere names, \
             and `--ignore-case` change more"
        );
        report.report_command_note("leftover", text);
    }
    if in_base64 > 0 {
        let places = format_count(in_base64, "place has", "places have");
        report.report_command_note("leftover", format!("{places} {name} in Base64: --base64 changes it there"));
    }
}

/// Suggests --url if an address was given as a mere text.
fn suggest_url(rules: &Rules, report: &Report) {
    let is_address = |text: &[u8]| text.starts_with(b"http://") || text.starts_with(b"https://");
    let is_mere_text =
        |pair: &&Pair| pair.spelling() == Spelling::Given && is_address(pair.old()) && is_address(pair.replacement());
    if rules.pairs().iter().any(has_spellings) || !rules.pairs().iter().any(|pair| is_mere_text(&pair)) {
        return;
    }
    let text = "OLD is an address: `--url OLD NEW` also changes it with the other scheme, without a scheme (//host) and \
                percent-encoded, and leaves longer names of hosts unchanged";
    report.report_command_note("url", text.to_owned());
}

fn has_spellings(pair: &Pair) -> bool {
    !matches!(pair.spelling(), Spelling::Given | Spelling::Regex)
}

fn quote_text(text: &[u8]) -> String {
    format!("`{}`", icecore::text::shortened(&String::from_utf8_lossy(text), 80))
}
