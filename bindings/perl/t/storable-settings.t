# Flags, names, dclone, large structures, threads and forks.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

# Before Test::More, which otherwise would not notice the threads.
use Config;
BEGIN { if ($Config{useithreads} && !$ENV{ICECORE_TEST_NO_THREADS}) { require threads; threads->import } }

use POSIX ();
use Test::More;
use Scalar::Util qw(blessed refaddr);
use Both;
use Classes;
use Same;
use Structures;

both_storable('objects can be left out' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze([bless({ a => 1 }, 'P'), bless([1], 'Q'), bless(\(my $x = 's'), 'R'), qr/x/]);
    for my $flags (0, 4) {
        my $copy = $m->thaw($bytes, $flags);
        is_deeply([map { ref } @$copy], [qw(HASH ARRAY SCALAR Regexp)], "flags of $flags: no class");
        is($copy->[0]{a}, 1, 'but the contents');
    }
    is(ref $m->thaw($bytes, 2)->[0], 'P', 'flags of 2: the class');
    $m->set(flags => 0);
    is(ref $m->thaw($bytes)->[0], 'HASH', '$flags');
    is(ref $m->thaw($bytes, 6)->[0], 'P', 'the flags of a call go first');
    my $file = scratch('flags');
    $m->store([bless {}, 'P'], $file);
    is(ref $m->retrieve($file)->[0], 'HASH', 'for files too');
    is(ref $m->retrieve($file, 6)->[0], 'P', 'and with flags of a call');
    open my $in, '<:raw', $file or die $!;
    is(ref $m->fd_retrieve($in, 0)->[0], 'HASH', 'handles');
});

both_storable('without objects no hook is called' => sub {
    my ($m) = @_;
    our $ran = 0;
    {
        package Runs;
        sub STORABLE_freeze { return ('text', [1]) }
        sub STORABLE_thaw   { $main::ran++; return }
        package Attaches;
        sub STORABLE_freeze { return 'text' }
        sub STORABLE_attach { $main::ran++; return bless {}, 'Attaches' }
    }
    my $bytes = $m->freeze([bless({}, 'Runs'), bless({}, 'Attaches'), 'after']);
    my $copy  = $m->thaw($bytes, 0);
    is($ran, 0, 'neither STORABLE_thaw nor STORABLE_attach');
    is($copy->[2], 'after', 'what comes behind is right');
    is_deeply([map { ref } @$copy[0, 1]], ['HASH', 'HASH'], 'the objects are plain');
    $m->thaw($bytes);
    is($ran, 2, 'otherwise both');
});

both_storable('names' => sub {
    my ($m) = @_;
    no strict 'refs';
    my $package = $m->name;
    is_deeply([sort @{"${package}::EXPORT"}], ['retrieve', 'store'], '@EXPORT');
    my %may = map { ($_ => 1) } @{"${package}::EXPORT_OK"};
    for my $name (qw(nstore store_fd nstore_fd fd_retrieve freeze nfreeze thaw dclone retrieve_fd lock_store lock_nstore
                     lock_retrieve file_magic read_magic BLESS_OK TIE_OK FLAGS_COMPAT stack_depth stack_depth_hash)) {
        ok($may{$name}, "\@EXPORT_OK has $name");
        ok(defined &{"${package}::$name"}, 'which is there');
    }
    is($m->function('BLESS_OK')->(), 2, 'BLESS_OK');
    is($m->function('TIE_OK')->(), 4, 'TIE_OK');
    is($m->function('FLAGS_COMPAT')->(), 6, 'FLAGS_COMPAT');
    is($m->get('flags'), 6, '$flags');
    is($m->get('accept_future_minor'), 1, '$accept_future_minor');
    is($m->get('downgrade_restricted'), 1, '$downgrade_restricted');
    is($m->get($_), undef, "\$$_") for qw(canonical forgive_me Deparse Eval drop_utf8 interwork_56_64bit);

    my $code = "package Importer; use $package qw(freeze thaw dclone nstore); 1";
    ok(eval $code, 'use') or diag($@);
    is_deeply(&{'Importer::thaw'}(&{'Importer::freeze'}([1])), [1], 'what was imported works');
    ok(!defined &{'Importer::store'}, 'and nothing else was');
    ok(eval "package Importer::Default; use $package; 1", 'use without names');
    ok(defined &{'Importer::Default::store'} && defined &{'Importer::Default::retrieve'}, 'gives store and retrieve');
});

both_storable('dclone' => sub {
    my ($m) = @_;
    my $data = {
        list => [1 .. 5], hash => { a => undef }, text => "\x{263a}", code => \'x', object => bless([1], 'P'),
        regexp => qr/x/i, version => v1.2, shared => [], float => 0.1,
    };
    $data->{again} = $data->{shared};
    $data->{self}  = $data;
    my $copy = $m->dclone($data);
    same_ok($copy, $data, 'is the same');
    isnt(refaddr $copy->{list}, refaddr $data->{list}, 'and another');
    is($copy->{float}, 0.1, 'to the last bit');
    push @{ $copy->{list} }, 'new';
    is(@{ $data->{list} }, 5, 'a change is a change of the copy');
    my $array = [1, 2, 3];
    is_deeply($m->dclone(\$array), \[1, 2, 3], 'a reference to a reference');
    my @elements = ([1], { a => [2] });
    is_deeply($m->dclone($elements[1]), { a => [2] }, 'an element');
    is_deeply($m->dclone({ a => [2] }->{a}), [2], 'a value of something temporary');
    my $tied = Structures::tied_hash(a => [1]);
    is_deeply($m->dclone($tied->{a}), [1], 'a value of a tied hash');
    is_deeply([map { $m->dclone($_) } [1], [2]], [[1], [2]], 'in a map');
    my $deep = $m->dclone($m->dclone($m->dclone([[[1]]])));
    is_deeply($deep, [[[1]]], 'of a clone');
});

