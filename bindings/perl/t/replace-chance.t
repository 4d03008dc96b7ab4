# Text replaced in random structures that the originals froze: the result must be what they
# write for the changed structure, at all levels of texts in texts.
#
#   ICECORE_TEST_ROUNDS=100000 ICECORE_TEST_SEED=1 prove -b t/replace-chance.t

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
BEGIN { ours_only() }

use Data::Dumper ();
use Encode       ();
use JSON::PP     ();
use Storable     ();
use Icecore;
use Plan;
use Same;
use Ways;

my $rounds = $ENV{ICECORE_TEST_ROUNDS} || 200;
my $first  = $ENV{ICECORE_TEST_SEED}   || 1;

my @pairs = (
    { old => 'new' }, { old => 'brand new' }, { old => '' }, { old => 'an old one' }, { ink => 'old', old => 'ink' },
    { old => 'x', older => 'much older', an => '0' }, { old => 'long ' x 60 }, { old => '"', '"' => q(') }, { old => "\0\n", '\\' => '' },
);

# Returns a function that replaces text: the longest match first, and no text twice.
sub replacer_for {
    my ($pairs) = @_;
    my $pattern = join '|', map quotemeta, sort { length $b <=> length $a } keys %$pairs;
    return sub { return $_[0] =~ s/($pattern)/$pairs->{$1}/gr };
}

my $dumper = sub { local ($Data::Dumper::Sortkeys, $Data::Dumper::Indent) = (1, $_[1]); return Data::Dumper::Dumper($_[0]) };
my %ways   = (
    'Storable, nfreeze' => { freeze => sub { local $Storable::canonical = 1; Storable::nfreeze($_[0]) } },
    'Storable, freeze'  => { freeze => sub { local $Storable::canonical = 1; Storable::freeze($_[0]) } },
    'Dumper'            => { freeze => sub { $dumper->($_[0], 1) }, values => 1 },
);
if (have_original('Sereal::Encoder') && have_original('Sereal::Decoder')) {
    for my $protocol (2 .. 4) {
        my $encoder = Sereal::Encoder->new({ canonical => 1, protocol_version => $protocol });
        $ways{"Sereal, protocol $protocol"} = { freeze => sub { $encoder->encode($_[0]) }, read => sub { Sereal::Decoder::decode_sereal($_[0]) } };
    }
}

for my $name (sort keys %ways) {
    my ($freeze, $read) = @{ $ways{$name} }{qw(freeze read)};
    my (@failures, $changed);
    for my $seed ($first .. $first + $rounds - 1) {
        my $pairs  = $pairs[$seed % @pairs];
        my $utf8   = $seed % 3 == 0;
        my $plan   = Plan->new($seed, utf8 => $utf8, json => $seed % @pairs < 7, freeze => $freeze);
        my $change = replacer_for($pairs);
        my ($before, $expected) = map { $freeze->($plan->render($_)) } sub { $_[0] }, $change;
        my $got = eval { Icecore::replace($pairs, $before) };
        if (!defined $got) { push @failures, "$seed: $@"; next }
        $changed++ if $got ne $before;
        next       if $got eq $expected;
        # Sereal counts offsets in its copies of keys, Dumper folds lines: then the values are
        # compared.
        my $difference = $read ? eval { difference($read->($got), $read->($expected), strict => 1) } // $@ : Ways::first_difference($got, $expected);
        push @failures, "$seed: $difference" if $difference;
    }
    is(scalar @failures, 0, $name) or diag(join "\n", @failures[0 .. ($#failures < 9 ? $#failures : 9)]);
    cmp_ok($changed // 0, '>', $rounds / 3, 'a third of the documents were changed');
}

done_testing;
