#!perl -T
# Under -T: values from tainted bytes are tainted as by the originals, and so are results of
# tainted values.

use v5.30;
use warnings;

use Scalar::Util qw(tainted);
use Test::More;
use Data::Dumper ();
use Storable ();
use Icecore;
use Icecore::Dumper ();
use Icecore::JSON ();
use Icecore::Sereal ();
use Icecore::Storable ();

my $taint = substr "$0$^X", 0, 0;
plan(skip_all => 'this perl has no taint checks') if !tainted($taint);

# Returns 1 for each tainted value, 0 for others and - for undef, in the order of their keys.
sub taint_flags {
    my ($value) = @_;
    return map { taint_flags($_) } @$value if ref $value eq 'ARRAY';
    return map { taint_flags($value->{$_}) } sort keys %$value if ref $value eq 'HASH';
    return defined $value ? tainted($value) ? 1 : 0 : '-';
}

my $data    = ['text', 5, -7, 1.5, 300_000, "\x{263a}", { key => 'value' }, undef, 'x' x 300, [], '12', 12345678901234];
my $touched = ["text$taint", 5, { key => "value$taint" }];
my %pairs   = (
    Storable => [
        \&Storable::thaw, \&Icecore::Storable::thaw, Storable::freeze($data),
        \&Storable::freeze, \&Icecore::Storable::freeze
    ],
);
if (eval { require Sereal::Encoder; require Sereal::Decoder; 1 }) {
    $pairs{Sereal} = [
        \&Sereal::Decoder::decode_sereal, \&Icecore::Sereal::decode_sereal, Sereal::Encoder::encode_sereal($data),
        \&Sereal::Encoder::encode_sereal, \&Icecore::Sereal::encode_sereal
    ];
}
if (eval { require JSON::XS; JSON::XS->VERSION(4); 1 }) {
    $pairs{JSON} = [
        sub { JSON::XS::decode_json($_[0]) }, sub { Icecore::JSON::decode_json($_[0]) }, JSON::XS::encode_json($data),
        sub { JSON::XS::encode_json($_[0]) }, sub { Icecore::JSON::encode_json($_[0]) }
    ];
}
for my $name (sort keys %pairs) {
    my ($read, $our_read, $bytes, $write, $our_write) = @{ $pairs{$name} };
    is_deeply([taint_flags($our_read->($bytes . $taint))], [taint_flags($read->($bytes . $taint))], "$name: tainted bytes give tainted values as in the original");
    is_deeply([grep { $_ eq 1 } taint_flags($our_read->($bytes))], [], 'other bytes give values that are not tainted');
    is(tainted($our_write->($touched)) ? 1 : 0, tainted($write->($touched)) ? 1 : 0, 'tainted values give tainted bytes as in the original');
    is(tainted($our_write->($data)) ? 1 : 0, 0, 'other values give bytes that are not tainted');
}
is(tainted(Icecore::Dumper::Dumper($touched)) ? 1 : 0, tainted(Data::Dumper::Dumper($touched)) ? 1 : 0, 'Dumper of a tainted value is tainted as in the original');
my $dumped = '$VAR1 = ["text", 5, { key => "value" }];';
is_deeply([taint_flags(scalar Icecore::Dumper::undump($dumped . $taint))], [1, 1, 1], 'undump of a tainted text gives tainted values');
is_deeply([taint_flags(scalar Icecore::Dumper::undump($dumped))], [0, 0, 0], 'undump of another text gives values that are not tainted');
is_deeply([taint_flags([Icecore::unpack_list('A1 n', "abc$taint")])], [taint_flags([unpack 'A1 n', "abc$taint"])], 'unpack_list of tainted bytes is tainted as unpack');
is_deeply([taint_flags([Icecore::unpack_list('A1 n', 'abc')])], [0, 0], 'unpack_list of other bytes is not tainted');
is(tainted(Icecore::pack_list('A2 n', "ab$taint", 5)), tainted(pack 'A2 n', "ab$taint", 5), 'pack_list of tainted values is tainted as pack');
is_deeply([taint_flags(Icecore::decode('{"a":["b",1]}' . $taint))], [1, 1], 'decode of a tainted text gives tainted values');
for (['old', 'new', "old$taint"], ["old$taint", 'new', 'old'], ['old', "new$taint", 'old'], ["old$taint", 'x', 'y']) {
    is(tainted(Icecore::replace(@$_)) ? 1 : 0, 1, 'replace with a tainted argument gives a tainted text');
}
is(tainted(Icecore::replace('old', 'new', 'old')) ? 1 : 0, 0, 'replace without a tainted argument gives a text that is not tainted');

my $file = "taint.$$";
Storable::store($data, $file);
is_deeply([taint_flags(Icecore::Storable::retrieve($file))], [taint_flags(Storable::retrieve($file))], 'retrieve is tainted as in the original');
for my $read (\&Storable::fd_retrieve, \&Icecore::Storable::fd_retrieve) {
    open my $in, '<', $file or die $!;
    binmode $in;
    is_deeply([grep { $_ eq 1 } taint_flags($read->($in))], [], 'values of fd_retrieve are not tainted');
}
unlink $file;

done_testing;
