package Icecore::JSON::Cpanel;
use v5.30;
use warnings;

use Icecore::JSON ();

our $VERSION   = $Icecore::VERSION;
our @ISA       = ('Icecore::JSON');
our @EXPORT    = qw(encode_json decode_json to_json from_json);
our @EXPORT_OK = qw(true false is_bool);

*import = \&Icecore::_import_names;

# As in Cpanel::JSON::XS, a boolean equals the words true and false, and a false one also the empty string.
BEGIN {
    package JSON::PP::Boolean;
    require overload;

    sub Icecore::JSON::Cpanel::_is_equal_boolean {
        my ($boolean, $other) = $_[2] && !ref $_[1] ? @_[0, 1] : $_[2] ? @_[1, 0] : @_[0, 1];
        return $boolean ? 1 == $other : 0 == $other if ref $other || $other =~ /\A[0-9]+\Z/;
        return "$boolean" eq '1' ? 'true' eq $other : 'false' eq $other || '' eq $other;
    }

    no warnings 'redefine';
    if (!defined $JSON::PP::Boolean::VERSION) {
        overload->unimport('0+', '++', '--');
        overload->import(
            '0+' => sub { ${ $_[0] } },
            '++' => sub { $_[0] = ${ $_[0] } + 1 },
            '--' => sub { $_[0] = ${ $_[0] } - 1 },
        );
    }
    overload->unimport('""', 'eq', 'ne');
    overload->import(
        '""'     => sub { ${ $_[0] } == 1 ? '1' : '0' },
        'eq'     => \&Icecore::JSON::Cpanel::_is_equal_boolean,
        'ne'     => sub { !Icecore::JSON::Cpanel::_is_equal_boolean(@_) },
        fallback => 1,
    );
}

sub true  () { return $Icecore::JSON::true }
sub false () { return $Icecore::JSON::false }

sub is_bool ($) { goto &Icecore::JSON::is_bool }

sub _croak_renamed {
    my ($old, $new) = @_;
    require Carp;
    Carp::croak("$old has been renamed to $new, either downgrade to pre-2.0 versions of Cpanel::JSON::XS or rename the call");
}

sub to_json   ($@) { _croak_renamed('Cpanel::JSON::XS::to_json',   'encode_json') }
sub from_json ($@) { _croak_renamed('Cpanel::JSON::XS::from_json', 'decode_json') }

sub allow_bigint {
    require Carp;
    Carp::carp('allow_bigint() is obsoleted. use allow_bignum() instead.');
    return;
}

# A sub as the argument is ignored, as in Cpanel::JSON::XS.
sub sort_by {
    my ($self, @argument) = @_;
    $self->canonical if !@argument || defined $argument[0];
    return $self;
}

sub indent_length {
    my ($self, $length) = @_;
    $length //= 3;
    if   ($length >= 0 && $length <= 15) { $self->SUPER::indent_length($length) }
    else                                 { warn 'The acceptable range of indent_length() is 0 to 15.' }
    return $self;
}

1;
