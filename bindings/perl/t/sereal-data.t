# The parts of perl's data that Sereal keeps: sharing, aliases, weak references, ties, magic,
# objects, regular expressions; and FREEZE and THAW.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Config;
BEGIN { if ($Config{useithreads} && !$ENV{ICECORE_TEST_NO_THREADS}) { require threads; threads->import } }

use POSIX ();
use Test::More;
use Scalar::Util qw(isweak refaddr reftype weaken);
use Both;
use Classes;
use Same;
use Structures;

our @calls;
our $m;

sub again { my ($m, $data, @options) = @_; $m->decode($m->encode($data, @options), {}, my $into); return $into }
sub aliases { return \@_ }

both_sereal('sharing and cycles' => sub {
    my ($m) = @_;
    my $x    = [1];
    my $copy = again($m, [$x, { x => $x }, \$x]);
    is($copy->[0], $copy->[1]{x}, 'what is shared stays shared');
    is(${ $copy->[2] }, $copy->[0], 'behind a reference');
    my $y = {};
    $y->{self} = $y;
    $copy = again($m, $y);
    is($copy->{self}, $copy, 'a hash in itself');
    my $z;
    $z = \$z;
    $copy = again($m, [$z]);
    is(refaddr ${ $copy->[0] }, refaddr $copy->[0], 'a scalar that refers to itself');
    my @list = (1, 2);
    push @list, \$list[0];
    $copy = again($m, \@list);
    ${ $copy->[2] } = 'new';
    is($copy->[0], 'new', 'a reference to an element');
    my %hash = (a => 1);
    $copy = again($m, [\$hash{a}, \%hash]);
    ${ $copy->[0] } = 'new';
    is($copy->[1]{a}, 'new', 'to a value');
    $copy = again($m, [[1], [1], 'same', 'same']);
    isnt($copy->[0], $copy->[1], 'what is equal is not shared');
});

both_sereal('aliases' => sub {
    my ($m) = @_;
    my $x = 'a string';
    my $copy = again($m, aliases($x, $x, 'other', \$x));
    $copy->[0] = 'new';
    is($copy->[1], 'new', 'one variable twice in an array');
    is(${ $copy->[3] }, 'new', 'and behind a reference');
    is($copy->[2], 'other', 'another one');
    $copy = again($m, [\$x, \$x]);
    is($copy->[0], $copy->[1], 'two references to one scalar');
    my ($y, $z) = (3, [1]);
    $copy = again($m, aliases($y, $y, $z, $z));
    is(\$copy->[0], \$copy->[1], 'a small number');
    is(\$copy->[2], \$copy->[3], 'a reference');
    $copy = again($m, [aliases($x), aliases($x)]);
    is(\$copy->[0][0], \$copy->[1][0], 'in two arrays');
    $copy = again($m, aliases(1, 1, 'a', 'a'));
    isnt(\$copy->[0], \$copy->[1], 'constants that are equal are not one');
});

both_sereal('weak references' => sub {
    my ($m) = @_;
    my $parent = { name => 'p' };
    $parent->{child} = { parent => $parent };
    weaken($parent->{child}{parent});
    my $copy = again($m, $parent);
    ok(isweak($copy->{child}{parent}), 'a child knows its parent weakly');
    is($copy->{child}{parent}, $copy, 'the right one');
    my $x    = [1];
    my @list = ($x, $x);
    weaken($list[0]);
    $copy = again($m, \@list);
    ok(isweak($copy->[0]) && !isweak($copy->[1]), 'the weak one first');
    is($copy->[0], $copy->[1], 'the same array');
    my %hash = (a => $x, b => $x, c => $x);
    weaken($hash{$_}) for 'a', 'c';
    $copy = again($m, \%hash);
    is(join(' ', map { isweak($copy->{$_}) ? 1 : 0 } qw(a b c)), '1 0 1', 'in a hash');
    @list = ($x, 'after');
    weaken($list[0]);
    $copy = again($m, \@list);
    is_deeply($copy, [[1], 'after'], 'what only weak references hold is kept');
    ok(!isweak($copy->[0]), 'by a strong one');
    my $money = Structures::money(5);
    @list = ($money, $money);
    weaken($list[1]);
    is('' . again($m, \@list)->[1], '5 EUR', 'to an object');
});

