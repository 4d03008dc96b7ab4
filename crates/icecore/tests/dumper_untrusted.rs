//! Documents that try to run code: perl evaluates our output for them, and must not call any function.

use icecore::format::dumper::{self, WriteOptions};
use icecore::{Document, Limits, LossKind, Losses, Stage};
use std::io::Write;
use std::process::{Command, Stdio};

/// Evaluates each text of stdin, uses the regular expressions in its value, and prints the texts
/// that called a function. The length of each text precedes it in 4 bytes.
const RUN_TEXTS: &str = r#"
    use strict; use warnings; no warnings;
    our ($calls, $text, $AUTOLOAD) = 0;
    sub hit { $calls++; 'hit' }
    sub IsHit { $calls++; "0\t10FFFF\n" }
    sub InHit { $calls++; "0\t10FFFF\n" }
    sub v1 { $calls++; 'hit' }
    sub AUTOLOAD { $calls++ if $AUTOLOAD !~ /::DESTROY$/; 'hit' }
    binmode STDIN;
    binmode STDOUT;
    my $values = 0;
    while (read STDIN, my $length, 4) {
        read STDIN, $text, unpack 'N', $length;
        $calls = 0;
        my @values = eval "no strict; package main; my \@all = do {\n$text\n}; (\@all, \$VAR1)";
        $values++ unless $@;
        my %seen;
        while (@values) {
            my $value = shift @values;
            my $type = Scalar::Util::reftype($value) // next;
            next if $seen{Scalar::Util::refaddr($value)}++;
            if ($type eq 'REGEXP') { eval { () = "a\@b x hit" =~ $value } }
            elsif ($type eq 'ARRAY') { push @values, @$value }
            elsif ($type eq 'HASH') { push @values, values %$value }
            elsif ($type eq 'REF' || $type eq 'SCALAR') { push @values, $$value }
        }
        print "CALLED: $text\n" if $calls;
    }
    print "VALUES: $values\n";
"#;

/// Returns the texts that called a function, and the number of texts with a value.
fn run_in_perl(texts: &[Vec<u8>]) -> Option<(Vec<String>, usize)> {
    let mut perl = Command::new("perl")
        .args(["-MScalar::Util", "-e", RUN_TEXTS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = perl.stdin.take()?;
    let input: Vec<u8> =
        texts.iter().flat_map(|text| [&(text.len() as u32).to_be_bytes()[..], &text[..]].concat()).collect();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = perl.wait_with_output().expect("perl ends");
    feeder.join().expect("a thread").expect("perl reads all");
    assert!(output.status.success());
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let (called, values) = stdout.rsplit_once("VALUES: ").expect("a count");
    let called = called.split("CALLED: ").skip(1).map(str::to_owned).collect();
    Some((called, values.trim().parse().expect("a number")))
}

fn has_perl() -> bool {
    let status = Command::new("perl").args(["-MScalar::Util", "-e", "1"]).status();
    let has = status.is_ok_and(|status| status.success());
    if !has {
        println!("skipped: perl is not installed");
    }
    has
}

fn read_typed_json(json: &str) -> Document<'static> {
    let stage = Stage::parse("json:typed").expect("a stage");
    let document = icecore::read_as(json.as_bytes(), &stage, &Limits::default());
    document.unwrap_or_else(|error| panic!("{error}: {json}")).into_owned()
}

fn write_document(document: &Document<'_>, options: &WriteOptions) -> (Vec<u8>, Losses) {
    let mut text = Vec::new();
    let losses = dumper::write(document, options, &Limits::default(), &mut text).expect("a text");
    (text, losses)
}

fn write_and_list_losses(json: &str, options: &WriteOptions) -> (String, Vec<LossKind>) {
    let (text, losses) = write_document(&read_typed_json(json), options);
    (String::from_utf8_lossy(&text).into_owned(), losses.iter().map(|loss| loss.kind).collect())
}

fn on_one_line() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.indent = 0;
    options
}

const EMBEDDED: &[LossKind] = &[LossKind::EmbeddedCode];

