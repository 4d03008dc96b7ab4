//! What the command line asks of rows, once the names of the columns are known.

use super::args::Rows;
use super::column::Spec;
use super::columnar::{self, Container};
use super::text;
use crate::arguments::Global;
use crate::class_map;
use crate::filter::Filter;
use crate::form;
use crate::reading;
use crate::report::{Abort, code};
use crate::unpack::Head;
use clap::ValueEnum;
use icecore::{Limits, Stage};

/// How rows are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A dump of MySQL, PostgreSQL or SQLite, with the rows of its tables
    Sql,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// Values between tabs, without quotes and escapes
    Tsv,
    /// What `mysql -B` and SELECT … INTO OUTFILE write
    Mysql,
    /// What PostgreSQL's COPY … TO writes
    Pgcopy,
    /// A JSON object a line
    Ndjson,
    /// Each line is a value
    Lines,
    /// A file of Parquet
    Parquet,
    /// A file or a stream of Arrow
    Arrow,
    /// The rows of a query, as the command writes them itself
    #[value(skip)]
    #[cfg_attr(not(feature = "store"), expect(dead_code, reason = "for databases"))]
    Database,
}

impl Form {
    /// Whether it has columns with types, and is no text.
    pub fn has_columns(self) -> bool {
        matches!(self, Form::Parquet | Form::Arrow)
    }

    /// Of an input that nobody said it of, by its name and its first bytes.
    pub fn guess(name: &str, head: &Head) -> Option<Form> {
        if let Some(container) = Container::guess(name, &head.bytes) {
            return Some(if container == Container::Parquet { Form::Parquet } else { Form::Arrow });
        }
        match form::Form::guess(name, &head.bytes, head.is_all)? {
            form::Form::Sql => Some(Form::Sql),
            form::Form::Csv => Some(Form::Csv),
            form::Form::Tsv => Some(Form::Tsv),
            form::Form::Ndjson => Some(Form::Ndjson),
            // An object, or one a line.
            form::Form::Document(stage)
                if stage.wrappers().is_empty()
                    && [JSON, form::NDJSON].contains(&stage.format().name)
                    && head.bytes.starts_with(b"{") =>
            {
                Some(Form::Ndjson)
            }
            _ => None,
        }
    }
}

/// What becomes of a value that can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// It stays as it is; if it begins as frozen data, NAME_error says what is wrong
    Keep,
    /// It becomes null, and NAME_error says why
    Null,
    /// Its row is left out
    Skip,
    /// The command stops there
    Stop,
}

/// How bytea values of PostgreSQL are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bytea {
    /// `\x6869`, as PostgreSQL writes since 9.0
    Hex,
    /// `hi\000`, as `bytea_output = escape` writes
    Escape,
    /// They are not undone
    No,
}

/// Which bytes the characters of a JSON string are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Text {
    /// Those of UTF-8
    Utf8,
    /// One for each, up to U+00FF
    Latin1,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    Json,
    Csv,
    Tsv,
    /// In columns that have types.
    Columns(Container),
}

/// What is asked of an input.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub args: &'a Rows,
    pub global: &'a Global,
    pub form: Form,
    /// The column that is decoded, if none is named.
    pub usual: Option<&'static str>,
    /// What the input is called.
    pub file: &'a str,
}

