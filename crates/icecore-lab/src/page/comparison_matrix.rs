//! Comparison of all pairs of competitors, in the layout of Perl's `cmpthese`.

use super::number::format_rate;
use super::table::Table;
use super::view::{Names, is_correct, sort_by_speed};
use crate::model::{Comparison, Entry, Operation, Point};
use crate::stats::compare_samples;
use std::cmp::Ordering;

/// Approximate width of the names and the rates in front of the columns.
const ROW_HEAD_WIDTH: usize = 44;

/// What the head of a column shows.
#[derive(Clone, Copy)]
enum ColumnHeads {
    Names,
    /// The number of the competitor. The same number is in front of its row.
    Numbers,
}

/// The competitors of one operation, slowest first, with all comparisons.
pub(super) struct Matrix<'a> {
    pub(super) rows: Vec<(&'a Entry, f64)>,
    /// For each row, how many times faster it is than each column.
    pub(super) against: Vec<Vec<Option<Comparison>>>,
    /// Competitors whose round trip differs. They are not compared.
    pub(super) wrong: Vec<&'a Entry>,
}

impl<'a> Matrix<'a> {
    /// Creates the matrix. Returns `None` if fewer than two competitors have correct results.
    pub(super) fn new(point: &'a Point, operation: Operation, resolution: f64) -> Option<Self> {
        let (mut rows, wrong): (Vec<_>, Vec<_>) =
            sort_by_speed(point, operation).into_iter().partition(|(entry, _)| is_correct(entry));
        // The rates are shown next to the names, so the rows are in the order of the rates.
        rows.sort_by(|(left, left_ns), (right, right_ns)| right_ns.total_cmp(left_ns).then(right.id.cmp(&left.id)));
        if rows.len() < 2 {
            return None;
        }
        let compare_cells = |row: usize, column: usize| {
            let row_cell = rows[row].0.find_cell(operation)?;
            let column_cell = rows[column].0.find_cell(operation)?;
            compare_samples(&row_cell.samples, &column_cell.samples, resolution)
        };
        // Only one half is computed. The other half has the inverse quotients, so that both agree exactly.
        let half: Vec<Vec<_>> =
            (0..rows.len()).map(|row| (0..row).map(|column| compare_cells(row, column)).collect()).collect();
        let comparison_at = |row: usize, column: usize| match row.cmp(&column) {
            Ordering::Greater => half[row][column],
            Ordering::Less => half[column][row].map(invert_comparison),
            Ordering::Equal => None,
        };
        let against =
            (0..rows.len()).map(|row| (0..rows.len()).map(|column| comparison_at(row, column)).collect()).collect();
        Some(Self { rows, against, wrong: wrong.into_iter().map(|(entry, _)| entry).collect() })
    }

    /// Keeps the fastest rows and the important ones. Returns how many were removed.
    pub(super) fn keep_fastest(&mut self, fastest: usize, important: impl Fn(&Entry) -> bool) -> usize {
        let all = self.rows.len();
        let is_kept = |row: usize| row + fastest >= all || important(self.rows[row].0);
        let kept: Vec<usize> = (0..all).filter(|row| is_kept(*row)).collect();
        // A sentence says how many rows are removed. For one or two rows, it would be as long as the rows.
        if kept.len() + 2 >= all {
            return 0;
        }
        self.against = kept.iter().map(|row| kept.iter().map(|column| self.against[*row][*column]).collect()).collect();
        self.rows = kept.iter().map(|row| self.rows[*row]).collect();
        all - kept.len()
    }

    /// Returns the text of a cell: `--`, `=`, `192%`.
    pub(super) fn format_cell(&self, row: usize, column: usize) -> String {
        match &self.against[row][column] {
            _ if row == column => "--".into(),
            None => "?".into(),
            Some(comparison) if comparison.tie => "=".into(),
            Some(comparison) => match (comparison.times.estimate - 1.0) * 100.0 {
                percent if percent.is_finite() => format!("{percent:.0}%"),
                _ => "?".into(),
            },
        }
    }

    /// Returns the matrix as tables. If it is too wide, the columns are numbered, and spread over several tables if
    /// necessary.
    pub(super) fn build_tables(&self, names: &Names, width: usize) -> Vec<Table> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let named = self.build_table(names, &all, ColumnHeads::Names);
        if named.total_width() <= width {
            return vec![named];
        }
        let numbered_width = self.build_table(names, &all, ColumnHeads::Numbers).total_width();
        // Each further table repeats the names of the rows and their rates, for which some width is reserved.
        let table_count = match numbered_width <= width {
            true => 1,
            false => numbered_width.div_ceil(width - ROW_HEAD_WIDTH.min(width / 2)),
        };
        all.chunks(all.len().div_ceil(table_count))
            .map(|columns| self.build_table(names, columns, ColumnHeads::Numbers))
            .collect()
    }

    fn build_table(&self, names: &Names, columns: &[usize], heads: ColumnHeads) -> Table {
        let mut table = Table::new(["", ">Rate"]);
        for column in columns {
            match heads {
                ColumnHeads::Numbers => table.add_column(&format!(">{}", column + 1)),
                ColumnHeads::Names => table.add_column(&format!(">{}", names.display_name(&self.rows[*column].0.id))),
            }
        }
        for (row, (entry, ns)) in self.rows.iter().enumerate() {
            let name = names.display_name(&entry.id);
            let name = match heads {
                ColumnHeads::Numbers => format!("{:>2} {name}", row + 1),
                ColumnHeads::Names => name,
            };
            table.add_row(
                [name, format_rate(*ns)].into_iter().chain(columns.iter().map(|column| self.format_cell(row, *column))),
            );
        }
        table
    }
}

/// Returns the comparison with the sides exchanged.
fn invert_comparison(comparison: Comparison) -> Comparison {
    let mut times = comparison.times;
    times.estimate = 1.0 / comparison.times.estimate;
    (times.low, times.high) = (1.0 / comparison.times.high, 1.0 / comparison.times.low);
    Comparison { times, tie: comparison.tie }
}
