package Icecore::JSON;
use v5.30;
use warnings;

use Icecore;

our $VERSION   = $Icecore::VERSION;
our @EXPORT    = qw(encode_json decode_json);
our @EXPORT_OK = qw(true false is_bool);

*import = \&Icecore::_import_names;

# The values of true and false: those of Types::Serialiser, if it is installed, as in JSON::XS.
our ($true, $false);

BEGIN {
    if (eval { require Types::Serialiser; 1 }) {
        ($true, $false) = ($Types::Serialiser::true, $Types::Serialiser::false);
    }
    else {
        require JSON::PP::Boolean;
        ($true, $false) = map { bless \(my $copy = $_), 'JSON::PP::Boolean' } 1, 0;
    }
    _set_default_booleans($false, $true);
}

sub true  () { return $true }
sub false () { return $false }
sub is_bool { return ref $_[-1] && UNIVERSAL::isa($_[-1], 'JSON::PP::Boolean') }

# Only for compatibility with Cpanel::JSON::XS: a sub as the argument is ignored.
sub sort_by     { return $_[0]->canonical(@_ > 1 ? $_[1] ? 1 : 0 : 1) }
sub get_sort_by { return $_[0]->get_canonical }

sub CLONE {
    _set_default_booleans($false, $true);
    return;
}

# An object contains the address of memory that threads don't share.
sub CLONE_SKIP { return 1 }

1;
