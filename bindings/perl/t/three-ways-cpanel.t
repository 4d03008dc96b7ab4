# Features of Cpanel::JSON::XS in Icecore::JSON: the same bytes for the same settings, and the
# same values for the additional syntax that it accepts.

use strict;
use warnings;

use Test::More;
use Icecore::JSON ();

eval { require Cpanel::JSON::XS; 1 } or plan skip_all => 'needs Cpanel::JSON::XS';

srand($ENV{ICECORE_SEED} || 7);
my @words = ('', 'a/b', "caf\xe9", "\x{263a}/", "tab\t\"", '12', 'x' x 50, "</script>", "\x{1f600}");
sub pick { return $_[rand @_] }

sub value {
    my ($depth) = @_;
    return pick(@words, undef, int rand 1000, -5, 1.5, 0.1) if $depth <= 0 || rand() < 0.3;
    return [map { value($depth - 1) } 1 .. rand 5] if rand() < 0.5;
    return { map { pick(@words) . int(rand 9) => value($depth - 1) } 1 .. rand 5 };
}

my $good = 1;
for my $round (1 .. 2000) {
    my $data = value(rand 5);
    my ($ours, $theirs) = map { $_->new->allow_nonref } 'Icecore::JSON', 'Cpanel::JSON::XS';
    my @set;
    for my $name (qw(ascii latin1 utf8 indent canonical space_before space_after escape_slash indent_length)) {
        next if rand() < 0.6;
        my $value = $name eq 'indent_length' ? int rand 9 : 1;
        push @set, "$name($value)";
        $_->$name($value) for $ours, $theirs;
    }
    my ($our, $their) = map { $_->encode($data) } $ours, $theirs;
    next if $our eq $their;
    $good = 0;
    diag "@set\nours   $our\ntheirs $their";
    last;
}
ok $good, 'the bytes are those of Cpanel::JSON::XS';

my $ascii = Icecore::JSON->new->canonical->ascii->allow_nonref;
for my $case (
    [allow_singlequote => "['a','it\"s',\"b\"]"],
    [allow_singlequote => "{'a':'b'}"],
    [allow_barekey     => '{a:1,b_2:{c:[]}}'],
    [relaxed           => "[1,2,\n# x\n]"],
    [relaxed           => '{"a":1,}'],
    [unblessed_bool    => '[true,false]'],
    ) {
    my ($option, $text) = @$case;
    my ($our, $their) = map { my $json = $_->new->$option; $ascii->encode(eval { $json->decode($text) }) } 'Icecore::JSON', 'Cpanel::JSON::XS';
    is $our, $their, "$option: $text is read as by Cpanel::JSON::XS";
    isnt $our, 'null', "$text is accepted with the option";
    next if $option eq 'unblessed_bool';
    ok !eval { Icecore::JSON->new->decode($text); 1 }, "$text is refused without the option";
}

done_testing;
