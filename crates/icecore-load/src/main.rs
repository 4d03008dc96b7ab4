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
enum CommandLine {
    Store(Box<store::StoreArguments>),
    Web(web::WebArguments),
}

fn main() -> ExitCode {
    let result = match CommandLine::parse() {
        CommandLine::Store(arguments) => store::measure_store(&arguments),
        CommandLine::Web(arguments) => web::measure_web(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("icecore-load: {error}");
            ExitCode::FAILURE
        }
    }
}
