#!/usr/bin/env perl
# Times `icecore replace` on the dump of a WordPress site, and counts the errors of it and of
# others.
#
#   benches/replace.pl [--megabytes N] [--rounds N] [--json FILE]
#
# replace/dump.php makes the dump, and the expected result: the same values with the address
# replaced, serialized by PHP. Output is compared with that row by row before anything is timed.
# The other programs are PHP (replace/cells.php, which gets only the values and need not read
# SQL), sed, and go-search-replace if GO_SEARCH_REPLACE names it. Rates are medians of whole
# processes; memory is the largest resident set, as GNU time reports it.
# processes; memory is the largest resident set, as GNU time reports it.
use v5.30;
use warnings;

use File::Temp ();
use FindBin;
use Getopt::Long;
use JSON::PP ();
use Time::HiRes ();

my ($megabytes, $rounds, $json) = (1000, 5, undef);
GetOptions('megabytes=i' => \$megabytes, 'rounds=i' => \$rounds, 'json=s' => \$json)
    or die "usage: $0 [--megabytes N] [--rounds N] [--json FILE]\n";
my $icecore = $ENV{ICECORE} // "$FindBin::Bin/../target/release/icecore";
-x $icecore        or die "$icecore: not built; scripts/build.sh\n";
-x '/usr/bin/time' or die "GNU time is needed: apt-get install time\n";
my $folder = File::Temp->newdir;
my ($old, $new) = ('https://old.example.com', 'https://www.new-example.org');

say STDERR "making a dump of $megabytes MB …";
system('php', "$FindBin::Bin/replace/dump.php", $megabytes, $folder) == 0 or die "php: $?\n";

# Name, processors, input, and a command that writes to standard output.
my @cases = (
    ['icecore, one processor', '0',   'sql',   $icecore, qw(replace -q), $old, $new, '-'],
    ['icecore, two',           '0,1', 'sql',   $icecore, qw(replace -q), $old, $new, '-'],
    ['php',                    '0',   'cells', 'php', "$FindBin::Bin/replace/cells.php", $old, $new],
    ['sed',                    '0',   'sql',   'sed', 's|' . quotemeta($old) =~ s/\\(?=[:\/])//gr . "|$new|g"],
);
if (my $go = $ENV{GO_SEARCH_REPLACE}) {
    push @cases, ['go-search-replace, two', '0,1', 'sql', $go, $old, $new];
}
else {
    say STDERR 'go-search-replace is left out: GO_SEARCH_REPLACE does not name it';
}

# Runs a command; returns seconds and KiB.
sub run {
    my ($output, $case) = @_;
    my (undef, $processors, $input, @command) = @$case;
    my $start = Time::HiRes::time;
    my $pid = fork // die;
    if (!$pid) {
        open STDIN,  '<:raw', "$folder/before.$input" or die;
        open STDOUT, '>:raw', $output                 or die;
        exec 'taskset', '-c', $processors, '/usr/bin/time', '-f', '%M', '-o', "$folder/time", @command or die;
    }
    waitpid $pid, 0;
    die "@command: $?\n" if $?;
    my $seconds = Time::HiRes::time - $start;
    open my $in, '<', "$folder/time" or die;
    return ($seconds, <$in> + 0);
}

# A row of a dump is a line; a cell begins with its length.
sub next_of {
    my ($file, $input) = @_;
    return scalar <$file> if $input eq 'sql';
    read($file, my $head, 4) or return;
    my $length = unpack 'N', $head;
    my $cell   = '';
    read $file, $cell, $length if $length;
    return $cell;
}

# Returns the number of wrong rows, and the number of rows that must change.
sub wrong {
    my ($output, $input) = @_;
    my ($wrong, $changed) = (0, 0);
    open my $before, '<:raw', "$folder/before.$input" or die;
    open my $after,  '<:raw', "$folder/after.$input"  or die;
    open my $got,    '<:raw', $output                 or die;
    while (defined(my $wanted = next_of($after, $input))) {
        $changed++ if next_of($before, $input) ne $wanted;
        my $given = next_of($got, $input);
        $wrong++ if !defined $given || $given ne $wanted;
    }
    $wrong++ if defined next_of($got, $input);
    return ($wrong, $changed);
}

sub median { my @sorted = sort { $a <=> $b } @_; $sorted[$#sorted / 2] }

my %found;
for my $case (@cases) {
    my $name = $case->[0];
    run("$folder/out", $case);
    @{ $found{$name} }{qw(wrong changed)} = wrong("$folder/out", $case->[2]);
    die "$name: $found{$name}{wrong} rows are wrong\n" if $name =~ /icecore/ && $found{$name}{wrong};
}
unlink "$folder/out";
say STDERR 'timing …';
# Alternately, so that disturbances affect all of them.
for (1 .. $rounds) {
    for my $case (@cases) {
        my ($seconds, $kib) = run('/dev/null', $case);
        my $one = $found{ $case->[0] };
        push @{ $one->{seconds} }, $seconds;
        $one->{kib} = $kib if $kib > ($one->{kib} // 0);
    }
}

my $size = -s "$folder/before.sql";
printf "%-24s %10s %10s %10s %12s\n", '', 'MB/s', 'times', 'memory', 'wrong rows';
my $ours = median(@{ $found{ $cases[0][0] }{seconds} });
for my $case (@cases) {
    my $one = $found{ $case->[0] };
    $one->{rate} = $size / 1e6 / median(@{ $one->{seconds} });
    # Factor to our time on one processor.
    $one->{times} = median(@{ $one->{seconds} }) / $ours;
    printf "%-24s %10.0f %10.2f %7.1f MB %12s\n", $case->[0], $one->{rate}, $one->{times}, $one->{kib} / 1024,
        "$one->{wrong}/$one->{changed}";
}
if (defined $json) {
    open my $out, '>', $json or die "$json: $!\n";
    print $out JSON::PP->new->canonical->pretty->encode({ bytes => $size, rounds => $rounds, found => \%found });
}
