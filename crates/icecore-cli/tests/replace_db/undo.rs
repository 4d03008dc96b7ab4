//! `icecore replace --undo`: restores the values that a change of a database replaced.

use super::databases::{Database, Kind, all_kinds, command_in, fill};
use serde_json::Value;
use std::fs;

const CHANGE: [&str; 2] = ["example", "brand-new.example.org"];

/// Returns the report of a command.
fn report(database: &Database, name: &str) -> Value {
    serde_json::from_slice(&fs::read(database.path(name)).unwrap()).unwrap()
}

#[test]
fn a_change_is_undone_in_every_database() {
    for kind in all_kinds() {
        let mut database = Database::new(kind, "undone");
        fill(&mut database, "things", 300);
        let before = database.dump("things");
        let change = [&CHANGE[..], &["--table", "things", "--rows", "64", "--undo-file", "a.undo"]].concat();
        let (_, stderr) = database.replace(&change, 0);
        assert!(stderr.contains("the old values are in a.undo: icecore replace --undo a.undo --db"), "{stderr}");
        // Neither contains the password.
        let password = database.url.split(['@', ':']).nth(2).filter(|_| kind != Kind::Sqlite).unwrap_or("no password");
        let file = fs::read(database.path("a.undo")).unwrap();
        assert!(!stderr.contains(password) && !file.windows(password.len()).any(|piece| piece == password.as_bytes()));
        let after = database.dump("things");
        assert_ne!(before, after);
        // A dry run changes nothing.
        let (shown, stderr) = database.replace(&["--undo", "a.undo", "--dry-run", "--summary", "r.json"], 0);
        assert!(
            shown.contains("things.name where id = 1\n- name 1 of brand-new.example.org  \n+ name 1 of example  \n")
        );
        let count = report(&database, "r.json")["put_back"].as_u64().unwrap();
        assert!(count > 500 && stderr.contains(&format!("{count} values would be restored in 1 table")), "{stderr}");
        assert_eq!(database.dump("things"), after);
        let (_, stderr) = database.replace(&["--undo", "a.undo"], 0);
        assert!(stderr.contains(&format!("{count} values restored in 1 table")), "{stderr}");
        assert_eq!(database.dump("things"), before, "{kind:?}");
        // A second undo does nothing.
        let (_, stderr) = database.replace(&["--undo", "a.undo"], 0);
        assert!(
            stderr.contains("0 values restored") && stderr.contains(&format!("{count} already had their old values")),
            "{stderr}"
        );
        assert_eq!(database.dump("things"), before);
    }
}

#[test]
fn only_rows_that_still_have_the_new_value_are_restored() {
    for kind in all_kinds() {
        let mut database = Database::new(kind, "only");
        fill(&mut database, "things", 40);
        let before = database.dump("things");
        let change = [&CHANGE[..], &["--table", "things", "--undo-file", "a.undo"]].concat();
        database.replace(&change, 0);
        database.run(
            "UPDATE things SET name = 'mine' WHERE id = 1;\n\
             UPDATE things SET name = CONCAT(name, ' ') WHERE id = 2;\n\
             UPDATE things SET name = UPPER(name) WHERE id = 3;\n\
             UPDATE things SET name = NULL WHERE id = 4;\n\
             UPDATE things SET name = 'name 5 of example  ' WHERE id = 5;\n\
             DELETE FROM things WHERE id = 6",
        );
        let (_, stderr) = database.replace(&["--undo", "a.undo", "--summary", "r.json"], 0);
        let known = report(&database, "r.json");
        assert_eq!((&known["changed_since"], &known["already"]), (&Value::from(4), &Value::from(1)), "{stderr}");
        // The name and the two texts of the row.
        assert_eq!(known["gone"], Value::from(3), "{stderr}");
        assert_eq!(known["left"][0]["reason"], "changed_since");
        assert!(stderr.contains("4 have been changed since, and are left as they are"), "{stderr}");
        assert!(stderr.contains("3 belong to rows that no longer exist"), "{stderr}");
        let after = database.dump("things");
        assert_eq!(after.len(), 39);
        let same = after.iter().filter(|row| before.contains(row)).count();
        assert_eq!(same, 35, "all but those with a name of somebody else");
    }
}

