//! Tentative changes, and parts of a text.

use icecore::rewrite::{Change, Edits, StringRole};
use icecore_replace::{Charset, CharsetEvidence, Rules};

fn rules() -> Rules {
    Rules::builder().pair("old", "newer").pair("ö", "oe").build().expect("they are right")
}

#[test]
fn discarded_changes_are_not_counted() {
    let rules = rules();
    let mut replacing = rules.replacing().with_insert_limit(10);
    for (outer, inner, count) in [(false, true, 0), (false, false, 0), (true, false, 1), (true, true, 2)] {
        let (mut first, mut second) = (Edits::new(), Edits::new());
        replacing.begin_trial();
        replacing.change_text(b"old", StringRole::Value, &mut first);
        replacing.begin_trial();
        replacing.change_text(b"old", StringRole::Value, &mut second);
        replacing.end_trial(inner);
        replacing.end_trial(outer);
        assert_eq!((first.len(), second.len()), (1, 1), "what was not made takes no room");
        let counts = replacing.take_counts();
        assert_eq!(counts.values().sum::<u64>(), count, "{outer} {inner}");
        if count == 1 {
            // Space for one more was reserved.
            replacing = rules.replacing().with_insert_limit(10);
        }
    }
    replacing.begin_trial();
    replacing.change_text(b"old old", StringRole::Value, &mut Edits::new());
    assert!(replacing.is_full());
    replacing.end_trial(false);
    assert!(!replacing.is_full());
}

#[test]
fn only_the_given_parts_are_changed() {
    let latin1 = Charset::from_name("windows-1252").expect("it is known");
    let in_latin1 = rules().in_charset(&latin1, CharsetEvidence::Declared).expect("it has all characters");
    for (rules, text) in [(rules(), "old|ö|old|ö old|old".as_bytes()), (in_latin1, b"old|\xf6|old|\xf6 old|old")] {
        let bars: Vec<usize> = (0..text.len()).filter(|offset| text[*offset] == b'|').collect();
        let parts = [0..bars[0], bars[1]..bars[2], bars[2] + 1..bars[3]];
        let (mut edits, mut replacing) = (Edits::new(), rules.replacing());
        replacing.change_parts(text, &parts, StringRole::Value, &mut edits);
        let changed = edits.apply(text);
        assert_eq!(changed.iter().filter(|byte| **byte == b'|').count(), 4);
        let kept = &text[bars[0]..bars[1]];
        assert!(
            changed.starts_with(&[&b"newer"[..], kept, b"|newer|oe newer|old"].concat()),
            "{}",
            changed.escape_ascii()
        );
        assert_eq!(replacing.counts().values().sum::<u64>(), 4);
    }
}
