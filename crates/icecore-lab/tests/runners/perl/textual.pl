#!/usr/bin/env perl
# Returns integers as texts.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

sub Lab::Made::as_text {
    my ($value) = @_;
    return [map { Lab::Made::as_text($_) } @$value] if ref $value eq 'ARRAY';
    return { map { $_ => Lab::Made::as_text($value->{$_}) } keys %$value } if ref $value eq 'HASH';
    return defined $value ? join '', $value : undef;
}

Lab::run(
    name  => 'textual',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'as_text(Storable::thaw($bytes))',
);
