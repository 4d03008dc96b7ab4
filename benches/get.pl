#!/usr/bin/env perl
# Times `icecore get` and `icecore query` on a file of many records, next to jq and jaq.
#
#   benches/get.pl [--records N] [--rounds N] [--only WORD] [--json FILE]
#
# All get the same records as JSON, and `icecore get` also in its other formats, converted from
# it by `icecore convert`. The outputs are compared before anything is timed. `jq` and `jaq` are
# those of the PATH, or those that JQ and JAQ name. Each runs on one processor, alternating with
# the others. Times are medians of whole processes, ratios medians of pairs of the same round;
# memory is the largest resident set, as GNU time reports it.
use v5.30;
use warnings;

use File::Temp ();
use FindBin;
use Getopt::Long;
use JSON::PP ();
use Time::HiRes ();

my ($records, $rounds, $only, $json) = (1_000_000, 5, '', undef);
GetOptions('records=i' => \$records, 'rounds=i' => \$rounds, 'only=s' => \$only, 'json=s' => \$json)
    or die "usage: $0 [--records N] [--rounds N] [--only WORD] [--json FILE]\n";
my $icecore = $ENV{ICECORE} // "$FindBin::Bin/../target/release/icecore";
-x $icecore        or die "$icecore: not built; scripts/build.sh\n";
-x '/usr/bin/time' or die "GNU time is needed: apt-get install time\n";
my %other  = (jq => $ENV{JQ} // 'jq', jaq => $ENV{JAQ} // 'jaq');
my $folder = File::Temp->newdir;

say STDERR "making $records records …";
open my $out, '>:raw', "$folder/staff.json" or die;
for my $id (1 .. $records) {
    print $out $id == 1 ? '[' : ',', qq({"id":$id,"name":"Employee number $id","email":"employee.$id\@example.org",),
        qq("about":"knows how things were done, and why they are done otherwise today","age":@{[20 + $id % 50]},),
        qq("tags":["a","b",@{[$id % 7]}]});
}
print $out "]\n";
close $out or die;
my @formats = qw(json storable sereal php igbinary marshal);
for my $format (@formats[1 .. $#formats]) {
    system($icecore, qw(convert -q -t), $format, '-o', "$folder/staff.$format", "$folder/staff.json") == 0 or die "convert: $?\n";
}

my $at    = $records - int($records / 100) - 1;
my @cases = map { ["get, $_", ['get', "\$[$at].name", "$folder/staff.$_"], ".[$at].name"] } @formats;
for my $filter (
    ".[$at].name",
    'length',
    '.[].name',
    'map(select(.age > 40) | {name, age}) | length',
    'map(.age) | add / length',
    '[.[].tags[0]] | group_by(.) | map({tag: .[0], n: length})',
    'map(.age += 1) | .[0]',
    'sort_by(.age) | .[0].age',
    '[.. | strings] | length',
    '.',
) {
    push @cases, ["query, $filter", ['query', $filter, "$folder/staff.json"], $filter];
}

# Runs a command; returns seconds and KiB.
sub run {
    my ($output, @command) = @_;
    my $start = Time::HiRes::time;
    my $pid = fork // die;
    if (!$pid) {
        open STDOUT, '>:raw', $output or die;
        exec qw(taskset -c 0 /usr/bin/time -f %M -o), "$folder/time", @command or die;
    }
    waitpid $pid, 0;
    die "@command: $?\n" if $?;
    my $seconds = Time::HiRes::time - $start;
    open my $in, '<', "$folder/time" or die;
    return ($seconds, <$in> + 0);
}

# Whether two files have the same values, one per line: 44 and 44.0 are the same number.
sub same {
    my ($one, $two) = @_;
    my $reader = JSON::PP->new->allow_nonref->canonical;
    open my $a, '<:raw', $one or die;
    open my $b, '<:raw', $two or die;
    while (defined(my $line = <$a>)) {
        my $other = <$b> // return 0;
        next if $line eq $other;
        my ($x, $y) = map { $reader->decode($_) } $line, $other;
        return 0 unless ref $x ? $reader->encode($x) eq $reader->encode($y) : $x == $y;
    }
    return !defined scalar <$b>;
}

sub median { my @sorted = sort { $a <=> $b } @_; $sorted[$#sorted / 2] }

my %all;
printf "%-66s %9s %8s %10s %8s %10s %8s %10s\n", '', 'icecore', 'memory', 'jaq', 'times', 'jq', 'times', 'memory';
for my $case (grep { index($_->[0], $only) >= 0 } @cases) {
    my ($name, $arguments, $filter) = @$case;
    my %command = (
        icecore => [$icecore, @$arguments],
        map { $_ => [$other{$_}, '-c', $filter, "$folder/staff.json"] } keys %other,
    );
    run("$folder/out.$_", @{ $command{$_} }) for keys %command;
    same("$folder/out.icecore", "$folder/out.$_") or die "$name: $_ says something else\n" for keys %other;
    my (%seconds, %memory);
    for my $round (1 .. $rounds) {
        for my $who (qw(icecore jaq jq)) {
            my ($seconds, $kib) = run('/dev/null', @{ $command{$who} });
            push @{ $seconds{$who} }, $seconds;
            $memory{$who} = $kib if ($memory{$who} // 0) < $kib;
        }
    }
    my %ratio;
    for my $who (keys %other) {
        $ratio{$who} = median(map { $seconds{$who}[$_] / $seconds{icecore}[$_] } 0 .. $rounds - 1);
    }
    my %median = map { $_ => median(@{ $seconds{$_} }) } keys %seconds;
    printf "%-66s %7.3f s %5d MB %8.3f s %8.1f %8.3f s %8.1f %7d MB\n", $name, $median{icecore}, $memory{icecore} / 1024,
        $median{jaq}, $ratio{jaq}, $median{jq}, $ratio{jq}, $memory{jq} / 1024;
    $all{$name} = { seconds => \%seconds, kib => \%memory, times => \%ratio };
}
if ($json) {
    open my $to, '>:raw', $json or die "$json: $!\n";
    print $to JSON::PP->new->canonical->pretty->encode({ records => $records, rounds => $rounds, cases => \%all });
    close $to or die;
}
