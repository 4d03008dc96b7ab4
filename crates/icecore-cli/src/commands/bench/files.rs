//! The files that a run writes. Their destinations are checked before the run begins.

use super::Bench;
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use crate::target::{Destination, Outputs, Target};
use icecore_lab::model::Report;
use icecore_lab::page;
use std::fs;
use std::path::{Path, PathBuf};

/// Formats a report as the text of a file.
type ReportFormatter = fn(&Report) -> String;

/// The files that the command line names.
pub struct OutputFiles {
    outputs: Outputs,
    /// The destinations of the files; JSON is the first one.
    files: Vec<(Destination, ReportFormatter)>,
    has_json: bool,
    /// Folder for the charts.
    charts: Option<PathBuf>,
}

impl OutputFiles {
    pub fn from_args(args: &Bench) -> Result<OutputFiles, Abort> {
        let inputs = args.reports.iter().chain(&args.compare).chain(&args.data);
        let inputs: Vec<_> = inputs.map(|path| Source::from_path(Some(path))).collect();
        let mut outputs = Outputs::new(&inputs, args.force);
        let csv = if args.csv_safe { page::render_safe_csv } else { page::render_csv };
        let requested_files: [(&Option<PathBuf>, ReportFormatter); 4] = [
            (&args.json, format_json),
            (&args.csv, csv),
            (&args.markdown, page::render_markdown),
            (&args.html, page::render_html),
        ];
        let mut files = Vec::new();
        for (path, format) in requested_files {
            if let Some(path) = path {
                files.push((prepare_destination(&mut outputs, path)?, format));
            }
        }
        Ok(OutputFiles { outputs, files, has_json: args.json.is_some(), charts: args.charts.clone() })
    }

    /// Returns true if one of the files is the standard output.
    pub fn has_stdout(&self) -> bool {
        self.files.iter().any(|(destination, _)| matches!(destination, Destination::Stdout))
    }

    /// Removes and returns the destination of the JSON.
    pub fn remove_json_destination(&mut self) -> Option<Destination> {
        self.has_json.then(|| self.files.remove(0).0)
    }

    pub fn write_files(mut self, report: &Report) -> Result<(), Abort> {
        for (destination, format) in self.files {
            Target::write_text(destination, &format(report))?;
        }
        let Some(folder) = &self.charts else { return Ok(()) };
        for (name, svg) in page::render_charts(report) {
            let destination = prepare_destination(&mut self.outputs, &folder.join(format!("{name}.svg")))?;
            Target::write_text(destination, &svg)?;
        }
        Ok(())
    }
}

fn format_json(report: &Report) -> String {
    serde_json::to_string(report).unwrap_or_default() + "\n"
}

/// Creates the folder of a destination, and returns the destination.
fn prepare_destination(outputs: &mut Outputs, path: &Path) -> Result<Destination, Abort> {
    if let Some(folder) = path.parent() {
        let folder_error = |error| Abort::Failed(code::USAGE, format!("{}: {}", folder.display(), io_reason(&error)));
        fs::create_dir_all(folder).map_err(folder_error)?;
    }
    outputs.destination_at(path)
}
