//! PHP, Ruby and Perl change a value by their own means and read the edited bytes: both must be
//! equal. If a language is not installed, its test says so and ends.

use icecore::alter::{Alteration, alter};
use icecore::select::Pattern;
use icecore::{Limits, Stage};
use std::io::Write;
use std::process::{Command, Stdio};

/// A value, what a language does with it, and the equivalent edit.
struct Case {
    value: &'static str,
    does: &'static str,
    edit: &'static [(&'static str, &'static str, &'static str)],
}

const fn case(
    value: &'static str,
    does: &'static str,
    edit: &'static [(&'static str, &'static str, &'static str)],
) -> Case {
    Case { value, does, edit }
}

const PHP: &[Case] = &[
    case("['a' => 1, 'l' => [1, 2]]", "$v['a'] = 'é';", &[("set", "$.a", "\"é\"")]),
    case("['a' => 1, 'l' => [1, 2]]", "$v['l'][] = [true, null, 1.5];", &[("append", "$.l", "[true, null, 1.5]")]),
    case("['a' => 1, 'l' => [1, 2]]", "array_splice($v['l'], 0, 1);", &[("delete", "$.l[0]", "")]),
    case("['a' => 1, 'l' => []]", "$v['l']['k'] = ['x' => []];", &[("set", "$.l.k", "{\"x\": []}")]),
    case("['a' => 1, 7 => 2]", "$v[9] = 3; $v[] = 4;", &[("set", "$[9]", "3"), ("append", "$", "4")]),
    case("['a' => 1, 7 => 2]", "unset($v['a']); $v['5'] = 0;", &[("delete", "$.a", ""), ("set", "$.5", "0")]),
    case("['o' => ($o = new P), 'p' => $o]", "$v['p']->n = 2;", &[("set", "$.p.n", "2")]),
    case("['o' => ($o = new P), 'p' => $o]", "$v['o'] = 2;", &[("set", "$.o", "2")]),
    case("['o' => ($o = new P), 'p' => $o, 'q' => $o]", "unset($v['o']);", &[("delete", "$.o", "")]),
    case(
        "['o' => new P]",
        "$v['o']->n = 'x'; $v['o']->dyn = 1;",
        &[("set", "$.o.n", "\"x\""), ("set", "$.o.dyn", "1")],
    ),
    case("(function () { $x = 1; return ['a' => &$x, 'b' => &$x]; })()", "$v['b'] = 5;", &[("set", "$.b", "5")]),
    case("(function () { $x = [1]; return ['a' => &$x, 'b' => &$x]; })()", "unset($v['a']);", &[("delete", "$.a", "")]),
    case(
        "(function () { $s = [1, [2]]; return ['a' => $s, 'b' => $s]; })()",
        "$v['b'][1][0] = 'z';",
        &[("set", "$.b[1][0]", "\"z\"")],
    ),
    case(
        "(function () { $s = [1, [2]]; return ['a' => $s, 'b' => $s]; })()",
        "$v['a'][] = 3;",
        &[("append", "$.a", "3")],
    ),
    case("array_fill(0, 20, ['n' => 1])", "foreach ($v as &$w) $w['n'] = 2; unset($w);", &[("set", "$[*].n", "2")]),
    case(
        "['o' => new P]",
        "$v = unserialize(str_replace(['O:1:\"P\"', \"\\0P\\0\"], ['O:1:\"Q\"', \"\\0Q\\0\"], serialize($v)));",
        &[("class", "P=Q", "")],
    ),
    case("INF", "$v = ['k' => 1];", &[("set", "$", "{\"k\": 1}")]),
];

