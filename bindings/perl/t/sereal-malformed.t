# Documents that are truncated, changed or invalid. The original reads beyond the end of some of
# them, so only Icecore is tested.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Classes;
use Malformed;
use Structures;

my @samples = (qw(
    integers/together floats/together strings/together texts/together arrays/mixed hashes/mixed keys/every
    records/configuration records/tree references/to-element-with-reference shared/leaf cycles/ring weak/tree
    aliases/many objects/bodies classes/length-257 regexps/groups callbacks/list callbacks/shared-inside chance/3 chance/8
));
my %options = (
    plain => {}, canonical => { canonical => 1 }, dedupe_strings => { dedupe_strings => 1 }, 'protocol 1' => { protocol_version => 1 },
    zlib => { compress => 2, compress_threshold => 0 }, zstd => { compress => 3, compress_threshold => 0 }, snappy => { compress => 1, compress_threshold => 0 },
);

my $HEADER = "=\xf3rl\5\0";

our_sereal('every truncation' => sub {
    my ($m) = @_;
    my $count;
    for my $options (sort keys %options) {
        my @quiet;
        for my $name (@samples) {
            my $structure = Structures::named($name);
            my %encode    = (%{ $options{$options} }, $structure->{freezes} ? (freeze_callbacks => 1) : ());
            next if $structure->{freezes} && $encode{protocol_version};
            my $bytes = $m->encode($structure->{make}->(), \%encode);
            for_each_truncation($bytes, 600, sub {
                my ($length, $cut) = @_;
                $count++;
                push @quiet, "$name at $length of " . length $bytes unless $m->dies(sub { $m->decode($cut) });
            });
        }
        is(first_items(@quiet), '', "every truncation is refused, $options");
    }
    cmp_ok($count, '>', 5000, "there are $count truncations");
});

our_sereal('every byte changed' => sub {
    my ($m) = @_;
    my ($read, $died) = (0, 0);
    for my $name (qw(arrays/mixed keys/every objects/bodies regexps/groups weak/tree aliases/many callbacks/shared-inside shared/leaf)) {
        my $bytes = $m->encode(Structures::named($name)->{make}->(), { freeze_callbacks => 1, dedupe_strings => 1 });
        my @counts = for_each_change($bytes, [1, 0x80, 0xff, 7, 0x20], sub { $m->decode($_[0]) });
        $died += $counts[0];
        $read += $counts[1];
    }
    cmp_ok($died, '>', 500, "$died changes are errors");
    cmp_ok($read, '>', 100, "$read changes give another value");
    is_deeply($m->decode($m->encode([1])), [1], 'the next call works');
});

our_sereal('lengths that are too large' => sub {
    my ($m) = @_;
    my $huge = "\xff\xff\xff\xff\x07";         # 2^31-1
    my $more = "\xff" x 9 . "\1";              # 2^64-1
    my %lies = map {
        my ($name, $tag, $rest) = @$_;
        ("$name of 2^31-1" => "$tag$huge$rest", "$name of 2^64-1" => "$tag$more$rest");
    } ['an array', "\x28\x2b", ''], ['a hash', "\x28\x2a", ''], ['a string', "\x26", 'abc'], ['a text', "\x27", 'abc'],
      ['a class name', "\x2c\x26", 'A'], ['a key', "\x51\x26", 'k'], ['a pattern', "\x2cfRegexp\x28\x31\x26", 'a'],
      ['a copy', "\x2f", ''], ['an alias', "\x41\x2e", ''], ['a reference', "\x29", ''], ['an object with a class', "\x2d", "\x50"];
    $lies{'arrays in arrays'} = "\x28\x2b\xff\xff\x03" x 20_000;
    $lies{'a varint without end'} = "\x20" . "\xff" x 40;
    uses_little_memory(sub {
        like($m->dies(sub { $m->decode($HEADER . $lies{$_}) }), qr/./, $_) for sort keys %lies;
        # Compressed bodies with their future size.
        like($m->dies(sub { $m->decode("=\xf3rl\x35\0$huge\x05abcde") }), qr/./, 'a wrong zlib length is refused');
        like($m->dies(sub { $m->decode("=\xf3rl\x25\0\x07${huge}ab") }), qr/./, 'a wrong snappy length is refused');
        like($m->dies(sub { $m->decode("=\xf3rl\x45\0\x0d\x28\xb5\x2f\xfd\xe0" . "\xff\xff\xff\x7f\0\0\0\0" . 'x') }), qr/./, 'a wrong zstd length is refused');
        like($m->dies(sub { $m->decode("=\xf3rl\5$huge") }), qr/./, 'a wrong header length is refused');
    });
});

