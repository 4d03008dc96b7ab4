package Malformed;

# Input that is cut, changed or invented: helpers for the tests of both formats.

use strict;
use warnings;

use Exporter 'import';
use Test::More ();

our @EXPORT = qw(truncations changes takes_no_memory some);

# Calls the code with each length to which the bytes can be cut, or every seventh if there are
# more than `much`, and with the remaining bytes.
sub truncations {
    my ($bytes, $much, $code) = @_;
    my $step = length $bytes > $much ? 7 : 1;
    local $SIG{__WARN__} = sub { };
    for (my $length = 0; $length < length $bytes; $length += $step) {
        $code->($length, substr $bytes, 0, $length);
    }
    return;
}

# Calls the code with copies of the bytes in which one byte is changed by each of the patterns.
# Returns how often it died, and how often not.
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

# A test: the code takes less than 64 MB.
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

# Returns the peak memory of the process.
sub memory {
    open my $status, '<', '/proc/self/status' or return;
    my ($peak) = map { /^VmHWM:\s+(\d+) kB/ ? $1 << 10 : () } <$status>;
    return $peak;
}

# Returns the first items of a list, for a message.
sub some { return "@_[0 .. ($#_ < 3 ? $#_ : 3)]" }

1;
