# pack_list and unpack_list do the same as pack and unpack.

use strict;
use warnings;

use Test::More;
use Icecore;

no warnings qw(pack numeric uninitialized void);

my @cases = (
    ['l*', 1, -2, 3.7, '4', undef, ' 5x'],
    ['N*', 0, 1, 4294967295, -1],
    ['n v N V C c s S l L q Q j J', 1 .. 14],
    ['s> l> q> S< L< Q<', 1 .. 6],
    ['d f d> f<', 1.5, -2.25, 1e100, 3],
    ['A5 a5 Z5 A* ', 'ab', 'cd', 'efghijk', 'rest'],
    ['(A16)*', map {"name $_"} 1 .. 20],
    ['(N/A*)*', 'one', '', 'three'],
    ['(l/A*)*', map { 'x' x $_ } 0 .. 10],
    ['w*', 0, 1, 127, 128, 1e6],
    ['U*', 65, 233, 0x263a],
    ['C0 U*', 65, 233, 0x263a],
    ['W*', 65, 200],
    ['W*', 65, 0x263a],
    ['H* h4 B8 b8', 'deadbeef', '1234', '10101010', '0101'],
    ['x3 C X C @8 C', 1, 2, 3],
    ['n/(C)', 1, 2, 3],
    ['a[4] C[3]', 'ab', 1, 2, 3],
    ['u', 'some text that is encoded' x 3],
    ['A*', "caf\xe9"],
    ['a*', "\x{263a}"],
    ['', 1],
);
for my $case (@cases) {
    my ($template, @list) = @$case;
    my $theirs = eval { pack $template, @list };
    my $ours   = eval { Icecore::pack_list($template, @list) };
    is $ours, $theirs, "pack $template" or diag $@;
    is utf8::is_utf8($ours) ? 1 : 0, utf8::is_utf8($theirs) ? 1 : 0, "pack $template: characters or bytes";
    is_deeply [eval { Icecore::unpack_list($template, $theirs) }], [eval { unpack $template, $theirs }], "unpack $template" or diag $@;
}
is_deeply [Icecore::unpack_list('n*', "\0\1\0\2\0")], [1, 2], 'remaining bytes are ignored';
is_deeply [Icecore::unpack_list('A2 x2 A2', 'ab..cd')], ['ab', 'cd'], 'x skips bytes';
is_deeply [Icecore::unpack_list('%32C*', 'abc')], [unpack '%32C*', 'abc'], 'a checksum is computed';
my $string = "a\x{100}b";
is_deeply [Icecore::unpack_list('U*', $string)], [unpack 'U*', $string], 'characters are unpacked';
is scalar(my @all = Icecore::unpack_list('l*', Icecore::pack_list('l*', 1 .. 100_000))), 100_000, '100,000 items are read back';
is_deeply \@all, [1 .. 100_000], '100,000 items are the same';
ok !eval { Icecore::pack_list('p', 'x'); 1 } && $@ =~ /pointer/i, 'pack_list refuses pointers' or diag $@;
ok !eval { Icecore::pack_list('?', 1); 1 }, 'an unknown letter is refused';

# Values with magic, and with a string of their own.
{
    package Tie::Seven;
    sub TIESCALAR { return bless [] }
    sub FETCH     {7}
    package Text;
    use overload '""' => sub {'text'};
}
tie my $seven, 'Tie::Seven';
is Icecore::pack_list('C A*', $seven, bless([], 'Text')), "\7text", 'tied and overloaded items are packed';

# If the compiler sees the call, an operator replaces it; otherwise the sub is called.
{
    my @list  = (1, 2, 3);
    my $named = \&Icecore::pack_list;
    is $named->('n*', @list), pack('n*', @list), 'pack_list can be called through a reference';
    is &Icecore::pack_list('n*', @list), pack('n*', @list), 'pack_list can be called with &';
    is length(Icecore::pack_list 'n*', @list, map { $_ * 2 } @list), 12, 'lists in the arguments are flattened';
    is scalar(Icecore::pack_list('C2', reverse 1, 2)), "\2\1", 'arguments have list context';
    is_deeply [Icecore::pack_list('C', 7), 'x'], ["\7", 'x'], 'pack_list returns one value';
    is join('|', map { Icecore::pack_list('C*', $_, $_) } 65, 66), 'AA|BB', 'pack_list can be called in a loop';
    my $inner = Icecore::pack_list('A*A*', Icecore::pack_list('C', 65), Icecore::pack_list('C', 66));
    is $inner, 'AB', 'pack_list can be nested';
    ok !eval { my @none; Icecore::pack_list(@none); 1 } && $@ =~ /\AUsage/, 'a call with an empty list is refused' or diag $@;
    ok !eval 'Icecore::pack_list(); 1' && $@ =~ /\AUsage/, 'a call without arguments is refused' or diag $@;
    Icecore::pack_list('C', 1);
    is eval { sub { return Icecore::pack_list(@_) }->('C*', 80, 81) }, 'PQ', 'the template can be the first item of a list';
}

done_testing;
