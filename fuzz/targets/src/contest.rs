//! Formats that another program also reads, each with that program.

use crate::differ::{self, Rival, Verdict};
use crate::oracle::{Oracle, Runtime, list_php_classes};
use crate::perl::Perl;
use crate::{differ_php, differ_ruby};
use std::collections::HashSet;

/// A comparison that the driver runs.
pub trait Contest {
    /// Returns the name of the target.
    fn name(&self) -> String;
    /// Returns the program to compare with.
    fn rival_program(&self) -> &'static str;
    /// Returns why the program can't be used.
    fn missing_reason(&self) -> Option<&'static str>;
    /// Returns the files whose blobs are the seeds.
    fn seed_files(&self) -> &'static [&'static str];
    /// Returns why the program is not run for this input.
    fn skip_reason(&self, data: &[u8]) -> Option<&'static str>;
    /// Runs the program, and compares.
    fn compare_blobs(&mut self, blobs: &[Vec<u8>]) -> Vec<Verdict>;
    /// Returns how often the program was started.
    fn start_count(&self) -> u64;
}

/// Returns the contest with this name.
pub fn find_contest(name: &str) -> Option<Box<dyn Contest>> {
    if let Some(rival) = Rival::from_name(name) {
        return Some(Box::new(PerlContest { rival, perl: Perl::new() }));
    }
    let runtime = match name {
        "marshal_diff" => Runtime::Ruby,
        "php_diff" => Runtime::Php,
        "igbinary_diff" => Runtime::Igbinary,
        _ => return None,
    };
    Some(Box::new(RewriteContest { runtime, oracle: Oracle::new(runtime), classes: HashSet::new() }))
}

/// The names of all contests.
pub const NAMES: &[&str] = &["storable_diff", "sereal_diff", "marshal_diff", "php_diff", "igbinary_diff"];

/// A comparison with perl, which reports the values that it reads.
struct PerlContest {
    rival: Rival,
    perl: Perl,
}

impl Contest for PerlContest {
    fn name(&self) -> String {
        format!("{}_diff", self.rival.format())
    }

    fn rival_program(&self) -> &'static str {
        "perl"
    }

    fn missing_reason(&self) -> Option<&'static str> {
        None
    }

    fn seed_files(&self) -> &'static [&'static str] {
        self.rival.seed_files()
    }

    fn skip_reason(&self, data: &[u8]) -> Option<&'static str> {
        differ::skip_reason(self.rival, data)
    }

    fn compare_blobs(&mut self, blobs: &[Vec<u8>]) -> Vec<Verdict> {
        let answers = self.perl.process_blobs(self.rival.format(), blobs);
        let verdict = |(data, answer): (&Vec<u8>, _)| {
            let verdict = differ::compare_with_perl(self.rival, data, &answer);
            if !matches!(verdict, Verdict::Differs(_)) {
                return verdict;
            }
            // Earlier inputs may have changed a class or perl's own undef, so a new process decides.
            let fresh_answers = Perl::new().process_blobs(self.rival.format(), std::slice::from_ref(data));
            differ::compare_with_perl(self.rival, data, &fresh_answers[0])
        };
        blobs.iter().zip(answers).map(verdict).collect()
    }

    fn start_count(&self) -> u64 {
        self.perl.starts
    }
}

/// A comparison with Ruby or PHP, which write again what they read. Our bytes must be the same.
struct RewriteContest {
    runtime: Runtime,
    oracle: Oracle,
    /// The built-in classes of PHP, of which igbinary creates objects.
    classes: HashSet<Vec<u8>>,
}

impl RewriteContest {
    fn compare_answer(&self, data: &[u8], answer: &crate::oracle::OracleAnswer) -> Verdict {
        match self.runtime {
            Runtime::Ruby => differ_ruby::compare_with_ruby(data, answer),
            Runtime::Php => differ_php::compare_with_php(data, answer),
            Runtime::Igbinary => differ_php::compare_with_igbinary(data, answer, &self.classes),
        }
    }
}

impl Contest for RewriteContest {
    fn name(&self) -> String {
        match self.runtime {
            Runtime::Ruby => "marshal_diff",
            Runtime::Php => "php_diff",
            Runtime::Igbinary => "igbinary_diff",
        }
        .to_owned()
    }

    fn rival_program(&self) -> &'static str {
        if self.runtime == Runtime::Ruby { "ruby" } else { "php" }
    }

    fn missing_reason(&self) -> Option<&'static str> {
        self.runtime.missing_reason()
    }

    fn seed_files(&self) -> &'static [&'static str] {
        match self.runtime {
            Runtime::Ruby => &["marshal.jsonl", "marshal-known.jsonl"],
            Runtime::Php => &["php.jsonl", "php-spl.jsonl"],
            Runtime::Igbinary => &["igbinary.jsonl"],
        }
    }

    fn skip_reason(&self, data: &[u8]) -> Option<&'static str> {
        match self.runtime {
            Runtime::Ruby => differ_ruby::skip_reason(data),
            Runtime::Php => differ_php::skip_reason("php", data),
            Runtime::Igbinary => differ_php::skip_reason("igbinary", data),
        }
    }

    fn compare_blobs(&mut self, blobs: &[Vec<u8>]) -> Vec<Verdict> {
        if self.runtime == Runtime::Igbinary && self.classes.is_empty() {
            self.classes = list_php_classes();
        }
        let answers = self.oracle.process_blobs(blobs);
        let verdict = |(data, answer): (&Vec<u8>, _)| {
            let verdict = self.compare_answer(data, &answer);
            if !matches!(verdict, Verdict::Differs(_)) {
                return verdict;
            }
            // Earlier inputs may have changed a class, so a new process decides.
            let fresh_answers = Oracle::new(self.runtime).process_blobs(std::slice::from_ref(data));
            self.compare_answer(data, &fresh_answers[0])
        };
        blobs.iter().zip(answers).map(verdict).collect()
    }

    fn start_count(&self) -> u64 {
        self.oracle.starts
    }
}
