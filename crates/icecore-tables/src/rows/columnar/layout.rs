//! The columns of the output, and the source of each.

use super::prefetched::SampleRows;
use super::type_inference;
use crate::error::{Result, io_reason, usage_error};
use crate::rows::plan::{Plan, error_column_name, kind_column_name};
use crate::rows::words::TableForm;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use icecore_columns::{Decoder, FILLED_WITH, OnError, Options, Source, schema};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Maximum length of the text of a schema.
const MAX_SCHEMA_LEN: u64 = 16 << 20;

/// The columns of the output.
pub struct OutputLayout {
    /// The columns as an Arrow schema.
    pub schema: SchemaRef,
    /// The source of each column.
    pub sources: Vec<ColumnSource>,
    /// The columns to decode, in the order in which they are given.
    pub blobs: Vec<BlobColumn>,
    /// The written columns of the input. Columns that are not decoded have the types of the output.
    pub input_fields: Fields,
    /// The fields that lines of JSON become.
    pub lines: Option<Fields>,
    /// Messages for the user about the types of columns.
    pub notes: Vec<String>,
}

/// The source of a column.
#[derive(Clone, Copy, Debug)]
pub enum ColumnSource {
    /// A column with the name of the file or the table. Contains its number among the constant columns.
    Constant(usize),
    /// A column of the input that is not decoded. Contains its number among the written columns.
    Plain(usize),
    /// A decoded column. Contains its number among the columns to decode, as in the next two.
    Blob(usize),
    /// The messages of a decoded column.
    Errors(usize),
    /// What became of the values of a decoded column.
    Kinds(usize),
}

/// A column to decode.
pub struct BlobColumn {
    /// Its number among the written columns.
    pub written_index: usize,
    pub target: DecodeTarget,
    /// Whether its type was inferred from the first rows, and not given.
    pub is_learned: bool,
}

/// What values become.
pub enum DecodeTarget {
    /// Values with the type of the field.
    Typed(Source),
    /// JSON text.
    Json,
}

impl BlobColumn {
    /// Returns the decoder that makes values of this field, if they have a type.
    pub fn create_decoder(&self, field: &Field, plan: &Plan) -> Result<Option<Decoder>, icecore_columns::Error> {
        let DecodeTarget::Typed(source) = &self.target else { return Ok(None) };
        Decoder::new(source.clone(), field, decoder_options(plan)).map(Some)
    }
}

impl OutputLayout {
    /// Returns the first decoded column with a type that has no place for a value that can't be decoded.
    pub fn first_typed_column(&self) -> Option<&str> {
        let typed = self.blobs.iter().find(|blob| matches!(blob.target, DecodeTarget::Typed(_)))?;
        self.input_fields.get(typed.written_index).map(|field| field.name().as_str())
    }

