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
    both_storable("$how" => sub {
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
        ok(isweak($copy->{child}{parent}), 'a child knows its parent weakly');
        is($copy->{child}{parent}, $copy, 'the right one');
        ok(!isweak($copy->{child}), 'the parent its child strongly');

        my $x    = [1];
        my @list = ($x, $x, $x);
        weaken($list[1]);
        $copy = $again->(\@list);
        is_deeply([map { isweak($_) ? 1 : 0 } @$copy], [0, 1, 0], 'strong, weak, strong');
        @list = ($x, $x);
        weaken($list[0]);
        $copy = $again->(\@list);
        is_deeply([map { isweak($_) ? 1 : 0 } @$copy], [1, 0], 'the weak one first');
        is($copy->[0], $copy->[1], 'lives as long as the strong one');
        pop @$copy;
        is($copy->[0], undef, 'and no longer');

        my %hash = (strong => $x, weak => $x);
        weaken($hash{weak});
        $copy = $again->(\%hash);
        ok(isweak($copy->{weak}) && !isweak($copy->{strong}), 'in a hash');

        my $scalar = 'x';
        @list = (\$scalar, \$scalar);
        weaken($list[1]);
        $copy = $again->(\@list);
        ok(isweak($copy->[1]), 'to a scalar');
        is($copy->[0], $copy->[1], 'the same one');

        my $money = bless { amount => 5 }, 'Over::Money';
        @list = ($money, $money);
        weaken($list[1]);
        $copy = $again->(\@list);
        ok(isweak($copy->[1]), 'to an object that overloads');
        is("$copy->[1]", '5 EUR', 'which still does');
    });
}

both_storable('what only weak references hold' => sub {
    my ($m) = @_;
    my $x    = [1, 2];
    my @list = ($x, 'after');
    weaken($list[0]);
    my $copy = $m->thaw($m->freeze(\@list));
    is($copy->[0], undef, 'is gone after reading');
    is($copy->[1], 'after', 'the rest is there');
    is_deeply($x, [1, 2], 'the source keeps it');
});

both_storable('an object that only weak references hold is destroyed' => sub {
    my ($m) = @_;
    my $x    = Counted->new(n => 1);
    my @list = ($x);
    weaken($list[0]);
    my $bytes = $m->freeze(\@list);
    $destroyed = 0;
    my $copy = $m->thaw($bytes);
    is($copy->[0], undef, 'it is gone');
    is($destroyed, 1, 'once');
});

both_storable('nothing leaks' => sub {
    my ($m) = @_;
    my $parent = Counted->new(name => 'p');
    $parent->{children} = [map { Counted->new(parent => $parent) } 1 .. 3];
    weaken($_->{parent}) for @{ $parent->{children} };
    my $bytes = $m->freeze($parent);
    $destroyed = 0;
    my $copy = $m->thaw($bytes);
    is($destroyed, 0, 'all of a tree lives');
    undef $copy;
    is($destroyed, 4, 'and is freed with its root');
    $destroyed = 0;
    $m->dclone($parent) for 1 .. 5;
    is($destroyed, 20, 'clones too');
    $destroyed = 0;
    undef $parent;
    is($destroyed, 4, 'the source was not held');
});

done_testing;
