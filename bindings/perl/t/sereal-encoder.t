# The options of the encoder.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Classes;
use Same;
use Structures;

use constant { RAW => 0, SNAPPY => 1, ZLIB => 2, ZSTD => 3 };

sub version_of  { return ord(substr $_[0], 4, 1) & 15 }
sub encoding_of { return ord(substr $_[0], 4, 1) >> 4 }

my $compressible = [('some text') x 1000];

both_sereal('a document' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([1, 'a']);
    bytes_are($bytes, "=\xf3rl\5\0\x42\1\x61a", 'a document has a magic number, a version and a body');
    is_deeply($m->decode($bytes), [1, 'a'], 'a document is read back');
    bytes_are($m->encode(5), "=\xf3rl\5\0\5", 'a value that is not a reference can be encoded');
    bytes_are($m->encode(undef), "=\xf3rl\5\0\x39", "perl's own undef can be encoded");
    is($m->decode($m->encode('text')), 'text', 'a string is read back');
    is($m->decode($m->encode(undef)), undef, 'undef is read back');
});

both_sereal('protocol_version' => sub {
    my ($m) = @_;
    my $data = { list => [1 .. 20], name => 'x', text => "\x{263a}", object => bless([1], 'A') };
    for my $version (1 .. 5) {
        my $bytes = $m->encode($data, { protocol_version => $version });
        is(version_of($bytes), $version, "protocol_version $version is written");
        is(substr($bytes, 0, 4), $version < 3 ? '=srl' : "=\xf3rl", "version $version has its magic number");
        same_ok($m->decode($bytes), $data, "version $version is read back");
    }
    is(version_of($m->encode($data, { use_protocol_v1 => 1 })), 1, 'use_protocol_v1 writes version 1');
    for my $not (0, 6, 99) {
        like($m->dies(sub { $m->encode($data, { protocol_version => $not }) }), qr/Specified Sereal protocol version \('?$not'?\) is invalid/, "protocol_version $not is refused");
    }
});

both_sereal('compress' => sub {
    my ($m) = @_;
    my $plain = length $m->encode($compressible);
    for my $how ([SNAPPY, 2], [ZLIB, 3], [ZSTD, 4]) {
        my ($option, $encoding) = @$how;
        my $bytes = $m->encode($compressible, { compress => $option });
        is(encoding_of($bytes), $encoding, "compress $option is written");
        cmp_ok(length $bytes, '<', $plain / 4, 'compressed data is smaller');
        is_deeply($m->decode($bytes), $compressible, 'compressed data is read back');
        is(encoding_of($m->encode([1, 2], { compress => $option })), 0, 'compress leaves small data as it is');
        my $medium = [('text') x 100];
        is(encoding_of($m->encode($medium, { compress => $option })), 0, 'compress leaves data below 1024 bytes as it is');
        is(encoding_of($m->encode($medium, { compress => $option, compress_threshold => 100 })), $encoding, 'compress_threshold lowers the limit');
        is(encoding_of($m->encode([1], { compress => $option, compress_threshold => 0 })), 0, 'data that would grow is not compressed');
    }
    is(encoding_of($m->encode($compressible, { compress => RAW })), 0, 'compress 0 does not compress');
    is(encoding_of($m->encode($compressible, { snappy => 1 })), 2, 'snappy compresses');
    is(encoding_of($m->encode($compressible, { snappy_incr => 1 })), 2, 'snappy_incr compresses');
    is(encoding_of($m->encode([('text') x 100], { snappy => 1, snappy_threshold => 100 })), 2, 'snappy_threshold lowers the limit');
    is(encoding_of($m->encode($compressible, { snappy => 1, protocol_version => 1 })), 1, 'snappy compresses in version 1');
    is(encoding_of($m->encode($compressible, { snappy_incr => 1, protocol_version => 1 })), 2, 'snappy_incr compresses in version 1');
    is_deeply($m->decode($m->encode($compressible, { snappy => 1, protocol_version => 1 })), $compressible, 'a compressed document of version 1 is read back');
    like($m->dies(sub { $m->encode($compressible, { compress => 9 }) }), qr/Invalid Sereal compression format/, 'an unknown number for compress is refused');
    like($m->dies(sub { $m->encode($compressible, { compress => ZLIB, protocol_version => 2 }) }), qr/Zlib compression was introduced in protocol version 3/, 'zlib is refused before version 3');
    like($m->dies(sub { $m->encode($compressible, { compress => ZSTD, protocol_version => 2 }) }), qr/zstd compression was introduced/i, 'zstd is refused before version 3');

    my $numbers = [map { $_ * 7919 % 1000 } 1 .. 3000];
    cmp_ok(length $m->encode($numbers, { compress => ZLIB, compress_level => 9 }), '<=',
        length $m->encode($numbers, { compress => ZLIB, compress_level => 1 }), 'compress_level of zlib');
    is_deeply($m->decode($m->encode($numbers, { compress => ZSTD, compress_level => 10 })), $numbers, 'compress_level 10 is accepted for zstd');
    like($m->dies(sub { $m->encode($numbers, { compress => ZLIB, compress_level => 99 }) }), $m->says(qr/'compress_level' needs to be between 1 and 9/, qr/level.*99/), 'compress_level 99 is refused for zlib');
});

