package Malformed;

# Input that is cut, changed or made up: what the tests of both formats do with it.

use strict;
use warnings;

use Exporter 'import';
use Test::More ();

our @EXPORT = qw(truncations changes takes_no_memory some);

# Calls the code with each length that the bytes can be cut to, or every seventh
# if they are more than `much`, and with what is left.
sub truncations {
    my ($bytes, $much, $code) = @_;
    my $step = length $bytes > $much ? 7 : 1;
    local $SIG{__WARN__} = sub { };
    for (my $length = 0; $length < length $bytes; $length += $step) {
        $code->($length, substr $bytes, 0, $length);
    }
    return;
}

# Calls the code with the bytes in each of which one is changed by each of the
# patterns. How often it died, and how often not.
sub changes {
    my ($bytes, $patterns, $code) = @_;
    my ($died, $read) = (0, 0);
    local $SIG{__WARN__} = sub { };
    for my $at (0 .. length($bytes) - 1) {
        for my $pattern (@$patterns) {
            my $changed = $bytes;
            substr($changed, $at, 1) ^= chr $pattern;
            eval { $code->($changed); 1 } ? $read++ : $died++;
        }
    }
    return ($died, $read);
}

# A test: what the code does takes less than 64 MB.
sub takes_no_memory {
    my ($code) = @_;
    my $before = memory();
    $code->();
    SKIP: {
        Test::More::skip('memory is not known', 1) unless $before;
        Test::More::cmp_ok(memory() - $before, '<', 64 << 20, 'no memory is taken for them');
    }
    return;
}

# The most that the process has had.
sub memory {
    open my $status, '<', '/proc/self/status' or return;
    my ($peak) = map { /^VmHWM:\s+(\d+) kB/ ? $1 << 10 : () } <$status>;
    return $peak;
}

# The first of a list, for a message.
sub some { return "@_[0 .. ($#_ < 3 ? $#_ : 3)]" }

1;
