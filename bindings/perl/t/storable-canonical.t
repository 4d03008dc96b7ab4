# $canonical: the same data, the same bytes.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Structures;

# The same pairs, inserted in another order.
sub shuffled {
    my ($pairs, $order) = @_;
    my @keys = sort keys %$pairs;
    @keys = reverse @keys if $order % 2;
    push @keys, shift @keys for 1 .. $order;
    my %hash;
    keys(%hash) = 8 << $order;    # another number of buckets
    $hash{$_} = $pairs->{$_} for @keys;
    return \%hash;
}

both_storable('equal data gives equal bytes' => sub {
    my ($m) = @_;
    my %pairs = map { ("key $_" => $_) } 1 .. 100;
    for my $how (qw(freeze nfreeze)) {
        my %bytes = map { ($m->$how(shuffled(\%pairs, $_)) => 1) } 0 .. 5;
        cmp_ok(scalar(keys %bytes), '>', 1, "$how: hashes of another order give other bytes");
        $m->with({ canonical => 1 }, sub {
            %bytes = map { ($m->$how(shuffled(\%pairs, $_)) => 1) } 0 .. 5;
        });
        is(scalar(keys %bytes), 1, "$how: \$canonical gives equal bytes");
    }
});

both_storable('keys are sorted' => sub {
    my ($m) = @_;
    $m->set(canonical => 1);
    my @keys  = ('', 'A', 'B', 'Z', 'a', 'aa', 'ab', 'b', "\xe9", "\x{e9}\x{100}", "\x{263a}", "\x{fffd}", "\x{10000}");
    my $copy  = $m->thaw($m->freeze({ map { ($_ => 1) } @keys }));
    is_deeply([sort keys %$copy], [sort @keys], 'all keys are read back');
    for my $how (qw(freeze nfreeze)) {
        my $bytes = $m->$how({ map { ("<$_" => 1) } 10, 9, 1, 100, 'a', 'B' });
        my @found = $bytes =~ /<(\w+)/g;
        is("@found", '1 10 100 9 B a', "$how: keys are sorted as by sort");
        # Text and bytes are sorted as characters, not as bytes of UTF-8.
        $bytes = $m->$how({ map { ("<$_" => 1) } "\xe9", "\x{100}", 'z', "\x{263a}", "\xff" });
        my @order = map { index $bytes, "<$_" } 'z', "\xe9", "\xff", "\xc4\x80", "\xe2\x98\xba";
        is("@order", join(' ', sort { $a <=> $b } @order), "$how: keys are sorted by characters");
    }
});

both_storable('$canonical applies to all levels' => sub {
    my ($m) = @_;
    $m->set(canonical => 1);
    my $make = sub {
        my ($order) = @_;
        my %leaf = (map { ($_ => 1) } 'a' .. 'p');
        return [
            shuffled({ in => shuffled(\%leaf, $order), map { ($_ => [shuffled(\%leaf, $order)]) } 'q' .. 'z' }, $order),
            bless(shuffled(\%leaf, $order), 'Some::Class'), \shuffled(\%leaf, $order),
        ];
    };
    my %bytes = map { ($m->freeze($make->($_)) => 1) } 0 .. 4;
    is(scalar(keys %bytes), 1, 'hashes in hashes, arrays and objects are sorted');
    my $text = $make->(0);
    $text->[0]{"\x{263a}"} = 1;
    my $other = $make->(3);
    $other->[0]{"\x{263a}"} = 1;
    ok($m->freeze($text) eq $m->freeze($other), 'keys that are text are sorted');
    Hash::Util::lock_hashref($_->[0]) for $text, $other;
    ok($m->freeze($text) eq $m->freeze($other), 'restricted hashes are sorted');
});

both_storable('$canonical applies to files' => sub {
    my ($m) = @_;
    my %pairs = map { ("key $_" => $_) } 1 .. 50;
    my ($one, $two) = (scratch('one'), scratch('two'));
    for my $how (qw(store nstore lock_store lock_nstore)) {
        $m->with({ canonical => 1 }, sub {
            $m->$how(shuffled(\%pairs, 0), $one);
            $m->$how(shuffled(\%pairs, 5), $two);
        });
        bytes_are(slurp($one), slurp($two), $how);
    }
});

both_storable('a number that was used as a string' => sub {
    my ($m) = @_;
    $m->set(canonical => 1);
    my ($used, $unused) = (12, 12);
    my $text = "$used";
    my $same = $m->freeze([$used]) eq $m->freeze([$unused]);
    # Since perl 5.36 a number stays a number.
    is(!!$same, $] >= 5.036, 'the number is written as a number');
    my $string = '12';
    ok($m->freeze([$string]) ne $m->freeze([12]), 'a string of digits is written as a string');
});

both_storable('dclone with $canonical' => sub {
    my ($m) = @_;
    $m->set(canonical => 1);
    my %pairs = map { ("key $_" => [$_]) } 1 .. 50;
    is_deeply($m->dclone(\%pairs), \%pairs, 'dclone with $canonical gives equal data');
});

done_testing;
