# Texts that are JSON and texts that are not, also with a byte changed or cut off: accepted and
# refused as by JSON::XS, with the same values.

use strict;
use warnings;

use Test::More;
use Icecore::JSON ();

eval { require JSON::XS; 1 } or plan skip_all => 'needs JSON::XS';

my @texts = (
    '', ' ', 'null', 'nul', 'nulll', 'true', 'TRUE', 'false', 'fals', '0', '-0', '00', '01', '-', '-1', '+1', '1.', '.5', '1.5',
    '1e', '1e5', '1E+5', '1e-5', '1e+', '0e0', '0.0', '-0.0', '1e400', '-1e400', '1e-400', '123456789012345678901234567890', '-123456789012345678901',
    '9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '18446744073709551615', '18446744073709551616',
    '0x10', '1_000', 'NaN', 'Infinity', '-Infinity', 'inf', "'a'", '"a', '"a"', '""', '"\\', '"\\"', '"\\"""', '"\\a"', '"\\/"', '"\\u"', '"\\u12"',
    '"\\u0041"', '"\\u00g0"', '"\\ud83d"', '"\\ud83d\\ude00"', '"\\ude00"', '"\\ud83dx"', '"\\ud83d\\n"', '"\\ud83d\\ud83d"', '"\\u0000"', "\"\t\"", "\"\n\"",
    "\"\x00\"", "\"\x7f\"", "\"\xc3\xa9\"", "\"\xe9\"", "\"\xc3\"", "\"\xf0\x9f\x98\x80\"", "\"\xc0\x80\"", "\"\xff\"",
    '[', ']', '[]', '[ ]', '[1', '[1,', '[1,]', '[,]', '[,1]', '[1,,2]', '[1 2]', '[1}', '{1]', '[[]', '[]]', '[1]x', '[1] [2]', "[1]\n", "\xef\xbb\xbf[]",
    '{', '}', '{}', '{ }', '{"a"}', '{"a":}', '{"a":1', '{"a":1,}', '{,}', '{a:1}', "{'a':1}", '{"a" 1}', '{"a"::1}', '{"a":1 "b":2}', '{"a":1,"a":2}',
    '{"":1}', '{"\\u0061":1,"a":2}', "{\"\xc3\xa9\":1}", '{"\\u00e9":1,"\\u263a":2}', '{1:2}', '{null:1}', '{"a":{"b":[{"c":null}]}}', '[1]#', '[1 #x', "[1,#x\n2]",
    "[1]//x", '/* */[1]', "\f[1]", "\x0b1", "\xa0\[1]", '[1]' . "\0", "[\"a\tb\"]", '("A")[1]', '[[[[[[[[[[1]]]]]]]]]]', '[' x 600 . ']' x 600, '[' x 512 . ']' x 512,
    '[' x 513 . ']' x 513, '[' x 40 . '"caf\\u00e9",1.5,true,{"a":"b"}' . ']' x 40, '[' x 100_000, '{"a":' x 100_000, '"' . 'x' x 100_000, '-' x 1000,
    '[' . join(',', 1 .. 300) . ']', '{' . join(',', map {"\"k$_\":$_"} 1 .. 300) . '}', '{' . join(',', map {"\"k$_\":$_"} 1 .. 300) . ',}',
);

no warnings 'recursion';

sub value_and_types {
    my ($value) = @_;
    return 'undef' if !defined $value;
    my $ref = ref $value;
    return '[' . join(',', map { value_and_types($_) } @$value) . ']' if $ref eq 'ARRAY';
    return '{' . join(',', map { value_and_types($_) . '=>' . value_and_types($value->{$_}) } sort keys %$value) . '}' if $ref eq 'HASH';
    return "$ref " . ($$value ? 1 : 0) if $ref;
    return JSON::XS->new->allow_nonref->ascii->encode($value) . (utf8::is_utf8($value) ? 'u' : '');
}

my $count = 0;

sub compare_on {
    my ($text, $setup) = @_;
    my ($ours, $theirs) = map { my $json = $_->new; $setup->($json); $json } 'Icecore::JSON', 'JSON::XS';
    my $name = substr $text =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger, 0, 60;
    for my $method ('decode', 'decode_prefix') {
        my ($their, $our) = map { my $json = $_; [eval { map { ref || !defined ? $_ : "$_" } $json->$method("$text") }] } $theirs, $ours;
        my @values = map { value_and_types($_) } $their, $our;
        $count++;
        next if $values[0] eq $values[1];
        fail "$method $name";
        diag "theirs $values[0]\nours   $values[1]";
    }
    return;
}

my @settings = (sub { $_[0]->utf8 }, sub { }, sub { $_[0]->utf8->allow_nonref(0) }, sub { $_[0]->utf8->max_depth(5) }, sub { $_[0]->utf8->max_size(20) }, sub { $_[0]->utf8->relaxed });
for my $text (@texts) { compare_on($text, $_) for @settings }

# As characters.
compare_on($_, sub { }) for "[\"\x{263a}\x{e9}\"]", "{\"\x{263a}\":\"\x{e9}\"}", "[\"\x{1f600}\"", "\x{263a}", "\"caf\x{e9}\"";

# Every cut and every changed byte of a text with all features.
my $whole = '{"a":[1,-2.5e3,true,false,null,"x\\u00e9\\ud83d\\ude00\\n"],"caf' . "\xc3\xa9" . '":{"b":"' . "\xe2\x98\xba" . '"},"":[]}';
for my $at (0 .. length($whole) - 1) {
    compare_on(substr($whole, 0, $at), $settings[0]);
    for my $byte (0, 9, 32, 34, 44, 45, 48, 58, 91, 92, 93, 101, 123, 125, 128, 195, 255) {
        my $changed = $whole;
        substr $changed, $at, 1, chr $byte;
        compare_on($changed, $settings[0]);
    }
}
ok $count > 2000, "$count cases give the results of JSON::XS";

# The positions of errors.
for my $case (['[1,2', 5], ['[1,x]', 3], ['{"a":1,}', 7], ['["a" "b"]', 5], ['[1]x', 3]) {
    my ($text, $offset) = @$case;
    eval { Icecore::JSON->new->utf8->decode($text) };
    $offset = length $text if $offset > length $text;
    like $@, qr/, at character offset $offset \(before "/, "the error in $text has its offset";
}
eval { Icecore::JSON->new->decode("[\"\x{263a}\x{263a}\",x]") };
like $@, qr/at character offset 6 /, 'the offset of text counts characters, not bytes';

done_testing;
