package Icecore::Dumper;
use v5.30;
use warnings;

use Icecore;

our $VERSION   = $Icecore::VERSION;
our @EXPORT    = qw(Dumper);
our @EXPORT_OK = qw(DumperX undump);

# The settings of Data::Dumper, with its defaults.
our ($Indent, $Trailingcomma, $Purity, $Pad, $Varname)          = (2, 0, 0, '', 'VAR');
our ($Useqq, $Terse, $Freezer, $Toaster, $Deepcopy, $Quotekeys) = (0, 0, '', '', 0, 1);
our ($Deparse, $Bless, $Pair, $Maxdepth, $Useperl, $Sortkeys, $Sparseseen, $Maxrecurse) = (0, 'bless', ' => ', 0, 0, 0, 0, 1000);

*import  = \&Icecore::_import_names;
*DumperX = \&Dumper;

# Returns a string in double quotes.
sub qquote {
    require Data::Dumper;
    goto &Data::Dumper::qquote;
}

# The values that are known by their addresses, with their names: dumped ones, and given ones.
sub Seen {
    my ($self, @names) = @_;
    my $original = $self->_seen;
    return $original->Seen if !@names || !defined $names[0];
    # If the argument is not a hash, Data::Dumper warns and returns nothing.
    my @done = $original->Seen(@names);
    return @done ? $self : ();
}

sub Reset {
    my ($self) = @_;
    $self->_forget if ref $self;
    return $self;
}

# Data::Dumper itself, for the tasks that only it can do: see dumper/original.c.
sub _new_original {
    require Data::Dumper;
    return Data::Dumper->new([]);
}

sub _by_original {
    my ($original, $values, $names, @settings) = @_;
    $original //= _new_original();
    while (my ($name, $value) = splice @settings, 0, 2) { $original->$name($value) }
    return $original->Values($values)->Names($names // [])->Dump;
}

# An object contains the address of memory that threads don't share.
sub CLONE_SKIP { return 1 }

1;
