# STORABLE_freeze, STORABLE_thaw and STORABLE_attach.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Scalar::Util qw(blessed refaddr reftype);
use Both;
use Classes;
use Same;

our @calls;
our $m;    # for hooks that freeze something themselves

{
    package Recorder;    # records the arguments of its hooks
    sub new { my ($class, %self) = @_; return bless {%self}, $class }
    sub STORABLE_freeze {
        my ($self, @rest) = @_;
        push @main::calls, ['freeze', ref $self, @rest];
        return ($self->{text}, @{ $self->{links} || [] });
    }
    sub STORABLE_thaw {
        my ($self, @rest) = @_;
        push @main::calls, ['thaw', ref $self, [%$self], @rest];
        $self->{text}  = $rest[1];
        $self->{links} = [@rest[2 .. $#rest]] if @rest > 2;
        return 'ignored';
    }
}

# First, because the original still reports that it is storing after a hook died.
both_storable('is_storing, is_retrieving, last_op_in_netorder' => sub {
    local $m = $_[0];
    our %states;
    {
        package Asks;
        sub STORABLE_freeze { $main::states{freeze} = join ' ', map { $main::m->$_ ? 1 : 0 } qw(is_storing is_retrieving last_op_in_netorder); return 'x' }
        sub STORABLE_thaw   { $main::states{thaw}   = join ' ', map { $main::m->$_ ? 1 : 0 } qw(is_storing is_retrieving last_op_in_netorder); return }
    }
    my $object = bless {}, 'Asks';
    my $bytes  = $m->freeze($object);
    is($states{freeze}, '1 0 0', 'STORABLE_freeze sees is_storing');
    $m->nfreeze($object);
    is($states{freeze}, '1 0 1', 'STORABLE_freeze sees the network order');
    ok($m->last_op_in_netorder, 'last_op_in_netorder stays true after nfreeze');
    $m->thaw($bytes);
    is($states{thaw}, '0 1 0', 'STORABLE_thaw sees is_retrieving');
    ok(!$m->last_op_in_netorder, 'last_op_in_netorder is false after thawing a native image');
    ok(!$m->is_storing && !$m->is_retrieving, 'both are false after the call');
});

both_storable('the arguments of the hooks' => sub {
    my ($m) = @_;
    my $link = { a => 1 };
    @calls = ();
    my $bytes = $m->freeze([Recorder->new(text => 'some text', links => [$link, \'x']), $link]);
    is_deeply(\@calls, [['freeze', 'Recorder', 0]], 'STORABLE_freeze gets the object, and 0 when it is not cloned');
    @calls = ();
    my $copy = $m->thaw($bytes);
    is_deeply(\@calls, [['thaw', 'Recorder', [], 0, 'some text', { a => 1 }, \'x']], 'STORABLE_thaw gets an empty object, the string and the references');
    is($copy->[0]{links}[0], $copy->[1], 'what a hook refers to is shared with the other values');
    is($copy->[0]{text}, 'some text', 'the hook has filled the object');

    @calls = ();
    $m->dclone(Recorder->new(text => 'x'));
    is_deeply([map { $_->[0] eq 'freeze' ? !!$_->[2] : !!$_->[3] } @calls], [!!1, !!1], 'dclone: both hooks get a true value');
    @calls = ();
    $m->thaw($m->nfreeze(Recorder->new(text => '')));
    is($calls[1][4], '', 'an empty string arrives');
    @calls = ();
    $m->thaw($m->freeze(Recorder->new(text => "\x{263a}")));
    is($calls[1][4], "\xe2\x98\xba", 'a string that is text arrives as bytes');
    @calls = ();
    $m->thaw($m->freeze(Recorder->new(text => 42)));
    is($calls[1][4], '42', 'a number arrives as a string');
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    @calls = ();
    $m->thaw($m->freeze(Recorder->new(text => undef)));
    is($calls[1][4], '', 'undef arrives as the empty string');
});

both_storable('a shared object is frozen once' => sub {
    my ($m) = @_;
    my $object = Recorder->new(text => 'once');
    @calls = ();
    my $copy = $m->thaw($m->freeze([$object, { in => $object }, $object]));
    is(@calls, 2, 'each hook is called once');
    is($copy->[0], $copy->[1]{in}, 'the object stays shared');
    is($copy->[0], $copy->[2], 'the object stays shared everywhere');
});

both_storable('every kind of object' => sub {
    my ($m) = @_;
    my $copy = $m->thaw($m->freeze([Hook::Text->new('h', [1]), bless(['a', [2]], 'Hook::List'), bless(\(my $x = 's'), 'Hook::Cell')]));
    is(reftype $copy->[0], 'HASH', 'a hash is read back as a hash');
    is_deeply($copy->[0]{links}, [[1]], 'a hash gets its references');
    is(reftype $copy->[1], 'ARRAY', 'an array is read back as an array');
    is_deeply([@{ $copy->[1] }], ['a', [2]], 'an array gets its references');
    is(reftype $copy->[2], 'SCALAR', 'a scalar is read back as a scalar');
    is(${ $copy->[2] }, 's', 'a scalar gets its text');
});

both_storable('hooks inside hooks' => sub {
    my ($m) = @_;
    my $inner = Recorder->new(text => 'inner');
    my $outer = Recorder->new(text => 'outer', links => [$inner, [$inner]]);
    @calls = ();
    my $copy = $m->thaw($m->freeze($outer));
    is_deeply([map { $_->[0] . ' ' . ($_->[0] eq 'thaw' ? $_->[4] : '') } @calls],
        ['freeze ', 'freeze ', 'thaw inner', 'thaw outer'], 'the inner object is thawed first');
    is($copy->{links}[0]{text}, 'inner', 'the outer hook sees the inner object complete');
    is($copy->{links}[1][0], $copy->{links}[0], 'the inner object stays shared');

    my $self = Recorder->new(text => 'self');
    $self->{links} = [$self, [$self]];
    $copy = $m->thaw($m->freeze($self));
    is($copy->{links}[0], $copy, 'an object that refers to itself does so in the copy');
    is($copy->{links}[1][0], $copy, 'an object that refers to itself through an array does so in the copy');

    my ($x, $y) = map { Recorder->new(text => $_) } 'x', 'y';
    $x->{links} = [$y];
    $y->{links} = [$x];
    $copy = $m->thaw($m->freeze($x));
    is($copy->{links}[0]{links}[0], $copy, 'two objects that refer to each other do so in the copy');
});

both_storable('hooks that return an empty list' => sub {
    my ($m) = @_;
    my $object = bless { a => 1, in => [2] }, 'Hook::Declines';
    my $copy   = $m->thaw($m->freeze($object));
    isa_ok($copy, 'Hook::Declines');
    same_ok($copy, $object, 'the object is stored and read as if it had no hook');
    {
        package Declines::Clones;
        our @ISA = ('Recorder');
        sub STORABLE_freeze { my ($self, $cloning) = @_; return if $cloning; return Recorder::STORABLE_freeze(@_) }
    }
    $object = Declines::Clones->new(text => 't', extra => 1);
    is($m->dclone($object)->{extra}, 1, 'dclone uses a hook that returns a list only for cloning');
    is($m->thaw($m->freeze($object))->{extra}, undef, 'freeze does not use it');

    # After it has declined, a class is not asked again in this image.
    {
        package Declines::First;
        our @asked;
        sub STORABLE_freeze { my ($self) = @_; push @asked, $self->{n}; return $self->{n} == 1 ? () : ("n$self->{n}") }
        sub STORABLE_thaw   { my ($self, $cloning, $text) = @_; $self->{text} = $text; return }
    }
    @Declines::First::asked = ();
    $copy = $m->thaw($m->freeze([map { bless { n => $_ }, 'Declines::First' } 1, 2]));
    is_deeply(\@Declines::First::asked, [1], 'the hook of a class that declined is not called again');
    is_deeply([map { {%$_} } @$copy], [{ n => 1 }, { n => 2 }], 'the other objects of the class are stored without a hook');
    @Declines::First::asked = ();
    $copy = $m->thaw($m->freeze(bless { n => 3 }, 'Declines::First'));
    is_deeply({%$copy}, { text => 'n3' }, 'the next image calls the hook again');
    my $error = $m->dies(sub { $m->freeze([map { bless { n => $_ }, 'Declines::First' } 2, 1]) });
    like($error, qr/Too late to ignore hooks for storing class "Declines::First"/, 'a hook that declines after another object was stored is an error');
});

both_storable('hooks that die' => sub {
    my ($m) = @_;
    {
        package Dies;
        our ($freeze, $thaw);
        sub STORABLE_freeze { die $freeze if $freeze; return 'text' }
        sub STORABLE_thaw   { die $thaw if $thaw; return }
    }
    my $object = bless {}, 'Dies';
    local $Dies::freeze = "no freezing today\n";
    for my $how (qw(freeze nfreeze dclone)) {
        like($m->dies(sub { $m->$how([1, $object]) }), qr/^no freezing today/, "$how passes on the error of STORABLE_freeze");
    }
    like($m->dies(sub { $m->store([$object], scratch('dies')) }), qr/^no freezing today/, 'store passes on the error of STORABLE_freeze');
    ok(!-e scratch('dies'), 'a failed store leaves no file');
    is_deeply($m->thaw($m->freeze([1, 2])), [1, 2], 'the next call works');
    ok(!$m->is_storing, 'is_storing is false after the error') if $m->ours;

    $Dies::freeze = { code => 42 };
    my $error = $m->dies(sub { $m->freeze($object) });
    is_deeply($error, { code => 42 }, 'an exception that is a reference is passed on unchanged');

    $Dies::freeze = '';
    my $bytes = $m->freeze([$object, { a => $object }]);
    $m->store([$object], scratch('dies-thaw'));
    local $Dies::thaw = "no thawing today\n";
    like($m->dies(sub { $m->thaw($bytes) }), qr/^no thawing today/, 'thaw passes on the error of STORABLE_thaw');
    like($m->dies(sub { $m->dclone($object) }), qr/^no thawing today/, 'dclone passes on the error of STORABLE_thaw');
    like($m->dies(sub { $m->retrieve(scratch('dies-thaw')) }), qr/^no thawing today/, 'retrieve passes on the error of STORABLE_thaw');
    ok(!$m->is_retrieving, 'is_retrieving is false after the error') if $m->ours;
    $Dies::thaw = '';
    isa_ok($m->thaw($bytes)->[0], 'Dies', 'the next call works: the result');
    $Dies::thaw = bless ['an error'], 'Error::Class';
    isa_ok($m->dies(sub { $m->thaw($bytes) }), 'Error::Class');

    # Repeated, because unfinished state must be released.
    for (1 .. 200) {
        local $Dies::freeze = 'x';
        eval { $m->freeze([map { [1] } 1 .. 5], $object) };
        eval { $m->freeze([[1], $object]) };
    }
    for (1 .. 200) { eval { $m->thaw($bytes) } }
    is_deeply($m->thaw($m->freeze({ a => 1 })), { a => 1 }, 'calls work after hundreds of errors');
});

# The original crashes, immediately or later.
our_storable('jumps out of a hook' => sub {
    my ($m) = @_;
    {
        package Leaves;
        our $from = '';
        sub STORABLE_freeze { no warnings; last JUMP if $from eq 'freeze'; return 'x' }
        sub STORABLE_thaw   { no warnings; last JUMP if $from eq 'thaw'; return }
    }
    my $object = bless {}, 'Leaves';
    my $bytes  = $m->freeze([$object]);
    for my $from ('freeze', 'thaw') {
        local $Leaves::from = $from;
        my $how = 'jumped';
        JUMP: for (1) {
            eval { $from eq 'thaw' ? $m->thaw($bytes) : $m->freeze([[1], $object]); 1 } or $how = 'died';
            $how = 'returned' if $how ne 'died';
        }
        isnt($how, 'returned', "a jump out of STORABLE_$from is a jump or an error");
        is_deeply($m->thaw($m->freeze([1, { a => 2 }])), [1, { a => 2 }], 'the next call works');
    }
    for (1 .. 100) {
        local $Leaves::from = 'thaw';
        JUMP: for (1) { eval { $m->thaw($bytes) } }
    }
    isa_ok($m->thaw($bytes)->[0], 'Leaves', 'after a hundred jumps');
});

both_storable('hooks that freeze and thaw' => sub {
    local $m = $_[0];
    {
        package Reenters;
        sub STORABLE_freeze {
            my ($self) = @_;
            my $copy = $main::m->dclone($self->{inside});
            return ($main::m->freeze($copy), $self->{inside});
        }
        sub STORABLE_thaw {
            my ($self, $cloning, $text, $inside) = @_;
            $self->{thawed} = $main::m->thaw($text);
            $self->{again}  = $main::m->thaw($main::m->nfreeze({ twice => [1, 2] }));
            $self->{inside} = $inside;
            return;
        }
    }
    my $shared = { s => 1 };
    my $object = bless { inside => [$shared, $shared, 'x'] }, 'Reenters';
    my $data   = [$shared, $object, 'after', { more => [1 .. 3] }, $shared];
    for my $how (qw(freeze nfreeze)) {
        my $copy = $m->thaw($m->$how($data));
        is($copy->[2], 'after', "$how: the value after the object is right");
        is_deeply($copy->[3], { more => [1 .. 3] }, "$how: all of the value after the object is right");
        is($copy->[4], $copy->[0], "$how: shared values stay shared");
        is($copy->[1]{inside}[0], $copy->[0], "$how: what the hook refers to stays shared");
        is_deeply($copy->[1]{thawed}, [{ s => 1 }, { s => 1 }, 'x'], "$how: the inner image is right");
        is($copy->[1]{thawed}[0], $copy->[1]{thawed}[1], "$how: the inner image has its own shared values");
        is_deeply($copy->[1]{again}, { twice => [1, 2] }, "$how: STORABLE_thaw can freeze");
    }
    my $nested = bless { inside => bless { inside => bless { inside => [1] }, 'Reenters' }, 'Reenters' }, 'Reenters';
    my $copy = $m->dclone($nested);
    is_deeply($copy->{inside}{inside}{inside}, [1], 'three nested calls of freeze work');
    is_deeply($copy->{thawed}{thawed}{thawed}, [1], 'three nested calls of thaw work');

    # A file inside a hook inside a file.
    {
        package Files;
        sub STORABLE_freeze {
            my ($self) = @_;
            $main::m->store($self->{inside}, main::scratch('inner'));
            return 'in a file';
        }
        sub STORABLE_thaw { my ($self) = @_; $self->{inside} = $main::m->retrieve(main::scratch('inner')); return }
    }
    $m->store([bless({ inside => { a => [1] } }, 'Files'), 'after'], scratch('outer'));
    $copy = $m->retrieve(scratch('outer'));
    is_deeply({ %{ $copy->[0] } }, { inside => { a => [1] } }, 'hooks can use files');
    is($copy->[1], 'after', 'the value after the object is right');
});

both_storable('hooks that change the data that is being frozen' => sub {
    my ($m) = @_;
    local $SIG{__WARN__} = sub { };    # of perl, about each() on a hash that grows
    our $walked;
    our $change;
    {
        package Changes;
        sub STORABLE_freeze { $main::change->(); return 'changed' }
        sub STORABLE_thaw   { return }
    }
    my $object = bless {}, 'Changes';
    my %changes = (
        'grows an array'   => sub { push @$walked, map { [$_] } 1 .. 2000 },
        'empties an array' => sub { @$walked = () },
        'shrinks an array' => sub { $#$walked = 1 },
        'replaces an element' => sub { $walked->[-1] = { new => 1 } },
        'drops elements'   => sub { splice @$walked, 0, 2 },
        'forgets the array' => sub { undef $walked },
        'undefines the array' => sub { undef @$walked },
        'blesses the array' => sub { bless $walked, 'Some::Class' },
    );
    for my $name (sort keys %changes) {
        local $change = $changes{$name};
        local $walked = [[0], $object, ([1]) x 20, 'last'];
        my $bytes;
        my $error = $m->dies(sub { $bytes = $m->freeze($walked) });
        ok($error || defined $bytes || !$m->ours, "a hook $name: no crash");
        my $copy;
        $error = $m->dies(sub { $copy = $m->thaw($bytes) }) if defined $bytes;
        ok(defined $copy || $error || !defined $bytes || !$m->ours, "a hook $name: the image can be read or is an error");
    }
    %changes = (
        'grows a hash'   => sub { $walked->{"new$_"} = [$_] for 1 .. 2000 },
        'empties a hash' => sub { %$walked = () },
        'deletes a key'  => sub { delete @$walked{ grep { $_ ne 'object' } keys %$walked } },
        'deletes itself' => sub { delete $walked->{object} },
        'replaces a value' => sub { $walked->{$_} = 5 for keys %$walked },
    );
    for my $name (sort keys %changes) {
        for my $canonical (0, 1) {
            $m->set(canonical => $canonical);
            local $change = $changes{$name};
            local $walked = { (map { ("key$_" => [$_]) } 1 .. 20), object => $object };
            my $bytes;
            my $error = $m->dies(sub { $bytes = $m->freeze($walked) });
            # The original returns undef for some of these, without an error.
            ok($error || defined $bytes || !$m->ours, "a hook $name" . ($canonical ? ', canonical' : '') . ': no crash');
            my $copy;
            $error = $m->dies(sub { $copy = $m->thaw($bytes) }) if defined $bytes;
            ok(defined $copy || $error || !defined $bytes || !$m->ours, "a hook $name: the image can be read or is an error");
        }
    }
    is_deeply($m->thaw($m->freeze([1])), [1], 'the next call works');
});

both_storable('hooks that change data that was thawed' => sub {
    my ($m) = @_;
    {
        package Takes;
        sub STORABLE_freeze { my ($self) = @_; return ('t', $self->{list}) }
        sub STORABLE_thaw {
            my ($self, $cloning, $text, $list) = @_;
            push @$list, 'added';
            shift @$list;
            $self->{list} = $list;
            return;
        }
    }
    my $list = [1, [2], 3];
    my $copy = $m->thaw($m->freeze([bless({ list => $list }, 'Takes'), $list]));
    is_deeply($copy->[1], [[2], 3, 'added'], 'the change of the hook is kept');
    is($copy->[0]{list}, $copy->[1], 'the list stays shared');
    is_deeply($list, [1, [2], 3], 'the source does not change');
    {
        package Reblesses;
        sub STORABLE_freeze { return 'r' }
        sub STORABLE_thaw   { my ($self) = @_; bless $self, 'Other::Class'; return }
    }
    my $object = bless {}, 'Reblesses';
    $copy = $m->thaw($m->freeze([$object, $object]));
    is(ref $copy->[0], 'Other::Class', 'a hook can bless its object into another class');
    is($copy->[0], $copy->[1], 'the object stays shared');
});

both_storable('invalid results of a hook' => sub {
    my ($m) = @_;
    my $error = $m->dies(sub { $m->freeze(Recorder->new(text => 'x', links => ['not a reference'])) });
    like($error, qr/Item #1 returned by STORABLE_freeze for Recorder is not a reference/, 'a hook that returns a string instead of a reference is an error');
    {
        package Half;
        sub STORABLE_freeze { return 'x' }
    }
    my $bytes = $m->freeze(bless {}, 'Half');
    $error = $m->dies(sub { $m->thaw($bytes) });
    # If any class is allowed, its module may be searched first.
    like($error, qr/No STORABLE_thaw defined for objects of class Half|Can't locate Half\.pm/, 'a class without STORABLE_thaw is an error');
});

both_storable('inherited hooks and hooks defined later' => sub {
    my ($m) = @_;
    my $copy = $m->thaw($m->freeze(Hook::Child->new('inherited')));
    is(ref $copy, 'Hook::Child', 'an inherited hook keeps the class');
    is($copy->{text}, 'inherited', 'an inherited hook makes the object');
    # A separate class for each module: a deleted glob stays bound where it was compiled.
    no strict 'refs';
    my $class  = $m->ours ? 'Late::Ours' : 'Late';
    my $object = bless { a => 1 }, $class;
    same_ok($m->thaw($m->freeze($object)), $object, 'a class without hooks works');
    *{"${class}::STORABLE_freeze"} = sub { return 'hooked' };
    *{"${class}::STORABLE_thaw"}   = sub { my ($self, undef, $text) = @_; $self->{by} = $text; return };
    is($m->thaw($m->freeze($object))->{by}, 'hooked', 'a hook that was defined later is called');
    delete ${"${class}::"}{STORABLE_freeze};
    mro::method_changed_in($class);
    same_ok($m->thaw($m->freeze($object)), $object, 'a hook that was removed is not called');
    @{"${class}::ISA"} = ('Recorder');
    @calls = ();
    $m->freeze(bless { text => 'x' }, $class);
    is(@calls, 1, 'a hook that was inherited later is called');
});

both_storable('STORABLE_attach' => sub {
    my ($m) = @_;
    my $object = Hook::Attached->get('one');
    my $copy   = $m->thaw($m->freeze([$object, { in => $object }]));
    is($copy->[0], $object, 'STORABLE_attach gives the object of the class');
    is($copy->[1]{in}, $object, 'STORABLE_attach gives the same object everywhere');
    is($m->dclone($object), $object, 'dclone calls STORABLE_attach');
    {
        package Attach;
        our @arguments;
        our $gives;
        our @links;
        sub STORABLE_freeze { my ($self) = @_; return ($self->{name}, @links) }
        sub STORABLE_attach { my ($class, @rest) = @_; @arguments = ($class, @rest); return $gives ? $gives->() : bless { name => $rest[1] }, $class }
        package Attach::Child;
        our @ISA = ('Attach');
    }
    $copy = $m->thaw($m->freeze(bless { name => 'x' }, 'Attach::Child'));
    is_deeply(\@Attach::arguments, ['Attach::Child', 0, 'x'], 'STORABLE_attach gets the class, whether it is cloned, and the string');
    is(ref $copy, 'Attach::Child', 'STORABLE_attach works for a derived class');
    $m->dclone(bless { name => 'x' }, 'Attach');
    ok($Attach::arguments[1], 'STORABLE_attach gets a true value when it is cloned');

    local $Attach::gives = sub { return bless {}, 'Attach::Child' };
    is(ref $m->thaw($m->freeze(bless { name => 'x' }, 'Attach')), 'Attach::Child', 'STORABLE_attach can return an object of a derived class');
    for my $wrong (['undef', sub { undef }], ['a string', sub { 'Attach' }], ['an array', sub { [] }],
                   ['another class', sub { bless {}, 'Attach::Not' }]) {
        local $Attach::gives = $wrong->[1];
        like($m->dies(sub { $m->thaw($m->freeze(bless { name => 'x' }, 'Attach')) }),
            qr/STORABLE_attach did not return a Attach object/, "may not give $wrong->[0]");
    }
    local @Attach::links = ([1]);
    like($m->dies(sub { $m->freeze(bless { name => 'x' }, 'Attach') }),
        qr/Freeze cannot return references if Attach class is using STORABLE_attach/, 'a class with STORABLE_attach must not return references');
    {
        package Attach::Dies;
        sub STORABLE_freeze { return 'x' }
        sub STORABLE_attach { die "not attached\n" }
    }
    like($m->dies(sub { $m->thaw($m->freeze(bless {}, 'Attach::Dies')) }), qr/^not attached/, 'the error of STORABLE_attach is passed on');
});

done_testing;
