//! Runs programs with some input.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub const ICECORE: &str = env!("CARGO_BIN_EXE_icecore");

/// Returns the output of a program for this input. A program that ends early need not read it all.
pub fn output(program: &str, args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(program);
    command.args(args);
    fed(command, input)
}

/// Returns the output of a command for this input.
pub fn fed(mut command: Command, input: &[u8]) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", piped.get_program()));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    feeder.join().expect("the input was offered");
    output
}

/// Returns stdout, stderr and the exit code of `icecore`.
pub fn icecore(args: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
    let done = output(ICECORE, args, input);
    (done.stdout, String::from_utf8(done.stderr).expect("text"), done.status.code().expect("a code"))
}

/// Returns a shell in a folder, with `icecore` on its path.
pub fn shell(folder: &Path, command: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = Path::new(ICECORE).parent().expect("a folder").display();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", format!("{programs}:{path}")).stdin(Stdio::null());
    shell
}