our_sereal('tags and offsets that are invalid' => sub {
    my ($m) = @_;
    my %wrong = (
        'nothing'                     => '',
        'a reserved tag'              => "\x36",
        'MANY'                        => "\x3c",
        'a packet in a packet'        => "\x3d",
        'EXTEND'                      => "\x3e",
        'pads and nothing else'       => "\x3f\x3f\x3f",
        'a copy of itself'            => "\x42\1\x2f\3",
        'a copy of what comes'        => "\x42\x2f\3\1",
        'a copy of 0'                 => "\x41\x2f\0",
        'a copy of what contains it'  => "\x41\x2f\1",
        'a copy that reaches into itself' => "\x42\x61a\x2f\3",
        'a copy that runs off the end' => "\x42\x7fabc\x2f\2",
        'a copy of a copy'            => "\x43\x61a\x2f\2\x2f\4",
        'a reference to what is not tracked' => "\x42\1\x29\2",
        'a reference to what comes'   => "\x42\x29\3\x81",
        'an alias of what is not tracked' => "\x42\1\x2e\2",
        'an alias as the root'        => "\x2e\1",
        'an alias through a reference' => "\x42\x81\x28\x2e\2",
        'a class that is a number'    => "\x2c\1\x50",
        'a link to a class that is not one' => "\x42\x61A\x2d\2\x50",
        'an object that is a number'  => "\x2c\x61A\1",
        'a weak number'               => "\x30\1",
        'a key that is a number'      => "\x51\1\2",
        'a key that is an array'      => "\x51\x40\2",
        'a regexp without a pattern'  => "\x28\x31",
        'a regexp with a number for modifiers' => "\x28\x31\x61a\1",
        'a regexp with an unknown modifier' => "\x2cfRegexp\x28\x31\x61a\x61Z",
        'a frozen object with a number' => "\x32\x61A\1",
        'a frozen object with a hash' => "\x32\x61A\x50",
        'a header that is longer than all' => undef,
    );
    for my $name (sort keys %wrong) {
        my @warnings;
        local $SIG{__WARN__} = sub { push @warnings, @_ };
        my $bytes = defined $wrong{$name} ? $HEADER . $wrong{$name} : "=\xf3rl\5\x7fabc";
        like($m->dies(sub { $m->decode($bytes) }), qr/./, $name);
        is("@warnings", '', 'there are no warnings');
    }
});

our_sereal('copies of copies of copies' => sub {
    my ($m) = @_;
    # Ten copies of ten copies of ten ...: 10^10 elements from 200 bytes.
    my $error = $m->dies(sub { $m->decode($HEADER . nested_copies()) });
    like($error, qr/./, 'copies of copies are refused before they take all the memory');
});

# A COPY must not occur in copied data, so a reader that follows the rule stops at the second
# level.
sub nested_copies {
    my ($body, $at) = ("\x4a", 2);
    my $item = "\x4a" . "\1" x 10;
    for my $level (1 .. 9) {
        $body .= $item;
        my $copies = "\x4a" . ("\x2f" . chr $at) x 10;
        $at += length $item;
        $item = $copies;
    }
    return $body . $item;
}

our_sereal('depth' => sub {
    my ($m) = @_;
    my %deep = (
        arrays     => "\x41" x 300_000 . "\1",
        references => "\x28" x 1_000_000 . "\1",
        hashes     => "\x51\x61k" x 200_000 . "\1",
        objects    => "\x2c\x61A\x41" . "\x2d\2\x41" x 200_000 . "\1",
        frozen     => "\x32\x61A\x41" . "\x33\2\x41" x 100_000 . "\1",
        weak       => "\x30\x28" x 200_000 . "\1",
        pads       => "\x3f" x 1_000_000,
    );
    for my $kind (sort keys %deep) {
        like($m->dies(sub { $m->decode($HEADER . $deep{$kind}) }), qr/./, "$kind in $kind is refused without a crash");
        next if $kind eq 'pads';
        like($m->dies(sub { $m->decode($HEADER . $deep{$kind}, { max_recursion_depth => 50_000 }) }), qr/./, "$kind in $kind is refused with a higher limit too");
    }
});

our_sereal('headers' => sub {
    my ($m) = @_;
    for my $bytes ('', '=', '=srl', "=srl\1", "=srl\5\0\1", "=\xf3rl\1\0\1", "=\xf3rl\0\0\1", "=\xf3rl\6\0\1", "=\xf3rl\x55\0\1", "=\xf3rl\xf5\0\1",
                   "=\xf3rl\5", "=\xf3rl\5\0", "=\xf3rl\5\1", "=\xf3rl\5\1\1", "=\xf3rl\5\xff\xff", "=\xf3rl\x15\0\1", 'x' x 100) {
        like($m->dies(sub { $m->decode($bytes) }), qr/./, 'header ' . unpack('H*', substr $bytes, 0, 12));
        like($m->dies(sub { $m->decode_with_header($bytes) }), qr/./, 'a wrong header is refused by decode_with_header');
    }
});

our_sereal('a body that is compressed incorrectly' => sub {
    my ($m) = @_;
    for my $compress (1, 2, 3) {
        my $bytes = $m->encode([('text') x 1000], { compress => $compress });
        my ($died) = for_each_change(substr($bytes, 6), [0x55], sub { $m->decode(substr($bytes, 0, 6) . $_[0]) });
        cmp_ok($died, '>', (length($bytes) - 6) / 3, "compress $compress, $died of " . (length($bytes) - 6) . ' changes are errors');
        is(@{ $m->decode($bytes) }, 1000, 'the unchanged document is read');
    }
});

done_testing;
