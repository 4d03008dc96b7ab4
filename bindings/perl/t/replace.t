# Icecore::replace: arguments, options, reports; hostile data.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use MIME::Base64 ();
use Scalar::Util ();
use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(nfreeze thaw);

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

local $Icecore::Storable::canonical = 1;

my $data   = nfreeze({ old => 'an old' });
my $wanted = nfreeze({ old => 'an brand new' });

subtest 'arguments' => sub {
    is(Icecore::replace('old', 'brand new', $data), $wanted, 'replace replaces text in strings');
    is(Icecore::replace({ old => 'brand new', none => 'x' }, $data), $wanted, 'replace takes a hash of pairs');
    is(Icecore::replace({ cat => 'dog', dog => 'cat' }, 'cat dog'), 'dog cat', 'all pairs are replaced at the same time');
    is(Icecore::replace(2026, 2027, 'in 2026'), 'in 2027', 'numbers are used as strings');
    is(Icecore::replace('a', 'b', ''), '', 'empty data stays empty');
    is(Icecore::replace("\0", "\xff", "\xe9\0"), "\xe9\xff", 'any bytes can be replaced');
    my ($old, $new, $text) = ('old', 'new', 'old');
    my $result = Icecore::replace($old, $new, $text);
    is_deeply([$old, $new, $text, $result], ['old', 'new', 'old', 'new'], 'the arguments stay unchanged');
    my $same = Icecore::replace('none', 'some', $text);
    $same .= 'x';
    is($text, 'old', 'unchanged data is returned as a copy');
    is_deeply([Icecore::replace('a', 'b', 'a')], ['b'], 'one value is returned in list context');

    like(dies(sub { Icecore::replace() }), qr/^Usage: Icecore::replace/, 'a call without arguments is refused');
    like(dies(sub { Icecore::replace('a', 'b') }), qr/^Usage: Icecore::replace\(\$old, \$new, \$data, %options\)/, 'a call without data is refused');
    like(dies(sub { Icecore::replace({ a => 'b' }) }), qr/^Usage:/, 'pairs without data are refused');
    like(dies(sub { Icecore::replace(undef, 'b', 'x') }), qr/^Icecore: OLD must be a string, not undefined/, 'undef as OLD is refused');
    like(dies(sub { Icecore::replace('a', undef, 'x') }), qr/^Icecore: NEW must be a string, not undefined/, 'undef as NEW is refused');
    like(dies(sub { Icecore::replace(qr/a/, 'b', 'x') }), qr/^Icecore: OLD must be a string, not a reference/, 'a regexp as OLD is refused');
    like(dies(sub { Icecore::replace({ a => ['b'] }, 'x') }), qr/^Icecore: NEW must be a string, not a reference/, 'a reference in pairs is refused');
    like(dies(sub { Icecore::replace('a', 'b', undef) }), qr/an undefined value/, 'undef as data is refused');
    like(dies(sub { Icecore::replace('a', 'b', ['a']) }), qr/a reference/, 'a reference as data is refused');
    like(dies(sub { Icecore::replace({}, 'x') }), qr/nothing to replace/, 'an empty hash of pairs is refused');
    like(dies(sub { Icecore::replace('', 'b', 'x') }), qr/an empty OLD is found everywhere/, 'an empty OLD is refused');
    like(dies(sub { Icecore::replace('a', 'b', 'x', 'keys') }), qr/pairs of a name and a value/, 'an option without a value is refused');
    like(dies(sub { Icecore::replace('a', 'b', 'x', ignorecase => 1) }), qr/no option 'ignorecase'; there are keys, classes/, 'an unknown option is refused');
};

