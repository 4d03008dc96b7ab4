#!/usr/bin/perl
# A class whose hook would write a file. With Storable, anyone who sends you its bytes runs its
# code; here nothing runs unless you name the class.

use strict;
use warnings;

use File::Temp        qw(tempdir);
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze thaw);

my $danger = tempdir(CLEANUP => 1) . '/danger.txt';

package Malicious {
    sub STORABLE_freeze { return 'payload' }
    sub STORABLE_thaw   { main::write_file('STORABLE_thaw'); return }
    sub FREEZE          { return 'payload' }
    sub THAW            { main::write_file('THAW'); return bless {}, shift }
    sub DESTROY         { main::write_file('DESTROY'); return }
}

sub write_file {
    my ($who) = @_;
    open my $out, '>>', $danger or die "$danger: $!";
    print {$out} "$who was here\n";
    close $out;
    return;
}

# The bytes as an attacker sends them.
my $frozen = freeze([bless {}, 'Malicious']);
my $sereal = encode_sereal([bless {}, 'Malicious'], { freeze_callbacks => 1 });
unlink $danger;    # written by the destructor of the objects that we just made

print "thaw:          ", eval { thaw($frozen); 1 }          ? 'taken' : 'refused', "\n";
print "decode_sereal: ", eval { decode_sereal($sereal); 1 } ? 'taken' : 'refused', "\n";
print "danger.txt:    ", -e $danger ? 'written' : 'not there', "\n";

# This inspects them without running anything.
my $record = thaw($frozen, classes => 'record')->[0];
printf "as a record:   %s, class %s\n", ref $record, $record->class;
undef $record;
for my $class (Icecore::classes($sereal)) {
    printf "in the bytes:  %s, %d time, at %s\n", @$class{qw(class count path)};
}
print "danger.txt:    ", -e $danger ? 'written' : 'not there', "\n";
