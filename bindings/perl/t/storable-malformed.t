# Input that is truncated, changed or invalid. The original returns undef for most truncated input,
# without an error; Icecore always dies, and takes memory and time in proportion to the input only.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Classes;
use Malformed;
use Structures;

my @samples = (qw(
    integers/together floats/together strings/together texts/together digits/together undef/values holes/every-undef
    arrays/mixed hashes/mixed keys/every records/configuration records/tree references/to-element-with-reference
    shared/leaf cycles/ring weak/tree aliases/many objects/bodies classes/length-257 overloaded/shared
    restricted/allowed restricted/text regexps/groups vstrings/long-100 tied/in-array tied/element-and-whole
    hooks/links hooks/chain hooks/links-257 hooks/class-numbers hooks/tied-hash chance/3 chance/8
));

my $NETORDER = "\5\13";
my $NATIVE   = "\4\13\x{8}12345678\4\x{8}\x{8}\x{8}";

both_storable('every truncation' => sub {
    my ($m) = @_;
    my (%count, @quiet);
    for my $name (@samples) {
        my $data = Structures::named($name)->{make}->();
        for my $how (qw(freeze nfreeze)) {
            my $bytes = $m->$how($data);
            # The original allocates memory for the lengths that it reads; it is tested with one
            # structure only, to show the difference.
            next if !$m->ours && ($name ne 'records/configuration' || $how ne 'nfreeze');
            for_each_truncation($bytes, 1500, sub {
                my ($length, $cut) = @_;
                my $copy;
                my $died = $m->dies(sub { $copy = $m->thaw($cut) });
                $count{ $died ? 'died' : defined $copy ? 'value' : 'undef' }++;
                push @quiet, "$name, $how, $length of " . length $bytes unless $died;
            });
        }
    }
    is($count{value} || 0, 0, 'no truncation is read as a value') if $m->ours;
    if ($m->ours) { is(first_items(@quiet), '', "each of $count{died} truncations is an error") }
    else          { cmp_ok($count{undef}, '>', $count{died}, "the original gives undef for $count{undef} truncations") }
});

our_storable('every truncation of a file' => sub {
    my ($m) = @_;
    my $file = scratch('cut');
    my $data = Structures::named('records/configuration')->{make}->();
    $m->nstore($data, $file);
    my $bytes = slurp($file);
    my @quiet;
    for my $length (0 .. length($bytes) - 1) {
        spew($file, substr $bytes, 0, $length);
        push @quiet, $length unless $m->dies(sub { $m->retrieve($file) });
        open my $handle, '<:raw', $file or die $!;
        push @quiet, "handle $length" unless $m->dies(sub { $m->fd_retrieve($handle) });
    }
    is("@quiet", '', 'every truncation is an error');
});

our_storable('bytes after the end' => sub {
    my ($m) = @_;
    for my $how (qw(freeze nfreeze)) {
        my $bytes = $m->$how([1, { a => 2 }]);
        like($m->dies(sub { $m->thaw("$bytes\0") }), qr/./, "$how: one byte after the end is an error");
        like($m->dies(sub { $m->thaw($bytes . $bytes) }), qr/./, "$how: another image after the end is an error");
    }
});

our_storable('every byte changed' => sub {
    my ($m) = @_;
    my ($read, $died) = (0, 0);
    for my $name (qw(arrays/mixed keys/every objects/bodies restricted/text regexps/groups hooks/links tied/in-array weak/tree)) {
        my $bytes = $m->nfreeze(Structures::named($name)->{make}->());
        my @counts = for_each_change($bytes, [1, 0x80, 0xff, 7], sub { $m->thaw($_[0]) });
        $died += $counts[0];
        $read += $counts[1];
    }
    cmp_ok($died, '>', 1000, "$died changes are errors");
    cmp_ok($read, '>', 100, "$read changes give another value");
    is_deeply($m->thaw($m->freeze([1])), [1], 'the next call works');
});

our_storable('lengths that are too large' => sub {
    my ($m) = @_;
    my %lies = (
        'an array of 2^31-1'    => "\2\x7f\xff\xff\xff",
        'an array of 2^32-1'    => "\2\xff\xff\xff\xff",
        'a hash of 2^31-1'      => "\3\x7f\xff\xff\xff",
        'a flagged hash'        => "\x19\0\x7f\xff\xff\xff",
        'a string of 2^31-1'    => "\1\x7f\xff\xff\xffabc",
        'a text of 2^32-1'      => "\x18\xff\xff\xff\xffabc",
        'a v-string'            => "\x1e\x7f\xff\xff\xffv1",
        'a class name'          => "\x11\x80\x7f\xff\xff\xffA\3\0\0\0\0",
        'a key'                 => "\3\0\0\0\1\5\x7f\xff\xff\xffk",
        'a pattern'             => "\x20\1\x7f\xff\xff\xffa",
        'the string of a hook'  => "\x13\x0a\1A\x7f\xff\xff\xff",
        'the list of a hook'    => "\x13\xd2\1A\1x\x7f\xff\xff\xff",
        'an array of 2^62'      => "\x21\2" . "\x40" . "\0" x 7,
        'a string of 2^63'      => "\x21\1" . "\x80" . "\0" x 7,
        'arrays in arrays'      => "\2\0\xff\xff\xff\4" x 20_000,
    );
    uses_little_memory(sub {
        like($m->dies(sub { $m->thaw($NETORDER . $lies{$_}) }), qr/./, $_) for sort keys %lies;
    });
});

