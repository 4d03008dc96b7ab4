# Interactions of hooks, locked hashes and perl's own values: each case once lost or changed
# something.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Hash::Util   ();
use Scalar::Util qw(blessed refaddr weaken);
use Same;

{
    package Declines;
    sub STORABLE_freeze { return }

    package Returns;
    our @list;
    our @thawed;
    sub STORABLE_freeze { my ($self) = @_; return map { ref $_ eq 'SCALAR' && defined $$_ && $$_ eq 'self' ? $self : $_ } @list }
    sub STORABLE_thaw { my ($self, $cloning, $text, @refs) = @_; @thawed = ($self, $cloning, $text, @refs); return }

    package Attached;
    sub STORABLE_freeze { return 'attached' }
    sub STORABLE_attach { my ($class, $cloning, $text) = @_; return bless { text => $text, cloning => $cloning }, $class }
}

my @storables = storables();
my ($original, $ours) = @storables > 1 ? @storables : (@storables, @storables);

# Checks that both write the same bytes for the same data.
sub same_bytes {
    my ($make, $name) = @_;
    for my $how ('freeze', 'nfreeze') {
        my $data = $make->();
        bytes_are($ours->$how($data), $original->$how($data), "$name: $how");
    }
    return;
}

both_storable('a hook that returns nothing' => sub {
    my ($m) = @_;
    for my $make (sub { bless \(my $value = 12), 'Declines' }, sub { bless \\'deep', 'Declines' }, sub { bless [1], 'Declines' }, sub { bless { a => 1 }, 'Declines' }) {
        my $copy = $m->dclone($make->());
        is(blessed $copy, 'Declines', 'the copy has its class');
        same_ok($copy, $make->(), 'the copy has its contents');
        same_ok($m->thaw($m->freeze([$make->(), $make->()])), [$make->(), $make->()], 'two such objects are read back');
    }
    my $cell = bless \(my $value = 12), 'Declines';
    same_ok($m->thaw($m->freeze([$cell, \$value, $cell])), [$cell, \$value, $cell], 'the same object twice is read back');
});
same_bytes(sub { bless \(my $value = 12), 'Declines' }, 'a scalar whose hook returns nothing');
same_bytes(sub { my $cell = bless \(my $value = 12), 'Declines'; [$cell, $cell, \$value] }, 'an object twice, and its scalar');

