# Documents: headers, offsets, several in one string, detection.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Classes;
use Structures;

both_sereal('a user header' => sub {
    my ($m) = @_;
    my $bytes = $m->encode_with_header([1, 2], { kind => 'test' });
    is_deeply($m->decode($bytes), [1, 2], 'decode ignores the header');
    is_deeply($m->decode_with_header($bytes), [{ kind => 'test' }, [1, 2]], 'decode_with_header gives header and body');
    my $decoder = $m->decoder;
    is_deeply($decoder->decode_only_header($bytes), { kind => 'test' }, 'decode_only_header gives the header');
    is($decoder->bytes_consumed, 0, 'decode_only_header consumes no bytes of the body');
    is_deeply($decoder->decode_with_header($bytes), [{ kind => 'test' }, [1, 2]], 'decode_with_header of a decoder gives header and body');
    $decoder->decode_with_header($bytes, my $body, my $header);
    is_deeply([$body, $header], [[1, 2], { kind => 'test' }], 'decode_with_header fills variables');
    $decoder->decode_only_header($bytes, $header = undef);
    is_deeply($header, { kind => 'test' }, 'decode_only_header fills a variable');
    $m->decode_with_header($bytes, {}, $body = undef, $header = undef);
    is_deeply([$body, $header], [[1, 2], { kind => 'test' }], 'the function fills variables');

    my $encoder = $m->encoder;
    bytes_are($encoder->encode([1, 2], { kind => 'test' }), $bytes, 'the second argument of encode is the header');
    is_deeply($m->decode_with_header($encoder->encode([1])), [undef, [1]], 'the next document of the encoder has no header');
    for my $value (5, 'text', undef, [], [[{}]], "\x{263a}") {
        my $document = $m->encode_with_header(['body'], $value);
        is_deeply($m->decode_with_header($document), [$value, ['body']], 'a header that is ' . (defined $value ? ref $value || 'a scalar' : 'undef'));
    }
    bytes_are($m->encode_with_header([1], undef), $m->encode([1]), 'undef means no header');
    is_deeply($decoder->decode_with_header($m->encode([1])), [undef, [1]], 'the header of a document without one is undef');
    is($decoder->decode_only_header($m->encode([1])), undef, 'decode_only_header gives undef for a document without a header');

    for my $version (2 .. 5) {
        my $document = $m->encode_with_header([1], { v => $version }, { protocol_version => $version });
        is_deeply($m->decode_with_header($document), [{ v => $version }, [1]], "version $version can have a header");
    }
    like($m->dies(sub { $m->encode_with_header([1], {}, { protocol_version => 1 }) }), qr/Cannot serialize user header data in Sereal protocol V1 mode/, 'version 1 can have no header');
    for my $compress (1, 2, 3) {
        my $document = $m->encode_with_header([('text') x 1000], { list => [('head') x 300] }, { compress => $compress });
        is_deeply($m->decode_with_header($document)->[0], { list => [('head') x 300] }, "the header of a document with compress $compress is read");
        is(@{ $m->decode($document) }, 1000, "the body of a document with compress $compress is read");
    }
    my $shared = [1];
    my $pair   = $m->decode_with_header($m->encode_with_header([$shared], [$shared]));
    is_deeply($pair, [[[1]], [[1]]], 'header and body can contain the same value');
    isnt($pair->[0][0], $pair->[1][0], 'header and body share no values');
    my $document = $m->encode_with_header([1], bless { a => 1 }, 'A');
    is(ref $m->decode_with_header($document)->[0], 'A', 'a header can contain an object');
    like($m->dies(sub { $m->decode_with_header($document, { refuse_objects => 1 }) }), qr/refuse_objects/, 'an object in a header can be refused');
    is_deeply($m->decode($document, { refuse_objects => 1 }), [1], 'an object in a header that is not read is not refused');
});

both_sereal('offsets' => sub {
    my ($m) = @_;
    my $one = $m->encode([1]);
    my $two = $m->encode_with_header({ b => 2 }, 'header');
    my $decoder = $m->decoder;
    is_deeply($decoder->decode_with_offset("junk$one", 4), [1], 'decode_with_offset skips the bytes before the offset');
    is($decoder->bytes_consumed, length $one, 'bytes_consumed does not count the bytes before the offset');
    $decoder->decode_with_offset("$one$two", length $one, my $into);
    is_deeply($into, { b => 2 }, 'decode_with_offset fills a variable');
    is_deeply($decoder->decode_only_header_with_offset("$one$two", length $one), 'header', 'decode_only_header_with_offset gives the header');
    is_deeply($decoder->decode_with_header_and_offset("$one$two", length $one), ['header', { b => 2 }], 'decode_with_header_and_offset gives header and body');
    for my $wrong (100, -1) {
        like($m->dies(sub { $decoder->decode_with_offset($one, $wrong) }), $m->says(qr/Start offset is beyond input string length/, qr/offset is (?:behind|beyond)/), "an offset of $wrong is refused");
    }
    like($m->dies(sub { $decoder->decode_with_offset($one, 1) }), $m->says(qr/Bad Sereal header/, qr/expected a Sereal document/), 'an offset inside a document is refused');

    my $all = join '', map { $m->encode({ n => $_, text => 'x' x $_ }) } 1 .. 5;
    my ($at, @read) = (0);
    while ($at < length $all) {
        push @read, $decoder->decode_with_offset($all, $at)->{n};
        $at += $decoder->bytes_consumed;
    }
    is("@read", '1 2 3 4 5', 'documents are read one after the other');
    for my $compress (0 .. 3) {
        my $document = $m->encode([('text') x 1000], { compress => $compress });
        $decoder->decode("$document more");
        is($decoder->bytes_consumed, length $document, "bytes_consumed is the length of the document, compress $compress");
    }
});

