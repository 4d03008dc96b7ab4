# How objects are written and read: booleans, methods of classes, filters.

use strict;
use warnings;
use utf8;

use Test::More;
use Icecore::JSON qw(encode_json decode_json true false is_bool);

is encode_json([true, false, \1, \0]), '[true,false,true,false]', 'booleans are written as true and false';
my $read = decode_json('[true,false,null,{"a":true}]');
ok $read->[0] && is_bool($read->[0]) && ref $read->[0] eq 'JSON::PP::Boolean', 'true is read as an object that is true';
ok !$read->[1] && is_bool($read->[1]), 'false is read as an object that is false';
ok !is_bool(1) && !is_bool(undef) && !is_bool([]), 'is_bool returns false for other values';
is "$read->[0] @{[ $read->[1] + 0 ]}", '1 0', 'booleans can be used as numbers';

my $json = Icecore::JSON->new->canonical;
{
    is_deeply $json->boolean_values('no', 'yes')->decode('[true,false]'), ['yes', 'no'], 'boolean_values sets the values of booleans';
    is_deeply [$json->get_boolean_values], ['no', 'yes'], 'get_boolean_values returns them';
    $json->boolean_values;
    is_deeply [$json->get_boolean_values], [], 'boolean_values without arguments restores the defaults';
    is_deeply [map { ref } @{ $json->unblessed_bool->decode('[true,false]') }], ['', ''], 'unblessed_bool reads plain booleans';
    $json->unblessed_bool(0);
}

{
    package Money;
    sub new { my ($class, $amount) = @_; return bless { amount => $amount }, $class }
    sub TO_JSON { my ($self) = @_; return "€ $self->{amount}" }

    package Loop;
    sub TO_JSON { return bless [], 'Loop' }

    package Same;
    sub TO_JSON { return $_[0] }

    package Dies;
    sub TO_JSON { die "no\n" }

    package Changes;
    our $around;
    sub TO_JSON { @$around = (); %{ $_[0] } = (); return 'changed' }
}

ok !eval { $json->encode([Money->new(5)]); 1 } && $@ =~ /^encountered object 'Money=HASH\(0x[0-9a-f]+\)', but neither allow_blessed/, 'objects are refused by default';
is $json->allow_blessed->encode([Money->new(5)]), '[null]', 'allow_blessed writes null for objects';
is $json->convert_blessed->encode([Money->new(5), { a => Money->new(6) }]), '["€ 5",{"a":"€ 6"}]', 'convert_blessed calls TO_JSON';
ok !eval { $json->encode([bless [], 'Same']); 1 } && $@ =~ /^Same::TO_JSON method returned same object/, 'TO_JSON may not return its own object';
ok !eval { $json->encode([bless [], 'Loop']); 1 } && $@ =~ /nesting level/, 'endless conversions by TO_JSON are refused';
ok !eval { $json->encode([[bless [], 'Dies']]); 1 } && $@ eq "no\n", 'the error of TO_JSON is passed on';
{
    local $Changes::around = [1, (bless { a => 1 }, 'Changes'), 2, [3]];
    is +Icecore::JSON->new->convert_blessed->encode([$Changes::around, 9]), '[[1,"changed",null,null],9]', 'TO_JSON may empty the list that is being encoded';
}
{
    my $deep = [];
    $deep = [$deep] for 1 .. 511;
    ok eval { encode_json($deep); 1 }, '512 levels are written';
    ok !eval { encode_json([$deep]); 1 } && $@ =~ /^json text or perl structure exceeds maximum nesting level/, '513 levels are refused';
    my $cycle = [1];
    push @$cycle, $cycle;
    ok !eval { encode_json($cycle); 1 } && $@ =~ /nesting level/, 'a cycle is refused';
    $deep = [$deep] for 1 .. 100_000;
    ok length Icecore::JSON->new->max_depth->encode($deep) > 200_000, 'max_depth without an argument allows any depth';
    $deep = $deep->[0] while @$deep;
}

# Tags.
{
    package Tagged;
    sub FREEZE { my ($self, $what) = @_; return ($what, @{ $self->{list} }) }
    sub THAW   { my ($class, $what, @list) = @_; die "dies\n" if @list && $list[0] eq 'die'; return bless { list => [$what, @list] }, $class }
}
my $tags = Icecore::JSON->new->allow_tags;
is $tags->encode([bless { list => [1, { a => 2 }] }, 'Tagged']), '[("Tagged")["JSON",1,{"a":2}]]', 'allow_tags calls FREEZE';
like eval { $tags->decode('[("Tagged")["JSON",1]]'); 1 } ? '' : $@, qr/class Tagged at \$\[0\] is not allowed/, 'a tag of a class that is not allowed is refused';
my $thawed = $tags->classes(['Tagged'])->decode('[("Tagged")["JSON",1,{"a":[2]}],3]');
is_deeply [ref $thawed->[0], $thawed->[0]{list}, $thawed->[1]], ['Tagged', ['JSON', 'JSON', 1, { a => [2] }], 3], 'allow_tags calls THAW';
is eval { $tags->decode('[("Tagged")["die"]]'); 1 } ? '' : $@, "dies\n", 'the error of THAW is passed on';
ok !eval { Icecore::JSON->new->decode('("Tagged")[1]'); 1 }, 'tags are refused without allow_tags';

# Additional syntax that Cpanel::JSON::XS accepts.
is_deeply +Icecore::JSON->new->allow_singlequote->decode("['a',\"b\"]"), ['a', 'b'], 'allow_singlequote accepts strings in single quotes';
is_deeply +Icecore::JSON->new->allow_barekey->decode('{a:1,"b":2}'), { a => 1, b => 2 }, 'allow_barekey accepts keys without quotes';
is_deeply +Icecore::JSON->new->relaxed->decode("[1,2, # two\n]"), [1, 2], 'relaxed accepts comments and trailing commas';

