#!/usr/bin/env perl
# Times `icecore convert` to JSON against the original: perl with Storable or Sereal and
# JSON::XS, php, ruby with its JSON; whole processes, side by side.
#
#   benches/convert.pl [--records N] [--rounds N] [--only WORD] [--dir FOLDER] [--json FILE]
#
# First both outputs are compared, record by record; a pair that differs is not timed. Then the
# two run alternately. The table shows medians, and the ratio of each round's pair: median,
# lowest and highest. Peak memory is the largest resident set, as GNU time reports it.
use v5.30;
use warnings;

use File::Temp ();
use FindBin;
use Getopt::Long;
use JSON::XS ();

my ($records, $rounds, $only, $folder, $json) = (1_000_000, 7, '', undef, undef);
GetOptions('records=i' => \$records, 'rounds=i' => \$rounds, 'only=s' => \$only, 'dir=s' => \$folder, 'json=s' => \$json)
    or die "usage: $0 [--records N] [--rounds N] [--only WORD] [--dir FOLDER] [--json FILE]\n";

my $icecore = $ENV{ICECORE} // "$FindBin::Bin/../target/release/icecore";
-x $icecore         or die "$icecore: not built; cargo build --release -p icecore-cli\n";
-x '/usr/bin/time'  or die "GNU time is needed: apt-get install time\n";
my $temporary = File::Temp->newdir;
$folder //= "$temporary";

# How each file is made, and how the original converts it to JSON.
my $data = "my \$data = [map { { id => \$_, name => \"Employee_\$_\", age => 20 + \$_ % 50 } } 1 .. $records];";
my $perl = sub { my ($name, $make, $read, $wanted) = @_; [$name, [$^X, '-e', "$data $make"], [$^X, '-e', $read], $wanted] };
my $storable = 'use Storable; use JSON::XS; print encode_json(Storable::retrieve($ARGV[0]))';
my $sereal   = 'use Sereal::Decoder; use JSON::XS; open my $in, "<:raw", $ARGV[0] or die; local $/;'
    . ' print encode_json(Sereal::Decoder::decode_sereal(<$in>))';
my $encode = 'use Sereal::Encoder qw(SRL_SNAPPY SRL_ZLIB SRL_ZSTD); open my $out, ">:raw", $ARGV[0] or die;'
    . ' print $out Sereal::Encoder->new({ %s })->encode($data); close $out or die';
my @php  = (qw(php -d memory_limit=-1 -r));
my $json_encode = 'echo json_encode(unserialize(file_get_contents($argv[1])), JSON_UNESCAPED_UNICODE);';
my $php = sub {
    my ($name, $value, $wanted) = @_;
    my $make = 'class Employee { public function __construct(public int $id, public string $name, public int $age) {} }'
        . " \$a = []; for (\$i = 1; \$i <= $records; \$i++) \$a[] = $value; file_put_contents(\$argv[1], serialize(\$a));";
    [$name, [@php, $make], [@php, "class Employee { public \$id; public \$name; public \$age; } $json_encode"], $wanted];
};
my $ruby = sub {
    my ($name, $record, $wanted) = @_;
    my $make = "File.binwrite(ARGV[0], Marshal.dump((1..$records).map { |i| $record }))";
    [$name, ['ruby', '-e', $make], ['ruby', '-rjson', '-e', 'print JSON.generate(Marshal.load(File.binread(ARGV[0])))'], $wanted];
};
my @cases = (
    $perl->('storable, store',  'use Storable; Storable::store($data, $ARGV[0])',  $storable, 8),
    $perl->('storable, nstore', 'use Storable; Storable::nstore($data, $ARGV[0])', $storable, 8),
    $perl->('sereal, raw',      sprintf($encode, ''),                              $sereal,   6),
    $perl->('sereal, snappy',   sprintf($encode, 'compress => SRL_SNAPPY'),        $sereal,   6),
    $perl->('sereal, zlib',     sprintf($encode, 'compress => SRL_ZLIB'),          $sereal,   6),
    $perl->('sereal, zstd',     sprintf($encode, 'compress => SRL_ZSTD'),          $sereal,   6),
    $php->('php, arrays',  q(['id' => $i, 'name' => "Employee_$i", 'age' => 20 + $i % 40]), 5),
    $php->('php, objects', q(new Employee($i, "Employee_$i", 20 + $i % 40)),                5),
    $ruby->('ruby, strings', q({ 'id' => i, 'name' => "Employee_#{i}", 'age' => 20 + i % 40 }), 15),
    $ruby->('ruby, symbols', q({ id: i, name: "Employee_#{i}", age: 20 + i % 40 }),             15),
);

