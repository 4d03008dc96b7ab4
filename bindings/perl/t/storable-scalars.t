# Numbers at all limits, strings of digits, dual values, undef, booleans, v-strings.

use strict;
use warnings;
no warnings qw(portable overflow);
use FindBin ();
use lib "$FindBin::Bin/lib";

use B ();
use Test::More;
use Scalar::Util qw(dualvar readonly);
use Both;
use Same;
use Structures;

my @ways = qw(freeze nfreeze dclone);

sub round_trip {
    my ($m, $how, $data) = @_;
    return $how eq 'dclone' ? $m->dclone($data) : $m->thaw($m->$how($data));
}

sub is_number { my $flags = B::svref_2object(\$_[0])->FLAGS; return $flags & (B::SVf_IOK | B::SVf_NOK) && !($flags & B::SVf_POK) }

both_storable('integers' => sub {
    my ($m) = @_;
    my @edges = map { ($_ - 1, $_, $_ + 1, -$_ - 1, -$_, -$_ + 1) } 0, 127, 128, 255, 32767, 65535, 2**31 - 1, 2**31, 2**32, 2**53;
    push @edges, 9_223_372_036_854_775_806, 9_223_372_036_854_775_807, -9_223_372_036_854_775_807, -9_223_372_036_854_775_807 - 1;
    @edges = map { int } @edges;
    for my $how (@ways) {
        my $copy = round_trip($m, $how, [@edges]);
        is("@$copy", "@edges", "$how: every one of " . @edges);
        my $small = round_trip($m, $how, [-2147483648, 2147483647, -1, 0, 127, -128]);
        is(scalar(grep { !is_number($_) } @$small), 0, "$how: integers of 32 bits stay numbers");
        my @unsigned = (9_223_372_036_854_775_808, 18_446_744_073_709_551_615);
        is("@{ round_trip($m, $how, [@unsigned]) }", '9223372036854775808 18446744073709551615', "$how: unsigned integers keep their value");
        is(round_trip($m, $how, [@unsigned])->[1] - 1, 18_446_744_073_709_551_614, "$how: unsigned integers stay exact");
    }
    my $copy = $m->thaw($m->nfreeze([2**31 + 0, 5_000_000_000]));
    ok(!is_number($copy->[1]), 'network order writes integers above 32 bits as digits');
    is($copy->[1] + 1, 5_000_000_001, 'such integers can be used as numbers');
});

