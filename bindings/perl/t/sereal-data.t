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

sub round_trip { my ($m, $data, @options) = @_; $m->decode($m->encode($data, @options), {}, my $into); return $into }
sub aliases { return \@_ }

both_sereal('sharing and cycles' => sub {
    my ($m) = @_;
    my $x    = [1];
    my $copy = round_trip($m, [$x, { x => $x }, \$x]);
    is($copy->[0], $copy->[1]{x}, 'a shared value stays shared');
    is(${ $copy->[2] }, $copy->[0], 'a shared value through a reference stays shared');
    my $y = {};
    $y->{self} = $y;
    $copy = round_trip($m, $y);
    is($copy->{self}, $copy, 'a hash in itself is read back');
    my $z;
    $z = \$z;
    $copy = round_trip($m, [$z]);
    is(refaddr ${ $copy->[0] }, refaddr $copy->[0], 'a scalar that refers to itself is read back');
    my @list = (1, 2);
    push @list, \$list[0];
    $copy = round_trip($m, \@list);
    ${ $copy->[2] } = 'new';
    is($copy->[0], 'new', 'a reference to an item of an array still refers to it');
    my %hash = (a => 1);
    $copy = round_trip($m, [\$hash{a}, \%hash]);
    ${ $copy->[0] } = 'new';
    is($copy->[1]{a}, 'new', 'a reference to a value of a hash still refers to it');
    $copy = round_trip($m, [[1], [1], 'same', 'same']);
    isnt($copy->[0], $copy->[1], 'equal values are not shared');
});

both_sereal('aliases' => sub {
    my ($m) = @_;
    my $x = 'a string';
    my $copy = round_trip($m, aliases($x, $x, 'other', \$x));
    $copy->[0] = 'new';
    is($copy->[1], 'new', 'an alias of an item stays an alias');
    is(${ $copy->[3] }, 'new', 'a reference to an aliased item refers to it');
    is($copy->[2], 'other', 'an item that is not aliased stays separate');
    $copy = round_trip($m, [\$x, \$x]);
    is($copy->[0], $copy->[1], 'two references to one scalar stay equal');
    my ($y, $z) = (3, [1]);
    $copy = round_trip($m, aliases($y, $y, $z, $z));
    is(\$copy->[0], \$copy->[1], 'an alias of a small number stays an alias');
    is(\$copy->[2], \$copy->[3], 'an alias of a reference stays an alias');
    $copy = round_trip($m, [aliases($x), aliases($x)]);
    is(\$copy->[0][0], \$copy->[1][0], 'an alias in another array stays an alias');
    $copy = round_trip($m, aliases(1, 1, 'a', 'a'));
    isnt(\$copy->[0], \$copy->[1], 'equal constants do not become aliases');
});

both_sereal('weak references' => sub {
    my ($m) = @_;
    my $parent = { name => 'p' };
    $parent->{child} = { parent => $parent };
    weaken($parent->{child}{parent});
    my $copy = round_trip($m, $parent);
    ok(isweak($copy->{child}{parent}), 'a weak reference to the parent stays weak');
    is($copy->{child}{parent}, $copy, 'the weak reference leads to the parent');
    my $x    = [1];
    my @list = ($x, $x);
    weaken($list[0]);
    $copy = round_trip($m, \@list);
    ok(isweak($copy->[0]) && !isweak($copy->[1]), 'a weak reference before a strong one stays weak');
    is($copy->[0], $copy->[1], 'both references lead to the same array');
    my %hash = (a => $x, b => $x, c => $x);
    weaken($hash{$_}) for 'a', 'c';
    $copy = round_trip($m, \%hash);
    is(join(' ', map { isweak($copy->{$_}) ? 1 : 0 } qw(a b c)), '1 0 1', 'weak references in a hash stay weak');
    @list = ($x, 'after');
    weaken($list[0]);
    $copy = round_trip($m, \@list);
    is_deeply($copy, [[1], 'after'], 'a value with only weak references is kept');
    ok(!isweak($copy->[0]), 'the kept value has a strong reference');
    my $money = Structures::money(5);
    @list = ($money, $money);
    weaken($list[1]);
    is('' . round_trip($m, \@list)->[1], '5 EUR', 'a weak reference to an object with overloading works');
});

