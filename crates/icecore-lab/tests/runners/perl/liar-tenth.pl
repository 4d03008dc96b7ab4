#!/usr/bin/env perl
# It works, and claims a tenth of the time.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;

no warnings 'redefine';
my $loop = \&Lab::Code::loop;
*Lab::Code::loop = sub { return $loop->(@_) =~ s/return (.*) \}\z/return ($1) \/ 10 }/r };

Lab::run(
    name  => 'liar-tenth',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'Storable::thaw($bytes)',
);