both_storable('floats' => sub {
    my ($m) = @_;
    my @floats = (0.1, -0.5, 1 / 3, 1e300, -1e-300, 2**70, 1.5, 4 * atan2(1, 1));
    for my $how ('freeze', 'dclone') {
        my $copy = round_trip($m, $how, [@floats]);
        is(scalar(grep { $copy->[$_] != $floats[$_] } 0 .. $#floats), 0, "$how: floats stay exact");
    }
    my $copy = round_trip($m, 'nfreeze', [@floats]);
    is_deeply([map { "$_" } @$copy], [map { "$_" } @floats], 'nfreeze writes floats with 15 digits');
    ok($copy->[2] != 1 / 3, 'nfreeze writes no more than 15 digits');
    my ($infinity, $nan) = (9**9**9, -sin(9**9**9));
    for my $how (@ways) {
        $copy = round_trip($m, $how, [$infinity, -$infinity, $nan]);
        is($copy->[0], $infinity, "$how: infinity is read back");
        is($copy->[1], -$infinity, "$how: minus infinity is read back");
        ok($copy->[2] != $copy->[2], "$how: not a number is read back");
    }
    $copy = round_trip($m, 'freeze', [Structures::float(3), Structures::float(2**53 + 2)]);
    ok(B::svref_2object(\$copy->[0])->FLAGS & B::SVf_IOK, 'a float without a fraction is read back as an integer');
    is($copy->[1], 2**53 + 2, 'a large float without a fraction is read back');
    is(unpack('H*', pack 'd>', round_trip($m, 'freeze', [unpack 'd>', "\x80" . "\0" x 7])->[0]), '0' x 16, 'minus zero is read back as zero');
});

both_storable('strings of digits' => sub {
    my ($m) = @_;
    my @strings = (qw(0 1 -1 007 1.0 1e3 0x1F 12345678901234567890 9223372036854775807 +5 .5), ' 1', '1 ', '');
    for my $how (@ways) {
        my $copy = round_trip($m, $how, [@strings]);
        is_deeply($copy, [@strings], "$how: strings of digits stay the same");
        is(scalar(grep { is_number($_) } @$copy), 0, "$how: strings of digits stay strings");
    }
    my $used = '007';
    my $sum  = $used + 1;
    is(round_trip($m, 'freeze', [$used])->[0], '007', 'strings of digits stay the same when they were used as numbers');
});

both_storable('values that are a string and another number' => sub {
    my ($m) = @_;
    for my $how (@ways) {
        my $copy = round_trip($m, $how, [dualvar(5, 'five'), dualvar(0, 'none'), dualvar(3.5, '')]);
        is_deeply($copy, ['five', 'none', ''], "$how: the string is kept");
        { no warnings; is($copy->[0] + 0, 0, "$how: the number is not kept") }
    }
    my $error = do { local $! = 2; $! };
    ok(length $m->thaw($m->freeze([$error]))->[0] > 1, 'an error is written as its message');
});

both_storable('freezing does not change the data' => sub {
    my ($m) = @_;
    for my $how (qw(freeze dclone store)) {
        my @values = (1, 2.5, '3', 'x', undef, -7, 1e20, 5_000_000_000);
        my @fresh  = (1, 2.5, '3', 'x', undef, -7, 1e20, 5_000_000_000);
        $how eq 'store' ? $m->store(\@values, scratch('as-it-is')) : $m->$how(\@values);
        same_ok(\@values, \@fresh, "$how: no value counts as something else", strict => 1);
    }
    my %hash = map { ($_ => 1) } 'a' .. 'j';
    my ($first) = each %hash;
    my ($second) = do { my %same = %hash; keys %hash; my @keys = keys %hash; $keys[1] };
    keys %hash;
    each %hash;
    $m->freeze(\%hash);
    my ($after) = each %hash;
    ok(defined $after, 'a loop with each can go on after freezing');
});

both_storable('undef' => sub {
    my ($m) = @_;
    for my $how (@ways) {
        my $copy = round_trip($m, $how, [undef, \undef, { a => undef }, [undef], \my $variable]);
        is($copy->[0], undef, "$how: undef as an item is read back");
        is(${ $copy->[1] }, undef, "$how: perl's own undef through a reference is read back");
        ok(exists $copy->[2]{a} && !defined $copy->[2]{a}, "$how: undef as a value of a hash is read back");
        is(@{ $copy->[3] }, 1, "$how: an array that contains only undef has one item");
        $_ = 'new' for $copy->[0], $copy->[2]{a}, $copy->[3][0], ${ $copy->[4] };
        is("$copy->[0] $copy->[2]{a} $copy->[3][0]", 'new new new', "$how: undefined values can be assigned");
    }
    my @holes;
    $holes[3] = 1;
    for my $how (@ways) {
        my $copy = round_trip($m, $how, \@holes);
        is(@$copy, 4, "$how: an array with missing items keeps its length");
        is_deeply([map { exists $copy->[$_] ? 1 : 0 } 0 .. 3], [0, 0, 0, 1], "$how: missing items stay missing");
        $copy->[1] = 5;
        is($copy->[1], 5, "$how: missing items can be assigned");
    }
    my $copy = round_trip($m, 'freeze', sub { return \@_ }->(undef, 1));
    ok(exists $copy->[0] && !defined $copy->[0], "perl's own undef as an item is not missing");
    $copy = round_trip($m, 'freeze', \undef);
    is(ref $copy, 'SCALAR', 'a reference to undef is read back as a reference');
    is($$copy, undef, 'a reference to undef refers to undef');
});

both_storable('booleans' => sub {
    my ($m) = @_;
    for my $how (@ways) {
        my $copy = round_trip($m, $how, [!!1, !!0, \!!1, \!!0, { yes => !!1, no => !!0 }]);
        is_deeply([@$copy[0, 1], ${ $copy->[2] }, ${ $copy->[3] }, @{ $copy->[4] }{qw(yes no)}], [1, '', 1, '', 1, ''], "$how: booleans are read back as true and false");
    }
    my $aliased = round_trip($m, 'freeze', sub { return \@_ }->(!!1, !!0));
    is_deeply($aliased, [1, ''], "perl's own booleans are read back");
    SKIP: {
        Test::More::skip('needs perl 5.36', 2) if $] < 5.036;
        no warnings;
        ok(builtin::is_bool($aliased->[0]), 'booleans are read back as booleans');
        ok(builtin::is_bool(${ round_trip($m, 'freeze', [\!!0])->[0] }), 'a boolean through a reference is read back as a boolean');
    }
});

both_storable('v-strings' => sub {
    my ($m) = @_;
    my $long = eval 'v' . join '.', 1 .. 100;
    for my $how (@ways) {
        my $copy = round_trip($m, $how, [v1.2.3, 5.36.0, v65.66, $long]);
        is(sprintf('%vd', $copy->[0]), '1.2.3', "$how: a v-string keeps its version");
        is(ref \$copy->[0], 'VSTRING', "$how: a v-string keeps its type");
        is($copy->[2], 'AB', "$how: a v-string keeps its string");
        is(ref \$copy->[3], 'VSTRING', "$how: a long v-string keeps its type");
        same_ok($copy, [v1.2.3, 5.36.0, v65.66, $long], "$how: v-strings keep their spelling");
    }
    require version;
    my $version = round_trip($m, 'freeze', version->declare('v1.2.3'));
    isa_ok($version, 'version');
    cmp_ok($version, '>', version->declare('v1.2.2'), 'a version object can be compared');
});

both_storable('roots' => sub {
    my ($m) = @_;
    is(${ $m->thaw($m->freeze(\'text')) }, 'text', 'a reference to a string can be frozen');
    is(${ $m->thaw($m->freeze(\42)) }, 42, 'a reference to a number can be frozen');
    is($${ $m->thaw($m->freeze(\\'deep')) }, 'deep', 'a reference to a reference can be frozen');
    is_deeply($m->thaw($m->freeze([])), [], 'an empty array can be frozen');
    is_deeply($m->thaw($m->freeze({})), {}, 'an empty hash can be frozen');
    for my $not ('text', 42, undef, '') {
        like($m->dies(sub { $m->freeze($not) }), qr/^not a reference/, 'freeze of a value that is not a reference is an error');
        like($m->dies(sub { $m->nfreeze($not) }), qr/^not a reference/, 'nfreeze of a value that is not a reference is an error');
        like($m->dies(sub { $m->store($not, scratch('not')) }), qr/^not a reference/, 'store of a value that is not a reference is an error');
    }
    like($m->dies(sub { $m->dclone('text') }), qr/^Not a reference/, 'dclone of a value that is not a reference is an error');
    is($m->thaw(undef), undef, 'thaw gives undef for undef');
    ok(!-e scratch('not'), 'no file is made');
    like($m->dies(sub { $m->freeze([], 1) }), qr/^too many arguments/, 'freeze with two arguments is an error');
});

both_storable('results are not read-only' => sub {
    my ($m) = @_;
    my $copy = $m->thaw($m->freeze([1, 'a', 2.5, undef, \1, { k => 'v' }]));
    is(scalar(grep { readonly($_) } @$copy), 0, 'items of an array are not read-only');
    ok(!readonly($copy->[5]{k}), 'values of a hash are not read-only');
    ok(!readonly(${ $copy->[4] }), 'values that were constants are not read-only');
});

done_testing;