both_sereal('objects' => sub {
    my ($m) = @_;
    my $copy = round_trip($m, [bless({ a => 1 }, 'A'), bless([1], 'B'), bless(\(my $x = 'x'), 'C'), bless(\\'y', 'D'), bless({}, 'A')]);
    is(join(' ', map { ref } @$copy), 'A B C D A', 'objects have their classes');
    is(join(' ', map { reftype $_ } @$copy), 'HASH ARRAY SCALAR REF HASH', 'objects have the types of their bodies');
    my $shared = bless {}, 'Shared';
    $copy = round_trip($m, [$shared, [$shared]]);
    is($copy->[0], $copy->[1][0], 'a shared object stays shared');
    is('' . round_trip($m, [Structures::money(7)])->[0], '7 EUR', 'overloading works');
    for my $class ('main', 'A' x 300, "Caf\xe9", "\x{263a}", 'not a class', '0') {
        is(ref round_trip($m, [bless {}, $class])->[0], $class, 'class ' . Structures::text($class) =~ s/[^ -~]/?/gr);
    }
    $copy = round_trip($m, [map { bless [], 'Class' . $_ % 200 } 1 .. 500]);
    is_deeply([map { ref } @$copy], [map { 'Class' . $_ % 200 } 1 .. 500], 'objects of hundreds of classes are read back');
    {
        package Counted::Sereal;
        our $destroyed;
        sub DESTROY { $destroyed++; return }
    }
    my $bytes = $m->encode([map { bless { n => $_ }, 'Counted::Sereal' } 1 .. 5]);
    $Counted::Sereal::destroyed = 0;
    { my $read = $m->decode($bytes); }
    is($Counted::Sereal::destroyed, 5, 'each object is destroyed once');
});

