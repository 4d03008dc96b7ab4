#!/usr/bin/env perl
# Writes the files of the behaviour list that real runtimes can produce, and ../manifest.tsv.
# It does not touch the handwritten files, which ../README.md lists.
#
#   ICECORE=target/release/icecore perl bindings/common/behaviour/make/generate.pl [FOLDER]
#
# A line of a format comes from the language of the format, and describes the value that this
# language reads. For another language it describes the value that its own runtime reads from
# the data converted to its own format.

use v5.36;
use FindBin ();
use lib $FindBin::Bin;

use IPC::Open2 ();
use JSON::PP   ();
use Oracle;

my $folder  = $ARGV[0] // "$FindBin::Bin/..";
my $icecore = $ENV{ICECORE} // 'icecore';
my $json    = JSON::PP->new->canonical->allow_nonref;

# The format in which each host reads foreign data.
my %format_of_host = (perl => 'sereal', php => 'php', ruby => 'marshal');
my %host_of  = (storable => 'perl', sereal => 'perl', dumper => 'perl', json => 'perl', php => 'php', igbinary => 'php', 'php-session' => 'php', 'var-export' => 'php', marshal => 'ruby');
my %left_out;
my %oracles = (php => start('php', "$FindBin::Bin/oracle.php"), ruby => start('ruby', "$FindBin::Bin/oracle.rb"));

sub start (@command) {
    my $pid = IPC::Open2::open2(my $out, my $in, @command);
    $in->autoflush(1);
    return { in => $in, out => $out, pid => $pid };
}

# --- Answers of the hosts -----------------------------------------------------------------