both_storable('a hook that returns a reference to its own object' => sub {
    my ($m) = @_;
    local @Returns::list = ('', \'self');
    for my $body ({ a => 1 }, [1], \(my $value = 1)) {
        my $copy = $m->thaw($m->freeze([bless $body, 'Returns']));
        is(refaddr $Returns::thawed[3], refaddr $copy->[0], 'STORABLE_thaw gets a reference to the object');
    }
});
for my $list (['', \'self'], ['text', \'self', \'self'], ['', \undef], ['', \undef, \undef], ['', \!!1, \!!0], ['', [1], \'self'], ['', [\undef], \undef]) {
    local @Returns::list = @$list;
    my $name = join ', ', map { ref $_ ? defined $$_ ? 'reference' : '\undef' : "'$_'" } grep { ref $_ ne 'ARRAY' } @$list;
    same_bytes(sub { [bless({}, 'Returns')] }, "($name)");
    same_bytes(sub { [\undef, bless([], 'Returns'), \undef, [undef]] }, "($name), after a reference to undef");
    for my $m (@storables) {
        ok(eval { $m->thaw($m->freeze([bless {}, 'Returns'])) }, "($name): " . $m->name) or diag($@);
        is($Returns::thawed[3], \undef, q{STORABLE_thaw gets perl's own undef}) if ref $list->[1] eq 'SCALAR' && !defined ${ $list->[1] };
    }
}

both_storable('the argument `cloning` of hooks' => sub {
    my ($m) = @_;
    local @Returns::list = ('x');
    $m->dclone(bless {}, 'Returns');
    is($Returns::thawed[1], 4, '`cloning` is 4 in dclone');
    $m->thaw($m->freeze(bless {}, 'Returns'));
    is($Returns::thawed[1], 0, '`cloning` is 0 in thaw');
});

# Keys that a locked hash reserves: which they are, and the effect of writing.
for my $values (0, 1, 3) {
    for my $count (0 .. 20, 31 .. 33, 40) {
        both_storable("a locked hash with $count reserved keys and $values values" => sub {
            my ($m) = @_;
            my %hash = map { ("v$_" => $_) } 1 .. $values;
            Hash::Util::lock_keys(%hash, keys %hash, map { "k$_" } 1 .. $count);
            for my $how (sub { $m->dclone(\%hash) }, sub { $m->thaw($m->freeze(\%hash)) }, sub { $m->with({ canonical => 1 }, sub { $m->thaw($m->nfreeze(\%hash)) }) }) {
                my $copy = $how->();
                is_deeply([sort(Hash::Util::legal_keys(%$copy))], [sort(Hash::Util::legal_keys(%hash))], 'the copy has the same legal keys');
                is_deeply([sort(Hash::Util::hidden_keys(%$copy))], [map { "k$_" } sort 1 .. $count], 'the copy has the same hidden keys');
                if ($count) { is(eval { $copy->{k1} = 5 }, 5, 'a reserved key can be written') or diag($@) }
                # The original forgets that an empty hash is locked.
                ok(!eval { $copy->{other} = 5; 1 }, 'another key can not be written') if $m->ours || $count + $values;
            }
        });
    }
}
same_bytes(sub { my $hash = { a => 1 }; Hash::Util::lock_ref_keys($hash, 'a', 'b'); Hash::Util::unlock_ref_keys($hash); $hash }, 'reserved keys of a hash that is no longer locked');

both_storable('STORABLE_attach in a locked hash' => sub {
    my ($m) = @_;
    my $hash = { object => bless({}, 'Attached'), again => [bless {}, 'Attached'], text => 'x', regexp => qr/a/, version => v1.2, list => [1], ref => \'r' };
    Hash::Util::lock_hashref($hash);
    for my $copy ($m->thaw($m->freeze($hash)), $m->dclone($hash)) {
        is($copy->{object}{text}, 'attached', 'STORABLE_attach created the object');
        is(ref $copy->{regexp}, 'Regexp', 'a regexp is read back');
        for my $key (sort keys %$copy) { ok(Internals::SvREADONLY($copy->{$key}), "the value of $key is locked") }
        ok(!eval { $copy->{new} = 1; 1 }, 'the hash is locked');
    }
});

both_storable("perl's own undef, true and false" => sub {
    my ($m) = @_;
    for my $make (sub { [\undef, \undef] }, sub { [\!!1, \!!0, \!!1] }, sub { { u => \undef, y => \!!1, n => \!!0 } }, sub { \undef }, sub { \!!1 }, sub { (sub { \@_ })->(undef, !!1, !!0) }) {
        my $data = $make->();
        for my $copy ($m->thaw($m->freeze($data)), $m->dclone($data)) { same_ok($copy, $data, 'are read back', strict => 1) }
        bytes_are($m->with({ canonical => 1 }, sub { $m->freeze($m->thaw($m->freeze($data))) }), $m->with({ canonical => 1 }, sub { $m->freeze($data) }), 'freezing the copy gives the same bytes');
    }
});

# Whichever of the two keys comes first in the hash.
for my $key ('a' .. 'h') {
    my $data = sub { my $regexp = qr/x/i; return { $key => [$regexp], "in $key" => bless(\(my $cell = $regexp), 'Holds') } };
    for my $m (@storables) { $m->set(canonical => 1) }
    same_bytes($data, "a regexp to which an object refers too, $key");
    for my $m (@storables) { $m->restore }
}

both_sereal("perl's own undef, true and false" => sub {
    my ($m) = @_;
    for my $make (sub { [\undef, \undef] }, sub { [\!!1, \!!0, \!!1] }, sub { { u => \undef, y => \!!1, n => \!!0 } }, sub { \undef }, sub { \!!1 }) {
        my $data = $make->();
        same_ok($m->decode($m->encode($data)), $data, 'are read back', strict => 1);
        bytes_are($m->encode($m->decode($m->encode($data, { canonical => 1 })), { canonical => 1 }), $m->encode($data, { canonical => 1 }), 'encoding the copy gives the same bytes');
    }
    is($m->decode($m->encode([\undef], { protocol_version => 2 }), { use_undef => 1 })->[0], \undef, "use_undef returns perl's own undef for protocol 2");
});

both_sereal('scalars that are blessed through each other' => sub {
    my ($m) = @_;
    for my $count (1 .. 4) {
        for my $blessed (1 .. 2**$count - 1) {
            my @cells = (undef) x $count;
            $cells[$_] = \$cells[($_ + 1) % $count] for 0 .. $#cells;
            for my $index (0 .. $#cells) { bless $cells[$index], "Cell$index" if $blessed & 1 << $index }
            for my $data (\@cells, [\$cells[0]], [@cells]) {
                my $bytes = $m->encode($data);
                same_ok($m->decode($bytes), $data, "$count scalars, $blessed");
            }
            $_ = undef for @cells;
        }
    }
    my $self;
    $self = bless \$self, 'Self';
    $m->decode($m->encode($self), {}, my $copy);
    is(join(' ', map { blessed $_ } $copy, $$copy), 'Self Self', 'a scalar that refers to itself is blessed');
    is($copy, $$copy, 'a scalar that refers to itself is read back');
    $$_ = undef for $self, $copy;
});

done_testing;