both_sereal('regular expressions' => sub {
    my ($m) = @_;
    my $copy = round_trip($m, [qr/a+b/i, qr/^(?<year>\d+)$/mx, qr/\x{263a}/, qr/caf\xe9/, qr//]);
    like('xAAB', $copy->[0], 'regexps match');
    is_deeply([map { "$_" } @$copy], [map { "$_" } qr/a+b/i, qr/^(?<year>\d+)$/mx, qr/\x{263a}/, qr/caf\xe9/, qr//], 'regexps print as before');
    my $regexp = qr/x/;
    $copy = round_trip($m, [$regexp, $regexp]);
    is(refaddr $copy->[0], refaddr $copy->[1], 'a shared regexp stays shared');
    $copy = round_trip($m, bless qr/x/, 'My::Regexp');
    is(ref $copy, 'My::Regexp', 'a regexp keeps its class');
    ok('x' =~ $copy, 'a regexp of another class matches');
    my $bytes = $m->encode([qr/abc/]);
    substr($bytes, index($bytes, 'abc'), 3) = '(((';
    like($m->dies(sub { $m->decode($bytes) }), qr/./, 'an invalid pattern is refused');
});

both_sereal('ties' => sub {
    my ($m) = @_;
    my $copy = round_trip($m, [Structures::tied_hash(a => 1, b => [2]), Structures::tied_array('x', 'y')]);
    is_deeply($copy, [{ a => 1, b => [2] }, ['x', 'y']], 'the values of tied variables are written');
    ok(!tied %{ $copy->[0] } && !tied @{ $copy->[1] }, 'the copies are ordinary variables');
    is(${ round_trip($m, Structures::tied_scalar('v')) }, 'v', 'the value of a tied scalar is written');
    is(round_trip($m, { x => ${ Structures::tied_scalar('v') } })->{x}, 'v', 'the value of a tied scalar in a hash is written');
    is_deeply(round_trip($m, Structures::tied_hash(map { ($_ => $_) } 1 .. 40), { sort_keys => 1 }), { map { ($_ => $_) } 1 .. 40 }, 'a tied hash is written with sorted keys');
    is_deeply(round_trip($m, [Structures::tied_hash(), Structures::tied_array()]), [{}, []], 'empty tied variables are written');
    {
        package Dying::Tie;
        sub TIEHASH  { return bless {}, shift }
        sub FIRSTKEY { return 'a' }
        sub NEXTKEY  { return }
        sub FETCH    { die "no such thing\n" }
    }
    tie my %dies, 'Dying::Tie';
    like($m->dies(sub { $m->encode([[1], \%dies]) }), qr/^no such thing/, 'the error of a tie is passed on');
    is_deeply(round_trip($m, [1]), [1], 'the next call works');
});

both_sereal('magic' => sub {
    my ($m) = @_;
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is_deeply(round_trip($m, [$1, $2, $&]), ['key', 'value', 'key=value'], 'captures of a match are written');
    my $encode = sub { return $m->decode($m->encode(\@_)) };
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is_deeply($encode->($1, $2), ['key', 'value'], 'captures in @_ are written');
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is($m->decode($m->encode($1)), 'key', 'a capture as the root is written');
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is(${ round_trip($m, \$2) }, 'value', 'a reference to a capture is written');
    local $ENV{ICECORE_TEST} = 'environment';
    is(round_trip($m, \%ENV)->{ICECORE_TEST}, 'environment', '%ENV is written');
    my $text = 'abcdef';
    pos($text) = 3;
    is(round_trip($m, [$text])->[0], 'abcdef', 'a string with a position is written');
    is(pos $text, 3, 'the position stays');
    is(${ round_trip($m, [\substr($text, 1, 3)])->[0] }, 'bcd', 'a reference to a substring is written');
    is(round_trip($m, [v1.2.3])->[0], "\1\2\3", 'a v-string is written as its string');
    my @array = (1, 2, 3);
    is_deeply(round_trip($m, [$#array, scalar(@array)]), [2, 3], '$#array is written');
    local $! = 2;
    ok(round_trip($m, [$!])->[0], '$! is written');
});

both_sereal('holes' => sub {
    my ($m) = @_;
    my @array;
    $array[3] = 'x';
    my $copy = round_trip($m, \@array);
    is_deeply($copy, [undef, undef, undef, 'x'], 'missing items become undef');
    $copy->[1] = 5;
    is($copy->[1], 5, 'such an item can be assigned to') if $m->ours;
});

both_sereal('restricted hashes' => sub {
    my ($m) = @_;
    my %hash = (a => 1);
    Hash::Util::lock_keys(%hash, qw(a b));
    my $copy = round_trip($m, \%hash);
    is_deeply($copy, { a => 1 }, 'restricted hashes become ordinary ones');
    $copy->{c} = 3;
    is($copy->{c}, 3, 'any key can be added');
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
    package Cold::Args;
    sub FREEZE { my ($self, @rest) = @_; push @main::calls, ['FREEZE', ref $self, @rest]; return @{ $self->{list} } }
    sub THAW   { my ($class, @rest) = @_; push @main::calls, ['THAW', $class, @rest]; return bless { list => [@rest[1 .. $#rest]] }, $class }
}

both_sereal('the arguments of FREEZE and THAW' => sub {
    my ($m) = @_;
    my $object = bless { list => [1, 'two', [3]] }, 'Cold::Args';
    @calls = ();
    my $bytes = $m->encode([$object], { freeze_callbacks => 1 });
    is_deeply(\@calls, [['FREEZE', 'Cold::Args', 'Sereal']], 'FREEZE gets the object and the format');
    @calls = ();
    my $copy = $m->decode($bytes);
    is_deeply(\@calls, [['THAW', 'Cold::Args', 'Sereal', 1, 'two', [3]]], 'THAW gets the class, the format and what FREEZE returned');
    is_deeply($copy->[0]{list}, [1, 'two', [3]], 'the result of THAW is the value');
    is_deeply($m->decode($m->encode($object))->{list}, [1, 'two', [3]], 'without freeze_callbacks the object is written as it is');
    @calls = ();
    $m->encode([$object]);
    is(@calls, 0, 'without freeze_callbacks FREEZE is not called');
    @calls = ();
    $copy = $m->decode($m->encode([$object, $object, { o => $object }], { freeze_callbacks => 1 }));
    is(join(' ', map { $_->[0] } @calls), 'FREEZE THAW', 'FREEZE and THAW are called once for a shared object');
    is($copy->[0], $copy->[1], 'a shared object stays shared');
    is($copy->[0], $copy->[2]{o}, 'a shared object in a hash stays shared');
    $copy = $m->decode($m->encode(bless({ list => [] }, 'Cold::Args'), { freeze_callbacks => 1 }));
    is_deeply($copy->{list}, [], 'FREEZE may return an empty list');
    $copy = $m->decode($m->encode([bless({ a => 1 }, 'No::Callbacks'), $object], { freeze_callbacks => 1 }));
    is(ref $copy->[0], 'No::Callbacks', 'an object without FREEZE is written as it is');
});

both_sereal('objects inside frozen objects' => sub {
    my ($m) = @_;
    my $plain = bless { p => 1 }, 'Plain';
    my $copy  = $m->decode($m->encode(Cold::Value->new([$plain, Cold::Value->new('inner')]), { freeze_callbacks => 1 }));
    is(ref $copy->{value}[0], 'Plain', 'an object without FREEZE in the list is written as it is');
    is(ref $copy->{value}[1], 'Cold::Value', 'an object with FREEZE in the list is frozen');
    is($copy->{value}[1]{value}, 'inner', 'the inner object is thawed');
    my $shared = Cold::Value->new('shared');
    $copy = $m->decode($m->encode([$shared, Cold::Value->new([$shared])], { freeze_callbacks => 1 }));
    is($copy->[1]{value}[0], $copy->[0], 'the inner object is shared with the rest of the data');
});

# The original passes the result of the inner FREEZE to the outer THAW.
our_sereal('an object that FREEZE returns' => sub {
    my ($m) = @_;
    my $copy = $m->decode($m->encode(Cold::Value->new(Cold::Value->new(1)), { freeze_callbacks => 1 }));
    ok(ref $copy->{value} eq 'Cold::Value' || ref $copy->{value} eq 'ARRAY', 'the object is thawed, or is its payload as in the original');
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
        like($m->dies(sub { $encoder->encode([[1], $object]) }), qr/^not frozen/, 'the error of FREEZE is passed on');
        local $Cold::Dies::thaw = "not thawed\n";
        like($m->dies(sub { $decoder->decode($bytes) }), qr/^not thawed/, 'the error of THAW is passed on');
    }
    is_deeply([map { ref } @{ $decoder->decode($encoder->encode([$object, [1]])) }], ['Cold::Dies', 'ARRAY'], 'the next call works');

    my $shared = [1];
    my $data   = [$shared, bless({ inside => { list => [1 .. 3], deep => bless({ inside => 'x' }, 'Cold::Reenters') } }, 'Cold::Reenters'), 'after', $shared];
    my $copy   = $decoder->decode($encoder->encode($data));
    is($copy->[2], 'after', 'encoding in FREEZE does not disturb the outer call');
    is($copy->[0], $copy->[3], 'sharing in the outer call is kept');
    is_deeply($copy->[1]{inside}{list}, [1 .. 3], 'the document of the inner call is right');
    is($copy->[1]{inside}{deep}{inside}, 'x', 'the document of a call in that call is right');

    for my $gives (['a string', sub { 'plain' }], ['an array', sub { [1] }], ['another class', sub { bless {}, 'Another' }]) {
        local $Cold::Other::gives = $gives->[1];
        my $read;
        my $error = $m->dies(sub { $read = $m->decode($m->encode([bless {}, 'Cold::Other'], { freeze_callbacks => 1 })) });
        ok($error || defined $read->[0], "THAW may return $gives->[0], or this is an error");
    }
});

both_sereal('options that skip THAW' => sub {
    my ($m) = @_;
    my $bytes = $m->encode([bless({ list => [1, 2] }, 'Cold::Args')], { freeze_callbacks => 1 });
    @calls = ();
    my $copy = $m->decode($bytes, { no_thaw_objects => 1 });
    is(@calls, 0, 'no_thaw_objects skips THAW');
    is_deeply([@{ $copy->[0] }[0, 1]], [1, 2], 'the object is what FREEZE returned');
    substr($bytes, index($bytes, 'Cold::Args'), 10) = 'Cold::None';
    like($m->dies(sub { $m->decode($bytes) }), qr/Cold::None/, 'a class without THAW is an error');
    my @loaded;
    local @INC = (sub { push @loaded, $_[1]; return }, @INC);
    $m->dies(sub { $m->decode($bytes) });
    is("@loaded", '', 'no module is loaded to find THAW');
});

# --- processes, threads, memory ---------------------------------------------

both_sereal('memory stays constant over many calls' => sub {
    my ($m) = @_;
    my $data = [map { { id => $_, tags => ['a', 'b'], o => bless({ x => [1] }, 'P'), c => Cold::Value->new(1) } } 1 .. 20];
    my $memory = sub { open my $statm, '<', '/proc/self/statm' or return; return (split ' ', <$statm>)[1] * 4096 };
    plan(skip_all => 'the memory of the process is unknown') unless $memory->();
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
    cmp_ok($memory->() - $before, '<', 2 << 20, '1,200 rounds need no more memory');
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
    is_deeply([map { $_->join } @threads], [('fine') x 4], 'four threads work at the same time');
    is($decoder->decode($encoder->encode([5]))->[0], 5, 'the main thread works afterwards');
    my $inherited = threads->create(sub { return eval { $encoder->encode([1]); 1 } ? 'works' : 'is refused' })->join;
    like($inherited, qr/^(?:works|is refused)$/, 'an encoder of another thread works or is refused');
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
    is($decoder->decode($bytes)->{from}, 'child', 'the child process works');
    is_deeply($decoder->decode($encoder->encode([2])), [2], 'the parent process works');
});

done_testing;
