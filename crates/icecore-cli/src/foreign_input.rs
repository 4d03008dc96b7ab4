//! Inputs that are not a document of any format, such as tables and databases, and the commands that read them.

use icecore_tables::form::{InputForm, has_rows};
use icecore_tables::rows::columnar::Container;

/// The kind of an input, and the commands that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignInput {
    /// Its name for people.
    pub title: &'static str,
    /// The commands that read it.
    pub commands: &'static [&'static str],
}

/// Returns true if an input with these first bytes is an SQLite database.
pub fn is_sqlite(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

impl ForeignInput {
    /// Determines the kind by the name of an input and its first bytes; `None` if no command reads it. `is_complete`
    /// is true if there are no more bytes.
    pub fn detect_kind(name: &str, head: &[u8], is_complete: bool) -> Option<ForeignInput> {
        let kind = |title, commands| Some(ForeignInput { title, commands });
        if is_sqlite(head) {
            return kind("a SQLite database", &["rows"]);
        }
        match Container::guess(name, head) {
            Some(Container::Parquet) => return kind("a file of Parquet", &["rows"]),
            Some(_) => return kind("a file of Arrow", &["rows"]),
            None => {}
        }
        match InputForm::guess(name, head, is_complete)? {
            // A program may begin like a dump: `# comment`, `use name;`.
            InputForm::Sql if has_sql_extension(name) || has_rows(head) => kind("a dump in SQL", &["rows", "replace"]),
            InputForm::Csv | InputForm::Tsv => kind("a table", &["rows", "replace"]),
            InputForm::Text if head.trim_ascii_start().starts_with(b"<") => kind("XML or HTML", &["replace"]),
            _ => None,
        }
    }

    /// Returns the command lines that read this input.
    pub fn suggest_commands(self, name: &str) -> String {
        let name = icecore::text::printable(name);
        let rows = format!("`icecore rows {name}` reads its rows");
        let replace = format!("`icecore replace OLD NEW {name}` changes text in it");
        match self.commands {
            ["rows"] => rows,
            ["replace"] => replace,
            _ => format!("{rows}, and {replace}"),
        }
    }
}

fn has_sql_extension(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sql"))
}

#[cfg(test)]
mod tests {
    use super::ForeignInput;

    #[test]
    fn first_bytes_tell_which_commands_read_an_input() {
        let commands =
            |name, head: &[u8]| ForeignInput::detect_kind(name, head, true).map(|input| input.commands.join(" "));
        for (name, head, expected) in [
            ("app.db", &b"SQLite format 3\0\x10\0"[..], Some("rows")),
            ("o", b"PAR1\x15\0", Some("rows")),
            ("o", b"ARROW1\0\0", Some("rows")),
            ("dump.sql", b"CREATE TABLE t (a int);\nINSERT INTO t VALUES (1);\n", Some("rows replace")),
            ("dump", b"INSERT INTO t VALUES (1, 'a');\n", Some("rows replace")),
            ("make.pl", b"# A program.\nuse strict;\n", None),
            ("a.csv", b"a,b\n1,2\n", Some("rows replace")),
            ("export.xml", b"<?xml version='1.0'?>\n<rss/>\n", Some("replace")),
            ("notes.txt", b"some words\n", None),
            ("a.bin", b"\xff\xfe\xfd\0\x01", None),
        ] {
            assert_eq!(commands(name, head).as_deref(), expected, "{name}");
        }
    }
}
