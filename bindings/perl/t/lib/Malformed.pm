package Malformed;

# Truncated, changed and invalid input: helpers for the tests of both formats.

use strict;
use warnings;

use Exporter 'import';
use Test::More ();

our @EXPORT = qw(for_each_truncation for_each_change uses_little_memory first_items);

# Calls the code with each length to which the bytes can be truncated, and with the truncated bytes;
# with every seventh length if there are more than `max_length` bytes.
sub for_each_truncation {
    my ($bytes, $max_length, $code) = @_;
    my $step = length $bytes > $max_length ? 7 : 1;
    local $SIG{__WARN__} = sub { };
    for (my $length = 0; $length < length $bytes; $length += $step) {
        $code->($length, substr $bytes, 0, $length);
    }
    return;
}

# Calls the code with copies of the bytes: each byte is combined by xor with each of the numbers.
# Returns how often the code died, and how often it did not.
sub for_each_change {
    my ($bytes, $xors, $code) = @_;
    my ($died, $read) = (0, 0);
    local $SIG{__WARN__} = sub { };
    for my $offset (0 .. length($bytes) - 1) {
        for my $xor (@$xors) {
            my $changed = $bytes;
            substr($changed, $offset, 1) ^= chr $xor;
            eval { $code->($changed); 1 } ? $read++ : $died++;
        }
    }
    return ($died, $read);
}

# A test: the code uses less than 64 MB of memory.
sub uses_little_memory {
    my ($code) = @_;
    my $before = memory();
    $code->();
    SKIP: {
        Test::More::skip('the memory of the process is unknown', 1) unless $before;
        Test::More::cmp_ok(memory() - $before, '<', 64 << 20, 'less than 64 MB of memory are used');
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
sub first_items { return "@_[0 .. ($#_ < 3 ? $#_ : 3)]" }

1;
