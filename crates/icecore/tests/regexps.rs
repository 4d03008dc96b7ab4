//! Regular expressions match the same in the other language, or a loss is reported. The other language loads all of
//! them.

use crate::common::Random;
use crate::fixtures::checker;
use icecore::{Builder, Limits, LossKind, Stage};
use std::process::Command;

/// Texts that both languages match.
const SAMPLES: &[&str] = &[
    "", "a", "b", "ab", "aab", "ba", "A", "é", "É", "日本", "a\nb", "\n", "a b", " \t", "1a", "٣", "f0", "-", "]", "[",
    "a&&b", "ss", "k", "_", "(a)", "((a))", "a#b", "h", "u00e9", "\u{a0}", "\u{2028}", "x{41}", "{1, 2}", "abcabc",
];

/// Prints where a regexp matches in each sample, from each place.
const PERL: &str = r#"use strict; no warnings; use Storable; use MIME::Base64; $| = 1;
my @samples = map { my $text = decode_base64($_); utf8::decode($text); utf8::upgrade($text); $text } split /,/, shift;
while (<STDIN>) { chomp; my ($kind, $data, $flags) = split / /; $data = decode_base64($data); my $regexp;
  if ($kind eq 'load') { $regexp = eval { Storable::thaw($data)->[0] } }
  else { utf8::decode($data); $regexp = eval "qr/\$data/$flags" }
  if (ref $regexp ne 'Regexp') { print "error $@" =~ s/[^ -~]/ /gr, "\n"; next }
  my @answers;
  eval { for my $text (@samples) { my @found;
    for my $start (0 .. length $text) { pos($text) = $start;
      push @found, $text =~ /$regexp/g ? join '-', map { defined $-[$_] ? "$-[$_]:$+[$_]" : 'u' } 0 .. $#+ : '' }
    push @answers, join ',', @found } };
  # A recursion may have no end.
  print $@ ? 'error' : 'ok ', join('|', @answers), "\n" }"#;

/// As [`PERL`].
const RUBY: &str = r##"$stdout.sync = true
samples = ARGV[0].split(',').map { |text| text.unpack1('m').force_encoding('UTF-8') }
while line = $stdin.gets
  kind, data, flags = line.chomp.split(' ')
  data = data.to_s.unpack1('m')
  begin
    if kind == 'load' then regexp = Marshal.load(data)[0]
    else regexp = Regexp.new(data.force_encoding('UTF-8'), flags.to_s.each_char.sum { |flag| { 'i' => 1, 'x' => 2, 'm' => 4 }[flag] }) end
    puts 'ok ' + samples.map { |text| (0..text.length).map { |start|
      found = regexp.match(text, start)
      found ? (0...found.size).map { |group| found.begin(group) ? "#{found.begin(group)}:#{found.end(group)}" : 'u' }.join('-') : ''
    }.join(',') }.join('|')
  rescue Exception => error
    puts 'error ' + error.message.b.gsub(/[^ -~]/, ' ')
  end
end"##;

/// As [`PERL`]: a regexp is a string in PHP, and a program adds the delimiters.
const PHP: &str = r#"$samples = array_map('base64_decode', explode(',', $argv[1]));
while (($line = fgets(STDIN)) !== false) {
    $pattern = unserialize(base64_decode(explode(' ', trim($line))[1]))[0];
    $answers = [];
    foreach ($samples as $text) {
        $found = [];
        $count = mb_strlen($text);
        for ($start = 0; $start <= $count; $start++) {
            $offset = strlen(mb_substr($text, 0, $start));
            $result = @preg_match("\x01$pattern\x01u", $text, $groups, PREG_OFFSET_CAPTURE | PREG_UNMATCHED_AS_NULL, $offset);
            if ($result === false) {
                echo 'error ', preg_replace('/[^ -~]/', ' ', error_get_last()['message'] ?? preg_last_error_msg()), "\n";
                error_clear_last();
                continue 3;
            }
            $groups = array_filter($groups, 'is_int', ARRAY_FILTER_USE_KEY);
            $found[] = implode('-', array_map(function ($group) use ($text) {
                if ($group[0] === null) return 'u';
                $from = mb_strlen(substr($text, 0, $group[1]));
                return $from . ':' . ($from + mb_strlen($group[0]));
            }, $groups));
        }
        $answers[] = implode(',', $found);
    }
    echo 'ok ', implode('|', $answers), "\n";
}"#;

const PERL_PARTS: &[&str] = &[
    "a",
    "b",
    "é",
    ".",
    "^",
    "$",
    r"\A",
    r"\z",
    r"\b",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\h",
    r"\v",
    r"\N",
    r"\x{e9}",
    r"\x41",
    r"\t",
    r"\pL",
    r"\p{Lu}",
    r"\p{Han}",
    "[ab]",
    "[^a]",
    r"[\w-]",
    r"[[:alpha:]]",
    "[[a]",
    "[a&&b]",
    "[]a]",
    r"[\Wa]",
    "a{1,2}+",
    "a{2}?",
    "(?^:a)",
    "(?i:a)",
    "(?s:.)",
    "(a)",
    "(?<n>b)",
    r"(?:(a)\1)",
    r"(a|b\g{-1})",
    r"(?<s>a|b\k<s>)",
    "(?<=a)",
    "(?<!a{1,2})",
    "(?=b)",
    "(?>a+)",
    "(?|a|b)",
    "(?|(a)|(b)c)",
    "(?(DEFINE)(?<d>a|b))",
    "(?&d)",
    "(?1)",
    "(?{1})",
    "(*SKIP)",
    "(*FAIL)",
    r"\R",
    r"\X",
    r"\K",
    "{",
    r"\u",
    "(?#x)",
    "(?i)",
    r"(\((?:a|(?-1))*\))",
    "(?(?=a)a|b)",
];

const RUBY_PARTS: &[&str] = &[
    "a",
    "b",
    "é",
    ".",
    "^",
    "$",
    r"\A",
    r"\z",
    r"\b",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\h",
    r"\H",
    r"\v",
    r"\u00e9",
    r"\u{61 62}",
    r"\x41",
    r"\xC3\xA9",
    r"\p{L}",
    r"\p{Lu}",
    r"\p{Han}",
    "[ab]",
    "[^a]",
    r"[\w-]",
    r"[[:alpha:]]",
    "[[a]b]",
    "[a-z&&[^b]]",
    "[^a[^b]]",
    r"[\Wa]",
    "a{1,2}+",
    "a{2}?",
    "a**",
    "(?-mix:a)",
    "(?i:a)",
    "(?m:.)",
    "(a)",
    "(?<n>b)",
    r"(?:(a)\k<-1>)",
    r"(a|b\k<-1>)",
    r"(?<s>a|b\k<s>)",
    "(?<=a)",
    "(?<!ab|a)",
    "(?=b)",
    "(?>a+)",
    "(?~b)",
    r"\R",
    r"\X",
    r"\K",
    "{1, 2}",
    r"\N",
    r"\Q",
    "(?#x)",
    "(?i)",
    r"(?<g>\((?:a|\g<g>)*\))",
    r"(?u:\d)",
    r"(?a:[[:alpha:]])",
];

/// The number of patterns of a test; `REGEXPS` is another one, with other patterns.
fn pattern_count() -> usize {
    std::env::var("REGEXPS").ok().and_then(|count| count.parse().ok()).unwrap_or(1500)
}

/// Parts that PCRE reads as Perl does, in patterns of text.
const PHP_PARTS: &[&str] = &[
    "a", "b", "é", ".", "^", "$", r"\A", r"\z", r"\b", r"\d", r"\D", r"\w", r"\W", r"\h", r"\v", r"\N", r"\x{e9}",
    r"\pL", "[ab]", "[^a]", r"[\w-]", "a{1,2}+", "a{2}?", "(?^:a)", "(?i:a)", "(?s:.)", "(a)", "(?<=a)", "(?=b)",
    "(?>a+)", "(?|a|b)", "(*FAIL)", r"\R", "(?#x)", "(?i)", "(?-i)", "#a", " ",
];

fn base64(bytes: &[u8]) -> String {
    crate::fixtures::perl::base64(bytes)
}

fn random_pattern(random: &mut Random, parts: &[&str]) -> String {
    let mut pattern = String::new();
    for _ in 0..=random.below(4) {
        let part = random.pick(parts);
        match random.below(8) {
            0 => pattern = format!("{pattern}|{part}"),
            1 => pattern = format!("(?:{pattern}){part}"),
            2 => pattern = format!("({pattern}|{part})"),
            3 => pattern = format!("{pattern}(?:{part})*"),
            _ => pattern.push_str(part),
        }
    }
    pattern
}

/// Returns `true` if an engine matches this pattern wrongly: perl 5.36 finds no `A` for `(?:b)*(?i:a)`, PCRE 10.42 no `b` for
/// `(?=b)(?:^)*b`, and Ruby 3.1 no `\K\b` and no `(?=b)(?m:.)*` after the start.
fn meets_engine_fault(pattern: &str) -> bool {
    pattern.contains(")*") && ["(?i", "^", r"\K", "."].iter().any(|part| pattern.contains(part))
}

/// Compares each pattern in the language of its source with the translation in the other one.
fn compare_languages(source: &str, target: &str, parts: &[&str], letters: &str, programs: [&mut Command; 2]) {
    let mut random = Random::new(pattern_count() as u64 + 11);
    let (mut own, mut other, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..pattern_count() {
        let pattern = random_pattern(&mut random, parts);
        if meets_engine_fault(&pattern) {
            continue;
        }
        let flags: String = letters.chars().filter(|_| random.one_in(4)).collect();
        // Documents have Perl's letters.
        let document_flags = if source == "marshal" { flags.replace('m', "s") } else { flags.clone() };
        let mut builder = Builder::new();
        builder.begin_array().begin_regexp().text(&pattern).bytes(&document_flags).end().end();
        let mut document = builder.finish().unwrap();
        icecore::format::by_name(source).unwrap().named(document.tape_mut());
        let mut bytes = Vec::new();
        let written = icecore::write_to(&document, &Stage::parse(target).unwrap(), &Limits::default(), &mut bytes);
        // In PHP a regexp is always a string, and a program adds the modifier `u`.
        let is_loss = |kind| target != "php" || !matches!(kind, LossKind::Regexp | LossKind::RegexpFlags);
        losses.push(written.unwrap().iter().filter(|loss| is_loss(loss.kind)).count());
        own.push(format!("source {} {flags}", base64(pattern.as_bytes())));
        other.push(format!("load {}", base64(&bytes)));
    }
    let [own_program, other_program] = programs;
    let (expected, answers) = (checker::ask(own_program, &own), checker::ask(other_program, &other));
    let (mut compared, mut failures) = (0, Vec::new());
    for (index, (expected, answer)) in expected.iter().zip(&answers).enumerate() {
        if !expected.starts_with("ok") {
            continue;
        }
        compared += 1;
        if !answer.starts_with("ok") || losses[index] == 0 && expected != answer {
            failures.push(format!("{}\n  {expected}\n  {answer}", own[index]));
        }
    }
    let reported = losses.iter().filter(|count| **count > 0).count();
    println!("{source} to {target}: {compared} compared, {reported} with losses");
    assert!(compared > 700, "{compared}");
    failures.truncate(10);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn programs() -> Option<[Command; 2]> {
    let has_perl = checker::has("perl 5.34", Command::new("perl").args(["-MStorable", "-e", "exit($] < 5.034)"]));
    if !has_perl || !checker::has("ruby 3.1", Command::new("ruby").args(["-e", "exit RUBY_VERSION >= '3.1'"])) {
        return None;
    }
    let samples: Vec<_> = SAMPLES.iter().map(|sample| base64(sample.as_bytes())).collect();
    let (mut perl, mut ruby) = (Command::new("perl"), Command::new("ruby"));
    perl.args(["-e", PERL, &samples.join(",")]);
    ruby.args(["-W0", "-E", "UTF-8", "-e", RUBY, &samples.join(",")]);
    Some([perl, ruby])
}

fn php_program() -> Option<Command> {
    // PHP has PCRE2 10.30, which reads `(?^i:…)`, from 7.3 on.
    let test = "exit((int) !(PHP_VERSION_ID >= 70400 && extension_loaded('mbstring')));";
    if !checker::has("php 7.4 with mbstring", Command::new("php").args(["-r", test])) {
        return None;
    }
    let samples: Vec<_> = SAMPLES.iter().map(|sample| base64(sample.as_bytes())).collect();
    let mut php = Command::new("php");
    php.args(["-d", "mbstring.internal_encoding=UTF-8", "-r", PHP, &samples.join(",")]);
    Some(php)
}

#[test]
fn regexps_of_perl_match_the_same_in_ruby_or_are_losses() {
    let Some([mut perl, mut ruby]) = programs() else { return };
    compare_languages("sereal", "marshal", PERL_PARTS, "msixn", [&mut perl, &mut ruby]);
}

#[test]
fn regexps_of_perl_match_the_same_in_php_with_their_modifiers() {
    let Some([mut perl, _]) = programs() else { return };
    let Some(mut php) = php_program() else { return };
    compare_languages("sereal", "php", PHP_PARTS, "msixnu", [&mut perl, &mut php]);
}

#[test]
fn regexps_of_ruby_match_the_same_in_perl_or_are_losses() {
    let Some([mut perl, mut ruby]) = programs() else { return };
    compare_languages("marshal", "storable:memory", RUBY_PARTS, "ixm", [&mut ruby, &mut perl]);
}