both_sereal('objects' => sub {
    my ($m) = @_;
    my $copy = again($m, [bless({ a => 1 }, 'A'), bless([1], 'B'), bless(\(my $x = 'x'), 'C'), bless(\\'y', 'D'), bless({}, 'A')]);
    is(join(' ', map { ref } @$copy), 'A B C D A', 'classes');
    is(join(' ', map { reftype $_ } @$copy), 'HASH ARRAY SCALAR REF HASH', 'bodies');
    my $shared = bless {}, 'Shared';
    $copy = again($m, [$shared, [$shared]]);
    is($copy->[0], $copy->[1][0], 'a shared one');
    is('' . again($m, [Structures::money(7)])->[0], '7 EUR', 'overloading works');
    for my $class ('main', 'A' x 300, "Caf\xe9", "\x{263a}", 'not a class', '0') {
        is(ref again($m, [bless {}, $class])->[0], $class, 'class ' . Structures::text($class) =~ s/[^ -~]/?/gr);
    }
    $copy = again($m, [map { bless [], 'Class' . $_ % 200 } 1 .. 500]);
    is_deeply([map { ref } @$copy], [map { 'Class' . $_ % 200 } 1 .. 500], 'hundreds of classes');
    {
        package Counted::Sereal;
        our $destroyed;
        sub DESTROY { $destroyed++; return }
    }
    my $bytes = $m->encode([map { bless { n => $_ }, 'Counted::Sereal' } 1 .. 5]);
    $Counted::Sereal::destroyed = 0;
    { my $read = $m->decode($bytes); }
    is($Counted::Sereal::destroyed, 5, 'are destroyed as often as they are made');
});

