# The options of the decoder.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Scalar::Util qw(readonly refaddr reftype);
use Both;
use Classes;
use Same;
use Structures;

my $compressible = [('some text') x 1000];

# Decoders are kept in variables, because the original uses one that was freed.
sub decoded { my ($m, $bytes, $options) = @_; my $decoder = $m->decoder($options || {}); my $copy = $decoder->decode($bytes); return $copy }

both_sereal('refuse_snappy, refuse_zlib, refuse_zstd' => sub {
    my ($m) = @_;
    my %how = (snappy => 1, zlib => 2, zstd => 3);
    for my $name (sort keys %how) {
        my $bytes = $m->encode($compressible, { compress => $how{$name} });
        for my $refused (sort keys %how) {
            my $option = "refuse_$refused";
            my $error  = $m->dies(sub { $m->decode($bytes, { $option => 1 }) });
            if ($name eq $refused) { like($error, $m->says(qr/compressed with $name, but this decoder is configured to refuse/i, qr/refuse_$name/), "$option refuses $name") }
            else                   { is($error, '', "$option does not refuse $name") }
        }
    }
    is_deeply($m->decode($m->encode([1]), { refuse_snappy => 1, refuse_zlib => 1, refuse_zstd => 1 }), [1], 'uncompressed data is never refused');
    like($m->dies(sub { $m->decode($m->encode($compressible, { snappy => 1, protocol_version => 1 }), { refuse_snappy => 1 }) }), qr/refuse/, 'refuse_snappy refuses Snappy in version 1');
});

both_sereal('refuse_objects' => sub {
    my ($m) = @_;
    my $refuses = $m->says(qr/Encountered object in input, but the 'refuse_objects' option is in effect/, qr/refuse_objects/);
    like($m->dies(sub { $m->decode($m->encode([bless {}, 'A']), { refuse_objects => 1 }) }), $refuses, 'refuse_objects refuses objects');
    like($m->dies(sub { $m->decode($m->encode([qr/x/]), { refuse_objects => 1 }) }), $refuses, 'refuse_objects refuses regexps');
    like($m->dies(sub { $m->decode($m->encode([Cold::Value->new(1)], { freeze_callbacks => 1 }), { refuse_objects => 1 }) }), $refuses, 'refuse_objects refuses objects that FREEZE wrote');
    is_deeply($m->decode($m->encode([{ a => 1 }]), { refuse_objects => 1 }), [{ a => 1 }], 'refuse_objects accepts plain data');
});

both_sereal('no_bless_objects' => sub {
    my ($m) = @_;
    my $copy = $m->decode($m->encode([bless({ a => bless [1], 'B' }, 'A'), bless(\(my $x = 'x'), 'C')]), { no_bless_objects => 1 });
    is_deeply([map { ref } @$copy, $copy->[0]{a}], [qw(HASH SCALAR ARRAY)], 'no_bless_objects builds no objects');
    is_deeply($copy, [{ a => [1] }, \'x'], 'no_bless_objects keeps the contents');
});

