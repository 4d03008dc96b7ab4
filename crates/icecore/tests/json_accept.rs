//! Which texts are JSON: compares our reader with JSON::XS and Cpanel::JSON::XS, strict and
//! relaxed. A table explains each difference. The comparison needs perl with both modules; without
//! them, only our side is tested.

use icecore::{Limits, Stage};
use std::io::Write;
use std::process::{Command, Stdio};

/// Texts that RFC 8259 requires a reader to accept.
const VALID_TEXTS: &[&str] = &[
    // Structure.
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "{\"\":{}}",
    " [ ] ",
    "\t[\n1\r,\r\n2]\n",
    "{ }",
    "[1,2,3]",
    "[[],[],[[]]]",
    "{\"a\":[]}",
    "{\"a\":{\"b\":{\"c\":null}}}",
    "{\"a\":1,\"b\":2}",
    "{\"\":0}",
    "{\"a b\":0}",
    "{\"\\u0000\":0}",
    "[null,true,false]",
    "{\"a\" : 1 , \"b\" : [ 2 ] }",
    "null",
    "true",
    "false",
    "0",
    "\"\"",
    " 1 ",
    "\"x\" ",
    "{\"a\":\"a\"}",
    "[{},[],\"\",0,null]",
    // Numbers.
    "[0]",
    "[-0]",
    "[1]",
    "[-1]",
    "[10]",
    "[0.0]",
    "[-0.0]",
    "[0.5]",
    "[1.50]",
    "[1e5]",
    "[1E5]",
    "[1e+5]",
    "[1E-5]",
    "[0e0]",
    "[0E+0]",
    "[-1.5e-3]",
    "[123456789]",
    "[9007199254740993]",
    "[9223372036854775807]",
    "[-9223372036854775808]",
    "[18446744073709551615]",
    "[1.7976931348623157e308]",
    "[5e-324]",
    "[1e-400]",
    "[0.1234567890123456789]",
    "[123456789012345678901234567890]",
    "[-123456789012345678901234567890]",
    "[0.00000000000000000000000001]",
    "[1e00005]",
    "[18446744073709551616]",
    "[-9223372036854775809]",
    "[100000000000000000000.5]",
    "[1,2.5,-3e1]",
    // Strings.
    "[\"\"]",
    "[\"a\"]",
    "[\"\\\"\"]",
    "[\"\\\\\"]",
    "[\"\\/\"]",
    "[\"\\b\\f\\n\\r\\t\"]",
    "[\"\\u0041\"]",
    "[\"\\u00e9\"]",
    "[\"\\u20AC\"]",
    "[\"\\u20ac\"]",
    "[\"\\ud83d\\ude00\"]",
    "[\"\\uD83D\\uDE00\"]",
    "[\"\\udbff\\udfff\"]",
    "[\"\\u0000\"]",
    "[\"\\u001f\"]",
    "[\"\u{7f}\"]",
    "[\"\u{80}\"]",
    "[\"é\"]",
    "[\"€\"]",
    "[\"😀\"]",
    "[\"\u{10ffff}\"]",
    "[\"\u{2028}\u{2029}\"]",
    "[\"\\uffff\"]",
    "[\"\u{ffff}\"]",
    "[\"/\"]",
    "[\"'\"]",
    "[\"#\"]",
    "[\"//\"]",
    "[\"/* */\"]",
    "[\"[,]\"]",
    "[\"\\u0022\"]",
    "[\"\\\\u0041\"]",
    "[\"\u{a0}\"]",
    "[\"\u{feff}\"]",
    "[\"\\ufeff\"]",
    "{\"\\ud83d\\ude00\":1}",
    "{\"é\":1}",
    "[\"a\\\\\"]",
    "[\"0123456789012345678901234567890123456789\"]",
    "[\"01234567\\n012345670123456\"]",
];

