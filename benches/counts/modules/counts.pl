# The work of the cells for Perl: counts.pl JOB ROUNDS. Input and output are compared with
# perl's own Storable first, also in a run with 0 rounds.
use v5.30;
use warnings;

use Icecore::Sereal   ();
use Icecore::Storable ();
use Storable          ();

my ($job, $rounds) = @ARGV;

# Without PERL_HASH_SEED=0 the key order of each hash would differ in every run.
my $records  = [map { { id => $_, name => "Employee_$_", email => "employee.$_\@example.org", age => 20 + $_ % 50 } } 1 .. 100];
my $storable = Icecore::Storable::freeze($records);
my $sereal   = Icecore::Sereal::encode_sereal($records);

# Numbers that were printed also have a text, so a copy is compared.
sub canonical {
    local $Storable::canonical = 1;
    return Storable::freeze(Storable::dclone($_[0]));
}

$storable eq Storable::freeze($records)                              or die "freeze writes something else\n";
canonical(Icecore::Storable::thaw($storable)) eq canonical($records) or die "thaw reads something else\n";
canonical(Icecore::Sereal::decode_sereal($sereal)) eq canonical($records)
    or die "decode_sereal reads something else\n";

if ($job eq 'storable-freeze') {
    Icecore::Storable::freeze($records) for 1 .. $rounds;
}
elsif ($job eq 'storable-thaw') {
    Icecore::Storable::thaw($storable) for 1 .. $rounds;
}
elsif ($job eq 'sereal-encode') {
    Icecore::Sereal::encode_sereal($records) for 1 .. $rounds;
}
elsif ($job eq 'sereal-decode') {
    Icecore::Sereal::decode_sereal($sereal) for 1 .. $rounds;
}
else {
    die "$job: no such job\n";
}
