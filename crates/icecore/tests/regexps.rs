//! Regular expressions match the same in the other language, or a loss is reported. The other language loads all of
//! them.

use crate::common::Random;
use crate::fixtures::checker;
use icecore::{Builder, Limits, Stage};
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
  for my $text (@samples) { my @found;
    for my $start (0 .. length $text) { pos($text) = $start;
      push @found, $text =~ /$regexp/g ? join '-', map { defined $-[$_] ? "$-[$_]:$+[$_]" : 'u' } 0 .. $#+ : '' }
    push @answers, join ',', @found }
  print 'ok ', join('|', @answers), "\n" }"#;

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
    "(?<=a)",
    "(?<!a{1,2})",
    "(?=b)",
    "(?>a+)",
    "(?|a|b)",
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

/// Compares each pattern in the language of its source with the translation in the other one.
fn compare_languages(source: &str, target: &str, parts: &[&str], letters: &str, programs: [&mut Command; 2]) {
    let mut random = Random::new(11);
    let (mut own, mut other, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..1500 {
        let pattern = random_pattern(&mut random, parts);
        let flags: String = letters.chars().filter(|_| random.one_in(4)).collect();
        // Documents have Perl's letters.
        let document_flags = if source == "marshal" { flags.replace('m', "s") } else { flags.clone() };
        let mut builder = Builder::new();
        builder.begin_array().begin_regexp().text(&pattern).bytes(&document_flags).end().end();
        let mut document = builder.finish().unwrap();
        icecore::format::by_name(source).unwrap().named(document.tape_mut());
        let mut bytes = Vec::new();
        let written = icecore::write_to(&document, &Stage::parse(target).unwrap(), &Limits::default(), &mut bytes);
        losses.push(written.unwrap().iter().count());
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

#[test]
fn regexps_of_perl_match_the_same_in_ruby_or_are_losses() {
    let Some([mut perl, mut ruby]) = programs() else { return };
    compare_languages("sereal", "marshal", PERL_PARTS, "msixn", [&mut perl, &mut ruby]);
}

#[test]
fn regexps_of_ruby_match_the_same_in_perl_or_are_losses() {
    let Some([mut perl, mut ruby]) = programs() else { return };
    compare_languages("marshal", "storable:memory", RUBY_PARTS, "ixm", [&mut ruby, &mut perl]);
}
