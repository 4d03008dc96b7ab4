//! Texts of Data::Dumper that are cut, changed, hostile or full of code.

use crate::common;

use crate::common::on_a_small_stack;
use crate::fixtures::load;
use icecore::raw::Reader as _;
use icecore::{
    Document, ErrorKind, Kind, Limits, Request,
    format::{Certainty, dumper},
    raw::Outcome,
};

fn read_both_ways(text: &[u8]) -> Outcome<'_> {
    common::read_both_ways(&dumper::ReadOptions::default(), text, &Limits::default())
}

fn read_whole(text: &str) -> Document<'_> {
    let outcome = read_both_ways(text.as_bytes());
    assert_eq!(outcome.error, None, "{text}");
    assert_eq!(outcome.consumed, text.len(), "{text}");
    outcome.document
}

/// Returns the value as typed JSON, without the object that contains it.
fn convert_to_typed_json(text: &str) -> String {
    let json = String::from_utf8(icecore::write(&read_whole(text), "json:typed").unwrap()).unwrap();
    let value = json.strip_prefix(r#"{"$icecore":1,"$strings":""#).map(|rest| &rest[rest.find(':').unwrap() + 1..]);
    value.and_then(|value| value.strip_suffix('}')).unwrap_or(&json).to_owned()
}

#[test]
fn a_truncated_text_is_reported_as_truncated() {
    let mut cuts = 0;
    for fixture in load("dumper-read.jsonl").iter().filter(|fixture| fixture.blob.len() < 700).step_by(3) {
        for len in 0..fixture.blob.len() {
            let text = &fixture.blob[..len];
            let outcome = read_both_ways(text);
            cuts += 1;
            if let Some(error) = outcome.error {
                // A pad can be recognized only from whole lines.
                let is_cut = error.kind() == ErrorKind::Truncated || fixture.mode.contains("Pad=");
                assert!(is_cut, "{}: {error}\n{}", fixture.name, text.escape_ascii());
            }
        }
    }
    assert!(cuts > 50_000, "{cuts}");
}

#[test]
fn changed_bytes_are_an_error_or_a_document() {
    for (index, fixture) in
        load("dumper-read.jsonl").iter().filter(|fixture| fixture.blob.len() < 400).enumerate().step_by(5)
    {
        let mut text = fixture.blob.clone();
        for place in 0..text.len() {
            let before = text[place];
            for to in [b'$', b'\\', b'{', b'}', b'\'', b';', b'-', b'=', 0xff, b'#'].iter().skip(index % 3).step_by(3) {
                text[place] = *to;
                let outcome = read_both_ways(&text);
                for node in 0..outcome.document.nodes().len() as u32 {
                    assert!(outcome.document.path(node).starts_with('$'));
                }
            }
            text[place] = before;
        }
    }
}

#[test]
fn depth_needs_no_stack() {
    let levels = crate::common::levels();
    let mut limits = Limits::default();
    limits.depth = 4_000_000;
    let options = dumper::ReadOptions::default();
    for (open, inner, close) in [
        ("[", "", "]"),
        ("{a=>", "1", "}"),
        ("\\", "1", ""),
        ("bless([", "", "],'A')"),
        ("do{\\(my $o=", "1", ")}"),
        ("\\(my $o = ", "1", ")"),
        ("[\\", "$x", "]"),
        ("+", "1", ""),
    ] {
        let text = format!("$x = {}{inner}{};", open.repeat(levels), close.repeat(levels));
        on_a_small_stack(|| {
            let outcome = options.read(text.as_bytes(), Request::new(&limits).detailed());
            assert_eq!(outcome.error, None, "{open}");
            drop(outcome);
            let cut = &text.as_bytes()[..text.len() / 2];
            assert!(options.read(cut, Request::new(&limits)).error.is_some());
        });
        if open != "+" {
            let error = on_a_small_stack(|| dumper::read(text.as_bytes(), &options, &Limits::default()).unwrap_err());
            assert_eq!(error.kind(), ErrorKind::Limit, "{open}: {error}");
        }
    }
    let text = format!("$x = [{}$x{}];", "${".repeat(levels), "}".repeat(levels));
    let error = on_a_small_stack(|| dumper::read(text.as_bytes(), &options, &limits).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::BadLink, "{error}");
}

/// Statements may nest values deeper than the text itself does.
#[test]
fn statements_obey_the_limits() {
    let statements: String = (0..20_000).map(|index| format!("$x{index} = [1];")).collect();
    let links: String = (1..20_000).map(|index| format!("$x{}->[0] = $x{index};", index - 1)).collect();
    let text = format!("{statements}{links}");
    let error = dumper::read(text.as_bytes(), &dumper::ReadOptions::default(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn code_is_refused_and_reported_as_code() {
    for (text, offset, found) in [
        ("$VAR1 = bless( {}, 'A' )->thaw();", 24, "a method call"),
        ("$VAR1 = [sub { system 'ls' }];", 9, "the code of a sub"),
        ("$VAR1 = [getenv('X')];", 9, "`getenv(`, a call"),
        ("$VAR1 = [\"a $x\"];", 12, "a variable in a string"),
        ("$VAR1 = [\"a @{[ 1 ]}\"];", 12, "a variable in a string"),
        ("$VAR1 = [\"@x\"];", 10, "a variable in a string"),
        ("$VAR1 = [1 + 2];", 11, "the operator `+`"),
        ("$VAR1 = 'a' . 'b';", 12, "the operator `.`"),
        ("$VAR1 = [`ls`];", 9, "a command in backticks"),
        ("$VAR1 = [<STDIN>];", 9, "reading from a file"),
        ("$VAR1 = [<<EOT];\nx\nEOT\n", 9, "a here-document"),
        ("$VAR1 = do 'x.pl';", 8, "`do` with a file"),
        ("$VAR1 = do{ 5 };", 12, "something other than `my $o`"),
        ("$VAR1 = qr/a$b/;", 12, "a variable in a regular expression"),
        ("$VAR1 = qr/(?:${\\ system 1})/;", 14, "a variable in a regular expression"),
        ("$VAR1 = [@ARGV];", 9, "an array or a hash in a list"),
        ("$VAR1 = [&f];", 9, "a call"),
        ("$VAR1 = [PI];", 9, "`PI`"),
        ("$VAR1 = { a => time };", 15, "`time`"),
        ("$VAR1 = 5 if 1;", 10, "`if`"),
        ("$VAR1 = [$VAR1->method];", 14, "a method call"),
        ("$VAR1 = $VAR1->[0]();", 18, "a call"),
        ("$VAR1 = 1; system('ls');", 11, "`system`"),
        ("use POSIX; $VAR1 = 1;", 0, "`use POSIX`"),
        ("$VAR1 = merge( {}, 'a b' );", 8, "`merge(`, a call"),
        ("$VAR1 = -x;", 8, "the operator `-`"),
        ("$VAR1 = !$x;", 8, "the operator `!`"),
        ("my ($a, $b) = (1, 2);", 3, "a list of variables"),
        ("$VAR1 = [\"\\Ua\"];", 10, "`\\U`, which changes what follows"),
        ("$VAR1 = [\"\\N{DIGIT ONE}\"];", 10, "a character by its name"),
        ("$_ = 1; $! = 2;", 8, "a variable of perl's own"),
    ] {
        let error = read_both_ways(text.as_bytes()).error.unwrap_or_else(|| panic!("{text} is read"));
        assert_eq!(
            (error.kind(), error.offset(), error.found()),
            (ErrorKind::Unsupported, Some(offset), Some(found)),
            "{text}: {error}"
        );
        assert!(error.help().is_some(), "{text}: {error}");
    }
    let error = read_both_ways(b"$VAR1 = bless( {}, 'A' )->thaw();").error.unwrap();
    assert_eq!(error.help(), Some("Data::Dumper adds it if Toaster is set"));
}

#[test]
fn paths_to_missing_values_are_errors() {
    for (text, offset, path) in [
        ("$VAR1 = [$VAR1->[5]];", 9, "$[0]"),
        ("$VAR1 = [1, { a => $VAR1->{b} }];", 19, "$[1].a"),
        ("$VAR1 = [$VAR2];", 9, "$[0]"),
        ("$VAR1 = [$VAR1->[1], $VAR1->[0]];", 9, "$[0]"),
        ("$VAR1 = 1; $VAR2 = [${$VAR1}];", 20, "$[1][0]"),
        ("$VAR1 = []; $VAR1->[2] = 1;", 12, "$"),
    ] {
        let error = read_both_ways(text.as_bytes()).error.unwrap_or_else(|| panic!("{text} is read"));
        assert_eq!(error.kind(), ErrorKind::BadLink, "{text}: {error}");
        assert_eq!((error.offset(), error.path()), (Some(offset), Some(path)), "{text}: {error}");
    }
}

/// Texts that Data::Dumper writes, with what people add by hand, and their meaning.
#[test]
fn handwritten_forms_have_perls_meaning() {
    for (text, meaning) in [
        ("$VAR1 = 1;\n", "1"),
        ("1", "1"),
        ("[1,-2,'3',undef]\n", r#"[1,-2,"3",null]"#),
        ("$VAR1 = +{ a => 1, -b => 2, 'c', 3, 4 => 5, Foo::Bar => 6, };", r#"{"a":1,"-b":2,"c":3,"4":5,"Foo::Bar":6}"#),
        (
            "our $config = { # comment\n  name => 'x', # '\n  list => [ 1_000, 0x1f, 0b11, 0o17, 017, 1.5e3, -7 ],\n};\n1;\n",
            r#"{"name":"x","list":[1000,31,3,15,15,1500.0,-7]}"#,
        ),
        ("use strict;\nuse warnings;\nmy $x = [ q(a(b)c), qq{d\\n} ];\n__END__\n whatever $x", r#"["a(b)c","d\n"]"#),
        ("return { a => 1 };", r#"{"a":1}"#),
        ("{ a => 1 };\n1;", r#"{"a":1}"#),
        ("%h = ( a => 1, b => 2 );", r#"{"a":1,"b":2}"#),
        ("@a = ( 1, 2 );", "[1,2]"),
        ("( 'a' => 1 )", r#"{"a":1}"#),
        ("( 'a', 1 )", r#"["a",1]"#),
        ("$a = 1; $b = 'x';", r#"[1,"x"]"#),
        ("$VAR1 = [!!1, !!0, !1, !0];", "[true,false,false,true]"),
        (
            "$VAR1 = \"\\x41\\x{263a}\\0\\101\\o{102}\\N{U+263A}\\e\\n\\t\\r\\f\\a\\b\\cA\\$\\@\\\"\\\\\";",
            r#""A☺\u0000AB☺\u001b\n\t\r\f\u0007\b\u0001$@\"\\""#,
        ),
        ("$VAR1 = [v1.2.3, \\v65, 1.22.333];", ""),
        ("$VAR1 = [qr/a\\/b$/ix, qr{c}m];", r#"[{"$regexp":"a/b$","$flags":"ix"},{"$regexp":"c","$flags":"m"}]"#),
        ("$VAR1 = qr/a${\\q($)}b/;", r#"{"$regexp":"a$b","$flags":""}"#),
        (
            "$VAR1 = [*::STDOUT, \\*Foo::bar, \\*{'::a b'}];",
            r#"[{"$module":"*main::STDOUT","$form":"variable"},{"$ref":{"$module":"*Foo::bar","$form":"variable"}},{"$ref":{"$module":"*main::a b","$form":"variable"}}]"#,
        ),
        ("$VAR1 = sub { \"DUMMY\" };", r#"{"$code":"{ \"DUMMY\" }"}"#),
        ("$VAR1 = My::bless( {}, 'A::B' );", r#"{"$class":"A::B","$value":{}}"#),
        ("$VAR1 = { 'a': 1, 'b': -2 };", r#"{"a":1,"b":-2}"#),
        ("# $VAR1 = [\n#   1\n# ];\n", "[1]"),
        (
            "$h = { a => [1] }; $h->{b} = $h->{a}; $$h{c} = 2; ${$h}{'d'} = 3;",
            r#"{"a":{"$id":1,"$value":[1]},"b":{"$link":1},"c":2,"d":3}"#,
        ),
        ("%h = ( a => [1] ); $h{a}[1] = \\%h;", r#"{"$id":1,"$value":{"a":[1,{"$link":1}]}}"#),
        ("$VAR1 = [ $VAR1->[1], 'x' ];", r#"["x","x"]"#),
        ("$VAR1 = [ \\$VAR1->[1], 'x' ];", r#"[{"$ref":{"$id":1,"$value":"x"}},{"$alias":1}]"#),
        ("$VAR1 = [ $VAR1->[1][0], undef ]; $VAR1->[1] = [[5]];", r#"[{"$id":1,"$value":[5]},[{"$link":1}]]"#),
        (
            "$VAR1 = \\*::foo;\n*::foo = \\5;\n*::foo = [1];\n$VAR2 = *::foo{ARRAY};",
            r#"[{"$ref":{"$module":"*main::foo","$form":"variable"}},{"$ref":5},{"$id":1,"$value":[1]},{"$link":1}]"#,
        ),
        ("*c = sub { \"DUMMY\" };\n$x = \\&c;", r#"[{"$id":1,"$value":{"$code":"{ \"DUMMY\" }"}},{"$link":1}]"#),
    ] {
        if meaning.is_empty() {
            let document = read_whole(text);
            assert!(document.root().items().all(|item| matches!(item.kind(), Kind::VString | Kind::Ref)));
        } else {
            assert_eq!(convert_to_typed_json(text), meaning, "{text}");
        }
    }
}

/// Several texts, one after the other.
#[test]
fn consecutive_texts_are_read_one_by_one() {
    for (text, counts) in [
        ("$VAR1 = 1;\n$VAR1 = [2];\n$VAR1 = 3;\n", vec![1, 2, 1]),
        ("[1,2]\n{}\n'x'\n", vec![3, 1, 1]),
        ("$VAR1 = 1;\n$VAR2 = 2;\n$VAR1 = 3;\n", vec![3, 1]),
        ("1\n2\n", vec![1, 1]),
    ] {
        let (mut rest, mut found) = (text.as_bytes(), Vec::new());
        while !rest.is_empty() {
            let outcome = read_both_ways(rest);
            assert_eq!(outcome.error, None, "{text}");
            found.push(outcome.document.nodes().len());
            rest = &rest[outcome.consumed..];
        }
        assert_eq!(found, counts, "{text}");
    }
}

#[test]
fn texts_are_detected_as_dumper() {
    for fixture in load("dumper-read.jsonl") {
        // Bare values look like many other formats.
        if fixture.blob.windows(3).any(|window| window == b" = ") && !fixture.mode.contains("Terse=1") {
            let found = icecore::identify(&fixture.blob);
            let found = found.map(|found| (found.name, found.certainty));
            let is_dumper = found.is_some_and(|(name, certainty)| name == "dumper" && certainty >= Certainty::Likely);
            assert!(is_dumper, "{found:?} {} {}", fixture.name, fixture.blob.escape_ascii());
        }
    }
    for (text, certainty) in [
        ("$VAR1 = { a => 1 };", Some(Certainty::Sure)),
        ("# made by hand\nour %config = ( a => 1 );\n1;\n", Some(Certainty::Sure)),
        ("$VAR1 = 5;", Some(Certainty::Possible)),
        ("$VAR1 = { a => 1, b => 2, c => time() };", Some(Certainty::Possible)),
        ("$VAR1 = { a => 1, b => ", Some(Certainty::Possible)),
        ("use strict;\nmy $x = 5;\nprint $x;\n", None),
        ("$x == 5", None),
        ("costs $5 = five", None),
        ("<?php $x = ['a' => 1];", None),
        ("PATH=/bin\nX=$PATH\n", None),
    ] {
        let found = icecore::identify(text.as_bytes()).filter(|found| found.name == "dumper");
        assert_eq!(found.map(|found| found.certainty), certainty, "{text}");
    }
}
