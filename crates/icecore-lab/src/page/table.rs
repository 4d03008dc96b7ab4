//! A table, formatted for a terminal or for Markdown.

use super::view::plain;
use std::fmt::Write;

/// A table whose cells are text.
#[derive(Default)]
pub struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// Head of a column.
pub(super) struct Column {
    pub(super) title: String,
    /// Whether the column is aligned to the right, for numbers.
    pub(super) right: bool,
}

/// A line of a table.
pub(super) enum Row {
    /// One text for each column.
    Cells(Vec<String>),
    /// A heading between rows.
    Section(String),
}

impl Table {
    /// Creates a table with these column heads; those that begin with `>` are aligned to the right.
    pub fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self::default();
        for title in titles {
            table.column(title);
        }
        table
    }

    /// Adds a column.
    pub fn column(&mut self, title: &str) {
        let right = title.starts_with('>');
        self.columns.push(Column { title: plain(title.strip_prefix('>').unwrap_or(title)), right });
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row::Cells(cells.into_iter().map(|cell| plain(&cell)).collect()));
    }

    /// Adds a heading between rows.
    pub(super) fn section(&mut self, title: &str) {
        self.rows.push(Row::Section(plain(title)));
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Formats the table for a terminal, with two spaces between columns.
    pub fn text(&self) -> String {
        let widths = self.widths();
        let mut out = String::new();
        if self.columns.iter().any(|c| !c.title.is_empty()) {
            self.line(&mut out, &widths, |i| &self.columns[i].title);
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => self.line(&mut out, &widths, |i| cells.get(i).map_or("", |c| c)),
                Row::Section(title) => _ = writeln!(out, "{title}"),
            }
        }
        out
    }

    fn line<'a>(&'a self, out: &mut String, widths: &[usize], cell: impl Fn(usize) -> &'a str) {
        let mut line = String::new();
        for (i, width) in widths.iter().enumerate() {
            let text = cell(i);
            let gap = " ".repeat(width.saturating_sub(text.chars().count()));
            if i > 0 {
                line.push_str("  ");
            }
            match self.columns[i].right {
                true => _ = write!(line, "{gap}{text}"),
                false => _ = write!(line, "{text}{gap}"),
            }
        }
        _ = writeln!(out, "{}", line.trim_end());
    }

    /// Returns the width of each column.
    fn widths(&self) -> Vec<usize> {
        let cell = |row: &Row, i: usize| match row {
            Row::Cells(cells) => cells.get(i).map_or(0, |c| c.chars().count()),
            Row::Section(_) => 0,
        };
        let widest = |i: usize| self.rows.iter().map(|row| cell(row, i)).max().unwrap_or(0);
        self.columns.iter().enumerate().map(|(i, c)| widest(i).max(c.title.chars().count())).collect()
    }

    /// Returns the width of the table on a terminal.
    pub(super) fn width(&self) -> usize {
        self.widths().iter().map(|w| w + 2).sum::<usize>().saturating_sub(2)
    }

    /// Formats the table as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let line = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
            *out += "|";
            for cell in cells {
                _ = write!(out, " {cell} |");
            }
            *out += "\n";
        };
        line(&mut out, &mut self.columns.iter().map(|c| escape(&c.title)));
        out += "|";
        for column in &self.columns {
            out += if column.right { "--:|" } else { "---|" };
        }
        out += "\n";
        for row in &self.rows {
            match row {
                Row::Cells(cells) => line(&mut out, &mut cells.iter().map(|c| escape(c))),
                Row::Section(title) => {
                    let rest = self.columns.iter().skip(1).map(|_| String::new());
                    line(&mut out, &mut std::iter::once(format!("*{}*", escape(title))).chain(rest));
                }
            }
        }
        out
    }
}

/// Escapes text for Markdown.
pub fn escape(text: &str) -> String {
    let text = plain(text);
    let mut out = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let edge = !before.is_alphanumeric() || !rest.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '\\' | '|' | '*' | '`' | '[' | ']' => out.extend(['\\', c]),
            '_' | '~' if edge => out.extend(['\\', c]),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// Formats any text as code in Markdown.
pub(super) fn code(text: &str) -> String {
    let text = plain(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", ">time"]);
        table.row(["(l/A*)*".into(), "1 ns".into()]);
        table.section("without");
        table.row(["a|b\u{1b}[2J".into(), "1,000 ns".into()]);
        table
    }

    #[test]
    fn columns_stand_below_each_other() {
        assert_eq!(
            table().text(),
            "name              time\n(l/A*)*           1 ns\nwithout\na|b\\u{1b}[2J  1,000 ns\n"
        );
        assert_eq!(table().width(), 22);
    }

    #[test]
    fn markdown_does_not_understand_names() {
        let wanted = "| name | time |\n|---|--:|\n| (l/A\\*)\\* | 1 ns |\n| *without* |  |\n| a\\|b\\\\u{1b}\\[2J | 1,000 ns |\n";
        assert_eq!(table().markdown(), wanted);
        assert_eq!(escape("__unserialize var_export <b>"), "\\_\\_unserialize var_export &lt;b>");
        assert_eq!(code("a`b"), "`` a`b ``");
    }
}