both_storable('large structures' => sub {
    my ($m) = @_;
    my @cases = (
        ['an array of 100,000', [1 .. 100_000]],
        ['a hash of 30,000', { map { ("key $_" => $_) } 1 .. 30_000 }],
        ['10,000 records', [map { { id => $_, name => "Employee_$_", age => 20 + $_ % 40 } } 1 .. 10_000]],
        ['10,000 objects', [map { bless { id => $_ }, 'Record' } 1 .. 10_000]],
        ['a string of 5 MB', ['x' x 5_000_000, 'after']],
        ['a reference 50,000 times', do { my $x = [1]; [($x) x 50_000] }],
    );
    for my $case (@cases) {
        my ($name, $data) = @$case;
        is_deeply($m->thaw($m->freeze($data)), $data, $name);
    }
});

both_storable('magic values' => sub {
    my ($m) = @_;
    'key=value' =~ /(\w+)=(\w+)/ or die;
    my $copy = $m->thaw($m->freeze([$1, $2, $&]));
    is("@$copy", 'key value key=value', 'copies of what a pattern found');
    'key=value' =~ /(\w+)=(\w+)/ or die;
    $copy = $m->thaw($m->freeze([\$1, \$2]));
    is("${ $copy->[0] } ${ $copy->[1] }", 'key value', 'references to it');
    my $alias = sub { return $m->thaw($m->freeze(\@_)) };
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is_deeply($alias->($1, $2), ['key', 'value'], 'itself, in @_');
    local $ENV{ICECORE_TEST} = 'environment';
    is($m->thaw($m->freeze(\%ENV))->{ICECORE_TEST}, 'environment', '%ENV');
    my $text = 'abcdef';
    pos($text) = 3;
    is($m->thaw($m->freeze([$text]))->[0], 'abcdef', 'a string with a position');
    is(${ $m->thaw($m->freeze(\$text)) }, 'abcdef', 'a reference to it');
    is(pos $text, 3, 'which stays');
    local $! = 2;
    ok($m->thaw($m->freeze([$!]))->[0], '$!');
    my @array = (1, 2, 3);
    is($m->thaw($m->freeze([$#array]))->[0], 2, '$#array');
    my ($x) = map { $_ } vec(my $bits = "\xff", 0, 4);
    is($m->thaw($m->freeze([$x]))->[0], 15, 'vec');
});

both_storable('many calls take no more memory' => sub {
    my ($m) = @_;
    my $data  = [map { { id => $_, tags => ['a', 'b'], o => bless({ x => [1] }, 'P'), w => \'x' } } 1 .. 20];
    my $bytes = $m->freeze($data);
    my $memory = sub {
        open my $status, '<', '/proc/self/statm' or return;
        return (split ' ', <$status>)[1] * 4096;
    };
    plan(skip_all => 'memory is not known') unless $memory->();
    my $round = sub {
        for (1 .. 300) {
            $m->thaw($m->freeze($data));
            $m->dclone($data);
            eval { $m->freeze([$data, sub { 1 }]) };
            eval { $m->thaw(substr $bytes, 0, 20 + $_) };
        }
    };
    $round->();
    my $before = $memory->();
    $round->() for 1 .. 4;
    cmp_ok($memory->() - $before, '<', 2 << 20, 'of 1,200 rounds');
});

both_storable('a process that forks' => sub {
    my ($m) = @_;
    pipe my $in, my $out or die $!;
    binmode $_ for $in, $out;
    $m->thaw($m->freeze([1, { a => 2 }]));
    my $child = fork;
    plan(skip_all => 'no fork') unless defined $child;
    if (!$child) {
        print {$out} $m->nfreeze({ from => 'child', list => [map { { a => $_ } } 1 .. 10] });
        close $out;
        POSIX::_exit(0);
    }
    close $out;
    my $bytes = do { local $/; <$in> };
    waitpid $child, 0;
    is($m->thaw($bytes)->{from}, 'child', 'both can freeze and thaw');
    is_deeply($m->thaw($m->freeze({ a => 2 })), { a => 2 }, 'the parent too');
});

both_storable('threads' => sub {
    my ($m) = @_;
    plan(skip_all => 'this perl has no threads') unless $INC{'threads.pm'};
    my $bytes = $m->freeze({ n => 0, list => [1 .. 100], object => bless({ a => 1 }, 'P') });
    my @threads = map {
        my $number = $_;
        threads->create(sub {
            for (1 .. 50) {
                my $copy = $m->thaw($bytes);
                $copy->{n} = $number;
                $copy = $m->thaw($m->nfreeze($m->dclone($copy)));
                return "wrong in $number" unless $copy->{n} == $number && @{ $copy->{list} } == 100 && ref $copy->{object} eq 'P';
            }
            return 'fine';
        });
    } 1 .. 4;
    is_deeply([map { $_->join } @threads], [('fine') x 4], 'four at once');
    is($m->thaw($bytes)->{list}[99], 100, 'afterwards all is well');
    my $inside = threads->create(sub { return $m->freeze({ made => ['in', 'a', 'thread'] }) })->join;
    is_deeply($m->thaw($inside), { made => ['in', 'a', 'thread'] }, 'an image from a thread');
});

done_testing;
