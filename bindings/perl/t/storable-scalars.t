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

sub again {
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
        my $copy = again($m, $how, [@edges]);
        is("@$copy", "@edges", "$how: every one of " . @edges);
        my $small = again($m, $how, [-2147483648, 2147483647, -1, 0, 127, -128]);
        is(scalar(grep { !is_number($_) } @$small), 0, "$how: those of 32 bits are numbers");
        my @unsigned = (9_223_372_036_854_775_808, 18_446_744_073_709_551_615);
        is("@{ again($m, $how, [@unsigned]) }", '9223372036854775808 18446744073709551615', "$how: above the signed ones");
        is(again($m, $how, [@unsigned])->[1] - 1, 18_446_744_073_709_551_614, "$how: they still count");
    }
    my $copy = $m->thaw($m->nfreeze([2**31 + 0, 5_000_000_000]));
    ok(!is_number($copy->[1]), 'in network order those beyond 32 bits come back as digits');
    is($copy->[1] + 1, 5_000_000_001, 'that count');
});

both_storable('floats' => sub {
    my ($m) = @_;
    my @floats = (0.1, -0.5, 1 / 3, 1e300, -1e-300, 2**70, 1.5, 4 * atan2(1, 1));
    for my $how ('freeze', 'dclone') {
        my $copy = again($m, $how, [@floats]);
        is(scalar(grep { $copy->[$_] != $floats[$_] } 0 .. $#floats), 0, "$how: to the last bit");
    }
    my $copy = again($m, 'nfreeze', [@floats]);
    is_deeply([map { "$_" } @$copy], [map { "$_" } @floats], 'nfreeze: to 15 digits');
    ok($copy->[2] != 1 / 3, 'and no more than that');
    my ($infinity, $nan) = (9**9**9, -sin(9**9**9));
    for my $how (@ways) {
        $copy = again($m, $how, [$infinity, -$infinity, $nan]);
        is($copy->[0], $infinity, "$how: infinity");
        is($copy->[1], -$infinity, "$how: minus infinity");
        ok($copy->[2] != $copy->[2], "$how: not a number");
    }
    $copy = again($m, 'freeze', [Structures::float(3), Structures::float(2**53 + 2)]);
    ok(B::svref_2object(\$copy->[0])->FLAGS & B::SVf_IOK, 'a float without a fraction comes back as an integer');
    is($copy->[1], 2**53 + 2, 'a large one too');
    is(unpack('H*', pack 'd>', again($m, 'freeze', [unpack 'd>', "\x80" . "\0" x 7])->[0]), '0' x 16, 'minus zero is zero');
});

both_storable('strings of digits' => sub {
    my ($m) = @_;
    my @strings = (qw(0 1 -1 007 1.0 1e3 0x1F 12345678901234567890 9223372036854775807 +5 .5), ' 1', '1 ', '');
    for my $how (@ways) {
        my $copy = again($m, $how, [@strings]);
        is_deeply($copy, [@strings], "$how: stay as they are");
        is(scalar(grep { is_number($_) } @$copy), 0, "$how: and strings");
    }
    my $used = '007';
    my $sum  = $used + 1;
    is(again($m, 'freeze', [$used])->[0], '007', 'also when they were used as numbers');
});

both_storable('values with two faces' => sub {
    my ($m) = @_;
    for my $how (@ways) {
        my $copy = again($m, $how, [dualvar(5, 'five'), dualvar(0, 'none'), dualvar(3.5, '')]);
        is_deeply($copy, ['five', 'none', ''], "$how: the string is kept");
        { no warnings; is($copy->[0] + 0, 0, "$how: the number is not") }
    }
    my $error = do { local $! = 2; $! };
    ok(length $m->thaw($m->freeze([$error]))->[0] > 1, 'an error is its message');
});

both_storable('freezing leaves the data as it is' => sub {
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
    ok(defined $after, 'an iteration that has begun can go on, or begins anew');
});

both_storable('undef' => sub {
    my ($m) = @_;
    for my $how (@ways) {
        my $copy = again($m, $how, [undef, \undef, { a => undef }, [undef], \my $variable]);
        is($copy->[0], undef, "$how: an element");
        is(${ $copy->[1] }, undef, "$how: perl's own behind a reference");
        ok(exists $copy->[2]{a} && !defined $copy->[2]{a}, "$how: a value");
        is(@{ $copy->[3] }, 1, "$how: alone");
        $_ = 'new' for $copy->[0], $copy->[2]{a}, $copy->[3][0], ${ $copy->[4] };
        is("$copy->[0] $copy->[2]{a} $copy->[3][0]", 'new new new', "$how: they can be written");
    }
    my @holes;
    $holes[3] = 1;
    for my $how (@ways) {
        my $copy = again($m, $how, \@holes);
        is(@$copy, 4, "$how: an array with holes is as long");
        is_deeply([map { exists $copy->[$_] ? 1 : 0 } 0 .. 3], [0, 0, 0, 1], "$how: and has the same holes");
        $copy->[1] = 5;
        is($copy->[1], 5, "$how: which can be filled");
    }
    my $copy = again($m, 'freeze', sub { return \@_ }->(undef, 1));
    ok(exists $copy->[0] && !defined $copy->[0], "perl's own undef as an element is no hole");
    $copy = again($m, 'freeze', \undef);
    is(ref $copy, 'SCALAR', 'a reference to undef is a reference');
    is($$copy, undef, 'to undef');
});

both_storable('booleans' => sub {
    my ($m) = @_;
    for my $how (@ways) {
        my $copy = again($m, $how, [!!1, !!0, \!!1, \!!0, { yes => !!1, no => !!0 }]);
        is_deeply([@$copy[0, 1], ${ $copy->[2] }, ${ $copy->[3] }, @{ $copy->[4] }{qw(yes no)}], [1, '', 1, '', 1, ''], "$how: are true and false");
    }
    my $aliased = again($m, 'freeze', sub { return \@_ }->(!!1, !!0));
    is_deeply($aliased, [1, ''], "perl's own too");
    SKIP: {
        Test::More::skip('needs perl 5.36', 2) if $] < 5.036;
        no warnings;
        ok(builtin::is_bool($aliased->[0]), 'they are booleans');
        ok(builtin::is_bool(${ again($m, 'freeze', [\!!0])->[0] }), 'behind references too');
    }
});

both_storable('v-strings' => sub {
    my ($m) = @_;
    my $long = eval 'v' . join '.', 1 .. 100;
    for my $how (@ways) {
        my $copy = again($m, $how, [v1.2.3, 5.36.0, v65.66, $long]);
        is(sprintf('%vd', $copy->[0]), '1.2.3', "$how: the version");
        is(ref \$copy->[0], 'VSTRING', "$how: is a v-string");
        is($copy->[2], 'AB', "$how: and its string");
        is(ref \$copy->[3], 'VSTRING', "$how: a long one");
        same_ok($copy, [v1.2.3, 5.36.0, v65.66, $long], "$how: spelled as it was");
    }
    require version;
    my $version = again($m, 'freeze', version->declare('v1.2.3'));
    isa_ok($version, 'version');
    cmp_ok($version, '>', version->declare('v1.2.2'), 'a version object can be compared');
});

both_storable('roots' => sub {
    my ($m) = @_;
    is(${ $m->thaw($m->freeze(\'text')) }, 'text', 'a reference to a string');
    is(${ $m->thaw($m->freeze(\42)) }, 42, 'to a number');
    is($${ $m->thaw($m->freeze(\\'deep')) }, 'deep', 'to a reference');
    is_deeply($m->thaw($m->freeze([])), [], 'an empty array');
    is_deeply($m->thaw($m->freeze({})), {}, 'an empty hash');
    for my $not ('text', 42, undef, '') {
        like($m->dies(sub { $m->freeze($not) }), qr/^not a reference/, 'freeze needs a reference');
        like($m->dies(sub { $m->nfreeze($not) }), qr/^not a reference/, 'nfreeze too');
        like($m->dies(sub { $m->store($not, scratch('not')) }), qr/^not a reference/, 'store too');
    }
    like($m->dies(sub { $m->dclone('text') }), qr/^Not a reference/, 'dclone too');
    is($m->thaw(undef), undef, 'thaw gives undef for undef');
    ok(!-e scratch('not'), 'no file is made');
    like($m->dies(sub { $m->freeze([], 1) }), qr/^too many arguments/, 'freeze takes one argument');
});

both_storable('results are not read-only' => sub {
    my ($m) = @_;
    my $copy = $m->thaw($m->freeze([1, 'a', 2.5, undef, \1, { k => 'v' }]));
    is(scalar(grep { readonly($_) } @$copy), 0, 'elements');
    ok(!readonly($copy->[5]{k}), 'values');
    ok(!readonly(${ $copy->[4] }), 'what constants were');
});

done_testing;