both_sereal('sort_keys' => sub {
    my ($m) = @_;
    my @keys  = ('b', 'a', 'ccc', 'aa', '10', '9', 'B', '', "\x{e9}a");
    my %hash  = map { ($_ => 1) } @keys;
    my $order = sub {
        my ($bytes) = @_;
        my %at = map { my $key = $_; utf8::encode($key) if utf8::is_utf8($_); ($_ => length $_ ? index $bytes, (chr(0x60 + length $key) . $key) : 0) } @keys;
        return join ' ', sort { $at{$a} <=> $at{$b} } grep { length } @keys;
    };
    is($order->($m->encode(\%hash, { sort_keys => 1 })), join(' ', sort { length $a <=> length $b || $a cmp $b } grep { length } @keys), 'sort_keys 1 sorts by length, then by bytes');
    is($order->($m->encode(\%hash, { sort_keys => 2 })), join(' ', sort { $a cmp $b } grep { length } @keys), 'sort_keys 2 sorts as sort does');
    is($order->($m->encode(\%hash, { sort_keys => 3 })), join(' ', reverse sort { $a cmp $b } grep { length } @keys), 'sort_keys 3 sorts in reverse');
    my %large = map { ("key $_" => [$_]) } 1 .. 100;
    my %other;
    $other{$_} = $large{$_} for reverse sort keys %large;
    for my $option ({ sort_keys => 1 }, { sort_keys => 2 }, { sort_keys => 3 }, { canonical => 1 }) {
        my ($name) = map { "$_ $option->{$_}" } keys %$option;
        bytes_are($m->encode(\%large, $option), $m->encode(\%other, $option), "$name: equal data gives equal bytes");
        is_deeply($m->decode($m->encode(\%large, $option)), \%large, "$name: the data is read back");
    }
    ok($m->encode(\%large) ne $m->encode({ %large, x => 1 }), 'other data gives other bytes');
});

both_sereal('canonical_refs' => sub {
    my ($m) = @_;
    my $x = [1];
    my $y = $x;    # another reference to it
    my $double = [$x];
    bytes_are($m->encode($double), "=\xf3rl\5\0\x41\x28\x2b\1\1", 'an array with two references is an ARRAY after REFN');
    # A structure that is made in the same statement has temporary references.
    my $single = [[1]];
    bytes_are($m->encode($single), "=\xf3rl\5\0\x41\x41\1", 'an array with one reference uses the short form');
    bytes_are($m->encode([[1]], { canonical_refs => 1 }), "=\xf3rl\5\0\x28\x2b\1\x28\x2b\1\1", 'canonical_refs avoids the short form');
    bytes_are($m->encode([$x], { canonical => 1 }), $m->encode([[1]], { canonical => 1 }), 'canonical gives equal bytes for equal arrays');
    my $z = { a => [] };
    my $w = $z;
    bytes_are($m->encode($z, { canonical => 1 }), $m->encode({ a => [] }, { canonical => 1 }), 'canonical gives equal bytes for equal hashes');
    ok($m->encode($z, { canonical => 1, canonical_refs => 0, sort_keys => 0 }) ne $m->encode({ a => [] }, { canonical => 1 }), 'options in the call override canonical');
});

