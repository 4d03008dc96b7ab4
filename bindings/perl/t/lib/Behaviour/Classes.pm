package Behaviour::Classes;

# The classes with hooks that the behaviour list names. Their calls are logged, so that a line
# can require that nothing ran. They have the hooks of both Storable and Sereal.

use v5.30;
use warnings;

our @log;
our $nested;    # what Reenters does: writes and reads another document

sub note_event { my ($class, $event) = @_; push @log, "$event $class"; return }

sub made {
    my ($self, $members) = @_;
    %$self = %$members;
    return $self;
}

package Notes {
    sub STORABLE_freeze { my ($self) = @_; Behaviour::Classes::note_event(ref $self, 'freeze'); return ('', {%$self}) }
    sub STORABLE_thaw   { my ($self, undef, undef, $members) = @_; Behaviour::Classes::note_event(ref $self, 'thaw'); return Behaviour::Classes::made($self, $members) }
    sub FREEZE          { my ($self) = @_; Behaviour::Classes::note_event(ref $self, 'freeze'); return {%$self} }
    sub THAW            { my ($class, undef, $members) = @_; Behaviour::Classes::note_event($class, 'thaw'); return Behaviour::Classes::made((bless {}, $class), $members) }
    sub DESTROY         { Behaviour::Classes::note_event(ref $_[0], 'destroy'); return }
}

package ThawDies {
    our @ISA = ('Notes');
    sub STORABLE_thaw { die "the hook says no\n" }
    sub THAW          { die "the hook says no\n" }
}

package FreezeDies {
    our @ISA = ('Notes');
    sub STORABLE_freeze { die "the hook says no\n" }
    sub FREEZE          { die "the hook says no\n" }
}

package Reenters {
    our @ISA = ('Notes');
    sub STORABLE_freeze { $Behaviour::Classes::nested->(); goto &Notes::STORABLE_freeze }
    sub STORABLE_thaw   { $Behaviour::Classes::nested->(); goto &Notes::STORABLE_thaw }
    sub FREEZE          { $Behaviour::Classes::nested->(); goto &Notes::FREEZE }
    sub THAW            { $Behaviour::Classes::nested->(); goto &Notes::THAW }
}

1;