# Filters.
my $filter = Icecore::JSON->new;
$filter->filter_json_object(sub { my ($hash) = @_; return exists $hash->{list} ? [@{ $hash->{list} }] : () });
is_deeply $filter->decode('{"list":[1,{"list":[2]},{"a":1}]}'), [1, [2], { a => 1 }], 'filter_json_object replaces objects';
$filter->filter_json_object(sub {5});
is $filter->decode('{"a":1}'), 5, 'filter_json_object replaces the root';
is_deeply $filter->decode('[{"a":{}},1]'), [5, 1], 'filter_json_object is called for inner objects first';
$filter->filter_json_object;
$filter->filter_json_single_key_object(__widget__ => sub { return "widget $_[0]" });
is_deeply $filter->decode('[{"__widget__":5},{"__widget__":5,"b":1},{"b":{"__widget__":1}}]'),
    ['widget 5', { __widget__ => 5, b => 1 }, { b => 'widget 1' }], 'filter_json_single_key_object replaces objects with one key';
$filter->filter_json_single_key_object(__widget__ => sub { return });
is_deeply $filter->decode('{"__widget__":5}'), { __widget__ => 5 }, 'a filter may return nothing';
$filter->filter_json_single_key_object('__widget__');
$filter->filter_json_object(sub { return (1, 2) });
ok !eval { $filter->decode('{}'); 1 } && $@ =~ /^filter_json_object callbacks must not return more than one scalar/, 'a filter may not return two values';
$filter->filter_json_object(sub { undef $filter; die "gone\n" });
ok !eval { $filter->decode('[[{"a":[1]}]]'); 1 } && $@ eq "gone\n", 'a filter may release the decoder and die';

# Settings of Cpanel::JSON::XS.
is $json->escape_slash->encode(['a/b']), '["a\/b"]', 'escape_slash escapes slashes';
is $json->escape_slash(0)->indent->indent_length(1)->encode({ a => [1] }), qq({\n "a":[\n  1\n ]\n}\n), 'indent_length sets the indentation';
$json->indent(0);
is $json->type_all_string->encode([1, 2.5, 'x', undef]), '["1","2.5","x",null]', 'type_all_string writes numbers in quotes';
$json->type_all_string(0);
my $inf = 9**9**9;
is $json->encode([$inf]), '[inf]', 'infinity is written as perl prints it';
is $json->stringify_infnan(1)->encode([$inf, -$inf]), '["inf","-inf"]', 'stringify_infnan(1) writes infinities in quotes';
is $json->stringify_infnan(0)->encode([$inf]), '[null]', 'stringify_infnan(0) writes null';
is $json->stringify_infnan(3)->encode([$inf, $inf - $inf]), '["inf","nan"]', 'stringify_infnan(3) writes infinities in quotes without a sign';
is $json->stringify_infnan(2)->encode([$inf]), '[inf]', 'stringify_infnan(2) writes infinities without quotes';
is $json->sort_by(1)->get_sort_by, 1, 'sort_by sets canonical';
ok !eval { $json->allow_dupkeys(0)->decode('{"a":1,"a":2}'); 1 } && $@ =~ /^Duplicate keys not allowed/, 'allow_dupkeys(0) refuses repeated keys';
is_deeply $json->decode('{"a":1,"b":{}}'), { a => 1, b => {} }, 'allow_dupkeys(0) accepts other objects';
{
    package Text;
    use overload '""' => sub {"text"};
}
is +Icecore::JSON->new->allow_stringify->encode([bless [], 'Text']), '["text"]', 'allow_stringify calls overloading';

# Every setting has a getter.
my $fresh = Icecore::JSON->new;
for my $name (qw(ascii latin1 utf8 indent canonical space_before space_after relaxed allow_blessed convert_blessed allow_unknown
    allow_tags shrink escape_slash allow_stringify allow_barekey allow_singlequote unblessed_bool type_all_string allow_bignum)) {
    my $get = "get_$name";
    ok !$fresh->$get && $fresh->$name->$get && !$fresh->$name(0)->$get, $name;
}
ok $fresh->get_allow_nonref && $fresh->get_allow_dupkeys, 'allow_nonref and allow_dupkeys are set by default';
is_deeply [$fresh->get_max_depth, $fresh->get_max_size, $fresh->max_depth(7)->get_max_depth, $fresh->max_size(9)->get_max_size], [512, 0, 7, 9], 'the limits can be read and set';

{
    package Sub::Class;
    our @ISA = ('Icecore::JSON');
}
is ref(Sub::Class->new->utf8), 'Sub::Class', 'a subclass can be created';
is(Sub::Class->new->encode([1]), '[1]', 'an object of a subclass can encode');
ok !eval { Icecore::JSON::encode(bless(\my $nothing, 'Icecore::JSON'), []); 1 }, 'a blessed scalar that is not an encoder is refused';

subtest 'booleans that threads share' => sub {
    plan skip_all => 'needs a perl with threads' unless eval { require threads; require threads::shared; 1 };
    # Shared only if threads were loaded first.
    my $code = 'use threads; use threads::shared; use Icecore::JSON;'
        . ' print Icecore::JSON->new->canonical->encode(shared_clone({ t => Icecore::JSON::true(), f => Icecore::JSON::false(), r => [\\1, \\0] }))';
    open my $out, '-|', $^X, (map { "-I$_" } @INC), '-e', $code or die $!;
    is(join('', <$out>), '{"f":false,"r":[true,false],"t":true}', 'booleans that threads share are written as booleans');
};

done_testing;