/// What is done with rows.
#[derive(Clone)]
pub struct Plan {
    pub form: Form,
    pub out: Out,
    /// The JSON that values become.
    pub json: Stage,
    /// The names of the columns, and their keys: `"id":`.
    pub names: Vec<String>,
    pub keys: Vec<Vec<u8>>,
    pub columns: Vec<Spec>,
    /// Which of the columns are not written.
    pub hidden: Vec<bool>,
    /// Columns that say where a row is from, before all others: name and value; and the same in JSON.
    pub lead: Vec<(String, String)>,
    pub lead_json: Vec<u8>,
    table_column: Option<String>,
    filter: Filter,
    /// The column that says which program a value is of.
    pub program: Option<usize>,
    /// The names of the columns that the input does not have: messages, and what became of
    /// the values.
    pub own: Vec<String>,
    pub on_error: OnError,
    /// Whether an empty value is NULL: where rows have no other way to say that.
    pub empty_is_null: bool,
    /// Whether a column says of each value what became of it.
    pub has_kinds: bool,
    pub bytea: Bytea,
    pub text: Text,
    pub delimiter: u8,
    pub limits: Limits,
    /// Whether a loss is an error.
    pub strict: bool,
    /// Whether strings in decoded values are opened.
    pub deep: bool,
    /// Whether cells that a spreadsheet would run are made text.
    pub csv_safe: bool,
}

impl Plan {
    /// Of a table whose columns have these names.
    pub fn new(asked: &Asked<'_>, header: Vec<String>) -> Result<Plan, Abort> {
        let Asked { args, form, usual, .. } = *asked;
        let names = header;
        let columns = match (&args.columns[..], form) {
            ([], Form::Lines) => vec![Spec::parse("1", &[])?],
            ([column], Form::Lines) => vec![Spec { at: Some(0), ..Spec::parse(column, &[])? }],
            (_, Form::Lines) => return Err(usage("lines have one column only".to_owned())),
            ([], Form::Parquet | Form::Arrow) => Vec::new(),
            ([], _) if usual.is_none() && matches!(out(args)?, Out::Columns(_)) => Vec::new(),
            ([], _) => match usual {
                Some(column) => vec![Spec::parse(column, &names)?],
                None => return Err(usage(no_column(&names))),
            },
            (columns, form) => {
                let is_fixed = !names.is_empty() && form != Form::Ndjson;
                let parse = |text: &String| Spec::parse(text, if is_fixed { &names } else { &[] });
                columns.iter().map(parse).collect::<Result<_, _>>()?
            }
        };
        if let Some(column) = columns.iter().find(|column: &&Spec| column.at.is_none() && form != Form::Ndjson) {
            let name = &column.name;
            return Err(usage(format!(
                "there is no column `{name}`: the columns have no names; give them with --columns, or name it by its \
                 number from 1 on"
            )));
        }
        let mut plan = Plan::base(asked)?;
        if form == Form::Ndjson && plan.filter.has_columns() {
            return Err(usage("`--only` and `--skip-column` are for tables with columns".to_owned()));
        }
        plan.program = usual.and_then(|_| names.iter().position(|name| name == "program"));
        plan.of_columns(None, "", names, columns)
    }

    /// What does not depend on the columns.
    pub fn base(asked: &Asked<'_>) -> Result<Plan, Abort> {
        let Asked { args, global, form, file, .. } = *asked;
        let (out, json) = target(args)?;
        if matches!(out, Out::Columns(_)) || matches!(form, Form::Parquet | Form::Arrow) {
            columnar::check()?;
        }
        if form == Form::Ndjson && matches!(out, Out::Csv | Out::Tsv) {
            return Err(usage(
                "rows of `--in ndjson` have no fixed columns: they are written as json, parquet or arrow".to_owned(),
            ));
        }
        if form != Form::Sql && (!args.tables.is_empty() || args.table_column.is_some()) {
            return Err(usage("`--table` and `--table-column` are for `--in sql`".to_owned()));
        }
        Ok(Plan {
            own: Vec::new(),
            form,
            out,
            json,
            names: Vec::new(),
            keys: Vec::new(),
            columns: Vec::new(),
            hidden: Vec::new(),
            lead: args.file_column.iter().map(|name| (name.clone(), file.to_owned())).collect(),
            lead_json: Vec::new(),
            table_column: args.table_column.clone(),
            filter: Filter::new(&args.tables, &args.only, &args.skipped),
            program: None,
            on_error: args.on_error,
            empty_is_null: args.on_error != OnError::Keep
                || matches!(out, Out::Columns(_))
                || matches!(form, Form::Csv | Form::Tsv | Form::Lines) && args.null.is_none(),
            has_kinds: args.kind_column,
            bytea: args.bytea,
            text: args.text,
            delimiter: args.out_delimiter(form),
            limits: Limits::clone(&global.limit),
            strict: args.strict,
            deep: args.deep,
            csv_safe: args.csv_safe,
        })
    }

