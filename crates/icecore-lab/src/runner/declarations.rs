//! Declarations in the first lines of a runner's script. They are read before it is started.

use std::path::Path;

/// Number of lines that are read.
const MAX_LINES: usize = 5;

/// Declarations in comments: `# variants: sqlite postgres`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The competitors in this script. If there are none, it has a single one without a name.
    pub variants: Vec<String>,
    /// The scenarios to which the script is limited. If there are none, it has no limit.
    pub scenarios: Vec<String>,
}

impl Head {
    /// Reads the declarations of a file. A file that can't be read has none, and its script is started.
    pub fn from_file(path: &Path) -> Head {
        std::fs::read(path).map_or_else(|_| Head::default(), |text| Head::parse_lines(&text))
    }

    fn parse_lines(text: &[u8]) -> Head {
        let mut head = Head::default();
        for line in text.split(|byte| *byte == b'\n').take(MAX_LINES) {
            let line = String::from_utf8_lossy(line);
            let Some((name, words)) = line.trim_start_matches(['#', '/', ' ']).split_once(": ") else { continue };
            let words = words.split_whitespace().map(str::to_owned);
            match name {
                "variants" => head.variants.extend(words),
                "scenarios" => head.scenarios.extend(words),
                _ => {}
            }
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_at_the_top_declare_variants_and_scenarios() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let ruby = b"#!/usr/bin/env ruby\n# variants: a b-c\n# scenarios: one two\n# frozen_string_literal: true\n";
        assert_eq!(Head::parse_lines(ruby), Head { variants: words(&["a", "b-c"]), scenarios: words(&["one", "two"]) });
        let php = b"#!/usr/bin/env php\n<?php\n// variants: a\n";
        assert_eq!(Head::parse_lines(php), Head { variants: words(&["a"]), ..Head::default() });
        let late_header = b"#!/usr/bin/env ruby\n\n\n\n\n# variants: a\n";
        assert_eq!(Head::parse_lines(late_header), Head::default());
        assert_eq!(Head::from_file(Path::new("/nowhere/at/all")), Head::default());
    }
}