/// Texts that RFC 8259 does not allow.
const INVALID_TEXTS: &[&[u8]] = &[
    // Structure.
    b"",
    b" ",
    b"[",
    b"]",
    b"{",
    b"}",
    b"[1",
    b"[1,",
    b"[,",
    b"{\"a\"",
    b"{\"a\":",
    b"{\"a\":1",
    b"{\"a\":1,",
    b"[1,]",
    b"[1,,2]",
    b"[,1]",
    b"[,]",
    b"[1,,]",
    b"{,}",
    b"{\"a\":1,}",
    b"{\"a\":1,,\"b\":2}",
    b"{,\"a\":1}",
    b"{\"a\"}",
    b"{\"a\",1}",
    b"{\"a\" 1}",
    b"{\"a\"::1}",
    b"{:1}",
    b"{1:1}",
    b"{null:1}",
    b"{[]:1}",
    b"{a:1}",
    b"{'a':1}",
    b"['a']",
    b"[1 2]",
    b"[1:2]",
    b"[1}",
    b"{\"a\":1]",
    b"[[]",
    b"[]]",
    b"{}}",
    b"[][]",
    b"1 2",
    b"[] x",
    b"[]#",
    b"{\"a\":1 \"b\":2}",
    b"[\"a\" \"b\"]",
    b"[1;2]",
    b"(1)",
    b"<1>",
    b"[1]\0",
    b"\0",
    b"\x0c[]",
    b"\x0b[]",
    b"[\x0c]",
    b"[\xc2\xa0]",
    b"\xc2\xa0[]",
    b"[\xe2\x80\x82]",
    b"[*]",
    b"{\"a\":b}",
    b"{a-b:1}",
    b"{_:1}",
    b"{1a:1}",
    b"{$a:1}",
    b"{\"a\":1}#",
    b"{\"a\":{}",
    b"[{\"a\":[1,{}]",
    b"[\"a\",\n4\n,1,",
    b"{\"a\"\n",
    b"[1]/",
    b"{\"b\":'x'}",
    b"{'a':'b'}",
    // Comments.
    b"[1]#x",
    b"#x\n[1]",
    b"[1#x\n]",
    b"[1#x\r,2]",
    b"[1#x]",
    b"{#x\n\"a\":1}",
    b"{\"a\"#x\n:1}",
    b"{\"a\":#x\n1}",
    b"[1,#x\n]",
    b"[1]//x",
    b"/**/[1]",
    b"[1/*x*/]",
    b"[1]/*",
    b"#",
    b"[#]",
    // Words.
    b"nul",
    b"nulll",
    b"[nul]",
    b"[nulla]",
    b"[tru]",
    b"[truee]",
    b"[True]",
    b"[NULL]",
    b"[undef]",
    b"[nil]",
    b"[NaN]",
    b"[nan]",
    b"[Inf]",
    b"[Infinity]",
    b"[-Infinity]",
    b"[-NaN]",
    b"[inf]",
    b"t",
    b"[t]",
    b"[fals",
    b"[n",
    b"[yes]",
    b"x",
    b"[x]",
    // Numbers.
    b"[+1]",
    b"[.5]",
    b"[-.5]",
    b"[5.]",
    b"[-5.]",
    b"[1.e5]",
    b"[1e]",
    b"[1e+]",
    b"[1E-]",
    b"[-]",
    b"[--1]",
    b"[+-1]",
    b"[- 1]",
    b"[00]",
    b"[01]",
    b"[-01]",
    b"[-00]",
    b"[0x10]",
    b"[0xA]",
    b"[0b1]",
    b"[1_000]",
    b"[1,000.5.5]",
    b"[1.5.5]",
    b"[1e5e5]",
    b"[1e1.5]",
    b"[1a]",
    b"[1f]",
    b"[0.]",
    b"[.]",
    b"[e5]",
    b"[1 e5]",
    b"[1. 5]",
    b"[\xd9\xa1]",
    b"[\xef\xbc\x91]",
    b"[0e]",
    b"[0e+]",
    b"[012]",
    b"[-012]",
    b"[1e-]",
    b"-",
    b"[1.0e",
    b"[1.",
    b"[0 1]",
    b"[1+2]",
    b"[2-1]",
    // Strings.
    b"\"",
    b"[\"",
    b"[\"a",
    b"[\"a]",
    b"[\"\\\"]",
    b"[\"\\",
    b"[\"\\x41\"]",
    b"[\"\\a\"]",
    b"[\"\\'\"]",
    b"[\"\\0\"]",
    b"[\"\\U0041\"]",
    b"[\"\\u\"]",
    b"[\"\\u0\"]",
    b"[\"\\u00\"]",
    b"[\"\\u004\"]",
    b"[\"\\u004g\"]",
    b"[\"\\u 041\"]",
    b"[\"\\uGGGG\"]",
    b"[\"\\u+041\"]",
    b"[\"\\u004",
    b"[\"\\ ]\"",
    b"[\"a\nb\"]",
    b"[\"a\rb\"]",
    b"[\"a\tb\"]",
    b"[\"a\0b\"]",
    b"[\"\x01\"]",
    b"[\"\x1f\"]",
    b"[\"\x08\"]",
    b"[\\u0041]",
    b"[\"a\"\"b\"]",
    b"[a\"b\"]",
    b"[`a`]",
    b"{\"a\tb\":1}",
    b"{\"a\nb\":1}",
    b"['a\tb']",
    b"['\\u0041']",
    b"['a\\'b']",
    b"['a\"b']",
    b"[']",
    b"['a\"]",
    b"[\"a']",
    // Encodings.
    b"\xef\xbb\xbf[]",
    b"\xef\xbb\xbf",
    b"\xef\xbb[]",
    b"\xff\xfe[\0]\0",
    b"\xfe\xff\0[\0]",
    b"[\"\xff\"]",
    b"[\"\xc0\x80\"]",
    b"[\"\xc3\"]",
    b"[\"\xc3(\"]",
    b"[\"\xe2\x82\"]",
    b"[\"\xf0\x9f\x98\"]",
    b"[\"\x80\"]",
    b"[\"\xe9\"]",
    b"[\"\xfc\x80\x80\x80\x80\x80\"]",
    b"[\"\xe0\x80\x80\"]",
    b"[\"\xf4\x90\x80\x80\"]",
    b"[\"\xed\xa0\x80\"]",
    b"[\"\xed\xb0\x80\"]",
    b"[\"\xed\xa0\x81\xed\xb0\x80\"]",
    b"[\"\xf8\x88\x80\x80\x80\"]",
    b"[\xff]",
    b"\xff",
    b"{\"\xff\":1}",
    b"[1]\xff",
];

