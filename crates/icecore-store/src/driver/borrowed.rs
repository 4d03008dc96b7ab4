//! A session within the caller's transaction: it neither begins nor ends it.

use super::{EachRow, Session, Value};
use crate::dialect::Dialect;
use crate::error::Result;

/// Statements within an open transaction.
pub(crate) trait Borrowed {
    fn dialect(&self) -> &'static Dialect;
    fn run(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64>;
    fn ask(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()>;
    fn script(&mut self, sql: &str) -> Result<()>;
}

/// Session that uses savepoints in place of transactions: an error undoes the statements that belong together, and
/// keeps the caller's earlier work.
pub(crate) struct Savepoints<B>(pub(crate) B);

impl<B: Borrowed> Session for Savepoints<B> {
    fn dialect(&self) -> &'static Dialect {
        self.0.dialect()
    }

    fn run(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.0.run(sql, values)
    }

    fn ask(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        self.0.ask(sql, values, each)
    }

    fn script(&mut self, sql: &str) -> Result<()> {
        self.0.script(sql)
    }

    fn begin(&mut self) -> Result<()> {
        self.0.script("SAVEPOINT icecore")
    }

    fn commit(&mut self) -> Result<()> {
        self.0.script("RELEASE SAVEPOINT icecore")
    }

    fn rollback(&mut self) {
        // If the transaction has ended, there is no savepoint either; the caller's next statement fails.
        let _ = self.0.script("ROLLBACK TO SAVEPOINT icecore");
        let _ = self.0.script("RELEASE SAVEPOINT icecore");
    }
}