# Returns the value that a host reads: { value } or { error }.
sub read_in_host ($host, $format, $bytes) {
    my $answer;
    if ($host eq 'perl') {
        $answer = eval { { value => Oracle::describe(Oracle::read_bytes($format, $bytes)) } } // { error => $@ };
    }
    else {
        my $process = $oracles{$host};
        print { $process->{in} } $json->encode({ format => $format, hex => unpack 'H*', $bytes }), "\n";
        $answer = JSON::PP->new->utf8->allow_nonref->max_depth(1e6)->decode(readline($process->{out}) // die "$host died of " . unpack 'H*', $bytes);
    }
    return exists $answer->{error} ? $answer : { value => Oracle::numbered($answer->{value}) };
}

# Returns true if a host that builds the value from its description writes these bytes. Otherwise the
# description does not say everything.
sub writes_same_bytes ($host, $name, $format, $value, $bytes) {
    return 1 if $host eq 'perl';    # the driver is in the tree
    my $process = $oracles{$host};
    print { $process->{in} } JSON::PP->new->utf8->canonical->allow_nonref->encode({ format => $format, build => $value }), "\n";
    my $answer = JSON::PP->new->utf8->decode(readline($process->{out}) // die "$host died");
    return 1 if ($answer->{hex} // '') eq unpack 'H*', $bytes;
    $left_out{"$host, $format, not said in full ($name): " . ($answer->{error} // 'other bytes')}++;
    return 0;
}

# The command's answer: { bytes }, or the kind, the offset and the path of its error.
my %kinds = (
    'the input ends too early' => 'truncated', 'bytes after the end of the document' => 'trailing', 'malformed input' => 'malformed', 'bad link' => 'bad-link',
    'not supported' => 'unsupported', 'limit reached' => 'limit', 'wrong format' => 'format', "the target format can't represent this" => 'unrepresentable',
);

sub convert ($bytes, $from, $to) {
    my $file = "/tmp/icecore-behaviour-$$";
    open my $out, '>:raw', $file or die "$file: $!";
    print $out $bytes;
    close $out;
    my $result = `$icecore convert --quiet -f '$from' -t '$to' $file 2>$file.error`;
    my $message   = do { local (@ARGV, $/) = "$file.error"; scalar <> } // '';
    unlink $file, "$file.error";
    return { bytes => $result } if !$?;
    my ($words, $position) = $message =~ /: (${\ join '|', map { quotemeta } sort keys %kinds})(.*)/ or die "$from to $to: $message";
    my %error = (kind => $kinds{$words});
    $error{offset} = 0 + $1 if $position =~ /^ \([^)]*\) at offset (\d+)(?! of the)/;
    $error{path} = $1 if $position =~ / at (\$\S*?)(?::|$)/ && $1 !~ /[^\x20-\x7e]|more\)/;
    return { error => \%error };
}

# --- Lines ------------------------------------------------------------------

sub describe_bytes ($bytes) { return $bytes =~ /[^\n -~]/ ? { hex => unpack 'H*', $bytes } : $bytes }

my (%files, %names);

sub line ($file, %line) {
    $line{id} = "$file/$line{id}";
    return if $names{ $line{id} }++;
    push @{ $files{$file} }, \%line;
    return;
}

sub are_equal ($one, $two) { return $json->encode(Oracle::numbered(Oracle::sorted($one))) eq $json->encode(Oracle::numbered(Oracle::sorted($two))) }

# Returns true if a host reads the expected value. Perl's results are sorted, because its hashes have
# no order; a host with an order must keep the order of the data.
sub is_equal_in_host ($host, $home, $one, $two) {
    return are_equal($one, $two) if $home ne 'perl' || $host eq 'perl';
    return $json->encode(Oracle::numbered($one)) eq $json->encode(Oracle::numbered($two));
}

# Returns the fields of a line that differ for a host of another language; undef if none do.
sub value_in_other_host ($host, $home, $format, $bytes, $value) {
    my $converted = convert($bytes, $format, $format_of_host{$host});
    return { error => { kind => $converted->{error}{kind} } } if $converted->{error};
    my $answer = read_in_host($host, $format_of_host{$host}, $converted->{bytes});
    if (!exists $answer->{value}) { $left_out{"$host does not read what became of $format"}++; return { open => "$host itself does not read the converted data" } }
    return is_equal_in_host($host, $home, $answer->{value}, $value) ? undef : { value => $answer->{value} };
}

# Returns true if the value contains an object that a class of another language froze: Perl's module
# reads it as a record.
sub is_frozen ($value) { return $json->encode($value) =~ /"(?:frozen|known)":/ }

sub read_line ($name, $format, $bytes, $value, $file = "read-$format") {
    my %line = (id => $name, do => 'read', format => $format, bytes => describe_bytes($bytes), value => $value);
    my $text = $json->encode($value);
    $line{classes} = 'any' if $text =~ /"(?:object|frozen|known|enum|struct|subclass|extended|class|module)":/;
    $line{needs}   = ['bool'] if $text =~ /(?:true|false)/;
    my $home = $host_of{ $format =~ s{^.*/}{}r =~ s/:.*//r };
    for my $host (sort keys %format_of_host) {
        next if $host eq $home;
        my $differs = value_in_other_host($host, $home, $format, $bytes, $value) or next;
        $differs = { classes => 'record', value => { any => JSON::PP::true } } if $host eq 'perl' && is_frozen($value);
        $line{$host} = $differs;
    }
    line($file, %line);
    return;
}

sub has_order ($value) { return $json->encode($value) !~ /"map":\[\[(?:[^\[\]]|(\[(?:[^\[\]]|(?1))*\]))*\],\[/ }

# --- Damage -----------------------------------------------------------------

# Data that is refused in one language is refused in all, at the same place. The runtimes are
# not called: damaged data makes some of them take all memory, and the engine's own tests
# compare verdicts.
sub damage_lines ($name, $format, $bytes) {
    my $length = length $bytes;
    line('refuse', id => "$format/$name, and more", do => 'read', format => $format, bytes => describe_bytes("${bytes}x"), classes => 'any', error => convert("${bytes}x", $format, 'json:typed')->{error})
        if $format !~ /^(?:dumper|storable|php-session|var-export)$/ && ($format ne 'sereal' || $name eq 'list');
    my $found = 0;
    for my $n (1 .. 40) {
        my $at = ($n * 7919) % $length;
        for my $xor (0x01, 0x10, 0x80, 0x41) {
            substr(my $changed = $bytes, $at, 1) ^.= chr $xor;
            my $error = convert($changed, $format, 'json:typed')->{error} or next;
            next if $error->{kind} eq 'limit' || $format eq 'sereal' && $error->{kind} eq 'trailing';
            line('refuse', id => "$format/$name, byte $at ^ $xor", do => 'read', format => $format, bytes => describe_bytes($changed), classes => 'any', error => $error);
            return if ++$found == 6;
            last;
        }
    }
    return;
}

# --- The list ---------------------------------------------------------------

my @seeds = map { $_->{way} //= $_->{format}; $_ } Oracle::frozen();
for my $host (qw(php ruby)) {
    my @command = $host eq 'php' ? ('php', "$FindBin::Bin/oracle.php") : ('ruby', "$FindBin::Bin/oracle.rb");
    open my $from, '-|', @command, 'seeds' or die "$host: $!";
    while (<$from>) {
        my $seed = JSON::PP->new->utf8->decode($_);
        if (!exists $seed->{value}) { warn "$host: $seed->{name}: $seed->{error}\n"; next }
        push @seeds, { %$seed, way => $seed->{format}, value => Oracle::numbered($seed->{value}) };
    }
    close $from or die "$host stopped: $?";
}
for my $seed (@seeds) {
    my $bytes = pack 'H*', $seed->{hex};
    my $way = $seed->{way} eq $seed->{format} ? '' : ', ' . $seed->{way} =~ s/.*://r;
    read_line("$seed->{name}$way", $seed->{format}, $bytes, $seed->{value});
    next if $way;
    # Data that is read must have been written like this; hosts without order can be tested with
    # one key at most.
    my $home  = $host_of{ $seed->{format} };
    my $format = $seed->{format} =~ s/^storable$/storable:memory/r;
    my %write = (id => $seed->{name}, do => 'write', format => $format, value => $seed->{value}, out => describe_bytes($bytes), hosts => [$home]);
    my $is_plain = $seed->{name} !~ /^(?:numbers|set|range|known)$/ && $seed->{format} !~ /^(?:php-session|dumper|var-export)$/;
    line("write-$seed->{format}", %write) if $is_plain && writes_same_bytes($home, $seed->{name}, $format, $seed->{value}, $bytes) && ($home ne 'perl' || has_order($seed->{value}) && $seed->{name} !~ /^(?:booleans|weak|class of text|strings that look|reference to undef)/);
}

# Data that Perl writes for others: the others must read it.
for my $seed (grep { $_->{way} eq 'sereal' && has_order($_->{value}) && $_->{name} !~ /^(?:weak|holes|class of text)/ } @seeds) {
    for my $format (qw(php igbinary marshal json)) {
        my $written = convert(pack('H*', $seed->{hex}), 'sereal', $format);
        $written->{bytes} =~ s/\n\z// if $format eq 'json' && !$written->{error};
        my $answer = $written->{error} ? {} : $format eq 'json' ? { value => 1 } : read_in_host($host_of{$format}, $format, $written->{bytes});
        if (!$written->{error} && !exists $answer->{value}) { $left_out{"$host_of{$format} does not read what Perl writes"}++; next }
        line("write-$format", id => "from perl/$seed->{name}", do => 'write', format => $format, value => $seed->{value}, hosts => ['perl'],
            $written->{error} ? (error => { kind => $written->{error}{kind} }) : (out => describe_bytes($written->{bytes})));
    }
}

my @json = (
    '[]', '{}', '0', '-0', '1', '-1', '1.5', '-1.5e3', '9007199254740993', '9223372036854775807', '-9223372036854775808', '"a"', '""', 'null', 'true', 'false', '[true,false,null]', ' [ 1 , 2 ] ',
    "{\"a\":\n1}", '{"b":1,"a":2}', '{"a":{"b":{"c":[1,[2]]}}}', '"\u00e9"', '"\ud83d\ude00"', '"\\\\\/\b\f\n\r\t"', '["caf\u00e9"]', "[\"\xc3\xa9\xe2\x98\xba\"]", '{"":1}', '{"\u0000":"\u0000"}',
    '{"1":1,"01":2,"-1":3}', '[0.1,1e100,1e-300,5e-324,1.7976931348623157e308]', '[1.0,100.0,-0.0]', '[[[[[[[[[[1]]]]]]]]]]', '[{"id":1,"name":"a"},{"id":2,"name":"b"},{"name":"c","id":3}]',
);
for my $text (@json) {
    my $answer = read_in_host('perl', 'json', $text);
    # Numbers such as -0 get perl's value, not that of this reader.
    read_line($text =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger, 'json', $text, $answer->{value}) if exists $answer->{value};
}
my @bad_json = ('', ' ', '[', ']', '[1', '[1,', '[1,]', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{a:1}', '{1:1}', "'a'", '"a', '"\x"', '"\u12"', '[1 2]', '01', '1.', '.5', '+1', '1e', '-', 'nul', 'True', 'NaN', '[1]]', '1 2', "\"\n\"", "\"\xff\"", '"\ud800"', '//', '[1]/**/');
for my $text (@bad_json) {
    my $error = convert($text, 'json', 'json:typed')->{error} or next;
    line('refuse', id => 'json/' . $text =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger, do => 'read', format => 'json', bytes => describe_bytes($text), error => $error);
}

# Each wrapper, around a document that every language reads.
for my $wrap (qw(base64 base64:newlines base64url hex hex:upper hex:prefix=0x uri gzip zlib zstd slashes base64/gzip hex/zlib/base64)) {
    for my $inner ('json', 'php', 'marshal', 'sereal') {
        my $wrapped = convert('{"a":[1,"two",null]}', 'json', "$wrap/$inner");
        next if $wrapped->{error};
        (my $format = $wrap) =~ s/:[^\/]*//g;
        read_line("$wrap/$inner", "$format/$inner", $wrapped->{bytes}, { map => [['a', [1, 'two', undef]]] }, 'read-wrapped');
    }
}

# Formats with options, and formats of no language. The options are kept for reading if a reader needs
# them.
my @plain = ('[1,"two",null,[3]]', [1, 'two', undef, [3]]);
my @map   = ('{"a":[7,8]}', { map => [['a', [7, 8]]] });
my @list  = ('[7,8]', [7, 8]);
for my $case (
    (map { [$_, @plain] } split " ", q(laravel-cache/php rails-cache/marshal rails-cache:compress/marshal rails-signed:key=abc/marshal rails-signed:key=abc/json uri:as=php/json uri:as=form/json uri:as=rfc3986/json json:typed json:indent=2
        sereal:protocol=1 sereal:protocol=2 sereal:protocol=3 sereal:protocol=4 sereal:compress=zstd sereal:compress=zlib sereal:compress=snappy storable:file storable:netorder storable:version=2.12 dumper:terse,indent=0 dumper:useqq dumper:indent=3
        var-export:short var-export:file base64:wrap=8/php base64:padding=no/php base64url:padding/php gzip:level=9/marshal zlib:level=0/marshal zstd:level=19/sereal)),
    (map { [$_, @map] } qw(php-session:handler=php php-session:handler=php_binary php-session:handler=php_serialize)), ['ndjson', @list], ['pack:template=C*', @list],
) {
    my ($format, $text, $value) = @$case;
    my $written = convert($text, 'json', $format);
    die "$format: $written->{error}{kind}" if $written->{error};
    # Most options are for writing: a reader detects the form.
    my $reads = $format =~ /key=|handler=|template=|as=/ ? $format : $format =~ s/:[^\/]*//gr;
    my $inner = $reads =~ s{^.*/}{}r =~ s/:.*//r;
    if ($host_of{$inner}) { read_line($format, $reads, $written->{bytes}, $value, 'read-options') }
    else { line('read-options', id => $format, do => 'read', format => $reads, bytes => describe_bytes($written->{bytes}), value => $value) }
}
line('read-options', id => 'join', do => 'read', format => 'join:separator=","', bytes => 'a,b,,d', value => ['a', 'b', '', 'd']);

my %damage = map { $_ => 1 } 'nested', 'object', 'map', 'string keys', 'the same object', 'list', 'text', 'same keys often';
for my $seed (grep { $damage{ $_->{name} } && $_->{way} !~ /:/ } @seeds) {
    my $bytes = pack 'H*', $seed->{hex};
    damage_lines($seed->{name}, $seed->{format}, $bytes);
    line('refuse', id => "$seed->{format}/$seed->{name}, cut", do => 'cut', format => $seed->{format}, bytes => describe_bytes($bytes), classes => 'any', kinds => [qw(truncated malformed format trailing bad-link unsupported)])
        if $seed->{format} !~ /^(?:dumper|var-export|php-session)$/ && length $bytes < 300;
    line('robust-changed', id => "$seed->{format}/$seed->{name}", do => 'change', format => $seed->{format}, bytes => describe_bytes($bytes)) if length $bytes < 200;
}

# --- Writing ----------------------------------------------------------------

# Writes a line in an order that is easy to read.
sub line_text ($line) {
    my %rank;
    @rank{qw(id about hosts needs open do format classes bytes kinds value out error)} = 1 .. 13;
    return '{' . join(',', map { $json->encode($_) . ':' . $json->encode($line->{$_}) } sort { ($rank{$a} // 99) <=> ($rank{$b} // 99) || $a cmp $b } keys %$line) . "}\n";
}

for my $file (sort keys %files) {
    open my $out, '>:utf8', "$folder/$file.jsonl" or die "$file: $!";
    print $out line_text($_) for @{ $files{$file} };
    close $out or die "$file: $!";
    printf "%-20s %4d lines\n", $file, scalar @{ $files{$file} };
}
sub version (@command) { my ($first) = `@command`; return $first =~ s/\s+\z//r }
open my $manifest, '>', "$folder/manifest.tsv" or die $!;
print $manifest "file\tlines\tmade-by\n";
my %by = (perl => "perl $^V, Storable $Storable::VERSION, Sereal $Sereal::Encoder::VERSION, Data::Dumper $Data::Dumper::VERSION, JSON::PP $JSON::PP::VERSION",
    php => version('php', '-r', q('echo "PHP ".PHP_VERSION.", igbinary ".phpversion("igbinary");')), ruby => version('ruby', '-e', q('print"Ruby "+RUBY_VERSION')));
for my $file (sort keys %files) {
    my ($format) = $file =~ /^(?:read|write)-(.*)/;
    my @by = $format && $host_of{$format} ? $host_of{$format} : sort keys %by;
    print $manifest join("\t", "$file.jsonl", scalar @{ $files{$file} }, join('; ', map { $by{$_} } @by)), "\n";
}
close $manifest or die $!;
print "left out: $_: $left_out{$_}\n" for sort keys %left_out;
