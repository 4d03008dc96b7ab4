#!/usr/bin/env perl
# Times streams and rows: many small documents, one by one.
#
#   benches/streams.pl [--records N] [--rounds N] [--only WORD]
#
# The output is compared with the expected one, byte for byte, before anything is timed, and the
# output of the original program (perl with Sereal or Storable and JSON::XS, php) with both.
# Streams run on one processor, rows on all. Rates are medians of whole processes; memory is the
# largest resident set, as GNU time reports it.
use v5.30;
use warnings;

use File::Compare ();
use File::Temp ();
use FindBin;
use Getopt::Long;
use Sereal::Encoder ();
use Storable ();
use Time::HiRes ();

my ($records, $rounds, $only) = (1_000_000, 5, '');
GetOptions('records=i' => \$records, 'rounds=i' => \$rounds, 'only=s' => \$only)
    or die "usage: $0 [--records N] [--rounds N] [--only WORD]\n";
my $icecore = $ENV{ICECORE} // "$FindBin::Bin/../target/release/icecore";
-x $icecore        or die "$icecore: not built; cargo build --release -p icecore-cli\n";
-x '/usr/bin/time' or die "GNU time is needed: apt-get install time\n";
my $folder = File::Temp->newdir;

# The files, and the expected results.
my (%out, $at);
my $file = sub { my $name = shift; $out{$name} //= do { open my $out, '>:raw', "$folder/$name" or die; $out } };
my $sereal = Sereal::Encoder->new({ sort_keys => 2 });
$file->('rows.csv')->print("id,name,data\n");
for my $id (1 .. $records) {
    my ($name, $age, $tag) = ('Name' . $id * 7 % 10_007, 20 + $id % 50, 't' . $id % 97);
    my $record = { age => $age, id => $id, name => $name };
    my $line = qq({"age":$age,"id":$id,"name":"$name"}\n);
    $file->('lines.ndjson')->print($line);
    $file->('documents.srl')->print($sereal->encode($record));
    local $Storable::canonical = 1;
    my $image = Storable::nfreeze($record);
    $file->('frames.sto')->print(pack 'N/a*', $image);
    my $php = sprintf 'a:3:{s:3:"age";i:%d;s:2:"id";i:%d;s:4:"name";s:%d:"%s";}', $age, $id, length $name, $name;
    $file->('documents.php')->print($php);
    my $data = sprintf 'a:2:{s:2:"id";i:%d;s:3:"tag";s:%d:"%s";}', $id, length $tag, $tag;
    (my $tab = "$id\t$name\t$data\n") =~ s/\\/\\\\/g;
    $file->('rows.tab')->print($tab);
    $data =~ s/"/""/g;
    $file->('rows.csv')->print(qq($id,$name,"$data"\n));
    $file->('rows.ndjson')->print(qq({"id":"$id","name":"$name","data":{"id":$id,"tag":"$tag"}}\n));
}
close $_ or die for values %out;

my $frames = 'use Storable; use JSON::XS; my $json = JSON::XS->new->canonical; open my $in, "<:raw", $ARGV[0] or die;'
    . ' while (read $in, my $len, 4) { read $in, my $image, unpack "N", $len; print $json->encode(Storable::thaw($image)), "\n" }';
my $documents = 'use Sereal::Decoder; use JSON::XS; my $json = JSON::XS->new->canonical; my $sereal = Sereal::Decoder->new({ incremental => 1 });'
    . ' open my $in, "<:raw", $ARGV[0] or die; local $/; my $all = <$in>;'
    . ' print $json->encode($sereal->decode($all)), "\n" while length $all';
my $lines = 'use JSON::XS; my $json = JSON::XS->new->canonical; open my $in, "<:raw", $ARGV[0] or die;'
    . ' print $json->encode($json->decode($_)), "\n" while <$in>';
my $rows = '$in = fopen($argv[1], "r"); fgetcsv($in); while ($row = fgetcsv($in)) echo json_encode(["id" => $row[0],'
    . ' "name" => $row[1], "data" => unserialize($row[2])]), "\n";';

my @convert = qw(convert -q -t ndjson);
my @cases = (
    ['sereal to ndjson',        'documents.srl', 'lines.ndjson', [@convert, qw(-f sereal --each)], [$^X, '-e', $documents]],
    ['ndjson to ndjson',        'lines.ndjson',  'lines.ndjson', [@convert, qw(-f ndjson --each)], [$^X, '-e', $lines]],
    ['php to ndjson',           'documents.php', 'lines.ndjson', [@convert, qw(-f php --each)]],
    ['storable, u32be',         'frames.sto',    'lines.ndjson', [@convert, qw(-f storable --each=u32be)], [$^X, '-e', $frames]],
    ['rows: csv, php',          'rows.csv',      'rows.ndjson',  [qw(rows --in csv -c data=php)], ['php', '-r', $rows]],
    ['rows: mysql, php',        'rows.tab',      'rows.ndjson',  [qw(rows --in mysql --columns), 'id,name,data', '-c', 'data=php']],
    ['rows: csv, php, looked',  'rows.csv',      'rows.ndjson',  [qw(rows --in csv -c data)]],
);

# Runs a command; returns seconds and KiB.
sub run {
    my ($output, $one, @command) = @_;
    unshift @command, qw(taskset -c 0) if $one;
    my $start = Time::HiRes::time;
    my $pid = fork // die;
    if (!$pid) {
        open STDOUT, '>:raw', $output or die;
        exec '/usr/bin/time', '-f', '%M', '-o', "$folder/time", @command or die;
    }
    waitpid $pid, 0;
    die "@command: $?\n" if $?;
    my $seconds = Time::HiRes::time - $start;
    open my $in, '<', "$folder/time" or die;
    return ($seconds, <$in> + 0);
}

sub median { my @sorted = sort { $a <=> $b } @_; $sorted[$#sorted / 2] }

printf "%-24s %12s %12s %8s %10s\n", '', 'icecore', 'original', 'ratio', 'memory';
for my $case (grep { index($_->[0], $only) >= 0 } @cases) {
    my ($name, $input, $wanted, $arguments, $rival) = @$case;
    my $one = $name !~ /rows/;
    my @command = ($icecore, @$arguments, "$folder/$input");
    undef $rival if $rival && $rival->[0] eq 'php' && system('php -v > /dev/null 2>&1') != 0;
    for my $tried (\@command, $rival ? [@$rival, "$folder/$input"] : ()) {
        run("$folder/out", $one, @$tried);
        File::Compare::compare("$folder/out", "$folder/$wanted") == 0 or die "$name: @$tried: the output is wrong\n";
    }
    my (@ours, @theirs, $memory);
    for (1 .. $rounds) {
        my ($seconds, $kib) = run('/dev/null', $one, @command);
        push @ours, $seconds;
        $memory = $kib if !defined $memory || $kib > $memory;
        push @theirs, (run('/dev/null', $one, @$rival, "$folder/$input"))[0] if $rival;
    }
    my $rate = sub { sprintf '%.2f M/s', $records / 1e6 / median(@_) };
    printf "%-24s %12s %12s %8s %8.1f MB\n", $name, $rate->(@ours), $rival ? $rate->(@theirs) : '-',
        $rival ? sprintf('%.1f', median(@theirs) / median(@ours)) : '-', $memory / 1024;
}
