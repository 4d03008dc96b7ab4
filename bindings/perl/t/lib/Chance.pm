package Chance;

# Random structures, with many things that two modules could treat differently: hooks that
# return anything, scalars that are blessed through each other, locked hashes, weak references,
# aliases, perl's own undef and booleans, regexps, ties.
#
#   my $data = Chance::structure($seed, sereal => 1);
#
# The same seed gives the same structure. Hooks have no state: every call gives the same answer.

use strict;
use warnings;
use feature 'refaliasing';
no warnings 'experimental::refaliasing';

use Classes;
use Hash::Util   ();
use Scalar::Util qw(blessed refaddr reftype weaken);

# The results of the hooks of an object, by its address.
our %returns;
# Keeps objects alive, so that no other object gets their address.
our @kept;

# Returns a structure. With `sereal`, it has only what Sereal can write too; with `unlinked`, hooks return
# only a text.
sub structure {
    my ($seed, %is) = @_;
    srand $seed;
    %returns = ();
    @kept    = ();
    my $self = bless { remaining => 5 + int rand 40, made => [], final_steps => [], %is }, __PACKAGE__;
    my $root = [];
    push @{ $self->{made} }, $root if rand() < 0.3;
    my $count = 1 + int rand 4;
    $self->place($root, $_) for 0 .. $count - 1;
    $_->() for @{ $self->{final_steps} };
    return $root;
}

# Returns one of the arguments.
sub pick { return $_[int rand @_] }

sub scalar_leaf {
    my ($self) = @_;
    return pick(undef, 0, 1, -1, -16, 15, 16, -17, 300, 2**40, 1.5, -0.25, '', 'a', 'text', "caf\xe9", "\x{263a}", 'x' x 20, 'true', !!1, !!0, 1 == 1, '12');
}

sub key { return pick('a' .. 'h', 'name', "\xe9", "\x{263a}", 'longer_key') }

# Puts a value, or a variable of another place, at an index of an array.
sub place {
    my ($self, $array, $index) = @_;
    my $kind = rand 100;
    if ($kind < 4) { $self->alias($array, $index, pick(\undef, \!!1, \!!0)) }
    elsif ($kind < 8 && @{ $self->{slots} || [] }) { $self->alias($array, $index, pick(@{ $self->{slots} })) }
    else {
        $array->[$index] = $self->value;
        push @{ $self->{slots} }, \$array->[$index] if rand() < 0.4;
    }
    return;
}

# Puts the same variable at another place.
sub alias {
    my ($self, $array, $index, $variable) = @_;
    \$array->[$index] = $variable;
    return;
}

# Returns a new value, or one that was made before.
sub value {
    my ($self) = @_;
    my $made = $self->{made};
    return $self->scalar_leaf if $self->{remaining}-- <= 0 || rand() < 0.3;
    return pick(@$made) if @$made && rand() < 0.2;
    my $kind = rand 100;
    my $new;
    if    ($kind < 20) { $new = $self->array }
    elsif ($kind < 40) { $new = $self->hash }
    elsif ($kind < 50) { $new = \(my $x = $self->value) }
    elsif ($kind < 54) { $new = pick(\undef, \!!1, \!!0) }
    elsif ($kind < 58) { $new = pick(qr/a+b/, qr/x y/ix, qr/^caf\xe9$/, bless(qr/z/, 'My::Regexp')) }
    elsif ($kind < 64 && @{ $self->{slots} || [] }) { $new = pick(@{ $self->{slots} }) }
    elsif ($kind < 70) { $new = $self->locked_hash }
    elsif ($kind < 76) { $new = $self->ring_of_references }
    elsif ($kind < 90) { $new = $self->object }
    elsif ($kind < 93 && !$self->{sereal}) { $new = $self->tied_variable }
    elsif ($kind < 97 && @$made) { return $self->weak_reference }
    else { $new = $self->array }
    push @$made, $new if rand() < 0.5;
    return $new;
}

sub array {
    my ($self) = @_;
    my $new = [];
    push @{ $self->{made} }, $new if rand() < 0.3;
    $self->place($new, $_) for 0 .. int(rand 4) - 1;
    $#$new++ if rand() < 0.05;
    return $new;
}

sub hash {
    my ($self) = @_;
    my $new = {};
    push @{ $self->{made} }, $new if rand() < 0.3;
    for (1 .. rand 5) {
        my $key = $self->key;
        $new->{$key} = $self->value;
        push @{ $self->{slots} }, \$new->{$key} if rand() < 0.2;
    }
    return $new;
}

# A locked hash: up to forty keys more than it has values, and some values locked.
sub locked_hash {
    my ($self) = @_;
    my $new  = $self->hash;
    $self->{has_absent_keys} = 1;
    my @more = map { "k$_" } 0 .. (rand() < 0.3 ? int rand 40 : int rand 6);
    my @keys = (keys %$new, grep { !exists $new->{$_} } @more);
    Hash::Util::lock_ref_keys($new, @keys);
    for my $key (keys %$new) { Hash::Util::lock_ref_value($new, $key) if rand() < 0.3 }
    Hash::Util::unlock_ref_keys($new) if rand() < 0.1;
    return $new;
}

