package Structures;

# Several hundred named structures. Each call makes a new one, because freezing can change the
# type of a number.
#
#   for my $s (Structures::all()) { $s->{name}; my $data = $s->{make}->() }
#
# Other keys:
#   only      'storable' or 'sereal': the other one can't express it, or the data
#             is about its hooks
#   freezes   needs Sereal's freeze_callbacks
#   code      needs $Storable::Deparse and $Storable::Eval
#   unknown   needs undef_unknown or stringify_unknown
#   plain     not a reference: only Sereal can freeze it
#   large     takes longer: only some of the ways to freeze it are tested
#   storable, netorder, sereal
#             the loss with this format, from `loses`: a reason, and the options of
#             Same::difference that ignore the loss; without options the values differ
#             with all options.
#             unreadable, refused: the message of the original if it can't read or write
#             the structure; maybe: not in every version

use strict;
use warnings;
no warnings qw(portable overflow);
use utf8;

use Classes;
use Hash::Util   ();
use Scalar::Util qw(dualvar weaken);

my @all;
my %name;

sub structure {
    my ($name, $make, %is) = @_;
    die "two structures are called $name" if $name{$name}++;
    push @all, { name => $name, make => $make, %is };
    return;
}

# Adds a structure for each value, with a reference to it, and one with an array of all values. `lost`
# has the losses of values by label.
sub values_of {
    my ($family, $values, %lost) = @_;
    my @values = @$values;
    my @makers;
    my %is = map { %$_ } values %lost;
    while (my ($label, $make) = splice @values, 0, 2) {
        structure("$family/$label", sub { my $value = $make->(); return \$value }, %{ $lost{$label} || {} });
        push @makers, $make;
    }
    structure("$family/together", sub { return [map { $_->() } @makers] }, %is);
    return;
}

sub all { return @all }

sub named {
    my ($name) = @_;
    my ($found) = grep { $_->{name} eq $name } @all;
    return $found || die "no structure is called $name";
}

sub text    { my ($text) = @_; utf8::upgrade($text); return $text }
sub aliases { return \@_ }
sub float   { return unpack 'd', pack 'd', $_[0] }

my @kept;
sub keep { push @kept, @_; return }

sub loses {
    my ($why, %same) = @_;
    my %more = map { exists $same{$_} ? ($_ => delete $same{$_}) : () } 'unreadable', 'refused', 'maybe';
    return { why => $why, %more, %same ? (same => \%same) : () };
}

# --- integers ---------------------------------------------------------------

my @integers = (
    (map { ($_, -$_) } 1, 2, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 129, 130, 255, 256, 1000,
        8191, 8192, 16383, 16384, 32767, 32768, 32769, 65535, 65536, 2_097_151, 2_097_152,
        16_777_215, 16_777_216, 16_777_217, 268_435_455, 268_435_456,
        2_147_483_647, 2_147_483_648, 2_147_483_649, 4_294_967_295, 4_294_967_296, 4_294_967_297,
        34_359_738_367, 34_359_738_368, 999_999_999_999_999, 1_000_000_000_000_000,
        9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993,
        9_223_372_036_854_775_806, 9_223_372_036_854_775_807),
    0, -9_223_372_036_854_775_807 - 1, 9_223_372_036_854_775_808, 9_223_372_036_854_775_809,
    18_446_744_073_709_551_614, 18_446_744_073_709_551_615,
);
my @unsigned = (storable => loses('an integer above the largest signed one is written as a string of digits', digits => 1), netorder => {});
for my $value (@integers) {
    my %is = $value > 9_223_372_036_854_775_807 ? (@unsigned) : ();
    structure("integers/$value", sub { my $copy = $value; return \$copy }, %is);
}
structure('integers/together', sub { my @copy = @integers; return \@copy }, @unsigned);
structure('integers/range',    sub { return [-140 .. 140] });
structure('integers/powers',   sub { return [map { my $power = 1 << $_; ($power, -$power, $power - 1, $power + 1) } 0 .. 62] });

# --- floats -----------------------------------------------------------------

my $infinity = 9**9**9;
my %float    = (
    tenth => 0.1, half => 0.5, 'minus-half' => -0.5, third => 1 / 3, zero => float(0),
    'minus-zero' => unpack('d>', "\x80" . "\0" x 7), three => float(3), 'minus-three' => float(-3),
    byte => float(127), 'over-byte' => float(128), 'i32' => 2.0**31 - 1, 'over-i32' => 2.0**31,
    'least-i32' => -(2.0**31), 'below-i32' => -(2.0**31) - 1, 'over-u32' => 2.0**32,
    'exact' => 2.0**53 - 1, 'not-exact' => 2.0**53, 'over-exact' => 2.0**53 + 2,
    'minus-not-exact' => -(2.0**53), 'over-i64' => 2.0**63, 'least-i64' => -(2.0**63),
    'over-u64' => 2.0**64, pi => 4 * atan2(1, 1), single => 1.5,
    'single-tenth' => unpack('f', pack('f', 0.1)), 'single-max' => unpack('f>', "\x7f\x7f\xff\xff"),
    'over-single' => 2.0**128, 'single-least' => unpack('f>', "\0\x80\0\0"),
    'single-denormal' => unpack('f>', "\0\0\0\1"), 'below-single' => 2.0**-150,
    'denormal' => unpack('d>', "\0" x 7 . "\1"), 'denormal-max' => unpack('d>', "\0\x0f" . "\xff" x 6),
    'least' => unpack('d>', "\0\x10" . "\0" x 6), 'max' => unpack('d>', "\x7f\xef" . "\xff" x 6),
    'minus-max' => unpack('d>', "\xff\xef" . "\xff" x 6), epsilon => 2.0**-52,
    'digits-17' => 0.1 + 0.2, 'digits-16' => 1234567.1, 'digits-15' => 1234567.125,
    (map { ("1e$_" => 10.0**$_) } 14 .. 23, 100, 300), (map { ("1e-$_" => 10.0**-$_) } 4, 5, 7, 100, 300),
    infinity => $infinity, 'minus-infinity' => -$infinity,
    nan => unpack('d>', "\x7f\xf8" . "\0" x 6), 'nan-payload' => unpack('d>', "\x7f\xf8\0\0\0\0\xbe\xef"),
    'nan-negative' => unpack('d>', "\xff\xf8" . "\0" x 6),
);
my %nan = (sereal => loses('the additional bits of a NaN are truncated to those of a float of 32 bits', nan => 1));
for my $label (sort keys %float) {
    my $value = $float{$label};
    structure("floats/$label", sub { my $copy = $value; return \$copy }, $label eq 'nan-payload' ? %nan : ());
}
structure('floats/together', sub { return [@float{ sort keys %float }] }, %nan);

# --- strings ----------------------------------------------------------------

sub filler {
    my ($length) = @_;
    return substr 'abcdefghijklmnopqrstuvwxyz0123456789' x ($length / 36 + 1), 0, $length;
}