both_sereal('no_shared_hashkeys' => sub {
    my ($m) = @_;
    my $data  = [map { { some_long_key => $_, another_long_key => $_ } } 1 .. 10];
    my $short = $m->encode($data);
    my $long  = $m->encode($data, { no_shared_hashkeys => 1 });
    is(scalar(() = $short =~ /some_long_key/g), 1, 'a key is written once by default');
    is(scalar(() = $long =~ /some_long_key/g), 10, 'no_shared_hashkeys writes a key each time');
    is_deeply($m->decode($short), $data, 'data with shared keys is read back');
    is_deeply($m->decode($long), $data, 'data without shared keys is read back');
});

both_sereal('dedupe_strings' => sub {
    my ($m) = @_;
    my $data   = [('a string of some length') x 10, ('abc') x 5];
    my $plain  = $m->encode($data);
    my $dedupe = $m->encode($data, { dedupe_strings => 1 });
    is(scalar(() = $plain =~ /a string/g), 10, 'equal values are written each time by default');
    is(scalar(() = $dedupe =~ /a string/g), 1, 'dedupe_strings writes equal values once');
    is(scalar(() = $dedupe =~ /abc/g), 5, 'dedupe_strings writes short strings each time');
    my $copy = $m->decode($dedupe);
    is_deeply($copy, $data, 'data with dedupe_strings is read back');
    $copy->[0] = 'new';
    is($copy->[1], 'a string of some length', 'values with dedupe_strings are separate variables');

    my $aliased = $m->encode($data, { aliased_dedupe_strings => 1 });
    is(scalar(() = $aliased =~ /a string/g), 1, 'aliased_dedupe_strings writes equal values once');
    $copy = $m->decode($aliased);
    is_deeply($copy, $data, 'data with aliased_dedupe_strings is read back');
    is(\$copy->[0], \$copy->[9], 'aliased_dedupe_strings gives one variable for equal strings');
    isnt(\$copy->[10], \$copy->[11], 'aliased_dedupe_strings gives separate variables for short strings');
    ok($m->encode($data, { aliased_dedupe_strings => 1, dedupe_strings => 1 }) eq $aliased, 'aliased_dedupe_strings overrides dedupe_strings');
    my $records = [map { { kind => 'the same kind', name => "name $_" } } 1 .. 5];
    is(scalar(() = $m->encode($records, { dedupe_strings => 1 }) =~ /the same kind/g), 1, 'dedupe_strings applies to values of hashes');
});

both_sereal('croak_on_bless' => sub {
    my ($m) = @_;
    my $refuses = qr/Attempted to serialize blessed reference.*'croak_on_bless'/s;
    like($m->dies(sub { $m->encode([bless {}, 'A'], { croak_on_bless => 1 }) }), $refuses, 'croak_on_bless refuses objects');
    like($m->dies(sub { $m->encode([qr/x/], { croak_on_bless => 1 }) }), $refuses, 'croak_on_bless refuses regexps, which are objects');
    like($m->dies(sub { $m->encode([bless {}, 'A'], { croak_on_bless => 1, no_bless_objects => 1 }) }), $refuses, 'croak_on_bless overrides no_bless_objects');
    is_deeply($m->decode($m->encode([{ a => 1 }], { croak_on_bless => 1 })), [{ a => 1 }], 'croak_on_bless accepts data without objects');
});

both_sereal('no_bless_objects' => sub {
    my ($m) = @_;
    my $data = [bless({ a => bless [1], 'B' }, 'A'), bless(\(my $x = 'x'), 'C')];
    my $copy = $m->decode($m->encode($data, { no_bless_objects => 1 }));
    is_deeply([map { ref } @$copy, $copy->[0]{a}], [qw(HASH SCALAR ARRAY)], 'no_bless_objects leaves out the classes');
    is_deeply($copy, [{ a => [1] }, \'x'], 'no_bless_objects keeps the values');
    my $shared = bless [1], 'A';
    $copy = $m->decode($m->encode([$shared, $shared], { no_bless_objects => 1 }));
    is($copy->[0], $copy->[1], 'no_bless_objects keeps shared values shared');
    like($m->dies(sub { $m->encode([], { no_bless_objects => 1, freeze_callbacks => 1 }) }), qr/mutually exclusive/, 'no_bless_objects and freeze_callbacks exclude each other');
});