our_storable('tags and numbers that are invalid' => sub {
    my ($m) = @_;
    my %wrong = (
        'a tag that is not defined'      => "\x40",
        'the tag 255'                  => "\xff",
        'an object that is not there'  => "\2\0\0\0\1\0\0\0\0\5",
        'an object to come'            => "\2\0\0\0\2\0\0\0\0\2\5",
        'a class that is not there'    => "\x12\5\3\0\0\0\0",
        'a key flag that is not defined' => "\x19\0\0\0\0\1\5\xff\0\0\0\1k",
        'a blessed nothing'            => "\x11\1A",
        'a class for nothing'          => "\x11\0\3\0\0\0\0",
        'a tie to a string'            => "\x0c\x0a\1x",
        'a tie to nothing'             => "\x0c",
        'a weak reference to itself'   => "\x1b\0\0\0\0\0",
        'a regexp with an unknown modifier' => "\x11\6Regexp\x20\0\1a\1Z",
        'a regexp that does not compile' => "\x11\6Regexp\x20\0\1(\0",
        'a hook without a class'       => "\x13\x02",
        'a hook of no kind'            => "\x13\3\x09\1A\0",
    );
    for my $name (sort keys %wrong) {
        my @warnings;
        local $SIG{__WARN__} = sub { push @warnings, @_ };
        my $copy;
        my $error = $m->dies(sub { $copy = $m->thaw($NETORDER . $wrong{$name}) });
        next if $name =~ /flag|weak|nothing$/ && !$error;    # may be taken for something
        like($error, qr/./, $name);
        is("@warnings", '', 'there are no warnings');
    }
});

our_storable('headers' => sub {
    my ($m) = @_;
    for my $header ('', "\0", "\4", "\4\13", "\4\13\x{8}1234", "\xff\xff", "\5", 'pst0', 'perl-store', "\x40\13") {
        like($m->dies(sub { $m->thaw($header) }), qr/./, 'the header ' . unpack('H*', $header) . ' alone is an error');
        like($m->dies(sub { $m->thaw("$header\5") }), qr/./, 'and a tag') unless $header eq "the header with a tag is an error";
    }
});

both_storable('headers of another perl' => sub {
    my ($m) = @_;
    my $body = "\2\1\0\0\0\x0a\1x";
    is_deeply($m->thaw("$NATIVE$body"), ['x'], 'an image of this perl is read');
    my %other = (
        'a later major version' => "\6\13\x{8}12345678\4\x{8}\x{8}\x{8}",
        'no byte order'         => "\4\13\0\4\x{8}\x{8}\x{8}",
    );
    for my $name (sort keys %other) { like($m->dies(sub { $m->thaw("$other{$name}$body") }), qr/./, "an image of another perl is an error: $name") }
    # The engine reads other byte orders and sizes; the original refuses.
    my $big = "\4\13\x{8}87654321\4\x{8}\x{8}\x{8}" . "\2\0\0\0\1\x0a\1x";
    if ($m->ours) { is_deeply(eval { $m->thaw($big) } || ['refused'], ['x'], 'an image of another byte order is read') }
    else          { like($m->dies(sub { $m->thaw($big) }), qr/Byte order is not compatible/, 'an image of another byte order is an error') }
});

both_storable('a later minor version' => sub {
    my ($m) = @_;
    my $later = $NETORDER;
    substr($later, 1, 1) = "\x30";
    is_deeply($m->thaw("$later\2\0\0\0\1\x0a\1x"), ['x'], 'a later minor version is accepted by default');
    $m->set(accept_future_minor => 0);
    like($m->dies(sub { $m->thaw("$later\2\0\0\0\1\x0a\1x") }), qr/Storable binary image v2\.48 more recent than I am/, 'a later minor version can be refused');
});

our_storable('depth' => sub {
    my ($m) = @_;
    my %deep = (
        arrays     => ["\2\0\0\0\1\4" x 300_000, "\5"],
        references => ["\4" x 1_000_000, "\5"],
        hashes     => ["\3\0\0\0\1\4" x 200_000, "\5" . "\0\0\0\1k" x 200_000],
        objects    => ["\x11\1A\2\0\0\0\1\4", "\x12\0\2\0\0\0\1\4" x 200_000 . "\5"],
        hooks      => ["\x13\x42\2\0\0\0\1\4" x 100_000, "\5"],
        ties       => ["\x0d\4" x 300_000, "\5"],
    );
    for my $kind (sort keys %deep) {
        like($m->dies(sub { $m->thaw($NETORDER . join '', @{ $deep{$kind} }) }), qr/./, "$kind in $kind is refused without a crash");
    }
});

both_storable('thawing data that is not a string' => sub {
    my ($m) = @_;
    is($m->thaw(undef), undef, 'undef gives undef');
    for my $not ([], {}, 12, 'x' x 30, '') {
        my $copy;
        my $error = $m->dies(sub { $copy = $m->thaw($not) });
        ok($error || !defined $copy, 'no value comes from ' . (ref $not || "'$not'"));
        ok($error, 'other data is an error') if $m->ours;
    }
});

done_testing;
