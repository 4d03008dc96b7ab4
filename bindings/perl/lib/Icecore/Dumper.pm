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
our ($Deparse, $Bless, $Pair, $Maxdepth, $Useperl)              = (0, 'bless', ' => ', 0, 0);
our ($Sortkeys, $Sparseseen, $Maxrecurse)                       = (0, 0, 1000);

*import  = \&Icecore::_import_names;
*DumperX = \&Dumper;

# Returns a string in double quotes.
sub qquote {
    require Data::Dumper;
    goto &Data::Dumper::qquote;
}

# Values that Data::Dumper recognizes by their addresses, with their names: those that were dumped, and
# those that the program names here.
sub Seen {
    my ($self, @names) = @_;
    my $original = $self->_seen;
    return $original->Seen if !@names || !defined $names[0];
    # If the argument is not a hash, Data::Dumper warns and returns nothing.
    my @result = $original->Seen(@names);
    return @result ? $self : ();
}

sub Reset {
    my ($self) = @_;
    $self->_forget if ref $self;
    return $self;
}

# Tasks that only Data::Dumper itself can do: see dumper/original.c, which calls these two functions.
sub _new_original {
    require Data::Dumper;
    return Data::Dumper->new([]);
}

sub _dump_with_original {
    my ($original, $values, $names, @settings) = @_;
    $original //= _new_original();
    while (my ($name, $value) = splice @settings, 0, 2) { $original->$name($value) }
    return $original->Values($values)->Names($names // [])->Dump;
}

# An object contains the address of memory that threads don't share.
sub CLONE_SKIP { return 1 }

1;
