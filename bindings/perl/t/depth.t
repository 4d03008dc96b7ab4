# Depth is counted as Storable and Sereal count it: a blessed container is one level.
use strict;
use warnings;
no warnings 'recursion';
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Icecore;
use Icecore::Sereal;
use Icecore::Storable ();

Icecore->allow('A');

# Chains of values: each function puts one more level around a value.
my %WRAPPERS = (
    arrays             => sub { [ $_[0] ] },
    hashes             => sub { { a => $_[0] } },
    'blessed hashes'   => sub { bless { a => $_[0] }, 'A' },
    'blessed arrays'   => sub { bless [ $_[0] ], 'A' },
    references         => sub { my $value = $_[0]; \$value },
    'blessed references' => sub { my $value = $_[0]; bless \$value, 'A' },
    'arrays with references' => sub { my $value = $_[0]; [ \$value ] },
);

# Returns a chain with this number of levels.
sub chain {
    my ($wrap, $levels) = @_;
    my $value = [];
    $value = $wrap->($value) for 2 .. $levels;
    return $value;
}

# Frees a long chain without recursion.
my @chains;

for my $name (sort keys %WRAPPERS) {
    for my $levels (20, 5_100, 9_990) {
        my $chain = chain($WRAPPERS{$name}, $levels);
        push @chains, $chain;
        my $frozen = eval { Icecore::Storable::freeze($chain) };
        ok(defined $frozen, "$levels levels of $name are frozen") or diag $@;
        my $thawed = eval { Icecore::Storable::thaw($frozen) };
        ok(defined $thawed, "$levels levels of $name are thawed") or diag $@;
        push @chains, $thawed;
    }
    my $too_deep = chain($WRAPPERS{$name}, 30_000);
    push @chains, $too_deep;
    {
        local $Icecore::Storable::recursion_limit = -1;
        my $frozen = eval { Icecore::Storable::freeze($too_deep) };
        my $thawed = eval { Icecore::Storable::thaw($frozen) };
        ok(defined $thawed, "a limit of -1 allows any depth of $name") or diag $@;
        push @chains, $thawed;
    }
}

SKIP: {
    skip 'Sereal is not installed', 1 unless eval { require Sereal::Encoder; require Sereal::Decoder; 1 };
    for my $name (sort keys %WRAPPERS) {
        for my $limit (5, 40, 100) {
            for my $levels ($limit - 3 .. $limit + 3) {
                my $chain = chain($WRAPPERS{$name}, $levels);
                my $own = eval { Icecore::Sereal::Encoder->new({ max_recursion_depth => $limit })->encode($chain) };
                my $theirs = eval { Sereal::Encoder->new({ max_recursion_depth => $limit })->encode($chain) };
                is(defined $own, defined $theirs, "Sereal's limit $limit for writing $levels levels of $name");
                my $bytes = Sereal::Encoder->new->encode($chain);
                $own = eval { Icecore::Sereal::Decoder->new({ max_recursion_depth => $limit })->decode($bytes) };
                $theirs = eval { Sereal::Decoder->new({ max_recursion_depth => $limit })->decode($bytes) };
                is(defined $own, defined $theirs, "Sereal's limit $limit for reading $levels levels of $name");
            }
        }
    }
}

done_testing();

# perl frees nested data by recursion, which a small stack does not allow for 30,000 levels.
require POSIX;
$| = 1;
POSIX::_exit(Test::More->builder->is_passing ? 0 : 1);
