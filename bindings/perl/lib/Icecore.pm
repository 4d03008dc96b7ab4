package Icecore;
use v5.30;
use warnings;

use Exporter ();

our $VERSION = '0.1.0';

# Classes that may be built; classes that a warning has named; the default for all other classes.
our (@ALLOWED, %REPORTED, $CLASSES);

require XSLoader;
XSLoader::load('Icecore', $VERSION);

sub allow {
    my (undef, @patterns) = @_;
    push @ALLOWED, map { ref eq 'ARRAY' ? @$_ : $_ } @patterns;
    return;
}

# Applies the value of `classes` in `use Icecore classes => ...` and similar imports.
sub _import_classes {
    my ($classes) = @_;
    if (ref $classes eq 'ARRAY') { Icecore->allow(@$classes) }
    elsif ($classes =~ /\A(?:any|any,report|record|report)\z/) { $CLASSES = $classes }
    else { Icecore->allow($classes) }
    return;
}

# The import of modules that export functions: `use Icecore::Storable qw(freeze), classes => [...]`.
sub _import_names {
    my ($class, @words) = @_;
    my @names;
    while (@words) {
        my $word = shift @words;
        if ($word eq 'classes') { _import_classes(shift @words) }
        else                    { push @names, $word }
    }
    @_ = ($class, @names);
    goto &Exporter::import;
}

sub import {
    my ($class, %options) = @_;
    _import_classes(delete $options{classes}) if defined $options{classes};
    require Carp;
    Carp::croak("Icecore: there is no option '$_'; there is classes") for sort keys %options;
    return;
}

# Returns the text of code; called by the C code.
sub _deparse {
    my ($code) = @_;
    require B::Deparse;
    return B::Deparse->new->coderef2text($code);
}

sub replace_storable {
    require Icecore::Storable;
    return Icecore::Storable::_replace();
}

# An object whose class was not allowed, or a regexp that could run code.
package Icecore::Record {
    sub class      { return $_[0]{class} }
    sub kind       { return $_[0]{kind} }
    sub value      { return $_[0]{value} }
    sub flags      { return $_[0]{flags} }
    sub references { return @{ $_[0]{references} // [] } }
}

1;