/// Texts that RFC 8259 leaves to the reader, and whether we read them.
const UNSPECIFIED_TEXTS: &[(&str, bool)] = &[
    ("{\"a\":1,\"a\":2}", true),
    ("{\"a\":1,\"\\u0061\":2}", true),
    ("{\"\":1,\"\":2,\"\":3}", true),
    ("[\"\\ud800\"]", false),
    ("[\"\\udc00\"]", false),
    ("[\"\\ud800x\"]", false),
    ("[\"\\ud800\\n\"]", false),
    ("[\"\\ud800\\ud800\"]", false),
    ("[\"\\udc00\\ud800\"]", false),
    ("[\"\\ud800\\u0041\"]", false),
    ("[\"\\uD83D\"]", false),
    ("[\"x\\uDE00\"]", false),
    ("{\"\\ud800\":1}", false),
    ("[1e400]", false),
    ("[-1e400]", false),
    ("[1e99999999999]", false),
    ("[1e-99999999999]", true),
];

/// Our stage, and the decoder it is compared with.
const READERS: [(&str, &str); 4] = [
    ("json:typed=no", "JSON::XS"),
    ("json:relaxed", "JSON::XS relaxed"),
    ("json:dupkeys=error", "Cpanel::JSON::XS"),
    ("json:relaxed,singlequote,barekey", "Cpanel::JSON::XS relaxed"),
];