both_sereal("values that Sereal can't represent" => sub {
    my ($m) = @_;
    my $data = [1, sub { 1 }, \*STDOUT, 2];
    like($m->dies(sub { $m->encode($data) }), qr/CODE\(0x[0-9a-f]+\), but it is not representable by the Sereal encoding format/, 'code is refused');
    like($m->dies(sub { $m->encode([\*STDOUT]) }), qr/GLOB\(0x[0-9a-f]+\), but it is not representable/, 'a glob is refused');
    like($m->dies(sub { $m->encode([*STDOUT{IO}]) }), qr/not representable/, 'a file handle is refused');

    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    is_deeply($m->decode($m->encode($data, { undef_unknown => 1 })), [1, undef, undef, 2], 'undef_unknown writes undef');
    my $copy = $m->decode($m->encode($data, { stringify_unknown => 1 }));
    like($copy->[1], qr/^CODE\(0x[0-9a-f]+\)$/, 'stringify_unknown writes code as a string');
    like($copy->[2], qr/^GLOB\(0x[0-9a-f]+\)$/, 'stringify_unknown writes a glob as a string');
    is("$copy->[0] $copy->[3]", '1 2', 'stringify_unknown keeps the other values');
    is("@warnings", '', 'stringify_unknown gives no warning');

    for my $option ('undef_unknown', 'stringify_unknown') {
        @warnings = ();
        $m->encode($data, { $option => 1, warn_unknown => 1 });
        is(@warnings, 2, "$option with warn_unknown warns for each value");
        like($warnings[0], qr/CODE\(0x[0-9a-f]+\), but it is not representable.*will encode as/, "$option with warn_unknown names the value in the warning");
    }
    my $over = bless sub { 1 }, 'Over::Code';
    is($m->decode($m->encode([$over], { stringify_unknown => 1 }))->[0], 'code with a name', 'stringify_unknown uses overloading');
    @warnings = ();
    $m->encode([$over], { stringify_unknown => 1, warn_unknown => 1 });
    is(@warnings, 1, 'warn_unknown 1 warns about an overloaded object');
    @warnings = ();
    $m->encode([$over], { stringify_unknown => 1, warn_unknown => -1 });
    is(@warnings, 0, 'warn_unknown -1 does not warn about an overloaded object');
    $m->encode([sub { 1 }], { stringify_unknown => 1, warn_unknown => -1 });
    is(@warnings, 1, 'warn_unknown -1 warns about other values');
    like($m->dies(sub { $m->encode([], { undef_unknown => 1, stringify_unknown => 1 }) }), qr/mutually exclusive/, 'undef_unknown and stringify_unknown exclude each other');
});

both_sereal('max_recursion_depth' => sub {
    my ($m) = @_;
    my @kinds = (['arrays', sub { [$_[0]] }], ['hashes', sub { { a => $_[0] } }], ['objects', sub { bless [$_[0]], 'A' }]);
    for my $kind (@kinds) {
        my ($name, $wrap) = @$kind;
        like($m->dies(sub { $m->encode(Structures::nested(40, $wrap, 1), { max_recursion_depth => 20 }) }),
            qr/Hit maximum recursion depth \(20\), aborting serialization/, "40 $name in each other are too deep for 20");
        ok($m->encode(Structures::nested(8, $wrap, 1), { max_recursion_depth => 20 }), '8 levels are below the limit');
        ok($m->encode([map { Structures::nested(2, $wrap, 1) } 1 .. 50], { max_recursion_depth => 20 }), '50 values on one level are below the limit');
    }
    my $deep = Structures::nested(9_000, sub { [$_[0]] }, 1);
    my $encoder = $m->encoder({ max_recursion_depth => 20 });
    ok($m->dies(sub { $encoder->encode($deep) }), 'data above the limit is refused by an encoder');
    is_deeply($m->decode($encoder->encode([1])), [1], 'the encoder works after the error');
    ok($m->encode($deep), '9,000 levels are accepted by default');
    like($m->dies(sub { $m->encode(Structures::nested(10_100, sub { [$_[0]] }, 1)) }), qr/Hit maximum recursion depth \(10000\)/, '10,100 levels are refused by default');
});

