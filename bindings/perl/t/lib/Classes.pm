package Classes;

# The classes that the tests freeze: with all kinds of hooks, with overloading, and for ties.

use strict;
use warnings;
no warnings 'once';

# The arguments of hook calls, for the tests to check and clear.
our @calls;

# The module whose functions are used by hooks that freeze something themselves.
our $storable = 'Storable';

sub inner {
    my ($name) = @_;
    no strict 'refs';
    return \&{"${storable}::$name"};
}

# --- Storable's hooks -------------------------------------------------------

package Hook::Text;       # { text, links }: the string and what it refers to

sub new {
    my ($class, $text, @links) = @_;
    return bless { text => $text, @links ? (links => \@links) : () }, $class;
}

sub STORABLE_freeze {
    my ($self, $cloning) = @_;
    return ($self->{text}, @{ $self->{links} || [] });
}

sub STORABLE_thaw {
    my ($self, $cloning, $text, @links) = @_;
    $self->{text} = $text;
    $self->{links} = \@links if @links;
    return;
}

package Hook::List;       # an array: the string, then what it refers to

sub STORABLE_freeze { my ($self) = @_; return @$self }
sub STORABLE_thaw   { my ($self, $cloning, @all) = @_; @$self = @all; return }

package Hook::Cell;       # a scalar

sub STORABLE_freeze { my ($self) = @_; return $$self }
sub STORABLE_thaw   { my ($self, $cloning, $text) = @_; $$self = $text; return }

package Hook::Declines;   # an empty list: as if it had no hook

sub STORABLE_freeze { return }
sub STORABLE_thaw   { die 'has no hook' }

package Hook::Sometimes;  # has one for some objects only

sub STORABLE_freeze {
    my ($self) = @_;
    return defined $self->{text} ? $self->{text} : ();
}

sub STORABLE_thaw { my ($self, $cloning, $text) = @_; $self->{text} = $text; return }

package Hook::Child;      # inherits them

our @ISA = ('Hook::Text');

package Hook::Inner;      # freezes a part of itself on its own

sub STORABLE_freeze {
    my ($self) = @_;
    return Classes::inner('nfreeze')->($self->{inside});
}

sub STORABLE_thaw {
    my ($self, $cloning, $text) = @_;
    $self->{inside} = Classes::inner('thaw')->($text);
    return;
}

package Hook::Cloner;     # clones a part of itself, and gives both

sub STORABLE_freeze {
    my ($self) = @_;
    my $copy = Classes::inner('dclone')->($self->{inside});
    return ('cloned', $self->{inside}, $copy);
}

sub STORABLE_thaw {
    my ($self, $cloning, $text, $inside, $copy) = @_;
    @$self{qw(inside copy)} = ($inside, $copy);
    return;
}

package Hook::Maker;      # refers to what it makes while it is frozen

sub STORABLE_freeze {
    my ($self) = @_;
    return ('made', map { { part => $_ } } 1 .. $self->{parts});
}

sub STORABLE_thaw {
    my ($self, $cloning, $text, @parts) = @_;
    $self->{parts} = @parts;
    return;
}

package Hook::Attached;   # its class returns the object

my %pool;

sub get {
    my ($class, $name) = @_;
    return $pool{$name} ||= bless { name => $name }, $class;
}

sub STORABLE_freeze { my ($self) = @_; return $self->{name} }
sub STORABLE_attach { my ($class, $cloning, $name) = @_; return $class->get($name) }

package Hook::Tied;       # an object that is also tied

sub STORABLE_freeze { return 'tied' }
sub STORABLE_thaw   { return }

for my $length (250, 255, 256, 300) {
    no strict 'refs';
    @{ 'Hook::' . 'L' x ($length - 6) . '::ISA' } = ('Hook::Text');
}

# --- Sereal's callbacks -----------------------------------------------------

package Cold::Base;

sub thawed {
    my ($class, $serializer, @payload) = @_;
    return bless { payload => \@payload, by => $serializer }, $class;
}

package Cold::Nothing;    # FREEZE returns an empty list

sub FREEZE { return }
sub THAW   { goto &Cold::Base::thawed }

package Cold::Value;

sub new    { my ($class, $value) = @_; return bless { value => $value }, $class }
sub FREEZE { my ($self, $serializer) = @_; return $self->{value} }
sub THAW   { my ($class, $serializer, $value) = @_; return $class->new($value) }

package Cold::List;

sub FREEZE { my ($self) = @_; return @$self }
sub THAW   { my ($class, $serializer, @all) = @_; return bless \@all, $class }

package Cold::Cell;

sub FREEZE { my ($self) = @_; return $$self }
sub THAW   { my ($class, $serializer, $text) = @_; return bless \$text, $class }

package Cold::Child;

our @ISA = ('Cold::Value');

# --- overloading ------------------------------------------------------------

package Over::Money;

use overload
    '""'  => sub { "$_[0]{amount} EUR" },
    '+'   => sub { die 'nobody asked for a sum' },
    '=='  => sub { die 'nobody asked whether they are equal' },
    fallback => 1;

package Over::Array;

use overload '@{}' => sub { [1, 2, 3] }, fallback => 1;

package Over::Hash;       # an array that looks like a hash

use overload '%{}' => sub { die 'nobody asked for a hash' }, fallback => 1;

package Over::Text;       # a scalar

use overload '""' => sub { 'some text' }, 'bool' => sub { 0 };

package Over::Base;

use overload 'cmp' => sub { 0 };

package Over::Child;

our @ISA = ('Over::Base');

package Over::Code;

use overload '""' => sub { 'code with a name' }, fallback => 1;

# --- ties -------------------------------------------------------------------

package Tie::Box;         # a scalar

sub TIESCALAR { my ($class, $value) = @_; return bless { value => $value }, $class }
sub FETCH     { my ($self) = @_; return $self->{value} }
sub STORE     { my ($self, $value) = @_; $self->{value} = $value; return }

package Tie::Row;         # an array

sub TIEARRAY  { my ($class, @items) = @_; return bless { items => \@items }, $class }
sub FETCH     { my ($self, $index) = @_; return $self->{items}[$index] }
sub STORE     { my ($self, $index, $value) = @_; $self->{items}[$index] = $value; return }
sub FETCHSIZE { my ($self) = @_; return scalar @{ $self->{items} } }
sub STORESIZE { return }
sub EXISTS    { my ($self, $index) = @_; return exists $self->{items}[$index] }

package Tie::Table;       # a hash, in the order of its keys

sub TIEHASH  { my ($class, %pairs) = @_; return bless { pairs => \%pairs }, $class }
sub FETCH    { my ($self, $key) = @_; return $self->{pairs}{$key} }
sub STORE    { my ($self, $key, $value) = @_; $self->{pairs}{$key} = $value; return }
sub EXISTS   { my ($self, $key) = @_; return exists $self->{pairs}{$key} }
sub DELETE   { my ($self, $key) = @_; return delete $self->{pairs}{$key} }
sub CLEAR    { my ($self) = @_; $self->{pairs} = {}; return }
sub FIRSTKEY { my ($self) = @_; return (sort keys %{ $self->{pairs} })[0] }
sub NEXTKEY  { my ($self, $last) = @_; return (grep { $_ gt $last } sort keys %{ $self->{pairs} })[0] }
sub SCALAR   { my ($self) = @_; return scalar %{ $self->{pairs} } }

1;
