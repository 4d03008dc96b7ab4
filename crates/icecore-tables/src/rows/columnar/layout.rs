//! The columns of the output, and the source of each.

use super::ahead::Part;
use super::learn;
use crate::error::{Result, io_reason, usage};
use crate::rows::plan::{Plan, error_name, kind_name};
use crate::rows::words::TableForm;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use icecore_columns::{Decoder, FILLED_WITH, OnError, Options, Source, schema};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Maximum length of the text of a schema.
const LONGEST: u64 = 16 << 20;

/// The columns of the output.
pub struct Layout {
    /// The columns as an Arrow schema.
    pub schema: SchemaRef,
    /// The source of each column.
    pub fills: Vec<Fill>,
    /// The columns to decode, in the order in which they are given.
    pub blobs: Vec<Blob>,
    /// The written columns of the input; those that are not decoded have the types of the output.
    pub given: Fields,
    /// The fields that lines of JSON become.
    pub lines: Option<Fields>,
}

/// The source of a column.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// The origin of a row.
    Lead(usize),
    /// A column of the input, unchanged; its number among the written ones.
    Plain(usize),
    /// A decoded column.
    Blob(usize),
    /// The messages of a decoded column.
    Errors(usize),
    /// What became of the values of a decoded column.
    Kinds(usize),
}

/// A column to decode.
pub struct Blob {
    /// Its number among the written columns.
    pub shown: usize,
    pub how: How,
    /// Whether its type was inferred from the first rows, and not given.
    pub is_learned: bool,
}

/// What values become.
pub enum How {
    /// Values with the type of the field.
    Typed(Source),
    /// JSON text.
    Json,
}

impl Blob {
    /// Returns the decoder to values of this field, if they have a type.
    pub fn decoder(&self, field: &Field, plan: &Plan) -> Result<Option<Decoder>, icecore_columns::Error> {
        let How::Typed(source) = &self.how else { return Ok(None) };
        Decoder::new(source.clone(), field, options(plan)).map(Some)
    }
}

