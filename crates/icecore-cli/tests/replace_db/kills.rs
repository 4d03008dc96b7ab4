//! `icecore replace --db` is killed at random points, continues, and is undone: every row is compared.
//!
//! `ICECORE_KILLS=200` kills that often on each database, `ICECORE_SEED` selects the random points.

use super::databases::{Database, all_kinds, fill};
use crate::common::Random;
use std::fs;
use std::time::{Duration, Instant};

/// Changing a row twice would be visible: the new text contains the old one.
const CHANGE: [&str; 4] = ["example", "example.example", "--table", "things"];
const ROWS: usize = 300;

/// Runs a command, and kills it after this delay. Returns `true` if it completed.
fn kill_after(database: &Database, words: &[&str], delay: Duration) -> bool {
    let mut command = database.command(words);
    let log = fs::File::create(database.path("log")).unwrap();
    let mut child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().expect("it begins");
    std::thread::sleep(delay);
    // A command that has already ended can't be killed.
    let _ = child.kill();
    let status = child.wait().expect("it ends");
    let read_log = || fs::read_to_string(database.path("log")).unwrap();
    assert!(status.code().is_none_or(|code| code == 0), "{words:?}: {}", read_log());
    status.success()
}

#[test]
fn killed_changes_lose_and_repeat_no_row() {
    let kills = std::env::var("ICECORE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    for kind in all_kinds() {
        let mut random = Random::new();
        let mut database = Database::new(kind, "kills");
        fill(&mut database, "things", ROWS);
        let before = database.dump("things");
        let begun = Instant::now();
        database.replace(&[&CHANGE[..], &["--rows", "20", "--undo-file", "whole.undo"]].concat(), 0);
        // A command runs about this long, or much shorter if the machine was busy at first: kills happen at any point.
        let full_duration = begun.elapsed().as_micros() as u64;
        let after = database.dump("things");
        database.replace(&["--undo", "whole.undo"], 0);
        assert_eq!(database.dump("things"), before);
        let (mut killed, mut round) = (0, 0);
        // The result of the rounds does not depend on how many of the kills hit a running command.
        while killed < kills && round < 2 * kills {
            round += 1;
            let (undo, state, back) =
                (format!("{round}.undo"), format!("{round}.change.json"), format!("{round}.undo.json"));
            let first = [&CHANGE[..], &["--rows", "20", "--resume", &state, "--undo-file", &undo]].concat();
            let mut delay = || {
                let shorter = random.below(6);
                Duration::from_micros(random.below((full_duration * 5 / 4).max(64) >> shorter))
            };
            let mut is_done = false;
            // A few kills, then to the end; or undone from where it was killed.
            for _ in 0..delay().as_micros() % 4 {
                is_done = kill_after(&database, &first, delay());
                killed += u64::from(!is_done);
            }
            if !is_done && delay().as_micros() % 2 == 0 {
                database.replace(&first, 0);
                is_done = true;
            }
            if is_done {
                assert_eq!(database.dump("things"), after, "{kind:?}, round {round}");
            }
            if database.path(&undo).exists() {
                let with_state = ["--undo", &*undo, "--resume", &back];
                for _ in 0..delay().as_micros() % 3 {
                    let words = if delay().as_micros() % 2 == 0 { &with_state[..] } else { &with_state[..2] };
                    killed += u64::from(!kill_after(&database, words, delay()));
                }
                let words = if delay().as_micros() % 2 == 0 { &with_state[..] } else { &with_state[..2] };
                database.replace(words, 0);
            }
            assert_eq!(database.dump("things"), before, "{kind:?}, round {round}");
        }
        println!("{kind:?}: {killed} kills in {round} rounds");
    }
}
