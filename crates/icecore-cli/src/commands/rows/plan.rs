//! What the command line asks of rows, once the names of the columns are known.

use super::column::Spec;
use super::text;
use crate::class_map;
use crate::cli::{Global, Rows};
use crate::reading;
use crate::report::{Abort, code};
use clap::ValueEnum;
use icecore::{Limits, Stage};

/// How rows are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
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
}

/// What is done with rows.
pub struct Plan {
    pub form: Form,
    pub out: Out,
    /// The JSON that values become.
    pub json: Stage,
    /// The names of the columns, and their keys: `"id":`.
    pub names: Vec<String>,
    pub keys: Vec<Vec<u8>>,
    pub columns: Vec<Spec>,
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
    pub fn new(args: &Rows, global: &Global, header: Vec<String>, usual: Option<&str>) -> Result<Plan, Abort> {
        let (out, json) = target(args)?;
        let mut names = header;
        let columns = match (&args.columns[..], args.form()) {
            ([], Form::Lines) => vec![Spec::parse("1", &[])?],
            ([column], Form::Lines) => vec![Spec { at: Some(0), ..Spec::parse(column, &[])? }],
            (_, Form::Lines) => return Err(usage("lines have one column only".to_owned())),
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
        if let Some(column) = columns.iter().find(|column: &&Spec| column.at.is_none() && args.form() != Form::Ndjson) {
            let name = &column.name;
            return Err(usage(format!(
                "there is no column `{name}`: the columns have no names; give them with --columns, or name it by its \
                 number from 1 on"
            )));
        }
        if args.form() == Form::Lines && names.is_empty() {
            names.push(columns[0].given_name().unwrap_or("value").to_owned());
        }
        // Columns without names have numbers.
        let most = columns.iter().filter_map(|column| column.at).max().map_or(0, |at| at + 1);
        for number in names.len() + 1..=most {
            names.push(number.to_string());
        }
        let keys = names.iter().map(|name| text::key(name)).collect();
        let program = usual.and_then(|_| names.iter().position(|name| name == "program"));
        let mut plan = Plan {
            own: Vec::new(),
            form: args.form(),
            out,
            json,
            names,
            keys,
            columns,
            program,
            on_error: args.on_error,
            empty_is_null: args.on_error != OnError::Keep
                || matches!(args.form(), Form::Csv | Form::Tsv | Form::Lines) && args.null.is_none(),
            has_kinds: args.kind_column,
            bytea: args.bytea,
            text: args.text,
            delimiter: args.out_delimiter(),
            limits: Limits::clone(&global.limit),
            strict: args.strict,
            deep: args.deep,
            csv_safe: args.csv_safe,
        };
        plan.own = plan.own_names();
        plan.check_names()?;
        Ok(plan)
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
        let own = &self.own;
        let is_known = |own: &&String| self.names.contains(own) && self.form != Form::Ndjson;
        let twice = own.iter().enumerate().find(|(at, name)| own[..*at].contains(name)).map(|(_, name)| name);
        match own.iter().find(is_known).or(twice) {
            None => Ok(()),
            Some(name) => Err(usage(format!(
                "the input has a column `{name}`, and so is that called which says what became of a value: give the \
                 columns other names with --columns (and --header, if the first row has names)"
            ))),
        }
    }

    /// Writes the names of the columns, if the output is a table.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        if self.out == Out::Json {
            return;
        }
        for (at, name) in self.header().iter().enumerate() {
            self.cell(at == 0, name.as_bytes(), out);
        }
        out.push(b'\n');
    }

    /// The names of all columns of the output.
    pub fn header(&self) -> Vec<String> {
        self.names.iter().chain(&self.own).cloned().collect()
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
pub const JSON: &str = "json";

/// How rows are written, and the JSON in them.
fn target(args: &Rows) -> Result<(Out, Stage), Abort> {
    let (out, json) = match args.to.as_str() {
        "csv" => (Out::Csv, JSON),
        "tsv" => (Out::Tsv, JSON),
        other => (Out::Json, other),
    };
    let mut stage = Stage::parse(json).map_err(reading::usage)?;
    stage = stage.of_line().unwrap_or(stage);
    reading::set(&mut stage, &args.to_options).map_err(reading::usage)?;
    class_map::set(&mut stage, &[])?;
    if stage.format().name != JSON || !stage.wrappers().is_empty() || stage.settings().number("indent") > Some(0) {
        return Err(usage(format!("rows are written as json (without indent), csv or tsv, not as `{}`", args.to)));
    }
    if args.csv_safe && out != Out::Csv {
        return Err(usage("`--csv-safe` is for `-t csv`".to_owned()));
    }
    if args.form() == Form::Ndjson && out != Out::Json {
        return Err(usage("rows of `--in ndjson` have no fixed columns: they are written as json".to_owned()));
    }
    Ok((out, stage))
}

/// Whether rows are objects of JSON.
pub fn is_json(args: &Rows) -> Result<bool, Abort> {
    Ok(target(args)?.0 == Out::Json)
}

/// The extension of a file of rows.
pub fn extension(args: &Rows) -> Result<&'static str, Abort> {
    Ok(match target(args)?.0 {
        Out::Csv => "csv",
        Out::Tsv => "tsv",
        Out::Json => "ndjson",
    })
}

fn no_column(names: &[String]) -> String {
    let known = if names.is_empty() { String::new() } else { format!(" (there are {})", names.join(", ")) };
    format!("name the columns to decode: --column NAME[=FORMAT]{known}")
}

/// A mistake on the command line.
pub fn usage(message: String) -> Abort {
    Abort::Failed(code::USAGE, message)
}
