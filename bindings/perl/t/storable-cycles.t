# Structures that contain themselves, and deep ones.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Scalar::Util qw(refaddr weaken);
use Both;
use Same;
use Structures;

both_storable('a structure that contains itself' => sub {
    my ($m) = @_;
    my $array = [1];
    push @$array, $array;
    my $copy = $m->thaw($m->freeze($array));
    is($copy->[1], $copy, 'an array in itself contains its copy');
    isnt(refaddr $copy, refaddr $array, 'the copy is another array');
    is(@$copy, 2, 'the copy has all items');

    my $hash = { name => 'h' };
    $hash->{again} = { deeper => [$hash] };
    $copy = $m->thaw($m->nfreeze($hash));
    is($copy->{again}{deeper}[0], $copy, 'a hash in itself contains its copy');

    my $scalar;
    $scalar = \$scalar;
    $copy = $m->thaw($m->freeze($scalar));
    is(refaddr $$copy, refaddr $copy, 'a scalar that refers to itself does so in the copy');

    my ($x, $y);
    $x = \$y;
    $y = \$x;
    $copy = $m->thaw($m->freeze(\$x));
    isnt(refaddr $$copy, refaddr $copy, 'two scalars that refer to each other stay two');
    is(refaddr $$$copy, refaddr $copy, 'two scalars that refer to each other do so in the copy');

    my $object = bless { list => [] }, 'Some::Class';
    push @{ $object->{list} }, $object, \$object->{list}, $object->{list};
    $copy = $m->thaw($m->freeze($object));
    isa_ok($copy, 'Some::Class');
    is($copy->{list}[0], $copy, 'an object in one of its values contains its copy');
    is(refaddr $copy->{list}[1], refaddr \$copy->{list}, 'a reference to a value of the object refers to the value of the copy');
    is($copy->{list}[2], $copy->{list}, 'a list in itself contains its copy');
});

both_storable('a tree whose nodes refer to their parents' => sub {
    my ($m) = @_;
    my $make;
    $make = sub {
        my ($depth, $parent) = @_;
        my $node = bless { depth => $depth, parent => $parent }, 'Tree';
        $node->{children} = [map { $make->($depth - 1, $node) } 1 .. 3] if $depth;
        return $node;
    };
    my $tree = $make->(4);
    my $copy = $m->dclone($tree);
    same_ok($copy, $tree, 'the tree is read back');
    is($copy->{children}[2]{parent}, $copy, 'a child refers to its parent in the copy');
    is($copy->{children}[1]{children}[0]{parent}{parent}, $copy, 'a grandchild refers to the root of the copy');
});

both_storable('shared values' => sub {
    my ($m) = @_;
    my $leaf = { n => 1 };
    my $copy = $m->thaw($m->freeze([$leaf, { leaf => $leaf }, \$leaf]));
    $copy->[0]{n} = 2;
    is($copy->[1]{leaf}{n}, 2, 'a shared hash stays shared');
    is(${ $copy->[2] }->{n}, 2, 'a hash shared through a reference to a reference stays shared');
    is($leaf->{n}, 1, 'the source does not change');

    my @array = (1, 2, 3);
    $copy = $m->thaw($m->freeze([\@array, \$array[1]]));
    ${ $copy->[1] } = 'new';
    is($copy->[0][1], 'new', 'a reference to an item of an array still refers to it');

    my %hash = (a => 1);
    $copy = $m->thaw($m->freeze([\$hash{a}, \%hash]));
    ${ $copy->[0] } = 'new';
    is($copy->[1]{a}, 'new', 'a reference to a value of a hash still refers to it, if it comes first');

    my $alias = sub { return \@_ };
    my $x = 'x';
    $copy = $m->thaw($m->freeze($alias->($x, $x, 'y')));
    $copy->[0] = 'new';
    is($copy->[1], 'new', 'one variable that is two items of an array stays one');
    is($copy->[2], 'y', 'the other item stays separate');

    $copy = $m->thaw($m->freeze([\$x, \$x]));
    is($copy->[0], $copy->[1], 'two references to one scalar stay equal');
});

