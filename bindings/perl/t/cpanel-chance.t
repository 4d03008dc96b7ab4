# Random values, types, texts and settings: Icecore::JSON::Cpanel against Cpanel::JSON::XS. The results must be the same
# bytes or the same values, and each error must begin with the original's message.

use strict;
use warnings;

use B ();
use Math::BigFloat;
use Math::BigInt;
use Scalar::Util qw(blessed dualvar reftype);
use Test::More;
use Icecore::JSON::Cpanel ();

eval { require Cpanel::JSON::XS; require Cpanel::JSON::XS::Type; Cpanel::JSON::XS::Type->import; 1 }
    or plan skip_all => 'needs Cpanel::JSON::XS';

my $seed   = $ENV{ICECORE_SEED}   || 11;
my $rounds = $ENV{ICECORE_ROUNDS} || 4000;
srand $seed;
Icecore->allow('Point');

package Point {
    sub TO_JSON { my $self = shift; return Scalar::Util::reftype($self) eq 'HASH' ? {%$self} : ['point'] }
    sub FREEZE  { return ($_[1], 1, "x\x{100}") }
    sub THAW    { my (undef, @list) = @_; return bless [@list], 'Thawed' }
}
package Overloaded { use overload '""' => sub { 'o<' . Scalar::Util::reftype($_[0]) . '>' }, fallback => 1 }

sub pick { return $_[rand @_] }

my @words = (
    '', 'a', 'abc', "caf\xe9", "\x{263a}", "\x{1f600}x", "tab\t\"\\/", "\x00\x1f\x7f", '12', '1.5', 'inf', 'nan', '1e3', 'null',
    'true', 'x' x 60, "\xff\xfe", "\x{fdd0}",
);

sub string {
    my $text = join '', map pick(@words), 1 .. 1 + rand 3;
    utf8::upgrade($text) if rand() < 0.1;
    return $text;
}

# Numbers, and scalars that are both a number and a string.
my @used = map { no warnings 'numeric'; my ($text) = $_; my $number = $text + 0; $text } '12', '1.50', 'abc', ' 7', '0x10';
push @used, map { my ($number) = $_; my $text = "$number"; $number } 3.5, 7, -0.0, 1e20;

sub number {
    my $kind = rand;
    return int rand 100 if $kind < 0.25;
    return pick(0, -1, 9223372036854775807, -9223372036854775808, 18446744073709551615, 59000, 65536) if $kind < 0.4;
    return pick(0.1, 1.5, -2.5, 1e20, 1e15, 123456789012345.6, 3.0, -0.0, 1e-7, 5e-324, 1.7976931348623157e308, 2**53) if $kind < 0.6;
    return pick(9**9**9, -9**9**9, -sin(9**9**9)) if $kind < 0.65;
    return dualvar(5, 'five') if $kind < 0.7;
    return pick(@used);
}

sub value {
    my ($depth) = @_;
    if ($depth > 0 && rand() < 0.45) {
        return rand() < 0.5 ? [map value($depth - 1), 1 .. rand 4] : { map { string() => value($depth - 1) } 1 .. rand 4 };
    }
    my $kind = int rand 40;
    return string() if $kind < 12;
    return number() if $kind < 24;
    return undef if $kind < 26;
    return pick(!!1, !!0) if $kind < 28;
    return pick(\1, \0, Cpanel::JSON::XS::true(), Cpanel::JSON::XS::false()) if $kind < 31;
    return bless pick({ a => 1 }, [1]), 'Point' if $kind == 31;
    return bless pick({}, [], \(my $inner = 'z')), pick('Overloaded', 'Plain') if $kind < 34;
    return Math::BigInt->new(pick('5', '-123456789012345678901234567890')) if $kind == 34;
    return Math::BigFloat->new(pick('1.5', '-0.000000000000000000000000123', '7')) if $kind == 35;
    return \(my $copy = pick('some', '', 5, undef)) if $kind == 36;
    return pick(\\1, sub { }, qr/x/, \*STDOUT);
}

my @types = map { $_, $_ | 256 } 0 .. 4;

sub type {
    my ($value) = @_;
    my $kind = rand;
    return pick(undef, @types, [], {}, 'x', json_type_arrayof(1)) if $kind < 0.08;
    if (ref $value eq 'ARRAY') {
        return [map type($_), @$value] if $kind < 0.5;
        return json_type_arrayof(pick(@types)) if $kind < 0.7;
        return json_type_anyof(pick(@types), json_type_arrayof(pick(@types)), json_type_hashof(pick(@types)));
    }
    if (ref $value eq 'HASH') {
        return { map { $_ => type($value->{$_}) } keys %$value } if $kind < 0.6;
        return json_type_hashof(pick(@types)) if $kind < 0.8;
        return json_type_anyof(pick(@types), json_type_hashof(pick(@types)));
    }
    return $kind < 0.9 ? pick(@types) : json_type_anyof(pick(@types), [], {});
}

my @pieces = (
    '"', "'", '\\', '{', '}', '[', ']', ',', ':', "#c\n", ' ', '1', '-', '.', 'e', 't', 'true', 'null', "\xe9", '\u00e9', '\ud83d\ude00',
    '\ud83d', '\x41', '\101', '"a":1,', '"a":1,"a":2', 'k:1', "\t", "\x01", '1.8e308', '123456789012345678901', '0.1', '01',
    '("Point")[1]', '\uFDD0', '',
);

