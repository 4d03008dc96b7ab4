//! Compares with JSON::XS on the same data. Needs perl with JSON::XS and Storable; without them,
//! the test says so and does nothing.

use crate::fixtures;

use icecore::{Kind, Limits, Stage};
use std::io::Write;
use std::process::{Command, Stdio};

/// Reads pairs of lines, a frozen structure as hex and a JSON text, and compares the two.
const PROGRAM: &str = r#"
use strict; use warnings; use JSON::XS; use Storable;
no warnings 'recursion';
my $json = JSON::XS->new->canonical->allow_nonref->latin1->max_depth(100_000);
my $utf8 = JSON::XS->new->utf8->allow_nonref->max_depth(100_000);
my ($same, @different) = (0);
while (defined(my $hex = <STDIN>) and defined(my $ours = <STDIN>)) {
    chomp($hex, $ours);
    my $theirs = eval { $json->encode(Storable::thaw(pack 'H*', $hex)) };
    $theirs = "died: $@" unless defined $theirs;
    my $again = eval { $json->encode($utf8->decode($ours)) };
    $again = "died: $@" unless defined $again;
    # JSON::XS itself reads the least integer as a string.
    s/"(-9223372036854775808)"/$1/g for $theirs, $again;
    if ($theirs eq $again) { $same++ } else { push @different, "$ours\n  $theirs\n  $again" }
}
print "$same\n", map { "$_\n" } @different;
"#;

#[test]
fn json_xs_reads_the_same_values() {
    let probe = Command::new("perl").args(["-MJSON::XS", "-MStorable", "-e", "1"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        println!("skipped: perl with JSON::XS is not installed");
        return;
    }
    let limits = Limits::default();
    let (storable, json) = (Stage::parse("storable").unwrap(), Stage::parse("json:text=latin1").unwrap());
    let mut input = Vec::new();
    let mut count = 0;
    for fixture in fixtures::load("storable.jsonl") {
        if fixture.mode != "nfreeze" && fixture.mode != "freeze" {
            continue;
        }
        let Ok(document) = icecore::read_as(&fixture.blob, &storable, &limits) else { continue };
        // JSON::XS does not know Perl's native booleans.
        let has_bool = document.nodes().iter().any(|node| node.kind == Kind::Bool);
        let mut text = Vec::new();
        match icecore::write_to(&document, &json, &limits, &mut text) {
            Ok(losses) if losses.is_empty() && !has_bool => {}
            _ => continue,
        }
        for byte in &fixture.blob {
            write!(input, "{byte:02x}").unwrap();
        }
        input.push(b'\n');
        input.extend_from_slice(&text);
        input.push(b'\n');
        count += 1;
    }
    let mut perl =
        Command::new("perl").args(["-e", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("perl");
    let mut stdin = perl.stdin.take().expect("its input");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(&input).expect("perl reads"));
        perl.wait_with_output().expect("its output")
    });
    let output = String::from_utf8_lossy(&output.stdout);
    let (same, different) = output.split_once('\n').expect("a count");
    assert_eq!(different, "");
    assert_eq!(same, count.to_string());
    assert!(count > 100, "only {count}");
}
