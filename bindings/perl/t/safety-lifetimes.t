# Hooks and destructors that remove things that the call still needs.

use strict;
use warnings;
use lib 't/lib';

use Test::More;
use Both;
BEGIN { ours_only() }

use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze thaw);

Icecore->allow(qw(Takes Locks Destroys));

our ($bytes, $encoder, $decoder);
my @rest = map { "string number $_" } 1 .. 200;

{
    package Takes;
    sub scribble { $main::bytes = 'y' x 10; my @new = map { 'z' x 300 } 1 .. 200; return scalar @new }
    sub STORABLE_freeze { return 'x' }
    sub STORABLE_thaw   { scribble(); return }
    sub FREEZE          { undef $main::encoder; return 1 }
    sub THAW            { my ($class) = @_; undef $main::decoder; scribble(); return bless {}, $class }

    package Locks;
    sub STORABLE_freeze { my ($self) = @_; return ('x', $self->{in}) }
    sub STORABLE_thaw   { my ($self, undef, undef, $in) = @_; Internals::SvREADONLY(%$in, 1); return }

    package Destroys;
    sub DESTROY { my ($self) = @_; %{ $self->{up} } = () if $self->{up}; return }
}

subtest "the caller's bytes are changed by a hook" => sub {
    local $bytes = freeze([bless({}, 'Takes'), @rest]);
    is_deeply([@{ thaw($bytes) }[1 .. 200]], \@rest, 'thaw continues with its copy of the bytes');
    $encoder = Icecore::Sereal::Encoder->new({ freeze_callbacks => 1 });
    $decoder = Icecore::Sereal::Decoder->new;
    $bytes   = $encoder->encode([bless({}, 'Takes'), @rest, { map { ($_ => 1) } @rest }]);
    ok(!defined $encoder, 'an encoder may be released while it encodes');
    my $copy = $decoder->decode($bytes);
    ok(!defined $decoder, 'a decoder may be released while it decodes');
    is_deeply([@$copy[1 .. 200]], \@rest, 'the decoder continues with its copy of the bytes');
    is_deeply($copy->[201], { map { ($_ => 1) } @rest }, 'the keys are read from the copy');
    $bytes   = Icecore::Sereal::Encoder->new({ freeze_callbacks => 1 })->encode([@rest], bless {}, 'Takes');
    $decoder = Icecore::Sereal::Decoder->new;
    is_deeply($decoder->decode_with_header($bytes)->[1], \@rest, 'a document with a header is read from the copy');
};

subtest 'a hash that a hook locks while it is filled' => sub {
    my $in = { c => 1 };
    $in->{$_} = [bless { in => $in }, 'Locks'] for 'a' .. 'f';
    my $image = freeze($in);
    for (1 .. 3) {
        my $copy = eval { thaw($image) };
        ok($copy || $@ =~ /restricted hash|read-only/, 'the locked hash is an error, or ignored');
        Internals::SvREADONLY(%$copy, 0), %$copy = () if $copy;
    }
    %$in = ();
};

subtest 'a repeated key whose value has a destructor' => sub {
    # The second value replaces an object whose destructor empties the hash that is being
    # filled.
    my $object = "\4\x11\x08Destroys\3" . pack('N', 1) . "\4\0" . pack('N', 0) . pack('N', 2) . 'up';
    my $image  = "\5\13\3" . pack('N', 3) . $object . pack('N', 1) . 'k' . "\x08\x81" . pack('N', 1) . 'k' . "\x08\x82" . pack('N', 1) . 'm';
    for (1 .. 3) { ok(eval { thaw($image); 1 }, 'reading it does not crash') or diag($@) }
};

subtest 'a decoder that was destroyed' => sub {
    my $one = Icecore::Sereal::Decoder->new;
    $one->DESTROY;
    ok(!eval { $one->decode(encode_sereal([1])); 1 }, 'a destroyed decoder is refused');
    like($@, qr/this is not an Icecore::Sereal::Decoder/, 'the error says that the object is not a decoder');
    my $two = Icecore::Sereal::Encoder->new;
    $two->DESTROY;
    ok(!eval { $two->encode([1]); 1 }, 'a destroyed encoder is refused');
};

subtest 'variables of all types to decode into' => sub {
    my $self = [];
    $self->[0] = \$self;
    my $cycle = encode_sereal($self);
    $self->[0] = undef;
    for my $value (1.5, 'text' x 20, [1], undef, 7, \'x') {
        my $into = $value;
        Icecore::Sereal::Decoder->new->decode($cycle, $into);
        is(\$into, $into->[0], 'a link to the root refers to the variable');
        $into->[0] = undef;
    }
    ok(!eval { Icecore::Sereal::Decoder->new->decode($cycle, 'a constant'); 1 }, 'a constant is refused');
};

done_testing;
