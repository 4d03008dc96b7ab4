# Objects, overloading, regular expressions, restricted hashes, code.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Hash::Util   ();
use Scalar::Util qw(blessed reftype);
use Both;
use Classes;
use Same;
use Structures;

my @ways = qw(freeze nfreeze dclone);

sub round_trip {
    my ($m, $how, $data) = @_;
    return $how eq 'dclone' ? $m->dclone($data) : $m->thaw($m->$how($data));
}

{
    package Point;
    our $destroyed = 0;
    sub new     { my ($class, $x, $y) = @_; return bless { x => $x, y => $y }, $class }
    sub sum     { my ($self) = @_; return $self->{x} + $self->{y} }
    sub DESTROY { $destroyed++; return }
}

for my $how (@ways) {
    both_storable("objects, $how" => sub {
        my ($m) = @_;
        my $copy = round_trip($m, $how, Point->new(1, 2));
        isa_ok($copy, 'Point');
        is($copy->sum, 3, 'methods of an object work');
        $copy = round_trip($m, $how, [Point->new(1, 2), bless([1, 2], 'Pair'), bless(\(my $x = 'x'), 'Cell'), bless(\\'y', 'Deep')]);
        is(join(' ', map { ref } @$copy), 'Point Pair Cell Deep', 'hashes, arrays, scalars and references keep their classes');
        is(join(' ', map { reftype $_ } @$copy), 'HASH ARRAY SCALAR REF', 'hashes, arrays, scalars and references keep their types');
        is("$copy->[1][1] ${ $copy->[2] } $${ $copy->[3] }", '2 x y', 'hashes, arrays, scalars and references keep their contents');

        my $shared = Point->new(3, 4);
        $copy = round_trip($m, $how, [$shared, { p => $shared }, \$shared]);
        is($copy->[0], $copy->[1]{p}, 'a shared object stays shared');
        is(${ $copy->[2] }, $copy->[0], 'an object shared through a reference stays shared');
        $copy = round_trip($m, $how, \$shared);
        isa_ok($$copy, 'Point', 'what a reference refers to');
        $copy = round_trip($m, $how, [map { bless {}, "Class" . $_ % 300 } 1 .. 700]);
        is_deeply([map { ref } @$copy], [map { 'Class' . $_ % 300 } 1 .. 700], 'objects of hundreds of classes are read back');
        $copy = round_trip($m, $how, [map { bless [], $_ } 'C' x 255, 'D' x 256, 'E' x 5000, 'C' x 255]);
        is_deeply([map { length ref } @$copy], [255, 256, 5000, 255], 'long class names are read back');
    });

    both_storable("overloading, $how" => sub {
        my ($m) = @_;
        my $money = Structures::money(5);
        my $copy  = round_trip($m, $how, [$money, { m => $money }, $money]);
        is("$copy->[0]", '5 EUR', 'overloading works after thawing');
        is("$copy->[1]{m}$copy->[2]", '5 EUR5 EUR', 'overloading works for each reference to the object');
        $copy = round_trip($m, $how, $money);
        is("$copy", '5 EUR', 'overloading works for the root');
        $copy = round_trip($m, $how, [bless([1], 'Over::Hash'), bless({ list => 1 }, 'Over::Array'), bless(\(my $x = 1), 'Over::Text')]);
        is(reftype $copy->[0], 'ARRAY', 'an array that overloads %{} is stored as an array');
        is("@{ $copy->[1] }", '1 2 3', 'a hash that overloads @{} is stored as a hash');
        is("$copy->[2]", 'some text', 'an overloaded scalar is read back');
    });

    both_storable("regular expressions, $how" => sub {
        my ($m) = @_;
        my $copy = round_trip($m, $how, [qr/a+b/i, qr/^(?<year>\d+)$/mx, qr{/}, qr/\x{263a}/, qr/caf\xe9/, qr//, qr/a.b/s, qr/x/xx, qr/y/a, qr/z/n]);
        like('xAAB', $copy->[0], 'a regexp matches after thawing');
        unlike('xAAC', $copy->[0], 'a regexp rejects after thawing');
        is(ref $copy->[0], 'Regexp', 'a regexp keeps its class');
        is_deeply([map { "$_" } @$copy], [map { "$_" } qr/a+b/i, qr/^(?<year>\d+)$/mx, qr{/}, qr/\x{263a}/, qr/caf\xe9/, qr//, qr/a.b/s, qr/x/xx, qr/y/a, qr/z/n], 'every regexp prints as before');
        ok('2024' =~ $copy->[1], 'a regexp with a named group matches');
        is($+{year}, 2024, 'a named group captures');
        $copy = round_trip($m, $how, bless qr/x/, 'My::Regexp');
        is(ref $copy, 'My::Regexp', 'a regexp of another class keeps its class');
        ok('x' =~ $copy, 'a regexp of another class matches');
        my $regexp = qr/shared/;
        $copy = round_trip($m, $how, [$regexp, $regexp]);
        is($copy->[0] + 0, $copy->[1] + 0, 'a shared regexp stays shared');
        my $latin1 = "caf\xe9";
        $copy = round_trip($m, $how, [qr/$latin1/]);
        ok("caf\xe9" =~ $copy->[0], 'a pattern of bytes matches');
        $copy = round_trip($m, $how, { list => [(qr/x/) x 300], long => qr/${\ ('p' x 300)}/ });
        ok('x' =~ $copy->{list}[299], 'many regexps match');
        ok(('p' x 300) =~ $copy->{long}, 'a long regexp matches');
    });

    both_storable("restricted hashes, $how" => sub {
        my ($m) = @_;
        my %hash = (a => 1, b => [2]);
        Hash::Util::lock_keys(%hash);
        my $copy = round_trip($m, $how, \%hash);
        like($m->dies(sub { $copy->{c} = 1 }), qr/disallowed key 'c'/, 'a key that is not allowed is refused');
        $copy->{a} = 'new';
        is($copy->{a}, 'new', 'a value can be assigned');

        Hash::Util::unlock_keys(%hash);
        Hash::Util::lock_keys(%hash, qw(a b c d));
        $copy = round_trip($m, $how, \%hash);
        is(join(' ', sort { $a cmp $b } Hash::Util::legal_keys(%$copy)), 'a b c d', 'allowed keys without values are kept');
        is(join(' ', sort { $a cmp $b } keys %$copy), 'a b', 'allowed keys without values do not exist');
        ok(!exists $copy->{c}, 'an allowed key without a value does not exist');
        $copy->{c} = 3;
        is($copy->{c}, 3, 'an allowed key can be added');
        like($m->dies(sub { $copy->{e} = 1 }), qr/disallowed key 'e'/, 'another key is refused');

        Hash::Util::lock_value(%hash, 'a');
        $copy = round_trip($m, $how, \%hash);
        like($m->dies(sub { $copy->{a} = 5 }), qr/read-only value/, 'an assignment to a locked value is refused');
        like($m->dies(sub { delete $copy->{a} }), qr/delete readonly key 'a'/, 'the deletion of a locked value is refused');
        $copy->{b} = 'x';
        is($copy->{b}, 'x', 'a value that is not locked can be assigned');

        my %nested = (in => { deep => 1 }, text => "\x{263a}", "\x{263a}" => 'k');
        Hash::Util::lock_hash_recurse(%nested);
        $copy = round_trip($m, $how, \%nested);
        like($m->dies(sub { $copy->{in}{deep} = 2 }), qr/read-only value/, 'a locked hash in a locked hash stays locked');
        is($copy->{"\x{263a}"}, 'k', 'keys of restricted hashes can be text');

        my $object = bless { a => 1 }, 'Fixed';
        Hash::Util::lock_hashref($object);
        $copy = round_trip($m, $how, [$object]);
        is(ref $copy->[0], 'Fixed', 'a restricted hash can be an object');
        ok(Hash::Util::hashref_locked($copy->[0]), 'a restricted object stays locked');
        undef $copy->[0];
        is($copy->[0], undef, 'a restricted object can be freed');
    });
}

both_storable('each object is destroyed once' => sub {
    my ($m) = @_;
    my @source = map { Point->new($_, $_) } 1 .. 5;
    my $bytes  = $m->freeze([@source, @source]);
    $Point::destroyed = 0;
    { my $copy = $m->thaw($bytes); is(@$copy, 10, 'the list has ten items') }
    is($Point::destroyed, 5, 'five objects are destroyed');
    $Point::destroyed = 0;
    { my $copy = $m->dclone([@source]) }
    is($Point::destroyed, 5, 'dclone: five objects are destroyed');
    $Point::destroyed = 0;
    @source = ();
    is($Point::destroyed, 5, 'the source is not kept alive');
});

both_storable('an object in a hash with a duplicate key' => sub {
    my ($m) = @_;
    # A hash image may repeat a key; the last value counts, and the replaced value is freed.
    my $entry = sub { return "\x11\x05Point\x03" . pack('N', 1) . "\x08" . chr($_[0] + 128) . pack('N', 1) . 'x' . pack('N', 1) . 'k' };
    my $bytes = "\5\13\3" . pack('N', 2) . "\x04" . $entry->(1) . "\x04" . $entry->(2);
    $Point::destroyed = 0;
    my $copy;
    my $error = $m->dies(sub { $copy = $m->thaw($bytes) });
    if ($error) {
        is($Point::destroyed, 0, 'an image with a duplicate key is refused before an object is made');
    }
    else {
        is_deeply([keys %$copy], ['k'], 'the hash has one key');
        is($copy->{k}{x}, 2, 'the last value is kept');
        is($Point::destroyed, 1, 'the first object is destroyed');
    }
});

# --- code -------------------------------------------------------------------

both_storable('code is refused' => sub {
    my ($m) = @_;
    for my $how (@ways, 'store') {
        my $error = $m->dies(sub { $how eq 'store' ? $m->store([sub { 1 }], scratch('code')) : $m->$how([sub { 1 }]) });
        like($error, qr/^Can't store CODE items/, $how);
    }
    ok(!-e scratch('code'), 'a failed store leaves no file');
    for my $other (['globs', \*STDOUT, 'GLOB'], ['handles', *STDOUT{IO}, 'IO'], ['formats', undef, 'FORMAT'], ['substr', \substr('abc', 1, 1), '']) {
        my ($name, $data, $type) = @$other;
        next unless defined $data && $type;
        like($m->dies(sub { $m->freeze([$data]) }), qr/^Can't store $type items/, $name);
    }
});

both_storable('$forgive_me' => sub {
    my ($m) = @_;
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    my $data = [1, sub { 1 }, \*STDOUT, 4];
    my $bytes;
    $m->with({ forgive_me => 1 }, sub { $bytes = $m->freeze($data) });
    like($warnings[0], qr/^Can't store item CODE/, '$forgive_me warns about code');
    like($warnings[1], qr/^Can't store item GLOB/, '$forgive_me warns about a glob');
    is(@warnings, 2, '$forgive_me warns about nothing else');
    my $copy = $m->thaw($bytes);
    is("$copy->[0] $copy->[3]", '1 4', '$forgive_me keeps the other values');
    like(${ $copy->[1] }, qr/^You lost CODE\(0x[0-9a-f]+\)$/, '$forgive_me writes a string instead of code');
    @warnings = ();
    $m->with({ forgive_me => undef }, sub { like($m->dies(sub { $m->freeze($data) }), qr/^Can't store CODE/, 'undef turns $forgive_me off') });
});

both_storable('$Deparse and $Eval' => sub {
    my ($m) = @_;
    my $bytes;
    $m->with({ Deparse => 1 }, sub { $bytes = $m->freeze([sub { my ($x) = @_; return $x * 2 + 1 }, 'after']) });
    ok($bytes, '$Deparse freezes code as text');
    like($bytes, qr/return .x \* 2 \+ 1/, 'the image contains the source of the code');
    like($m->dies(sub { $m->thaw($bytes) }), qr/^Can't eval, please set \$Storable::Eval to a true value/, 'code is not evaluated by default');
    my $copy;
    $m->with({ Eval => 1 }, sub { $copy = $m->thaw($bytes) });
    is($copy->[0]->(20), 41, '$Eval makes code of the text');
    is($copy->[1], 'after', 'the value after the code is right');

    my @texts;
    $m->with({ Eval => sub { push @texts, @_; return sub { 'mine' } } }, sub { $copy = $m->thaw($bytes) });
    is($copy->[0]->(), 'mine', 'a function in $Eval makes the code');
    like($texts[0], qr/^\s*sub \{.*return/s, 'the function in $Eval gets the text');

    # With $forgive_me the documentation promises the text of the code; the original refuses
    # anyway.
    my $error = $m->with({ forgive_me => 1 }, sub { return $m->dies(sub { $copy = $m->thaw($bytes) }) });
    if ($error) { like($error, qr/^Can't eval/, '$forgive_me does not replace $Eval') }
    else { like(ref $copy->[0] ? ${ $copy->[0] } : $copy->[0], qr/return .x \* 2/, '$forgive_me keeps the text of the code') }

    my $code = sub { 'shared' };
    $m->with({ Deparse => 1, Eval => 1 }, sub {
        $copy = $m->thaw($m->freeze([$code, { c => $code }, 'x', \$code, [1]]));
    });
    is($copy->[0], $copy->[1]{c}, 'shared code stays shared');
    is(${ $copy->[3] }, $copy->[0], 'code shared through a reference stays shared');
    is_deeply($copy->[4], [1], 'a shared value after code stays shared');

    $bytes = "\5\13\2" . pack('N', 1) . "\x04\x1a\x0a" . chr(length 'sub {') . 'sub {';
    $m->with({ Eval => 1 }, sub {
        like($m->dies(sub { $m->thaw($bytes) }), qr/code sub \{ caused an error|syntax error|Missing right curly/, 'invalid code is an error');
    });
    our $ran = 0;
    $bytes = "\5\13\2" . pack('N', 1) . "\x04\x1a\x0a" . chr(length 'BEGIN { $main::ran++ } sub { 1 }') . 'BEGIN { $main::ran++ } sub { 1 }';
    $m->dies(sub { $m->thaw($bytes) });
    is($ran, 0, 'code does not run without $Eval');
});

both_storable('blessed code' => sub {
    my ($m) = @_;
    $m->set(Deparse => 1, Eval => 1);
    my $copy = $m->thaw($m->freeze(bless sub { 'blessed' }, 'Code::Object'));
    is($copy->(), 'blessed', 'blessed code runs');
    is(reftype $copy, 'CODE', 'blessed code is code');
    # The original loses its class.
    like(ref $copy, $m->ours ? qr/^Code(?:::Object)?$/i : qr/^CODE$/, 'blessed code has its class or none');
});

done_testing;
