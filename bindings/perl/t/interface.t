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

subtest 'names' => sub {
    like($Icecore::VERSION, qr/^\d+\.\d+/, 'the version');
    is($Icecore::Storable::VERSION, $Icecore::VERSION, 'is that of Icecore::Storable');
    is($Icecore::Sereal::VERSION, $Icecore::VERSION, 'and of Icecore::Sereal');
    ok(!defined &main::decode && !defined &main::encode, 'use Icecore imports nothing');
    for my $name (qw(encode_sereal decode_sereal looks_like_sereal scalar_looks_like_sereal)) {
        ok(eval "package Importer; use Icecore::Sereal qw($name); defined &$name", "Icecore::Sereal exports $name");
    }
    ok(eval "package Importer::Nothing; use Icecore::Sereal; !defined &encode_sereal", 'on request only');
    like(dies(sub { eval 'use Icecore::Sereal qw(no_such_thing); 1' or die $@ }), qr/no_such_thing/, 'and nothing else');
    like(dies(sub { eval 'use Icecore::Storable qw(no_such_thing); 1' or die $@ }), qr/no_such_thing/, 'nor does Icecore::Storable');
    like(dies(sub { eval 'use Icecore class => ["A"]; 1' or die $@ }), qr/class/, 'an option that is none');
};

subtest 'decode' => sub {
    my %bytes = (
        storable => nfreeze($data), sereal => encode_sereal($data), json => '{"name":"test","list":[1,2.5,null,"x"],"nested":{"deep":["\u263a"]}}',
    );
    is_deeply(Icecore::decode($bytes{$_}, format => $_), $data, $_) for sort keys %bytes;
    is_deeply(Icecore::decode($bytes{$_}), $data, "$_, guessed") for sort keys %bytes;
    is_deeply(Icecore::decode(freeze($data)), $data, 'a native image, guessed');
    my $file = scratch('file');
    store($data, $file);
    is_deeply(Icecore::decode(slurp($file)), $data, 'a file, guessed');
    is_deeply(Icecore::decode(encode_sereal([('x') x 1000], { compress => $_ })), [('x') x 1000], "compress $_, guessed") for 1 .. 3;
    like(dies(sub { Icecore::decode($bytes{sereal}, format => 'storable') }), qr/storable/i, 'another format than it is');
    like(dies(sub { Icecore::decode($bytes{sereal}, format => 'no-such-format') }), qr/no-such-format/, 'a format that is none');
    like(dies(sub { Icecore::decode("\0\1\2") }), qr/./, 'bytes of no format');
    like(dies(sub { Icecore::decode($bytes{sereal}, colour => 'red') }), qr/colour/, 'an option that is none');
    like(dies(sub { Icecore::decode($bytes{sereal}, 'format') }), qr/pairs/, 'a name without a value');
    for my $format (sort keys %bytes) {
        my $cut = substr $bytes{$format}, 0, length($bytes{$format}) - 1;
        like(dies(sub { Icecore::decode($cut, format => $format) }), qr/\d/, "$format that is cut says where");
    }
    is_deeply(Icecore::decode('{\\"a\\":[1]}', format => 'slashes/json'), { a => [1] }, 'a wrapper and a format');
    is_deeply(Icecore::decode(MIME::Base64::encode_base64($bytes{sereal}), format => 'base64/sereal'), $data, 'a path of stages');
    is_deeply(Icecore::decode(MIME::Base64::encode_base64($bytes{sereal})), $data, 'which is found out too');
};

subtest 'encode' => sub {
    is_deeply(thaw(Icecore::encode($data, 'storable:memory')), $data, 'an image');
    is(substr(Icecore::encode($data, 'storable'), 0, 4), 'pst0', 'a file');
    is_deeply(decode_sereal(Icecore::encode($data, 'sereal')), $data, 'Sereal');
    my $many = [('text') x 1000];
    my $bytes = Icecore::encode($many, 'sereal:compress=zstd');
    is(ord(substr $bytes, 4, 1) >> 4, 4, 'compressed');
    is_deeply(decode_sereal($bytes), $many, 'which can be read');
    like(Icecore::encode([1, 'a', undef], 'json'), qr/^\[\s*1,\s*"a",\s*null\s*\]\s*$/, 'JSON');
    is_deeply(Icecore::decode(Icecore::encode($data, 'json'), format => 'json'), $data, 'and back');
    is(Icecore::encode($data, 'base64/sereal'), MIME::Base64::encode_base64(encode_sereal($data), ''), 'a path of stages');
    is(Icecore::encode(['a'], 'laravel-cache:expires=17/json'), '0000000017["a"]', 'a wrapper and a format');
    bytes_are(Icecore::encode([1, 2], 'storable:memory,netorder'), nfreeze([1, 2]), 'as nfreeze does');
    like(dies(sub { Icecore::encode($data, 'no-such-format') }), qr/no-such-format/, 'a format that is none');
    like(dies(sub { Icecore::encode($data, 'sereal:colour=red') }), qr/colour/, 'an option that is none');
    my $typed = Icecore::encode([bless { a => 1 }, 'A'], 'json:typed');
    like($typed, qr/"\$class":\s*"A"/, 'an object in json:typed');
    is(scalar eval { ref Icecore::decode($typed, format => 'json:typed', classes => ['A'])->[0] }, 'A', 'comes back as one') or diag($@);
};

subtest 'classes' => sub {
    my $objects = [bless({}, 'A'), bless({ in => bless [], 'B' }, 'A'), qr/x/, { list => [bless(\(my $x = 1), 'C')] }];
    for my $case (['Storable', freeze($objects)], ['network order', nfreeze($objects)], ['Sereal', encode_sereal($objects)]) {
        my ($name, $bytes) = @$case;
        my @classes = Icecore::classes($bytes);
        my %class = map { ($_->{class} => $_) } @classes;
        is_deeply([grep { $_ ne 'Regexp' } sort keys %class], [qw(A B C)], "$name: the classes");
        is($class{A}{count}, 2, 'how often');
        is($class{A}{path}, '$[0]', 'where first');
        is($class{B}{path}, '$[1].in', 'inside another');
        is($class{C}{path}, '$[3].list[0]', 'deep');
        ok(length $class{$_}{kind}, "the kind of $_") for qw(A B C);
        is_deeply([sort keys %{ $class{A} }], [qw(class count kind path)], 'and nothing else');
    }
    is_deeply([Icecore::classes(freeze([1, 2]))], [], 'of plain data: none');
    like(dies(sub { Icecore::classes(substr freeze($objects), 0, 40) }), qr/./, 'of what is cut: an error');
};

done_testing;
