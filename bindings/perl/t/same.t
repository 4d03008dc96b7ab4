# Tests the comparison on which the other tests depend: differences must be noticed.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Hash::Util   ();
use Scalar::Util qw(dualvar weaken);
use Same;
use Structures;

my $shared  = [1];
my $text    = "caf\xe9";
utf8::upgrade($text);

sub weak_pair { my $x = [1]; my @pair = ($x, $x); weaken($pair[1]) if $_[0]; return \@pair }
sub aliases   { return \@_ }
sub restricted {
    my ($hash, $keys, @locked) = @_;
    Hash::Util::lock_ref_keys($hash, @$keys);
    for my $key (@locked) { Hash::Util::lock_ref_value($hash, $key) }
    return $hash;
}
sub tied_hash { tie my %x, 'Tie::Table', @_; return \%x }
sub tied_row  { tie my @x, 'Tie::Row', @_; return \@x }
sub tied_box  { tie my $x, 'Tie::Box', @_; return \$x }

# Left, right, the words of the difference, and an option that ignores it.
my @different = (
    ['numbers', 1, 2, qr/integer 1, not integer 2/],
    ['integer and string', [1], ['1'], qr/integer 1, not string '1'/, 'digits'],
    ['integer and float', [3], [Structures::float(3)], qr/integer 3, not float 3/, 'integral'],
    ['floats', [0.1], [0.1 + 2**-56], qr/float/],
    ['zeros', [Structures::float(0)], [unpack 'd>', "\x80" . "\0" x 7], qr/float 0 .*not float -0/],
    ['NaNs', [unpack 'd>', "\x7f\xf8" . "\0" x 6], [unpack 'd>', "\x7f\xf8\0\0\0\0\0\1"], qr/NaN/i, 'nan'],
    ['strings', ['a'], ['b'], qr/^\$\[0\]: string 'a', not string 'b'/],
    ['the end of long strings', ['x' x 500 . 'a'], ['x' x 500 . 'b'], qr/string '/],
    ['bytes and text', ["caf\xe9"], [$text], qr/string 'caf\\xe9', not text/, 'string_flags'],
    ['empty and undef', [''], [undef], qr/string '', not undef/],
    ['zero and undef', [0], [undef], qr/integer 0, not undef/],
    ['undef and hole', [undef], do { my @x; $#x = 0; [\@x]->[0] }, qr/element 0 exists on the left only/, 'holes'],
    ['lengths', [1, 2], [1], qr/2 elements, not 1/],
    ['array and hash', [[]], [{}], qr/a reference to ARRAY, not HASH/],
    ['array and string', [[]], ['ARRAY'], qr/a reference, not string/],
    ['reference and its value', [\1], [1], qr/a reference, not integer/],
    ['reference to a reference', [\\1], [\1], qr/a reference, not integer/],
    ['keys', { a => 1 }, { b => 1 }, qr/key 'a' on the left only/],
    ['keys more', { a => 1 }, { a => 1, b => 1 }, qr/key 'b' on the right only/],
    ['flags of keys', { abc => 1 }, { Structures::text('abc') => 1 }, qr/key 'abc' on the left only/, 'key_flags'],
    ['values', { a => [{ b => 1 }] }, { a => [{ b => 2 }] }, qr/^\$\{'a'\}\[0\]\{'b'\}: integer 1/],
    ['classes', bless([], 'A'), bless([], 'B'), qr/blessed into 'A', not blessed into 'B'/, 'classes'],
    ['class and none', [bless {}, 'A'], [{}], qr/blessed into 'A', not not blessed/, 'classes'],
    ['class of a variable', do { my @x = (1); bless \$x[0], 'A'; \@x }, [1], qr/blessed into 'A'/, 'variable_class'],
    ['class as bytes', [bless [], "\xe2\x98\xba"], [bless [], "\x{263a}"], qr/blessed into/, 'class_flags'],
    ['shared and copied', [$shared, $shared], [[1], [1]], qr/^\$\[1\]: the same variable again on the left only/],
    ['copied and shared', [[1], [1]], [$shared, $shared], qr/^\$\[1\]: the same variable again on the right only/],
    ['shared otherwise', do { my ($x, $y) = ([], []); [[$x, $y, $x]]->[0] }, do { my ($x, $y) = ([], []); [$x, $y, $y] }, qr/different one/],
    ['alias and copy', do { my $x = 5; aliases($x, $x) }, [5, 5], qr/^\$\[1\]: the same variable/, 'variables'],
    ['reference to an element', do { my @x = (1); [\@x, \$x[0]] }, [[1], \1], qr/the same variable/, 'variables'],
    ['cycle and depth', do { my $x = []; $x->[0] = $x; $x }, [[[]]], qr/./],
    ['cycles', do { my $x = []; $x->[0] = $x; $x }, do { my $x = [[]]; $x->[0][0] = $x; $x }, qr/./],
    ['weak and strong', weak_pair(1), weak_pair(0), qr/^\$\[1\]: weak, not strong/, 'weak'],
    ['strong and weak', weak_pair(0), weak_pair(1), qr/^\$\[1\]: strong, not weak/, 'weak'],
    ['true and 1', [!!1], [1], qr/boolean true, not integer 1/, 'bools'],
    ['false and empty', [!!0], [''], qr/boolean false, not string ''/, 'bools'],
    ['true and false', [!!1], [!!0], qr/boolean true, not boolean false/],
    ['restricted', restricted({ a => 1 }, ['a']), { a => 1 }, qr/restricted, not unrestricted/, 'unrestricted'],
    ['allowed keys', restricted({ a => 1 }, ['a', 'b']), restricted({ a => 1 }, ['a', 'c']), qr/also allows \['b'\], not \['c'\]/, 'unrestricted'],
    ['locked values', restricted({ a => 1 }, ['a'], 'a'), restricted({ a => 1 }, ['a']), qr/value of 'a' locked, not unlocked/, 'unrestricted'],
    ['patterns', [qr/a/], [qr/b/], qr/regexp 'a' with '', not regexp 'b'/],
    ['modifiers', [qr/a/i], [qr/a/], qr/regexp 'a' with 'i', not regexp 'a' with ''/],
    ['charsets', [qr/a/u], [qr/a/a], qr/regexp 'a' with 'u', not regexp 'a' with 'a'/, 'charset'],
    ['classes of patterns', [bless qr/a/, 'My'], [qr/a/], qr/blessed into 'My', not blessed into 'Regexp'/, 'classes'],
    ['pattern and string', [qr/a/], ["(?^:a)"], qr/a reference, not string/],
    ['v-string and string', [v1.2], ["\1\2"], qr/v-string 'v1.2'/, 'vstrings'],
    ['v-strings', [v1.2], [1.2.0], qr/v-string/],
    ['spelling of v-strings', [v1.2.3], [1.2.3], qr/v-string 'v1.2.3'.*not v-string '1.2.3'/, 'vstrings'],
    ['tied and plain', tied_hash(a => 1), { a => 1 }, qr/the hash is tied on the left only/, 'untied'],
    ['plain and tied', [1], tied_row(1), qr/the array is tied on the right only/, 'untied'],
    ['tied scalar', tied_box(1), \1, qr/a tied scalar, not not tied/, 'untied'],
    ['tied objects', tied_hash(a => 1), tied_hash(a => 2), qr/\(tied\)\{'pairs'\}\{'a'\}: integer 1, not integer 2/],
    ['tied elements', [\tied_row(1, 2)->[0]], [\tied_row(1, 2)->[1]], qr/'0', not '1'|' ?0', not/],
    ['code', [sub { 1 }], [sub { 2 }], qr/1.*not.*2/s],
    ['globs', [*STDOUT], [*STDERR], qr/a glob/],
);
for my $case (@different) {
    my ($name, $left, $right, $like, $overlooks) = @$case;
    like(difference($left, $right), $like, "$name: the difference is found");
    ok(difference($right, $left), "$name: the difference is found with swapped sides");
    is(difference($left, $left), '', "$name: the left side equals itself");
    is(difference($right, $right), '', "$name: the right side equals itself");
    is(difference($left, $right, $overlooks => 1), '', "$name: the option $overlooks ignores the difference") if $overlooks;
}

# Flags that matter only when two readers are compared.
my @strict = (
    ['dual values', [dualvar(5, 'five')], ['five'], qr/integer 5 and string 'five', not string/],
    ['used strings', do { my @x = ('12'); my $sum = $x[0] + 0; \@x }, ['12'], qr/integer 12 and string '12'/],
    ["perl's own undef", aliases(undef), [undef], qr/perl's own undef, not writable/],
    ["perl's own true", aliases(!!1), [!!1], qr/perl's own true, not writable/],
    ['read-only', do { my @x = (1); Internals::SvREADONLY($x[0], 1); \@x }, [1], qr/read-only, not writable/],
);
for my $case (@strict) {
    my ($name, $left, $right, $like) = @$case;
    like(difference($left, $right, strict => 1), $like, "$name: `strict` finds the difference");
    is(difference($left, $right), '', "$name: without `strict` there is no difference") unless $name =~ /read-only/;
    is(difference($left, $left, strict => 1), '', "$name: the value equals itself");
    my $overlooked = $name =~ /^perl's own/;
    is(!difference($left, $right, strict => 1, own => 1), $overlooked, "$name: " . ($overlooked ? '' : 'not ') . "overlooked with 'own'");
}

# An option ignores its difference and nothing else.
for my $option (qw(integral digits bools holes unrestricted untied weak key_flags string_flags vstrings nan charset)) {
    ok(difference(['a', { b => [1] }], ['a', { b => [2] }], $option => 1), "$option: another number is a difference");
    ok(difference(['a'], ['b'], $option => 1), "$option: another string is a difference");
    ok(difference([$shared, $shared], [[1], [1]], $option => 1), "$option: sharing is a difference");
}
is(difference(['1.5'], [1.5], digits => 1), '', '`digits`: a float equals its digits');
ok(difference(['1.6'], [1.5], digits => 1), '`digits`: a float differs from other digits');
ok(difference([!!1], [''], bools => 1), '`bools`: true differs from an empty string');
ok(difference([''], [Structures::text('')], bools => 1), '`bools`: empty bytes differ from empty text');

# Hashes with the same pairs in another order are equal.
my (%up, %down);
$up{$_}   = $_ for 1 .. 200;
$down{$_} = $_ for reverse 1 .. 200;
is(difference(\%up, \%down), '', 'the order of hashes does not matter');

# Deep structures take no stack.
my ($left, $right) = ([], []);
($left, $right) = ([$left], [$right]) for 1 .. 50_000;
is(difference($left, $right), '', 'deep structures can be compared');
$_ = [$_->[0]] for $left;
while (@{ $left->[0] }) { $left = $left->[0] }
$left = $right;
{ my $next = $right; while (@$next) { $next = shift @$next } }

# Every structure equals another one from the same maker, and differs from the previous
# structure.
my ($before, $name);
for my $structure (Structures::all()) {
    my ($one, $two) = map { $structure->{make}->() } 1, 2;
    is(difference($one, $two), '', "$structure->{name}: two instances are equal");
    ok(difference($before, $one, strict => 1), "$structure->{name} differs from $name") if defined $name;
    ($before, $name) = ($one, $structure->{name});
}

# The functions that the tests call.
same_ok([1], [1], 'same_ok passes for equal values');
differs_ok([1], [2], qr/integer/, 'differs_ok passes for different values');
my $output = '';
{
    my $inner = Test::Builder->create;
    $inner->output(\$output);
    $inner->failure_output(\$output);
    no warnings 'redefine';
    local *Test::More::builder = sub { $inner };
    same_ok([1], [2], 'fails');
    differs_ok([1], [1], qr/integer/, 'fails too');
}
like($output, qr/^not ok 1 - fails$/m, 'same_ok fails for different values');
like($output, qr/integer 1, not integer 2/, 'the failure has the difference');
like($output, qr/^not ok 2 - fails too$/m, 'differs_ok fails for equal values');

done_testing;