impl Layout {
    /// Creates the layout for a table with this plan and these first rows; `types`: the types of its columns, if it has
    /// any.
    pub fn new(parts: &[Part<'_>], plan: &Plan, typed: &super::Options, types: Option<&Fields>) -> Result<Layout> {
        let said = typed.schema.as_deref().map(read).transpose()?.unwrap_or_else(Fields::empty);
        let lines = match plan.form {
            TableForm::Ndjson => Some(learn::lines(parts, &said, plan)?),
            _ => None,
        };
        let shown: Vec<(usize, String)> = match &lines {
            Some(fields) => fields.iter().map(|field| field.name().clone()).enumerate().collect(),
            None => shown(plan).map(|at| (at, plan.name(at))).collect(),
        };
        check_names(&said, &shown)?;
        let mut given = Vec::new();
        let mut blobs: Vec<Option<Blob>> = plan.columns.iter().map(|_| None).collect();
        for (index, (at, name)) in shown.iter().enumerate() {
            let said = said.iter().find(|field| field.name() == name);
            let typed = types.and_then(|types| types.get(*at)).map(|field| field.data_type().clone());
            let column = plan.columns.iter().position(|spec| match &lines {
                Some(_) => spec.name == *name,
                None => spec.at == Some(*at),
            });
            let field = match column {
                Some(column) => {
                    let (field, how) = learn::blob(parts, plan, column, *at, said)?;
                    blobs[column] = Some(Blob { shown: index, how, is_learned: said.is_none() });
                    field
                }
                None => {
                    let by_line = || lines.as_ref().map(|fields| fields[index].data_type().clone());
                    let said = said.map(|field| field.data_type().clone());
                    let data_type = said.or(typed).or_else(by_line).unwrap_or_else(|| learn::plain(parts, *at));
                    Arc::new(Field::new(name, data_type, true))
                }
            };
            given.push(field);
        }
        let missing = |at: usize| usage(format!("there is no column `{}`", plan.column(at)));
        let blobs = blobs.into_iter().enumerate().map(|(at, blob)| blob.ok_or_else(|| missing(at)));
        let layout = Layout::of(plan, given.into(), blobs.collect::<Result<_, _>>()?, lines)?;
        if plan.deep && layout.blobs.iter().any(|blob| matches!(blob.how, How::Typed(_))) {
            return Err(usage("`--deep` opens what becomes JSON: say `--schema 'NAME json'` of the column".to_owned()));
        }
        Ok(layout)
    }

    fn of(plan: &Plan, given: Fields, blobs: Vec<Blob>, lines: Option<Fields>) -> Result<Layout> {
        let text = |name: &String| Arc::new(Field::new(name, DataType::Utf8, true));
        let mut columns: Vec<(FieldRef, Fill)> = Vec::new();
        columns.extend(plan.lead.iter().enumerate().map(|(at, (name, _))| (text(name), Fill::Lead(at))));
        for (index, field) in given.iter().enumerate() {
            let blob = blobs.iter().position(|blob| blob.shown == index);
            columns.push((Arc::clone(field), blob.map_or(Fill::Plain(index), Fill::Blob)));
        }
        let count = plan.columns.len();
        if plan.has_error_columns() {
            columns.extend((0..count).map(|at| (text(&error_name(plan.column(at))), Fill::Errors(at))));
        }
        if plan.has_kinds {
            columns.extend((0..count).map(|at| (text(&kind_name(plan.column(at))), Fill::Kinds(at))));
        }
        let (fields, fills): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        for (at, field) in fields.iter().enumerate() {
            if fields[..at].iter().any(|other| other.name() == field.name()) {
                return Err(usage(format!(
                    "two columns are called `{}`: give them other names with --columns (and --header, if the first row \
                     has names)",
                    field.name()
                )));
            }
        }
        Ok(Layout { schema: Arc::new(Schema::new(fields)), fills, blobs, given, lines })
    }

    /// Returns the types of the columns of the input, in the form that `--schema` accepts.
    pub fn text(&self) -> String {
        schema::print(&Field::new("", DataType::Struct(self.given.clone()), true))
    }
}

/// Returns the columns of the input that are written.
pub fn shown(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    (0..plan.names.len()).filter(|at| !plan.is_hidden(*at))
}

/// Returns the options for decoding columns.
pub fn options(plan: &Plan) -> Options {
    let mut options = Options::default();
    (options.limits, options.on_error) = (plan.limits.clone(), OnError::Null);
    options
}

/// Returns whether the field accepts any value as JSON.
pub fn is_json(field: &Field) -> bool {
    field.metadata().get(FILLED_WITH).is_some_and(|filled| filled == icecore_columns::JSON)
}

fn check_names(said: &Fields, shown: &[(usize, String)]) -> Result<()> {
    match said.iter().find(|field| !shown.iter().any(|(_, name)| name == field.name())) {
        None => Ok(()),
        Some(field) => {
            let known: Vec<&str> = shown.iter().map(|(_, name)| name.as_str()).collect();
            Err(usage(format!(
                "--schema: there is no column `{}`: there are {}",
                field.name(),
                crate::plural::listed(&known)
            )))
        }
    }
}

/// Reads the value of `--schema`: the fields, or a file with them.
fn read(said: &str) -> Result<Fields> {
    let mut text = said.to_owned();
    let path = Path::new(said);
    if path.is_file() {
        let failed = |error: std::io::Error| usage(format!("--schema {said}: {}", io_reason(&error)));
        text.clear();
        std::fs::File::open(path).map_err(failed)?.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    }
    let field = schema::parse(&text).map_err(|error| usage(format!("--schema: {error}")))?;
    match field.data_type() {
        DataType::Struct(fields) => Ok(fields.clone()),
        _ => Err(usage(format!("--schema takes columns with their types, as `id int64, data: {said}`"))),
    }
}
