//! Pages drawn from a report that nobody measured.

mod drawn;
mod html;
mod report;
mod xml;