subtest 'text and bytes' => sub {
    my $flagged = 'old';
    utf8::upgrade($flagged);
    is(Icecore::replace($flagged, 'new', $data), Icecore::replace('old', 'new', $data), 'it does not matter whether OLD is marked as UTF-8');
    my $upgraded = $data;
    utf8::upgrade($upgraded);
    is(Icecore::replace('old', 'brand new', $upgraded), $wanted, 'it does not matter whether the data is marked as UTF-8');
    is(Icecore::replace('none', 'some', $upgraded), $data, 'unchanged data that is marked as UTF-8 is returned as bytes');
    is(Icecore::replace("\xe9", 'e', "caf\xe9"), 'cafe', 'a character below 256 stands for a byte');
    my $eacute = "\xe9";
    utf8::upgrade($eacute);
    is(Icecore::replace($eacute, 'e', "caf\xe9"), 'cafe', 'a character below 256 that is marked as UTF-8 stands for a byte');
    is(Icecore::replace("\xc3\xa9", 'e', "caf\xc3\xa9"), 'cafe', 'UTF-8 is found as bytes');
    like(dies(sub { Icecore::replace("\x{263a}", 'x', 'y') }), qr/^Icecore: OLD has characters above 255, and frozen data is bytes: encode it first/, 'OLD with wide characters is refused');
    like(dies(sub { Icecore::replace('x', "\x{263a}", 'y') }), qr/^Icecore: NEW has characters above 255/, 'NEW with wide characters is refused');
    like(dies(sub { Icecore::replace('x', 'y', "x\x{263a}") }), qr/characters outside 0-255/, 'data with wide characters is refused');
    # Text in Perl's data has a flag: the replacement consists of its UTF-8 bytes.
    my $text = nfreeze(["old \x{263a}"]);
    is_deeply(thaw(Icecore::replace('old', 'new', $text)), ["new \x{263a}"], 'text in the data is replaced');
    for my $bytes ($text, encode_sereal(["old \x{263a}"]), '["old"]') {
        is(Icecore::replace('old', "\xff", $bytes, report => \my %report), $bytes, 'text is not replaced by invalid UTF-8');
        is($report{unsayable}, 1, 'the report counts such texts');
    }
};

subtest 'options' => sub {
    is(Icecore::replace('old', 'x', $data, keys => 1), nfreeze({ x => 'an x' }), '`keys` replaces keys');
    is(Icecore::replace('old', 'x', $data, keys => 0), nfreeze({ old => 'an x' }), 'without `keys` keys stay');
    my $object = nfreeze([bless { Old => 'Old' }, 'Old']);
    is(Icecore::replace('Old', 'Fresh', $object, classes => 1), nfreeze([bless { Old => 'Fresh' }, 'Fresh']), '`classes` replaces names of classes');
    is(Icecore::replace('Old', 'Fresh', $object), nfreeze([bless { Old => 'Fresh' }, 'Old']), 'without `classes` names of classes stay');
    is(Icecore::replace('(\w+)@old', '$1@new', 'joe@old', regex => 1), 'joe@new', '`regex` uses regular expressions');
    is(Icecore::replace('old', 'x', 'OLD Old', ignore_case => 1), 'x x', '`ignore_case` ignores case');
    is(Icecore::replace('https://old.example', 'https://new.example', 'http:\/\/old.example\/a', url => 1), 'http:\/\/new.example\/a', '`url` replaces URLs in all spellings');
    my $base64 = MIME::Base64::encode_base64($data, '');
    is(Icecore::replace('old', 'brand new', $base64), $base64, 'without `base64` Base64 stays');
    is(Icecore::replace('old', 'brand new', $base64, base64 => 1), MIME::Base64::encode_base64($wanted, ''), '`base64` replaces text in Base64');
    is(Icecore::replace('old', 'brand new', 'a:1:{i:0;s:99:"old";}', mend => 1), 'a:1:{i:0;s:9:"brand new";}', '`mend` repairs wrong lengths');
    is(Icecore::replace('old', 'brand new', $data, format => 'storable'), $wanted, '`format` names the format');
    is(Icecore::replace('old', 'brand new', $data, format => undef), $wanted, 'an undefined `format` is guessed');
    isnt(dies(sub { Icecore::replace('old', 'new', '["old"]', format => 'storable') }), '', 'data of another format than `format` is refused');
    like(dies(sub { Icecore::replace('old', 'new', 'x', format => 'storeable') }), qr/storeable/, 'an unknown `format` is refused');
    like(dies(sub { Icecore::replace('(', 'new', 'x', regex => 1) }), qr/`\(`/, 'an invalid regular expression is refused');
    my $deep = ('a:1:{i:0;' x 20) . 's:3:"old";' . ('}' x 20);
    like(dies(sub { Icecore::replace('old', 'new', $deep, format => 'php', max_recursion_depth => 10) }), qr/max_recursion_depth/, 'max_recursion_depth limits the depth');
    is(Icecore::replace('old', 'new', $deep, format => 'php'), $deep =~ s/old/new/r, 'the next call has the default limit');
    is(Icecore::replace('a', $_, 'a'), $_, "each call uses its own pairs: $_") for qw(b c b);
    is(Icecore::replace('a', 'b', 'aA', ignore_case => $_), $_ ? 'bb' : 'bA', "each call uses its own options: $_") for 1, 0, 1;
};

