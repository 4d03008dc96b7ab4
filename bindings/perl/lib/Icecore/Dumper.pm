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

# What a string is in double quotes.
sub qquote {
    require Data::Dumper;
    goto &Data::Dumper::qquote;
}

# What is known by its address, and by which name: what was dumped, and what is given.
sub Seen {
    my ($self, @names) = @_;
    my $original = $self->_seen;
    return $original->Seen if !@names || !defined $names[0];
    # What is no hash is told off, and nothing comes back.
    my @done = $original->Seen(@names);
    return @done ? $self : ();
}

sub Reset {
    my ($self) = @_;
    $self->_forget if ref $self;
    return $self;
}

# Data::Dumper itself, for what only it can do: see dumper/original.c.
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

# An object holds the address of something that is not shared between threads.
sub CLONE_SKIP { return 1 }

1;
