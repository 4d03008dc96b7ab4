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

both_storable('reading without objects' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze([bless({ a => 1 }, 'P'), bless([1], 'Q'), bless(\(my $x = 's'), 'R'), qr/x/]);
    for my $flags (0, 4) {
        my $copy = $m->thaw($bytes, $flags);
        is_deeply([map { ref } @$copy], [qw(HASH ARRAY SCALAR Regexp)], "flags of $flags: values have no class");
        is($copy->[0]{a}, 1, "flags of $flags: values keep their contents");
    }
    is(ref $m->thaw($bytes, 2)->[0], 'P', 'flags of 2: values have their class');
    $m->set(flags => 0);
    is(ref $m->thaw($bytes)->[0], 'HASH', '$flags applies when a call has no flags');
    is(ref $m->thaw($bytes, 6)->[0], 'P', 'the flags of a call override $flags');
    my $file = scratch('flags');
    $m->store([bless {}, 'P'], $file);
    is(ref $m->retrieve($file)->[0], 'HASH', '$flags applies to files');
    is(ref $m->retrieve($file, 6)->[0], 'P', 'the flags of a call apply to files');
    open my $in, '<:raw', $file or die $!;
    is(ref $m->fd_retrieve($in, 0)->[0], 'HASH', 'the flags of a call apply to file handles');
});

both_storable('hooks are not called without objects' => sub {
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
    is($ran, 0, 'STORABLE_thaw and STORABLE_attach are not called');
    is($copy->[2], 'after', 'the value after the objects is right');
    is_deeply([map { ref } @$copy[0, 1]], ['HASH', 'HASH'], 'the objects are read as hashes');
    $m->thaw($bytes);
    is($ran, 2, 'both hooks are called with objects');
});