const RUBY: &[Case] = &[
    case("{a: 1, 'b' => [1, 2]}", "v[:a] = 'é'", &[("set", "$.a", "\"é\"")]),
    case("{a: 1, b: [1, 2]}", "v[:b] << 'x'; v[:c] = nil", &[("append", "$.b", "\"x\""), ("set", "$.c", "null")]),
    case("{'a' => 1.5, 'b' => [1, 2.5, 2.5]}", "v['b'].delete_at(1)", &[("delete", "$.b[1]", "")]),
    case("(s = 'text'; [s, s, {s => s}])", "v[0] = 7", &[("set", "$[0]", "7")]),
    case("(s = [1]; {a: s, b: s})", "v[:b] << 2", &[("append", "$.b", "2")]),
    case("(s = [1]; {a: s, b: s})", "v.delete(:a)", &[("delete", "$.a", "")]),
    case("(o = P.new; [o, o])", "v[1].n = 'x'", &[("set", "$[1].n", "\"x\"")]),
    case("P.new", "v.instance_variable_set(:@more, [1])", &[("set", "$.more", "[1]")]),
    case("S.new(1, [2])", "v.b << 3; v.a = :sym", &[("append", "$.b", "3"), ("set", "$.a", "{\"$symbol\": \"sym\"}")]),
    case("Hash.new(7).merge!('a' => 1)", "v['b'] = 2", &[("set", "$.b", "2")]),
    case("[2**70, -5, 1e300]", "v[0] = 2**90", &[("set", "$[0]", "1237940039285380274899124224")]),
    case("['x'.encode('Windows-1252'), 'é'.b, :y]", "v[2] = 1", &[("set", "$[2]", "1")]),
    case("[P.new, P.new]", "v.map! { |o| q = Q.new; q.n = o.n; q }", &[("class", "P=Q", "")]),
];

const PERL: &[Case] = &[
    case("{a => 1, l => [1, 2]}", "$v->{a} = \"\\x{e9}\\x{263a}\"", &[("set", "$.a", "\"é☺\"")]),
    case("{a => 1, l => [1, 2]}", "push @{$v->{l}}, {x => [undef]}", &[("append", "$.l", "{\"x\": [null]}")]),
    case(
        "{a => 1, l => [1, 2]}",
        "shift @{$v->{l}}; $v->{n} = 'x'",
        &[("delete", "$.l[0]", ""), ("set", "$.n", "\"x\"")],
    ),
    case("do { my $s = [1]; {a => $s, b => $s} }", "push @{$v->{b}}, 2", &[("append", "$.b", "2")]),
    case("do { my $s = [1]; {a => $s, b => $s} }", "$v->{a} = 5", &[("set", "$.a", "5")]),
    case("do { my $s = [1]; [$s, $s, $s] }", "shift @$v", &[("delete", "$[0]", "")]),
    case("do { my $x = 1; [\\$x, \\$x] }", "${$v->[0]} = 7", &[("set", "$[0]^", "7")]),
    case(
        "bless({n => 1, o => bless([1], 'P')}, 'P')",
        "$v->{o}[0] = 'y'; bless $v, 'Q'; bless $v->{o}, 'Q'",
        &[("set", "$.o[0]", "\"y\""), ("class", "P=Q", "")],
    ),
    case("[1, 2.5, 'x', undef]", "@$v[0, 1] = ([], {})", &[("set", "$[0]", "[]"), ("set", "$[1]", "{}")]),
    case("{a => 1}", "$v->{b} = delete $v->{a}", &[("key", "a", "b")]),
];

fn alterations(edit: &[(&str, &str, &str)]) -> Vec<Alteration> {
    let path = |text: &str| Pattern::parse(text).unwrap();
    let typed = Stage::parse("json:typed").unwrap();
    let value = |text: &str| icecore::read_as(text.as_bytes(), &typed, &Limits::default()).unwrap().into_owned();
    let one = |(what, place, with): &(&str, &str, &str)| match *what {
        "set" => Alteration::Set(path(place), value(with)),
        "append" => Alteration::Append(path(place), value(with)),
        "delete" => Alteration::Delete(path(place)),
        "key" => Alteration::RenameKey((*place).to_owned(), (*with).to_owned()),
        _ => Alteration::RenameClass(icecore::ClassMap::parse(place).unwrap()),
    };
    edit.iter().map(one).collect()
}