both_sereal('strings and numbers' => sub {
    my ($m) = @_;
    my $data = [0, 15, 16, -1, -16, -17, 1 << 40, 18_446_744_073_709_551_615, -9_223_372_036_854_775_807 - 1, 0.5, 0.1, 1e300, '42', '1.5', 'x' x 31, 'x' x 32];
    same_ok($m->decode($m->encode($data)), $data, 'strings and numbers are read back unchanged');
    bytes_are($m->encode([0.5]), "=\xf3rl\5\0\x41\x22" . pack('f<', 0.5), 'a float that fits into 32 bits takes 32 bits');
    bytes_are($m->encode([0.1]), "=\xf3rl\5\0\x41\x23" . pack('d<', 0.1), 'another float takes 64 bits');
    bytes_are($m->encode(["\x{263a}"]), "=\xf3rl\5\0\x41\x27\3\xe2\x98\xba", 'text is written with its own tag');
    bytes_are($m->encode(["caf\xe9"]), "=\xf3rl\5\0\x41\x64caf\xe9", 'bytes are written as a binary string');
    my ($infinity, $nan) = (9**9**9, -sin(9**9**9));
    my $copy = $m->decode($m->encode([$infinity, -$infinity, $nan]));
    is("$copy->[0] $copy->[1]", "$infinity -$infinity", 'infinity is read back');
    ok($copy->[2] != $copy->[2], 'not a number is read back');
});

both_sereal('booleans' => sub {
    my ($m) = @_;
    plan(skip_all => 'needs perl 5.36') if $] < 5.036;
    no warnings;
    my $bytes = $m->encode([!!1, !!0, 1, '']);
    my $copy  = $m->decode($bytes);
    is(join(' ', map { builtin::is_bool($_) ? 1 : 0 } @$copy), '1 1 0 0', 'booleans are read back as booleans');
    $copy = $m->decode($m->encode([!!1, !!0], { protocol_version => 4 }));
    is(join(' ', map { builtin::is_bool($_) ? 1 : 0 } @$copy), '0 0', 'version 4 has no booleans');
    is_deeply($copy, [1, ''], 'booleans in version 4 are read back as 1 and the empty string');
});

both_sereal('encoders' => sub {
    my ($m) = @_;
    my $encoder = $m->encoder({ sort_keys => 1 });
    isa_ok($encoder, $m->encoder_class);
    bytes_are($encoder->encode({ b => 1, a => 2 }), $m->encode({ b => 1, a => 2 }, { sort_keys => 1 }), 'an encoder has the options of the function');
    bytes_are($encoder->encode([$_]), $m->encode([$_]), "an encoder can be used again, $_") for 1 .. 3;
    ok($m->dies(sub { $encoder->encode([sub { 1 }]) }), 'an encoder reports an error');
    bytes_are($encoder->encode({ b => 1, a => 2 }), $m->encode({ b => 1, a => 2 }, { sort_keys => 1 }), 'an encoder works after an error');
    my $shared = [1];
    bytes_are($encoder->encode([$shared, $shared]), $m->encode([$shared, $shared]), 'an encoder writes shared values as the function does');
    bytes_are($encoder->encode([$shared]), $m->encode([$shared]), 'an encoder forgets the shared values of the last document');
    like($m->dies(sub { $m->encoder_class->new([]) }), qr/not a HASH reference/i, 'options of an encoder that are not a hash are refused');
    like($m->dies(sub { $m->encode([1], 'x') }), qr/not a HASH reference/i, 'options of the function that are not a hash are refused');
    like($m->dies(sub { $m->encoder_class->encode([]) }), qr/./, 'encode as a method of the class is refused');
    ok($m->encode([1], { no_such_option => 1 }), 'unknown options are ignored');
    ok($m->encode([1], undef), 'undef is accepted as options') if $m->ours;

    my $file = scratch('document');
    $encoder->encode_to_file($file, { a => 1 });
    my $first = slurp($file);
    is_deeply($m->decode($first), { a => 1 }, 'encode_to_file writes a file');
    $encoder->encode_to_file($file, [2], 1);
    is(index(slurp($file), $first), 0, 'encode_to_file can append: the old document stays');
    is_deeply($m->decode(substr slurp($file), length $first), [2], 'encode_to_file can append: the new document follows');
    $m->encoder_class->encode_to_file($file, [3]);
    is_deeply($m->decode(slurp($file)), [3], 'encode_to_file works as a method of the class');
    like($m->dies(sub { $encoder->encode_to_file(scratch('no/folder/file'), []) }), qr/Failed to open/, 'encode_to_file into a missing folder fails');
});

both_sereal('names' => sub {
    my ($m) = @_;
    no strict 'refs';
    my $class = $m->encoder_class;
    is(&{"${class}::$_->[0]"}, $_->[1], $_->[0]) for ['SRL_UNCOMPRESSED', RAW], ['SRL_SNAPPY', SNAPPY], ['SRL_ZLIB', ZLIB], ['SRL_ZSTD', ZSTD];
});

done_testing;
