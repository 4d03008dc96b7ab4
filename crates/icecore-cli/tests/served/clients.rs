//! Programs in Perl, PHP and Ruby that use the clients of the modules (`tests/clients`). A language without its module
//! is skipped, which is reported: `make modules` builds them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A language with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Perl,
    Php,
    Ruby,
}

fn bindings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings")
}

impl Language {
    /// Returns the languages whose module is available.
    pub fn available() -> Vec<Language> {
        let mut all = vec![Language::Perl, Language::Php, Language::Ruby];
        all.retain(|language| {
            let is_available = language.is_available();
            if !is_available {
                eprintln!("SKIPPED: the client in {language:?}, as its module is not built");
            }
            is_available
        });
        all
    }

    pub fn is_available(self) -> bool {
        let mut command = self.interpreter();
        match self {
            Language::Perl => command.args(["-MIcecore::Client", "-e1"]),
            Language::Php => command.args(["-r", "exit(extension_loaded('icecore') ? 0 : 1);"]),
            Language::Ruby => command.args(["-ricecore", "-e", "exit"]),
        };
        command.output().is_ok_and(|output| output.status.success())
    }

    fn interpreter(self) -> Command {
        let bindings = bindings();
        match self {
            Language::Perl => {
                let mut perl = Command::new("perl");
                let built = bindings.join("perl/blib");
                perl.arg(format!("-I{}", built.join("lib").display()));
                perl.arg(format!("-I{}", built.join("arch").display()));
                perl
            }
            Language::Php => {
                let mut php = Command::new("php");
                php.arg("-d").arg(format!("extension={}", bindings.join("php/modules/icecore.so").display()));
                php.args(["-d", "display_errors=stderr", "-d", "log_errors=0"]);
                php
            }
            Language::Ruby => {
                let mut ruby = Command::new("ruby");
                ruby.arg("-I").arg(bindings.join("ruby/lib"));
                ruby
            }
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Language::Perl => "pl",
            Language::Php => "php",
            Language::Ruby => "rb",
        }
    }

    /// Returns a program of the folder `clients`, in this language, that uses this daemon.
    pub fn program(self, name: &str, daemon: SocketAddr) -> Command {
        let mut command = self.interpreter();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        command.arg(folder.join(format!("{name}.{}", self.suffix())));
        command.env("ICECORE_URL", format!("http://{daemon}")).env_remove("ICECORE_TOKEN").stdin(Stdio::null());
        command
    }
}
