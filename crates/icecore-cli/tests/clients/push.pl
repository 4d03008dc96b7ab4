# Pushes the jobs of a file: each line contains the queue, a value and options, as JSON.
use strict;
use warnings;
use Icecore::Client;
use Icecore::JSON;

my $client = Icecore::Client->new;
my $number = 0;
while (my $line = <>) {
    my $said = decode_json($line);
    print $client->push($said->{queue}, [ $number++, $said->{value} ], %{ $said->{options} }), "\n";
}
