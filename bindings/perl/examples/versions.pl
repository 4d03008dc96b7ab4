#!/usr/bin/perl
# A class that once was an array and is a hash now, and reads both forms.

use strict;
use warnings;

use Icecore::Storable qw(nfreeze thaw);

package Person {
    use Icecore::Storable qw(nfreeze thaw);

    our $form = 'hash';

    sub new {
        my ($class, $name, $year) = @_;
        return bless $form eq 'hash' ? { name => $name, year => $year } : [$name, $year], $class;
    }

    sub hello { my ($self) = @_; return "$self->{name}, born $self->{year}" }

    # The stored data is plain, frozen on its own.
    sub STORABLE_freeze {
        my ($self, $cloning) = @_;
        return nfreeze($form eq 'hash' ? {%$self} : [@$self]);
    }

    # STORABLE_attach makes the object itself, so it may have another form than the frozen one.
    sub STORABLE_attach {
        my ($class, $cloning, $frozen) = @_;
        my $data  = thaw($frozen);
        my %field = ref $data eq 'ARRAY' ? (name => $data->[0], year => $data->[1])
            : ref $data eq 'HASH' && defined $data->{name} ? %$data
            : die "a person of this form is not known\n";
        return bless \%field, $class;
    }
}

my %bytes = ('the new form' => nfreeze(Person->new('Bob', 1995)));
{
    local $Person::form = 'array';
    $bytes{'the old form'} = nfreeze(Person->new('Alice', 1990));
}
$bytes{'a later form'} = nfreeze(bless { given => 'Carol' }, 'Person');

for my $which ('the old form', 'the new form', 'a later form') {
    my $person = eval { thaw($bytes{$which}, classes => ['Person']) };
    print "$which: ", $person ? $person->hello . "\n" : $@;
}