both_sereal('regular expressions' => sub {
    my ($m) = @_;
    my $copy = again($m, [qr/a+b/i, qr/^(?<year>\d+)$/mx, qr/\x{263a}/, qr/caf\xe9/, qr//]);
    like('xAAB', $copy->[0], 'match');
    is_deeply([map { "$_" } @$copy], [map { "$_" } qr/a+b/i, qr/^(?<year>\d+)$/mx, qr/\x{263a}/, qr/caf\xe9/, qr//], 'and print as before');
    my $regexp = qr/x/;
    $copy = again($m, [$regexp, $regexp]);
    is(refaddr $copy->[0], refaddr $copy->[1], 'a shared one');
    $copy = again($m, bless qr/x/, 'My::Regexp');
    is(ref $copy, 'My::Regexp', 'in another class');
    ok('x' =~ $copy, 'still matches');
    my $bytes = $m->encode([qr/abc/]);
    substr($bytes, index($bytes, 'abc'), 3) = '(((';
    like($m->dies(sub { $m->decode($bytes) }), qr/./, 'a pattern that is none is an error');
});

both_sereal('ties' => sub {
    my ($m) = @_;
    my $copy = again($m, [Structures::tied_hash(a => 1, b => [2]), Structures::tied_array('x', 'y')]);
    is_deeply($copy, [{ a => 1, b => [2] }, ['x', 'y']], 'what they give is written');
    ok(!tied %{ $copy->[0] } && !tied @{ $copy->[1] }, 'into ordinary variables');
    is(${ again($m, Structures::tied_scalar('v')) }, 'v', 'a tied scalar');
    is(again($m, { x => ${ Structures::tied_scalar('v') } })->{x}, 'v', 'its value');
    is_deeply(again($m, Structures::tied_hash(map { ($_ => $_) } 1 .. 40), { sort_keys => 1 }), { map { ($_ => $_) } 1 .. 40 }, 'sorted');
    is_deeply(again($m, [Structures::tied_hash(), Structures::tied_array()]), [{}, []], 'empty ones');
    {
        package Dying::Tie;
        sub TIEHASH  { return bless {}, shift }
        sub FIRSTKEY { return 'a' }
        sub NEXTKEY  { return }
        sub FETCH    { die "no such thing\n" }
    }
    tie my %dies, 'Dying::Tie';
    like($m->dies(sub { $m->encode([[1], \%dies]) }), qr/^no such thing/, 'a tie may die');
    is_deeply(again($m, [1]), [1], 'the next call is fine');
});

both_sereal('magic' => sub {
    my ($m) = @_;
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is_deeply(again($m, [$1, $2, $&]), ['key', 'value', 'key=value'], 'what a pattern found');
    my $encode = sub { return $m->decode($m->encode(\@_)) };
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is_deeply($encode->($1, $2), ['key', 'value'], 'itself, in @_');
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is($m->decode($m->encode($1)), 'key', 'as the root');
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is(${ again($m, \$2) }, 'value', 'behind a reference');
    local $ENV{ICECORE_TEST} = 'environment';
    is(again($m, \%ENV)->{ICECORE_TEST}, 'environment', '%ENV');
    my $text = 'abcdef';
    pos($text) = 3;
    is(again($m, [$text])->[0], 'abcdef', 'a string with a position');
    is(pos $text, 3, 'which stays');
    is(${ again($m, [\substr($text, 1, 3)])->[0] }, 'bcd', 'a part of a string');
    is(again($m, [v1.2.3])->[0], "\1\2\3", 'a v-string is its string');
    my @array = (1, 2, 3);
    is_deeply(again($m, [$#array, scalar(@array)]), [2, 3], '$#array');
    local $! = 2;
    ok(again($m, [$!])->[0], '$!');
});

both_sereal('holes' => sub {
    my ($m) = @_;
    my @array;
    $array[3] = 'x';
    my $copy = again($m, \@array);
    is_deeply($copy, [undef, undef, undef, 'x'], 'are undef');
    $copy->[1] = 5;
    is($copy->[1], 5, 'that can be written') if $m->ours;
});

both_sereal('restricted hashes' => sub {
    my ($m) = @_;
    my %hash = (a => 1);
    Hash::Util::lock_keys(%hash, qw(a b));
    my $copy = again($m, \%hash);
    is_deeply($copy, { a => 1 }, 'are ordinary ones');
    $copy->{c} = 3;
    is($copy->{c}, 3, 'with any key');
});

both_sereal('encoding leaves the data as it is' => sub {
    my ($m) = @_;
    my $make = sub { return [1, 2.5, '3', 'x', undef, -7, 1e20, { a => '5', b => 6 }, \'s', qr/x/, bless([1], 'A')] };
    for my $options ({}, { canonical => 1 }, { dedupe_strings => 1 }, { freeze_callbacks => 1 }) {
        my $data = $make->();
        $m->encode($data, $options);
        same_ok($data, $make->(), join(' ', 'with', %$options), strict => 1);
    }
});

# --- FREEZE and THAW --------------------------------------------------------

{
    package Cold::Told;
    sub FREEZE { my ($self, @rest) = @_; push @main::calls, ['FREEZE', ref $self, @rest]; return @{ $self->{list} } }
    sub THAW   { my ($class, @rest) = @_; push @main::calls, ['THAW', $class, @rest]; return bless { list => [@rest[1 .. $#rest]] }, $class }
}

both_sereal('what FREEZE and THAW are told' => sub {
    my ($m) = @_;
    my $object = bless { list => [1, 'two', [3]] }, 'Cold::Told';
    @calls = ();
    my $bytes = $m->encode([$object], { freeze_callbacks => 1 });
    is_deeply(\@calls, [['FREEZE', 'Cold::Told', 'Sereal']], 'the object, and who asks');
    @calls = ();
    my $copy = $m->decode($bytes);
    is_deeply(\@calls, [['THAW', 'Cold::Told', 'Sereal', 1, 'two', [3]]], 'the class, who asks, and what FREEZE returned');
    is_deeply($copy->[0]{list}, [1, 'two', [3]], 'what THAW returns is the value');
    is_deeply($m->decode($m->encode($object))->{list}, [1, 'two', [3]], 'nobody is asked without freeze_callbacks');
    @calls = ();
    $m->encode([$object]);
    is(@calls, 0, 'not even FREEZE');
    @calls = ();
    $copy = $m->decode($m->encode([$object, $object, { o => $object }], { freeze_callbacks => 1 }));
    is(join(' ', map { $_->[0] } @calls), 'FREEZE THAW', 'a shared object is asked once');
    is($copy->[0], $copy->[1], 'and is one object');
    is($copy->[0], $copy->[2]{o}, 'everywhere');
    $copy = $m->decode($m->encode(bless({ list => [] }, 'Cold::Told'), { freeze_callbacks => 1 }));
    is_deeply($copy->{list}, [], 'an empty list');
    $copy = $m->decode($m->encode([bless({ a => 1 }, 'No::Callbacks'), $object], { freeze_callbacks => 1 }));
    is(ref $copy->[0], 'No::Callbacks', 'a class without FREEZE is an ordinary object');
});

both_sereal('objects inside frozen objects' => sub {
    my ($m) = @_;
    my $plain = bless { p => 1 }, 'Plain';
    my $copy  = $m->decode($m->encode(Cold::Value->new([$plain, Cold::Value->new('inner')]), { freeze_callbacks => 1 }));
    is(ref $copy->{value}[0], 'Plain', 'an ordinary one');
    is(ref $copy->{value}[1], 'Cold::Value', 'a frozen one');
    is($copy->{value}[1]{value}, 'inner', 'is thawed');
    my $shared = Cold::Value->new('shared');
    $copy = $m->decode($m->encode([$shared, Cold::Value->new([$shared])], { freeze_callbacks => 1 }));
    is($copy->[1]{value}[0], $copy->[0], 'and shared with the rest');
});

# The original passes the result of the inner FREEZE to the outer THAW.
our_sereal('an object that FREEZE returns directly' => sub {
    my ($m) = @_;
    my $copy = $m->decode($m->encode(Cold::Value->new(Cold::Value->new(1)), { freeze_callbacks => 1 }));
    ok(ref $copy->{value} eq 'Cold::Value' || ref $copy->{value} eq 'ARRAY', 'comes back thawed, or as the original has it');
});

both_sereal('callbacks that die or do something else' => sub {
    local $m = $_[0];
    {
        package Cold::Dies;
        our ($freeze, $thaw);
        sub FREEZE { die $freeze if $freeze; return 1 }
        sub THAW   { die $thaw if $thaw; return bless {}, shift }
        package Cold::Reenters;
        sub FREEZE { my ($self) = @_; return $main::m->encode($self->{inside}, { freeze_callbacks => 1 }) }
        sub THAW   { my ($class, undef, $text) = @_; return bless { inside => $main::m->decode($text) }, $class }
        package Cold::Other;
        sub FREEZE { return 'x' }
        sub THAW   { return $Cold::Other::gives->() }
    }
    my $object = bless {}, 'Cold::Dies';
    my $encoder = $m->encoder({ freeze_callbacks => 1 });
    my $bytes   = $encoder->encode([$object]);
    my $decoder = $m->decoder;
    {
        local $Cold::Dies::freeze = "not frozen\n";
        like($m->dies(sub { $encoder->encode([[1], $object]) }), qr/^not frozen/, 'FREEZE');
        local $Cold::Dies::thaw = "not thawed\n";
        like($m->dies(sub { $decoder->decode($bytes) }), qr/^not thawed/, 'THAW');
    }
    is_deeply([map { ref } @{ $decoder->decode($encoder->encode([$object, [1]])) }], ['Cold::Dies', 'ARRAY'], 'the next call is fine');

    my $shared = [1];
    my $data   = [$shared, bless({ inside => { list => [1 .. 3], deep => bless({ inside => 'x' }, 'Cold::Reenters') } }, 'Cold::Reenters'), 'after', $shared];
    my $copy   = $decoder->decode($encoder->encode($data));
    is($copy->[2], 'after', 'who encodes in FREEZE disturbs nobody');
    is($copy->[0], $copy->[3], 'sharing is right');
    is_deeply($copy->[1]{inside}{list}, [1 .. 3], 'the inner document');
    is($copy->[1]{inside}{deep}{inside}, 'x', 'and the one in that');

    for my $gives (['a string', sub { 'plain' }], ['an array', sub { [1] }], ['another class', sub { bless {}, 'Another' }]) {
        local $Cold::Other::gives = $gives->[1];
        my $read;
        my $error = $m->dies(sub { $read = $m->decode($m->encode([bless {}, 'Cold::Other'], { freeze_callbacks => 1 })) });
        ok($error || defined $read->[0], "THAW may give $gives->[0], or that is an error");
    }
});

both_sereal('THAW is left out' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([bless({ list => [1, 2] }, 'Cold::Told')], { freeze_callbacks => 1 });
    @calls = ();
    my $copy = $m->decode($bytes, { no_thaw_objects => 1 });
    is(@calls, 0, 'with no_thaw_objects');
    is_deeply([@{ $copy->[0] }[0, 1]], [1, 2], 'what FREEZE returned is there');
    substr($bytes, index($bytes, 'Cold::Told'), 10) = 'Cold::None';
    like($m->dies(sub { $m->decode($bytes) }), qr/Cold::None/, 'a class without THAW is an error');
    my @loaded;
    local @INC = (sub { push @loaded, $_[1]; return }, @INC);
    $m->dies(sub { $m->decode($bytes) });
    is("@loaded", '', 'and is not looked for');
});

# --- processes, threads, memory ---------------------------------------------

both_sereal('many calls take no more memory' => sub {
    my ($m) = @_;
    my $data = [map { { id => $_, tags => ['a', 'b'], o => bless({ x => [1] }, 'P'), c => Cold::Value->new(1) } } 1 .. 20];
    my $memory = sub { open my $statm, '<', '/proc/self/statm' or return; return (split ' ', <$statm>)[1] * 4096 };
    plan(skip_all => 'memory is not known') unless $memory->();
    my ($encoder, $decoder) = ($m->encoder({ freeze_callbacks => 1 }), $m->decoder);
    my $round = sub {
        for (1 .. 300) {
            my $bytes = $encoder->encode($data);
            $decoder->decode($bytes);
            $m->decode($m->encode($data, { sort_keys => 1 }));
            eval { $encoder->encode([$data, sub { 1 }]) };
            eval { $decoder->decode('text') };
        }
    };
    $round->();
    my $before = $memory->();
    $round->() for 1 .. 4;
    cmp_ok($memory->() - $before, '<', 2 << 20, 'of 1,200 rounds');
});

both_sereal('threads' => sub {
    my ($m) = @_;
    plan(skip_all => 'this perl has no threads') unless $INC{'threads.pm'};
    my ($encoder, $decoder) = ($m->encoder, $m->decoder);
    my $bytes = $encoder->encode({ n => 0, list => [1 .. 100], object => bless({ a => 1 }, 'P') });
    my @threads = map {
        my $number = $_;
        threads->create(sub {
            my ($mine, $yours) = ($m->encoder, $m->decoder);
            for (1 .. 50) {
                my $copy = $yours->decode($bytes);
                $copy->{n} = $number;
                $copy = $yours->decode($mine->encode($copy));
                return "wrong in $number" unless $copy->{n} == $number && @{ $copy->{list} } == 100 && ref $copy->{object} eq 'P';
            }
            return 'fine';
        });
    } 1 .. 4;
    is_deeply([map { $_->join } @threads], [('fine') x 4], 'four at once');
    is($decoder->decode($encoder->encode([5]))->[0], 5, 'afterwards all is well');
    my $inherited = threads->create(sub { return eval { $encoder->encode([1]); 1 } ? 'works' : 'is refused' })->join;
    like($inherited, qr/^(?:works|is refused)$/, 'an encoder of another thread');
});

both_sereal('a process that forks' => sub {
    my ($m) = @_;
    my ($encoder, $decoder) = ($m->encoder, $m->decoder);
    $decoder->decode($encoder->encode([1, { a => 2 }]));
    pipe my $in, my $out or die $!;
    binmode $_ for $in, $out;
    my $child = fork;
    plan(skip_all => 'no fork') unless defined $child;
    if (!$child) {
        print {$out} $encoder->encode({ from => 'child' });
        close $out;
        POSIX::_exit(0);
    }
    close $out;
    my $bytes = do { local $/; <$in> };
    waitpid $child, 0;
    is($decoder->decode($bytes)->{from}, 'child', 'both go on');
    is_deeply($decoder->decode($encoder->encode([2])), [2], 'the parent too');
});

done_testing;