both_storable('two calls share no values' => sub {
    my ($m) = @_;
    my $shared = [1];
    my ($one, $two) = map { $m->thaw($m->freeze([$shared])) } 1, 2;
    isnt(refaddr $one->[0], refaddr $two->[0], 'two images share no values');
    my $bytes = $m->freeze([$shared, $shared]);
    ($one, $two) = map { $m->thaw($bytes) } 1, 2;
    isnt(refaddr $one->[0], refaddr $two->[0], 'two reads of one image share no values');
});

both_storable('depth' => sub {
    my ($m) = @_;
    for my $kind (['arrays', sub { [$_[0]] }], ['hashes', sub { { a => $_[0] } }], ['references', sub { my $x = $_[0]; \$x }],
                  ['objects', sub { bless [$_[0]], 'Deep' }]) {
        my ($name, $wrap) = @$kind;
        my $data = Structures::nested(240, $wrap, [1]);
        same_ok($m->thaw($m->freeze($data)), $data, "240 $name are read back");
        same_ok($m->dclone($data), $data, "240 $name can be cloned");
    }
});

# Beyond this the original refuses. Icecore has another default limit, but an
# explicit limit is obeyed.
both_storable('$recursion_limit' => sub {
    my ($m) = @_;
    $m->set(recursion_limit => 50, recursion_limit_hash => 30);
    my @kinds = (
        ['arrays', sub { [$_[0]] }, 50], ['hashes', sub { { a => $_[0] } }, 30],
        ['references', sub { my $x = $_[0]; \$x }, 50],
    );
    for my $kind (@kinds) {
        my ($name, $wrap, $limit) = @$kind;
        ok($m->freeze(Structures::nested($limit / 2, $wrap, 1)), "some $name can be frozen");
        like($m->dies(sub { $m->freeze(Structures::nested($limit * 2, $wrap, 1)) }),
            qr/Max\. recursion depth with nested structures exceeded/, "many $name can't");
        my $bytes = $m->with({ recursion_limit => -1, recursion_limit_hash => -1 },
            sub { $m->freeze(Structures::nested($limit * 2, $wrap, 1)) });
        ok($bytes, "$name can be frozen without a limit");
        # The original checks the limit only when it writes.
        my $error = $m->dies(sub { $m->thaw($bytes) });
        like($error, qr/^(?:|Max\. recursion depth with nested structures exceeded.*)$/s, "thawing $name fails only at the limit");
        like($m->dies(sub { $m->dclone(Structures::nested($limit * 2, $wrap, 1)) }),
            qr/Max\. recursion depth with nested structures exceeded/, "nor cloned");
        is_deeply($m->thaw($m->freeze([1, { a => 2 }])), [1, { a => 2 }], 'the next call works');
    }
});

both_storable('the limit applies to depth, not to length' => sub {
    my ($m) = @_;
    $m->set(recursion_limit => 20, recursion_limit_hash => 20);
    my $wide = [map { [[$_]] } 1 .. 200];
    is_deeply($m->thaw($m->freeze($wide)), $wide, 'many arrays on one level are read back');
    $wide = { map { ($_ => { a => {} }) } 1 .. 200 };
    is_deeply($m->thaw($m->freeze($wide)), $wide, 'many hashes on one level are read back');
    my $shared = [[[]]];
    $wide = [($shared) x 200];
    same_ok($m->thaw($m->freeze($wide)), $wide, 'one array in many items is read back');
});

both_storable('the default limits' => sub {
    my ($m) = @_;
    cmp_ok($m->stack_depth, '>=', 512, 'stack_depth is at least 512');
    cmp_ok($m->stack_depth_hash, '>=', 256, 'stack_depth_hash is at least 256');
    $m->set(recursion_limit => 77, recursion_limit_hash => 66);
    is($m->stack_depth, 77, 'stack_depth is $recursion_limit');
    is($m->stack_depth_hash, 66, 'stack_depth_hash is $recursion_limit_hash');
});

done_testing;
