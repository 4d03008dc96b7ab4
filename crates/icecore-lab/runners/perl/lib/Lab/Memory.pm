package Lab::Memory;
# The resident set, step by step, as Linux tells it.
use v5.30;
use warnings;

my @steps;

# From here on: nothing is loaded yet.
sub begin {
    @steps = ();
    note('start');
    return;
}

sub note {
    my ($step) = @_;
    my %kilobytes;
    if (open my $status, '<', '/proc/self/status') {
        while (<$status>) { $kilobytes{$1} = $2 if /^(VmRSS|VmHWM):\s+(\d+) kB/ }
    }
    push @steps, { step => $step, resident => 1024 * ($kilobytes{VmRSS} // 0), peak => 1024 * ($kilobytes{VmHWM} // 0) };
    # From now on the peak is that of the next step.
    open my $reset, '>', '/proc/self/clear_refs' or return;
    print {$reset} "5\n";
    close $reset;
    return;
}

# The steps after the two that load has noted.
sub steps {
    my ($code, $value) = @_;
    die "nothing is loaded\n" if !$code;
    die "memory can't be looked at: no VmRSS in /proc/self/status\n" if !$steps[0]{resident};
    undef $$value;
    $code->{let_go}->();
    note('freed');
    my $again = $code->{once}->();
    note('read');
    return \@steps;
}

1;
