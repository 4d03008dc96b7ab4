//! The versions of everything that influences a count.

use std::collections::BTreeMap;
use std::process::Command;

/// The tools that every benchmark depends on.
const EVERYWHERE: [&str; 4] = ["rustc", "libc", "valgrind", "cpu"];

/// The tool that compiles the modules in C.
pub const COMPILER: &str = "cc";

/// The tools of this machine, by their names; those that are missing have no entry.
pub fn find_tools() -> BTreeMap<String, String> {
    let commands: [(&str, &[&str]); 8] = [
        ("rustc", &["rustc", "-V"]),
        ("libc", &["getconf", "GNU_LIBC_VERSION"]),
        ("valgrind", &["valgrind", "--version"]),
        (COMPILER, &["cc", "--version"]),
        ("perl", &["perl", "-MConfig", "-e", "print \"$^V $Config{archname}\""]),
        ("php", &["php", "-n", "-r", "echo PHP_VERSION, PHP_ZTS ? ' ZTS' : '', PHP_DEBUG ? ' debug' : '';"]),
        ("ruby", &["ruby", "--disable=gems", "-e", "print RUBY_DESCRIPTION"]),
        ("python", &["python3", "-c", "import platform as p; print(p.python_version(), p.python_compiler())"]),
    ];
    let found = commands.into_iter().filter_map(|(name, words)| Some((name.to_owned(), first_line(words)?)));
    let mut tools: BTreeMap<String, String> = found.collect();
    if let Some(cpu) = cpu_of_valgrind() {
        tools.insert("cpu".to_owned(), cpu);
    }
    tools
}

fn first_line(words: &[&str]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// Returns the processor that a program sees under valgrind. Valgrind emulates a processor of its own, and the C
/// library, memchr and fearless_simd choose their code by it.
fn cpu_of_valgrind() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    first_line(&["valgrind", "-q", "--tool=none", program.to_str()?, "cpu"])
}

/// The processor that this program sees.
pub fn cpu() -> String {
    let mut words = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    {
        let features = [
            ("sse4.2", is_x86_feature_detected!("sse4.2")),
            ("avx2", is_x86_feature_detected!("avx2")),
            ("bmi2", is_x86_feature_detected!("bmi2")),
            ("fma", is_x86_feature_detected!("fma")),
            ("avx512f", is_x86_feature_detected!("avx512f")),
        ];
        words.extend(features.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name));
    }
    words.join(" ")
}

/// Returns the reason why no benchmark can be compared with the table, if there is one.
pub fn reason_against_all(table: &BTreeMap<String, String>, here: &BTreeMap<String, String>) -> Option<String> {
    EVERYWHERE.iter().find_map(|tool| difference(tool, table, here))
}

/// Returns the reason why the benchmarks of a language can't be compared with the table, if there is
/// one.
pub fn reason_against(
    language: &str,
    table: &BTreeMap<String, String>,
    here: &BTreeMap<String, String>,
) -> Option<String> {
    // The module of Python is written in Rust only, so its counts do not depend on the C compiler.
    let compiler = if language == "python" { None } else { difference(COMPILER, table, here) };
    difference(language, table, here).or(compiler)
}

fn difference(tool: &str, table: &BTreeMap<String, String>, here: &BTreeMap<String, String>) -> Option<String> {
    match (table.get(tool), here.get(tool)) {
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => Some(format!("the table is for {tool} {old}, here is {new}")),
        (_, None) => Some(format!("{tool} is missing")),
        (None, Some(_)) => Some(format!("the table names no version of {tool}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, version)| (name.to_owned(), version.to_owned())).collect()
    }

    #[test]
    fn another_compiler_prevents_all_comparisons() {
        let all = [("rustc", "1"), ("libc", "2"), ("valgrind", "3"), ("cpu", "4"), ("cc", "5"), ("perl", "6")];
        let table = tools(&all);
        assert_eq!(reason_against_all(&table, &table), None);
        assert_eq!(reason_against("perl", &table, &table), None);
        let newer = tools(&[("rustc", "1.1"), ("libc", "2"), ("valgrind", "3"), ("cpu", "4")]);
        let reason = reason_against_all(&table, &newer).unwrap();
        assert_eq!(reason, "the table is for rustc 1, here is 1.1");
        let mut other_perl = table.clone();
        other_perl.insert("perl".into(), "7".into());
        assert_eq!(reason_against_all(&table, &other_perl), None);
        assert!(reason_against("perl", &table, &other_perl).is_some());
        let mut other_cc = table.clone();
        other_cc.remove("cc");
        assert_eq!(reason_against("perl", &table, &other_cc).as_deref(), Some("cc is missing"));
    }
}
