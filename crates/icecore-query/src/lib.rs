//! The jq language over documents of any format.
//!
//! A filter sees a document as JSON would show it. Objects of any class are objects, symbols are strings, and links
//! are their targets. Values that the filter does not change are written unchanged.
//!
//! ```
//! use icecore_query::{Input, Query, Running, on_query_thread};
//! use icecore::{Document, Limits, Stage};
//! let results = on_query_thread(|| {
//!     let query = Query::new(".staff[] | select(.age > 30) | .name", &[])?;
//!     let document = icecore::read(b"a:1:{s:5:\"staff\";a:1:{i:0;a:2:{s:4:\"name\";s:3:\"Ann\";s:3:\"age\";i:31;}}}")?;
//!     let mut inputs = [Input::new("staff.php", document.into_owned())].into_iter();
//!     let (stage, limits) = (Stage::parse("json")?, Limits::default());
//!     let mut out = Vec::new();
//!     query.run(&mut inputs, &Running::default(), &mut |result| {
//!         if let Ok(answer) = result {
//!             let _ = answer.write(&stage, &limits, &mut out);
//!         }
//!         std::ops::ControlFlow::Continue(())
//!     });
//!     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(out)
//! })?;
//! assert_eq!(results, br#""Ann""#);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
#![forbid(unsafe_code)]

mod answer;
mod events;
mod filter_error;
mod functions;
#[cfg(test)]
mod growth;
mod matching;
mod memory;
mod nesting;
mod query_thread;
mod run;
mod stop;
mod value;

pub use answer::Answer;
pub use filter_error::FilterError;
pub use query_thread::{Stop, on_query_thread};
pub use run::{RunEnd, Running};

use functions::TableTarget;
use icecore::{Document, Limits, Losses};
use jaq_core::load::parse::Def;
use jaq_core::load::{Arena, File, Loader, import};
use jaq_core::{Compiler, Filter};
use run::FilterTypes;
use value::{OpenDocument, Value};

/// Maximum length of a filter in bytes. It is limited, because a filter is compiled recursively.
const MAX_FILTER_LENGTH: usize = 32 << 10;

/// A compiled filter.
pub struct Query {
    filter: Filter<FilterTypes>,
    variables: Vec<OpenDocument>,
}

/// A document to which a filter is applied.
#[derive(Debug)]
pub struct Input {
    name: String,
    document: Document<'static>,
    losses: Losses,
}

impl Input {
    /// Creates an input from a document and its name. In values that contain themselves, null replaces the link,
    /// because filters would not end otherwise. [`Input::losses`] returns where.
    pub fn new(name: impl Into<String>, mut document: Document<'static>) -> Input {
        let losses = document.cut_cycles(&Limits::default());
        Input { name: name.into(), document, losses }
    }

    /// Returns the links that filters see as null.
    ///
    /// # Example
    /// ```
    /// let circle = icecore::read(b"a:1:{s:2:\"me\";R:1;}")?.into_owned();
    /// let input = icecore_query::Input::new("circle.php", circle);
    /// assert_eq!(input.losses().iter().map(|loss| &*loss.path).collect::<Vec<_>>(), ["$.me"]);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}

/// Reason why a filter gave no result, or no further one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Name of the last input.
    pub name: Option<String>,
    /// The error message.
    pub message: String,
    /// The limit that was reached, if any.
    pub stop: Option<Stop>,
}

impl Query {
    /// Compiles a filter. Variables are given by names without `$`.
    ///
    /// Must be called on a [query thread](on_query_thread), like everything in this crate.
    ///
    /// ```
    /// use icecore_query::{Query, on_query_thread};
    /// let mistake = on_query_thread(|| Query::new(".a | nonsense", &[]).err().map(|mistake| mistake.to_string()));
    /// assert_eq!(mistake.as_deref(), Some("the filter is wrong: there is no filter `nonsense` (at character 6)"));
    /// ```
    ///
    /// # Errors
    /// If the text is not a valid filter.
    pub fn new(filter: &str, variables: &[(String, Document<'static>)]) -> Result<Query, FilterError> {
        Query::compile_filter(filter, variables, TableTarget::Any)
    }

    /// Compiles a filter whose `@csv` and `@tsv` make tables for spreadsheets: texts that a spreadsheet would
    /// interpret as a formula get a leading `'`, as in [`icecore::text::spreadsheet_text`].
    ///
    /// # Errors
    /// If the text is not a valid filter.
    pub fn for_spreadsheets(filter: &str, variables: &[(String, Document<'static>)]) -> Result<Query, FilterError> {
        Query::compile_filter(filter, variables, TableTarget::Spreadsheet)
    }

    fn compile_filter(
        filter: &str,
        variables: &[(String, Document<'static>)],
        target: TableTarget,
    ) -> Result<Query, FilterError> {
        if filter.len() > MAX_FILTER_LENGTH {
            return Err(FilterError::new(format!("it has more than {MAX_FILTER_LENGTH} bytes")));
        }
        let compiled = || compile_definitions(filter, variables, functions::library_definitions(target));
        query_thread::catch_stop(compiled).unwrap_or_else(|abort| Err(FilterError::abort(abort)))
    }

    /// Returns the values of the variables.
    fn variable_values(&self) -> impl Iterator<Item = Value> {
        self.variables.iter().map(OpenDocument::root_value)
    }
}

/// The name of a filter that becomes a definition.
const FILTER_NAME: &str = "__filter";

/// Returns the filter as a definition, if a part of it has to be rewritten.
fn rewritten_definition(filter: &str) -> Option<Def<&str>> {
    let mut body = jaq_core::load::parse(filter, |parser| parser.term())?;
    let is_changed = nesting::rewrite_chained_calls(&mut body);
    is_changed.then(|| Def { name: FILTER_NAME, args: Vec::new(), body })
}

/// Compiles a filter together with these definitions and all functions.
fn compile_definitions<'f>(
    filter: &'f str,
    variables: &[(String, Document<'static>)],
    mut definitions: Vec<Def<&'f str>>,
) -> Result<Query, FilterError> {
    let rewritten = rewritten_definition(filter);
    let code = if rewritten.is_some() { FILTER_NAME } else { filter };
    definitions.extend(rewritten);
    let functions: Vec<_> = functions::all_functions().collect();
    let names = definitions.iter().map(|definition| definition.name).chain(functions.iter().map(|(name, ..)| *name));
    let function_names: Vec<String> = names.filter(|name| !name.starts_with('_')).map(str::to_owned).collect();
    let loader = Loader::new(definitions);
    let arena = Arena::default();
    let modules = loader
        .load(&arena, File { code, path: () })
        .map_err(|errors| FilterError::from_load_errors(filter, &errors))?;
    import(&modules, |_| Err("no file is read".to_owned()))
        .map_err(|errors| FilterError::from_load_errors(filter, &errors))?;
    let names: Vec<String> = variables.iter().map(|(name, _)| format!("${name}")).collect();
    let compiler = Compiler::default().with_funs(functions).with_global_vars(names.iter().map(String::as_str));
    let filter = compiler
        .compile(modules)
        .map_err(|errors| FilterError::from_compile_errors(filter, &errors, &function_names))?;
    let variables = variables.iter().map(|(_, document)| OpenDocument::new(document.clone())).collect();
    Ok(Query { filter, variables })
}
