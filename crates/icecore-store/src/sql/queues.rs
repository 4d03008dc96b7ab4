//! Settings and state of queues.

use super::SqlBackend;
use crate::backend::{QueueSettings, Queues};
use crate::driver::Value;
use crate::error::Result;
use crate::job::{QueueStatus, State};
use crate::limits::Rate;
use crate::rules::{check_actor_name, check_name, required, to_millis};
use std::collections::BTreeMap;
use std::time::Duration;

impl<S: super::Session + ?Sized> SqlBackend<S> {
    /// Creates the row of a queue, if there is none.
    fn ensure_queue(&mut self, queue: &str) -> Result<()> {
        let sql = "INSERT INTO icecore_queues (name) VALUES (?) {or_nothing}";
        self.run_statement(sql, &[Value::Text(queue)]).map(drop)
    }
}

impl Queues for SqlBackend {
    fn pause(&mut self, queue: &str, is_paused: bool, actor: &str) -> Result<()> {
        check_name("queue", queue)?;
        check_actor_name(actor)?;
        self.run_in_transaction(|backend| {
            backend.ensure_queue(queue)?;
            let sql = match is_paused {
                true => "UPDATE icecore_queues SET paused_at = {now} WHERE name = ? AND paused_at IS NULL",
                false => "UPDATE icecore_queues SET paused_at = NULL WHERE name = ?",
            };
            backend.run_statement(sql, &[Value::Text(queue)])?;
            backend.add_audit_entry(actor, if is_paused { "pause" } else { "resume" }, queue, 1)
        })
    }

    fn configure(&mut self, queue: &str, settings: &QueueSettings) -> Result<()> {
        check_name("queue", queue)?;
        self.run_in_transaction(|backend| {
            backend.ensure_queue(queue)?;
            let name = Value::Text(queue);
            if let Some(max_attempts) = settings.max_attempts {
                let sql = "UPDATE icecore_queues SET max_attempts = ? WHERE name = ?";
                backend.run_statement(sql, &[Value::Int(i64::from(max_attempts.max(1))), name])?;
            }
            if let Some(backoff) = settings.backoff {
                let sql = "UPDATE icecore_queues SET backoff = ? WHERE name = ?";
                backend.run_statement(sql, &[Value::Int(to_millis(backoff)), name])?;
            }
            if let Some(concurrency) = settings.concurrency {
                let sql = "UPDATE icecore_queues SET concurrency = ? WHERE name = ?";
                backend.run_statement(
                    sql,
                    &[Value::int_or_null((concurrency > 0).then_some(i64::from(concurrency))), name],
                )?;
            }
            if let Some(rate) = settings.rate {
                let rate = (rate.count > 0).then_some(rate);
                let sql = "UPDATE icecore_queues SET rate_count = ?, rate_per = ? WHERE name = ?";
                let count = Value::int_or_null(rate.map(|rate| i64::from(rate.count)));
                backend.run_statement(sql, &[count, Value::int_or_null(rate.map(Rate::period_millis)), name])?;
            }
            if let Some(schema) = &settings.schema {
                let schema = (!schema.trim().is_empty()).then_some(&**schema);
                let sql = "UPDATE icecore_queues SET payload_schema = ? WHERE name = ?";
                backend.run_statement(sql, &[Value::text_or_null(schema), name])?;
            }
            Ok(())
        })
    }

    fn schema(&mut self, queue: &str) -> Result<Option<String>> {
        if check_name("queue", queue).is_err() {
            return Ok(None);
        }
        let sql = "SELECT payload_schema FROM icecore_queues WHERE name = ?";
        Ok(self.query_first(sql, &[Value::Text(queue)], |row| row.read_text(0))?.flatten())
    }

    fn queues(&mut self) -> Result<Vec<QueueStatus>> {
        let mut queues: BTreeMap<String, QueueStatus> = BTreeMap::new();
        let sql = "SELECT name, paused_at, payload_schema, concurrency, rate_count, rate_per, max_attempts, backoff \
                   FROM icecore_queues";
        let configured = self.query_all(sql, &[], |row| {
            Ok(QueueStatus {
                name: required(row.read_text(0)?)?,
                paused_at: row.read_int(1)?,
                schema: row.read_text(2)?,
                concurrency: row.read_int(3)?.map(|limit| u32::try_from(limit.max(0)).unwrap_or(u32::MAX)),
                rate: Rate::from_columns(row.read_int(4)?, row.read_int(5)?),
                max_attempts: row.read_int(6)?.map(|attempts| u32::try_from(attempts.max(1)).unwrap_or(u32::MAX)),
                backoff: row.read_int(7)?.map(|millis| Duration::from_millis(millis.max(0) as u64)),
                ..QueueStatus::default()
            })
        })?;
        queues.extend(configured.into_iter().map(|queue| (queue.name.clone(), queue)));
        let counts =
            self.query_all("SELECT queue, state, COUNT(*) FROM icecore_jobs GROUP BY queue, state", &[], |row| {
                Ok((required(row.read_text(0)?)?, required(row.read_text(1)?)?, required(row.read_int(2)?)?))
            })?;
        for (name, state, count) in counts {
            let Some(index) = State::ALL.iter().position(|known| known.name() == state) else { continue };
            queues.entry(name).or_default().counts[index] = count.max(0) as u64;
        }
        let waiting = self.query_all(
            "SELECT queue, COUNT(*), {now} - MIN(run_at), CAST(SUM(CASE WHEN run_at > {now} THEN 1 ELSE 0 END) AS {integer}) \
             FROM icecore_jobs WHERE state = 'ready' GROUP BY queue",
            &[],
            |row| Ok((required(row.read_text(0)?)?, required(row.read_int(1)?)?, row.read_int(2)?, row.read_int(3)?.unwrap_or(0))),
        )?;
        for (name, count, oldest, delayed) in waiting {
            let queue = queues.entry(name).or_default();
            queue.delayed = delayed.max(0) as u64;
            queue.oldest = oldest.filter(|_| delayed < count);
        }
        for (name, queue) in &mut queues {
            queue.name.clone_from(name);
        }
        Ok(queues.into_values().collect())
    }
}