both_sereal('limits of size' => sub {
    my ($m) = @_;
    my %hash = (a => 1, b => 2, c => 3);
    like($m->dies(sub { $m->decode($m->encode(\%hash), { max_num_hash_entries => 2 }) }), $m->says(qr/Got input hash with 3 entries, but the configured maximum is just 2/, qr/at most 2 entries, found 3/), 'max_num_hash_entries');
    is_deeply($m->decode($m->encode(\%hash), { max_num_hash_entries => 3 }), \%hash, 'a hash of the maximum size is accepted');
    my %large = map { ($_ => 1) } 1 .. 100;
    like($m->dies(sub { $m->decode($m->encode([\%large]), { max_num_hash_entries => 99 }) }), $m->says(qr/Got input hash with 100 entries/, qr/at most 99 entries, found 100/), 'max_num_hash_entries applies to large hashes');
    like($m->dies(sub { $m->decode($m->encode([1, 2, 3]), { max_num_array_entries => 2 }) }), $m->says(qr/Got input array with 3 entries, but the configured maximum is just 2/, qr/at most 2 items, found 3/), 'max_num_array_entries');
    is_deeply($m->decode($m->encode([1, 2, 3]), { max_num_array_entries => 3 }), [1, 2, 3], 'an array of the maximum size is accepted');
    like($m->dies(sub { $m->decode($m->encode([[1 .. 100]]), { max_num_array_entries => 99 }) }), $m->says(qr/Got input array with 100 entries/, qr/at most 99 items, found 100/), 'max_num_array_entries applies to large arrays');
    like($m->dies(sub { $m->decode($m->encode(['x' x 40]), { max_string_length => 39 }) }), $m->says(qr/Got input string with 40 characters, but the configured maximum is just 39/, qr/at most 39 bytes, found one of 40/), 'max_string_length');
    like($m->dies(sub { $m->decode($m->encode(["\x{263a}" x 3]), { max_string_length => 5 }) }), $m->says(qr/Got input string with 9 characters/, qr/at most 5 bytes, found one of 9/), 'max_string_length counts the bytes of text');
    is_deeply($m->decode($m->encode(['x' x 40]), { max_string_length => 40 }), ['x' x 40], 'a string of the maximum length is accepted');
    is_deeply($m->decode($m->encode([1 .. 50, \%large, 'x' x 5000]), { max_num_array_entries => 0, max_num_hash_entries => 0, max_string_length => 0 }),
        [1 .. 50, \%large, 'x' x 5000], '0 means no limit');
    # The original does not count strings shorter than 32 bytes.
    is_deeply($m->decode($m->encode(['x' x 31]), { max_string_length => 5 }), ['x' x 31], 'max_string_length does not apply to short strings') unless $m->ours;

    for my $how (1, 2, 3) {
        my $bytes = $m->encode($compressible, { compress => $how });
        like($m->dies(sub { $m->decode($bytes, { max_uncompressed_size => 1000 }) }), $m->says(qr/uncompressed size is larger than the allowed maximum size/, qr/at most 1000 bytes after decompression/), "max_uncompressed_size, compress $how");
        is_deeply($m->decode($bytes, { max_uncompressed_size => 20_000 }), $compressible, 'data of the maximum size is accepted');
    }
});

