//! Pages drawn from an invented report.

mod drawn;
mod html;
mod report;
mod xml;
