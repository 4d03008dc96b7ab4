# Icecore::JSON::Cpanel: what Cpanel::JSON::XS has in addition to JSON::XS. The expected texts are those of
# Cpanel::JSON::XS 4.35.

use strict;
use warnings;

use Test::More;
use Icecore::JSON::Cpanel qw(encode_json decode_json);
use Icecore::JSON::Cpanel::Type;

sub json { return Icecore::JSON::Cpanel->new->canonical->allow_nonref }

subtest scalars => sub {
    my $used_as_number = '12';
    my $sum            = $used_as_number + 0;
    my $long           = '1.50';
    $sum = $long + 0;
    is json->encode([3.0, $used_as_number, $long, 9**9**9]), '[3.0,12,"1.50",null]', 'numbers and strings';
    is json->binary->encode(["\xe9\x01", "\x{263a}"]), '["\xe9\x01","\xe2\x98\xba"]', 'binary';
    is json->binary->decode('"\x41\351"'), "A\xe9", 'escapes of bytes';
    ok !eval { encode_json(1); 1 }, 'allow_nonref is off';
};

subtest types => sub {
    my $data = { id => '5', name => 7, on => 'yes', list => ['1', 2.7], none => undef };
    my $type = {
        id   => JSON_TYPE_INT,
        name => JSON_TYPE_STRING,
        on   => JSON_TYPE_BOOL,
        list => json_type_arrayof(JSON_TYPE_FLOAT),
        none => JSON_TYPE_STRING_OR_NULL,
    };
    is json->encode($data, $type), '{"id":5,"list":[1.0,2.7],"name":"7","none":null,"on":true}', 'types of a hash';
    my $any = json_type_anyof(JSON_TYPE_INT);
    $any->[1] = json_type_arrayof(json_type_weaken($any));
    is json->encode(['1', ['2', ['3']]], $any), '[1,[2,[3]]]', 'a type that contains itself';
    for my $case (
        [[1],             JSON_TYPE_INT,        qr/^encountered type \(2, 0x\w+\) was specified for 'ARRAY\(/],
        [[1, 2],          [JSON_TYPE_INT],      qr/^array 'ARRAY\(\w+\)' has different number of elements as in specified type 'ARRAY/],
        [{ a => 1 },      {},                   qr/^no type was specified for hash key 'a'/],
        [1,               'x',                  qr/^encountered type \(x, 0x\w+\) was specified for '1'/],
        [1,               json_type_anyof([]),  qr/^no scalar alternative in anyof was specified for '1'/],
        [[1],             JSON_TYPE_NULL,       qr/^encountered type \(256,/],
        [1,               JSON_TYPE_NULL,       qr/^encountered perl type \(1,0x\w+\) that JSON cannot handle/],
        [bless([], 'Ob'), JSON_TYPE_STRING,     qr/^encountered object 'Ob=ARRAY\(\w+\)', but neither allow_blessed/],
        ) {
        my ($value, $required, $message) = @$case;
        ok !eval { json->encode($value, $required); 1 }, 'is refused';
        like $@, $message, 'with the message';
    }
    ok !eval { json->require_types->encode([1]); 1 }, 'require_types';
    like $@, qr/^type for 'ARRAY\(\w+\)' was not specified/, 'its message';
    is json->type_all_string->encode([1, undef, 2.5, Icecore::JSON::Cpanel::false]), '["1",null,"2.5","false"]', 'type_all_string';
    my %hash = (a => 1, b => '2', c => [3]);
    is json->type_all_string->encode(\%hash), '{"a":"1","b":"2","c":["3"]}', 'in a hash';

    my $value = decode_json('{"a":[1,2.5,"x",null,true,123456789012345678901],"b":{"c":"7"}}', 0, my $found);
    is_deeply $found, { a => [2, 3, 4, 256, 1, 2], b => { c => 4 } }, 'types of decoded values';
};

subtest texts => sub {
    is_deeply json->utf8->decode("\xef\xbb\xbf[\"\xc3\xa9\"]"), ["\xe9"], 'a mark of UTF-8';
    is_deeply json->utf8->decode("\xfe\xff\0[\0\x22\0\xe9\0\x22\0]"), ["\xe9"], 'a mark of UTF-16';
    is_deeply json->dupkeys_as_arrayref->decode('{"a":[1],"b":1,"a":null,"b":2,"a":{"c":1,"c":2}}'),
        { a => [[1], undef, { c => [1, 2] }], b => [1, 2] }, 'repeated keys become arrays';
    is_deeply json->relaxed->decode("{'a':1,b:[1,],#\n'a':2}"), { a => 2, b => [1] }, 'relaxed';
    is_deeply [json->relaxed->decode_prefix('{} # x')], [{}, 2], 'a comment is not part of the value';
    for my $case (
        ['{"a":1,"b":2,"a":3}', q(Duplicate keys not allowed, at character offset 14 (before "a":3}"))],
        ['["\x41"]',            q(illegal hex character in non-binary string, at character offset 3 (before "x41"]"))],
        ['[1',                  q(, or ] expected while parsing array, at character offset 2:)],
        ['{"a"',                q(':' expected, at character offset 4:)],
        ['[1] x',               q(garbage after JSON object, at character offset 4 (before "x"))],
        ['["\u12"]',            q(exactly four hexadecimal digits expected, at character offset 4 (before "12"]"))],
        ) {
        my ($text, $message) = @$case;
        ok !eval { json->decode($text); 1 }, "$text is refused";
        like $@, qr/^\Q$message/, 'with the message';
    }
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    json->decode('"\ufdd0\ud83f\udfff"');
    is @warnings, 2, 'warnings of noncharacters';
    is_deeply(Icecore::JSON->new->allow_tags->decode('[1.8e308,0.1]'), [9**9**9, 0.1], 'infinity, also with options');
    is_deeply(json->relaxed->decode('[-1.8e308]'), [-9**9**9], 'negative infinity');
};

subtest objects => sub {
    package Text { use overload '""' => sub { 'text' }, fallback => 1 }
    my $object = bless [], 'Text';
    is json->convert_blessed->encode([$object]), '["text"]', 'convert_blessed uses overloading';
    ok !eval { json->convert_blessed->encode([bless {}, 'Ob']); 1 }, 'other objects are refused';
    like $@, qr/^encountered object 'Ob=HASH\(\w+\)', but allow_blessed, allow_stringify or TO_JSON\/FREEZE method missing/, 'with the message';
    is json->allow_stringify->encode([\'some', \'']), '["some",null]', 'allow_stringify';
    ok decode_json('[true]')->[0] eq 'true', 'a boolean equals its word';
    SKIP: {
        skip 'needs Math::BigInt', 1 unless eval { require Math::BigInt; 1 };
        is json->allow_bignum->encode([Math::BigInt->new('1' . '0' x 30)], [JSON_TYPE_FLOAT]), '[1' . '0' x 30 . '.0]', 'big numbers';
    }
    # Overloading runs while a hash is walked.
    package Number { use overload '0+' => sub { 5 }, '""' => sub { '5' }, fallback => 1 }
    is json->allow_blessed->encode({ a => 1, b => bless([], 'Number'), c => '3' }, json_type_hashof(JSON_TYPE_INT)), '{"a":1,"b":5,"c":3}',
        'numbers of objects';
};

done_testing;