# Data that shrinks to a thousandth is read, and all reading functions take the option.
both_sereal('max_uncompressed_size' => sub {
    my ($m) = @_;
    my $zeros = "\0" x 20_000_000;
    for my $how (1, 2, 3) {
        my $bytes = $m->encode([$zeros], { compress => $how });
        my $both  = $m->encode_with_header([$zeros], ['h'], { compress => $how });
        for my $case ([undef, 1], [0, 1], [1 << 40, 1], [25_000_000, 1], [1000, 0], [19_000_000, 0]) {
            my ($most, $fits) = @$case;
            my %options = defined $most ? (max_uncompressed_size => $most) : ();
            my $name    = "compress $how, " . ($most // 'no limit');
            my $decoder = $m->decoder(\%options);
            my %ways    = (
                functional => sub { $m->decode($bytes, \%options) }, 'an object' => sub { $decoder->decode($bytes) },
                offset => sub { $decoder->decode_with_offset("xx$bytes", 2) }, 'with its header' => sub { $decoder->decode_with_header($both)->[1] },
                incremental => sub { my $copy = $bytes; $m->decoder({ %options, incremental => 1 })->decode($copy) },
            );
            $ways{generic} = sub { Icecore::decode($bytes, %options) } if $m->ours;
            for my $way (sort keys %ways) {
                my $got = eval { length $ways{$way}->()->[0] };
                if ($fits) { is($got, 20_000_000, "$name: $way") or diag($@) }
                else       { like($@, $m->says(qr/uncompressed size/, qr/at most $most bytes .* max_uncompressed_size/), "$name: $way") }
            }
            is_deeply($decoder->decode_only_header($both), ['h'], "$name: the header alone is read");
        }
    }
});

# Options that decide which variables are shared or read-only, in all combinations.
both_sereal('use_undef and alias_smallint' => sub {
    my ($m) = @_;
    my $data = [-17 .. -14, -1, 0, 15, 16, undef, 'a', 1.5, { n => -1, u => undef }, \-1, \undef];
    for my $options ({ use_undef => 1 }, { use_undef => 1, alias_smallint => 1 }, { use_undef => 1, set_readonly => 1 }, { use_undef => 1, alias_varint_under => 100, set_readonly_scalars => 1 }, { alias_varint_under => -5 }) {
        my $copy = $m->decode($m->encode($data), $options);
        is_deeply($copy, $data, join ' ', map { "$_ $options->{$_}" } sort keys %$options);
        is(\$copy->[8], \undef, "use_undef returns perl's own undef") if $options->{use_undef};
    }
});

both_sereal('set_readonly and weak cycles' => sub {
    my ($m) = @_;
    my $data = [{ name => 'parent', children => [{ name => 'child' }] }];
    Scalar::Util::weaken($data->[0]{children}[0]{parent} = $data->[0]);
    push @$data, $data;
    Scalar::Util::weaken($data->[1]);
    my $copy = $m->decode($m->encode($data), { set_readonly => 1 });
    ok(!eval { $copy->[0]{name} = 'x'; 1 }, 'a value is read-only');
    ok(!eval { push @{ $copy->[0]{children} }, 1; 1 }, 'an array is read-only');
    ok(!eval { $copy->[0]{children}[0]{name} = 1; 1 }, 'a value with a weak reference to its parent is read-only');
    ok(!eval { push @$copy, 1; 1 }, 'the array that is the parent is read-only');
});

both_sereal('max_recursion_depth' => sub {
    my ($m) = @_;
    for my $kind (['arrays', sub { [$_[0]] }], ['hashes', sub { { a => $_[0] } }], ['references', sub { my $x = $_[0]; \$x }], ['objects', sub { bless [$_[0]], 'A' }]) {
        my ($name, $wrap) = @$kind;
        my $bytes = $m->encode(Structures::nested(60, $wrap, 1));
        like($m->dies(sub { $m->decode($bytes, { max_recursion_depth => 20 }) }), $m->says(qr/Reached recursion limit \(20\) during deserialization/, qr/at most 20 levels of nesting/), "60 nested $name exceed a limit of 20");
        ok($m->decode($m->encode(Structures::nested(8, $wrap, 1)), { max_recursion_depth => 20 }), '8 nested values do not exceed a limit of 20');
    }
    ok($m->decode($m->encode([map { [[$_]] } 1 .. 100]), { max_recursion_depth => 20 }), '100 values side by side do not exceed a limit of 20');
    my $decoder = $m->decoder({ max_recursion_depth => 20 });
    my $bytes   = $m->encode(Structures::nested(60, sub { [$_[0]] }, 1));
    ok($m->dies(sub { $decoder->decode($bytes) }), 'a decoder refuses nested values');
    is_deeply($decoder->decode($m->encode([1])), [1], 'the decoder works after the error');
    ok($m->decode($m->encode(Structures::nested(9_000, sub { [$_[0]] }, 1))), '9,000 levels are accepted by default');
    my $deep = $m->encode(Structures::nested(12_000, sub { [$_[0]] }, 1), { max_recursion_depth => 20_000 });
    like($m->dies(sub { $m->decode($deep) }), $m->says(qr/Reached recursion limit \(10000\)/, qr/at most 10000 levels of nesting/), '12,000 levels are refused by default');
    ok($m->decode($deep, { max_recursion_depth => 20_000 }), '12,000 levels are accepted with a higher limit');
});

both_sereal('validate_utf8' => sub {
    my ($m) = @_;
    my %broken = ('no UTF-8' => "\xff\xff\xff", cut => "\xe2\x98", overlong => "\xc0\x80", 'cut at the end' => "abc\xe2");
    for my $name (sort keys %broken) {
        my $bytes = "=\xf3rl\5\0\x41\x27" . chr(length $broken{$name}) . $broken{$name};
        like($m->dies(sub { $m->decode($bytes, { validate_utf8 => 1 }) }), $m->says(qr/Invalid UTF8 byte sequence/i, qr/validate_utf8/), $name);
        my $key = "=\xf3rl\5\0\x51\x27" . chr(length $broken{$name}) . $broken{$name} . "\1";
        # The original doesn't look at keys.
        like($m->dies(sub { $m->decode($key, { validate_utf8 => 1 }) }), qr/./, "$name in a key is refused") if $m->ours;
    }
    for my $text ("\x{263a}", "\x{1f600}", Structures::text("\xe9"), Structures::text('')) {
        is($m->decode($m->encode([$text]), { validate_utf8 => 1 })->[0], $text, 'valid text is accepted');
    }
    my $bytes = "=\xf3rl\5\0\x41\x27\2\xff\xfe";
    ok(!utf8::valid($m->decode($bytes)->[0]), 'without validate_utf8 invalid text is accepted');
});

both_sereal('set_readonly' => sub {
    my ($m) = @_;
    my $data = [1, 'a', [2], { k => 'v' }, \'s', bless({ o => 1 }, 'A')];
    my $copy = $m->decode($m->encode($data), { set_readonly => 1 });
    is_deeply([map { readonly($_) ? 1 : 0 } @$copy, $copy->[2][0], $copy->[3]{k}, ${ $copy->[4] }, $copy->[5]{o}], [(1) x 10], 'set_readonly makes everything read-only');
    like($m->dies(sub { $copy->[0] = 2 }), qr/Modification of a read-only value/, 'an item can not be changed');
    like($m->dies(sub { push @$copy, 2 }), qr/Modification of a read-only value/, 'an array can not grow');
    like($m->dies(sub { $copy->[3]{k} = 2 }), qr/Modification of a read-only value/, 'a value can not be changed');
    like($m->dies(sub { $copy->[3]{new} = 2 }), qr/disallowed key 'new'/, 'a hash gets no new keys');
    same_ok($m->decode($m->encode($data)), $data, 'without set_readonly the same data is returned');
    $m->decode($m->encode(5), { set_readonly => 1 }, my $into);
    ok(readonly($into), 'the variable that is decoded into becomes read-only');
});

both_sereal('set_readonly_scalars' => sub {
    my ($m) = @_;
    # Values to which something else may refer have tags of their own, for which the original
    # makes arrays and hashes read-only too; decoded values have no such references.
    my $bytes = $m->encode($m->decode($m->encode([1, [2], { k => 'v' }, \4])));
    my $copy = $m->decode($bytes, { set_readonly_scalars => 1 });
    is_deeply([map { readonly($_) ? 1 : 0 } $copy->[0], $copy->[1], $copy->[1][0], $copy->[2]{k}, ${ $copy->[3] }], [1, 0, 1, 1, 1], 'scalars become read-only, except references');
    push @$copy, 'new';
    is($copy->[-1], 'new', 'arrays can grow');
    $copy->[2]{new} = 1;
    is($copy->[2]{new}, 1, 'hashes can get new keys');
});

both_sereal('alias_smallint' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([-16, -16, 0, 0, 15, 15, -17, -17, 16, 16, 'a', 'a', { k => 15 }]);
    my $same  = sub { my ($copy) = @_; return join ' ', map { refaddr(\$copy->[2 * $_]) == refaddr(\$copy->[2 * $_ + 1]) ? 1 : 0 } 0 .. 5 };
    my $copy  = $m->decode($bytes, { alias_smallint => 1 });
    is($same->($copy), '1 1 1 0 0 0', 'integers from -16 to 15 are shared');
    ok(readonly($copy->[0]), 'shared integers are read-only');
    is(\$copy->[12]{k}, \$copy->[4], 'integers in hashes are shared');
    is("@$copy[0 .. 11]", '-16 -16 0 0 15 15 -17 -17 16 16 a a', 'the values are right');
    is($same->($m->decode($bytes)), '0 0 0 0 0 0', 'without alias_smallint no integers are shared');
});