/// Returns what a program prints, if it is installed.
fn run_program(program: &str, args: &[&str], input: &str) -> Option<Vec<u8>> {
    let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    assert!(output.status.success(), "{program}: {input}");
    Some(output.stdout)
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode_hex(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("hex") as u8;
    text.trim_ascii().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// A stage, the program that prints a case as hex, and the one that checks edited bytes.
type Freezing<'w> = (&'w str, &'w dyn Fn(&Case) -> String, &'w dyn Fn(&Case, &str) -> String);

/// Tries each case in each way that a language freezes values. `freeze` prints a value as hex;
/// `check` dies unless the edited bytes thaw to the value that the language made.
fn compare(program: &str, args: &[&str], cases: &[Case], ways: &[Freezing<'_>]) {
    if run_program(program, &["-v"], "").is_none() {
        println!("{program} is not installed");
        return;
    }
    let mut count = 0;
    for (stage, freeze, check) in ways {
        let parsed = Stage::parse(stage).unwrap();
        for case in cases {
            let frozen = decode_hex(&run_program(program, args, &freeze(case)).unwrap());
            let altered = alter(&frozen, &parsed, &alterations(case.edit), &Limits::default());
            let altered = altered.unwrap_or_else(|error| panic!("{stage}: {}: {}: {error}", case.value, case.does));
            assert!(altered.is_changed);
            let answer = run_program(program, args, &check(case, &encode_hex(&altered.bytes))).unwrap();
            let answer = String::from_utf8_lossy(&answer).into_owned();
            assert_eq!(
                answer,
                "same",
                "{stage}: {} {}\n{}",
                case.value,
                case.does,
                String::from_utf8_lossy(&altered.bytes)
            );
            count += 1;
        }
    }
    println!("{program}: {count} edits");
}

#[test]
fn php_reads_edited_values() {
    const CLASSES: &str = "<?php #[AllowDynamicProperties] class P { public $n = 1; protected $p = [1]; private $q; } \
                           #[AllowDynamicProperties] class Q { public $n; protected $p; private $q; } ";
    let freezing = |freeze: &'static str, thaw: &'static str| {
        let make = move |case: &Case| format!("{CLASSES} $v = {}; echo bin2hex({freeze}($v));", case.value);
        let check = move |case: &Case, altered: &str| {
            format!(
                "{CLASSES} $v = {thaw}({freeze}({})); {} $w = {thaw}(hex2bin('{altered}')); $t = fn ($x) => \
                 preg_replace('/[PQ]\\0/', '', serialize($x)); echo $t($v) === $t($w) ? 'same' : $t($v) . ' ' . $t($w);",
                case.value, case.does
            )
        };
        (make, check)
    };
    let (php, igbinary) =
        (freezing("serialize", "unserialize"), freezing("igbinary_serialize", "igbinary_unserialize"));
    compare("php", &[], PHP, &[("php", &php.0, &php.1)]);
    let has_igbinary =
        run_program("php", &["-m"], "").is_some_and(|found| String::from_utf8_lossy(&found).contains("igbinary"));
    if has_igbinary {
        compare("php", &[], PHP, &[("igbinary", &igbinary.0, &igbinary.1)]);
    }
}

#[test]
fn ruby_reads_edited_values() {
    const CLASSES: &str = "P = Class.new { attr_accessor :n; def initialize; @n = 1; end }; Q = Class.new(P); \
                           S = Struct.new(:a, :b); ";
    let make = |case: &Case| format!("{CLASSES} print Marshal.dump({}).unpack1('H*')", case.value);
    let check = |case: &Case, altered: &str| {
        format!(
            "{CLASSES} v = Marshal.load(Marshal.dump({})); {}; w = Marshal.load(['{altered}'].pack('H*')); \
             a, b = [v, w].map {{ |x| Marshal.dump(x) }}; print a == b ? 'same' : a.inspect + b.inspect",
            case.value, case.does
        )
    };
    compare("ruby", &[], RUBY, &[("marshal", &make, &check)]);
}

#[test]
fn perl_reads_edited_values() {
    const USE: &str = "use utf8; use Storable qw(nfreeze freeze thaw dclone); use Data::Dumper; \
                       $Data::Dumper::Sortkeys = 1; $Data::Dumper::Useqq = 1; $Data::Dumper::Purity = 1; ";
    let storable = |case: &Case| format!("{USE} print unpack 'H*', nfreeze({})", case.value);
    let dumper = |case: &Case| format!("{USE} print unpack 'H*', Dumper({})", case.value);
    let same = "my ($a, $b) = (Dumper($v), Dumper($w)); s/'(\\d)'/$1/g for $a, $b; print $a eq $b ? 'same' : $a . $b";
    let of_storable = |case: &Case, altered: &str| {
        format!("{USE} my $v = {}; {}; my $w = thaw(pack 'H*', '{altered}'); {same}", case.value, case.does)
    };
    let of_dumper = |case: &Case, altered: &str| {
        format!(
            "{USE} my $v = {}; {}; my $w = eval 'my ' . pack('H*', '{altered}') . '; $VAR1'; die $@ if $@; {same}",
            case.value, case.does
        )
    };
    compare("perl", &[], PERL, &[("storable", &storable, &of_storable), ("dumper", &dumper, &of_dumper)]);
}
