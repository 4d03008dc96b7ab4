package Load::Jobs;

# The work of the article's daemon for a job: it is checked, copied by Data::Dumper, and
# inserted.

use v5.36;
use Data::Dumper ();
use JSON::XS ();
use Load::Database;
use Time::HiRes ();

my $json = JSON::XS->new->utf8;

sub new ($class) {
    my $database = Load::Database::connect();
    my $id = Load::Database::is_sqlite($database) ? 'TEXT' : 'UUID';
    $database->do("CREATE TABLE IF NOT EXISTS article_jobs (id $id NOT NULL PRIMARY KEY, queued_at BIGINT NOT NULL,
        priority BIGINT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, copy TEXT NOT NULL)");
    my $insert = $database->prepare(
        'INSERT INTO article_jobs (id, queued_at, priority, name, type, copy) VALUES (?, ?, ?, ?, ?, ?)');
    open my $random, '<:raw', '/dev/urandom' or die "/dev/urandom: $!\n";
    my $dumper = Data::Dumper->new([])->Indent(0)->Terse(1)->Quotekeys(0)->Useperl(0);
    return bless {database => $database, insert => $insert, random => $random, dumper => $dumper}, $class;
}

# Stores the job in this JSON text; returns its id, or what is wrong with it.
sub store ($self, $text) {
    my $job = eval { $json->decode($text) };
    my $wrong = ref $job eq 'HASH' ? wrong($job) : 'the body is no object of JSON';
    return (undef, $wrong) if $wrong;
    my $copy = $self->{dumper}->Reset->Values([$job])->Dump;
    utf8::encode($_) for $copy, $job->{name}, $job->{type};
    my $id = $self->uuid;
    $self->{insert}->execute($id, int(1000 * Time::HiRes::time()), $job->{priority}, $job->{name}, $job->{type}, $copy);
    return $id;
}

sub wrong ($job) {
    for my $name (qw(clientref jobid name type sessionid)) {
        my $value = $job->{$name};
        return "$name is missing" unless defined $value;
        return "$name is no text" if ref $value || $value eq '';
    }
    for my $name (qw(priority jobflags)) {
        return "$name is no whole number" unless ($job->{$name} // '') =~ /\A-?[0-9]{1,9}\z/;
    }
    return 'args is no object' unless ref $job->{args} eq 'HASH';
    return 'sessionid is not 32 hexadecimal digits' unless $job->{sessionid} =~ /\A[0-9a-f]{32}\z/;
    return;
}

# Version 7: it begins with the time, so new rows are next to each other in the index.
sub uuid ($self) {
    read $self->{random}, my ($bytes), 10;
    my ($time, @rest) = (int(1000 * Time::HiRes::time()), unpack 'n5', $bytes);
    return sprintf '%08x-%04x-7%03x-%04x-%04x%04x%04x', $time >> 16, $time & 0xffff, $rest[0] & 0xfff,
        $rest[1] & 0x3fff | 0x8000, @rest[2 .. 4];
}

1;
