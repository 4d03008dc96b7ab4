#!/usr/bin/perl
# Accepts an order and queues a mail about it: both in one transaction, or neither.
#
#   dbi.pl DSN ORDER TOTAL
#
# DSN is dbi:SQLite:FILE, dbi:Pg:dbname=NAME;host=HOST or dbi:MariaDB:database=NAME;host=HOST;
# DBI_USER and DBI_PASS contain user and password. The tables of Icecore must exist: any command
# creates them, for example `icecore queue stats`.
use strict;
use warnings;
use DBI qw(:sql_types);
use Storable qw(nfreeze);
use Time::HiRes;

my ($dsn, $order, $total) = @ARGV;
die "usage: dbi.pl DSN ORDER TOTAL\n" unless defined $total;

my $dbh = DBI->connect($dsn, undef, undef, {RaiseError => 1, PrintError => 0, AutoCommit => 1});
$dbh->do('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, total INTEGER NOT NULL)');

$dbh->begin_work;
eval {
    $dbh->do('INSERT INTO orders (id, total) VALUES (?, ?)', {}, $order, $total);
    queue('mail', nfreeze({order => $order, total => $total}));
    die "an order of nothing\n" if $total == 0;
    $dbh->commit;
    1;
} or do {
    my $error = $@;
    $dbh->rollback;
    die $error;
};

# Queues a job in the open transaction; the bytes may be in any format that Icecore reads.
sub queue {
    my ($queue, $bytes) = @_;
    my $now = int(Time::HiRes::time() * 1000);
    my $insert = $dbh->prepare('INSERT INTO icecore_jobs (id, queue, queued_at, run_at, bytes) VALUES (?, ?, ?, ?, ?)');
    my @values = (uuid($now), $queue, $now, $now);
    $insert->bind_param($_ + 1, $values[$_]) for 0 .. $#values;
    # Bytes, not a text in some encoding.
    $insert->bind_param(5, $bytes, {TYPE => SQL_VARBINARY});
    $insert->execute;
}

# Makes a UUID of version 7: ids sort by their time of creation.
sub uuid {
    my ($millis) = @_;
    open my $random, '<:raw', '/dev/urandom' or die "/dev/urandom: $!\n";
    read($random, my $bytes, 10) == 10 or die "/dev/urandom: $!\n";
    my $hex = sprintf('%012x', $millis) . unpack('H*', $bytes);
    # The version, and the variant.
    substr($hex, 12, 1) = '7';
    substr($hex, 16, 1) = sprintf('%x', 8 | hex(substr($hex, 16, 1)) & 3);
    return join '-', unpack('A8 A4 A4 A4 A12', $hex);
}
