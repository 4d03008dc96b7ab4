//! Pages drawn from a report that nobody measured.

mod drawn;
mod report;
