# no_bless_objects, no_thaw_objects and text that is not UTF-8, as in Sereal.

use v5.30;
use warnings;

use Encode ();
use Scalar::Util qw(blessed reftype);
use Test::More;
use Icecore::Sereal ();
plan(skip_all => 'Sereal is not installed') if !eval { require Sereal::Decoder; require Sereal::Encoder; 1 };

our @calls;
package Frozen {
    sub new { my ($class, @parts) = @_; return bless {@parts}, $class }
    sub FREEZE { my ($self) = @_; return map { $_ => $self->{$_} } sort keys %$self }
    sub THAW { my ($class, $for, @parts) = @_; push @main::calls, [$class, $for, scalar @parts]; return $class->new(@parts) }
}
package main;

sub as_text {
    my ($value) = @_;
    my $class = blessed($value) // '';
    if (!ref $value) {
        return 'undef' if !defined $value;
        my $is_text = utf8::is_utf8($value);
        Encode::_utf8_off($value);
        return $is_text . unpack 'H*', $value;
    }
    return "$class qr" . "$value" if re::is_regexp($value);
    return "$class\[" . join(' ', map { as_text($_) } @$value) . ']' if reftype $value eq 'ARRAY';
    return "$class\{" . join(' ', map { "$_ " . as_text($value->{$_}) } sort keys %$value) . '}' if reftype $value eq 'HASH';
    return "$class\\" . as_text($$value);
}

my $shared = Frozen->new(a => 1);
my @values = (
    Frozen->new(a => 1, b => [2]), [Frozen->new(a => 1), Frozen->new()], [$shared, $shared], bless({ x => bless [], 'Inner' }, 'Plain'),
    qr/a.b/i, [qr/x/, bless(qr/y/, 'Own'), \qr/z/], Frozen->new(re => qr/q/, plain => bless \(my $s = 's'), 'Scalar'), [1, 'two', undef],
);
my @options = map { my $bless = $_; map { { %$bless, %$_ } } {}, { no_thaw_objects => 0 }, { no_thaw_objects => 1 } } {}, { no_bless_objects => 0 }, { no_bless_objects => 1 };
my $encoder = Sereal::Encoder->new({ freeze_callbacks => 1 });
for my $number (0 .. $#values) {
    my $bytes = $encoder->encode($values[$number]);
    for my $options (@options) {
        my $name = "value $number, " . join ', ', map { "$_ $options->{$_}" } sort keys %$options;
        my @outcomes = map {
            my $decode = $_;
            local @calls;
            my $value = eval { $decode->($bytes) };
            [defined $value ? as_text($value) : "dies: $@", sort map { "@$_" } @calls]
        } sub { Sereal::Decoder::decode_sereal($_[0], {%$options}) }, sub { Icecore::Sereal::decode_sereal($_[0], { %$options, classes => 'any' }) };
        is_deeply($outcomes[1], $outcomes[0], $name) || diag(explain(\@outcomes));
    }
}

# Classes that are not allowed are not thawed, whatever the options are.
my $bytes = $encoder->encode([Frozen->new(a => 1)]);
@calls = ();
ok(!eval { Icecore::Sereal::decode_sereal($bytes, { no_bless_objects => 1, no_thaw_objects => 0 }); 1 }, 'THAW of a class that is not allowed is refused');
is(as_text(Icecore::Sereal::decode_sereal($bytes, { no_bless_objects => 1 })), as_text(Sereal::Decoder::decode_sereal($bytes, { no_bless_objects => 1 })), 'no_bless_objects reads the object as the original does');
is(@calls, 0, 'no_bless_objects calls no method');

# Strings that are marked as text.
for my $text ("\xff", "\xe2\x98", "\xc0\x80", "a\x80b", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe9" x 40, "\xe2\x98\xba", '') {
    for my $head ("\x27" . chr length $text, "\x41\x27" . chr length $text) {
        my $document = "=\xf3rl\5\0" . $head . $text;
        for my $validate (0, 1) {
            my @outcomes = map {
                my $value = eval { $_->($document, { validate_utf8 => $validate }) };
                defined $value ? as_text($value) : $@ =~ /Invalid UTF8 byte sequence/ ? 'invalid' : $@
            } \&Sereal::Decoder::decode_sereal, \&Icecore::Sereal::decode_sereal;
            is($outcomes[1], $outcomes[0], 'the text ' . unpack('H*', $text) . " is read as by the original, validate_utf8 $validate");
        }
    }
}

done_testing;
