//! A table, formatted for a terminal or for Markdown.

use super::view::make_printable;
use std::borrow::Cow;
use std::fmt::Write;

/// A table whose cells are text.
#[derive(Default)]
pub struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

/// The head of a column.
pub(super) struct Column {
    pub(super) title: String,
    /// Whether the column is aligned to the right, for numbers.
    pub(super) is_right_aligned: bool,
}

/// A row of a table, or a heading between rows.
pub(super) enum Row {
    /// One text for each column.
    Cells(Vec<String>),
    /// A heading between rows.
    Section(String),
}

impl Table {
    /// Creates a table with these titles of columns. A `>` at the start of a title aligns the column to the right, and
    /// is removed.
    pub fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self::default();
        for title in titles {
            table.add_column(title);
        }
        table
    }

    /// Adds a column. See [`Table::new`] for the title.
    pub fn add_column(&mut self, title: &str) {
        let right = title.starts_with('>');
        self.columns
            .push(Column { title: make_printable(title.strip_prefix('>').unwrap_or(title)), is_right_aligned: right });
    }

    /// Adds a row.
    pub fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row::Cells(cells.into_iter().map(|cell| make_printable(&cell)).collect()));
    }

    /// Adds a heading between rows.
    pub(super) fn add_section(&mut self, title: &str) {
        self.rows.push(Row::Section(make_printable(title)));
    }

    /// Returns true if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Formats the table for a terminal, with two spaces between columns. If it is wider than `max_width`, there is one
    /// space, and long texts of the first column are shortened.
    pub fn to_text(&self, max_width: usize) -> String {
        let mut widths = self.column_widths();
        let gap = if self.total_width() <= max_width { 2 } else { 1 };
        let total_width = widths.iter().map(|width| width + gap).sum::<usize>().saturating_sub(gap);
        if let Some(first) = widths.first_mut() {
            let min_width = (*first).min(MIN_FIRST_WIDTH);
            *first = first.saturating_sub(total_width.saturating_sub(max_width)).max(min_width);
        }
        let mut out = String::new();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            self.write_line(&mut out, &widths, gap, |index| &self.columns[index].title);
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => {
                    self.write_line(&mut out, &widths, gap, |index| cells.get(index).map_or("", |cell| cell))
                }
                Row::Section(title) => _ = writeln!(out, "{title}"),
            }
        }
        out
    }

    fn write_line<'a>(&'a self, out: &mut String, widths: &[usize], gap: usize, cell_text: impl Fn(usize) -> &'a str) {
        let mut line = String::new();
        for (index, width) in widths.iter().enumerate() {
            let text = shorten_text(cell_text(index), *width);
            let padding = " ".repeat(width.saturating_sub(text.chars().count()));
            if index > 0 {
                line.push_str(&" ".repeat(gap));
            }
            match self.columns[index].is_right_aligned {
                true => _ = write!(line, "{padding}{text}"),
                false => _ = write!(line, "{text}{padding}"),
            }
        }
        _ = writeln!(out, "{}", line.trim_end());
    }

    /// Returns the width of each column.
    fn column_widths(&self) -> Vec<usize> {
        let cell_width = |row: &Row, index: usize| match row {
            Row::Cells(cells) => cells.get(index).map_or(0, |cell| cell.chars().count()),
            Row::Section(_) => 0,
        };
        let widest = |index: usize| self.rows.iter().map(|row| cell_width(row, index)).max().unwrap_or(0);
        self.columns.iter().enumerate().map(|(index, column)| widest(index).max(column.title.chars().count())).collect()
    }

    /// Returns the width of the table on a terminal.
    pub(super) fn total_width(&self) -> usize {
        self.column_widths().iter().map(|width| width + 2).sum::<usize>().saturating_sub(2)
    }

    /// Formats the table as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        let write_cells = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
            *out += "|";
            for cell in cells {
                _ = write!(out, " {cell} |");
            }
            *out += "\n";
        };
        write_cells(&mut out, &mut self.columns.iter().map(|column| escape_markdown(&column.title)));
        out += "|";
        for column in &self.columns {
            out += if column.is_right_aligned { "--:|" } else { "---|" };
        }
        out += "\n";
        for row in &self.rows {
            match row {
                Row::Cells(cells) => write_cells(&mut out, &mut cells.iter().map(|cell| escape_markdown(cell))),
                Row::Section(title) => {
                    let empty_cells = self.columns.iter().skip(1).map(|_| String::new());
                    write_cells(
                        &mut out,
                        &mut std::iter::once(format!("*{}*", escape_markdown(title))).chain(empty_cells),
                    );
                }
            }
        }
        out
    }
}

/// Minimum width of a first column that is too wide.
const MIN_FIRST_WIDTH: usize = 8;

/// Returns the text, or its beginning and `…` if it is wider than the column.
fn shorten_text(text: &str, width: usize) -> Cow<'_, str> {
    match text.chars().count() > width {
        true => (text.chars().take(width.saturating_sub(1)).collect::<String>() + "…").into(),
        false => text.into(),
    }
}

/// Escapes text for Markdown.
pub fn escape_markdown(text: &str) -> String {
    let text = make_printable(text);
    let mut out = String::new();
    let mut previous = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_at_word_edge = !previous.is_alphanumeric() || !rest.peek().is_some_and(|c| c.is_alphanumeric());
        match c {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '\\' | '|' | '*' | '`' | '[' | ']' => out.extend(['\\', c]),
            '_' | '~' if is_at_word_edge => out.extend(['\\', c]),
            _ => out.push(c),
        }
        previous = c;
    }
    out
}

/// Formats a text as inline code in Markdown, even if it contains backticks.
pub(super) fn format_code(text: &str) -> String {
    let text = make_printable(text);
    let max_backticks = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(max_backticks + 1);
    let gap = if max_backticks > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", ">time"]);
        table.add_row(["(l/A*)*".into(), "1 ns".into()]);
        table.add_section("without");
        table.add_row(["a|b\u{1b}[2J".into(), "1,000 ns".into()]);
        table
    }

    #[test]
    fn columns_are_aligned() {
        assert_eq!(
            table().to_text(22),
            "name              time\n(l/A*)*           1 ns\nwithout\na|b\\u{1b}[2J  1,000 ns\n"
        );
        assert_eq!(table().total_width(), 22);
        assert_eq!(
            table().to_text(21),
            "name             time\n(l/A*)*          1 ns\nwithout\na|b\\u{1b}[2J 1,000 ns\n"
        );
        assert_eq!(table().to_text(20), "name            time\n(l/A*)*         1 ns\nwithout\na|b\\u{1b}[… 1,000 ns\n");
    }

    #[test]
    fn names_are_escaped_for_markdown() {
        let expected = "| name | time |\n|---|--:|\n| (l/A\\*)\\* | 1 ns |\n| *without* |  |\n| a\\|b\\\\u{1b}\\[2J | 1,000 ns |\n";
        assert_eq!(table().to_markdown(), expected);
        assert_eq!(escape_markdown("__unserialize var_export <b>"), "\\_\\_unserialize var_export &lt;b>");
        assert_eq!(format_code("a`b"), "`` a`b ``");
    }
}
