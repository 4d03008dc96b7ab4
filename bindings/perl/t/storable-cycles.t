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
    is($copy->[1], $copy, 'an array in itself');
    isnt(refaddr $copy, refaddr $array, 'is another one');
    is(@$copy, 2, 'and is complete');

    my $hash = { name => 'h' };
    $hash->{again} = { deeper => [$hash] };
    $copy = $m->thaw($m->nfreeze($hash));
    is($copy->{again}{deeper}[0], $copy, 'a hash in itself');

    my $scalar;
    $scalar = \$scalar;
    $copy = $m->thaw($m->freeze($scalar));
    is(refaddr $$copy, refaddr $copy, 'a scalar that refers to itself');

    my ($x, $y);
    $x = \$y;
    $y = \$x;
    $copy = $m->thaw($m->freeze(\$x));
    isnt(refaddr $$copy, refaddr $copy, 'two scalars that refer to each other are two');
    is(refaddr $$$copy, refaddr $copy, 'and a circle');

    my $object = bless { list => [] }, 'Some::Class';
    push @{ $object->{list} }, $object, \$object->{list}, $object->{list};
    $copy = $m->thaw($m->freeze($object));
    isa_ok($copy, 'Some::Class');
    is($copy->{list}[0], $copy, 'the object');
    is(refaddr $copy->{list}[1], refaddr \$copy->{list}, 'a slot of the object');
    is($copy->{list}[2], $copy->{list}, 'a list in itself');
});

both_storable('a tree whose nodes know their parents' => sub {
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
    same_ok($copy, $tree, 'the same tree');
    is($copy->{children}[2]{parent}, $copy, 'a child knows its new parent');
    is($copy->{children}[1]{children}[0]{parent}{parent}, $copy, 'and a grandchild');
});

both_storable('sharing' => sub {
    my ($m) = @_;
    my $leaf = { n => 1 };
    my $copy = $m->thaw($m->freeze([$leaf, { leaf => $leaf }, \$leaf]));
    $copy->[0]{n} = 2;
    is($copy->[1]{leaf}{n}, 2, 'what was one hash is one hash');
    is(${ $copy->[2] }->{n}, 2, 'also behind a reference to a reference');
    is($leaf->{n}, 1, 'the source is not touched');

    my @array = (1, 2, 3);
    $copy = $m->thaw($m->freeze([\@array, \$array[1]]));
    ${ $copy->[1] } = 'new';
    is($copy->[0][1], 'new', 'a reference to an element');

    my %hash = (a => 1);
    $copy = $m->thaw($m->freeze([\$hash{a}, \%hash]));
    ${ $copy->[0] } = 'new';
    is($copy->[1]{a}, 'new', 'a reference to a value, which comes first');

    my $alias = sub { return \@_ };
    my $x = 'x';
    $copy = $m->thaw($m->freeze($alias->($x, $x, 'y')));
    $copy->[0] = 'new';
    is($copy->[1], 'new', 'one variable twice in an array');
    is($copy->[2], 'y', 'and another one');

    $copy = $m->thaw($m->freeze([\$x, \$x]));
    is($copy->[0], $copy->[1], 'two references to one scalar');
});

both_storable('two calls share nothing' => sub {
    my ($m) = @_;
    my $shared = [1];
    my ($one, $two) = map { $m->thaw($m->freeze([$shared])) } 1, 2;
    isnt(refaddr $one->[0], refaddr $two->[0], 'between two images');
    my $bytes = $m->freeze([$shared, $shared]);
    ($one, $two) = map { $m->thaw($bytes) } 1, 2;
    isnt(refaddr $one->[0], refaddr $two->[0], 'between two readings of one image');
});

both_storable('depth' => sub {
    my ($m) = @_;
    for my $kind (['arrays', sub { [$_[0]] }], ['hashes', sub { { a => $_[0] } }], ['references', sub { my $x = $_[0]; \$x }],
                  ['objects', sub { bless [$_[0]], 'Deep' }]) {
        my ($name, $wrap) = @$kind;
        my $data = Structures::nested(240, $wrap, [1]);
        same_ok($m->thaw($m->freeze($data)), $data, "240 $name");
        same_ok($m->dclone($data), $data, "240 $name, cloned");
    }
});

# Beyond this the original refuses. The default limit of ours is its own decision, but an
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
        ok($bytes, "with no limit they can");
        # The original checks the limit only when it writes.
        my $error = $m->dies(sub { $m->thaw($bytes) });
        like($error, qr/^(?:|Max\. recursion depth with nested structures exceeded.*)$/s, "thawing them fails for no other reason");
        like($m->dies(sub { $m->dclone(Structures::nested($limit * 2, $wrap, 1)) }),
            qr/Max\. recursion depth with nested structures exceeded/, "nor cloned");
        is_deeply($m->thaw($m->freeze([1, { a => 2 }])), [1, { a => 2 }], 'afterwards all is well');
    }
});

both_storable('a limit counts depth, not length' => sub {
    my ($m) = @_;
    $m->set(recursion_limit => 20, recursion_limit_hash => 20);
    my $wide = [map { [[$_]] } 1 .. 200];
    is_deeply($m->thaw($m->freeze($wide)), $wide, 'many arrays side by side');
    $wide = { map { ($_ => { a => {} }) } 1 .. 200 };
    is_deeply($m->thaw($m->freeze($wide)), $wide, 'many hashes side by side');
    my $shared = [[[]]];
    $wide = [($shared) x 200];
    same_ok($m->thaw($m->freeze($wide)), $wide, 'the same one many times');
});

both_storable('the limits at first' => sub {
    my ($m) = @_;
    cmp_ok($m->stack_depth, '>=', 512, 'stack_depth');
    cmp_ok($m->stack_depth_hash, '>=', 256, 'stack_depth_hash');
    $m->set(recursion_limit => 77, recursion_limit_hash => 66);
    is($m->stack_depth, 77, 'is $recursion_limit');
    is($m->stack_depth_hash, 66, 'and $recursion_limit_hash');
});

done_testing;