/// A text that the modules accept and we do not (`true`), or the other way round: the prefix of the
/// decoder's name, the text, and the reason.
type Difference = (&'static str, &'static [u8], bool, &'static str);
const BEYOND: &str = "RFC 8259, section 6, leaves range to the reader: they make infinity of it, here it is an error";
const SURROGATE: &str = "RFC 3629, section 3: surrogates are not UTF-8; perl's own form of UTF-8 has them";
const MARK: &str = "RFC 8259, section 8.1: a parser may ignore a byte order mark, and need not; it says what to do";
const HIGH: &str = "Unicode ends at U+10FFFF; perl's characters do not";
const WIDE: &str = "RFC 8259, section 8.1: JSON that is exchanged is UTF-8; it reads UTF-16 with a mark as well";
const BARE: &str = "it accepts the characters between Z and a in ASCII as letters of a bare key";
const DIFFERENCES: &[Difference] = &[
    ("", b"[1e400]", true, BEYOND),
    ("", b"[-1e400]", true, BEYOND),
    ("", b"[1e99999999999]", true, BEYOND),
    ("", b"[\"\xed\xa0\x80\"]", true, SURROGATE),
    ("", b"[\"\xed\xb0\x80\"]", true, SURROGATE),
    ("", b"[\"\xed\xa0\x81\xed\xb0\x80\"]", true, SURROGATE),
    ("", b"[\"\xf4\x90\x80\x80\"]", true, HIGH),
    ("", b"[\"\xf8\x88\x80\x80\x80\"]", true, HIGH),
    ("Cpanel", b"\xef\xbb\xbf[]", true, MARK),
    ("Cpanel", b"\xff\xfe[\0]\0", true, WIDE),
    ("Cpanel", b"\xfe\xff\0[\0]", true, WIDE),
    ("Cpanel::JSON::XS relaxed", b"{[]:1}", true, BARE),
];

fn texts() -> Vec<(Vec<u8>, bool)> {
    let good = VALID_TEXTS.iter().map(|text| (text.as_bytes().to_vec(), true));
    let bad = INVALID_TEXTS.iter().map(|text| (text.to_vec(), false));
    let either = UNSPECIFIED_TEXTS.iter().map(|(text, is_read)| (text.as_bytes().to_vec(), *is_read));
    good.chain(bad).chain(either).collect()
}

fn is_accepted(stage: &str, text: &[u8]) -> bool {
    icecore::read_as(text, &Stage::parse(stage).unwrap(), &Limits::default()).is_ok()
}

#[test]
fn texts_are_accepted_as_rfc_8259_says() {
    let texts = texts();
    assert!(texts.len() > 300, "{}", texts.len());
    for (text, expected) in texts {
        assert_eq!(is_accepted("json:typed=no", &text), expected, "{}", text.escape_ascii());
    }
}

const PROGRAM: &str = r#"
use strict; use warnings; use JSON::XS (); use Cpanel::JSON::XS ();
$SIG{__WARN__} = sub { };
my @decoders = map { my $class = $_; map { my $json = $class->new->utf8->allow_nonref; $json->relaxed if $_; $json } 0, 1 }
    'JSON::XS', 'Cpanel::JSON::XS';
while (<STDIN>) {
    chomp;
    my $text = pack 'H*', $_;
    print join('', map { eval { $_->decode("$text"); 1 } ? 1 : 0 } @decoders), "\n";
}
"#;

#[test]
fn perl_modules_differ_only_as_the_table_explains() {
    let probe =
        Command::new("perl").args(["-MJSON::XS=", "-MCpanel::JSON::XS=", "-e", "1"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        println!("skipped: perl with JSON::XS and Cpanel::JSON::XS is not installed");
        return;
    }
    let texts = texts();
    let mut perl =
        Command::new("perl").args(["-e", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("perl");
    let mut stdin = perl.stdin.take().expect("its input");
    for (text, _) in &texts {
        let line: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(stdin, "{line}").expect("perl reads");
    }
    drop(stdin);
    let output = perl.wait_with_output().expect("its output");
    let output = String::from_utf8(output.stdout).expect("digits");
    assert_eq!(output.lines().count(), texts.len());
    let (mut wrong, mut used) = (Vec::new(), vec![false; DIFFERENCES.len()]);
    for ((text, _), line) in texts.iter().zip(output.lines()) {
        for ((stage, decoder), theirs) in READERS.iter().zip(line.bytes()) {
            let (ours, theirs) = (is_accepted(stage, text), theirs == b'1');
            let known = DIFFERENCES
                .iter()
                .position(|(name, known, taken, _)| decoder.starts_with(name) && known == text && *taken == theirs);
            if ours != theirs {
                match known {
                    Some(known) => used[known] = true,
                    None => wrong.push(format!("{decoder} {theirs}, ours {ours}: {}", text.escape_ascii())),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    let idle: Vec<_> = DIFFERENCES.iter().zip(used).filter(|(_, used)| !used).map(|(known, _)| known).collect();
    assert!(idle.is_empty(), "no difference any more: {idle:?}");
}