both_storable('names' => sub {
    my ($m) = @_;
    no strict 'refs';
    my $package = $m->name;
    is_deeply([sort @{"${package}::EXPORT"}], ['retrieve', 'store'], '@EXPORT has the names of the original');
    my %may = map { ($_ => 1) } @{"${package}::EXPORT_OK"};
    for my $name (qw(nstore store_fd nstore_fd fd_retrieve freeze nfreeze thaw dclone retrieve_fd lock_store lock_nstore
                     lock_retrieve file_magic read_magic BLESS_OK TIE_OK FLAGS_COMPAT stack_depth stack_depth_hash)) {
        ok($may{$name}, "\@EXPORT_OK has $name");
        ok(defined &{"${package}::$name"}, "$name is defined");
    }
    is($m->function('BLESS_OK')->(), 2, 'BLESS_OK is 2');
    is($m->function('TIE_OK')->(), 4, 'TIE_OK is 4');
    is($m->function('FLAGS_COMPAT')->(), 6, 'FLAGS_COMPAT is 6');
    is($m->get('flags'), 6, '$flags is 6 by default');
    is($m->get('accept_future_minor'), 1, '$accept_future_minor is 1 by default');
    is($m->get('downgrade_restricted'), 1, '$downgrade_restricted is 1 by default');
    is($m->get($_), undef, "\$$_ is undef by default") for qw(canonical forgive_me Deparse Eval drop_utf8 interwork_56_64bit);

    my $code = "package Importer; use $package qw(freeze thaw dclone nstore); 1";
    ok(eval $code, 'functions can be imported') or diag($@);
    is_deeply(&{'Importer::thaw'}(&{'Importer::freeze'}([1])), [1], 'imported functions work');
    ok(!defined &{'Importer::store'}, 'other functions are not imported');
    ok(eval "package Importer::Default; use $package; 1", 'the module can be imported without names');
    ok(defined &{'Importer::Default::store'} && defined &{'Importer::Default::retrieve'}, 'store and retrieve are imported by default');
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
    same_ok($copy, $data, 'the clone has the same values');
    isnt(refaddr $copy->{list}, refaddr $data->{list}, 'the clone is another structure');
    is($copy->{float}, 0.1, 'floats stay exact');
    push @{ $copy->{list} }, 'new';
    is(@{ $data->{list} }, 5, 'a change of the clone does not change the source');
    my $array = [1, 2, 3];
    is_deeply($m->dclone(\$array), \[1, 2, 3], 'a reference to a reference can be cloned');
    my @elements = ([1], { a => [2] });
    is_deeply($m->dclone($elements[1]), { a => [2] }, 'an item of an array can be cloned');
    is_deeply($m->dclone({ a => [2] }->{a}), [2], 'a value of a temporary hash can be cloned');
    my $tied = Structures::tied_hash(a => [1]);
    is_deeply($m->dclone($tied->{a}), [1], 'a value of a tied hash can be cloned');
    is_deeply([map { $m->dclone($_) } [1], [2]], [[1], [2]], 'dclone works in a map');
    my $deep = $m->dclone($m->dclone($m->dclone([[[1]]])));
    is_deeply($deep, [[[1]]], 'a clone can be cloned');
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

both_storable('values with magic' => sub {
    my ($m) = @_;
    'key=value' =~ /(\w+)=(\w+)/ or die;
    my $copy = $m->thaw($m->freeze([$1, $2, $&]));
    is("@$copy", 'key value key=value', 'captures of a match are written');
    'key=value' =~ /(\w+)=(\w+)/ or die;
    $copy = $m->thaw($m->freeze([\$1, \$2]));
    is("${ $copy->[0] } ${ $copy->[1] }", 'key value', 'references to captures are written');
    my $alias = sub { return $m->thaw($m->freeze(\@_)) };
    'key=value' =~ /(\w+)=(\w+)/ or die;
    is_deeply($alias->($1, $2), ['key', 'value'], 'captures in @_ are written');
    local $ENV{ICECORE_TEST} = 'environment';
    is($m->thaw($m->freeze(\%ENV))->{ICECORE_TEST}, 'environment', '%ENV is written');
    my $text = 'abcdef';
    pos($text) = 3;
    is($m->thaw($m->freeze([$text]))->[0], 'abcdef', 'a string with a position is written');
    is(${ $m->thaw($m->freeze(\$text)) }, 'abcdef', 'a reference to a string with a position is written');
    is(pos $text, 3, 'the position stays');
    local $! = 2;
    ok($m->thaw($m->freeze([$!]))->[0], '$! is written');
    my @array = (1, 2, 3);
    is($m->thaw($m->freeze([$#array]))->[0], 2, '$#array is written');
    my ($x) = map { $_ } vec(my $bits = "\xff", 0, 4);
    is($m->thaw($m->freeze([$x]))->[0], 15, 'a string changed by vec is written');
});

both_storable('many calls take no more memory' => sub {
    my ($m) = @_;
    my $data  = [map { { id => $_, tags => ['a', 'b'], o => bless({ x => [1] }, 'P'), w => \'x' } } 1 .. 20];
    my $bytes = $m->freeze($data);
    my $memory = sub {
        open my $status, '<', '/proc/self/statm' or return;
        return (split ' ', <$status>)[1] * 4096;
    };
    plan(skip_all => 'the memory of the process is unknown') unless $memory->();
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
    cmp_ok($memory->() - $before, '<', 2 << 20, '1,200 rounds take no more memory');
});

both_storable('processes that fork' => sub {
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
    is($m->thaw($bytes)->{from}, 'child', 'the parent reads an image of the child');
    is_deeply($m->thaw($m->freeze({ a => 2 })), { a => 2 }, 'the parent can freeze after the fork');
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
    is_deeply([map { $_->join } @threads], [('fine') x 4], 'four threads freeze and thaw at once');
    is($m->thaw($bytes)->{list}[99], 100, 'the main thread works afterwards');
    my $inside = threads->create(sub { return $m->freeze({ made => ['in', 'a', 'thread'] }) })->join;
    is_deeply($m->thaw($inside), { made => ['in', 'a', 'thread'] }, 'an image of a thread is read');
});

done_testing;
