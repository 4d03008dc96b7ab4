# Icecore itself: any format in, any format out, and the classes in between.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use MIME::Base64 ();
use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw store);

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

my $data = { name => 'test', list => [1, 2.5, undef, 'x'], nested => { deep => ["\x{263a}"] } };

subtest 'names and versions' => sub {
    like($Icecore::VERSION, qr/^\d+\.\d+/, 'Icecore has a version');
    is($Icecore::Storable::VERSION, $Icecore::VERSION, 'Icecore::Storable has the same version');
    is($Icecore::Sereal::VERSION, $Icecore::VERSION, 'Icecore::Sereal has the same version');
    ok(!defined &main::decode && !defined &main::encode, 'use Icecore imports nothing');
    for my $name (qw(encode_sereal decode_sereal looks_like_sereal scalar_looks_like_sereal)) {
        ok(eval "package Importer; use Icecore::Sereal qw($name); defined &$name", "Icecore::Sereal exports $name on request");
    }
    ok(eval "package Importer::Nothing; use Icecore::Sereal; !defined &encode_sereal", 'Icecore::Sereal exports nothing by default');
    like(dies(sub { eval 'use Icecore::Sereal qw(no_such_thing); 1' or die $@ }), qr/no_such_thing/, 'Icecore::Sereal refuses to export an unknown name');
    like(dies(sub { eval 'use Icecore::Storable qw(no_such_thing); 1' or die $@ }), qr/no_such_thing/, 'Icecore::Storable refuses to export an unknown name');
    like(dies(sub { eval 'use Icecore class => ["A"]; 1' or die $@ }), qr/class/, 'use Icecore refuses an unknown option');
};

subtest 'decode' => sub {
    my %bytes = (
        storable => nfreeze($data), sereal => encode_sereal($data), json => '{"name":"test","list":[1,2.5,null,"x"],"nested":{"deep":["\u263a"]}}',
    );
    is_deeply(Icecore::decode($bytes{$_}, format => $_), $data, $_) for sort keys %bytes;
    is_deeply(Icecore::decode($bytes{$_}), $data, "$_: the format is guessed") for sort keys %bytes;
    is_deeply(Icecore::decode(freeze($data)), $data, 'the format of a native image is guessed');
    my $file = scratch('file');
    store($data, $file);
    is_deeply(Icecore::decode(slurp($file)), $data, 'the format of a file is guessed');
    is_deeply(Icecore::decode(encode_sereal([('x') x 1000], { compress => $_ })), [('x') x 1000], "compress $_: the format is guessed") for 1 .. 3;
    like(dies(sub { Icecore::decode($bytes{sereal}, format => 'storable') }), qr/storable/i, 'decode refuses bytes of another format');
    like(dies(sub { Icecore::decode($bytes{sereal}, format => 'no-such-format') }), qr/no-such-format/, 'decode refuses an unknown format');
    like(dies(sub { Icecore::decode("\0\1\2") }), qr/./, 'decode refuses bytes of no known format');
    like(dies(sub { Icecore::decode($bytes{sereal}, colour => 'red') }), qr/colour/, 'decode refuses an unknown option');
    like(dies(sub { Icecore::decode($bytes{sereal}, 'format') }), qr/pairs/, 'decode refuses a name without a value');
    for my $format (sort keys %bytes) {
        my $cut = substr $bytes{$format}, 0, length($bytes{$format}) - 1;
        like(dies(sub { Icecore::decode($cut, format => $format) }), qr/\d/, "$format: the error for truncated bytes has an offset");
    }
    is_deeply(Icecore::decode('{\\"a\\":[1]}', format => 'slashes/json'), { a => [1] }, 'decode reads a wrapper around a format');
    is_deeply(Icecore::decode(MIME::Base64::encode_base64($bytes{sereal}), format => 'base64/sereal'), $data, 'decode reads a path of stages');
    is_deeply(Icecore::decode(MIME::Base64::encode_base64($bytes{sereal})), $data, 'decode guesses a wrapper');
};

subtest 'encode' => sub {
    is_deeply(thaw(Icecore::encode($data, 'storable:memory')), $data, 'encode writes an image');
    is(substr(Icecore::encode($data, 'storable'), 0, 4), 'pst0', 'encode writes a file by default');
    is_deeply(decode_sereal(Icecore::encode($data, 'sereal')), $data, 'encode writes Sereal');
    my $many = [('text') x 1000];
    my $bytes = Icecore::encode($many, 'sereal:compress=zstd');
    is(ord(substr $bytes, 4, 1) >> 4, 4, 'the spec can ask for compression');
    is_deeply(decode_sereal($bytes), $many, 'the compressed document can be read');
    like(Icecore::encode([1, 'a', undef], 'json'), qr/^\[\s*1,\s*"a",\s*null\s*\]\s*$/, 'encode writes JSON');
    is_deeply(Icecore::decode(Icecore::encode($data, 'json'), format => 'json'), $data, 'JSON is read back');
    is(Icecore::encode($data, 'base64/sereal'), MIME::Base64::encode_base64(encode_sereal($data), ''), 'encode writes a path of stages');
    is(Icecore::encode(['a'], 'laravel-cache:expires=17/json'), '0000000017["a"]', 'encode writes a wrapper around a format');
    bytes_are(Icecore::encode([1, 2], 'storable:memory,netorder'), nfreeze([1, 2]), 'encode writes the bytes of nfreeze');
    like(dies(sub { Icecore::encode($data, 'no-such-format') }), qr/no-such-format/, 'encode refuses an unknown format');
    like(dies(sub { Icecore::encode($data, 'sereal:colour=red') }), qr/colour/, 'encode refuses an unknown option');
    my $typed = Icecore::encode([bless { a => 1 }, 'A'], 'json:typed');
    like($typed, qr/"\$class":\s*"A"/, 'json:typed has the class of an object');
    is(scalar eval { ref Icecore::decode($typed, format => 'json:typed', classes => ['A'])->[0] }, 'A', 'an object in json:typed is read back') or diag($@);
};

subtest 'classes' => sub {
    my $objects = [bless({}, 'A'), bless({ in => bless [], 'B' }, 'A'), qr/x/, { list => [bless(\(my $x = 1), 'C')] }];
    for my $case (['Storable', freeze($objects)], ['network order', nfreeze($objects)], ['Sereal', encode_sereal($objects)]) {
        my ($name, $bytes) = @$case;
        my @classes = Icecore::classes($bytes);
        my %class = map { ($_->{class} => $_) } @classes;
        is_deeply([grep { $_ ne 'Regexp' } sort keys %class], [qw(A B C)], "$name: classes lists each class");
        is($class{A}{count}, 2, 'an entry has the number of objects');
        is($class{A}{path}, '$[0]', 'an entry has the path of the first object');
        is($class{B}{path}, '$[1].in', 'a class in another object is listed');
        is($class{C}{path}, '$[3].list[0]', 'a class deep in the data is listed');
        ok(length $class{$_}{kind}, "the entry of $_ has a kind") for qw(A B C);
        is_deeply([sort keys %{ $class{A} }], [qw(class count kind path)], 'an entry has four fields');
    }
    is_deeply([Icecore::classes(freeze([1, 2]))], [], 'plain data has no classes');
    like(dies(sub { Icecore::classes(substr freeze($objects), 0, 40) }), qr/./, 'truncated bytes are an error');
};

done_testing;