values_of(strings => [
    empty => sub { '' }, nul => sub { "\0" }, nuls => sub { "a\0b\0" }, newlines => sub { "a\nb\r\n\t" },
    quotes => sub { q{"a\\b'} }, dollar => sub { '$x' }, latin1 => sub { "caf\xe9" },
    'high' => sub { "\x80\xff\xfe" }, 'utf8-bytes' => sub { "caf\xc3\xa9" }, 'cut-utf8' => sub { "caf\xc3" },
    overlong => sub { "\xc0\x80" }, surrogate => sub { "\xed\xa0\x80" }, beyond => sub { "\xf4\x90\x80\x80" },
    bom => sub { "\xef\xbb\xbfx" }, all => sub { join '', map { chr } 0 .. 255 },
    code => sub { 'sub { print }' }, storable => sub { "pst0\4\13\x{8}12345678" }, sereal => sub { "=\xf3rl\5\0" },
]);
values_of(digits => [
    map { my $digits = $_; ($digits => sub { my $copy = $digits; return $copy }) }
        '0', '1', '42', '-7', '007', '1.5', '1.50', '.5', '1e3', '0x10', '-0', '+1', ' 1', '1 ', 'inf', 'nan',
        '2147483648', '-2147483649', '9223372036854775807', '9223372036854775808', '18446744073709551616',
]);
values_of(texts => [
    ascii => sub { text('abc') }, latin1 => sub { text("caf\xe9") }, first => sub { text("\x80") },
    'two-bytes' => sub { "\x{7ff}" }, euro => sub { "\x{20ac}" }, 'four-bytes' => sub { "\x{1f600}" },
    last => sub { "\x{10fffd}" }, nul => sub { "\0\x{263a}\0" }, mixed => sub { "a\xe9\x{20ac}\x{1f600}" },
    noncharacter => sub { no warnings; "\x{ffff}\x{fffe}" }, surrogate => sub { no warnings; "\x{d800}" },
    beyond => sub { no warnings; chr 0x110000 }, digits => sub { text('42') }, all => sub { text(join '', map { chr } 0 .. 255) },
]);
structure('texts/empty', sub { return [text('')] }, storable => loses('an empty text is read back as bytes', string_flags => 1));
for my $length (30 .. 33, 62 .. 65, 126 .. 129, 254 .. 257, 1000) {
    structure("strings/length-$length", sub { my $value = filler($length); return \$value });
    structure("texts/length-$length",   sub { my $value = text(filler($length)); return \$value });
}
for my $count (63, 64, 84, 85, 86, 127, 128) {
    structure("texts/euros-$count", sub { my $value = "\x{20ac}" x $count; return \$value });
}
for my $length (16383, 16384, 65535, 65536) {
    structure("strings/length-$length", sub { my $value = filler($length); return \$value });
}
structure('strings/repeated', sub { return [('a string that is long enough') x 20] });
structure('strings/repeated-short', sub { return [('ab') x 5, ('abc') x 5, ('abcd') x 5, ('') x 3] });
structure('strings/repeated-keys', sub {
    return { name => 'name', list => [map { { name => 'list', kind => 'name' } } 1 .. 3], kind => 'kind' };
});
structure('strings/repeated-text', sub { return [("caf\x{e9} \x{263a}") x 4, text('plain'), text('plain'), 'plain', 'plain'] });

# --- values that are a string and a number ----------------------------------------------

values_of(duals => [
    dualvar           => sub { dualvar(5, 'five') },
    'dualvar-float'   => sub { dualvar(2.5, 'two and a half') },
    'dualvar-empty'   => sub { dualvar(7, '') },
    'dualvar-text'    => sub { dualvar(7, "\x{263a}") },
    errno             => sub { local $! = 2; my $copy = $!; $copy },
    'string-as-int'   => sub { my $text = '12'; my $sum = $text + 0; $text },
    'string-as-float' => sub { my $text = '1.5'; my $sum = $text + 0; $text },
    'word-as-int'     => sub { no warnings; my $text = 'abc'; my $sum = $text + 0; $text },
    'zeros-as-int'    => sub { my $text = '007'; my $sum = $text + 0; $text },
    'exponent-as-int' => sub { my $text = '1e3'; my $sum = $text + 0; $text },
    'spaces-as-int'   => sub { no warnings; my $text = ' 12 '; my $sum = $text + 0; $text },
    'zero-but-true'   => sub { my $text = '0 but true'; my $sum = $text + 0; $text },
    'digit-as-bool'   => sub { my $text = '0'; my $not = !$text; $text },
    'int-in-string'   => sub { my $number = 12; my $text = "$number"; $number },
    'minus-in-string' => sub { my $number = -12; my $text = "$number"; $number },
    'large-in-string' => sub { my $number = 5_000_000_000; my $text = "$number"; $number },
    'int-as-key'      => sub { my $number = 77; my %used = ($number => 1); $number },
    'int-as-float'    => sub { my $number = 3; my $float = $number * 0.5; $number },
    'float-in-string' => sub { my $number = 1.5; my $text = "$number"; $number },
    'float-as-int'    => sub { my $number = 2.5; my $int = $number | 0; $number },
    'whole-as-int'    => sub { my $number = float(3); my $int = $number | 0; $number },
    'incremented'     => sub { my $text = '9'; $text++; $text },
    'text-incremented' => sub { my $text = 'az'; $text++; $text },
    'appended'        => sub { my $number = 12; $number .= ''; $number },
    'summed'          => sub { my $text = '12'; $text += 0; $text },
], 'string-as-int' => { sereal => loses('a string of digits that was used as a number is read back as a number', digits => 1) });
structure('duals/unsigned-in-string', sub { my $number = 18_446_744_073_709_551_615; my $text = "$number"; return [$number] },
    @unsigned);

# --- undef and booleans -----------------------------------------------------

structure('undef/variable', sub { my $undef; return \$undef });
structure('undef/perls-own', sub { return \undef });
structure('undef/through-reference', sub { return [\undef] });
structure('undef/variable-through-reference', sub { my $undef; return [\$undef] });
structure('undef/element', sub { return [undef] });
structure('undef/elements', sub { return [undef, 1, undef, undef] });
structure('undef/values', sub { return { a => undef, b => undef } });
structure('undef/aliased', sub { return aliases(undef, 1, undef) });
structure('undef/aliased-variable', sub { my $undef; return aliases($undef, 1, $undef) });
structure('undef/aliased-value', sub { my %hash = (a => 1); for my $undef (undef) { $hash{b} = $undef } return \%hash });
structure('undef/was-a-string', sub { my $text = 'abc'; undef $text; return [$text] });
structure('undef/was-an-array', sub { my $x = [1]; undef $x; return { x => $x } });
my $hole = loses('a missing element is read back as undef', holes => 1);
structure('holes/first',   sub { my @array; $array[2] = 1; return \@array }, sereal => $hole);
structure('holes/middle',  sub { my @array = (1); $array[3] = undef; $array[5] = 2; return \@array }, sereal => $hole);
structure('holes/only',    sub { my @array; $#array = 2; return \@array }, sereal => $hole);
structure('holes/deleted', sub { my @array = (1, 2, 3); delete $array[1]; return \@array }, sereal => $hole);
structure('holes/every-undef', sub {
    my $undef;
    my @array = (undef, \undef, { a => undef }, \$undef);
    $array[6] = undef;
    push @array, @{ aliases(undef) };
    return \@array;
}, sereal => $hole);

structure('booleans/both',      sub { return [!!1, !!0] });
structure('booleans/through-references', sub { return [\!!1, \!!0] });
structure('booleans/variables', sub { my ($yes, $no) = (!!1, !!0); return [\$yes, \$no, \$yes] });
structure('booleans/true',      sub { return \!!1 });
structure('booleans/false',     sub { return \!!0 });
structure('booleans/aliased',   sub { return aliases(!!1, !!0, !!1) });
structure('booleans/values',    sub { return { yes => !!1, no => !!0, equal => (1 == 1), less => (1 < 0) } });
structure('booleans/many',      sub { return [map { $_ % 3 == 0 } 1 .. 20] });
structure('booleans/used',      sub { my $yes = !!1; my $sum = $yes + 1; my $no = !!0; my $text = "$no"; return [$yes, $no] });
structure('booleans/not-quite', sub { return [1, '1', 0, '', '0'] });

# --- roots that are not references -------------------------------------------

my %root = (
    undef => undef, true => !!1, false => !!0, zero => 0, fifteen => 15, sixteen => 16, minus => -16, below => -17,
    large => 1 << 40, tenth => 0.1, single => 1.5, string => 'a string', empty => '', long => 'x' x 40,
    text => "\x{263a}", unsigned => 18_446_744_073_709_551_615,
);
for my $label (sort keys %root) {
    structure("roots/$label", sub { my $copy = $root{$label}; return $copy }, only => 'sereal', plain => 1);
}

# --- arrays and hashes ------------------------------------------------------

sub some_keys { my ($count) = @_; return map { sprintf 'key%03d', $_ } 1 .. $count }

for my $size (0 .. 3, 14 .. 18, 31 .. 33, 127 .. 129, 300) {
    structure("arrays/size-$size", sub { return [1 .. $size] });
    structure("arrays/inner-$size", sub { return [[(7) x $size]] }) if $size < 19;
    structure("hashes/size-$size", sub { my $n = 0; return { map { ($_ => $n++) } some_keys($size) } });
    structure("hashes/inner-$size", sub { my $n = 0; return [{ map { ($_ => $n++) } some_keys($size) }] }) if $size < 19;
}
structure('arrays/size-2000',    sub { return [1 .. 2000] }, large => 1);
structure('arrays/floats-2000',  sub { return [map { $_ / 8 } 1 .. 2000] }, large => 1);
structure('arrays/strings-2000', sub { return [map { "item $_" } 1 .. 2000] }, large => 1);
structure('hashes/size-2000',    sub { return { map { ("key$_" => $_) } 1 .. 2000 } }, large => 1);
structure('arrays/mixed',   sub { return [1, 'two', 3.5, undef, [4], { five => 5 }, \6, -7] });
structure('arrays/empties', sub { return [[], {}, [[]], [{}], { a => [] }, { a => {} }] });
structure('arrays/matrix',  sub { return [map { my $row = $_; [map { $row * $_ } 1 .. 10] } 1 .. 10] });
structure('arrays/shifted', sub { my @array = (1 .. 6); shift @array; unshift @array, 'new'; splice @array, 2, 1; return \@array });
structure('arrays/shrunk',  sub { my @array = (1 .. 50); $#array = 1; return \@array });
structure('hashes/mixed',   sub { return { a => 1, b => 'two', c => 3.5, d => undef, e => [4], f => { g => 5 }, h => \6 } });
structure('hashes/deleted', sub { my %hash = (a => 1, b => 2, c => 3); delete $hash{b}; return \%hash });
structure('hashes/emptied', sub { my %hash = (a => 1); delete $hash{a}; return \%hash });
structure('hashes/while-iterated', sub { my %hash = (a => 1, b => 2, c => 3); my ($key) = each %hash; return \%hash });
structure('hashes/long-keys', sub { return { map { ('k' x $_ => $_) } 30 .. 33, 254 .. 257, 300, 70000 } });
structure('hashes/same-keys', sub { return [map { { id => $_, name => "n$_" } } 1 .. 5] });
structure('hashes/same-keys-inside', sub { return { a => { a => { a => { a => 1, b => 2 }, b => 3 }, b => 4 }, b => 5 } });
structure('hashes/keys-are-values', sub { return { apple => 'apple', pear => 'apple', fig => 'pear' } });
structure('hashes/magic-names', sub { return { STORABLE_freeze => 1, FREEZE => 2, DESTROY => 3, __PACKAGE__ => 4 } });

my %keys = (
    empty => [''], nul => ["\0", "a\0b"], dollar => ['$', '$$', '$id'], numbers => [0, 1, -1, '007', '1.5', 10, 9],
    latin1 => ["caf\xe9", "\xff"], 'utf8-bytes' => ["caf\xc3\xa9"], text => ["\x{263a}", "na\x{ef}ve \x{20ac}"],
    'four-bytes' => ["\x{1f600}"], 'was-text' => [text("caf\xe9"), text("\xff")],
    'was-text-ascii' => [text('abc'), text('')], 'was-text-empty' => [text('')], 'text-beside-bytes' => ["\x{263a}", "\xe2\x98\xba"],
    'latin1-beside-text' => ["\xe9", "\x{e9}\x{263a}", 'e'], 'flagged-dollar' => [text('$id'), "\$\x{263a}"],
    newlines => ["a\nb", "\t", '"', '\\'], 'long-text' => ["\x{20ac}" x 90, "\x{20ac}" x 30],
    every => ['', 'a', "\xe9", text("\xe8"), "\x{263a}", text('flagged'), '$x', "\xe2\x98\xba", "n\0l"],
    order => ['a', 'B', 'aa', 'b', 'A', 'Z', 'z', 10, 9, 100, '', "\xe9", "\x{e9}\x{100}", "\x{fffd}", "\x{10000}"],
);
for my $label (sort keys %keys) {
    my @keys = @{ $keys{$label} };
    structure("keys/$label", sub { my $n = 0; return { map { ($_ => $n++) } @keys } });
    structure("keys/$label-twice", sub {
        return [map { my $n = 0; +{ map { ($_ => $n++) } @keys } } 1 .. 2];
    });
}
structure('keys/text-deleted', sub { my %hash = (a => 1, "\x{263a}" => 2); delete $hash{"\x{263a}"}; return \%hash });
structure('keys/text-then-bytes', sub { my %hash; $hash{ text('abc') } = 1; $hash{abc} = 2; return \%hash });
structure('keys/bytes-then-text', sub { my %hash; $hash{abc} = 1; $hash{ text('abc') } = 2; return \%hash });
structure('keys/latin1-then-text', sub { my %hash; $hash{"\xe9"} = 1; $hash{ text("\xe9") } = 2; return \%hash });
structure('keys/text-inside', sub { return { "\x{263a}" => { "\x{263a}" => 1, "\xe9" => 2 }, "\xe9" => { "\xe9" => 3 } } });

# --- depth ------------------------------------------------------------------

sub nested {
    my ($depth, $wrap, $leaf) = @_;
    $leaf = $wrap->($leaf) for 1 .. $depth;
    return $leaf;
}
for my $depth (2, 5, 50, 120, 200) {
    structure("deep/arrays-$depth", sub { return nested($depth, sub { [$_[0]] }, 'leaf') });
    structure("deep/hashes-$depth", sub { return nested($depth, sub { { in => $_[0] } }, 'leaf') });
    structure("deep/references-$depth", sub { return nested($depth, sub { my $copy = $_[0]; \$copy }, 'leaf') });
    structure("deep/objects-$depth", sub { return nested($depth, sub { bless [$_[0]], 'Node' }, 'leaf') });
    structure("deep/turns-$depth", sub { my $n = 0; return nested($depth, sub { $n++ % 2 ? [$n, $_[0]] : { n => $n, in => $_[0] } }, [1]) });
}

# --- records ----------------------------------------------------------------

for my $count (1, 10, 100) {
    structure("records/$count", sub { return [map { { id => $_, name => "Employee_$_", age => 20 + $_ % 40 } } 1 .. $count] });
}
structure('records/mix', sub {
    return { array => [1 .. 1000], hash => { map { ($_ => 2 * $_) } 1 .. 100 }, nested => { map { ($_ => [($_) x 5]) } 'a' .. 'z' } };
}, large => 1);
structure('records/job', sub {
    return {
        priority => 2, clientref => 'ref ' x 20, jobid => '366107', name => 'update',
        args => { user_id => '1000', empty => {}, lines => { 3146 => { price => '5.04', count => '2' } }, account_id => '4' },
        type => 'task', sessionid => 'd41d8cd98f00b204e9800998ecf8427e', jobflags => 0,
    };
});
structure('records/flat', sub { return { title => 'hoge', author => 'fuga', body => 'hogehoge' } });
structure('records/configuration', sub {
    return {
        name => 'service', port => 8080, debug => 0, ratio => 0.75, tags => [qw(a b c)],
        servers => [{ host => 'alpha', weight => 10 }, { host => 'beta', weight => 20 }],
        limits => { cpu => undef, memory => 1 << 33 }, title => "R\x{e9}sum\x{e9} \x{2713}",
    };
});
structure('records/session', sub {
    return {
        user => bless({ id => 42, roles => ['admin', 'dev'] }, 'App::User'),
        token => join('', map { chr($_ * 37 % 256) } 1 .. 32), seen => 1_700_000_000,
        cart => [{ sku => 'A-1', n => 2, price => 9.99 }],
    };
});
sub tree {
    my ($depth) = @_;
    return bless { depth => $depth, children => $depth ? [map { tree($depth - 1) } 1 .. 3] : [] }, 'Tree::Node';
}
structure('records/tree', sub { return tree(4) });

# --- references -------------------------------------------------------------

structure('references/to-number', sub { return [\(my $x = 7)] });
structure('references/to-string', sub { return [\(my $x = 'x')] });
structure('references/to-undef',  sub { return [\(my $x)] });
structure('references/to-constants', sub { return [\1, \'a', \1.5] });
structure('references/to-text',   sub { return [\(my $x = "\x{263a}"), \(my $y = text('a'))] });
structure('references/to-reference', sub { my $x = [1]; return [\$x, \\$x, \\\$x] });
structure('references/root-to-reference', sub { my $x = [1]; return \\$x });
structure('references/to-element', sub { my @array = (1, 'two', 3); return [\@array, \$array[1]] });
structure('references/to-element-first', sub { my @array = (1, 'two', 3); return [\$array[1], \@array] });
structure('references/to-value', sub { my %hash = (a => 1, b => 'two'); return [\%hash, \$hash{b}] });
structure('references/to-value-first', sub { my %hash = (a => 1, b => 'two'); return [\$hash{b}, \%hash] });
structure('references/to-element-with-reference', sub { my @array = ([1], { a => 2 }); return [\@array, \$array[0], \$array[1], $array[0]] });
structure('references/to-element-with-reference-first', sub { my @array = ([1], { a => 2 }); return [\$array[0], \@array, $array[0]] });
structure('references/to-own-element', sub { my @array = (1, 2); push @array, \$array[0]; return \@array });
structure('references/to-later-element', sub { my @array = (undef, 2); $array[0] = \$array[1]; return \@array });
structure('references/to-own-value', sub { my %hash = (a => 1); $hash{b} = \$hash{a}; return \%hash });
structure('references/and-variables', sub { my $x = 1; my $y = \$x; return [$x, \$x, $y, \$y] });
structure('references/to-substring', sub { my $text = 'abcdef'; my $part = \substr($text, 1, 2); return [$$part] });

# --- shared -----------------------------------------------------------------

structure('shared/array',  sub { my $x = [1, 2]; return [$x, $x] });
structure('shared/hash',   sub { my $x = { a => 1 }; return [$x, $x, $x] });
structure('shared/scalar', sub { my $x = 'x'; return [\$x, \$x] });
structure('shared/scalar-and-reference', sub { my $x = [1]; return [\$x, \$x, $x] });
structure('shared/empty',  sub { my ($x, $y) = ([], {}); return [$x, $y, $x, $y] });
structure('shared/in-hash', sub { my $x = 'x'; return { a => \$x, b => \$x, c => [\$x] } });
structure('shared/leaf',   sub { my $leaf = { leaf => 1 }; my $branch = [$leaf, $leaf]; return [$branch, { b => $branch, l => $leaf }] });
structure('shared/often',  sub { my $x = [0]; return [($x) x 40] });
structure('shared/many',   sub { my @x = map { [$_] } 1 .. 150; return [@x, reverse @x] });
structure('shared/references', sub { my $x = 1; my $y = \$x; my $z = \$y; return [$z, $z, $y, \$z] });
structure('shared/size-16', sub { my ($x, $y) = ([1 .. 16], { map { ($_ => 1) } 'a' .. 'p' }); return [$x, $y, $x, $y] });
structure('shared/not-same', sub { return [[1], [1], { a => 1 }, { a => 1 }] });
structure('shared/with-others', sub { my ($x, %y) = ([1], a => 1); keep($x, \%y, \$y{a}); return [$x, \%y] });
structure('shared/elements-with-others', sub { my $x = [1, 'a', [2]]; keep(\$x->[0], \$x->[1], \$x->[2]); return $x });
structure('shared/values-with-others', sub { my $x = { a => 1, b => 'x' }; keep(\$x->{a}, \$x->{b}); return [$x] });

# --- cycles -----------------------------------------------------------------

structure('cycles/array',   sub { my $x = []; push @$x, $x; return $x });
structure('cycles/hash',    sub { my $x = {}; $x->{self} = $x; return $x });
structure('cycles/scalar',  sub { my $x; $x = \$x; return $x });
structure('cycles/scalars', sub { my ($x, $y); $x = \$y; $y = \$x; return $x });
structure('cycles/scalar-inside', sub { my $x; $x = \$x; return [$x, 1] });
structure('cycles/object',  sub { my $x = bless { name => 'n' }, 'Cycle'; $x->{self} = $x; return $x });
structure('cycles/array-object', sub { my $x = bless [], 'Cycle'; push @$x, $x, 1; return $x });
structure('cycles/scalar-object', sub { my $x; my $object = bless \$x, 'Cycle'; $x = $object; return [$object] });
structure('cycles/two',     sub { my ($x, $y) = ([], {}); push @$x, $y; $y->{x} = $x; return $x });
structure('cycles/through-reference', sub { my $x = [1]; push @$x, \$x; return [$x] });
structure('cycles/element', sub { my @x; $x[0] = \$x[0]; return \@x });
structure('cycles/parent',  sub {
    my $parent = { name => 'p' };
    $parent->{children} = [map { { name => "c$_", parent => $parent } } 1 .. 3];
    return $parent;
});
structure('cycles/ring',    sub {
    my @nodes = map { { n => $_ } } 1 .. 6;
    for my $index (0 .. 5) { @{ $nodes[$index] }{qw(next back)} = ($nodes[($index + 1) % 6], $nodes[$index - 1]) }
    return $nodes[0];
});

# --- weak -------------------------------------------------------------------

structure('weak/array',  sub { my $x = []; push @$x, $x; weaken($x->[0]); keep($x); return $x });
structure('weak/hash',   sub { my $x = { a => 1 }; $x->{self} = $x; weaken($x->{self}); return $x });
structure('weak/object', sub { my $x = bless { a => 1 }, 'Weak'; $x->{self} = $x; weaken($x->{self}); return $x });
structure('weak/parent', sub {
    my $parent = { name => 'p' };
    $parent->{children} = [map { { name => "c$_", parent => $parent } } 1 .. 3];
    weaken($_->{parent}) for @{ $parent->{children} };
    return $parent;
});
structure('weak/strong-first', sub { my $x = [1]; my @y = ($x, $x); weaken($y[1]); return \@y });
structure('weak/strong-last',  sub { my $x = [1]; my @y = ($x, $x); weaken($y[0]); return \@y });
structure('weak/strong-between', sub { my $x = { a => 1 }; my @y = ($x, $x, $x); weaken($y[$_]) for 0, 2; return \@y });
structure('weak/values',    sub { my $x = { a => 1 }; my %y = (a => $x, b => $x, c => $x); weaken($y{$_}) for 'a', 'c'; return \%y });
structure('weak/scalar',    sub { my $x = 'x'; my @y = (\$x, \$x); weaken($y[0]); return \@y });
structure('weak/element',   sub { my @y = ('x'); $y[1] = \$y[0]; weaken($y[1]); return \@y });
structure('weak/reference', sub { my $x = [1]; my $r = \$x; my @y = ($r, $r); weaken($y[1]); return \@y });
structure('weak/through-reference', sub { my $x = [1]; my $weak = $x; weaken($weak); return [\$weak, $x] });
structure('weak/through-reference-last', sub { my $x = [1]; my $weak = $x; weaken($weak); return [$x, \$weak, \$weak] });
structure('weak/overloaded', sub { my $x = bless { amount => 5 }, 'Over::Money'; my @y = ($x, $x); weaken($y[1]); return \@y });
structure('weak/many',      sub { my @x = map { [$_] } 1 .. 5; my @y = (@x, @x); weaken($y[$_]) for 0 .. 4; return \@y });
structure('weak/tree',      sub {
    my $root  = bless { name => 'root' }, 'Weak::Node';
    my $left  = bless { name => 'left', parent => $root }, 'Weak::Node';
    my $right = bless { name => 'right', parent => $root, sibling => $left }, 'Weak::Node';
    $root->{children} = [$left, $right];
    weaken($_->{parent}) for $left, $right;
    weaken($right->{sibling});
    return $root;
});
structure('weak/gone',      sub { my @y = ([1], 2); my $copy = $y[0]; weaken($y[0]); undef $copy; return \@y });
my %alone = (
    storable => loses('a value that has only weak references is lost on reading'),
    sereal   => loses('a weak reference whose target has no other reference is written as a strong one', weak => 1),
);
structure('weak/alone',        sub { my $x = [1, 2]; keep($x); my @y = ($x, 'y'); weaken($y[0]); return \@y }, %alone);
structure('weak/alone-twice',  sub { my $x = [1, 2]; keep($x); my @y = ($x, $x); weaken($_) for @y; return \@y }, %alone);
structure('weak/alone-object', sub { my $x = bless { a => 1 }, 'Weak'; keep($x); my %y = (x => $x); weaken($y{x}); return \%y }, %alone);
structure('weak/alone-scalar', sub { my $x = 5; keep(\$x); my @y = (\$x); weaken($y[0]); return \@y }, %alone);

# --- aliases ----------------------------------------------------------------

structure('aliases/twice',   sub { my $x = 1000; return aliases($x, $x) });
structure('aliases/string',  sub { my $x = 'a string of some length'; return aliases($x, 'other', $x, $x) });
structure('aliases/short',   sub { my $x = 'a'; return aliases($x, $x) });
structure('aliases/small',   sub { my ($x, $y) = (3, -3); return aliases($x, $y, $x, $y) });
structure('aliases/float',   sub { my $x = 0.5; return aliases($x, $x) });
structure('aliases/undef',   sub { my $x; return aliases($x, $x) });
structure('aliases/reference', sub { my $x = [1]; return aliases($x, $x) });
structure('aliases/reference-and-copy', sub { my $x = [1]; my $y = $x; return aliases($x, $y, $x) });
structure('aliases/and-reference', sub { my $x = 'x'; return aliases($x, \$x, $x) });
structure('aliases/reference-first', sub { my $x = 'x'; return aliases(\$x, $x) });
structure('aliases/object',  sub { my $x = bless { a => 1 }, 'Aliased'; return aliases($x, $x, $x) });
structure('aliases/element', sub { my @x = (1, 2); return [\@x, aliases($x[0], $x[1], $x[0])] });
structure('aliases/value',   sub { my %x = (a => 'one'); return [\%x, aliases($x{a})] });
structure('aliases/across',  sub { my $x = 'shared'; return [aliases($x, 1), aliases(2, $x)] });
structure('aliases/weak',    sub { my $x = [1]; my $w = $x; weaken($w); return aliases($x, $w, $w) });
structure('aliases/self',    sub { my $x; $x = aliases($x); return $x });
structure('aliases/constants', sub { return aliases(5, 5, 'five', 'five') });
structure('aliases/text',    sub { my $x = "\x{263a}"; return aliases($x, $x) });
structure('aliases/many',    sub { my @x = map { "item $_" } 1 .. 20; return aliases(@x, reverse @x) });
structure('aliases/blessed-variable', sub { my $x = 'x'; my $object = bless \$x, 'Aliased'; return aliases($x, $object) });
structure('aliases/blessed-variable-last', sub { my $x = 'x'; my $object = bless \$x, 'Aliased'; return aliases($object, $x) });
structure('aliases/read-only', sub { my $x = 'fixed'; Internals::SvREADONLY($x, 1); return aliases($x, $x, 1) });

# --- objects ----------------------------------------------------------------

sub object { my ($body, $class) = @_; return bless $body, $class || 'Point' }

structure('objects/hash',   sub { return object({ x => 1, y => 2 }) });
structure('objects/array',  sub { return object([1, 2]) });
structure('objects/number', sub { return object(\(my $x = 5)) });
structure('objects/string', sub { return object(\(my $x = 'text')) });
structure('objects/text',   sub { return object(\(my $x = "\x{263a}")) });
structure('objects/undef',  sub { return object(\(my $x)) });
structure('objects/float',  sub { return object(\(my $x = 0.25)) });
structure('objects/reference', sub { return object(\(my $x = \'inner')) });
structure('objects/reference-to-array', sub { return object(\(my $x = [1, 2])) });
structure('objects/reference-to-object', sub { my $x = object({ n => 1 }, 'Inner'); return object(\$x, 'Outer') });
structure('objects/three-references', sub {
    my $inner  = object([1], 'Inner');
    my $middle = object(\$inner, 'Middle');
    return object(\$middle, 'Outer');
});
structure('objects/empty-hash',  sub { return object({}) });
structure('objects/empty-array', sub { return object([]) });
structure('objects/in-array',    sub { return [object({ x => 1 })] });
structure('objects/in-hash',     sub { return { point => object([1, 2]) } });
structure('objects/through-reference', sub { my $x = object({ x => 1 }); return \$x });
structure('objects/through-references', sub { my $x = object({ x => 1 }); return \\$x });
structure('objects/same-class',  sub { return [map { object({ n => $_ }) } 1 .. 4] });
structure('objects/two-classes', sub { return [map { object([$_], $_ % 2 ? 'Odd' : 'Even') } 1 .. 6] });
structure('objects/nested',      sub { return object({ in => object({ in => object({ in => undef }) }) }) });
structure('objects/nested-classes', sub { return object({ in => object([object(\(my $x = 1), 'C')], 'B') }, 'A') });
structure('objects/shared',      sub { my $x = object({ x => 1 }); return [$x, $x, [$x]] });
structure('objects/shared-scalar', sub { my $x = object(\(my $y = 1)); return [$x, $x] });
structure('objects/shared-array', sub { my $x = object([1]); return { a => $x, b => $x } });
structure('objects/bodies',      sub { return [object({}), object([]), object(\(my $x = 1)), object(\(my $y = \1))] });
structure('objects/class-is-string', sub { return ['Point', object({ Point => 'Point' })] });
structure('objects/class-is-key', sub { return { Point => object({ Point => object([]) }) } });
structure('objects/and-scalar',   sub { my $x = 'x'; my $object = object(\$x); return [$object, \$x, $object] });
structure('objects/scalar-first', sub { my $x = 'x'; my $object = object(\$x); return [\$x, $object] });
my %variable = (sereal => loses('a blessed variable keeps its class only if it is read through a reference', variable_class => 1));
structure('objects/element',      sub { my @array = ('x', 'y'); object(\$array[0]); return \@array }, %variable);
structure('objects/element-and-object', sub { my @array = ('x', 'y'); push @array, object(\$array[0]); return \@array });
structure('objects/value',        sub { my %hash = (a => 'x'); object(\$hash{a}); return \%hash }, %variable);
structure('objects/reblessed',    sub { my $x = object({ x => 1 }, 'Before'); return [object($x, 'After')] });

my %class = (
    short => 'A', zero => '0', main => 'main', deep => 'A::B::C::D', odd => 'not a class name', quote => "It's",
    colons => '::Odd::', text => "Caf\x{e9}\x{263a}", latin1 => "Caf\xe9",
    'text-latin1' => text("Th\xe9"), 'text-ascii' => text('Flagged'), number => '42', builtin => 'HASH', scalar => 'SCALAR',
    code => 'CODE', array => 'ARRAY', utf8 => "Caf\xc3\xa9",
    map { ("length-$_" => 'C' x $_) } 31, 32, 127, 128, 250,
);
for my $label (sort keys %class) {
    my $class = $class{$label};
    my %lost = $label eq 'text' ? (storable => loses('the name of a class is read back as bytes', class_flags => 1)) : ();
    structure("classes/$label", sub { return [object({ a => 1 }, $class), object([], $class)] }, %lost);
}
for my $length (251 .. 257, 300, 1000) {
    structure("classes/length-$length", sub {
        my $class = 'L' x $length;
        return [object({}, $class), object([1], $class), object({}, $class . 'x')];
    });
}
for my $count (127, 128, 129, 140, 260) {
    structure("classes/many-$count", sub { return [map { object([], "K$_") } 1 .. $count] });
    structure("classes/many-$count-again", sub { return [map { object([], "K$_") } 1 .. $count, 1, 2, $count - 1, $count] });
}
structure('classes/many-reversed', sub { return [map { object({}, "M$_") } 1 .. 140, reverse 1 .. 140] });

# --- overloading ------------------------------------------------------------

sub money { my ($amount) = @_; return bless { amount => $amount }, 'Over::Money' }

structure('overloaded/root',     sub { return money(5) });
structure('overloaded/in-array', sub { return [money(5)] });
structure('overloaded/in-hash',  sub { return { price => money(5) } });
structure('overloaded/two',      sub { return [money(5), money(6)] });
structure('overloaded/shared',   sub { my $money = money(5); return [$money, $money] });
structure('overloaded/through-reference', sub { my $money = money(5); return \$money });
structure('overloaded/array',    sub { return [bless({ list => 1 }, 'Over::Array')] });
structure('overloaded/hash',     sub { return [bless([1, 2], 'Over::Hash')] });
structure('overloaded/scalar',   sub { return [bless(\(my $x = 'x'), 'Over::Text')] });
structure('overloaded/inherited', sub { return [bless([1], 'Over::Child')] });
structure('overloaded/nested',   sub { return money(money(money(1))) });
structure('overloaded/beside-plain', sub { return [money(1), object({}), money(2), object([])] });

# --- restricted hashes ------------------------------------------------------

sub abc { return { a => 1, b => 'two', c => [3] } }

sub restricted {
    my ($hash, $keys, @locked) = @_;
    Hash::Util::lock_ref_keys($hash, $keys ? @$keys : ());
    for my $key (@locked) { Hash::Util::lock_ref_value($hash, $key) }
    return $hash;
}

my %restricted = (
    keys      => sub { return restricted(abc()) },
    allowed   => sub { return restricted(abc(), [qw(a b c d e)]) },
    'only-allowed' => sub { return restricted({}, [qw(x y)]) },
    value     => sub { return restricted(abc(), undef, 'a') },
    'values'  => sub { return restricted(abc(), undef, qw(a b c)) },
    hash      => sub { my $hash = abc(); Hash::Util::lock_hashref($hash); return $hash },
    recursive => sub { my $hash = { a => { b => { c => 1 } }, d => 2 }; Hash::Util::lock_hashref_recurse($hash); return $hash },
    deleted   => sub { my $hash = restricted(abc()); delete $hash->{b}; return $hash },
    'all-deleted' => sub { my $hash = restricted(abc()); delete @$hash{qw(a b c)}; return $hash },
    cleared   => sub { my $hash = restricted(abc()); %$hash = (); return $hash },
    unlocked  => sub { my $hash = restricted(abc()); Hash::Util::unlock_ref_keys($hash); return $hash },
    'unlocked-after-delete' => sub {
        my $hash = restricted(abc(), [qw(a b c d)]);
        delete $hash->{b};
        Hash::Util::unlock_ref_keys($hash);
        return $hash;
    },
    text      => sub { return restricted({ "\x{263a}" => 1, text("\xe9") => 2, a => 4 }) },
    'text-allowed' => sub { return restricted({ a => 1 }, ['a', "\x{263a}", "\xe8", text("\xe9")]) },
    'flagged-allowed' => sub { return restricted({ a => 1 }, ['a', text('plain')]) },
    odd       => sub { return restricted({ '$id' => 1, '' => 2 }, ['$id', '', '$x']) },
    object    => sub { return restricted(bless(abc(), 'Struct'), [qw(a b c d)], 'b') },
    undef     => sub { return restricted({ a => undef, b => 1 }, undef, 'a') },
    nested    => sub { return [restricted({ in => restricted(abc(), [qw(a b c z)]) }), abc()] },
    shared    => sub { my $hash = restricted(abc()); return [$hash, $hash, \$hash->{a}] },
    'many-allowed' => sub { return restricted({ k1 => 1 }, [map { "k$_" } 1 .. 20]) },
    weak      => sub { my $x = [1]; my $hash = { strong => $x, weak => $x }; weaken($hash->{weak}); return restricted($hash, undef, 'strong') },
    booleans  => sub { return restricted({ yes => !!1, no => !!0 }, undef, 'yes') },
);
my %unrestricted = (sereal => loses('a restricted hash is read back as an ordinary one', unrestricted => 1));
for my $label (sort keys %restricted) {
    my %lost = $label eq 'unlocked' ? () : $label eq 'unlocked-after-delete'
        ? (storable => loses('an allowed key without a value, in a hash that was unlocked, is read back with undef')) : %unrestricted;
    structure("restricted/$label", $restricted{$label}, %lost);
}
structure('restricted/empty', sub { return restricted({}, []) }, %unrestricted,
    storable => loses('an empty hash that allows no key is read back unrestricted', unrestricted => 1));

# --- regular expressions ----------------------------------------------------

structure('regexps/root',    sub { return qr/abc/ });
structure('regexps/two',     sub { return [qr/abc/, qr/def/] });
structure('regexps/in-hash', sub { return { pattern => qr/a+b*c?/ } });
structure('regexps/empty',   sub { return [qr//] });
for my $flags (qw(m s i x xx n p msix a aa u l d ix sx im msixn msixp)) {
    my $make = eval "sub { return [qr/a b/$flags] }" or die $@;
    my $lost = $flags =~ /n/ ? loses("the modifier n is written, but can't be read", unreadable => qr/bad modifier/)
        : $flags eq 'xx' ? loses('the modifier xx is read back as x')
        : $flags =~ /[alu]/ ? loses('the modifiers a, l and u are not written', charset => 1) : undef;
    structure("regexps/flags-$flags", $make, $lost ? (sereal => $lost) : ());
}
structure('regexps/slashes', sub { return [qr{a/b}, qr{\\/}, qr{\n"'}] });
structure('regexps/groups',  sub { return [qr/^(?<year>\d{4})-(\d\d)$/, qr/(?i:x)|[^\]]/] });
structure('regexps/text',    sub { return [qr/\x{263a}é☺/] },
    storable => loses('the bytes of a pattern that is text are read as characters'));
structure('regexps/latin1',  sub { my $pattern = "caf\xe9"; return [qr/$pattern/] });
structure('regexps/text-latin1', sub { my $pattern = text("caf\xe9"); return [qr/$pattern/] },
    storable => loses('the bytes of a pattern that is text are read as characters'));
structure('regexps/nul',     sub { my $pattern = "a\0b"; return [qr/$pattern/] });
for my $length (31, 32, 255, 256, 300) {
    structure("regexps/length-$length", sub { my $pattern = 'p' x $length; return [qr/$pattern/] });
}
structure('regexps/shared',  sub { my $regexp = qr/x/; return [$regexp, $regexp, { again => $regexp }] });
structure('regexps/same',    sub { return [map { qr/same pattern/i } 1 .. 3] });
structure('regexps/classes', sub { return [bless(qr/x/, 'My::Regexp'), bless(qr/y/i, 'My::Regexp')] });
structure('regexps/through-reference', sub { return [\qr/x/] });
structure('regexps/nested',  sub { my $in = qr/b/i; return [qr/a${in}c/x] });
structure('regexps/bare',    sub { my $regexp = ${ qr/x/i }; return [$regexp] },
    storable => loses('a regexp without a class is read back as a blessed variable', variable_class => 1));

# --- v-strings --------------------------------------------------------------

my %vstring = (
    plain => sub { return [v1.2.3] }, dotted => sub { return [1.22.333, v65.66] },
    one => sub { my $version = v5; return \$version }, wide => sub { return [v9786.233, v1.128512.2] },
    'in-hash' => sub { return { version => v5.36.0 } },
    shared => sub { my $version = v1.2; return [\$version, \$version] },
    aliased => sub { my $version = v1.2; return aliases($version, $version) },
    object => sub { return bless \(my $version = v1.2.3), 'Version' },
    map { my $dots = $_; ("long-$dots" => sub { my $version = eval 'v' . join '.', map { $_ % 100 } 1 .. $dots; return [$version] }) } 80, 89, 90, 100, 200,
);
for my $label (sort keys %vstring) {
    structure("vstrings/$label", $vstring{$label}, sereal => loses('a v-string is read back as its string', vstrings => 1));
}
structure('vstrings/changed', sub { my $version = v1.2; $version .= 'x'; return [$version] });
structure('vstrings/version', sub { require version; return [version->declare('v1.2.3'), version->parse('1.002')] });

# --- ties -------------------------------------------------------------------

sub tied_scalar { my ($value) = @_; tie my $x, 'Tie::Box', $value; return \$x }
sub tied_array  { my @items = @_; tie my @x, 'Tie::Row', @items; return \@x }
sub tied_hash   { my %pairs = @_; tie my %x, 'Tie::Table', %pairs; return \%x }

my %tied = (
    scalar => sub { return tied_scalar('v') }, array => sub { return tied_array(1, 'two') },
    hash   => sub { return tied_hash(a => 1, b => [2]) },
    'in-array' => sub { return [tied_scalar(1), tied_array(2), tied_hash(c => 3)] },
    'in-hash'  => sub { return { s => tied_scalar(1), a => tied_array(2), h => tied_hash(c => 3) } },
    shared     => sub { my $tied = tied_hash(a => 1); return [$tied, $tied] },
    empty      => sub { return [tied_array(), tied_hash()] },
    nested     => sub { return tied_hash(in => tied_array(tied_scalar('deep'))) },
    blessed    => sub { return bless tied_hash(a => 1), 'Tied::Object' },
    'blessed-array'  => sub { return [bless tied_array(1), 'Tied::Object'] },
    'blessed-scalar' => sub { return [bless tied_scalar(1), 'Tied::Object'] },
);
for my $label (sort keys %tied) {
    structure("tied/$label", $tied{$label}, sereal => loses('a tied variable becomes an ordinary one', untied => 1, variables => 1));
}
my %tied_object = (
    'and-its-object' => sub { my $tied = tied_hash(a => 1); return [$tied, tied %$tied] },
    'its-object-first' => sub { my $tied = tied_array(1); return [tied @$tied, $tied] },
    'hash-element'  => sub { my $tied = tied_hash(a => 1); return [\$tied->{a}, \$tied->{none}] },
    'array-element' => sub { my $tied = tied_array(1, 2); return [\$tied->[0], \$tied->[1]] },
    'element-and-whole' => sub { my $tied = tied_hash(a => 1); return [$tied, \$tied->{a}] },
    'text-element'  => sub { my $tied = tied_hash("\x{263a}" => 1); return [\$tied->{"\x{263a}"}] },
);
for my $label (sort keys %tied_object) { structure("tied/$label", $tied_object{$label}, only => 'storable') }

# --- code and other values that Sereal can't represent ----------------------------------------------

my %code = (
    plain   => sub { return [sub { 1 }] },
    root    => sub { return sub { 'root' } },
    several => sub { return [sub { $_[0] + 1 }, { f => sub { return map { $_ * 2 } @_ } }] },
    shared  => sub { my $code = sub { 'shared' }; return [$code, $code, 'after', \$code] },
    numbers => sub { my $x = [1]; return [$x, sub { 2 }, $x, sub { 3 }, $x] },
    text    => sub { return [sub { my $été = 3; $été + 1 }] },
    blessed => sub { return bless sub { 'object' }, 'Code::Object' },
    long    => sub { return [sub { my ($x) = @_; if ($x > 1) { print "one\n" } elsif ($x < 0) { print "two\n" } for my $y (1 .. $x) { print $y, $x, "three\n" } return { a => 1, b => [1, 2, 3] } }] },
);
for my $label (sort keys %code) {
    my %lost = $label eq 'blessed' ? (storable => loses('code is read back without its class')) : ();
    structure("code/$label", $code{$label}, only => 'storable', code => 1, %lost);
}

my %unknown = (unknown => 1, sereal => loses("a value that Sereal can't represent becomes undef"));
structure('unknown/code',  sub { return [1, sub { 1 }, { code => sub { 2 } }] }, only => 'sereal', %unknown);
structure('unknown/glob',  sub { return [1, *STDOUT, 2] }, only => 'sereal', %unknown);
structure('unknown/glob-reference', sub { return [1, \*STDOUT, 2] }, only => 'sereal', %unknown);
structure('unknown/blessed-code', sub { return [bless(sub { 1 }, 'Code::Object'), 2] }, only => 'sereal', %unknown);
structure('unknown/overloaded-code', sub { return [bless(sub { 1 }, 'Over::Code'), 2] }, only => 'sereal', %unknown);

# --- Storable's hooks -------------------------------------------------------

sub hook { return Hook::Text->new(@_) }

sub storable { my ($label, $make, %is) = @_; return structure("hooks/$label", $make, only => 'storable', %is) }

storable('string',       sub { return hook('frozen') });
storable('empty-string', sub { return hook('') });
storable('bytes',        sub { return hook(join '', map { chr } 0 .. 255) });
for my $length (254 .. 257, 1000) { storable("string-$length", sub { return hook('f' x $length) }) }
storable('array',        sub { return bless ['frozen'], 'Hook::List' });
storable('scalar',       sub { return bless \(my $x = 'frozen'), 'Hook::Cell' });
storable('inherited',    sub { return [Hook::Child->new('text'), Hook::Text->new('text')] });
storable('in-array',     sub { return [hook('one')] });
storable('two',          sub { return [hook('one'), hook('two')] });
storable('shared',       sub { my $hook = hook('one'); return [$hook, $hook] });
storable('bodies',       sub { return [hook('h'), bless(['a'], 'Hook::List'), bless(\(my $x = 's'), 'Hook::Cell')] });
storable('link',         sub { return hook('l', [1]) });
storable('links',        sub { return hook('l', [1], { a => 2 }, \'three', \\4) });
storable('links-of-array', sub { return bless ['l', [1], [2]], 'Hook::List' });
storable('link-seen',    sub { my $x = [1]; return [$x, hook('l', $x), $x] });
storable('link-seen-and-new', sub { my $x = [1]; return [$x, hook('l', $x, [2], $x)] });
storable('links-shared', sub { my $x = [1]; return [hook('l', $x), hook('m', $x), $x] });
storable('links-same',   sub { my $x = [1]; return hook('l', $x, $x, $x) });
storable('link-self',    sub { my $hook = hook('l'); $hook->{links} = [$hook]; return $hook });
storable('link-cycle',   sub { my $hook = hook('l'); $hook->{links} = [[1, $hook]]; return [$hook] });
storable('links-hooks',  sub { return hook('l', hook('m'), hook('n', hook('o'))) });
storable('chain',        sub { my $hook = hook('none'); $hook = hook($_, $hook) for 'a' .. 'j'; return $hook });
storable('links-scalars', sub { my $x = 'x'; return [hook('l', \$x), \$x] });
storable('links-objects', sub { return hook('l', object({ a => 1 }), object([])) });
storable('links-overloaded', sub { return hook('l', money(1)) });
storable('links-regexp', sub { return hook('l', qr/x/i) });
for my $count (254 .. 257) {
    storable("links-$count", sub { return hook('l', map { [$_] } 1 .. $count) });
    storable("links-same-$count", sub { my $x = [1]; return hook('l', ($x) x $count) });
}
storable('long-and-many', sub { return hook('f' x 300, map { {} } 1 .. 300) });
storable('makes',        sub { return bless { parts => 3 }, 'Hook::Maker' });
storable('makes-twice',  sub { return [bless({ parts => 2 }, 'Hook::Maker'), bless({ parts => 1 }, 'Hook::Maker')] });
storable('freezes-inside', sub { return [bless({ inside => [1, { a => 2 }] }, 'Hook::Inner'), 'after'] });
storable('freezes-hooks-inside', sub { return bless { inside => [hook('in'), bless({ inside => [hook('deep')] }, 'Hook::Inner')] }, 'Hook::Inner' });
storable('clones-inside', sub { my $x = [1]; return [$x, bless({ inside => [$x, hook('in')] }, 'Hook::Cloner'), $x] },
    storable => loses('the class keeps a reference to the copy too'));
storable('declines',     sub { return bless { a => 1 }, 'Hook::Declines' });
storable('declines-twice', sub { return [bless({ a => 1 }, 'Hook::Declines'), bless([2], 'Hook::Declines'), hook('x')] });
storable('sometimes',    sub { return [bless({}, 'Hook::Sometimes'), bless({ text => 't' }, 'Hook::Sometimes')] });
storable('attached',     sub { return Hook::Attached->get('name') });
storable('attached-twice', sub { my $x = Hook::Attached->get('name'); return [$x, $x, Hook::Attached->get('other')] });
storable('class-numbers', sub { return [map { (hook($_), bless([$_], 'Hook::List')) } 'a' .. 'e'] });
storable('class-number-large', sub { return [(map { object([], "K$_") } 1 .. 300), hook('a'), hook('b'), object([], 'K299')] });
storable('after-plain',  sub { return [object({ a => 1 }), hook('a', object({ b => 2 })), object({ c => 3 }), hook('c')] });
for my $length (250, 255, 256, 300) {
    my $class = 'Hook::' . 'L' x ($length - 6);
    storable("class-length-$length", sub { return [bless({ text => 'a' }, $class), bless({ text => 'b', links => [[1]] }, $class)] });
}
storable('through-reference', sub { my $x = hook('x'); return \$x });
storable('cycle-through-hash', sub { my %hash = (name => 'n'); $hash{hook} = hook('x', \%hash); return \%hash });
storable('restricted-link', sub { my $hash = { a => 1 }; Hash::Util::lock_hashref($hash); return hook('x', $hash) });
storable('weak-link',    sub { my $x = [1]; my $hook = hook('x', $x); weaken($hook->{links}[0]); return [$x, $hook] },
    storable => loses('a hook gets strong references', weak => 1));
storable('tied-hash',    sub { my $x = tied_hash(a => 1); return bless $x, 'Hook::Tied' });
storable('tied-array',   sub { my $x = tied_array(1, 2); return [bless $x, 'Hook::Tied'] });
storable('tied-scalar',  sub { my $x = tied_scalar(1); return [bless $x, 'Hook::Tied'] });

# --- Sereal's callbacks -----------------------------------------------------

sub cold { return Cold::Value->new(@_) }

sub sereal { my ($label, $make, %is) = @_; return structure("callbacks/$label", $make, only => 'sereal', freezes => 1, %is) }

sereal('value',     sub { return cold(1) });
sereal('array',     sub { return cold([1, 2]) });
sereal('undef',     sub { return cold(undef) });
sereal('list',      sub { return bless [1, 'two', [3], { four => 4 }], 'Cold::List' });
for my $count (0, 1, 14 .. 17, 40) { sereal("list-$count", sub { return bless [1 .. $count], 'Cold::List' }) }
sereal('scalar',    sub { return bless \(my $x = 'x'), 'Cold::Cell' });
sereal('inherited', sub { return [Cold::Child->new(1), cold(2)] });
sereal('in-array',  sub { return [cold(1), cold(2), cold(3)] });
sereal('in-hash',   sub { return { a => cold(1), b => bless([2], 'Cold::List') } });
sereal('shared',    sub { my $x = cold('shared'); return [$x, $x, [$x]] });
sereal('shared-list', sub { my $x = bless [1, 2], 'Cold::List'; return [$x, $x] });
sereal('shared-inside', sub { my $x = [1]; return [bless([$x, $x], 'Cold::List'), $x] });
sereal('with-plain', sub { return [cold(object({ a => 1 })), object({ b => 2 }), cold(1)] });
sereal('nested',    sub { return cold(cold(1)) },
    sereal => loses('an object that is also an argument of THAW is read back as its payload, before 5.004', maybe => 1));
sereal('nested-in-array', sub { return cold([cold(1), cold(2)]) });
sereal('through-reference', sub { my $x = cold(1); return \$x });
sereal('class-is-string', sub { return ['Cold::Value', cold('Cold::Value'), { 'Cold::Value' => 1 }] });
sereal('nothing',   sub { return bless {}, 'Cold::Nothing' },
    sereal => loses('FREEZE returned nothing, and THAW made another value'));

# --- random --------------------------------------------------------------

# A separate generator, because perl's own differs between builds.
{
    package Structures::Chance;

    sub new {
        my ($class, $seed) = @_;
        my $self = bless { state => $seed * 2_654_435_761 % 4_294_967_291 + 1, left => 60, made => [] }, $class;
        $self->below(2) for 1 .. 16;
        return $self;
    }

    sub below {
        my ($self, $limit) = @_;
        my $state = $self->{state};
        $state ^= $state << 13 & 0xffff_ffff;
        $state ^= $state >> 17;
        $state ^= $state << 5 & 0xffff_ffff;
        $self->{state} = $state;
        return ($state >> 4) % $limit;
    }

    sub one_of { my $self = shift; return $_[$self->below(scalar @_)] }

    sub leaf {
        my ($self) = @_;
        return $self->one_of(
            undef, $self->below(20) - 10, $self->below(1 << 30) - (1 << 29), 1 << $self->below(62), $self->below(1000) / 8,
            '', 'name', 'a longer string of plain text', "caf\xe9", "\x{263a} text", Structures::text('ascii'),
            join('', map { chr(97 + $self->below(26)) } 0 .. $self->below(40)),
        );
    }

    sub key {
        my ($self) = @_;
        return $self->one_of('id', 'name', 'kind', '$id', 'k' . $self->below(9), "caf\xe9", "\x{263a}", Structures::text("\xe9"), 'long' x 10);
    }

    # Assigns to a variable that is already part of the structure.
    sub fill {
        my ($self, $slot, $depth) = @_;
        return $$slot = $self->leaf if $self->{left}-- <= 0 || $depth > 8 || $self->below(4) == 0;
        my $made = $self->{made};
        return $$slot = $self->one_of(@$made) if @$made && $self->below(6) == 0;
        my $which = $self->below(9);
        return $$slot = $self->one_of(qr/a+b/, qr/x y/ix, qr/^caf\xe9$/) if $which == 8;
        my $body = $which < 3 ? [] : $which < 7 ? {} : \(my $new);
        bless $body, $self->one_of('Chance::A', 'Chance::B', 'Chance::A') if $self->below(4) == 0;
        push @$made, $$slot = $body;
        if ($which < 3) {
            for my $index (0 .. $self->below(6)) { $body->[$index] = undef; $self->fill(\$body->[$index], $depth + 1) }
        }
        elsif ($which < 7) {
            for (0 .. $self->below(6)) { my $key = $self->key; $body->{$key} = undef; $self->fill(\$body->{$key}, $depth + 1) }
        }
        else { $self->fill($body, $depth + 1) }
        return;
    }
}

for my $seed (1 .. 60) {
    structure("chance/$seed", sub {
        my $chance = Structures::Chance->new($seed);
        my @root   = (undef) x 3;
        $chance->fill(\$_, 0) for @root;
        return \@root;
    });
}

1;
