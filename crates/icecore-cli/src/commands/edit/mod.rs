//! `icecore edit`: changes values on paths; everything else keeps its bytes.

mod args;
mod editor;
mod steps;

pub use args::Edit;

use crate::arguments::Global;
use crate::progress;
use crate::reading::Reader;
use crate::report::{Abort, Report, code, usage_of};
use crate::source::Source;
use crate::target::{Folder, InPlace, Outputs, Target};
use crate::terminal;
use icecore::alter::{self, Alteration, Altered, Refusal};
use icecore::{Limits, Stage};

pub fn run(args: &Edit, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let usage = |text: &str| Err(Abort::Failed(code::USAGE, text.to_owned()));
    if args.steps.is_empty() != args.editor {
        let as_edit = args
            .files
            .iter()
            .filter_map(|file| file.to_str())
            .find(|word| word.starts_with(['.', '$', '[']) && word.contains('='));
        if let Some(word) = as_edit {
            return Err(usage_of(format!(
                "nothing to change; did you mean `--set '{}'`?",
                icecore::text::printable(word)
            )));
        }
        return usage(
            "nothing to change; use --set, --delete, --append, --rename-key, --rename-class, or --editor alone",
        );
    }
    let alterations = args.steps.alterations(&global.limit)?;
    let reader = Reader::of(&args.from, None, &global.limit)?;
    let sources = Source::all(&args.files, report);
    let job = Job { args, reader: &reader, limits: &global.limit, alterations: &alterations };
    let mut outputs = Outputs::new(&sources, args.force);
    if args.editor {
        // The editor uses the terminal.
        progress::vanish();
    }
    if args.place.in_place {
        return job.in_place(&sources, report);
    }
    if let Some(folder) = &args.place.written.out_dir {
        return job.to_folder(&mut Folder::new(folder, outputs, &sources), &sources, report);
    }
    let [source] = &sources[..] else {
        return usage("several inputs need --in-place, or a folder: --out-dir DIR");
    };
    let place = outputs.output(args.place.written.output.as_ref())?;
    let Some((altered, stage)) = job.source(source, report)? else { return Ok(()) };
    if args.place.written.output.is_none() && terminal::is_stdout() {
        terminal::refuse_binary(&stage, args.force)?;
    }
    let mut target = Target::new(place)?;
    if args.place.written.output.is_none() && !args.force {
        target.sink.tame();
    }
    target.sink.bytes(&altered.bytes)?;
    target.keep()
}

/// The task for each input.
struct Job<'j> {
    args: &'j Edit,
    reader: &'j Reader<'j>,
    limits: &'j Limits,
    alterations: &'j [Alteration],
}

impl Job<'_> {
    /// Changes each file in place, if something in it changes.
    fn in_place(&self, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        let places = sources.iter().map(|source| InPlace::new(source, &self.args.place.backup, self.args.force));
        let places: Vec<InPlace> = places.collect::<Result<_, Abort>>()?;
        for (source, place) in sources.iter().zip(places) {
            let Some((altered, _)) = self.source(source, report)? else { continue };
            if !altered.is_changed {
                continue;
            }
            let mut target = place.target()?;
            target.sink.bytes(&altered.bytes)?;
            match place.keep(target) {
                Err(Abort::Failed(code, message)) => report.fault(code, &source.name(), message),
                end => end?,
            }
        }
        Ok(())
    }

    /// Writes each input to a file of its own.
    fn to_folder(&self, folder: &mut Folder, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        for source in sources {
            let Some((altered, _)) = self.source(source, report)? else { continue };
            match folder.target_as(source) {
                Ok(mut target) => {
                    target.sink.bytes(&altered.bytes)?;
                    target.keep()?;
                }
                Err(Abort::Failed(code, message)) => report.fault(code, &source.name(), message),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Edits an input. `None`: it is not changed, and the reason is reported.
    fn source(&self, source: &Source, report: &mut Report) -> Result<Option<(Altered, Stage)>, Abort> {
        report.input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.io(&name, &error);
                return Ok(None);
            }
        };
        let stage = match self.reader.stage(&bytes) {
            Ok(stage) => stage,
            Err(error) => {
                report.unreadable(&name, &error, &bytes);
                return Ok(None);
            }
        };
        let altered = match self.args.editor {
            true => editor::edited(&name, &bytes, &stage, self.limits)?,
            false => alter::alter(&bytes, &stage, self.alterations, self.limits),
        };
        let altered = match altered {
            Ok(altered) => altered,
            Err(refusal) => {
                refused(&name, &bytes, &refusal, report);
                return Ok(None);
            }
        };
        report.losses(&name, &altered.losses, self.args.strict);
        if self.args.strict && !altered.losses.is_empty() {
            return Ok(None);
        }
        if altered.is_rewritten {
            let text = "unchanged values keep their meaning, but some have other bytes: Icecore can't write their original form";
            report.note(&name, "rewritten", text.to_owned());
        }
        Ok(Some((altered, stage)))
    }
}

/// Reports why an input is not changed.
fn refused(name: &str, bytes: &[u8], refusal: &Refusal, report: &mut Report) {
    match refusal {
        Refusal::Absent { path, why } => report.absent(name, path, why.as_ref()),
        Refusal::Unreadable(error) => report.unreadable(name, error, if error.layer().is_none() { bytes } else { &[] }),
        Refusal::Unwritable(error) => report.unwritable(name, error),
        refusal => report.fault(code::FINDING, name, refusal),
    }
}
