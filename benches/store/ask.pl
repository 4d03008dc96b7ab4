#!/usr/bin/env perl
# Queries the database that ICECORE_LOAD_DB names, independently of the measured programs, to
# verify what the load program believes about them.
#
#   benches/store/ask.pl SQL      runs a statement, and writes each row of its answer as a line of JSON
#   benches/store/ask.pl          reports what is missing here

use v5.36;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::XS ();

my @missing = grep { !eval "require $_; 1" } qw(DBI DBD::SQLite DBD::Pg EV JSON::XS);
if (!@ARGV) {
    say for @missing;
    exit;
}
require Load::Database;
my $statement = Load::Database::connect()->prepare($ARGV[0]);
$statement->execute;
if ($statement->{NUM_OF_FIELDS}) {
    my $json = JSON::XS->new->ascii;
    while (my $row = $statement->fetchrow_arrayref) {
        say $json->encode($row);
    }
}