#[test]
fn rows_are_identified_by_the_bytes_of_their_key() {
    for kind in all_kinds() {
        let key = match kind {
            Kind::Sqlite => "TEXT COLLATE NOCASE PRIMARY KEY, b TEXT) WITHOUT ROWID",
            #[cfg(feature = "postgres")]
            Kind::Postgres => "VARCHAR(20) PRIMARY KEY, b TEXT)",
            #[cfg(feature = "mysql")]
            Kind::Mysql => "VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, b TEXT)",
        };
        let mut database = Database::new(kind, "keys");
        database.run(&format!(
            "CREATE TABLE k (a {key};\n\
             INSERT INTO k VALUES ('abc', 'example'), ('ß', 'example'), ('x y', 'example'), ('', 'example')"
        ));
        let before = database.dump("k");
        database.replace(&["example", "new", "--table", "k", "--undo-file", "a.undo"], 0);
        // Another row in its place, which the database treats as having the same key.
        database.run("DELETE FROM k WHERE a = 'abc';\nINSERT INTO k VALUES ('ABC', 'new')");
        database.replace(&["--undo", "a.undo", "--summary", "r.json"], 0);
        let known = report(&database, "r.json");
        assert_eq!((&known["put_back"], &known["gone"]), (&Value::from(3), &Value::from(1)), "{kind:?}");
        database.run("DELETE FROM k WHERE a = 'ABC';\nINSERT INTO k VALUES ('abc', 'new')");
        database.replace(&["--undo", "a.undo"], 0);
        assert_eq!(database.dump("k"), before);
    }
}

