# Random data and random settings, encoded and decoded by JSON::XS and by
# Icecore::JSON: the same bytes, and the same values.

use strict;
use warnings;

use Test::More;
use Icecore::JSON ();

eval { require JSON::XS; 1 } or plan skip_all => 'needs JSON::XS';

my $seed = $ENV{ICECORE_SEED} || 20;
srand $seed;

my @flags = qw(ascii latin1 utf8 indent canonical space_before space_after relaxed allow_nonref allow_blessed
    convert_blessed allow_unknown allow_tags shrink);

{
    package Point;
    sub TO_JSON { my ($self) = @_; return { x => [$self->[0], "a\x{e9}"] } }

    package Tagged;
    sub FREEZE { my ($self, $what) = @_; return ($what, @{ $self->{list} }) }
    sub THAW   { my ($class, $what, @list) = @_; return bless { list => [@list] }, $class }

    package Mute;
}

my @words = (
    '', 'a', '0', '1', '12', '-5', '0 but true', 'name', "tab\there", "quote\"back\\slash/", "\0\1\x1f\x7f", "caf\xe9", "\x{263a}x",
    "\x{1f600}", "\xff\xfe", "\x{2028}", 'x' x 200, "long \x{e9} and more " x 20, "\x{e9}\x{100}", 'true', 'ends with \\',
);

sub pick { return $_[rand @_] }

sub leaf {
    my $kind = int rand 14;
    return undef               if $kind == 0;
    return int rand 100        if $kind == 1;
    return -int(rand 1e6)      if $kind == 2;
    return 18446744073709551615 if $kind == 3;
    return pick(0.1, -2.5, 1e20, 1e-7, 1 / 3, 1e15, 123456789.125, 1e300, -0.0, 3.0, 1e5, 0.0001, 0.00001) if $kind == 4;
    return \pick(0, 1) if $kind == 5;
    return pick($Icecore::JSON::true, $Icecore::JSON::false) if $kind == 6;
    if ($kind == 7) { my $number = int rand 1000; my $text = "$number"; return $number }
    if ($kind == 8) { my $text = pick('12', '3.5', 'abc', '1e3'); { no warnings; my $sum = $text + 1 } return $text }
    if ($kind == 9) { my $text = pick(@words); utf8::upgrade($text); return $text }
    return bless([1, 2], 'Point') if $kind == 10 && rand() < 0.3;
    return bless({ list => [1, { a => 2 }] }, 'Tagged') if $kind == 11 && rand() < 0.3;
    return pick(\'x', sub {1}, bless({}, 'Mute'), \*STDOUT) if $kind == 12 && rand() < 0.1;
    return pick(@words);
}

sub value {
    my ($depth) = @_;
    return leaf() if $depth <= 0 || rand() < 0.3;
    return [map { value($depth - 1) } 1 .. rand 6] if rand() < 0.5;
    return { map { (pick(@words) . (rand() < 0.5 ? int rand 30 : '')) => value($depth - 1) } 1 .. rand 8 };
}

# Returns a text with the values and perl's internal types: flags of strings, numbers.
sub value_and_types {
    my ($value) = @_;
    return 'undef' if !defined $value;
    if (my $ref = ref $value) {
        return "[$ref " . join(',', map { value_and_types($_) } @$value) . ']' if $ref eq 'ARRAY';
        return "$ref " . ($$value ? 1 : 0) if $ref =~ /Boolean/;
        my $inside = join ',', map { value_and_types($_) . '=>' . value_and_types($value->{$_}) } sort keys %$value;
        return "{$ref $inside}";
    }
    my $kind = JSON::XS->new->allow_nonref->encode($value) =~ /\A"/ ? 'string' : 'number';
    return $kind . (utf8::is_utf8($value) ? ' utf8 ' : ' ') . unpack('H*', do { my $copy = "$value"; utf8::encode($copy); $copy });
}

# Returns the first difference of two texts.
sub first_difference {
    my ($ours, $theirs) = @_;
    my $offset = 0;
    $offset++ while $offset < length $ours && substr($ours, $offset, 1) eq substr($theirs, $offset, 1);
    $offset = $offset < 30 ? 0 : $offset - 30;
    return sprintf "ours   %s\ntheirs %s", map { s/([^ -~])/sprintf '\\x{%x}', ord $1/ger } map { substr $_, $offset, 80 } $ours, $theirs;
}

my ($same, $refused, $decoded) = (0, 0, 0);
my $rounds = $ENV{ICECORE_ROUNDS} || 3000;
for my $round (1 .. $rounds) {
    my $data = value(rand 5);
    my ($ours, $theirs) = (Icecore::JSON->new, JSON::XS->new);
    my @set;
    for my $flag (@flags) {
        next if rand() < 0.6;
        my $on = rand() < 0.85 ? 1 : 0;
        push @set, "$flag($on)";
        $_->$flag($on) for $ours, $theirs;
    }
    my $name = "seed $seed, round $round: " . join '->', @set;
    my $their_text = eval { $theirs->encode($data) };
    my $their_error = $@;
    my $our_text = eval { $ours->encode($data) };
    my $our_error = $@;
    if (!defined $their_text) {
        $refused++;
        s/0x[0-9a-f]+//g, s/ at \S+ line.*//s for $our_error, $their_error;
        is $our_error, $their_error, "$name: the error" or last if $our_error ne $their_error || defined $our_text;
        next;
    }
    if (!defined $our_text || $our_text ne $their_text || utf8::is_utf8($our_text) != utf8::is_utf8($their_text)) {
        fail $name;
        diag defined $our_text ? first_difference($our_text, $their_text) : "ours: $our_error\ntheirs: " . substr $their_text, 0, 500;
        last;
    }
    $same++;
    my $tags = $ours->get_allow_tags;
    $_->allow_tags(0) for $ours, $theirs;
    next if $tags && $their_text =~ /\(/;
    my $their_value = eval { [$theirs->decode($their_text)] };
    my $our_value   = eval { [$ours->decode($their_text)] };
    $our_error = $@;
    if (!$their_value) {
        fail "$name: decoded what JSON::XS does not" if $our_value;
        next;
    }
    if (!$our_value || value_and_types($our_value) ne value_and_types($their_value)) {
        fail "$name: decoding $their_text";
        diag $our_value ? "ours   " . value_and_types($our_value) . "\ntheirs " . value_and_types($their_value) : $our_error;
        last;
    }
    $decoded++;
}
ok $same > $rounds / 4,    "the bytes were equal $same times";
ok $refused > $rounds / 50, "both refused $refused times";
ok $decoded > $rounds / 6, "the values were equal $decoded times";
done_testing;
