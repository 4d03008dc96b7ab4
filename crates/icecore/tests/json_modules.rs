//! The bytes that JSON::XS and Cpanel::JSON::XS write for random structures, with random options.
//! Needs perl with both modules and Sereal; without them, the test says so and does nothing.

use icecore::{Limits, Stage};
use std::process::{Command, Stdio};

/// Prints lines: the module, its options, and the structure as Sereal and as JSON.
const PROGRAM: &str = r#"
use strict; use warnings; no warnings qw(surrogate nonchar);
use JSON::XS (); use Cpanel::JSON::XS (); use JSON::PP (); use Sereal::Encoder;
package Frozen { sub FREEZE { @{ $_[0]{args} } } }
my ($count, $seed) = @ARGV;
my $state = $seed;
sub below { $state = ($state * 1103515245 + 12345) & 0x7fffffff; ($state >> 8) % $_[0] }
sub one { $_[below(scalar @_)] }
my $inf = 9**9**9;
my @floats = (0.1, 1e20, 1e-7, 1e15, -0.0, 1.0, 1.5, 1e14 + 0.5, 1e14, 123456789012345678.0, 1/3, 1e100, 1e16, 3.0e5,
    0.3000000000000000444, 2.0**53, 1e22, 5e-324, 0.0001, 0.00001, -1.0, 1e15 + 0.3, 999999999999999.9, 1.7976931348623157e308,
    -2.5, 100.0, 1e5 + 1e-12, 12345678901234.56);
my @texts = ('', 'a', 'name', "with \"quotes\" and \\ and / and //", join('', map chr, 0 .. 31), "\x7f", "\x80\xff",
    "caf\xe9", "\x{e9}\x{20ac}", "\x{1f600}", "\x{2028}\x{2029}", "\x{ffff}", "\x{d800}x", "12", "1.0", "true", "0", "1",
    'x' x 40, "\x{fc}" x 30, "/" x 20, "0123456789abcdef\n");
sub text {
    my $text = below(3) ? one(@texts) : join '', map chr(below(5) ? 32 + below(95) : one(0, 9, 127 + below(200), 0x2000 + below(5000))), 1 .. below(20);
    below(2) ? utf8::upgrade($text) : utf8::downgrade($text, 1);
    $text;
}
my $options;
sub value {
    my ($depth) = @_;
    my $kind = below($depth > 0 ? 14 : 9);
    return undef if $kind == 0;
    return one(0, 1, -1, 255, 65536, 9223372036854775807, -9223372036854775808, 18446744073709551615, below(1e6)) if $kind < 3;
    return below(3) ? one(@floats) : (below(2e9) - 1e9) / one(1.0, 10.0, 1000.0, 1e7, 3.0) if $kind == 3;
    return $options->{infnan} ? one($inf, -$inf, $inf - $inf, -($inf - $inf)) : 0.5 if $kind == 4 && !below(3);
    return below(2) ? \1 : \0 if $kind == 5 && !below(3);
    return below(2) ? JSON::PP::true : JSON::PP::false if $kind == 6 && !below(3);
    return text() if $kind < 9;
    if ($kind == 9 && $options->{tags}) { return bless { args => [map value($depth - 1), 0 .. below(3)] }, one('Frozen', 'Frozen') }
    if ($kind == 10 && $options->{blessed}) { return bless { text() => 1 }, 'Some::Class' }
    return [map value($depth - 1), 1 .. below(5)] if $kind < 12;
    # Sereal's order of keys is not that of the modules.
    return { map { (text(), value($depth - 1)) } 1 .. below($options->{canonical} ? 5 : 2) };
}
my $sereal = Sereal::Encoder->new({ freeze_callbacks => 1 });
for (1 .. $count) {
    my $module = one('JSON::XS', 'Cpanel::JSON::XS');
    my $cpanel = $module ne 'JSON::XS';
    $options = { infnan => !$cpanel || below(2), tags => below(2), blessed => !below(3) };
    my $json = $module->new->allow_nonref;
    my @ours = ('as=' . ($cpanel ? 'cpanel' : 'json-xs'));
    for my $flag (qw(canonical ascii latin1 pretty space_before space_after), $cpanel ? 'escape_slash' : ()) {
        next if below(3);
        $json->$flag; push @ours, $flag;
    }
    $options->{canonical} = $json->get_canonical;
    $json->utf8 unless $json->get_latin1;
    if (!below(3)) {
        $json->indent;
        if ($cpanel) { my $n = below(16); $json->indent_length($n); push @ours, "indent=$n"; push @ours, 'pretty', 'space_before=' . ($json->get_space_before ? 1 : 0), 'space_after=' . ($json->get_space_after ? 1 : 0) if $n == 0 }
        else { push @ours, 'indent=3' }
    }
    if ($options->{tags}) { $json->allow_tags; push @ours, 'tags' }
    if ($options->{blessed}) { $json->allow_blessed; push @ours, 'allow_blessed' }
    if ($cpanel && $options->{infnan}) { my $n = below(4); $json->stringify_infnan($n); push @ours, "stringify_infnan=$n" }
    my $data = value(5);
    my $text = $json->encode($data);
    utf8::encode($text) if utf8::is_utf8($text);
    print join(',', @ours), "\t", unpack('H*', $sereal->encode($data)), "\t", unpack('H*', $text), "\n";
}
"#;

fn from_hex(line: &str) -> Vec<u8> {
    (0..line.len()).step_by(2).map(|index| u8::from_str_radix(&line[index..index + 2], 16).expect("hex")).collect()
}

#[test]
fn json_is_written_byte_for_byte_like_the_perl_modules() {
    let modules = ["-MJSON::XS=", "-MCpanel::JSON::XS=", "-MJSON::PP=", "-MSereal::Encoder=", "-e", "1"];
    let probe = Command::new("perl").args(modules).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        println!("skipped: perl with JSON::XS, Cpanel::JSON::XS and Sereal is not installed");
        return;
    }
    let output = Command::new("perl").args(["-e", PROGRAM, "6000", "7"]).output().expect("perl runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).expect("plain lines");
    let sereal = Stage::parse("sereal").unwrap();
    let limits = Limits::default();
    let (mut count, mut wrong) = (0, Vec::new());
    for line in output.lines() {
        let [options, frozen, theirs] = line.split('\t').collect::<Vec<_>>().try_into().expect("three parts");
        let (frozen, theirs) = (from_hex(frozen), from_hex(theirs));
        let document = icecore::read_as(&frozen, &sereal, &limits).expect("Sereal is read");
        let mut ours = Vec::new();
        let stage = Stage::parse(&format!("json:{options}")).expect("options");
        let end = icecore::write_to(&document, &stage, &limits, &mut ours);
        count += 1;
        if end.is_err() || ours != theirs {
            let [ours, theirs] = [ours, theirs].map(|text| text.escape_ascii().to_string());
            wrong.push(format!("{options}\n  theirs {theirs}\n  ours   {ours} {:?}", end.err()));
        }
    }
    assert_eq!(count, 6000);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n"));
}
