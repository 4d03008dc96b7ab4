//! A format that another program also reads, and that program.

use crate::differ::{self, Rival, Verdict};
use crate::oracle::{Oracle, Runtime, classes_of_php};
use crate::perl::Perl;
use crate::{differ_php, differ_ruby};
use std::collections::HashSet;

/// A comparison that the driver runs.
pub trait Contest {
    /// Returns the name of the target.
    fn name(&self) -> String;
    /// Returns the program to compare with.
    fn rival(&self) -> &'static str;
    /// Returns why the program can't be used.
    fn missing(&self) -> Option<&'static str>;
    /// Returns the files whose blobs are the seeds.
    fn seeds(&self) -> &'static [&'static str];
    /// Returns why the program is not run for this input.
    fn spared(&self, data: &[u8]) -> Option<&'static str>;
    /// Runs the program, and compares.
    fn verdicts(&mut self, blobs: &[Vec<u8>]) -> Vec<Verdict>;
    /// Returns how often the program was started.
    fn starts(&self) -> u64;
}

/// Returns the contest with this name.
pub fn named(name: &str) -> Option<Box<dyn Contest>> {
    if let Some(rival) = Rival::named(name) {
        return Some(Box::new(WithPerl { rival, perl: Perl::new() }));
    }
    let runtime = match name {
        "marshal_diff" => Runtime::Ruby,
        "php_diff" => Runtime::Php,
        "igbinary_diff" => Runtime::Igbinary,
        _ => return None,
    };
    Some(Box::new(Again { runtime, oracle: Oracle::new(runtime), classes: HashSet::new() }))
}

/// The names of all contests.
pub const NAMES: &[&str] = &["storable_diff", "sereal_diff", "marshal_diff", "php_diff", "igbinary_diff"];

/// perl reports what it reads.
struct WithPerl {
    rival: Rival,
    perl: Perl,
}

impl Contest for WithPerl {
    fn name(&self) -> String {
        format!("{}_diff", self.rival.format())
    }

    fn rival(&self) -> &'static str {
        "perl"
    }

    fn missing(&self) -> Option<&'static str> {
        None
    }

    fn seeds(&self) -> &'static [&'static str] {
        self.rival.seeds()
    }

    fn spared(&self, data: &[u8]) -> Option<&'static str> {
        differ::spared(self.rival, data)
    }

    fn verdicts(&mut self, blobs: &[Vec<u8>]) -> Vec<Verdict> {
        let answers = self.perl.ask(self.rival.format(), blobs);
        let verdict = |(data, answer): (&Vec<u8>, _)| {
            let verdict = differ::compare(self.rival, data, &answer);
            if !matches!(verdict, Verdict::Differs(_)) {
                return verdict;
            }
            // Earlier inputs may have changed a class, or perl's own undef: a new process decides.
            let fresh = Perl::new().ask(self.rival.format(), std::slice::from_ref(data));
            differ::compare(self.rival, data, &fresh[0])
        };
        blobs.iter().zip(answers).map(verdict).collect()
    }

    fn starts(&self) -> u64 {
        self.perl.starts
    }
}

/// Ruby and PHP write what they read, and so do we: the bytes must be the same.
struct Again {
    runtime: Runtime,
    oracle: Oracle,
    /// Classes that igbinary finds.
    classes: HashSet<Vec<u8>>,
}

impl Again {
    fn compare(&self, data: &[u8], said: &crate::oracle::Said) -> Verdict {
        match self.runtime {
            Runtime::Ruby => differ_ruby::compare(data, said),
            Runtime::Php => differ_php::compare(data, said),
            Runtime::Igbinary => differ_php::compare_igbinary(data, said, &self.classes),
        }
    }
}

impl Contest for Again {
    fn name(&self) -> String {
        match self.runtime {
            Runtime::Ruby => "marshal_diff",
            Runtime::Php => "php_diff",
            Runtime::Igbinary => "igbinary_diff",
        }
        .to_owned()
    }

    fn rival(&self) -> &'static str {
        if self.runtime == Runtime::Ruby { "ruby" } else { "php" }
    }

    fn missing(&self) -> Option<&'static str> {
        self.runtime.missing()
    }

    fn seeds(&self) -> &'static [&'static str] {
        match self.runtime {
            Runtime::Ruby => &["marshal.jsonl", "marshal-known.jsonl"],
            Runtime::Php => &["php.jsonl", "php-spl.jsonl"],
            Runtime::Igbinary => &["igbinary.jsonl"],
        }
    }

    fn spared(&self, data: &[u8]) -> Option<&'static str> {
        match self.runtime {
            Runtime::Ruby => differ_ruby::spared(data),
            Runtime::Php => differ_php::spared("php", data),
            Runtime::Igbinary => differ_php::spared("igbinary", data),
        }
    }

    fn verdicts(&mut self, blobs: &[Vec<u8>]) -> Vec<Verdict> {
        if self.runtime == Runtime::Igbinary && self.classes.is_empty() {
            self.classes = classes_of_php();
        }
        let answers = self.oracle.ask(blobs);
        let verdict = |(data, said): (&Vec<u8>, _)| {
            let verdict = self.compare(data, &said);
            if !matches!(verdict, Verdict::Differs(_)) {
                return verdict;
            }
            // Earlier inputs may have changed a class.
            let fresh = Oracle::new(self.runtime).ask(std::slice::from_ref(data));
            self.compare(data, &fresh[0])
        };
        blobs.iter().zip(answers).map(verdict).collect()
    }

    fn starts(&self) -> u64 {
        self.oracle.starts
    }
}
