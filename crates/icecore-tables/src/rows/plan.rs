//! The plan for rows, once the names of their columns are known.

use super::column::ColumnSpec;
use super::columnar::{self, Container};
use super::object;
use super::text;
use super::words::{Bytea, OnError, TableForm, Text};
use crate::error::{Result, usage_error};
use crate::filter::Filter;
use icecore::{Limits, Stage};

/// The form of the output rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// One object per line.
    Json,
    /// Cells with a delimiter, quoted if necessary.
    Csv,
    /// Cells with tabs, and the escapes of MySQL and PostgreSQL.
    Tsv,
    /// Columns with types.
    Columns(Container),
}

impl OutputForm {
    /// Returns whether the rows are lines with a header.
    pub fn is_table(self) -> bool {
        matches!(self, OutputForm::Csv | OutputForm::Tsv)
    }
}

/// The options for rows, independent of their columns.
#[derive(Clone, Debug)]
pub struct Options {
    /// The form of the output rows.
    pub out: OutputForm,
    /// Whether a byte order mark begins the csv or tsv, so that Excel reads it as UTF-8.
    pub has_byte_order_mark: bool,
    /// The JSON that values become.
    pub json: Stage,
    /// The columns to decode: `NAME[=FORMAT]`.
    pub columns: Vec<String>,
    /// The tables of a dump whose rows are written. If the list is empty, all are written.
    pub tables: Vec<String>,
    /// The only columns to write. If the list is empty, all are meant.
    pub only: Vec<String>,
    /// The columns that are not written.
    pub skipped: Vec<String>,
    /// The name of the column with the table of each row.
    pub table_column: Option<String>,
    /// The name of the column with the file of each row.
    pub file_column: Option<String>,
    /// The given properties of the input.
    pub input: TableStyle,
    /// How a value that can't be decoded is treated.
    pub on_error: OnError,
    /// Whether a column says what became of each value.
    pub has_kinds: bool,
    /// How bytea values of PostgreSQL are written.
    pub bytea: Bytea,
    /// Which bytes the characters of a JSON string represent.
    pub text: Text,
    /// Whether a loss is an error.
    pub strict: bool,
    /// Whether strings in decoded values are opened.
    pub deep: bool,
    /// Whether cells that a spreadsheet would run are made text.
    pub csv_safe: bool,
    /// Options for columns with types.
    pub typed: columnar::ColumnarOptions,
    /// Limits for reading a value.
    pub limits: Limits,
}

/// The form of the rows of an input.
#[derive(Clone, Debug, Default)]
pub struct TableStyle {
    /// The names of the columns, if no header has them.
    pub names: Vec<String>,
    /// Whether the first row has the names, if given.
    pub has_header: Option<bool>,
    /// The delimiter of values, if given.
    pub delimiter: Option<u8>,
    /// The text that means NULL.
    pub null: Option<String>,
}

impl TableStyle {
    /// Returns the delimiter of values. For a database it is fixed, because this program itself writes the rows.
    pub fn delimiter(&self, form: TableForm) -> u8 {
        match (form, self.delimiter) {
            (TableForm::Database, _) => b'\t',
            (_, Some(delimiter)) => delimiter,
            (TableForm::Csv, None) => b',',
            _ => b'\t',
        }
    }
}

impl Options {
    /// Returns the delimiter of a csv that is written.
    fn output_delimiter(&self) -> u8 {
        self.input.delimiter.unwrap_or(b',')
    }
}

/// The options for one input.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// The options that do not depend on the columns.
    pub options: &'a Options,
    /// The form of the rows of the input.
    pub form: TableForm,
    /// The column that is decoded if none is given.
    pub default_column: Option<&'static str>,
    /// The name of the input.
    pub file: &'a str,
}