subtest 'reports' => sub {
    my %report = (left => 'over');
    is(Icecore::replace('old', 'new', nfreeze(['old old', nfreeze(['old'])]), report => \%report), nfreeze(['new new', nfreeze(['new'])]), 'a call with a report replaces text');
    is_deeply(
        \%report,
        { strings => 2, occurrences => 3, frozen => 2, broken => 0, mended => 0, guessed => 0, explanations => {}, opaque => 0, unsayable => 0, signed => 0, first_broken => undef }, 'counts'
    );
    Icecore::replace('old', 'new', 'a:1:{i:0;s:99:"old";}', report => \%report);
    is($report{broken}, 1, 'the report counts damaged strings');
    Icecore::replace('old', 'new', "a:2:{i:0;s:5:\"Gr\xC3\xBC\xC3\x9Fe\";i:1;s:3:\"old\";}", mend => 1, report => \my %mended);
    is_deeply([@mended{qw(mended guessed)}, $mended{explanations}], [1, 0, { latin1 => 1 }], 'the report counts repairs and their causes');
    like($report{first_broken}, qr/^php at offset /, 'the report has the first damaged string');
    like(dies(sub { Icecore::replace('a', 'b', 'x', report => \my @list) }), qr/report takes a reference to a hash/, 'a list as report is refused');
    like(dies(sub { Icecore::replace('a', 'b', 'x', report => 1) }), qr/report takes a reference to a hash/, 'a report that is not a reference is refused');
    {
        package Plan::Freeing;
        sub DESTROY { ${ $_[0]{hash} } = undef }
    }
    my $freed = { x => bless {}, 'Plan::Freeing' };
    $freed->{x}{hash} = \$freed;
    is(Icecore::replace('a', 'b', 'a', report => $freed), 'b', 'a report can be freed during the call');
};

{
    package Plan::Tied;
    sub TIESCALAR { my ($class, $code) = @_; return bless { code => $code }, $class }
    sub FETCH     { return $_[0]{code}->() }
    sub STORE     { }
}

subtest 'magic' => sub {
    tie my $tied, 'Plan::Tied', sub { Icecore::replace('y', 'old', 'y') };
    is(Icecore::replace($tied, 'new', 'old'), 'new', 'a tied OLD is fetched');
    is(Icecore::replace('old', 'new', $tied), 'new', 'tied data is fetched');
    my $text = 'old' x 100;
    tie my $changing, 'Plan::Tied', sub { $text = undef; return 'new' };
    is(Icecore::replace($text, $changing, 'old' x 100), 'new', 'a tie may free another argument');
    tie my $dying, 'Plan::Tied', sub { die "no\n" };
    is(dies(sub { Icecore::replace('a', $dying, 'a') }), "no\n", 'the error of a tie is passed on');
    is(dies(sub { Icecore::replace('a', 'b', 'a', format => $dying) }), "no\n", 'the error of a tied format is passed on');
    is(Icecore::replace('a', 'b', 'a'), 'b', 'the next call works');
};

subtest 'hostile data' => sub {
    my @samples = (
        nfreeze({ old => ['an old', 1.5, \'old', bless ['old'], 'Old'] }), encode_sereal({ old => ['old', 'old'], x => \'old' }),
        '{"old":["old","[\"old\"]"]}', 'a:2:{i:0;s:3:"old";i:1;a:1:{i:0;s:3:"old";}}', "\$VAR1 = ['old', { 'a' => 'old' }];\n",
        Icecore::encode(['old', { old => 'old' }], 'marshal'),
    );
    srand 1;
    my $strange = 0;
    for my $sample (@samples) {
        for (1 .. 500) {
            my $bytes = substr $sample, 0, rand() < 0.5 ? int rand length $sample : length $sample;
            substr($bytes, rand length $bytes, 1) = chr((0, 34, 57, 123, 125, rand 256)[rand 6]) for 1 .. (length $bytes ? int rand 4 : 0);
            my $got = eval { Icecore::replace({ old => 'brand new', an => '' }, $bytes, map { ($_ => rand() < 0.5) } qw(keys classes mend base64)) };
            $strange++ if !defined $got;
        }
    }
    is($strange, 0, 'damaged data is treated as text');
    for my $bytes ("pst0\4\x0b\1234\xff\xff\xff\xff", '[' x 100_000, 'a:1:{i:0;' x 50_000, "=\xf3rl\5\0\x2b\xff\xff\xff\xff\x0fold") {
        is(Icecore::replace('old', 'new', $bytes), $bytes =~ s/old/new/gr, 'as text: ' . substr($bytes, 0, 4) =~ s/[^ -~]/?/gr);
    }
};

done_testing;
