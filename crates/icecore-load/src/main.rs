//! The program for measurements that need servers.

mod program {
    pub mod store;
    pub mod web;
}

use clap::Parser;
use program::{store, web};
use std::process::ExitCode;

/// Measure the store and PHP pages under load, and other programs that do the same work
#[derive(Debug, Parser)]
#[command(version)]
enum Program {
    Store(Box<store::Arguments>),
    Web(web::Arguments),
}

fn main() -> ExitCode {
    let done = match Program::parse() {
        Program::Store(arguments) => store::measure(&arguments),
        Program::Web(arguments) => web::measure(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("icecore-load: {error}");
            ExitCode::FAILURE
        }
    }
}
