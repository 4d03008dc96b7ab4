//! The run of the README: the daemon is started, a job is posted by curl, worked and replayed.

use super::daemon::free_port;
use crate::run::ICECORE;
use std::path::Path;
use std::process::Command;

/// Returns the code block below a heading.
fn block(page: &str, heading: &str) -> String {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).expect("the heading is there");
    let (_, code) = section.split_once("```sh\n").expect("a block of code");
    code.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn commands_in_the_readme_work_as_described() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: the run of the README: curl is missing");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let port = free_port();
    let code = block(&page, "A store and a queue")
        .replace("7340", &port.to_string())
        .replace("icecore serve", &format!("icecore serve -q --listen 127.0.0.1:{port}"));
    let folder = tempfile::tempdir().expect("a folder");
    let bin = Path::new(ICECORE).parent().expect("its folder").display();
    let path = format!("{bin}:{}", std::env::var("PATH").expect("a path"));
    let ran = Command::new("bash")
        .args(["-ec", &code])
        .current_dir(folder.path())
        .env("PATH", path)
        .env_remove("ICECORE_DB")
        .env_remove("ICECORE_TOKEN")
        .output()
        .expect("bash");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    let done = out.lines().filter(|line| line.contains("mail") && line.contains("done")).count();
    assert!(done >= 1, "the job is listed as done: {out}\n{err}");
    assert!(out.contains(r#""result":{"TO": "ANN@EXAMPLE.COM"}"#), "{out}");
    let ids: Vec<&str> = out.matches(r#"{"id":""#).collect();
    assert!(ids.len() >= 3, "the id of the job, the job, and the id of the replay: {out}");
    let states = Command::new(ICECORE)
        .args(["queue", "list", "mail", "--json", "--state", "done"])
        .current_dir(folder.path())
        .env_remove("ICECORE_DB")
        .output()
        .expect("the command");
    assert_eq!(String::from_utf8_lossy(&states.stdout).lines().count(), 2, "the job and its replay are done");
}