/// The plan for rows.
#[derive(Clone)]
pub struct Plan {
    /// The form of the rows of the input.
    pub form: TableForm,
    /// The form of the rows of the output.
    pub out: OutputForm,
    /// Whether a byte order mark begins the csv or tsv.
    pub has_byte_order_mark: bool,
    /// The JSON that values become.
    pub json: Stage,
    /// The stage of rows that are JSON objects.
    pub row_stage: Stage,
    /// The name of the table. It is empty if the input has none.
    pub table: String,
    /// The names of the columns.
    pub names: Vec<String>,
    /// The names as JSON keys: `"id":`.
    pub keys: Vec<Vec<u8>>,
    /// The columns to decode.
    pub columns: Vec<ColumnSpec>,
    /// For each column, whether it is not written.
    pub hidden: Vec<bool>,
    /// Columns before all others with the same value in each row: the name of the file or of the table. Each has a
    /// name and a value.
    pub constant_columns: Vec<(String, String)>,
    /// The constant columns as members of a JSON object, each with a comma after it.
    pub constant_json: Vec<u8>,
    table_column: Option<String>,
    filter: Filter,
    /// The column with the program that wrote a value.
    pub program: Option<usize>,
    /// The names of the columns that are added to those of the input. They have messages, and what became of the
    /// values.
    pub added_names: Vec<String>,
    /// How a value that can't be decoded is treated.
    pub on_error: OnError,
    /// Whether an empty value is NULL, because rows have no other way to express NULL.
    pub empty_is_null: bool,
    /// Whether a column says what became of each value.
    pub has_kinds: bool,
    /// How bytea values of PostgreSQL are written.
    pub bytea: Bytea,
    /// Which bytes the characters of a JSON string represent.
    pub text: Text,
    /// The character between cells of a csv that is written.
    pub delimiter: u8,
    /// Limits for reading a value.
    pub limits: Limits,
    /// Whether a loss is an error.
    pub strict: bool,
    /// Whether strings in decoded values are opened.
    pub deep: bool,
    /// Whether cells that a spreadsheet would run are made text.
    pub csv_safe: bool,
}

impl Plan {
    /// Creates the plan for a table whose columns have these names.
    pub fn new(request: &PlanRequest<'_>, header: Vec<String>) -> Result<Plan> {
        let PlanRequest { options, form, default_column, file } = *request;
        let names = header;
        let columns = match (&options.columns[..], form) {
            ([], TableForm::Lines) => vec![ColumnSpec::parse("1", &[])?],
            ([column], TableForm::Lines) => vec![ColumnSpec { position: Some(0), ..ColumnSpec::parse(column, &[])? }],
            (_, TableForm::Lines) => return Err(usage_error("lines have one column only".to_owned())),
            ([], TableForm::Parquet | TableForm::Arrow) => Vec::new(),
            ([], _) => match default_column {
                Some(column) => vec![ColumnSpec::parse(column, &names)?],
                None => Vec::new(),
            },
            (columns, form) => {
                let known_names = if form == TableForm::Ndjson && !options.out.is_table() { &[][..] } else { &names };
                let parse = |text: &String| ColumnSpec::parse(text, known_names);
                columns.iter().map(parse).collect::<Result<_, _>>()?
            }
        };
        if let Some(column) =
            columns.iter().find(|column: &&ColumnSpec| column.position.is_none() && form != TableForm::Ndjson)
        {
            let name = &column.name;
            return Err(usage_error(format!(
                "there is no column `{name}`: the columns have no names; give them with --columns, or use the number of \
                 the column, from 1 on"
            )));
        }
        let mut plan = Plan::without_columns(request)?;
        if form == TableForm::Ndjson && !plan.out.is_table() && plan.filter.has_columns() {
            return Err(usage_error(
                "`--only` and `--skip-column` choose columns of a table: objects keep all keys, unless `-t csv` or `-t tsv` \
                 makes a table of them; `icecore query --each '{id, name}'` chooses keys"
                    .to_owned(),
            ));
        }
        plan.program = default_column.and_then(|_| names.iter().position(|name| name == "program"));
        // For rows of a database, `file` is the name of the table.
        let table = if form == TableForm::Database { file } else { "" };
        plan.with_columns(None, table, names, columns)
    }

