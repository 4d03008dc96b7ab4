# The allow lists of encoders and decoders behave like Sereal 5.011: recorded cases with its
# results (fixtures/perl/sereal-lists.pl). ICECORE_SEREAL_LISTS names a file with more of them.

use v5.30;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use JSON::PP ();
use Test::More;
use Icecore::Sereal ();
use SerealLists;

my %ours = (
    encode => sub { Icecore::Sereal::Encoder->new({ sort_keys => 1, %{ $_[1] } })->encode($_[0]) },
    decode => sub { Icecore::Sereal::Decoder->new({ %{ $_[1] }, classes => 'any' })->decode($_[0]) },
);

# The original works until it meets a denied object; Icecore does not begin, because all objects
# are checked before the first THAW.
sub expected_calls {
    my ($case) = @_;
    my @calls = @{ $case->{outcome}{calls} };
    return \@calls if !defined $case->{bytes};
    my @asked = grep { /^ASK/ } @calls;
    return [@asked, defined $case->{outcome}{error} ? () : grep { !/^ASK/ } @calls];
}

my $file = $ENV{ICECORE_SEREAL_LISTS} // "$FindBin::Bin/lib/sereal-lists.jsonl";
open my $in, '<', $file or die "$file: $!";
my $json = JSON::PP->new->canonical;
my $made = $json->decode(scalar <$in>);
note "made with Sereal $made->{sereal}, perl $made->{perl}";
my ($count, %kinds) = (0);
while (my $line = <$in>) {
    my $case     = $json->decode($line);
    my $outcome  = $case->{outcome};
    my $ours     = SerealLists::outcome(\%ours, $case);
    my $expected = { %$outcome, calls => expected_calls($case) };
    $count++;
    $kinds{ defined $outcome->{error} ? 'denied or wrong' : 'fine' }++;
    next if $json->encode($ours) eq $json->encode($expected);
    fail("case $case->{number}");
    diag(explain({ case => { %$case, outcome => undef }, ours => $ours, expected => $expected }));
    last if Test::More->builder->{Test_Results} && grep({ !$_->{ok} } Test::More->builder->details) > 8;
}
ok($count > 100 && $kinds{fine} > $count / 5 && $kinds{'denied or wrong'} > $count / 5, "there are $count cases, and $kinds{fine} are accepted");

done_testing;
