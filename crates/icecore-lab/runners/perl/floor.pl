#!/usr/bin/env perl
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Lab::Literal;

# Nothing is read: perl builds the same values from constants. A module written in C can
# be faster still where values are many and small, as it needs no operator for each.
Lab::run(name => 'built by perl from constants', role => 'floor', carries => \&Lab::Literal::carries);
