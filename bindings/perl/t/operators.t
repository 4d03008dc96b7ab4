# Subs that become operators if the compiler sees the call: all ways to call them do the same.
use v5.30;
use warnings;

use Test::More;
use Icecore ();
use Icecore::Sereal qw(encode_sereal decode_sereal sereal_encode_with_object sereal_decode_with_object);
use B ();

my $encoder = Icecore::Sereal::Encoder->new;
my $decoder = Icecore::Sereal::Decoder->new;
my $value   = { list => [1 .. 5], text => 'x' };
my $bytes   = encode_sereal($value);

my @names;
sub B::OP::record_name { push @names, $_[0]->name; return }
my $calls = sub { return sereal_encode_with_object($encoder, $value) };
B::walkoptree_slow(B::svref_2object($calls)->ROOT, 'record_name');
ok((grep { $_ eq 'icecore_sereal_encode_with_object' } @names), 'the call is replaced by an operator');

is(sereal_encode_with_object($encoder, $value), $bytes, 'an encoder encodes');
is(&sereal_encode_with_object($encoder, $value), $bytes, 'a call with & encodes');
is($encoder->can('encode')->($encoder, $value), $bytes, 'a call by a reference encodes');
is($encoder->encode($value), $bytes, 'a method call encodes');
my @arguments = ($encoder, $value);
# @arguments contains a second reference to the hash, which changes the bytes, so $bytes is not expected.
is(sereal_encode_with_object(@arguments), $encoder->encode($arguments[1]), 'the arguments can be a list');
is_deeply([map { encode_sereal($_) } 1 .. 3], [map { $encoder->encode($_) } 1 .. 3], 'encode_sereal can be called in map');

is_deeply(sereal_decode_with_object($decoder, $bytes), $value, 'a decoder decodes');
is_deeply(decode_sereal($bytes), $value, 'decode_sereal decodes');
sereal_decode_with_object($decoder, $bytes, my $into);
is_deeply($into, $value, 'a decoder decodes into a variable');
is_deeply([1, decode_sereal($bytes), 2], [1, $value, 2], 'values around the call stay on the stack');
is(ref(decode_sereal($bytes) || 1), 'HASH', 'a call can be part of an expression');

for my $wrong (
    ['sereal_encode_with_object($encoder)',           qr/^Usage: .*sereal_encode_with_object\(encoder, data/],
    ['sereal_encode_with_object($encoder, 1, 2, 3)',  qr/^Usage: /],
    ['sereal_decode_with_object()',                   qr/^Usage: /],
    ['sereal_encode_with_object({}, 1)',              qr/./],
    ['sereal_decode_with_object($encoder, $bytes)',   qr/./],
    ['sereal_decode_with_object($decoder, "=srl")',   qr/./],
    ['encode_sereal(1, {}, 3)',                       qr/^Usage: /],
    ['decode_sereal()',                               qr/^Usage: /],
) {
    my ($code, $message) = @$wrong;
    ok(!defined eval $code, $code);
    like($@, $message, 'the call has the expected error');
    like($@, qr/ at \(eval \d+\) line 1\.$/, 'the error has the line of the call') if $message ne qr/./;
}

# Hooks run perl code, which moves the stack, while the operator is in the middle of an
# expression.
package Deep {
    sub FREEZE { my @stack = map { $_ } 1 .. 100_000; return scalar @stack }
    sub THAW { my ($class, undef, $count) = @_; my @stack = map { $_ } 1 .. 100_000; return bless { count => $count }, $class }
}
my $hook_encoder = Icecore::Sereal::Encoder->new({ freeze_callbacks => 1 });
my $hook_decoder = Icecore::Sereal::Decoder->new({ classes => 'any' });
my @around       = (1, sereal_decode_with_object($hook_decoder, sereal_encode_with_object($hook_encoder, bless {}, 'Deep')), 3);
is_deeply([@around[0, 2], $around[1]{count}], [1, 3, 100_000], 'hooks may grow the stack');

done_testing;
