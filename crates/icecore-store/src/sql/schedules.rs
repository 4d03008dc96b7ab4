//! Schedules, one row each, and the jobs that they queue.

use super::{Session, SqlBackend};
use crate::backend::Schedules;
use crate::describe;
use crate::driver::{Row, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::rules::{check_who, id_of, required};
use crate::schedule::{Fired, NewSchedule, Schedule, check_schedule, no_schedule};

/// Maximum number of schedules handled in one transaction.
const AT_ONCE: usize = 16;

macro_rules! schedules {
    ($conditions:literal) => {
        concat!(
            "SELECT name, queue, timing, zone, next_at, last_at, last_id, paused_at, priority, max_attempts, alone, \
             format, bytes, problem FROM icecore_schedules ",
            $conditions
        )
    };
}

fn schedule_of(row: &dyn Row) -> Result<Schedule> {
    Ok(Schedule {
        name: required(row.text(0)?)?,
        queue: required(row.text(1)?)?,
        timing: required(row.text(2)?)?,
        zone: row.text(3)?,
        next_at: row.int(4)?,
        last_at: row.int(5)?,
        // An invalid value from another program must not stop the other schedules.
        last_id: row.text(6)?.and_then(|text| id_of(Some(text)).ok()),
        paused_at: row.int(7)?,
        priority: required(row.int(8)?)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        max_attempts: row.int(9)?.map(|most| u32::try_from(most.max(1)).unwrap_or(u32::MAX)),
        is_alone: required(row.int(10)?)? != 0,
        format: row.text(11)?,
        bytes: required(row.bytes(12)?)?,
        problem: row.text(13)?,
    })
}

/// Like `schedule_of`; an invalid row gives a schedule with its name and the problem.
fn any_of(row: &dyn Row) -> Result<Option<Schedule>> {
    match schedule_of(row) {
        Ok(schedule) => Ok(Some(schedule)),
        Err(error) => Ok(row.text(0).ok().flatten().map(|name| Schedule::placeholder_for(name, &error))),
    }
}

impl Schedules for SqlBackend {
    fn set_schedule(&mut self, schedule: &NewSchedule, by: &str) -> Result<i64> {
        schedule.check()?;
        check_who(by)?;
        let timing = &schedule.timing;
        self.transaction(|backend| {
            let now = backend.time()?;
            let next = timing.next(now).ok_or_else(|| Error::new(ErrorKind::Input, "this time has no next one"))?;
            let name = Value::Text(&schedule.name);
            let sql = "INSERT INTO icecore_schedules (name, queue, timing, bytes) VALUES (?, ?, ?, ?) {or_nothing}";
            let (queue, text) = (Value::Text(&schedule.queue), Value::Text(timing.text()));
            backend.run(sql, &[name, queue, text, Value::Bytes(&schedule.bytes)])?;
            backend.run(
                "UPDATE icecore_schedules SET queue = ?, timing = ?, zone = ?, next_at = ?, paused_at = NULL, \
                 priority = ?, max_attempts = ?, alone = ?, format = ?, bytes = ?, problem = NULL WHERE name = ?",
                &[
                    queue,
                    text,
                    Value::text(timing.zone()),
                    Value::Int(next),
                    Value::Int(i64::from(schedule.priority)),
                    Value::int(schedule.max_attempts.map(|most| i64::from(most.max(1)))),
                    Value::Int(i64::from(schedule.is_alone)),
                    Value::text(schedule.format.as_deref()),
                    Value::Bytes(&schedule.bytes),
                    name,
                ],
            )?;
            backend.note(by, "schedule", &schedule.name, 1)?;
            Ok(next)
        })
    }

    fn schedules(&mut self) -> Result<Vec<Schedule>> {
        Ok(self.rows(schedules!("ORDER BY name"), &[], any_of)?.into_iter().flatten().collect())
    }

    fn pause_schedule(&mut self, name: &str, is_paused: bool, by: &str) -> Result<()> {
        check_schedule(name)?;
        check_who(by)?;
        self.transaction(|backend| {
            let found = backend.first(schedules!("WHERE name = ? {hold}"), &[Value::Text(name)], schedule_of)?;
            let schedule = found.ok_or_else(|| no_schedule(name))?;
            let now = backend.time()?;
            let (paused_at, next_at) = schedule.switched(is_paused, now)?;
            let sql = "UPDATE icecore_schedules SET paused_at = ?, next_at = ?, problem = NULL WHERE name = ?";
            backend.run(sql, &[Value::int(paused_at), Value::int(next_at), Value::Text(name)])?;
            backend.note(by, if is_paused { "pause schedule" } else { "resume schedule" }, name, 1)
        })
    }

    fn remove_schedule(&mut self, name: &str, by: &str) -> Result<bool> {
        check_schedule(name)?;
        check_who(by)?;
        self.transaction(|backend| {
            let count = backend.run("DELETE FROM icecore_schedules WHERE name = ?", &[Value::Text(name)])?;
            backend.note(by, "unschedule", name, count)?;
            Ok(count > 0)
        })
    }

    fn fire(&mut self, most: usize) -> Result<Vec<Fired>> {
        let mut fired = Vec::new();
        while fired.len() < most {
            // Usually nothing is due, and then nothing is locked.
            let sql = "SELECT COUNT(*) FROM icecore_schedules WHERE next_at <= {now} AND paused_at IS NULL";
            if self.first(sql, &[], |row| required(row.int(0)?))?.unwrap_or(0) == 0 {
                break;
            }
            let some = self.transaction(|backend| backend.fire_some((most - fired.len()).min(AT_ONCE)))?;
            // Another program handles the rest.
            if some.is_empty() {
                break;
            }
            fired.extend(some);
        }
        Ok(fired)
    }
}

impl<S: Session + ?Sized> SqlBackend<S> {
    fn fire_some(&mut self, most: usize) -> Result<Vec<Fired>> {
        let due = self.rows(
            schedules!("WHERE next_at <= {now} AND paused_at IS NULL ORDER BY next_at, name LIMIT ? {skip_locked}"),
            &[Value::Int(i64::try_from(most).unwrap_or(i64::MAX))],
            any_of,
        )?;
        let now = self.time()?;
        due.into_iter().flatten().map(|schedule| self.fire_one(&schedule, now)).collect()
    }

    fn fire_one(&mut self, schedule: &Schedule, now: i64) -> Result<Fired> {
        let mut fired = schedule.fired();
        let due = schedule.due(now).and_then(|(at, next)| {
            let pushed = self.push_jobs(&[schedule.job(at)])?;
            Ok((at, next, pushed))
        });
        match due {
            Ok((at, next, pushed)) => {
                for pushed in pushed {
                    (fired.id, fired.is_new) = (Some(pushed.id), pushed.is_new);
                }
                let id = fired.id.map(|id| id.to_string());
                self.run(
                    "UPDATE icecore_schedules SET next_at = ?, last_at = ?, last_id = COALESCE(?, last_id) WHERE name = ?",
                    &[Value::Int(next), Value::Int(at), Value::text(id.as_deref()), Value::Text(&schedule.name)],
                )?;
            }
            // The schedule is invalid; the other schedules continue.
            Err(error) if error.kind() == ErrorKind::Input => {
                let problem = describe::without_nul(&error.to_string()).into_owned();
                let sql = "UPDATE icecore_schedules SET next_at = NULL, problem = ? WHERE name = ?";
                self.run(sql, &[Value::Text(&problem), Value::Text(&schedule.name)])?;
                fired.problem = Some(problem);
            }
            Err(error) => return Err(error),
        }
        Ok(fired)
    }
}