    /// Creates the layout for a table with this plan and these first rows. `types` are the types of the table's
    /// columns, if it has any.
    pub fn new(
        parts: &[SampleRows<'_>],
        plan: &Plan,
        options: &super::ColumnarOptions,
        types: Option<&Fields>,
    ) -> Result<OutputLayout> {
        let given_fields = options.schema.as_deref().map(read_schema).transpose()?.unwrap_or_else(Fields::empty);
        let lines = match plan.form {
            TableForm::Ndjson => Some(type_inference::infer_line_fields(parts, &given_fields, plan)?),
            _ => None,
        };
        let named_columns: Vec<(usize, String)> = match &lines {
            Some(fields) => fields.iter().map(|field| field.name().clone()).enumerate().collect(),
            None => written_columns(plan).map(|position| (position, plan.column_name(position))).collect(),
        };
        check_names(&given_fields, &named_columns)?;
        let mut input_fields = Vec::new();
        let mut notes = Vec::new();
        let mut blobs: Vec<Option<BlobColumn>> = plan.columns.iter().map(|_| None).collect();
        for (index, (position, name)) in named_columns.iter().enumerate() {
            let given_field = given_fields.iter().find(|field| field.name() == name);
            let typed = types.and_then(|types| types.get(*position)).map(|field| field.data_type().clone());
            let column = plan.columns.iter().position(|spec| match &lines {
                Some(_) => spec.name == *name,
                None => spec.position == Some(*position),
            });
            let field = match column {
                Some(column) => {
                    let (field, target) =
                        type_inference::infer_blob_field(parts, plan, column, *position, given_field)?;
                    blobs[column] =
                        Some(BlobColumn { written_index: index, target, is_learned: given_field.is_none() });
                    field
                }
                None => {
                    let by_line = || lines.as_ref().map(|fields| fields[index].data_type().clone());
                    let given_type = given_field.map(|field| field.data_type().clone());
                    let data_type = given_type.or(typed).or_else(by_line).unwrap_or_else(|| {
                        let data_type = type_inference::infer_plain_type(parts, *position, plan);
                        let is_text = matches!(data_type, DataType::Utf8 | DataType::Binary);
                        let describe = || type_inference::describe_mixed_column(parts, *position, name);
                        notes.extend(is_text.then(describe).flatten());
                        data_type
                    });
                    Arc::new(Field::new(name, data_type, true))
                }
            };
            input_fields.push(field);
        }
        let missing = |column: usize| usage_error(format!("there is no column `{}`", plan.decoded_column_name(column)));
        let blobs = blobs.into_iter().enumerate().map(|(column, blob)| blob.ok_or_else(|| missing(column)));
        let blobs = blobs.collect::<Result<_, _>>()?;
        let layout = OutputLayout { notes, ..OutputLayout::from_columns(plan, input_fields.into(), blobs, lines)? };
        if plan.deep && layout.blobs.iter().any(|blob| matches!(blob.target, DecodeTarget::Typed(_))) {
            return Err(usage_error(
                "`--deep` works only for columns that become JSON: use `--schema 'NAME json'`".to_owned(),
            ));
        }
        Ok(layout)
    }

    /// Creates the layout: first the constant columns, then those of the input, and last those with errors and kinds.
    fn from_columns(
        plan: &Plan,
        input_fields: Fields,
        blobs: Vec<BlobColumn>,
        lines: Option<Fields>,
    ) -> Result<OutputLayout> {
        let text = |name: &String| Arc::new(Field::new(name, DataType::Utf8, true));
        let mut columns: Vec<(FieldRef, ColumnSource)> = Vec::new();
        columns.extend(
            plan.constant_columns
                .iter()
                .enumerate()
                .map(|(index, (name, _))| (text(name), ColumnSource::Constant(index))),
        );
        for (index, field) in input_fields.iter().enumerate() {
            let blob = blobs.iter().position(|blob| blob.written_index == index);
            columns.push((Arc::clone(field), blob.map_or(ColumnSource::Plain(index), ColumnSource::Blob)));
        }
        let count = plan.columns.len();
        if plan.has_error_columns() {
            columns.extend((0..count).map(|column| {
                (text(&error_column_name(plan.decoded_column_name(column))), ColumnSource::Errors(column))
            }));
        }
        if plan.has_kinds {
            columns.extend((0..count).map(|column| {
                (text(&kind_column_name(plan.decoded_column_name(column))), ColumnSource::Kinds(column))
            }));
        }
        let (fields, sources): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        for (index, field) in fields.iter().enumerate() {
            if fields[..index].iter().any(|other| other.name() == field.name()) {
                return Err(usage_error(format!(
                    "two columns are called `{}`: give them other names with --columns (and --header, if the first row \
                     has names)",
                    field.name()
                )));
            }
        }
        Ok(OutputLayout {
            schema: Arc::new(Schema::new(fields)),
            sources,
            blobs,
            input_fields,
            lines,
            notes: Vec::new(),
        })
    }

    /// Returns the types of the columns of the input, in the form that `--schema` accepts.
    pub fn to_schema_text(&self) -> String {
        schema::print(&Field::new("", DataType::Struct(self.input_fields.clone()), true))
    }
}

/// Returns the columns of the input that are written.
pub fn written_columns(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    (0..plan.names.len()).filter(|position| !plan.is_hidden(*position))
}

/// Returns the options for decoding columns.
pub fn decoder_options(plan: &Plan) -> Options {
    let mut options = Options::default();
    (options.limits, options.on_error) = (plan.limits.clone(), OnError::Null);
    options.bytes_as_text = !plan.strict;
    options
}

/// Returns whether the field accepts any value as JSON.
pub fn is_json_field(field: &Field) -> bool {
    field.metadata().get(FILLED_WITH).is_some_and(|source| source == icecore_columns::JSON)
}

fn check_names(given_fields: &Fields, named_columns: &[(usize, String)]) -> Result<()> {
    match given_fields.iter().find(|field| !named_columns.iter().any(|(_, name)| name == field.name())) {
        None => Ok(()),
        Some(field) => {
            let known: Vec<&str> = named_columns.iter().map(|(_, name)| name.as_str()).collect();
            Err(usage_error(format!(
                "--schema: there is no column `{}`: there are {}",
                field.name(),
                crate::plural::join_names(&known)
            )))
        }
    }
}

/// Reads the value of `--schema`: the fields, or a file with them.
fn read_schema(argument: &str) -> Result<Fields> {
    let mut text = argument.to_owned();
    let path = Path::new(argument);
    if path.is_file() {
        let read_error = |error: std::io::Error| usage_error(format!("--schema {argument}: {}", io_reason(&error)));
        text.clear();
        std::fs::File::open(path)
            .map_err(read_error)?
            .take(MAX_SCHEMA_LEN)
            .read_to_string(&mut text)
            .map_err(read_error)?;
    }
    let field = schema::parse(&text).map_err(|error| usage_error(format!("--schema: {error}")))?;
    match field.data_type() {
        DataType::Struct(fields) => Ok(fields.clone()),
        _ => Err(usage_error(format!("--schema takes columns with their types, such as `id int64, data: {argument}`"))),
    }
}
