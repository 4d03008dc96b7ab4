//! Running a program on some input.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub const ICECORE: &str = env!("CARGO_BIN_EXE_icecore");

/// What a program makes of the input. One that ends early need not read it all.
pub fn output(program: &str, args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(program);
    command.args(args);
    fed(command, input)
}

/// What a command makes of the input.
pub fn fed(mut command: Command, input: &[u8]) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", piped.get_program()));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let done = child.wait_with_output().expect("it ends");
    feeder.join().expect("the input was offered");
    done
}

/// Stdout, stderr and the exit code of `icecore`.
pub fn icecore(args: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
    let done = output(ICECORE, args, input);
    (done.stdout, String::from_utf8(done.stderr).expect("text"), done.status.code().expect("a code"))
}

/// A shell in a folder, which finds `icecore`.
pub fn shell(folder: &Path, command: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let here = Path::new(ICECORE).parent().expect("a folder").display();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", format!("{here}:{path}")).stdin(Stdio::null());
    shell
}
