package Malice;

# A class whose hooks, destructor and other methods write to a file when they run, so that calls
# at the end of the process are seen too.

use strict;
use warnings;

our $file;

sub record_call {
    my ($name) = @_;
    open my $handle, '>>', $file or die "$file: $!";
    print {$handle} "$name\n";
    close $handle;
    return;
}

sub calls {
    open my $handle, '<', $file or return '';
    my @lines = <$handle>;
    chomp @lines;
    return join ' ', @lines;
}

sub reset_calls { unlink $file; return }

# No hooks, so that the object itself is frozen; its destructor is code too.
package Malice::Plain;

sub DESTROY { Malice::record_call('DESTROY'); return }

package Malice::Hooks;

sub STORABLE_freeze { return ('text', [1]) }
sub STORABLE_thaw   { Malice::record_call('STORABLE_thaw'); return }
sub FREEZE          { return 'text' }
sub THAW            { Malice::record_call('THAW'); return bless {}, shift }
sub DESTROY         { Malice::record_call('DESTROY'); return }

package Malice::Attach;

sub STORABLE_freeze { return 'text' }
sub STORABLE_attach { Malice::record_call('STORABLE_attach'); return bless {}, shift }

package Malice::Overload;

use overload
    map({ my $name = $_; ($name => sub { Malice::record_call("overloaded $name"); return 1 }) } '""', 'bool', '0+', '==', 'eq'),
    '@{}' => sub { Malice::record_call('overloaded @{}'); return [] };

package Malice::Tie;

sub TIEHASH  { Malice::record_call('TIEHASH'); return bless {}, shift }
sub FETCH    { Malice::record_call('FETCH'); return 1 }
sub STORE    { Malice::record_call('STORE'); return }
sub FIRSTKEY { Malice::record_call('FIRSTKEY'); return 'a' }
sub NEXTKEY  { return }
sub EXISTS   { Malice::record_call('EXISTS'); return 1 }
sub DESTROY  { Malice::record_call('DESTROY'); return }
sub UNTIE    { Malice::record_call('UNTIE'); return }

package Malice::Auto;

our $AUTOLOAD;
sub AUTOLOAD { Malice::record_call($AUTOLOAD); return }

1;