# A text of JSON, often with an error.
sub text {
    my $text = eval { Cpanel::JSON::XS->new->allow_nonref->allow_blessed->allow_unknown->encode(value(int rand 4)) } // '[1]';
    utf8::encode($text) if rand() < 0.9;
    return $text if rand() < 0.4;
    for (1 .. 1 + rand 3) {
        my ($offset, $length) = (int rand 1 + length $text, int rand 3);
        substr $text, $offset, $length, pick(@pieces);
    }
    return $text;
}

# Probabilities of settings. A repeated key crashes Cpanel::JSON::XS with dupkeys_as_arrayref, so that setting is not here.
my %settings = (
    (map { $_ => 0.2 } qw(ascii latin1 utf8 indent space_before space_after canonical relaxed allow_tags allow_barekey
        allow_singlequote escape_slash unblessed_bool allow_dupkeys shrink pretty)),
    (map { $_ => 0.4 } qw(allow_unknown allow_blessed convert_blessed)),
    (map { $_ => 0.08 } qw(binary allow_bignum require_types type_all_string)),
    allow_nonref => 0.8, allow_stringify => 0.2,
);

# Two objects with the same settings, and the names of these.
sub objects {
    my @objects = map $_->new, 'Icecore::JSON::Cpanel', 'Cpanel::JSON::XS';
    my @calls = map [$_, 1], grep rand() < $settings{$_}, sort keys %settings;
    push @calls, [stringify_infnan => int rand 4] if rand() < 0.3;
    push @calls, [indent_length => int rand 9] if rand() < 0.1;
    # The list of a tag counts as a level here.
    push @calls, [max_depth => 1 + int rand 4] if rand() < 0.1 && !grep $_->[0] eq 'allow_tags', @calls;
    for my $call (@calls) {
        my ($name, $value) = @$call;
        $_->$name($value) for @objects;
    }
    return (\@objects, join ' ', map "$_->[0]($_->[1])", @calls);
}

# A value as text, with the flags of each scalar.
sub describe {
    my ($value) = @_;
    return 'undef' if !defined $value;
    if (my $type = reftype $value) {
        my $class = blessed($value) // '';
        return "$class<" . $value->bsstr . ">" if $class =~ /^Math::/;
        return "$class\[" . join(',', map describe($_), @$value) . ']' if $type eq 'ARRAY';
        return "$class\{" . join(',', map "$_=>" . describe($value->{$_}), sort keys %$value) . '}' if $type eq 'HASH';
        return "$class\\" . ($type eq 'SCALAR' ? describe($$value) : $type);
    }
    my $flags = B::svref_2object(\$value)->FLAGS;
    my $kind = join '', map $_->[0], grep $flags & $_->[1], ['I', B::SVf_IOK], ['N', B::SVf_NOK], ['P', B::SVf_POK];
    return "$kind:" . ($kind eq 'N' ? sprintf '%.17g', $value : $value);
}

sub without_place {
    my ($message) = @_;
    $message =~ s/ at \S+ line \d+\.?\n.*//s;
    return $message =~ s/0x[0-9a-f]+/0x/gr;
}

# The results and errors of both objects for a random call, and what was called.
sub results {
    my ($objects) = @_;
    my ($what, $code);
    if (rand() < 0.55) {
        my $value = value(int rand 5);
        my @type = rand() < 0.3 ? type($value) : ();
        $what = 'encode ' . describe($value) . ' ' . describe($type[0]);
        $code = sub { my $bytes = $_[0]->encode($value, @type); return (utf8::is_utf8($bytes) ? 'text ' : '') . $bytes };
    }
    else {
        my $text = text();
        my ($method, $wants_type) = (pick(qw(decode decode decode_prefix)), rand() < 0.2);
        $what = "$method " . describe($text);
        $code = sub {
            my $copy = $text;
            my @result = $_[0]->$method($copy, $wants_type ? my $type : ());
            return join ' ', map describe($_), @result, $wants_type ? $type : ();
        };
    }
    my @results;
    for my $object (@$objects) {
        my @warnings;
        local $SIG{__WARN__} = sub { push @warnings, without_place($_[0]) };
        my $result = eval { $code->($object) };
        push @results, defined $result ? { result => join ' ', $result, $what =~ /^decode/ ? @warnings : () } : { error => without_place($@) };
    }
    return ($what, @results);
}

# Cpanel::JSON::XS accepts a quote after a key without quotes, and keys that begin with a bracket. It looks for a class
# before it reads on.
sub is_accident {
    my ($settings, $ours, $theirs) = @_;
    return 1 if ($theirs->{error} // '') =~ /^cannot decode perl-object/ && exists $ours->{error};
    return $settings =~ /barekey|relaxed/ && exists $theirs->{result} && ($ours->{error} // '') =~ /^'"'(?: or ''')? expected|^':' expected/;
}

my ($errors, $accidents, $good) = (0, 0, 1);
for my $round (1 .. $rounds) {
    my ($objects, $settings) = objects();
    my ($what, $ours, $theirs) = results($objects);
    $errors++ if exists $theirs->{error};
    next if exists $theirs->{result} && exists $ours->{result} && $ours->{result} eq $theirs->{result};
    next if exists $theirs->{error} && exists $ours->{error} && $ours->{error} =~ /^\Q$theirs->{error}/;
    next if is_accident($settings, $ours, $theirs) && ++$accidents;
    $good = 0;
    utf8::encode(my $report = join "\n", "round $round: $settings: $what", map "$$_[0]  " . join(' ', %{ $$_[1] }), ['ours  ', $ours], ['theirs', $theirs]);
    diag $report;
    last if !$ENV{ICECORE_ROUNDS};
}
ok $good, "$rounds cases (seed $seed) have the results of Cpanel::JSON::XS";
ok $errors > $rounds / 10, 'many of them are errors';
ok $accidents < $rounds / 100, 'few are known differences';

done_testing;