    /// Creates the part of a plan that does not depend on the columns.
    pub fn without_columns(request: &PlanRequest<'_>) -> Result<Plan> {
        let PlanRequest { options, form, file, .. } = *request;
        let out = options.out;
        if matches!(out, OutputForm::Columns(_)) || matches!(form, TableForm::Parquet | TableForm::Arrow) {
            columnar::check_support()?;
        }
        let has_tables = matches!(form, TableForm::Sql | TableForm::Database);
        if !has_tables && (!options.tables.is_empty() || options.table_column.is_some()) {
            return Err(usage_error("`--table` and `--table-column` need `--in sql` or --db".to_owned()));
        }
        Ok(Plan {
            added_names: Vec::new(),
            form,
            out,
            has_byte_order_mark: options.has_byte_order_mark,
            json: options.json.clone(),
            row_stage: object::row_stage(options.json.format()),
            table: String::new(),
            names: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
            hidden: Vec::new(),
            constant_columns: options.file_column.iter().map(|name| (name.clone(), file.to_owned())).collect(),
            constant_json: Vec::new(),
            table_column: options.table_column.clone(),
            filter: Filter::new(&options.tables, &options.only, &options.skipped),
            program: None,
            on_error: options.on_error,
            empty_is_null: options.on_error != OnError::Keep
                || matches!(out, OutputForm::Columns(_))
                || matches!(form, TableForm::Csv | TableForm::Tsv | TableForm::Lines) && options.input.null.is_none(),
            has_kinds: options.has_kinds,
            bytea: options.bytea,
            text: options.text,
            delimiter: options.output_delimiter(),
            limits: options.limits.clone(),
            strict: options.strict,
            deep: options.deep,
            csv_safe: options.csv_safe,
        })
    }

    /// Completes the plan with columns of these names. Some of them are decoded.
    pub fn with_columns(
        mut self,
        schema: Option<&str>,
        table: &str,
        mut names: Vec<String>,
        columns: Vec<ColumnSpec>,
    ) -> Result<Plan> {
        if self.form == TableForm::Lines && names.is_empty() {
            let column_name = columns.first().and_then(ColumnSpec::given_name);
            names.push(column_name.unwrap_or("value").to_owned());
        }
        // Columns without names have numbers.
        let column_count = columns.iter().filter_map(|column| column.position).max().map_or(0, |position| position + 1);
        for number in names.len() + 1..=column_count {
            names.push(number.to_string());
        }
        self.keys = names.iter().map(|name| text::format_json_key(name)).collect();
        if self.filter.has_columns() {
            let is_hidden = |(position, name): (usize, &String)| {
                !self.filter.selects_column(schema, table, name)
                    && !columns.iter().any(|column| column.position == Some(position))
            };
            self.hidden = names.iter().enumerate().map(is_hidden).collect();
        }
        (self.table, self.names, self.columns) = (table.to_owned(), names, columns);
        self.constant_columns.extend(self.table_column.take().map(|name| (name, table.to_owned())));
        for (name, value) in &self.constant_columns {
            self.constant_json.extend_from_slice(&text::format_json_key(name));
            text::write_json_string(value.as_bytes(), &mut self.constant_json);
            self.constant_json.push(b',');
        }
        self.added_names = self.list_own_names();
        self.check_names()?;
        Ok(self)
    }