#[test]
fn regexps_with_code_are_replaced() {
    for (json, text, losses) in [
        (r#"{"$regexp":"a@b\\.c","$flags":""}"#, "$VAR1 = do{my $o = 'a@b\\\\.c'; qr/$o/};", &[][..]),
        (r#"{"$regexp":"@{[main::hit()]}","$flags":"i"}"#, "$VAR1 = do{my $o = '@{[main::hit()]}'; qr/$o/i};", &[]),
        (r#"{"$regexp":"a@\\.c","$flags":""}"#, "$VAR1 = qr/a@\\.c/;", &[]),
        (r#"{"$regexp":"a\\","$flags":""}"#, "$VAR1 = do{my $o = 'a\\\\'; qr/$o/};", &[]),
        (r#"{"$regexp":"(?{main::hit()})","$flags":""}"#, "$VAR1 = qr/(?!)/;", EMBEDDED),
        (r#"{"$regexp":"\\p{IsHit}","$flags":""}"#, "$VAR1 = qr/(?!)/;", EMBEDDED),
        (r#"{"$regexp":"a","$flags":";main::hit();#"}"#, "$VAR1 = qr/a/main;", &[LossKind::RegexpFlags]),
        (r#"{"$vstring":"main::hit()","$value":"\u0001\u0002"}"#, "$VAR1 = v1.2;", EMBEDDED),
        (r#"{"$vstring":"v1.2","$value":"\u0001\u0003"}"#, "$VAR1 = v1.3;", EMBEDDED),
        (r#"{"$vstring":"main::hit()","$value":""}"#, "$VAR1 = '';", EMBEDDED),
        (r#"{"$vstring":"v1.2","$value":"\u0001\u0002"}"#, "$VAR1 = v1.2;", &[]),
        // A function named `v65` would be called here.
        (r#"{"$vstring":"v65","$value":"A"}"#, "$VAR1 = do{package Icecore::None; v65};", &[]),
    ] {
        assert_eq!(write_and_list_losses(json, &on_one_line()), (text.to_owned(), losses.to_vec()), "{json}");
    }
}

#[test]
fn trusted_documents_are_written_like_data_dumper() {
    let mut options = on_one_line();
    options.trusted = true;
    for (json, text) in [
        (r#"{"$regexp":"@{[main::hit()]}","$flags":"i"}"#, "$VAR1 = qr/@{[main::hit()]}/i;"),
        (r#"{"$regexp":"(?{main::hit()})","$flags":""}"#, "$VAR1 = qr/(?{main::hit()})/;"),
        (r#"{"$vstring":"main::hit()","$value":"\u0001"}"#, "$VAR1 = main::hit();"),
    ] {
        assert_eq!(write_and_list_losses(json, &options).0, text, "{json}");
    }
}

#[test]
fn keys_are_bare_only_before_an_arrow() {
    let mut options = on_one_line();
    options.quotekeys = false;
    assert_eq!(write_and_list_losses(r#"{"hit":1}"#, &options).0, "$VAR1 = {hit => 1};");
    options.pair = ", ".to_owned();
    assert_eq!(write_and_list_losses(r#"{"hit":1}"#, &options).0, "$VAR1 = {'hit', 1};");
}

/// A line break inside a string is not followed by a pad.
#[test]
fn line_breaks_cannot_end_a_comment_pad() {
    let mut options = on_one_line();
    options.pad = "#".to_owned();
    for json in [r#"["\nhit();"]"#, r#"{"\nhit();":1}"#, r#"{"$class":"\nhit();","$value":[]}"#] {
        let text = write_and_list_losses(json, &options).0;
        assert!(text.contains("\\nhit();") && !text.contains('\n'), "{text}");
    }
}

#[test]
fn hostile_class_names_in_addresses_are_quoted() {
    let mut options = on_one_line();
    options.maxdepth = 1;
    let (text, _) = write_and_list_losses(r#"[{"$class":"'.hit().'","$value":[]}]"#, &options);
    assert!(text.starts_with(r"$VAR1 = ['\'.hit().\'=ARRAY(0x"), "{text}");
}

/// Settings that are recognized in a hostile text are not used if they are code.
#[test]
fn code_is_not_kept_as_a_setting() {
    for (text, expected) in [
        ("hit( {}, 'X' )", "bless( {}, 'X' )"),
        ("%SIG = ('__WARN__' => 'main::hit');\n", "$VAR1 = {'__WARN__' => 'main::hit'};"),
        ("$Storable::Eval = 1;\n", "$VAR1 = 1;\n"),
        ("%config = (\n  'a' => 1\n);\n", "%config = (\n  'a' => 1\n);\n"),
        ("hit(), $VAR1 = [\nhit(),           1\nhit(),         ];\n", "$VAR1 = [1];"),
    ] {
        let stage = Stage::parse("dumper").expect("a stage");
        let mut out = Vec::new();
        let converted = icecore::Converter::new(stage.clone(), stage).convert(text.as_bytes(), &mut out);
        assert!(converted.written.is_ok(), "{text}: {:?}", converted.written);
        assert_eq!(String::from_utf8_lossy(&out).trim_end(), expected.trim_end(), "{text}");
    }
}

/// Perl and our reader make the same regexps of the text.
#[test]
fn regexps_in_a_variable_round_trip() {
    let patterns =
        ["a@b\\.c", "@{[main::hit()]}/$x", "\\Qa", "(?# $x @y)", "it's@home", "@\u{e9}", "@\u{263a}", "\\\\@x"];
    for flags in ["", "i", "ixx", "aa"] {
        for pattern in patterns {
            let mut builder = icecore::Builder::new();
            builder.regexp(pattern, flags);
            let document = builder.finish().expect("a document");
            let (text, losses) = write_document(&document, &WriteOptions::default());
            assert!(losses.is_empty() || !pattern.is_ascii(), "{pattern}: {losses:?}");
            let reread = dumper::read(&text, &dumper::ReadOptions::default(), &Limits::default());
            let reread = reread.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)));
            let equal = icecore::value::Comparison::new().any_ascii().equal(&document, &reread);
            assert!(equal, "{}\n{document:?}{reread:?}", String::from_utf8_lossy(&text));
            if !has_perl() || !pattern.is_ascii() {
                continue;
            }
            let script = r#"use re 'regexp_pattern'; print join '|', regexp_pattern(eval $ARGV[0] or die $@)"#;
            let perl = Command::new("perl").args(["-e", script]).arg(String::from_utf8_lossy(&text).as_ref()).output();
            let answer = perl.expect("perl runs");
            assert_eq!(String::from_utf8_lossy(&answer.stdout), format!("{pattern}|{flags}"), "{pattern}");
        }
    }
}

#[test]
fn v_strings_round_trip() {
    for source in ["v65", "v1.2", "1.22.333", "v6_5"] {
        let text = format!("$VAR1 = [{source}];");
        let options = dumper::ReadOptions::default();
        let document = dumper::read(text.as_bytes(), &options, &Limits::default()).expect("a v-string");
        let (rewritten, losses) = write_document(&document, &on_one_line());
        assert!(losses.is_empty(), "{source}");
        let reread = dumper::read(&rewritten, &options, &Limits::default()).expect("a v-string");
        assert_eq!(format!("{reread:?}"), format!("{document:?}"), "{source}");
        // A text that is cut anywhere is truncated.
        for end in 9..rewritten.len() - 1 {
            let error = dumper::read(&rewritten[..end], &options, &Limits::default()).expect_err("an end");
            assert_eq!(error.kind(), icecore::ErrorKind::Truncated, "{}", String::from_utf8_lossy(&rewritten[..end]));
        }
    }
}

/// A generator whose sequence depends only on the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn random_hostile_text(&mut self) -> String {
        const PIECES: &[&str] = &[
            "main::hit()",
            "hit",
            "@{[main::hit()]}",
            "${\\main::hit()}",
            "(?{main::hit()})",
            "(??{main::hit()})",
            "\\p{main::IsHit}",
            "\\p{IsHit}",
            "\\P{InHit}",
            "\\N{hit}",
            "&hit",
            "`",
            "/",
            "\\",
            "'",
            "\"",
            "\n",
            ";",
            "#",
            "}",
            "]",
            ")",
            "{",
            "[",
            "(",
            "=>",
            ",",
            "$",
            "@",
            "%",
            "*",
            "&",
            " ",
            "\n=cut\n",
            "\n__END__\n",
            "\n=pod\n",
            "\\Q",
            "\\E",
            "\\U",
            "\\N{",
            "\u{0}",
            "\u{e9}",
            "\u{263a}",
            "x",
            "1",
            "v1.2",
            ".",
            "(?#",
            "(?x)",
            "->",
            "::",
            "\\c",
            "BEGIN{main::hit()}",
            "q",
            "$)",
            "$|",
            "|",
            "?",
            "~",
            "=",
            "\r",
            "-",
            "_",
            "do{",
            "<<hit",
            "<hit>",
        ];
        (0..self.below(6)).map(|_| self.pick(PIECES)).collect()
    }

    /// Returns the text as JSON, in one of the kinds of strings.
    fn string(&mut self) -> String {
        let text = self.random_hostile_text();
        let quoted = serde_json::to_string(&text).expect("JSON");
        let is_latin1 = text.chars().all(|c| (c as u32) < 256);
        if is_latin1 && self.below(2) == 0 { format!("{{\"$latin1\":{quoted}}}") } else { quoted }
    }

    fn value(&mut self, depth: usize, ids: &mut usize) -> String {
        match self.below(if depth > 3 { 5 } else { 12 }) {
            0 => self.string(),
            1 | 2 => {
                let (pattern, flags) =
                    (self.string(), if self.below(3) == 0 { self.string() } else { "\"ix\"".to_owned() });
                let bare = if self.below(6) == 0 { ",\"$bare\":true" } else { "" };
                format!("{{\"$regexp\":{pattern},\"$flags\":{flags}{bare}}}")
            }
            3 => {
                let (source, value) = match self.below(3) {
                    0 => (self.pick(&["\"v1\"", "\"v1_0.1\"", "\"v1.1\""]).to_owned(), "\"\\u0001\"".to_owned()),
                    _ => (self.string(), self.string()),
                };
                format!("{{\"$vstring\":{source},\"$value\":{value}}}")
            }
            4 => match self.below(3) {
                0 => self.below(100_000).to_string(),
                1 => format!("{{\"$code\":{}}}", self.string()),
                _ => format!("{{\"$module\":{},\"$form\":\"variable\"}}", self.string()),
            },
            5 => format!("{{\"$class\":{},\"$value\":{}}}", self.string(), self.container(depth, ids)),
            6 => {
                let (class, pattern) = (self.string(), self.string());
                format!("{{\"$class\":{class},\"$value\":{{\"$regexp\":{pattern},\"$flags\":\"\"}}}}")
            }
            7 => format!("{{\"$ref\":{}}}", self.value(depth + 1, ids)),
            8 if *ids > 0 => format!("{{\"$link\":{}}}", 1 + self.below(*ids)),
            _ => {
                let container = self.container(depth, ids);
                *ids += 1;
                format!("{{\"$id\":{ids},\"$value\":{container}}}")
            }
        }
    }

    fn container(&mut self, depth: usize, ids: &mut usize) -> String {
        let count = self.below(4);
        if self.below(2) == 0 {
            let items: Vec<_> = (0..count).map(|_| self.value(depth + 1, ids)).collect();
            return format!("[{}]", items.join(","));
        }
        let pairs: Vec<_> = (0..count).map(|_| format!("[{},{}]", self.string(), self.value(depth + 1, ids))).collect();
        format!("{{\"$map\":[{}]}}", pairs.join(","))
    }

    fn options(&mut self) -> WriteOptions {
        let mut options = WriteOptions::default();
        options.indent = self.below(4) as u8;
        let mut flag = |one_in: usize| self.below(one_in) == 0;
        options.terse = flag(4);
        options.useqq = flag(3);
        options.deepcopy = flag(5);
        options.purity = flag(3);
        options.sortkeys = flag(3);
        options.quotekeys = flag(2);
        options.trailingcomma = flag(4);
        options.useperl = flag(3);
        options.list = flag(4);
        options.maxdepth = if flag(5) { 2 } else { 0 };
        options.pair = self.pick(&[" => ", " => ", "=>", ", ", " ,\n", "\n=>"]).to_owned();
        options.pad = self.pick(&["", "", "", " ", "# ", "\t#"]).to_owned();
        options
    }
}

/// `DUMPER_SEED` and `DUMPER_STRUCTURES` select other structures, and more of them.
#[test]
fn perl_runs_no_code_of_hostile_documents() {
    if !has_perl() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let mut random = Random(number("DUMPER_SEED").unwrap_or(42));
    let count = number("DUMPER_STRUCTURES").unwrap_or(4000) as usize;
    let stage = Stage::parse("json:typed").expect("a stage");
    let (mut texts, mut unread) = (Vec::new(), 0);
    for _ in 0..count {
        let json = random.value(0, &mut 0);
        let options = random.options();
        let limits = Limits::default();
        let Ok(document) = icecore::read_as(json.as_bytes(), &stage, &limits) else {
            unread += 1;
            continue;
        };
        let mut text = Vec::new();
        if dumper::write(&document, &options, &limits, &mut text).is_ok() {
            texts.push(text);
        }
    }
    assert!(texts.len() * 2 > count, "{} of {count}, {unread} were not read", texts.len());
    let (called, values) = run_in_perl(&texts).expect("perl runs");
    println!("{} texts, {values} had a value", texts.len());
    assert!(
        called.is_empty(),
        "{} texts called something: {}",
        called.len(),
        called[..called.len().min(8)].join("\n---\n")
    );
    assert!(values * 3 > texts.len(), "{values} of {}", texts.len());
}
