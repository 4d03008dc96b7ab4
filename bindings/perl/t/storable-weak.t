# Weak references stay weak, and values with other references are not lost.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Scalar::Util qw(isweak weaken);
use Both;
use Classes;
use Same;

our $destroyed;
{
    package Counted;
    sub new     { my ($class, %self) = @_; return bless {%self}, $class }
    sub DESTROY { $main::destroyed++; return }
}

for my $how (qw(freeze nfreeze dclone store)) {
    both_storable("weak references, $how" => sub {
        my ($m) = @_;
        my $again = sub {
            my ($data) = @_;
            return $m->dclone($data) if $how eq 'dclone';
            return $m->thaw($m->$how($data)) unless $how eq 'store';
            $m->store($data, scratch('weak'));
            return $m->retrieve(scratch('weak'));
        };
        my $parent = { name => 'parent' };
        $parent->{child} = { name => 'child', parent => $parent };
        weaken($parent->{child}{parent});
        my $copy = $again->($parent);
        ok(isweak($copy->{child}{parent}), 'a reference to the parent stays weak');
        is($copy->{child}{parent}, $copy, 'the weak reference leads to the parent');
        ok(!isweak($copy->{child}), 'a reference to the child stays strong');

        my $x    = [1];
        my @list = ($x, $x, $x);
        weaken($list[1]);
        $copy = $again->(\@list);
        is_deeply([map { isweak($_) ? 1 : 0 } @$copy], [0, 1, 0], 'each reference of an array stays weak or strong');
        @list = ($x, $x);
        weaken($list[0]);
        $copy = $again->(\@list);
        is_deeply([map { isweak($_) ? 1 : 0 } @$copy], [1, 0], 'a weak reference before a strong one stays weak');
        is($copy->[0], $copy->[1], 'both references lead to the same value');
        pop @$copy;
        is($copy->[0], undef, 'the value is freed with the strong reference');

        my %hash = (strong => $x, weak => $x);
        weaken($hash{weak});
        $copy = $again->(\%hash);
        ok(isweak($copy->{weak}) && !isweak($copy->{strong}), 'references in a hash stay weak or strong');

        my $scalar = 'x';
        @list = (\$scalar, \$scalar);
        weaken($list[1]);
        $copy = $again->(\@list);
        ok(isweak($copy->[1]), 'a weak reference to a scalar stays weak');
        is($copy->[0], $copy->[1], 'both references lead to the same scalar');

        my $money = bless { amount => 5 }, 'Over::Money';
        @list = ($money, $money);
        weaken($list[1]);
        $copy = $again->(\@list);
        ok(isweak($copy->[1]), 'a weak reference to an overloaded object stays weak');
        is("$copy->[1]", '5 EUR', 'overloading works through a weak reference');
    });
}

both_storable('values with only weak references' => sub {
    my ($m) = @_;
    my $x    = [1, 2];
    my @list = ($x, 'after');
    weaken($list[0]);
    my $copy = $m->thaw($m->freeze(\@list));
    is($copy->[0], undef, 'the value is freed after reading');
    is($copy->[1], 'after', 'the value after it is read');
    is_deeply($x, [1, 2], 'the source is kept');
});

both_storable('objects with only weak references are destroyed' => sub {
    my ($m) = @_;
    my $x    = Counted->new(n => 1);
    my @list = ($x);
    weaken($list[0]);
    my $bytes = $m->freeze(\@list);
    $destroyed = 0;
    my $copy = $m->thaw($bytes);
    is($copy->[0], undef, 'the object is freed');
    is($destroyed, 1, 'the object is destroyed once');
});

both_storable('nothing leaks' => sub {
    my ($m) = @_;
    my $parent = Counted->new(name => 'p');
    $parent->{children} = [map { Counted->new(parent => $parent) } 1 .. 3];
    weaken($_->{parent}) for @{ $parent->{children} };
    my $bytes = $m->freeze($parent);
    $destroyed = 0;
    my $copy = $m->thaw($bytes);
    is($destroyed, 0, 'all objects of a tree are alive');
    undef $copy;
    is($destroyed, 4, 'all objects of a tree are destroyed with the root');
    $destroyed = 0;
    $m->dclone($parent) for 1 .. 5;
    is($destroyed, 20, 'all objects of the clones are destroyed');
    $destroyed = 0;
    undef $parent;
    is($destroyed, 4, 'the source is not kept alive');
});

done_testing;
