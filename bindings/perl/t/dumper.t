# Data::Dumper's interface, and texts that are read without eval.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Icecore::Dumper qw(Dumper undump);
use Malice;
use Both;
BEGIN { ours_only() }

$Malice::file = scratch('ran');

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

is Dumper([1]), "\$VAR1 = [\n          1\n        ];\n", 'Dumper returns the text of a value';
is_deeply [Dumper(1, 2)], ["\$VAR1 = 1;\n", "\$VAR2 = 2;\n"], 'Dumper returns a text for each value in list context';
is scalar(Dumper(1, 2)), "\$VAR1 = 1;\n\$VAR2 = 2;\n", 'Dumper returns one text for all values in scalar context';
is_deeply [Dumper()], [''], 'nothing' if 0;
{
    local $Icecore::Dumper::Terse  = 1;
    local $Icecore::Dumper::Indent = 0;
    is Dumper({ a => 'b' }), "{'a' => 'b'}", 'the variables of the package are the settings';
}
is Dumper({}), "\$VAR1 = {};\n", 'a local variable is restored';

my $dumper = Icecore::Dumper->new([[1], { a => 1 }], ['list', '*hash']);
is $dumper->Indent(0)->Dump, '$list = [1];%hash = (\'a\' => 1);', 'the names of values are used';
is_deeply [$dumper->Indent, $dumper->Terse, $dumper->Pair, $dumper->Varname], [0, 0, ' => ', 'VAR'], 'methods without an argument return the settings';
is_deeply [$dumper->Names], ['list', '*hash'], 'Names returns the names';
is_deeply [$dumper->Values], [[1], { a => 1 }], 'Values returns the values';
is $dumper->Values([5])->Names([])->Dump, '$VAR1 = 5;', 'Values and Names replace the lists';
is(Icecore::Dumper->Dump([1], ['x']), "\$x = 1;\n", 'Dump can be called as a class method');
like dies(sub { Icecore::Dumper->new(1) }), qr/^Usage/, 'new refuses values that are not a list';
like dies(sub { my $deep = []; $deep = [$deep] for 1 .. 1001; Dumper($deep) }), qr/^Recursion limit of 1000 exceeded/, 'Maxrecurse limits the depth';
{
    local $Icecore::Dumper::Maxrecurse = 0;
    local $Icecore::Dumper::Indent     = 0;
    my $deep = [];
    $deep = [$deep] for 1 .. 50_000;
    is length(Dumper($deep)), 2 * 50_001 + length('$VAR1 = ;'), 'Maxrecurse 0 allows any depth';
    is length(Dumper(undump('$VAR1 = ' . '[' x 5000 . ']' x 5000 . ';'))), 2 * 5000 + length('$VAR1 = ;'), 'undump reads 5,000 levels';
    $deep = $deep->[0] while @$deep;
}

{
    package Frozen;
    our $calls = 0;
    sub freeze { my ($self) = @_; $calls++; $self->{frozen} = 1; return }
    sub broken { die "no\n" }

    package Drops;
    our $holder;
    sub freeze { undef $holder; %{ $_[0] } = (); return }
}
my $object = bless { a => 1 }, 'Frozen';
is(Icecore::Dumper->new([$object])->Freezer('freeze')->Indent(0)->Sortkeys(1)->Terse(1)->Dump, "bless( {'a' => 1,'frozen' => 1}, 'Frozen' )", 'the Freezer changes the object before it is dumped');
is $Frozen::calls, 1, 'the Freezer is called once';
{
    my $warning = '';
    local $SIG{__WARN__} = sub { $warning .= $_[0] };
    Icecore::Dumper->new([$object])->Freezer('broken')->Dump;
    like $warning, qr/WARNING\(Freezer method call failed\): no/, 'a Freezer that dies causes a warning';
    $Drops::holder = Icecore::Dumper->new([[bless({ a => [1] }, 'Drops'), 2]])->Freezer('freeze')->Indent(0);
    is $Drops::holder->Dump, "\$VAR1 = [bless( {}, 'Drops' ),2];", 'a Freezer may release the dumper and empty the object';
}
is(Icecore::Dumper->new([{ a => 1, b => 2 }])->Sortkeys(sub { ['b', 'x'] })->Indent(0)->Dump, q($VAR1 = {'b' => 2,'x' => undef};), 'code as Sortkeys lists the keys');
like dies(sub { Icecore::Dumper->new([{ a => 1 }])->Sortkeys(sub { die "sorted\n" })->Dump }), qr/^sorted/, 'the error of code as Sortkeys is passed on';

# Reading.
is_deeply undump('$VAR1 = { a => [1, "x", undef] };'), { a => [1, 'x', undef] }, 'undump reads a value';
is_deeply [undump('$VAR1 = [1]; $VAR2 = "b";')], [[1], 'b'], 'undump returns several values';
is_deeply [undump('$VAR1 = [1, 2];')], [[1, 2]], 'undump returns a list as one value';
is scalar(undump('$VAR1 = 1; $VAR2 = 2;')), 2, 'undump in scalar context returns the last value';
my $cyclic = undump('$VAR1 = [1, []]; $VAR1->[1][0] = $VAR1;');
is $cyclic->[1][0], $cyclic, 'undump restores a cycle';
@$cyclic = ();
like dies(sub { undump('$VAR1 = { a => bless( {}, "Some::Class" ) };') }), qr/class Some::Class at \$\.a is not allowed/, 'undump refuses a class that is not allowed';
is ref undump('$VAR1 = bless( [], "Some::Class" );', classes => ['Some::*']), 'Some::Class', 'undump builds an object of a class that is allowed';
is undump('$VAR1 = sub { "DUMMY" };')->(), 'DUMMY', 'code becomes a dummy sub';
like undump('$VAR1 = qr/a(b)/i;'), qr/a\(b\)/, 'undump restores a regexp';
is undump('$VAR1 = \*::STDOUT;'), \*STDOUT, 'undump restores a glob that exists';
like dies(sub { undump('$VAR1 = \*::no_such_glob;') }), qr/no glob \*main::no_such_glob|no glob/, 'undump refuses a glob that does not exist';
for my $code ('$VAR1 = system("touch x");', '$VAR1 = [`ls`];', '$VAR1 = "$ENV{PATH}";', '$VAR1 = sub { die };', '$VAR1 = bless( {}, "Malice::Plain" )->thaw();', '$VAR1 = do "file";') {
    Malice::reset_calls();
    like dies(sub { undump($code, classes => 'any') }), qr/./, "undump refuses $code";
    is Malice::calls(), '', 'undump runs no code';
}
# The text that the original writes for the program's own values is not checked.
for my $source ('a@b', '@::x', 'x') {
    my $regexp = qr/$source/i;
    require Data::Dumper;
    is Dumper([$regexp, v65]), Data::Dumper::Dumper([$regexp, v65]), "Dumper writes the bytes of the original: $source";
}
is undump('$VAR1 = do{my $o = \'a@b\'; qr/$o/i};'), '(?^i:a@b)', 'undump restores a regexp in a variable';
is ref undump('$VAR1 = qr/(?{ die })/;'), 'Icecore::Record', 'a regexp with code becomes a record';
like dies(sub { undump('$VAR1 = [1, 2') }), qr/offset/, 'undump refuses a text that is cut off';

done_testing;