both_sereal('alias_varint_under' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([-3, -3, 15, 15, 16, 16, 99, 99, 100, 100, 200, 200]);
    my $same  = sub { my ($copy) = @_; return join ' ', map { refaddr(\$copy->[2 * $_]) == refaddr(\$copy->[2 * $_ + 1]) ? 1 : 0 } 0 .. 5 };
    is($same->($m->decode($bytes, { alias_varint_under => 100 })), '1 1 1 1 0 0', 'alias_varint_under shares integers below 100');
    is($same->($m->decode($bytes, { alias_varint_under => 10 })), '1 1 0 0 0 0', 'alias_varint_under below 16 shares integers from -16 to 15') if $m->ours;
    is("@{ $m->decode($bytes, { alias_varint_under => 100 }) }", '-3 -3 15 15 16 16 99 99 100 100 200 200', 'the values are right');
});

both_sereal('use_undef' => sub {
    my ($m) = @_;
    my $undef;
    my $copy = $m->decode($m->encode([undef, \$undef, 1]), { use_undef => 1 });
    is(refaddr \$copy->[0], refaddr \undef, "use_undef returns perl's own undef for an item");
    is($copy->[2], 1, 'the other items are right');
    $copy = $m->decode($m->encode([undef, \$undef]));
    isnt(refaddr \$copy->[0], refaddr \undef, 'without use_undef an item is an ordinary variable');
    $copy->[0] = 5;
    is($copy->[0], 5, 'without use_undef an item can be assigned to');
});

