# Writes random values to memcached with Cache::Memcached and Cache::Memcached::Fast; reports what it
# wrote.
#
# perl.pl PORT PREFIX SEED COUNT

use strict;
use warnings;
use utf8;
use JSON::PP;

my ($port, $prefix, $seed, $count) = @ARGV;
srand $seed;
binmode STDOUT, ':utf8';

sub word {
    my @words = ('x', 'alice', 'Zoe', 'a:b', "it's", 'x|y', "tab\t");
    return $words[rand @words] . (rand 6 < 1 ? ' alice' x (1 + rand 400) : '');
}

sub value {
    my ($depth) = @_;
    my $what = int rand($depth > 3 ? 2 : 4);
    return int(rand 2000) - 1000 if $what == 0;
    return word() if $what == 1;
    return [map { value($depth + 1) } 0 .. rand 5] if $what == 2;
    return { map { ('k' . int(rand 20) => value($depth + 1)) } 0 .. rand 5 };
}

my @clients;
for my $class ('Cache::Memcached', 'Cache::Memcached::Fast') {
    if (!eval "require $class; 1") {
        warn "left out: $class is missing\n";
        next;
    }
    for my $threshold (50, 1000, 1_000_000) {
        push @clients, $class->new({ servers => ["127.0.0.1:$port"], compress_threshold => $threshold });
    }
}
my $json = JSON::PP->new->allow_nonref;
for my $at (0 .. $count - 1) {
    last unless @clients;
    my ($client, $key) = ($clients[$at % @clients], "$prefix-$at");
    my $value = value($at % 3 ? 0 : 4);
    $client->set($key, $value);
    # Values other than references are stored as text.
    print $json->encode({ key => $key, value => ref $value ? $client->get($key) : "$value" }), "\n";
}
