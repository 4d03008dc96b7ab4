package Load::Database;

# Connections to the database that ICECORE_LOAD_DB names: sqlite:FILE, or postgres://USER:PASSWORD@HOST:PORT/NAME, or
# the same with mysql:.

use v5.36;
use DBI;

# With the same guarantee as Icecore for a commit: it is on the disk when it returns.
sub connect ($address = $ENV{ICECORE_LOAD_DB} // die "ICECORE_LOAD_DB names no database\n") {
    my %how = (RaiseError => 1, PrintError => 0, AutoCommit => 1);
    if (my ($file) = $address =~ /\Asqlite:(.+)\z/s) {
        my $database = DBI->connect("dbi:SQLite:dbname=$file", '', '', {%how, sqlite_unicode => 0});
        $database->sqlite_busy_timeout(30_000);
        $database->do('PRAGMA journal_mode = WAL');
        $database->do('PRAGMA synchronous = FULL');
        return $database;
    }
    my ($scheme, $user, $password, $host, $port, $name) =
        $address =~ m{\A(postgres(?:ql)?|mysql|mariadb)://([^:@/]*)(?::([^@/]*))?@([^:/]+)(?::(\d+))?/([^?]+)}
        or die "the address of the database is not understood\n";
    s/%([0-9A-Fa-f]{2})/chr hex $1/ge for grep { defined } $user, $password, $name;
    if ($scheme !~ /\Apostgres/) {
        return DBI->connect("dbi:MariaDB:database=$name;host=$host;port=" . ($port // 3306), $user, $password, \%how);
    }
    my $source = "dbi:Pg:dbname=$name;host=$host;port=" . ($port // 5432) . ';sslmode=disable';
    my $database = DBI->connect($source, $user, $password, {%how, pg_enable_utf8 => 0});
    $database->do("SET client_min_messages = 'warning'");
    $database->do("SET synchronous_commit = 'on'");
    return $database;
}

sub is_sqlite ($database) {
    return $database->{Driver}{Name} eq 'SQLite';
}

1;
