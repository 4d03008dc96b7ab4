#!/usr/bin/perl
# A database handle can't be frozen: only its DSN is kept, and the hook connects again if the
# class is allowed.

use strict;
use warnings;

use Icecore::Storable qw(freeze thaw);

package Database {
    my $connections = 0;

    sub connect {
        my ($class, $dsn) = @_;
        my $self = bless { dsn => $dsn }, $class;
        return $self->open;
    }

    sub open {
        my ($self) = @_;
        $self->{handle} = sub { return "row of $self->{dsn}" };    # stands for a socket
        $self->{number} = ++$connections;
        return $self;
    }

    sub fetch { my ($self) = @_; return $self->{handle}->() . ", connection $self->{number}" }

    sub STORABLE_freeze {
        my ($self, $cloning) = @_;
        return $self->{dsn};
    }

    sub STORABLE_thaw {
        my ($self, $cloning, $dsn) = @_;
        $self->{dsn} = $dsn;
        $self->open;
        return;
    }
}

my $session = { user => 'alice', database => Database->connect('dbi:SQLite:staff.db') };
print "before: ", $session->{database}->fetch, "\n";

my $bytes = freeze($session);
print "the bytes hold the DSN: ", $bytes =~ /dbi:SQLite:staff\.db/ ? 'yes' : 'no', "\n";

my $copy = eval { thaw($bytes) };
print "not allowed: ", $copy ? 'connected' : 'no connection was made', "\n";

$copy = thaw($bytes, classes => ['Database']);
print "allowed: ", $copy->{database}->fetch, "\n";
print "the first one: ", $session->{database}->fetch, "\n";
