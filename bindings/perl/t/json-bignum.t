# allow_bignum and allow_stringify, as in Cpanel::JSON::XS.

use v5.30;
use warnings;
use utf8;

use Math::BigFloat;
use Math::BigInt;
use Test::More;
use Icecore::JSON;

my $json = Icecore::JSON->new->canonical->allow_bignum->allow_nonref;

sub as_text {
    my ($value) = @_;
    return ref $value eq 'ARRAY' ? '[' . join(',', map { as_text($_) } @$value) . ']'
        : ref $value eq 'HASH' ? '{' . join(',', map { "$_:" . as_text($value->{$_}) } sort keys %$value) . '}'
        : defined $value ? (ref $value ? ref($value) . '=' : '') . $value : 'undef';
}

my @numbers = qw(
    0 1 -1 123456789012345678 18446744073709551615 -9223372036854775808 18446744073709551616 -9223372036854775809
    100000000000000000000000000000000000000 -100000000000000000000000000000000000000 0.5 -0.5 2.50 1e5 1E-5 1.5e400 -1e-400
    2.0000000000000000001 0.1 0.1234567890123456 3.14159265358979 123456789.123456789123456789 0.0 -0.0 1e0
);
my @texts = ((map { ("$_", "[$_]", " {\"a\": $_, \"b\": [ $_,\"$_\" ]} ") } @numbers), '["2.5", "1e5", "\u0041", ""]', '{"1.5":"1.5"}', '[true, null]');
subtest 'the same results as Cpanel::JSON::XS' => sub {
    plan skip_all => 'Cpanel::JSON::XS is not here' if !eval { require Cpanel::JSON::XS; 1 };
    my $his = Cpanel::JSON::XS->new->canonical->allow_bignum->allow_nonref;
    for my $text (@texts) {
        next if $text =~ /true/;
        my ($theirs, $ours) = map { $_->decode($text) } $his, $json;
        is(as_text($ours), as_text($theirs), "the same values are decoded: $text");
        is($json->encode($ours), $his->encode($theirs), 'the same text is encoded');
    }
    for my $value (map { (Math::BigInt->new($_), Math::BigFloat->new($_)) } '0', '-5', '1e60', '12345678901234567890') {
        is($json->encode([$value]), $his->encode([$value]), ref($value) . " $value");
        is($json->encode($value), $his->encode($value), 'the same text for the value alone');
    }
    for my $value (map { ($_->binf, $_->binf('-'), $_->bnan) } 'Math::BigInt', 'Math::BigFloat') {
        is(Icecore::JSON->new->allow_bignum->stringify_infnan(0)->encode([$value]), '[null]', "stringify_infnan(0) writes null for $value");
    }
};
subtest 'decoding and encoding' => sub {
    for my $number (@numbers) {
        my $again = $json->decode($json->encode($json->decode("[$number]")))->[0];
        ok($again == $json->decode($number), "$number is read back");
    }
};
is(ref $json->decode('[1.5]')->[0], 'Math::BigFloat', 'a number with a fraction becomes a Math::BigFloat');
is_deeply([map { ref } @{ Icecore::JSON->new->decode('[1.5, 100000000000000000000000]') }], ['', ''], 'without allow_bignum numbers stay plain');
ok(!eval { Icecore::JSON->new->encode([Math::BigInt->new(5)]); 1 }, 'without allow_bignum an object is refused');
is_deeply([$json->decode_prefix('2.5 [1]')]->[1], 3, 'decode_prefix');
is(as_text([Icecore::JSON->new->allow_bignum->incr_parse('[1.5][2.5]')]), '[[Math::BigFloat=1.5],[Math::BigFloat=2.5]]', 'incr_parse');
{
    package Sneaky;
    our @ISA = 'Math::BigInt';
    use overload '""' => sub { '1],"more":[2' };
    package main;
    ok(!eval { $json->encode([bless {}, 'Sneaky']); 1 }, 'an object whose text is not a number is not written as one');
}

package Shown { use overload '""' => sub { "as_text <$_[0][0]>" } }
package Hidden { }
package main;
my $as_text  = bless ["é\x{1f603}"], 'Shown';
my $hidden = bless [], 'Hidden';
my $show   = Icecore::JSON->new->allow_stringify;
is($show->encode([$as_text]), "[\"as_text <é\x{1f603}>\"]", 'allow_stringify writes the text of an overloaded object');
is($show->encode([\'some', \'']), '["some",null]', 'allow_stringify writes the text of a reference to a scalar');
like($show->encode([\\$hidden]), qr/\A\["(?:REF|Hidden)/, 'allow_stringify writes the text of a reference to a reference');
is($show->encode([\1, \0]), '[true,false]', 'allow_stringify keeps booleans');
ok(!eval { $show->encode([$hidden]); 1 }, 'allow_stringify refuses other objects');
is($show->convert_blessed->encode([$hidden, bless \(my $x = 'x'), 'Hidden']), '[null,"x"]', 'with convert_blessed, allow_stringify writes other objects');
ok(!eval { $show->encode([\*STDOUT]); 1 }, 'allow_stringify refuses globs');
subtest 'allow_stringify gives the results of Cpanel::JSON::XS' => sub {
    plan skip_all => 'Cpanel::JSON::XS is not here' if !eval { require Cpanel::JSON::XS; 1 };
    for my $value ($as_text, $hidden, \'some', \'', \\'x', \1, \0, \12, \"é\x{263a}", \\$hidden) {
        my ($his, $ours) = map { eval { $_->new->allow_stringify->convert_blessed->encode([$value]) } // 'refused' } qw(Cpanel::JSON::XS Icecore::JSON);
        is($ours, $his, "reference " . ref $value);
    }
};

done_testing;
