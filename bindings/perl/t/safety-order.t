# An error that only perl can find, after an object with a hook: the hook is not called.

use v5.30;
use warnings;

use Storable ();
use Test::More;
use Icecore::JSON ();
use Icecore::Sereal ();
use Icecore::Storable ();

no warnings 'once';
our @calls;
{
    package Early;
    sub STORABLE_freeze { return 'x' }
    sub STORABLE_thaw { push @main::calls, 'STORABLE_thaw'; return }
    sub FREEZE { return 'x' }
    sub THAW { push @main::calls, 'THAW'; return bless {}, shift }
    package Early::Attached;
    sub STORABLE_freeze { my ($self) = @_; return ('x', [1]) }
    sub STORABLE_attach { push @main::calls, 'STORABLE_attach'; return bless {}, shift }
    package Without;
    sub STORABLE_freeze { return 'x' }
    sub FREEZE { return 'x' }
    package Tied;
    sub TIEHASH { return bless {}, shift }
}
my $early = bless {}, 'Early';

# Changes one part of the bytes.
sub changed {
    my ($bytes, $from, $to) = @_;
    my $at = index $bytes, $from;
    die 'it is not there: ' . unpack 'H*', "$from $bytes" if $at < 0;
    substr($bytes, $at, length $from) = $to;
    return $bytes;
}

my %images = (
    'a tie to a string'     => [changed(Storable::nfreeze([$early, do { tie my %tied, 'Tied'; \%tied }]), "\4\x0c\4\x11\4Tied\3\0\0\0\0", "\4\x0c\x0a\4Tied"), qr/tied variable without an object/],
    'text that is not UTF-8' => [changed(Storable::nfreeze([$early, "\x{263a}"]), "\xe2\x98\xba", "\xe2\x98\x20"), qr/text that is not UTF-8/],
    'a malformed key'       => [changed(Storable::nfreeze([$early, { "\x{263a}" => 1 }]), "\xe2\x98\xba", "\xe2\x98\x20"), qr/malformed UTF-8 in a hash key/],
    'code'                  => [do { local $Storable::Deparse = 1; Storable::nfreeze([$early, sub { 1 }]) }, qr/Can't eval/],
    'a regexp'              => [changed(Storable::nfreeze([$early, qr/a(b)c/]), 'a(b)c', 'a(b(c'), qr/Unmatched/],
    'a modifier'            => [changed(Storable::nfreeze([$early, qr/abc/i]), "\2ui", "\2u;"), qr/unknown modifier/],
    'a class without hooks' => [Storable::nfreeze([$early, bless {}, 'Without']), qr/No STORABLE_thaw defined/],
    'references for STORABLE_attach' => [do {
        # The original refuses to write it.
        no warnings 'once';
        local *Early::Attached::STORABLE_thaw = sub { };
        my $attach = delete $Early::Attached::{STORABLE_attach};
        my $bytes = Storable::nfreeze([$early, bless {}, 'Early::Attached']);
        $Early::Attached::{STORABLE_attach} = $attach;
        $bytes;
    }, qr/unexpected references/],
);
for my $name (sort keys %images) {
    my ($bytes, $error) = @{ $images{$name} };
    @calls = ();
    ok(!eval { Icecore::Storable::thaw($bytes, classes => 'any'); 1 }, "$name is refused");
    like($@, $error, 'the error has the expected message');
    is("@calls", '', 'no hook was called');
}

# The same for Sereal and JSON; the header is read before the body.
my %documents = (
    'a class without THAW' => [\&Icecore::Sereal::decode_sereal, Icecore::Sereal::encode_sereal([bless({}, 'Without'), $early], { freeze_callbacks => 1 }), qr/No THAW method defined for class 'Without'/],
    'the body after a header' => [sub { Icecore::Sereal::Decoder->new($_[1])->decode_with_header($_[0]) },
        changed(Icecore::Sereal::encode_sereal_with_header_data([qr/a(b)c/], [$early], { freeze_callbacks => 1 }), 'a(b)c', 'a(b(c'), qr/Unmatched/],
    'JSON' => [sub { Icecore::JSON->new->allow_tags->classes('any')->decode($_[0]) }, '[("Early")["x"],("Without")["x"]]', qr/does not have a THAW method/],
);
for my $name (sort keys %documents) {
    my ($decode, $bytes, $error) = @{ $documents{$name} };
    @calls = ();
    ok(!eval { $decode->($bytes, { classes => 'any' }); 1 }, "$name is refused");
    like($@, $error, 'the error has the expected message');
    is("@calls", '', 'no hook was called');
}

done_testing;