both_sereal('decoders' => sub {
    my ($m) = @_;
    my $decoder = $m->decoder;
    isa_ok($decoder, $m->decoder_class);
    my $bytes = $m->encode({ a => [1] });
    is_deeply($decoder->decode($bytes), { a => [1] }, "a decoder can be used again, $_") for 1 .. 3;
    ok($m->dies(sub { $decoder->decode('text') }), 'malformed data is an error');
    is_deeply($decoder->decode($bytes), { a => [1] }, 'the decoder works after an error');
    isnt(refaddr $decoder->decode($bytes), refaddr $decoder->decode($bytes), 'each call returns new data');
    is_deeply(decoded($m, $bytes, { no_such_option => 1 }), { a => [1] }, 'unknown options are ignored');
    is_deeply($m->decode($bytes, undef), { a => [1] }, 'options may be undef');
    for my $not ([], 'x') {
        like($m->dies(sub { $m->decode($bytes, $not) }), $m->says(qr/Options are neither undef nor hash reference/, qr/not a hash reference/), 'options must be a hash');
    }
    like($m->dies(sub { $m->decoder_class->decode($bytes) }), qr/./, 'decode needs an object');

    my $file = scratch('document');
    spew($file, $bytes);
    is_deeply($decoder->decode_from_file($file), { a => [1] }, 'decode_from_file reads a file');
    is_deeply($m->decoder_class->decode_from_file($file), { a => [1] }, 'decode_from_file is also a class method');
    like($m->dies(sub { $decoder->decode_from_file(scratch('none')) }), qr/Failed to open/, 'decode_from_file dies if there is no file');
    spew($file, $bytes . $m->encode([2]) . $m->encode([3]));
    my $incremental = $m->decoder({ incremental => 1 });
    my @all = $incremental->decode_from_file($file);
    is_deeply(\@all, [{ a => [1] }, [2], [3]], 'an incremental decoder reads several documents from a file');
});

both_sereal('documents that are marked as UTF-8' => sub {
    my ($m) = @_;
    my $bytes = $m->encode(["caf\xe9", 200]);
    my $text  = Structures::text($bytes);
    is_deeply($m->decode($text), ["caf\xe9", 200], 'a document that is marked as UTF-8 is downgraded');
    my $twice = $bytes;
    utf8::encode($twice);
    like($m->dies(sub { $m->decode($twice) }), $m->says(qr/accidentally UTF-8 encoded/, qr/encoded as UTF-8/), 'the error for a document that was encoded as UTF-8 says so');
});

both_sereal('variables to decode into' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([1, 2]);
    my $result = $m->decode($bytes, {}, my $into);
    is_deeply($into, [1, 2], 'decode assigns to the variable');
    is($result, $into, "decode returns the variable's value");
    $m->decode($m->encode({ a => 1 }), {}, $into);
    is_deeply($into, { a => 1 }, 'the variable can be used again');
    my %hash = (slot => undef);
    $m->decode($bytes, undef, $hash{slot});
    is_deeply(\%hash, { slot => [1, 2] }, 'decode assigns to a value of a hash');
    my @array = (undef, undef);
    $m->decode($bytes, undef, $array[1]);
    is_deeply(\@array, [undef, [1, 2]], 'decode assigns to an item of an array');
    $into = 7;
    $m->decode($m->encode('text'), {}, $into);
    is($into, 'text', 'decode assigns to a variable with a number');
    $m->decode($m->encode(undef), {}, $into);
    is($into, undef, 'decode assigns undef');
    my $decoder = $m->decoder;
    $decoder->decode($bytes, my $other);
    is_deeply($other, [1, 2], 'the method assigns to the variable');

    my $self = [];
    $self->[0] = \$self;
    my $cycle = $m->encode($self);
    $m->decode($cycle, {}, my $root);
    is(refaddr $root->[0], refaddr \$root, 'a link to the root refers to the variable');
    $root->[0] = undef;
    $self->[0] = undef;
});

# The original keeps the number next to the reference, and crashes when perl frees a string that
# it overwrote.
our_sereal('variables with a value to decode into' => sub {
    my ($m) = @_;
    my $number = 5;
    $m->decode($m->encode([1]), {}, $number);
    is_deeply($number, [1], 'decode assigns to a variable with a number');
    is_deeply("$number", "" . \@$number, 'the number is gone');
    my $into = 'a constant';
    $m->decode($m->encode([1]), {}, $into);
    is_deeply($into, [1], 'decode assigns to a copy of a constant string');
    my $copy = 'a constant';
    my $other = $copy;
    $m->decode($m->encode({ a => 1 }), {}, $copy);
    is($other, 'a constant', 'the constant string stays unchanged');
});

our_sereal('a decoder without a variable' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([1]);
    is_deeply($m->decoder_class->new->decode($bytes), [1], 'a temporary decoder decodes') for 1 .. 3;
});

done_testing;
