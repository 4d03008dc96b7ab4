package Malice;

# A class whose hooks, destructor and other methods write to a file when they run, so that calls
# at the end of the process are seen too.

use strict;
use warnings;

our $file;

sub mark {
    my ($what) = @_;
    open my $handle, '>>', $file or die "$file: $!";
    print {$handle} "$what\n";
    close $handle;
    return;
}

sub ran {
    open my $handle, '<', $file or return '';
    my @lines = <$handle>;
    chomp @lines;
    return join ' ', @lines;
}

sub forget { unlink $file; return }

# No hooks, so that the object itself is frozen; its destructor is code too.
package Malice::Plain;

sub DESTROY { Malice::mark('DESTROY'); return }

package Malice::Hooks;

sub STORABLE_freeze { return ('text', [1]) }
sub STORABLE_thaw   { Malice::mark('STORABLE_thaw'); return }
sub FREEZE          { return 'text' }
sub THAW            { Malice::mark('THAW'); return bless {}, shift }
sub DESTROY         { Malice::mark('DESTROY'); return }

package Malice::Attach;

sub STORABLE_freeze { return 'text' }
sub STORABLE_attach { Malice::mark('STORABLE_attach'); return bless {}, shift }

package Malice::Overload;

use overload
    map({ my $name = $_; ($name => sub { Malice::mark("overloaded $name"); return 1 }) } '""', 'bool', '0+', '==', 'eq'),
    '@{}' => sub { Malice::mark('overloaded @{}'); return [] };

package Malice::Tie;

sub TIEHASH  { Malice::mark('TIEHASH'); return bless {}, shift }
sub FETCH    { Malice::mark('FETCH'); return 1 }
sub STORE    { Malice::mark('STORE'); return }
sub FIRSTKEY { Malice::mark('FIRSTKEY'); return 'a' }
sub NEXTKEY  { return }
sub EXISTS   { Malice::mark('EXISTS'); return 1 }
sub DESTROY  { Malice::mark('DESTROY'); return }
sub UNTIE    { Malice::mark('UNTIE'); return }

package Malice::Auto;

our $AUTOLOAD;
sub AUTOLOAD { Malice::mark($AUTOLOAD); return }

1;
