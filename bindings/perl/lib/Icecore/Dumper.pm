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

# Nothing is remembered between two calls.
sub Reset { return $_[0] }

# An object holds the address of something that is not shared between threads.
sub CLONE_SKIP { return 1 }

1;
