# The rows of the table in perldoc Icecore: an outdated row fails.

use v5.30;
use warnings;
use FindBin ();

use Test::More;
use Storable ();
use Icecore;
use Icecore::Dumper ();
use Icecore::JSON::Cpanel ();
use Icecore::Sereal ();
use Icecore::Storable ();

my ($page) = grep { -e } "$FindBin::Bin/../lib/Icecore.pod", $INC{'Icecore.pm'} =~ s/pm\z/pod/r;
my $table = do { open my $in, '<', $page or die $!; local $/; <$in> =~ /^=head1 WHAT STILL DIFFERS\n(.*?)^=head1/ms ? $1 : '' };
sub has_row { my ($text) = @_; return like($table, qr/$text/, "the table has the row: $text") }
sub dies { my ($code) = @_; return eval { $code->(); 1 } ? 0 : 1 }

my $frozen = Storable::freeze([1, 'two', bless {}, 'Some::Class']);
has_row('builds every class');
is(ref Storable::thaw($frozen)->[2], 'Some::Class', 'Storable builds the object');
ok(dies(sub { Icecore::Storable::thaw($frozen) }), 'Icecore refuses the object');

my $plain = Storable::freeze([1, 'two']);
has_row('thaw returns undef');
is(Storable::thaw(substr $plain, 0, -1), undef, 'Storable returns undef for a truncated image');
ok(dies(sub { Icecore::Storable::thaw(substr $plain, 0, -1) }), 'Icecore refuses a truncated image');

has_row('ignores bytes after an image');
ok(Storable::thaw("${plain}x"), 'Storable accepts bytes after the image');
ok(dies(sub { Icecore::Storable::thaw("${plain}x") }), 'Icecore refuses bytes after the image');

has_row('refuses images with other byte');
my $other = pack 'H*', '040b' . '08' . unpack('H*', '87654321') . '04080808' . '02000000010a0178';
ok(dies(sub { Storable::thaw($other) }), 'Storable refuses another byte order');
is_deeply(Icecore::Storable::thaw($other), ['x'], 'Icecore reads another byte order');

has_row('dies, because other code looks up the key');
ok(dies(sub { Icecore::Sereal::decode_sereal("=\xf3rl\5\0\x51\x27\1\xff\1") }), 'a key that is not UTF-8 is refused');
ok(!dies(sub { Icecore::Sereal::decode_sereal("=\xf3rl\5\0\x41\x27\1\xff") }), 'a value that is not UTF-8 is read as in Sereal');

has_row('reads surrogates in UTF-8');
ok(dies(sub { Icecore::JSON::Cpanel->new->utf8->decode(qq(["\xed\xa0\x80"])) }), 'a surrogate in UTF-8 is refused');
has_row('a quote ends a key without quotes');
ok(dies(sub { Icecore::JSON::Cpanel->new->allow_barekey->decode('{a":1}') }), 'a key with only one quote is refused');
is(Icecore::JSON::Cpanel->new->allow_barekey->decode('{a:1}')->{a}, 1, 'a key without quotes is read');
has_row('the list of a tag is not a level');
{ package Frozen; sub FREEZE { return 1 } }
my $tagging = Icecore::JSON::Cpanel->new->allow_tags->max_depth(1);
is($tagging->encode(bless {}, 'Frozen'), '("Frozen")[1]', 'a tag is a level');
ok(dies(sub { $tagging->encode([bless {}, 'Frozen']) }), 'and counts as one in a list');
has_row('an object is a hash');
isnt(Scalar::Util::reftype(Icecore::Dumper->new([1])), 'HASH', 'a Dumper object is not a hash');
has_row('p and P are pointers');
ok(dies(sub { Icecore::pack_list('p', 'x') }), 'pack_list refuses pointers');

done_testing;
