# Errors begin like the originals', because programs look for their words.

use v5.30;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Icecore::JSON;
use Icecore::Sereal qw(decode_sereal encode_sereal);
use Icecore::Storable qw(freeze thaw store retrieve);
use Icecore::Dumper qw(undump);

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? 'it lives' : $@ }

# Returns a message without the position that the original adds, and without the text that Icecore
# adds.
sub without_position {
    my ($error) = @_;
    $error =~ s/ at \S+ line \d+\.?\n?\z//;
    $error =~ s/, at character offset \d+ \(before .*//s;
    return $error;
}

my $original = eval { require JSON::XS; JSON::XS->VERSION(4); 'JSON::XS' };
subtest 'JSON' => sub {
    plan skip_all => 'JSON::XS is not installed' if !$original;
    my @texts = (
        '', ' ', '[', '[1', '[1,', '[1 2', '{', '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1 ', '{"a":1,', '{1', '{"a" 1}', '"\\x"', '"\\u12"',
        '"\\u12g4"', '"\\ud800"', '"\\udc00"', "\"\n\"", "\"a\xff\"", '-', '-a', '01', '1.', '1.e', '1e', '1e+', 'tru', 'fals', 'nul',
        'treu', 'x', '[x]', '[1]x', '[1] [2]', '{"a":}', '[,]', '[1}', '("A")[1]', '[' x 600, ('[' x 600) . (']' x 600),
    );
    for my $text (@texts) {
        my $original_error  = dies(sub { JSON::XS->new->utf8->decode($text) });
        my $ours = dies(sub { Icecore::JSON->new->utf8->decode($text) });
        like($ours, qr/\A\Q${\ without_position($original_error)}\E(?=[,:.]|\z)/, "text " . substr $text, 0, 20) or diag($original_error);
    }
    my $original_error  = dies(sub { JSON::XS->new->decode("\"\x{263a}\" x") });
    my $ours = dies(sub { Icecore::JSON->new->decode("\"\x{263a}\" x") });
    $original_error =~ s/ at \S+ line.*//s;
    is(substr($ours, 0, length $original_error), $original_error, 'the message begins with that of JSON::XS');
};

subtest 'Sereal' => sub {
    my $plain = encode_sereal([1, 2]);
    my %words = (
        'Bad Sereal header: Not a valid Sereal document' => ['', "=srX\5\0\1", substr($plain, 0, 6)],
        'Bad Sereal header: It seems your document was accidentally UTF-8 encoded' => [$plain =~ s/\xf3/\xc3\xb3/r],
        'Unexpected termination of packet' => [substr $plain, 0, -1],
    );
    for my $words (sort keys %words) {
        like(dies(sub { decode_sereal($_) }), qr/\ASereal: Error: \Q$words\E/, $words) for @{ $words{$words} };
    }
    like(dies(sub { decode_sereal("=\xf3rl\5\0\x42\1\x37") }), qr/\ASereal: Error/, 'messages begin with those of Sereal');
    for my $name (qw(Snappy ZLIB ZSTD)) {
        my $packed = encode_sereal([('a') x 2000], { compress => { Snappy => 1, ZLIB => 2, ZSTD => 3 }->{$name} });
        like(dies(sub { decode_sereal($packed, { "refuse_\L$name" => 1 }) }),
            qr/\ASereal: Error: Sereal document is compressed with $name, but/, "the message for refused $name");
        like(dies(sub { decode_sereal($packed, { max_uncompressed_size => 100 }) }),
            qr/\AThe expected uncompressed size is larger than the allowed maximum size/, "the message for too much $name");
    }
    like(dies(sub { decode_sereal("=\xf3rl\5\0\x27\1\xff", { validate_utf8 => 1 }) }), qr/\ASereal: Error: Invalid UTF8 byte sequence/, 'the message for invalid UTF-8');
    like(dies(sub { decode_sereal($_) }), qr/\AWe can't decode a reference as Sereal!/, ref) for \1, [], {};
};

subtest 'Storable' => sub {
    my $frozen = freeze([1, 2, 'three']);
    my $header = 2 + 1 + 8 + 4;
    like(dies(sub { thaw(substr $frozen, 0, $_) }), qr/\AMagic number checking on storable string failed/, "the message for $_ bytes") for 1 .. $header - 1;
    my @sizes = ([$header - 4, 'Integer'], [$header - 3, 'Long integer'], [$header - 2, 'Pointer'], [$header - 1, 'Double']);
    for my $size (@sizes) {
        substr(my $changed = $frozen, $size->[0], 1) = "\0";
        like(dies(sub { thaw($changed) }), qr/\A$size->[1] size is not compatible/, $size->[1]);
    }
    like(dies(sub { thaw("\xff\xff") }), qr/\AStorable binary image v127\.255 more recent than I am \(v2\.\d+\)/, 'the message for a later major version');
    like(dies(sub { thaw("\5\x0b\xff") }), qr/\ACorrupted storable string \(binary v2\.11\)/, 'the message for an unknown tag');
    like(dies(sub { thaw("\5\x30\xff") }), qr/\AStorable binary image v2\.48 contains data of type 255\. This Storable is v2\.\d+ and can only handle data types up to \d+/,
        'in a later version');
    like(dies(sub { Icecore::decode(substr $frozen, 0, 3) }), qr/\A(?!Magic)/, "Icecore::decode does not use Storable's messages");
    my $file = "original-words.$$";
    for my $content ('', 'pst', 'pst0', 'iron and more') {
        open my $out, '>', $file or die $!;
        print {$out} $content;
        close $out or die $!;
        my $words = length $content > 4 ? 'File is not a perl storable' : 'Magic number checking on storable file failed';
        like(dies(sub { retrieve($file) }), qr/\A$words/, "the message for a file with '$content'");
    }
    unlink $file;
};

subtest 'advice about bytes after a document' => sub {
    my %says = (
        'fd_retrieve'   => sub { thaw(freeze([1]) . 'x') },
        'decode_prefix' => sub { decode_json('[1] [2]') },
        'cut them off'  => sub { Icecore::decode('[1] [2]', format => 'json') },
    );
    for my $words (sort keys %says) {
        my $error = dies($says{$words});
        like($error, qr/$words/, $words);
        unlike($error, qr/--each/, 'the advice names no option of the command');
    }
    unlike(dies(sub { Icecore::decode("i:1;x", format => 'php') }), qr/--|\`/, 'the advice for PHP names no option of the command');
};

done_testing;
