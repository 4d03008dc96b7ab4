# Bytes and text: strings, keys, class names.

use strict;
use warnings;
use utf8;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Same;
use Structures;

sub text { return Structures::text(@_) }

for my $how (qw(freeze nfreeze dclone)) {
    both_storable("strings, $how" => sub {
        my ($m) = @_;
        my $again = sub { return $how eq 'dclone' ? $m->dclone($_[0]) : $m->thaw($m->$how($_[0])) };
        my @strings = ('abc', text('abc'), "caf\xe9", text("caf\xe9"), "\x{263a}", "caf\xc3\xa9", "\xff\xfe", "\0", "\x{1f600}", "é" x 200);
        my $copy = $again->([@strings]);
        for my $index (0 .. $#strings) {
            is($copy->[$index], $strings[$index], "string $index keeps its characters");
            is(utf8::is_utf8($copy->[$index]), utf8::is_utf8($strings[$index]), "string $index keeps its UTF-8 flag");
        }
        is(length $copy->[3], 4, 'the length of text is counted in characters');
    });
    both_storable("keys, $how" => sub {
        my ($m) = @_;
        my $again = sub { return $how eq 'dclone' ? $m->dclone($_[0]) : $m->thaw($m->$how($_[0])) };
        my %hash = ("\x{263a}" => 1, "\xe2\x98\xba" => 2, "caf\xe9" => 3, abc => 4, "\x{e9}\x{263a}" => 5, '' => 6);
        my $copy = $again->(\%hash);
        is_deeply($copy, \%hash, 'text and the bytes of its UTF-8 are two keys');
        is($copy->{"\x{263a}"}, 1, 'the key that is text is found');
        is($copy->{"\xe2\x98\xba"}, 2, 'the key of bytes is found');
        is($copy->{ text("caf\xe9") }, 3, 'a key of latin-1 is found as text');
        same_ok($copy, \%hash, 'keys keep their UTF-8 flags');

        %hash = (text("caf\xe9") => 1, text('ascii') => 2, text('') => 3, plain => 4);
        $copy = $again->(\%hash);
        is($copy->{"caf\xe9"}, 1, 'a key that was text is found as bytes');
        my %flag = map { ($_ => utf8::is_utf8($_) ? 1 : 0) } keys %$copy;
        is_deeply(\%flag, { "caf\xe9" => 1, ascii => 1, '' => 1, plain => 0 }, 'a key that was text has its UTF-8 flag');

        $copy = $again->([map { { "\x{263a}" => $_, abc => $_ } } 1 .. 3]);
        is_deeply([map { $_->{"\x{263a}"} } @$copy], [1, 2, 3], 'equal keys of many hashes are read back');
        my $long = "\x{20ac}" x 10_000;
        is($again->({ $long => 1 })->{$long}, 1, 'a long key is read back');
    });
}

both_storable('keys that differ only in their UTF-8 flag' => sub {
    my ($m) = @_;
    # The latin-1 form of one is the UTF-8 form of the other.
    my %hash = ("\xc3\xa9" => 'two bytes', "\xe9" => 'one byte', "\x{e9}\x{100}" => 'text');
    for my $order (0, 1) {
        my %copy = %{ $m->with({ canonical => $order }, sub { $m->thaw($m->freeze(\%hash)) }) };
        is_deeply(\%copy, \%hash, $order ? 'both keys are read back, canonical' : 'both keys are read back');
    }
});

both_storable('values and keys with other flags' => sub {
    my ($m) = @_;
    my $data = { "\x{263a}" => "\x{263a}", "caf\xe9" => text("caf\xe9"), text('x') => 'x', bytes => "\xe2\x98\xba" };
    same_ok($m->thaw($m->freeze($data)), $data, 'each keeps its own flag');
});

both_storable('class names' => sub {
    my ($m) = @_;
    for my $class ('Latin::Caf' . "\xe9", 'A' x 300, "It's", '0', 'main', 'not a class') {
        my $copy = $m->thaw($m->freeze([bless {}, $class]));
        is(ref $copy->[0], $class, Structures::text($class) =~ s/[^ -~]/?/gr);
    }
});

both_storable('$drop_utf8 has no effect' => sub {
    my ($m) = @_;
    $m->set(drop_utf8 => 1);
    my $copy = $m->thaw($m->freeze({ "\x{263a}" => "\x{263a}" }));
    same_ok($copy, { "\x{263a}" => "\x{263a}" }, 'text stays text');
});

both_storable('bytes that are marked as text' => sub {
    my ($m) = @_;
    # UTF8STR (23) with a byte that is invalid in UTF-8.
    my $bytes = "\5\13" . "\2" . pack('N', 1) . "\x17\x02\xff\xfe";
    my $copy;
    my $error = $m->dies(sub { $copy = $m->thaw($bytes) });
    if ($m->ours) {
        ok($error || utf8::valid($copy->[0]), 'invalid text is an error or becomes valid');
    }
    else {
        ok(!utf8::valid($copy->[0]), 'the original makes an invalid string');
    }
});

both_storable('an image that is text' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze(["caf\xe9", 200]);
    my $text  = Structures::text($bytes);
    is_deeply($m->thaw($text), ["caf\xe9", 200], 'an image that is text is read');
    ok(utf8::is_utf8($text), 'the argument stays text');
    like($m->dies(sub { $m->thaw("\x{263a}$bytes") }), qr/Frozen string corrupt - contains characters outside 0-255/, 'an image with characters above 255 is an error');
});

done_testing;
