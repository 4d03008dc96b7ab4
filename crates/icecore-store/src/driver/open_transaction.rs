//! A session within the caller's transaction. It does not begin or end the transaction.

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

/// Session that uses savepoints in place of transactions. So an error undoes only the statements that belong
/// together, and the caller's earlier work stays.
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
        // This fails if the transaction has ended, because the savepoint ended with it. The error is ignored, because
        // the caller's next statement fails too.
        let _ = self.0.run_script("ROLLBACK TO SAVEPOINT icecore");
        let _ = self.0.run_script("RELEASE SAVEPOINT icecore");
    }
}
