//! Rows of any query, over each available database.

use crate::common;

use icecore_store::{Address, ErrorKind, Flow, Line, describe, open, query};

type Values = Vec<Option<Vec<u8>>>;

/// Returns the names and the rows.
fn run_query(address: &Address, sql: &str) -> icecore_store::Result<(Vec<String>, Vec<Values>)> {
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    query(address, sql, &mut |line| {
        match line {
            Line::Names(found) => names = found.to_vec(),
            Line::Values(values) => {
                rows.push(values.iter().map(|value| value.as_bytes().map(<[u8]>::to_vec)).collect());
            }
        }
        Ok(Flow::Continue)
    })?;
    Ok((names, rows))
}

#[test]
fn queries_return_rows_unchanged_and_cannot_write() {
    for (name, new_database) in common::sql_backends() {
        let address = new_database();
        let mut store = open(&address).expect(name);
        let every: Vec<u8> = (0..=255).collect();
        let mut object = describe::describe_object(every.clone(), None);
        object.key = Some("Zoë 日本".to_owned());
        store.put(&[object, describe::describe_object(b"[1]".to_vec(), None)]).expect(name);
        let sql = "SELECT object_key, seq, bytes, expires_at FROM icecore_objects ORDER BY seq";
        let (names, rows) = run_query(&address, sql).expect(name);
        assert_eq!(names, ["object_key", "seq", "bytes", "expires_at"], "{name}");
        assert_eq!(rows[0], [Some("Zoë 日本".into()), Some(b"1".to_vec()), Some(every), None], "{name}");
        assert_eq!(rows[1], [None, Some(b"2".to_vec()), Some(b"[1]".to_vec()), None], "{name}");
        let writes = [
            "DELETE FROM icecore_objects",
            "UPDATE icecore_objects SET bytes = NULL",
            "DROP TABLE icecore_objects",
            "INSERT INTO icecore_queues (name) VALUES ('q')",
            "SELECT 1; DELETE FROM icecore_objects",
        ];
        for sql in writes {
            let refused = run_query(&address, sql);
            // The text after the first statement may be ignored; it is not run.
            assert!(refused.is_err() || sql.starts_with("SELECT"), "{name}: {sql}");
        }
        assert_eq!(run_query(&address, sql).expect(name).1.len(), 2, "{name}");
        assert_ne!(run_query(&address, "SELECT nonsense").expect_err(name).kind(), ErrorKind::Away, "{name}");
    }
}
