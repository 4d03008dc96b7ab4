# Random structures, frozen and read by both modules: the bytes must be equal, and the
# values that are read must be the same, also in which of them are perl's own, read-only, shared or weak.
#
#   ICECORE_TEST_ROUNDS=100000 ICECORE_TEST_SEED=1 prove -b t/chance.t

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Chance;
use Same;
use Ways;

my $rounds = $ENV{ICECORE_TEST_ROUNDS} || 150;
my $first  = $ENV{ICECORE_TEST_SEED}   || 1;
my (@failures, %compared);

sub try_call {
    my ($code) = @_;
    local $SIG{__WARN__} = sub { };
    my $result;
    return eval { $result = $code->(); 1 } ? ($result, undef) : (undef, $@ || 'died');
}

sub compare {
    my ($what, $ours, $original) = @_;
    my ($original_result, $original_error) = try_call($original);
    my ($our_result, $our_error)   = try_call($ours);
    return if defined $original_error;    # if the original dies, there is nothing to compare
    $compared{ $what =~ s/.*: //r }++;
    if (defined $our_error) { push @failures, "$what: Icecore dies: $our_error"; return }
    my $difference = ref $original_result ? difference($our_result, $original_result, strict => 1) : $our_result eq $original_result ? '' : Ways::first_difference($our_result, $original_result);
    push @failures, "$what: $difference" if $difference;
    return $original_result;
}

# Freezing can change the type of a number, so the second time counts.
sub compare_freezing {
    my ($what, $original, $ours, $write, $data) = @_;
    try_call(sub { $write->($original, $data) });
    return compare($what, sub { $write->($ours, $data) }, sub { $write->($original, $data) });
}

SKIP: {
    my ($original, $ours) = storables();
    skip 'needs Storable', 1 unless $ours;
    @failures = %compared = ();
    for my $seed ($first .. $first + $rounds - 1) {
        for my $how ('freeze', 'nfreeze') {
            for my $canonical (0, 1) {
                # Hooks are called in the order of the hash, whatever order is written.
                my $data  = Chance::structure($seed, unlinked => $canonical);
                my $write = sub { my ($m, $what) = @_; $m->with({ canonical => $canonical }, sub { $m->$how($what) }) };
                my $bytes = compare_freezing("$seed: $how, canonical $canonical", $original, $ours, $write, $data) // next;
                compare("$seed: thaw", sub { $ours->thaw($bytes) }, sub { $original->thaw($bytes) });
                compare("$seed: dclone", sub { $ours->dclone($data) }, sub { $original->dclone($data) });
            }
        }
    }
    is(scalar @failures, 0, 'Storable and Icecore give the same results') or diag(join "\n", @failures[0 .. ($#failures < 19 ? $#failures : 19)]);
    ok($compared{thaw} && $compared{dclone}, 'the original reads most structures');
}

SKIP: {
    my ($original, $ours) = sereals();
    skip 'needs Sereal', 1 unless $ours;
    @failures = %compared = ();
    # Typical options, and combinations of those that decide which variables are shared or
    # read-only. The effect of set_readonly_scalars on arrays and hashes depends on the tags
    # that the original met.
    my @decoders = (
        {}, { use_undef => 1 }, { alias_smallint => 1 }, { alias_varint_under => 1000 }, { alias_varint_under => -5 }, { set_readonly => 1 },
        { use_undef => 1, alias_smallint => 1 }, { use_undef => 1, alias_varint_under => 100, set_readonly => 1 }, { no_bless_objects => 1 },
    );
    for my $seed ($first .. $first + $rounds - 1) {
        for my $options ({}, { protocol_version => 2 }, { protocol_version => 4, croak_on_bless => 0 }, { no_shared_hashkeys => 1 }) {
            my $data  = Chance::structure($seed, sereal => 1);
            my $name  = join ' ', map { "$_ $options->{$_}" } sort keys %$options;
            my $bytes = compare_freezing("$seed: encode $name", $original, $ours, sub { $_[0]->encode($_[1], $options) }, $data) // next;
            for my $decoder (@decoders) {
                my $name = join ' ', map { "$_ $decoder->{$_}" } sort keys %$decoder;
                my $read = sub { my ($m) = @_; $m->decode($bytes, $decoder, my $into); return \$into };
                compare("$seed: decode $name", sub { $read->($ours) }, sub { $read->($original) });
            }
        }
    }
    is(scalar @failures, 0, 'Sereal and Icecore give the same results') or diag(join "\n", @failures[0 .. ($#failures < 19 ? $#failures : 19)]);
    ok($compared{'decode '}, 'the original reads most structures');
}

done_testing;
