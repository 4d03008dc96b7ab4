//! Rows of a database: those of a query, and those of all tables.

use super::{Rows, RowsJob, open_target, tables, target};
use crate::arguments::Global;
use crate::output_writer::OutputWriter;
use crate::progress;
use crate::records::reports::write_summary;
use crate::report::{Abort, Report, usage_text_error};
use crate::target::{Outputs, Target};
use icecore_tables::rows::TableForm;
use icecore_tables::rows::database::{self, RowRequest};
use std::io;

/// Converts the rows of a database query.
pub(super) fn convert_query(
    args: &Rows,
    request: RowRequest,
    name: &str,
    global: &Global,
    report: &mut Report,
) -> Result<(), Abort> {
    let mut outputs = Outputs::new(&[], args.force);
    let summary_destination = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
    let default_column = request.default_column();
    let address = match &request {
        // A file has no collections, whether it exists or not.
        RowRequest::Documents(..) => args.database.resolve_address()?,
        _ => args.database.resolve_existing_address()?,
    };
    let input = database::query_rows(address, request).map_err(crate::database::database_error)?;
    let mut job =
        RowsJob { default_column, is_only_input: true, ..RowsJob::new(args, Some(TableForm::Database), global)? };
    let destination = outputs.output_destination(args.output_args.output.as_ref())?;
    let mut target = open_target(args, global, destination)?;
    report.count_input();
    progress::begin_input(name);
    job.convert_table(input, name, args.max_record, (TableForm::Database, None), &mut target.writer, report)?;
    job.finish_output(&mut target.writer)?;
    target.writer.count_document();
    target.complete_output()?;
    summary_destination.map_or(Ok(()), |destination| write_summary(destination, &job.tallies))
}

/// Converts the rows of all tables of a database: one table after the other, or each to a file of its own.
pub(super) fn convert_all_tables(args: &Rows, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let address = args.database.resolve_existing_address()?;
    let mut outputs = Outputs::new(&[], args.force);
    let summary_destination = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
    let mut job = RowsJob::new(args, Some(TableForm::Database), global)?;
    let mut shared_target = match args.output_args.out_dir {
        None => Some(open_target(args, global, outputs.output_destination(args.output_args.output.as_ref())?)?),
        Some(_) => None,
    };
    let names = icecore_store::table::list_names(&address).map_err(crate::database::database_error)?;
    progress::set_input_count(names.len());
    for name in &names {
        report.count_input();
        progress::begin_input(name);
        let query = tables::select_all(&address, std::slice::from_ref(name))?;
        let rows =
            database::query_rows(address.clone(), RowRequest::Query(query)).map_err(crate::database::database_error);
        let result = rows.and_then(|input| {
            let convert = |writer: &mut OutputWriter, job: &mut RowsJob<'_>| {
                job.convert_table(input, name, args.max_record, (TableForm::Database, None), writer, report)
            };
            let Some(folder) = &args.output_args.out_dir else {
                return shared_target.as_mut().map_or(Ok(()), |target| convert(&mut target.writer, &mut job));
            };
            std::fs::create_dir_all(folder).map_err(|error| folder_error(folder, &error))?;
            job.begin_output();
            let file = format!("{}.{}", tables::table_file_name(name), target::file_extension(args)?);
            let mut target = Target::new(outputs.destination_at(&folder.join(file))?)?;
            convert(&mut target.writer, &mut job)?;
            job.finish_output(&mut target.writer)?;
            target.complete_output()
        });
        match result {
            Err(Abort::Failed(code, message)) => report.report_fault(code, name, message),
            result => result?,
        }
        if shared_target.is_some() && job.has_reached_row_limit() {
            break;
        }
    }
    if let Some(mut target) = shared_target {
        job.finish_output(&mut target.writer)?;
        target.writer.count_document();
        target.complete_output()?;
    }
    // If --items ended the command early, the remaining tables were not examined.
    let is_complete = args.output_args.out_dir.is_some() || !job.has_reached_row_limit();
    if let Some(error) = tables::missing_columns_error(args, &job.found_columns).filter(|_| is_complete) {
        return Err(usage_text_error(error));
    }
    if let Some(problem) = job.unknown_columns.iter().flatten().next().filter(|_| is_complete) {
        return Err(usage_text_error(format!("{problem} in any table")));
    }
    job.report_skipped_tables(report);
    summary_destination.map_or(Ok(()), |destination| write_summary(destination, &job.tallies))
}

fn folder_error(folder: &std::path::Path, error: &io::Error) -> Abort {
    Abort::Failed(crate::report::code::USAGE, format!("{}: {}", folder.display(), crate::report::io_reason(error)))
}