    /// The same with columns of these names, some of which are decoded.
    pub fn of_columns(
        mut self,
        schema: Option<&str>,
        table: &str,
        mut names: Vec<String>,
        columns: Vec<Spec>,
    ) -> Result<Plan, Abort> {
        if self.form == Form::Lines && names.is_empty() {
            let given = columns.first().and_then(Spec::given_name);
            names.push(given.unwrap_or("value").to_owned());
        }
        // Columns without names have numbers.
        let most = columns.iter().filter_map(|column| column.at).max().map_or(0, |at| at + 1);
        for number in names.len() + 1..=most {
            names.push(number.to_string());
        }
        self.keys = names.iter().map(|name| text::key(name)).collect();
        if self.filter.has_columns() {
            let is_hidden = |(at, name): (usize, &String)| {
                !self.filter.takes_column(schema, table, name) && !columns.iter().any(|column| column.at == Some(at))
            };
            self.hidden = names.iter().enumerate().map(is_hidden).collect();
        }
        (self.names, self.columns) = (names, columns);
        self.lead.extend(self.table_column.take().map(|name| (name, table.to_owned())));
        for (name, value) in &self.lead {
            self.lead_json.extend_from_slice(&text::key(name));
            text::string(value.as_bytes(), &mut self.lead_json);
            self.lead_json.push(b',');
        }
        self.own = self.own_names();
        self.check_names()?;
        Ok(self)
    }

    /// Which tables and columns are written.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Whether no column is written.
    pub fn hides_all(&self) -> bool {
        !self.hidden.is_empty() && self.hidden.iter().all(|hidden| *hidden)
    }

    /// Whether the column at this position is not written.
    pub fn is_hidden(&self, at: usize) -> bool {
        self.hidden.get(at).copied().unwrap_or(false)
    }

    /// The key of the column at this position.
    pub fn key(&self, at: usize) -> std::borrow::Cow<'_, [u8]> {
        match self.keys.get(at) {
            Some(key) => key.into(),
            None => text::key(&(at + 1).to_string()).into(),
        }
    }

    /// The name of the column at this position.
    pub fn name(&self, at: usize) -> String {
        self.names.get(at).cloned().unwrap_or_else(|| (at + 1).to_string())
    }

    /// Whether messages get columns of their own.
    pub fn has_error_columns(&self) -> bool {
        matches!(self.on_error, OnError::Keep | OnError::Null)
    }

    /// The name of a column to decode.
    pub fn column(&self, column: usize) -> String {
        let spec = &self.columns[column];
        spec.at.filter(|_| self.form != Form::Ndjson).map_or_else(|| spec.name.clone(), |at| self.name(at))
    }

    fn own_names(&self) -> Vec<String> {
        let columns = || (0..self.columns.len()).map(|column| self.column(column));
        let errors = columns().filter(|_| self.has_error_columns()).map(error_name);
        errors.chain(columns().filter(|_| self.has_kinds).map(kind_name)).collect()
    }

    /// A column of the input may not pass for one of ours.
    fn check_names(&self) -> Result<(), Abort> {
        let own: Vec<&String> = self.lead.iter().map(|(name, _)| name).chain(&self.own).collect();
        let is_known = |own: &&&String| self.names.contains(**own) && self.form != Form::Ndjson;
        let twice = own.iter().enumerate().find(|(at, name)| own[..*at].contains(name)).map(|(_, name)| name);
        match own.iter().find(is_known).or(twice) {
            None => Ok(()),
            Some(name) if self.lead.iter().any(|(lead, _)| lead == *name) => Err(usage(format!(
                "the input has a column `{name}`, and so is that called which says where a row is from: give it another \
                 name, with --table-column=NAME or --file-column=NAME"
            ))),
            Some(name) => Err(usage(format!(
                "the input has a column `{name}`, and so is that called which says what became of a value: give the \
                 columns other names with --columns (and --header, if the first row has names)"
            ))),
        }
    }

    /// Writes the names of the columns, if the output is a table.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        if matches!(self.out, Out::Json | Out::Columns(_)) {
            return;
        }
        for (at, name) in self.header().iter().enumerate() {
            self.cell(at == 0, name.as_bytes(), out);
        }
        out.push(b'\n');
    }

    /// The names of all columns of the output.
    pub fn header(&self) -> Vec<String> {
        let shown = self.names.iter().enumerate().filter(|(at, _)| !self.is_hidden(*at)).map(|(_, name)| name);
        self.lead.iter().map(|(name, _)| name).chain(shown).chain(&self.own).cloned().collect()
    }

    /// Writes a cell of a table.
    pub fn cell(&self, is_first: bool, bytes: &[u8], out: &mut Vec<u8>) {
        text::table_cell(self.out, self.delimiter, self.csv_safe, is_first, bytes, out);
    }
}

