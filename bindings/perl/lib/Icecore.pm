package Icecore;
use v5.30;
use warnings;

use Exporter ();

our $VERSION = '0.1.0';

# The classes that may be built, and the default for all others.
our (@ALLOWED, %REPORTED, $CLASSES);

require XSLoader;
XSLoader::load('Icecore', $VERSION);

sub allow {
    my (undef, @patterns) = @_;
    push @ALLOWED, map { ref eq 'ARRAY' ? @$_ : $_ } @patterns;
    return;
}

# Handles `use Icecore::Storable classes => …` and similar imports.
sub _import_classes {
    my ($classes) = @_;
    if (ref $classes eq 'ARRAY') { Icecore->allow(@$classes) }
    elsif ($classes =~ /\A(?:any|any,report|record|report)\z/) { $CLASSES = $classes }
    else { Icecore->allow($classes) }
    return;
}

# Handles `use Icecore::Storable qw(freeze thaw), classes => [...]`: the exported names, and the
# classes that the process allows.
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

sub _deparse {
    my ($code) = @_;
    require B::Deparse;
    return B::Deparse->new->coderef2text($code);
}

sub replace_storable {
    require Icecore::Storable;
    return Icecore::Storable::_replace();
}

# A neutral record: an object of a class that was not allowed, or a regexp that could run code.
package Icecore::Record {
    sub class      { return $_[0]{class} }
    sub kind       { return $_[0]{kind} }
    sub value      { return $_[0]{value} }
    sub flags      { return $_[0]{flags} }
    sub references { return @{ $_[0]{references} // [] } }
}

1;
