#!/usr/bin/env perl
# Makes the samples that the cookbook works on, with the real Storable and the
# real Sereal. Run it anywhere; it writes beside itself.
use v5.36;
no warnings 'experimental::builtin';
BEGIN {
    # The order of hashes, and so the bytes, are the same each time.
    if (($ENV{PERL_HASH_SEED} // '') ne '0') {
        $ENV{PERL_HASH_SEED} = 0;
        exec $^X, $0, @ARGV or die "$^X: $!";
    }
}
use FindBin;
use JSON::XS     qw(decode_json);
use MIME::Base64 qw(decode_base64);
use Sereal::Encoder qw(SRL_ZSTD);
use Storable        qw(nfreeze nstore store);

chdir $FindBin::Bin or die "$FindBin::Bin: $!";
$Storable::canonical = 1;

sub spew ($file, $bytes) {
    open my $out, '>:raw', $file or die "$file: $!";
    print $out $bytes;
    close $out or die "$file: $!";
}

# An object whose class freezes itself.
package Date::Day {
    sub STORABLE_freeze ($self, $cloning) { return sprintf '%04d-%02d-%02d', @$self{qw(y m d)} }
}

sub session ($id, $name, @cart) {
    return {
        user => bless({ id => $id, name => $name, roles => $id == 1 ? ['admin', 'dev'] : ['dev'] }, 'App::User'),
        cart => \@cart,
        seen => 1_700_000_000 + $id,
    };
}

my $alice = session(1, 'Alice', { sku => 'A-1', n => 2, price => '9.99' });
nstore($alice, 'session.storable');

store([map { { id => $_, name => "Employee_$_", age => 20 + $_ } } 1 .. 3], 'employees.storable');

# A folder of sessions; one was cut off when the disk was full.
mkdir 'sessions';
nstore($alice,           'sessions/alice.storable');
nstore(session(2, 'Bob'), 'sessions/bob.storable');
my $carol = nfreeze(session(3, 'Carol', { sku => 'C-7', n => 1, price => '5.00' }));
spew('sessions/carol.storable', substr 'pst0' . $carol, 0, 70);

# Two states of one thing.
my %config = (host => 'alpha', port => 8080, tags => ['a', 'b'], owner => bless({ name => 'ops' }, 'App::Team'));
nstore(\%config, 'before.storable');
$config{port} = 8081;
push @{ $config{tags} }, 'c';
nstore(\%config, 'after.storable');

# Shared and cyclic references, a weak one, an object with a hook.
my $node = { name => 'root', made => bless({ y => 2024, m => 2, d => 29 }, 'Date::Day') };
my $leaf = { name => 'leaf', parent => $node };
builtin::weaken($leaf->{parent});
$node->{children} = [$leaf, $leaf];
nstore($node, 'graph.storable');

# What a message queue keeps: a header, and a compressed body.
my $orders = [map { { order => 1000 + $_, customer => "Customer $_", paid => \($_ % 2) } } 1 .. 3];
my $encoder = Sereal::Encoder->new(
    { protocol_version => 5, canonical => 1, compress => SRL_ZSTD, compress_threshold => 0 });
spew('orders.srl', $encoder->encode($orders, { topic => 'orders', offset => 17 }));

# Documents one behind the other.
my $plain = Sereal::Encoder->new({ protocol_version => 5, canonical => 1 });
spew('log.srl', join '', map { $plain->encode({ at => $_, what => $_ == 2 ? 'stop' : 'start' }) } 1 .. 3);

# From a SPARC with Storable 0.6: no perl of today writes it, so it comes from
# the fixtures.
open my $lines, '<', '../../../fixtures/storable-arch.jsonl' or die $!;
while (my $line = <$lines>) {
    next unless $line =~ m{"records/sparc"} && $line =~ m{"mode":"file,1"};
    spew('old.storable', decode_base64(decode_json($line)->{blob}));
    last;
}