/// What the message is called that belongs to a value.
pub fn error_name(column: String) -> String {
    column + "_error"
}

/// What that is called which says what became of a value.
pub fn kind_name(column: String) -> String {
    column + "_kind"
}

/// Rows are objects of JSON, a line each, and so are the values in columns.
pub const JSON: &str = form::JSON;

/// How rows are written, and the JSON in them.
fn target(args: &Rows) -> Result<(Out, Stage), Abort> {
    let (out, json) = match (args.to(), Container::named(args.to())) {
        // Their types are all that is wanted.
        (_, None) if args.typed.schema_only => (Out::Columns(Container::Parquet), JSON),
        (_, Some(container)) => (Out::Columns(container), JSON),
        ("csv", None) => (Out::Csv, JSON),
        ("tsv", None) => (Out::Tsv, JSON),
        (other, None) => (Out::Json, other),
    };
    let mut stage = Stage::parse(json).map_err(crate::report::usage)?;
    stage = stage.of_line().unwrap_or(stage);
    reading::set(&mut stage, &args.to_options).map_err(crate::report::usage)?;
    class_map::set(&mut stage, &[])?;
    if stage.format().name != JSON || !stage.wrappers().is_empty() || stage.settings().number("indent") > Some(0) {
        return Err(usage(format!(
            "rows are written as json (without indent), csv, tsv, parquet, arrow or arrows, not as `{}`",
            args.to()
        )));
    }
    if args.csv_safe && !matches!(out, Out::Csv | Out::Tsv) {
        return Err(usage("`--csv-safe` is for `-t csv` and `-t tsv`".to_owned()));
    }
    Ok((out, stage))
}

/// How rows are written.
pub fn out(args: &Rows) -> Result<Out, Abort> {
    Ok(target(args)?.0)
}

/// The extension of a file of rows.
pub fn extension(args: &Rows) -> Result<&'static str, Abort> {
    Ok(match target(args)?.0 {
        Out::Csv => "csv",
        Out::Tsv => "tsv",
        Out::Json => "ndjson",
        Out::Columns(container) => container.name(),
    })
}

fn no_column(names: &[String]) -> String {
    let known = if names.is_empty() { String::new() } else { format!(" (there are {})", crate::plural::listed(names)) };
    format!("name the columns to decode: --column NAME[=FORMAT]{known}")
}

/// A mistake on the command line.
pub fn usage(message: String) -> Abort {
    Abort::Failed(code::USAGE, message)
}