#[test]
fn the_undo_file_has_a_default_name_and_is_not_overwritten() {
    let mut database = Database::new(Kind::Sqlite, "my shop");
    fill(&mut database, "things", 10);
    let files = |database: &Database| {
        let names = fs::read_dir(database.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| name.ends_with(".undo"));
        names.sort();
        names
    };
    // Nothing changes, or nothing is to be kept: there is no file.
    database.replace(&["absent", "x", "--table", "things"], 0);
    database.replace(&["example", "sample", "--table", "things", "--no-undo"], 0);
    database.replace(&["sample", "example", "--table", "things", "--dry-run"], 0);
    assert_eq!(files(&database), [""; 0]);
    database.replace(&["sample", "example", "--table", "things"], 0);
    let [name] = &files(&database)[..] else { panic!("one file") };
    let middle = name.strip_prefix("icecore-my_shop-").and_then(|name| name.strip_suffix(".undo")).expect(name);
    assert!(middle.len() == 15 && middle.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'), "{name}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(database.path(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let bytes = fs::read(database.path(name)).unwrap();
    let state = database.dump("things");
    for word in [["--force", "--dry-run"].as_slice(), &["--force"], &[]] {
        let words = [&["example", "x", "--table", "things", "--undo-file", name], word].concat();
        let expected = if word.contains(&"--dry-run") { 0 } else { 2 };
        let (_, stderr) = database.replace(&words, expected);
        assert!(expected == 0 || stderr.contains("an undo file is never overwritten"), "{stderr}");
    }
    assert_eq!((fs::read(database.path(name)).unwrap(), database.dump("things")), (bytes, state));
    // The folder does not exist: the first transaction is not committed.
    let state = database.dump("things");
    let (_, stderr) = database.replace(&["example", "x", "--table", "things", "--undo-file", "absent/a.undo"], 2);
    assert!(stderr.contains("--no-undo leaves it out"), "{stderr}");
    assert_eq!(database.dump("things"), state);
}

#[test]
fn a_value_changed_twice_is_restored_to_the_first() {
    for kind in all_kinds() {
        let mut database = Database::new(kind, "twice");
        fill(&mut database, "things", 30);
        let before = database.dump("things");
        let words = ["--table", "things", "--rows", "7", "--undo-file", "a.undo", "--resume", "state.json"];
        let swap = ["-e", "example", "sample", "-e", "sample", "example", "-e", "name", "label", "-e", "label", "name"];
        database.replace(&[&swap[..], &words].concat(), 0);
        let once = database.dump("things");
        // As if it had started from the beginning: the same undo file gets values of the same rows once more.
        let state = fs::read_to_string(database.path("state.json")).unwrap();
        let mut state: Value = serde_json::from_str(&state).unwrap();
        state["tables"] = Value::Object(serde_json::Map::new());
        fs::write(database.path("state.json"), state.to_string()).unwrap();
        database.replace(&[&swap[..], &words].concat(), 0);
        assert_eq!(database.dump("things"), before);
        database.run("UPDATE things SET name = 'mine' WHERE id = 1");
        let (_, stderr) = database.replace(&["--undo", "a.undo", "--dry-run"], 0);
        assert!(!stderr.contains("gone"), "{stderr}");
        // Killed in the middle, then from the beginning: the result is the same.
        for _ in 0..2 {
            let (_, dry) = database.replace(&["--undo", "a.undo", "--dry-run", "--summary", "d.json", "--force"], 0);
            database.replace(&["--undo", "a.undo", "--summary", "r.json", "--force"], 0);
            let (mut pretended, mut actual) = (report(&database, "d.json"), report(&database, "r.json"));
            (pretended["dry_run"], actual["dry_run"]) = (Value::Null, Value::Null);
            assert_eq!(pretended, actual, "{dry}");
            let after = database.dump("things");
            assert_eq!(after.iter().filter(|row| !before.contains(row)).count(), 1, "but the row of somebody else");
        }
        assert_ne!(once, before);
    }
}

#[test]
fn undo_is_limited_to_chosen_tables_and_columns() {
    let mut database = Database::new(Kind::Sqlite, "chosen");
    for table in ["one", "two"] {
        fill(&mut database, table, 10);
    }
    let before = (database.dump("one"), database.dump("two"));
    let change = [&CHANGE[..], &["--table", "one", "--table", "two", "--undo-file", "a.undo"]].concat();
    database.replace(&change, 0);
    let changed = database.dump("two");
    database.replace(&["--undo", "a.undo", "--table", "one", "--skip-column", "bytes"], 0);
    database.replace(&["--undo", "a.undo", "-c", "bytes", "--table", "one"], 0);
    assert_eq!((database.dump("one"), database.dump("two")), (before.0.clone(), changed));
    let (_, stderr) = database.replace(&["--undo", "a.undo", "--table", "three"], 0);
    assert!(
        stderr.contains("0 values restored") && stderr.contains("there is no table `three` in the undo file"),
        "{stderr}"
    );
    database.replace(&["--undo", "a.undo"], 0);
    assert_eq!((database.dump("one"), database.dump("two")), before);
}

#[test]
fn values_altered_by_the_database_are_undone() {
    for kind in all_kinds() {
        let mut database = Database::new(kind, "made");
        let script = match kind {
            Kind::Sqlite => {
                "CREATE TABLE m (id INTEGER PRIMARY KEY, a NUMERIC, b TEXT, c BLOB);\n\
                 INSERT INTO m VALUES (1, 'EUR 5', x'00ff45555220', CAST(x'ff45555220' AS TEXT)), (2, 7, 'EUR 1', NULL);\n\
                 CREATE TRIGGER t AFTER UPDATE OF b ON m WHEN new.b NOT LIKE '%EUR%' BEGIN UPDATE m SET b = UPPER(new.b || '!') WHERE id = new.id AND typeof(new.b) = 'text'; END"
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres => {
                "CREATE TABLE m (id UUID, day DATE, at TIMESTAMPTZ, a JSONB, b TEXT, c CHAR(20), d XML, PRIMARY KEY (id, day, at));\n\
                 INSERT INTO m VALUES ('00000000-0000-4000-8000-000000000001', '2026-02-03', '2026-02-03 04:05:06.789+02', '{\"b\": \"EUR \\u00e9\", \"EUR a\": 1}', 'EUR x  ', 'EUR  ', '<a>EUR </a>'),\n\
                     ('00000000-0000-4000-8000-000000000001', '2026-02-04', 'infinity', '\"EUR \"', 'EUR \\ '' \"', NULL, NULL);\n\
                 CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF position('EUR' IN NEW.b) = 0 THEN NEW.b := upper(NEW.b) || '!'; END IF; RETURN NEW; END $$;\n\
                 CREATE TRIGGER t BEFORE UPDATE OF b ON m FOR EACH ROW EXECUTE FUNCTION f()"
            }
            #[cfg(feature = "mysql")]
            Kind::Mysql => {
                "CREATE TABLE m (id BINARY(4), n BIGINT UNSIGNED, t VARCHAR(20) CHARACTER SET latin1, a BINARY(8), b TEXT, c CHAR(20), d TEXT CHARACTER SET latin1, e JSON, f VARBINARY(20), PRIMARY KEY (id, n, t));\n\
                 INSERT INTO m VALUES (x'00ff4100', 18446744073709551615, 'Ä ', 'EUR ab', 'EUR x  ', 'EUR  ', 'EUR é€', '{\"EUR a\": \"EUR \"}', x'ff00455552'),\n\
                     (x'00ff4100', 1, 'a', 'x', 'EUR \\\\ '' \"', 'EUR', NULL, '\"EUR x\"', 'EUR');\n\
                 CREATE TRIGGER t BEFORE UPDATE ON m FOR EACH ROW SET NEW.b = IF(LOCATE('EUR', NEW.b) = 0 AND NEW.b <> OLD.b, CONCAT(UPPER(NEW.b), '!'), NEW.b)"
            }
        };
        database.run(script);
        let before = database.dump("m");
        for (new, keys) in [("", false), ("dollars ", true), ("€", true)] {
            let keys: &[&str] = if keys { &["--keys"] } else { &[] };
            let change = [&["EUR ", new, "--table", "m", "--undo-file", "a.undo"], keys].concat();
            database.replace(&change, 0);
            assert_ne!(database.dump("m"), before);
            let (_, stderr) = database.replace(&["--undo", "a.undo"], 0);
            assert!(!stderr.contains("stay") && !stderr.contains("gone"), "{kind:?}: {stderr}");
            assert_eq!(database.dump("m"), before, "{kind:?}: {stderr}");
            fs::remove_file(database.path("a.undo")).unwrap();
        }
    }
}

#[test]
fn values_that_a_trigger_alters_during_undo_are_counted() {
    let mut database = Database::new(Kind::Sqlite, "altered");
    fill(&mut database, "things", 4);
    database.replace(&[&CHANGE[..], &["--table", "things", "--undo-file", "a.undo"]].concat(), 0);
    database.run(
        "CREATE TRIGGER t AFTER UPDATE OF name ON things WHEN new.name NOT LIKE '%!' BEGIN UPDATE things SET name = new.name || '!' WHERE id = new.id; END",
    );
    let (_, stderr) = database.replace(&["--undo", "a.undo"], 0);
    assert!(stderr.contains("3 were written, but the database stored something else (a trigger?)"), "{stderr}");
}

#[test]
fn an_interrupted_undo_is_resumed() {
    for kind in all_kinds() {
        let mut database = Database::new(kind, "goes_on");
        fill(&mut database, "things", 60);
        let before = database.dump("things");
        let change = ["--table", "things", "--rows", "10", "--undo-file", "a.undo", "--resume", "change.json"];
        database.replace(&[&CHANGE[..], &change].concat(), 0);
        let undo = ["--undo", "a.undo", "--resume", "undo.json"];
        // The state of a change is not a state of an undo.
        let (_, stderr) = database.replace(&["--undo", "a.undo", "--resume", "change.json"], 2);
        assert!(stderr.contains("not a file of --resume for --undo"), "{stderr}");
        database.replace(&[&undo[..], &["--dry-run"]].concat(), 0);
        assert!(!database.path("undo.json").exists());
        database.replace(&undo, 0);
        assert_eq!(database.dump("things"), before);
        let (_, stderr) = database.replace(&undo, 0);
        assert!(stderr.contains("0 values restored") && !stderr.contains("already"), "it is done: {stderr}");
        let (_, stderr) = database.replace(&[&undo[..], &["--table", "things"]].concat(), 2);
        assert!(stderr.contains("of other tables and columns"), "{stderr}");
        let state = fs::read_to_string(database.path("undo.json")).unwrap();
        fs::write(database.path("undo.json"), state.replace("\"left\":0", "\"left\":99")).unwrap();
        let (_, stderr) = database.replace(&undo, 0);
        assert!(stderr.contains("already had their old values"), "{stderr}");
    }
}

/// With a state of `--resume`, the undo file is continued too, and nothing else replaces it.
#[test]
fn a_resumed_change_keeps_its_undo_file() {
    let mut database = Database::new(Kind::Sqlite, "on");
    fill(&mut database, "things", 30);
    let before = database.dump("things");
    database.run("CREATE TRIGGER held BEFORE UPDATE ON things WHEN old.id = 16 BEGIN SELECT RAISE(ABORT, 'held'); END");
    let words = [&CHANGE[..], &["--table", "things", "--rows", "5", "--resume", "state.json"]].concat();
    let (_, stderr) = database.replace(&words, 5);
    assert!(
        stderr.contains("held; done up to the key 14") && stderr.contains("the old values are in icecore-on-"),
        "{stderr}"
    );
    database.run("DROP TRIGGER held");
    let name = fs::read_dir(database.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.ends_with(".undo"))
        .expect("an undo file");
    let (_, stderr) = database.replace(&[&words[..], &["--undo-file", "other.undo"]].concat(), 2);
    assert!(stderr.contains("has its undo file already"), "{stderr}");
    fs::rename(database.path(&name), database.path("away")).unwrap();
    let (_, stderr) = database.replace(&words, 2);
    assert!(stderr.contains("the undo file of this change is missing: put it back there"), "{stderr}");
    fs::rename(database.path("away"), database.path(&name)).unwrap();
    database.replace(&words, 0);
    // From another folder, with the same state.
    let (elsewhere, state) = (tempfile::tempdir().unwrap(), database.path("state.json"));
    let resumed = [&CHANGE[..], &["--table", "things", "--resume", state.to_str().unwrap()]].concat();
    let output = command_in(elsewhere.path(), &database.url, &resumed).output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("already done"));
    database.replace(&["--undo", &name], 0);
    assert_eq!(database.dump("things"), before);
}

#[test]
fn another_database_needs_the_option_other_db() {
    let mut database = Database::new(Kind::Sqlite, "first");
    fill(&mut database, "things", 10);
    let before = database.dump("things");
    database.replace(&[&CHANGE[..], &["--table", "things", "--undo-file", "a.undo"]].concat(), 0);
    let copy = database.path("copy.db");
    fs::copy(database.path("first.db"), &copy).unwrap();
    let url = format!("sqlite:{}", copy.display());
    let run = |words: &[&str]| {
        let output = command_in(database.folder.path(), &url, words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = run(&["--undo", "a.undo"]);
    assert!(code == Some(2) && stderr.contains("--other-db uses it here all the same"), "{stderr}");
    let (code, stderr) = run(&["--undo", "a.undo", "--other-db"]);
    assert!(code == Some(0) && stderr.contains("restored in 1 table"), "{stderr}");
    // The path differs, but the file is the same.
    let same = format!("sqlite:{}/./first.db", database.folder.path().display());
    let output = command_in(database.folder.path(), &same, &["--undo", "a.undo"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(database.dump("things"), before);
}

#[test]
fn an_unfit_undo_file_is_refused_before_any_change() {
    let mut database = Database::new(Kind::Sqlite, "fit");
    for table in ["one", "two"] {
        fill(&mut database, table, 20);
    }
    let change = [&CHANGE[..], &["--table", "one", "--table", "two", "--rows", "5", "--undo-file", "a.undo"]].concat();
    database.replace(&change, 0);
    let state = |database: &mut Database| database.dump("two");
    let changed = state(&mut database);
    let refuse = |database: &mut Database, code: i32, text: &str| {
        let (_, stderr) = database.replace(&["--undo", "a.undo"], code);
        assert!(stderr.contains(text), "{stderr}");
        assert_eq!(state(database), changed);
    };
    database.run("ALTER TABLE one RENAME TO gone");
    refuse(&mut database, 1, "there is no table `one`");
    database.run("ALTER TABLE gone RENAME TO one;\nALTER TABLE one RENAME COLUMN value TO other");
    refuse(&mut database, 1, "there is no column `value` of text or bytes in `one`: nothing was changed");
    database.run("ALTER TABLE one RENAME COLUMN other TO value;\nALTER TABLE one RENAME COLUMN id TO nr");
    refuse(&mut database, 1, "the key of the table `one` is (nr), and was (id)");
    database.run("ALTER TABLE one RENAME COLUMN nr TO id");
    let bytes = fs::read(database.path("a.undo")).unwrap();
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(database.path("a.undo"), &damaged).unwrap();
    refuse(&mut database, 4, "is damaged");
    // The advice of its message helps.
    let (_, stderr) = database.replace(&["--undo", "a.undo"], 4);
    let offset: usize = stderr.split("head -c ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    fs::write(database.path("less.undo"), &bytes[..offset]).unwrap();
    database.replace(&["--undo", "less.undo", "--dry-run"], 0);
    fs::write(database.path("a.undo"), &bytes[..bytes.len() - 40]).unwrap();
    let (_, stderr) = database.replace(&["--undo", "a.undo", "--dry-run"], 0);
    assert!(stderr.contains("the last record of the undo file is not whole"), "{stderr}");
    fs::write(database.path("a.undo"), b"INSERT INTO one VALUES (1)").unwrap();
    refuse(&mut database, 4, "not an undo file");
}

#[test]
fn wrong_options_for_undo_are_named() {
    let mut database = Database::new(Kind::Sqlite, "usage");
    fill(&mut database, "things", 3);
    database.replace(&[&CHANGE[..], &["--table", "things", "--undo-file", "a.undo"]].concat(), 0);
    for (words, text) in [
        (&["--undo", "a.undo", "old", "new"][..], "--undo takes neither texts nor files"),
        (&["--undo", "a.undo", "--mend"], "cannot be used with"),
        (&["--undo", "a.undo", "-e", "a", "b"], "cannot be used with"),
        (&["--undo", "absent.undo"], "absent.undo"),
        (&["--undo", "."], "an undo file must be a file on a disk"),
        (&["a", "b", "--table", "things", "--undo-file", "-"], "needs a file"),
        (&["a", "b", "--table", "things", "--undo-file", "b.undo", "--no-undo"], "cannot be used with"),
        (&["a", "b", "--other-db"], "--undo"),
        (
            &["a", "b", "--table", "things", "--undo-file", "c", "--resume", "./c"],
            "--resume and the undo file must be different",
        ),
        (
            &["a", "b", "--table", "things", "--undo-file", "c", "--summary", "c", "--force"],
            "--summary and the undo file",
        ),
        (&["--undo", "a.undo", "--summary", "a.undo", "--force"], "--summary and the undo file must be different"),
    ] {
        let (_, stderr) = database.replace(words, 2);
        assert!(stderr.contains(text), "{words:?}: {stderr}");
    }
    let without = |words: &[&str]| {
        let (_, stderr, code) = crate::run::icecore(&[&["replace"], words].concat(), b"");
        (stderr, code)
    };
    let (stderr, code) = without(&["--undo", "a.undo"]);
    assert!(code == 2 && stderr.contains("--undo needs --db URL"), "{stderr}");
    for words in [&["a", "b", "--undo-file", "x.undo"][..], &["a", "b", "--no-undo"]] {
        let (stderr, code) = without(words);
        assert!(code == 2 && stderr.contains("are for --db"), "{stderr}");
    }
}