my @rows;
for my $case (grep { index($_->[0], $only) >= 0 } @cases) {
    my ($name, $make, $read, $wanted) = @$case;
    (my $file = "$folder/$name") =~ s/, /-/;
    system(@$make, $file) == 0 or die "$name: could not be made\n";
    my @theirs = (@$read, $file);
    my @ours   = ($icecore, 'convert', '-q', $file);
    same("$folder/theirs.json", "$folder/ours.json", \@theirs, \@ours) or die "$name: the two do not agree\n";
    my (@theirs_took, @icecore);
    for my $round (1 .. $rounds) {
        push @icecore,     timed(\@ours);
        push @theirs_took, timed(\@theirs);
    }
    push @rows, {
        case    => $name,
        records => $records,
        bytes   => -s $file,
        wanted  => $wanted,
        theirs  => summary(@theirs_took),
        icecore => summary(@icecore),
        faster  => spread(map { $theirs_took[$_]{seconds} / $icecore[$_]{seconds} } 0 .. $#theirs_took),
        memory  => spread(map { $icecore[$_]{kilobytes} / $theirs_took[$_]{kilobytes} } 0 .. $#theirs_took),
    };
    print_row($rows[-1], @rows == 1);
    unlink $file;
}
if ($json) {
    open my $out, '>', $json or die "$json: $!\n";
    print $out JSON::XS->new->canonical->pretty->encode(\@rows);
    close $out or die "$json: $!\n";
}

sub summary { return { seconds => spread(map { $_->{seconds} } @_)->{median}, megabytes => spread(map { $_->{kilobytes} } @_)->{median} / 1024 } }

sub spread {
    my @sorted = sort { $a <=> $b } @_;
    return { lowest => $sorted[0], median => $sorted[@sorted / 2], highest => $sorted[-1] };
}

sub print_row {
    my ($row, $is_first) = @_;
    printf "%-17s %8s  %7s %7s  %-22s %s\n", 'file', 'MB', 'theirs', 'icecore', 'times faster (spread)', 'peak memory'
        if $is_first;
    printf "%-17s %8.1f  %6.3fs %6.3fs  %5.1f (%.1f to %.1f)%s  %.0f of %.0f MB: %.2f\n", $row->{case}, $row->{bytes} / 1e6,
        $row->{theirs}{seconds}, $row->{icecore}{seconds}, @{ $row->{faster} }{qw(median lowest highest)},
        $row->{faster}{median} >= $row->{wanted} ? '   ' : ' < '.$row->{wanted}, $row->{icecore}{megabytes}, $row->{theirs}{megabytes},
        $row->{memory}{median};
}

# Runs a command and discards its output.
sub timed {
    my ($command) = @_;
    my $report = "$folder/time";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDOUT, '>', '/dev/null' or die;
        exec '/usr/bin/time', '-o', $report, '-f', '%e %M', @$command or die;
    }
    # /usr/bin/time counts in hundredths of a second, which is too coarse.
    my $start = now();
    waitpid $pid, 0;
    my $seconds = now() - $start;
    die "@$command: failed\n" if $?;
    open my $in, '<', $report or die "$report: $!\n";
    my ($kilobytes) = (split ' ', <$in>)[1];
    return { seconds => $seconds, kilobytes => $kilobytes };
}

sub now { require Time::HiRes; return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) }

# Whether both are the same JSON, except for the order of keys.
sub same {
    my ($left, $right, @commands) = @_;
    my @sums;
    for my $pair ([$left, $commands[0]], [$right, $commands[1]]) {
        my ($path, $command) = @$pair;
        my $pid = fork // die "fork: $!\n";
        if ($pid == 0) {
            open STDOUT, '>', $path or die "$path: $!\n";
            exec @$command or die;
        }
        waitpid $pid, 0;
        die "@$command: failed\n" if $?;
        # In a separate process, which frees its memory.
        push @sums, qx{$^X -MJSON::XS -MDigest::MD5=md5_hex -e 'open my \$in, "<", "$path" or die; local \$/; print md5_hex(JSON::XS->new->utf8->canonical->encode(decode_json(<\$in>)))'};
        unlink $path;
    }
    return $sums[0] eq $sums[1] && length $sums[0] == 32;
}
