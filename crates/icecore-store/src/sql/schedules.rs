//! Schedules, one row each, and the jobs that they queue.

use super::{Session, SqlBackend};
use crate::backend::Schedules;
use crate::describe;
use crate::driver::{ResultRow, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::rules::{check_actor_name, parse_id, required};
use crate::schedule::{Fired, NewSchedule, Schedule, check_schedule, no_schedule_error};

/// Maximum number of schedules handled in one transaction.
const MAX_FIRED_AT_ONCE: usize = 16;

macro_rules! select_schedules {
    ($conditions:literal) => {
        concat!(
            "SELECT name, queue, timing, zone, next_at, last_at, last_id, paused_at, priority, max_attempts, alone, \
             format, bytes, problem FROM icecore_schedules ",
            $conditions
        )
    };
}

fn schedule_from_row(row: &dyn ResultRow) -> Result<Schedule> {
    Ok(Schedule {
        name: required(row.read_text(0)?)?,
        queue: required(row.read_text(1)?)?,
        timing: required(row.read_text(2)?)?,
        zone: row.read_text(3)?,
        next_at: row.read_int(4)?,
        last_at: row.read_int(5)?,
        // An invalid value from another program must not stop the other schedules.
        last_id: row.read_text(6)?.and_then(|text| parse_id(Some(text)).ok()),
        paused_at: row.read_int(7)?,
        priority: required(row.read_int(8)?)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        max_attempts: row.read_int(9)?.map(|attempts| u32::try_from(attempts.max(1)).unwrap_or(u32::MAX)),
        is_alone: required(row.read_int(10)?)? != 0,
        format: row.read_text(11)?,
        bytes: required(row.read_bytes(12)?)?,
        problem: row.read_text(13)?,
    })
}

/// Returns the same as `schedule_from_row`, but for an invalid row a schedule with its name and the problem.
fn schedule_or_placeholder(row: &dyn ResultRow) -> Result<Option<Schedule>> {
    match schedule_from_row(row) {
        Ok(schedule) => Ok(Some(schedule)),
        Err(error) => Ok(row.read_text(0).ok().flatten().map(|name| Schedule::placeholder_for(name, &error))),
    }
}

impl Schedules for SqlBackend {
    fn set_schedule(&mut self, schedule: &NewSchedule, actor: &str) -> Result<i64> {
        schedule.check_names()?;
        check_actor_name(actor)?;
        let timing = &schedule.timing;
        self.run_in_transaction(|backend| {
            let now = backend.read_time()?;
            let next = timing.next(now).ok_or_else(|| Error::new(ErrorKind::Input, "the timing never occurs again"))?;
            let name = Value::Text(&schedule.name);
            let sql = "INSERT INTO icecore_schedules (name, queue, timing, bytes) VALUES (?, ?, ?, ?) {or_nothing}";
            let (queue, text) = (Value::Text(&schedule.queue), Value::Text(timing.text()));
            backend.run_statement(sql, &[name, queue, text, Value::Bytes(&schedule.bytes)])?;
            backend.run_statement(
                "UPDATE icecore_schedules SET queue = ?, timing = ?, zone = ?, next_at = ?, paused_at = NULL, \
                 priority = ?, max_attempts = ?, alone = ?, format = ?, bytes = ?, problem = NULL WHERE name = ?",
                &[
                    queue,
                    text,
                    Value::text_or_null(timing.zone()),
                    Value::Int(next),
                    Value::Int(i64::from(schedule.priority)),
                    Value::int_or_null(schedule.max_attempts.map(|attempts| i64::from(attempts.max(1)))),
                    Value::Int(i64::from(schedule.is_alone)),
                    Value::text_or_null(schedule.format.as_deref()),
                    Value::Bytes(&schedule.bytes),
                    name,
                ],
            )?;
            backend.add_audit_entry(actor, "schedule", &schedule.name, 1)?;
            Ok(next)
        })
    }

    fn schedules(&mut self) -> Result<Vec<Schedule>> {
        Ok(self
            .query_all(select_schedules!("ORDER BY name"), &[], schedule_or_placeholder)?
            .into_iter()
            .flatten()
            .collect())
    }

    fn pause_schedule(&mut self, name: &str, is_paused: bool, actor: &str) -> Result<()> {
        check_schedule(name)?;
        check_actor_name(actor)?;
        self.run_in_transaction(|backend| {
            let found = backend.query_first(
                select_schedules!("WHERE name = ? {hold}"),
                &[Value::Text(name)],
                schedule_from_row,
            )?;
            let schedule = found.ok_or_else(|| no_schedule_error(name))?;
            let now = backend.read_time()?;
            let (paused_at, next_at) = schedule.pause_and_next_time(is_paused, now)?;
            let sql = "UPDATE icecore_schedules SET paused_at = ?, next_at = ?, problem = NULL WHERE name = ?";
            backend
                .run_statement(sql, &[Value::int_or_null(paused_at), Value::int_or_null(next_at), Value::Text(name)])?;
            backend.add_audit_entry(actor, if is_paused { "pause schedule" } else { "resume schedule" }, name, 1)
        })
    }

    fn remove_schedule(&mut self, name: &str, actor: &str) -> Result<bool> {
        check_schedule(name)?;
        check_actor_name(actor)?;
        self.run_in_transaction(|backend| {
            let count = backend.run_statement("DELETE FROM icecore_schedules WHERE name = ?", &[Value::Text(name)])?;
            backend.add_audit_entry(actor, "unschedule", name, count)?;
            Ok(count > 0)
        })
    }

    fn fire(&mut self, max_schedules: usize) -> Result<Vec<Fired>> {
        let mut fired = Vec::new();
        while fired.len() < max_schedules {
            // Usually nothing is due, and then nothing is locked.
            let sql = "SELECT COUNT(*) FROM icecore_schedules WHERE next_at <= {now} AND paused_at IS NULL";
            if self.query_first(sql, &[], |row| required(row.read_int(0)?))?.unwrap_or(0) == 0 {
                break;
            }
            let batch = self
                .run_in_transaction(|backend| backend.fire_due((max_schedules - fired.len()).min(MAX_FIRED_AT_ONCE)))?;
            // Another program handles the rest.
            if batch.is_empty() {
                break;
            }
            fired.extend(batch);
        }
        Ok(fired)
    }
}

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Queues the jobs of schedules that are due, and locks these schedules until the transaction ends.
    fn fire_due(&mut self, max_schedules: usize) -> Result<Vec<Fired>> {
        let due = self.query_all(
            select_schedules!(
                "WHERE next_at <= {now} AND paused_at IS NULL ORDER BY next_at, name LIMIT ? {skip_locked}"
            ),
            &[Value::Int(i64::try_from(max_schedules).unwrap_or(i64::MAX))],
            schedule_or_placeholder,
        )?;
        let now = self.read_time()?;
        due.into_iter().flatten().map(|schedule| self.fire_one(&schedule, now)).collect()
    }

    /// Queues the job of a due schedule, and sets its next time. A schedule with a problem is stopped.
    fn fire_one(&mut self, schedule: &Schedule, now: i64) -> Result<Fired> {
        let mut fired = schedule.empty_report();
        let due = schedule.due_and_next_time(now).and_then(|(due_at, next)| {
            let pushed = self.push_jobs(&[schedule.job_at(due_at)])?;
            Ok((due_at, next, pushed))
        });
        match due {
            Ok((due_at, next, pushed)) => {
                for pushed in pushed {
                    (fired.id, fired.is_new) = (Some(pushed.id), pushed.is_new);
                }
                let id = fired.id.map(|id| id.to_string());
                self.run_statement(
                    "UPDATE icecore_schedules SET next_at = ?, last_at = ?, last_id = COALESCE(?, last_id) WHERE name = ?",
                    &[Value::Int(next), Value::Int(due_at), Value::text_or_null(id.as_deref()), Value::Text(&schedule.name)],
                )?;
            }
            // The schedule is invalid. The other schedules continue.
            Err(error) if error.kind() == ErrorKind::Input => {
                let problem = describe::without_nul(&error.to_string()).into_owned();
                let sql = "UPDATE icecore_schedules SET next_at = NULL, problem = ? WHERE name = ?";
                self.run_statement(sql, &[Value::Text(&problem), Value::Text(&schedule.name)])?;
                fired.problem = Some(problem);
            }
            Err(error) => return Err(error),
        }
        Ok(fired)
    }
}
