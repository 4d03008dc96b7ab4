//! A session within the caller's transaction: it neither begins nor ends it.

use super::{EachRow, Session, Value};
use crate::dialect::Dialect;
use crate::error::Result;

/// Statements within an open transaction.
pub(crate) trait OpenTransaction {
    fn dialect(&self) -> &'static Dialect;
    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64>;
    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()>;
    fn run_script(&mut self, sql: &str) -> Result<()>;
}

/// Session that uses savepoints in place of transactions: an error undoes the statements that belong together, and
/// keeps the caller's earlier work.
pub(crate) struct Savepoints<B>(pub(crate) B);

impl<B: OpenTransaction> Session for Savepoints<B> {
    fn dialect(&self) -> &'static Dialect {
        self.0.dialect()
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.0.run_statement(sql, values)
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        self.0.query_each(sql, values, each)
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        self.0.run_script(sql)
    }

    fn begin(&mut self) -> Result<()> {
        self.0.run_script("SAVEPOINT icecore")
    }

    fn commit(&mut self) -> Result<()> {
        self.0.run_script("RELEASE SAVEPOINT icecore")
    }

    fn rollback(&mut self) {
        // If the transaction has ended, there is no savepoint either; the caller's next statement fails.
        let _ = self.0.run_script("ROLLBACK TO SAVEPOINT icecore");
        let _ = self.0.run_script("RELEASE SAVEPOINT icecore");
    }
}