# Scalars that refer to one another in a ring; some of them are blessed.
sub ring_of_references {
    my ($self) = @_;
    my $count = 1 + int rand 3;
    my @cells = (undef) x $count;
    $cells[$_] = \$cells[($_ + 1) % $count] for 0 .. $#cells;
    for my $cell (@cells) { bless $cell, pick('Cell::A', 'Cell::B') if rand() < 0.7 }
    push @kept, \@cells;
    return rand() < 0.5 ? \@cells : \$cells[0];
}

my @classes = qw(Chance::Plain Chance::Over Chance::Hook Chance::Hook Chance::Other Chance::Declines Chance::Attach Chance::Child);

# An object, and the result of its hook.
sub object {
    my ($self) = @_;
    my $kind  = rand 10;
    my $body  = $kind < 5 ? $self->hash : $kind < 8 ? $self->array : \(my $x = rand() < 0.5 ? $self->scalar_leaf : $self->value);
    my $class = $self->{sereal} ? pick('Chance::Plain', 'Chance::Over') : pick(@classes);
    bless $body, $class;
    push @{ $self->{made} }, $body if rand() < 0.4;
    return $body if $self->{sereal};
    # The hook may return references to values that are not made yet, so its result is completed by a final step.
    my $plan = $self->{unlinked} ? 0 : rand 10;
    my $text = pick('', 'frozen', 'f' x 300, "\0\xff");
    push @kept, $body;
    my @list = $plan < 3 ? () : map {
        my $which = rand 10;
        $which < 3 ? \'self' : $which < 4 ? \undef : $which < 5 ? pick(\!!1, \!!0) : $which < 7 ? [int rand 9] : \'made';
    } 1 .. 1 + rand 3;
    my ($made, $address) = ($self->{made}, refaddr $body);
    my @choice = map { int rand 1000 } @list;
    push @{ $self->{final_steps} }, sub {
        my @refs = map {
            my $one = $list[$_];
            ref $one eq 'SCALAR' && defined $$one && $$one eq 'self' ? \'self'
                : ref $one eq 'SCALAR' && defined $$one && $$one eq 'made' ? ($made->[$choice[$_] % (@$made || 1)] || []) : $one;
        } 0 .. $#list;
        # Icecore can't read a number for an absent key.
        if ($self->{has_absent_keys}) { $_ = [] for grep { refaddr $_ == refaddr \undef } @refs }
        push @kept, @refs;
        $returns{$address} = [$text, @refs];
    };
    return $body;
}

# An array with a weak reference to a value that was made before.
sub weak_reference {
    my ($self) = @_;
    # A weak reference to perl's own values would depend on all other references to them.
    my $to = pick(@{ $self->{made} });
    return $to if grep { refaddr $to == refaddr $_ } \undef, \!!1, \!!0;
    my $cell = [$to];
    push @kept, $to;
    weaken($cell->[0]);
    return $cell;
}

# A tied hash, array or scalar.
sub tied_variable {
    my ($self) = @_;
    my $which = rand 3;
    if ($which < 1) { tie my %x, 'Tie::Table', a => 1, b => $self->value; return \%x }
    if ($which < 2) { tie my @x, 'Tie::Row', 1, $self->value; return \@x }
    tie my $x, 'Tie::Box', $self->value;
    return \$x;
}

package Chance::Plain;

package Chance::Over;
use overload '""' => sub { 'over' }, 'eq' => sub { "$_[0]" eq "$_[1]" }, 'bool' => sub { 1 };

package Chance::Hook;

sub STORABLE_freeze {
    my ($self, $cloning) = @_;
    my ($text, @refs) = @{ $Chance::returns{ Scalar::Util::refaddr($self) } || ['none'] };
    return ($text, map { ref $_ eq 'SCALAR' && defined $$_ && $$_ eq 'self' ? $self : $_ } @refs);
}

sub STORABLE_thaw {
    my ($self, $cloning, $text, @refs) = @_;
    my $type = Scalar::Util::reftype($self);
    if    ($type eq 'HASH')  { @$self{qw(text refs cloning)} = ($text, \@refs, $cloning) }
    elsif ($type eq 'ARRAY') { @$self = ($text, \@refs, $cloning) }
    else                     { $$self = [$text, \@refs, $cloning] }
    return;
}

package Chance::Child;
our @ISA = ('Chance::Hook');

package Chance::Other;
our @ISA = ('Chance::Hook');

package Chance::Declines;

sub STORABLE_freeze { return }

package Chance::Attach;

sub STORABLE_freeze { return 'attached ' . Scalar::Util::reftype($_[0]) }
sub STORABLE_attach { my ($class, $cloning, $text) = @_; return bless [$text, $cloning], $class }

1;
