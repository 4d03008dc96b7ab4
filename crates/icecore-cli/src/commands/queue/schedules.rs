//! `icecore queue schedule` and the other commands for schedules.

use super::DEFAULT_QUEUE;
use super::args::{Schedule as Args, Schedules, Unschedule};
use crate::arguments::Global;
use crate::database::{current_user_name, database_error};
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use crate::source::Source;
use icecore_store::describe::{Decoder, describe};
use icecore_store::{Backend, ErrorKind, NewSchedule, Schedule, Timing, time};
use serde::Serialize;
use serde_json::value::RawValue;

pub fn set_schedule(args: &Args, store: &mut dyn Backend, report: &mut Report) -> Result<(), Abort> {
    let Some(timing) = &args.timing else {
        return match store.pause_schedule(&args.name, args.pause, &current_user_name()) {
            Err(error) if error.kind() == ErrorKind::Missing => {
                report.report_fault(code::FINDING, &args.name, "there is no such schedule");
                Ok(())
            }
            result => result.map_err(database_error),
        };
    };
    if let Some(format) = &args.format {
        mistakes::stage(format)?;
    }
    let usage_failure = |error: icecore_store::Error| Abort::Failed(code::USAGE, error.to_string());
    let timing = Timing::new(timing, args.zone.as_deref()).map_err(usage_failure)?;
    let files: Vec<_> = args.file.iter().cloned().collect();
    for source in Source::find_all(&files, report) {
        report.count_input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes.to_vec(),
            Err(error) => {
                report.report_io_error(&name, &error);
                continue;
            }
        };
        let description = describe(&bytes, args.format.as_deref());
        if let Some(problem) = description.problem {
            report.report_note(&name, "undecodable", format!("scheduled, but it can't be decoded: {problem}"));
        }
        let queue = args.queue_arg.queue.as_deref().unwrap_or(DEFAULT_QUEUE);
        let mut schedule = NewSchedule::new(&args.name, queue, timing.clone(), bytes);
        (schedule.format, schedule.is_alone) = (description.format.or_else(|| args.format.clone()), args.alone);
        (schedule.priority, schedule.max_attempts) = (args.priority, args.max_attempts);
        let schedules = store.schedules().map_err(database_error)?;
        let was_paused = schedules.iter().any(|known| known.name == args.name && known.paused_at.is_some());
        let next_time = store.set_schedule(&schedule, &current_user_name()).map_err(database_error)?;
        if was_paused {
            let text = "this schedule was paused, and runs again now; --pause pauses it".to_owned();
            report.report_note(&args.name, "resumed", text);
        }
        super::print_text(&format!("{}\n", time::format_utc(next_time)))?;
    }
    Ok(())
}

pub fn remove_schedules(args: &Unschedule, store: &mut dyn Backend, report: &mut Report) -> Result<(), Abort> {
    for name in &args.names {
        if !store.remove_schedule(name, &current_user_name()).map_err(database_error)? {
            report.report_fault(code::FINDING, name, "there is no such schedule");
        }
    }
    Ok(())
}

/// A schedule as JSON.
#[derive(Serialize)]
struct ScheduleLine<'s> {
    name: &'s str,
    queue: &'s str,
    timing: &'s str,
    zone: &'s str,
    next_at: Option<String>,
    last_at: Option<String>,
    last_id: Option<String>,
    paused_at: Option<String>,
    alone: bool,
    priority: i32,
    max_attempts: Option<u32>,
    format: Option<&'s str>,
    size: usize,
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'s str>,
}

impl ScheduleLine<'_> {
    fn from_schedule<'s>(schedule: &'s Schedule, decoder: &mut Decoder) -> ScheduleLine<'s> {
        let value = decoder.decode_to_json(&schedule.bytes, schedule.format.as_deref()).ok().flatten();
        ScheduleLine {
            name: &schedule.name,
            queue: &schedule.queue,
            timing: &schedule.timing,
            zone: schedule.zone.as_deref().unwrap_or("UTC"),
            next_at: schedule.next_at.map(time::format_utc),
            last_at: schedule.last_at.map(time::format_utc),
            last_id: schedule.last_id.map(|id| id.to_string()),
            paused_at: schedule.paused_at.map(time::format_utc),
            alone: schedule.is_alone,
            priority: schedule.priority,
            max_attempts: schedule.max_attempts,
            format: schedule.format.as_deref(),
            size: schedule.bytes.len(),
            value: value.and_then(|text| RawValue::from_string(text).ok()),
            problem: schedule.problem.as_deref(),
        }
    }

    fn format_row(&self, paint: Paint) -> String {
        let shorten =
            |text: &str, max_len| icecore::text::printable(&icecore::text::shortened(text, max_len)).into_owned();
        let next = match (&self.next_at, self.problem) {
            (Some(next), _) => next.clone(),
            (None, Some(problem)) => paint.ink(Ink::Bad, icecore::text::shortened(problem, 80)),
            (None, None) => "paused".to_owned(),
        };
        let timing = format!("{} {}", shorten(self.timing, 40), shorten(self.zone, 30));
        format!(
            "{}  {:16}  {timing:32}  {next}\n",
            paint.column(Ink::Name, shorten(self.name, 60), 20),
            shorten(self.queue, 40)
        )
    }
}

pub fn list_schedules(args: &Schedules, store: &mut dyn Backend, global: &Global) -> Result<(), Abort> {
    let paint = Paint::new(global.color, &std::io::stdout());
    let mut writer = OutputWriter::stdout();
    if args.json {
        writer.paint_json(global.color);
    } else {
        let header = format!("{:20}  {:16}  {:32}  NEXT", "SCHEDULE", "QUEUE", "TIMING");
        writer.write_text(&format!("{}\n", paint.ink(Ink::Faint, header)))?;
    }
    let mut decoder = Decoder::default();
    for schedule in store.schedules().map_err(database_error)? {
        let line = ScheduleLine::from_schedule(&schedule, &mut decoder);
        match args.json {
            true => writer.write_json(&line).and_then(|()| writer.write_text("\n"))?,
            false => writer.write_text(&line.format_row(paint))?,
        }
    }
    writer.flush()
}