both_sereal('incremental' => sub {
    my ($m) = @_;
    for my $options ({}, { protocol_version => 1 }, { protocol_version => 3 }, { compress => 1, compress_threshold => 0 },
                     { compress => 2, compress_threshold => 0 }, { compress => 3, compress_threshold => 0 }, { snappy_incr => 1, snappy_threshold => 0, protocol_version => 1 }) {
        my $name   = join ' ', map { "$_ $options->{$_}" } sort keys %$options;
        my @source = ([1], { a => ['x' x 100] }, 'text', [('abc') x 50]);
        my $buffer = join '', map { $m->encode($_, $options) } @source;
        my @read;
        while (length $buffer) {
            my $before = length $buffer;
            push @read, $m->decode($buffer, { incremental => 1 });
            last if length $buffer >= $before;
        }
        is_deeply(\@read, \@source, "documents are read one by one $name");
        is($buffer, '', 'the buffer is empty after the last document');
    }
    my $decoder = $m->decoder({ incremental => 1 });
    my $buffer  = $m->encode([1]) . $m->encode([2]);
    is_deeply($decoder->decode($buffer), [1], 'an incremental decoder reads the first document');
    is_deeply($decoder->decode($buffer), [2], 'an incremental decoder reads the second document');
    is($buffer, '', 'an incremental decoder empties its buffer');
    $buffer = $m->encode_with_header([1], 'h') . $m->encode([2]);
    is_deeply($decoder->decode_with_header($buffer), ['h', [1]], 'an incremental decoder reads a document with a header');
    is_deeply($decoder->decode_with_header($buffer), [undef, [2]], 'an incremental decoder reads a document without a header');

    my $whole = $m->encode([1 .. 100]);
    # The original reads the byte after the end of some, and then crashes.
    for my $length (0, 3, 50, $m->ours ? (4 .. length($whole) - 1) : ()) {
        my $part = substr $whole, 0, $length;
        ok($m->dies(sub { $decoder->decode($part) }), "the first $length bytes of a document are refused");
        is($part, substr($whole, 0, $length), 'an incomplete document stays in the buffer');
    }
    my $part = substr $whole, 0, 50;
    eval { $decoder->decode($part) };
    $part .= substr $whole, 50;
    is_deeply($decoder->decode($part), [1 .. 100], 'a document is read once its rest has arrived');

    my $fixed = $m->encode([1]);
    Internals::SvREADONLY($fixed, 1);
    like($m->dies(sub { $decoder->decode($fixed) }), qr/read-only/, 'a read-only buffer is refused');
    my $shared = my $copy = $m->encode([1]) . 'rest';
    $decoder->decode($copy);
    is($copy, 'rest', 'the bytes after a document stay in the buffer');
    is(length $shared, length($m->encode([1])) + 4, 'a copy of the buffer stays as it is');
});

both_sereal('looks_like_sereal' => sub {
    my ($m) = @_;
    my $class = $m->decoder_class;
    my $decoder = $m->decoder;
    my @cases = (
        (map { ["version $_", $m->encode([1], { protocol_version => $_ }), $_] } 1 .. 5),
        ['one with a header', $m->encode_with_header([1], 2), 5],
        ['a compressed one', $m->encode([('x') x 2000], { compress => 3 }), 5],
        ['a version to come', "=\xf3rl\6\0\1\1", 6],
        ['one that was encoded as UTF-8', "=\xc3\xb3rl\5\0\1", 0],
        map { [$_->[0], $_->[1], ''] }
            ['text', 'text'], ['nothing', ''], ['undef', undef], ['an array', []], ['the magic number alone', '=srl'],
            ['version 5 with the old number', "=srl\5\0\1"], ['version 1 with the new one', "=\xf3rl\1\0\1"],
            ['version 0', "=srl\0\0\1"], ['an image of Storable', "pst0\4\13\x{8}12345678"],
    );
    for my $case (@cases) {
        my ($name, $bytes, $expected) = @$case;
        my @ways = (
            ['looks_like_sereal', $m->looks_like_sereal($bytes)], ['scalar_looks_like_sereal', $m->scalar_looks_like_sereal($bytes)],
            ['a method of the class', $class->looks_like_sereal($bytes)], ['a method of a decoder', $decoder->looks_like_sereal($bytes)],
        );
        for my $way (@ways) { is($way->[1], $expected, "$name: $way->[0]") }
    }
    ok(defined $m->looks_like_sereal('text'), 'looks_like_sereal gives false, not undef');
});

both_sereal('bytes after a document' => sub {
    my ($m) = @_;
    my $decoder = $m->decoder;
    my $bytes   = $m->encode([1]);
    my $copy;
    my $error = $m->dies(sub { $copy = $decoder->decode("$bytes more") });
    if ($error) { like($error, qr/./, 'bytes after a document are an error') }
    else {
        is_deeply($copy, [1], 'bytes after a document are ignored');
        is($decoder->bytes_consumed, length $bytes, 'bytes_consumed tells that bytes after a document were not read');
    }
});

both_sereal('data that is not a document' => sub {
    my ($m) = @_;
    local $SIG{__WARN__} = sub { };
    for my $not ('', 'text', '=srl', "=\xf3rl", "\0" x 20, undef, 12, "=srl\5\0\1") {
        like($m->dies(sub { $m->decode($not) }), $m->says(qr/Sereal/, qr/./), defined $not ? 'the bytes ' . unpack('H*', $not) . ' are refused' : 'undef is refused');
    }
    like($m->dies(sub { $m->decode("=\xf3rl\6\0\1") }), qr/Unsupported Sereal protocol version 6|found protocol 6/, 'a version after the last known one is refused');
});

done_testing;
