//! Running programs.

use std::io::Write;
use std::process::{Command, Stdio};

/// Returns `true` if a program is installed.
pub fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    found.is_ok_and(|output| output.status.success())
}

/// Returns the output of a command for this input.
pub fn run(command: &mut Command, input: &[u8]) -> Vec<u8> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is there");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Its output must be read while it reads its input.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    let written = writer.join().expect("no panic");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}", stderr.chars().take(2000).collect::<String>());
    written.expect("it reads all");
    output.stdout
}
