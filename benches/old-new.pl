#!/usr/bin/env perl
# Times two builds of Icecore next to each other, the command and the Perl module: is the new
# one as fast as the old?
#
#   benches/old-new.pl OLD NEW [--rounds N] [--records N] [--only WORD]
#
# OLD and NEW are two checkouts, both built by `make build modules`. A round runs both,
# alternately. A row shows how many times as fast the new one is: the median of the pairs, and
# the interval that contains it in 95 of 100 samples drawn from them. The command is timed as a
# whole process, the module by the processor time of many calls. Before anything is timed both
# results are compared; a row that differs says so and is timed anyway, because the new build
# may have corrected the old answer.
use v5.30;
use warnings;

use Cwd qw(realpath);
use File::Temp ();
use Getopt::Long;
use Time::HiRes qw(time);

$| = 1;
my ($rounds, $records, $only) = (15, 100_000, '');
GetOptions('rounds=i' => \$rounds, 'records=i' => \$records, 'only=s' => \$only) && @ARGV == 2
    or die "usage: $0 OLD NEW [--rounds N] [--records N] [--only WORD]\n";
my @builds = map { realpath($_) // die "$_: no such checkout\n" } @ARGV;
for my $build (@builds) {
    -x "$build/target/release/icecore" or die "$build: not built; run `make build modules` there\n";
    -d "$build/bindings/perl/blib"     or die "$build: the Perl module is not built; run `make modules` there\n";
}
my $folder = File::Temp->newdir;

# Typical data, written by the new command from JSON text.
my %shapes = (
    records => sub { '[' . join(',', map { qq({"id":$_,"name":"Employee_$_","age":@{[20 + $_ % 50]}}) } 1 .. $records) . ']' },
    mixed   => sub {
        my @kinds = ('1.5', 'true', 'null', '"caf\u00e9"', '-17', '[1,2,3]', '{"a":{"b":[]}}', '12345678901', '"\n\t\"quoted\""');
        '[' . join(',', map { qq({"n":$kinds[$_ % @kinds],"other":$kinds[$_ * 7 % @kinds]}) } 1 .. $records) . ']';
    },
    integers => sub { '[' . join(',', map { $_ * 7919 % 100_003 } 1 .. $records * 5) . ']' },
    strings  => sub { '[' . join(',', map { '"' . 'x' x ($_ % 60) . qq(") } 1 .. $records * 3) . ']' },
    decimals => sub { '[' . join(',', map { sprintf '%.6f', $_ / 7 } 1 .. $records * 3) . ']' },
);
my @formats = qw(storable sereal json php igbinary marshal dumper var-export);

print "how many times as fast the new build is; $rounds pairs\n";
for my $shape (sort keys %shapes) {
    my $json = "$folder/$shape";
    write_file($json, $shapes{$shape}->());
    for my $format (@formats) {
        my $file = "$folder/$shape.$format";
        run($builds[1], $json, 'json', $format, $file);
        compare("command: $shape, $format to json", sub { run($_[0], $file, $format, 'json', $_[1]) });
        next if $format eq 'json';
        compare("command: $shape, json to $format", sub { run($_[0], $json, 'json', $format, $_[1]) });
    }
    compare("command: $shape, inspect storable", sub { command($_[1], "$_[0]/target/release/icecore", 'inspect', "$folder/$shape.storable") });
}

# Tables with a column of frozen values, and dumps in which text is replaced.
for my $format (qw(json php storable sereal marshal igbinary)) {
    my $stage = $format =~ /json|php/ ? $format : "base64/$format";
    my @blobs = map { frozen($stage, $_) } 1 .. 50;
    my $table = "$folder/$format.csv";
    write_file($table, "id,data\n" . join '', map { "$_," . csv_cell($blobs[$_ % @blobs]) . "\n" } 1 .. $records * 2);
    for my $to (qw(ndjson parquet)) {
        compare("command: rows of $format to $to", sub {
            command($_[1], "$_[0]/target/release/icecore", qw(rows -q --in csv -c), "data=$stage", '-t', $to, $table);
        });
    }
}
my $dump = "$folder/dump.sql";
write_file($dump, join '', map { 'INSERT INTO `options` VALUES ' . join(',', map { sql_row($_) } 1 .. 500) . ";\n" } 1 .. $records / 500 + 1);
compare('command: replace in a dump', sub {
    command($_[1], "$_[0]/target/release/icecore", qw(replace -q http://old.example.com https://www.example.org), $dump);
});

# Calls of the module, with values of the sizes that programs keep.
my %values = (
    small   => '{ id => 17, name => "Employee", tags => ["a", "b"], rate => 1.5 }',
    records => '[map { { id => $_, name => "Employee_$_", age => 20 + $_ % 50 } } 1 .. 1000]',
    objects => '[map { bless { id => $_, name => "Employee_$_" }, "Employee" } 1 .. 1000]',
    numbers => '[map { $_ / 3 } 1 .. 3000]',
    text    => '[map { "caf\x{e9} \x{263a} $_" } 1 .. 1000]',
    shared  => 'do { my $one = { a => 1 }; [map { $one } 1 .. 1000] }',
);
my %operations = (
    'freeze'        => ['Icecore::Storable', 'Icecore::Storable::freeze($value)'],
    'nfreeze'       => ['Icecore::Storable', 'Icecore::Storable::nfreeze($value)'],
    'thaw'          => ['Icecore::Storable', 'Icecore::Storable::thaw($frozen)', 'Icecore::Storable::nfreeze($value)'],
    'dclone'        => ['Icecore::Storable', 'Icecore::Storable::dclone($value)'],
    'encode_sereal' => ['Icecore::Sereal', 'Icecore::Sereal::encode_sereal($value)'],
    'decode_sereal' => ['Icecore::Sereal', 'Icecore::Sereal::decode_sereal($frozen)', 'Icecore::Sereal::encode_sereal($value)'],
    'encode_json'   => ['Icecore::JSON', 'Icecore::JSON::encode_json($value)'],
    'decode_json'   => ['Icecore::JSON', 'Icecore::JSON::decode_json($frozen)', 'Icecore::JSON::encode_json($value)'],
    'Dumper'        => ['Icecore::Dumper', 'Icecore::Dumper::Dumper($value)'],
);
for my $operation (sort keys %operations) {
    my ($module, $call, $prepare) = @{ $operations{$operation} };
    for my $name (sort keys %values) {
        next if $name eq 'objects' && $operation =~ /json/;
        compare("perl: $operation, $name", sub { perl($_[0], $module, $values{$name}, $prepare // 'undef', $call) });
    }
}

# Returns a record in a format that fits into a line of text.
sub frozen {
    my ($stage, $number) = @_;
    my ($json, $out) = ("$folder/one.json", "$folder/one");
    write_file($json, qq({"id":$number,"name":"Employee_$number","tags":["a","b"],"rate":1.5}));
    run($builds[1], $json, 'json', $stage, $out);
    open my $in, '<:raw', $out or die "$out: $!\n";
    return do { local $/; <$in> } =~ s/\n\z//r;
}

sub csv_cell {
    my ($text) = @_;
    return '"' . $text =~ s/"/""/gr . '"';
}

# Returns a row as WordPress has it: an address in a serialized array.
sub sql_row {
    my ($number) = @_;
    my $address = "http://old.example.com/page/$number";
    my $value   = 'a:2:{s:3:"url";s:' . length($address) . qq(:"$address";s:2:"id";i:$number;});
    return "($number,'option_$number','" . $value =~ s/"/\\"/gr . "','yes')";
}

# Runs the conversion; returns the processor's seconds.
sub run {
    my ($build, $file, $from, $to, $out) = @_;
    return command($out, "$build/target/release/icecore", 'convert', '-f', $from, '-t', $to, $file);
}

sub command {
    my ($out, @words) = @_;
    my $before = time;
    my $child  = fork // die "fork: $!\n";
    if (!$child) {
        open STDOUT, '>', $out or die "$out: $!\n";
        exec @words or die "$words[0]: $!\n";
    }
    waitpid $child, 0;
    $? == 0 or die "@words: failed\n";
    return time - $before;
}

# Runs the call many times in a separate process; returns seconds per call.
sub perl {
    my ($build, $module, $value, $prepare, $call) = @_;
    my $program = <<"END";
use Icecore;
use $module;
use Time::HiRes ();
Icecore->allow('*');
my \$value = $value;
my \$frozen = $prepare;
my \$result = $call;
\$result = $call for 1 .. 3;
my (\$count, \$spent) = (0, 0);
my \$step = 1;
my \$start = Time::HiRes::clock();
while (\$spent < 0.15) {
    for (1 .. \$step) { \$result = $call }
    \$count += \$step;
    \$step *= 2 if \$spent < 0.02;
    \$spent = Time::HiRes::clock() - \$start;
}
printf "%.12f", \$spent / \$count;
END
    open my $pipe, '-|', $^X, "-Mblib=$build/bindings/perl/blib", '-e', $program or die "perl: $!\n";
    my $seconds = do { local $/; <$pipe> };
    close $pipe or die "$program\nfailed\n";
    return $seconds;
}

sub compare {
    my ($name, $run) = @_;
    return if index($name, $only) < 0;
    my @outs   = ("$folder/old.out", "$folder/new.out");
    unlink @outs;
    $run->($builds[$_], $outs[$_]) for 0, 1;
    my $differ = -e $outs[0] && system('cmp', '-s', @outs) != 0 ? '  results differ' : '';
    my @ratios;
    for my $round (1 .. $rounds) {
        my @seconds;
        $seconds[$_] = $run->($builds[$_], $outs[$_]) for $round % 2 ? (0, 1) : (1, 0);
        push @ratios, $seconds[0] / ($seconds[1] || 1e-9);
    }
    my @medians = sort { $a <=> $b } map { median(map { $ratios[rand @ratios] } @ratios) } 1 .. 1000;
    my ($low, $high) = @medians[24, 974];
    printf "%-44s %5.2f  (%.2f to %.2f)%s%s\n", $name, median(@ratios), $low, $high, $high < 0.97 ? '  SLOWER' : '', $differ;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return $sorted[@sorted / 2];
}

sub write_file {
    my ($file, $text) = @_;
    open my $out, '>:raw', $file or die "$file: $!\n";
    print {$out} $text;
    close $out or die "$file: $!\n";
    return;
}