    /// Checks that the columns to write, or not to write, exist.
    ///
    /// # Errors
    /// Of kind usage, with the names of all columns.
    pub fn check_selected_columns(&self) -> Result<()> {
        let unknown = self.find_unknown_columns();
        match unknown.first() {
            Some(problem) if !self.names.is_empty() => {
                Err(usage_error(format!("{problem}: there are {}", crate::plural::join_names(&self.names))))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the rows are JSON objects that become lines of a table.
    pub fn is_table_of_objects(&self) -> bool {
        self.form == TableForm::Ndjson && self.out.is_table()
    }

    /// Returns what is wrong with the given names of columns, if this table has no such column.
    pub fn find_unknown_columns(&self) -> Vec<String> {
        let columns = self.names.iter().chain(&self.added_names).map(|name| (None, &*self.table, &**name));
        self.filter.clone().without_tables().find_unknown_names(columns)
    }

    /// Returns the filter for the tables and columns to write.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns whether no column is written.
    pub fn hides_all(&self) -> bool {
        !self.hidden.is_empty() && self.hidden.iter().all(|hidden| *hidden)
    }

    /// Returns whether the column at this position is not written.
    pub fn is_hidden(&self, position: usize) -> bool {
        self.hidden.get(position).copied().unwrap_or(false)
    }

    /// Returns the key of the column at this position.
    pub fn json_key(&self, position: usize) -> std::borrow::Cow<'_, [u8]> {
        match self.keys.get(position) {
            Some(key) => key.into(),
            None => text::format_json_key(&(position + 1).to_string()).into(),
        }
    }

    /// Returns the name of the column at this position.
    pub fn column_name(&self, position: usize) -> String {
        self.names.get(position).cloned().unwrap_or_else(|| (position + 1).to_string())
    }

    /// Returns whether messages get columns of their own.
    pub fn has_error_columns(&self) -> bool {
        matches!(self.on_error, OnError::Keep | OnError::Null)
    }

    /// Returns the name of a column to decode. If there is none, errors of whole rows are reported for the column
    /// `row`.
    pub fn decoded_column_name(&self, column: usize) -> String {
        let Some(spec) = self.columns.get(column) else { return "row".to_owned() };
        spec.position
            .filter(|_| self.form != TableForm::Ndjson)
            .map_or_else(|| spec.name.clone(), |position| self.column_name(position))
    }

    fn list_own_names(&self) -> Vec<String> {
        let columns = || (0..self.columns.len()).map(|column| self.decoded_column_name(column));
        let errors = columns().filter(|_| self.has_error_columns()).map(error_column_name);
        errors.chain(columns().filter(|_| self.has_kinds).map(kind_column_name)).collect()
    }

    /// Returns an error if a column of the input has the name of one of our own columns.
    fn check_names(&self) -> Result<()> {
        let own_names: Vec<&String> =
            self.constant_columns.iter().map(|(name, _)| name).chain(&self.added_names).collect();
        let is_input_name =
            |name: &&&String| self.names.contains(**name) && (self.form != TableForm::Ndjson || self.out.is_table());
        let repeated =
            own_names.iter().enumerate().find(|(index, name)| own_names[..*index].contains(name)).map(|(_, name)| name);
        match own_names.iter().find(is_input_name).or(repeated) {
            None => Ok(()),
            Some(name) if self.constant_columns.iter().any(|(constant_name, _)| constant_name == *name) => {
                Err(usage_error(format!(
                    "the input has a column `{name}`, which is also the name of the column for the origin of a row: \
                     name that with --table-column=NAME or --file-column=NAME"
                )))
            }
            Some(name) => Err(usage_error(format!(
                "the input has a column `{name}`, which is also the name of a column that Icecore adds: \
                 give the columns other names with --columns (and --header, if the first row has names)"
            ))),
        }
    }

    /// Writes the names of the columns, if the output is a table.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        if matches!(self.out, OutputForm::Json | OutputForm::Columns(_)) {
            return;
        }
        if self.has_byte_order_mark {
            out.extend_from_slice("\u{feff}".as_bytes());
        }
        for (index, name) in self.output_names().iter().enumerate() {
            self.write_cell(index == 0, name.as_bytes(), out);
        }
        out.push(b'\n');
    }

    /// Returns the names of all columns of the output.
    pub fn output_names(&self) -> Vec<String> {
        let visible_names =
            self.names.iter().enumerate().filter(|(position, _)| !self.is_hidden(*position)).map(|(_, name)| name);
        self.constant_columns
            .iter()
            .map(|(name, _)| name)
            .chain(visible_names)
            .chain(&self.added_names)
            .cloned()
            .collect()
    }

    /// Writes a cell of a table.
    pub fn write_cell(&self, is_first: bool, bytes: &[u8], out: &mut Vec<u8>) {
        text::write_table_cell(self.out, self.delimiter, self.csv_safe, is_first, bytes, out);
    }
}

/// Returns the name of the column with the error messages of a column.
pub fn error_column_name(column: String) -> String {
    column + "_error"
}

/// Returns the name of the column that says what became of the values of a column.
pub fn kind_column_name(column: String) -> String {
    column + "_kind"
}

/// The format of the output rows, one object per line, and of the values in columns.
pub const JSON: &str = crate::form::JSON;
