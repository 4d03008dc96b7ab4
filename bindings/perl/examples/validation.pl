#!/usr/bin/perl
# A class that validates data before it becomes an object.

use strict;
use warnings;

use Icecore::Storable qw(freeze thaw);

package Account {
    sub new     { my ($class, %field) = @_; return bless {%field}, $class }
    sub balance { return $_[0]{balance} }

    sub STORABLE_freeze {
        my ($self, $cloning) = @_;
        return join "\0", @$self{qw(owner balance)};
    }

    sub STORABLE_thaw {
        my ($self, $cloning, $text) = @_;
        my ($owner, $balance) = split /\0/, $text;
        die "an account needs an owner\n"    unless defined $owner && length $owner;
        die "no balance: '$balance'\n"       unless $balance =~ /\A-?\d+\z/;
        die "$owner is overdrawn: $balance\n" if $balance < 0;
        @$self{qw(owner balance)} = ($owner, $balance);
        return;
    }
}

for my $account (
    Account->new(owner => 'Alice', balance => 100),
    Account->new(owner => 'Bob',   balance => -5),
    Account->new(owner => 'Carol', balance => 'a lot'),
    Account->new(owner => '',      balance => 1),
) {
    my $bytes = freeze($account);
    my $copy  = eval { thaw($bytes, classes => ['Account']) };
    print $copy ? "$copy->{owner} has " . $copy->balance . "\n" : "refused: $@";
}
