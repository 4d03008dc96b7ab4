# Tied variables: Storable keeps the object of the tie, and ties again.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Classes;
use Same;
use Structures;

# Counts the calls.
{
    package Counting::Hash;
    our %asked;
    sub TIEHASH  { my ($class, %pairs) = @_; return bless {%pairs}, $class }
    sub FETCH    { $asked{FETCH}++;    return $_[0]{ $_[1] } }
    sub STORE    { $asked{STORE}++;    $_[0]{ $_[1] } = $_[2]; return }
    sub FIRSTKEY { $asked{FIRSTKEY}++; return (sort keys %{ $_[0] })[0] }
    sub NEXTKEY  { $asked{NEXTKEY}++;  my $last = $_[1]; return (grep { $_ gt $last } sort keys %{ $_[0] })[0] }
    sub EXISTS   { $asked{EXISTS}++;   return exists $_[0]{ $_[1] } }
    sub DELETE   { return delete $_[0]{ $_[1] } }
    sub UNTIE    { $asked{UNTIE}++; return }
    sub DESTROY  { $asked{DESTROY}++; return }
}
{
    package Hooked::Tie;    # the object of the tie has a hook of its own
    our @ISA = ('Tie::Box');
    sub STORABLE_freeze { my ($self) = @_; return "value=$self->{value}" }
    sub STORABLE_thaw   { my ($self, $cloning, $text) = @_; ($self->{value}) = $text =~ /=(.*)/; return }
}

both_storable('a tied hash, array and scalar' => sub {
    my ($m) = @_;
    my $copy = $m->thaw($m->freeze(Structures::tied_hash(a => 1, b => [2])));
    isa_ok(tied %$copy, 'Tie::Table');
    is_deeply([map { "$_=" . (ref $copy->{$_} ? $copy->{$_}[0] : $copy->{$_}) } keys %$copy], ['a=1', 'b=2'], 'values are read through the tie');
    $copy->{c} = 3;
    is((tied %$copy)->{pairs}{c}, 3, 'an assignment goes to the object of the tie');

    $copy = $m->thaw($m->nfreeze(Structures::tied_array('x', 'y')));
    isa_ok(tied @$copy, 'Tie::Row');
    is("@$copy", 'x y', 'items are read through the tie');
    $copy->[1] = 'new';
    is((tied @$copy)->{items}[1], 'new', 'an assignment to an item goes to the object of the tie');

    $copy = $m->thaw($m->freeze(Structures::tied_scalar('v')));
    isa_ok(tied $$copy, 'Tie::Box');
    is($$copy, 'v', 'a scalar is read through the tie');
    $$copy = 'new';
    is((tied $$copy)->{value}, 'new', 'an assignment to a scalar goes to the object of the tie');
});

both_storable('methods of a tie are not called' => sub {
    my ($m) = @_;
    tie my %tied, 'Counting::Hash', a => 1, b => 2;
    %Counting::Hash::asked = ();
    my $copy = $m->thaw($m->freeze(\%tied));
    is_deeply(\%Counting::Hash::asked, {}, 'freezing calls no method');
    is($copy->{b}, 2, 'the copy reads through its tie');
    is($Counting::Hash::asked{FETCH}, 1, 'a read of the copy calls FETCH');
    undef $copy;
    is($Counting::Hash::asked{DESTROY}, 1, 'the object of the tie is destroyed with the copy');
});

both_storable('tied variables in structures' => sub {
    my ($m) = @_;
    my $tied = Structures::tied_hash(a => 1);
    my $copy = $m->dclone([$tied, { again => $tied }, Structures::tied_array($tied)]);
    is(tied %{ $copy->[0] }, tied %{ $copy->[1]{again} }, 'a shared tied hash stays shared');
    is($copy->[2][0], $copy->[0], 'a tied hash shared inside another tie stays shared');
    $copy->[0]{a} = 5;
    is($copy->[1]{again}{a}, 5, 'a change is seen everywhere');
    is($tied->{a}, 1, 'a change of the copy does not change the source');

    my $data = [Structures::tied_scalar(1), 'between', tied(%$tied), $tied];
    same_ok($m->thaw($m->freeze($data)), $data, 'a tied variable and its object are read back');
});

both_storable('references to items of tied variables' => sub {
    my ($m) = @_;
    my $hash  = Structures::tied_hash(a => 1, b => 2);
    my $array = Structures::tied_array(10, 20, 30);
    my $copy  = $m->thaw($m->freeze([\$hash->{b}, \$array->[2], $hash, $array]));
    is(${ $copy->[0] }, 2,  'a reference to a value of a tied hash is read back');
    is(${ $copy->[1] }, 30, 'a reference to an item of a tied array is read back');
    ${ $copy->[0] } = 'B';
    ${ $copy->[1] } = 'C';
    is($copy->[2]{b}, 'B', 'an assignment goes to the new hash');
    is($copy->[3][2], 'C', 'an assignment goes to the new array');
    is("$hash->{b} $array->[2]", '2 30', 'the source does not change');

    $copy = $m->thaw($m->freeze([\$hash->{"\x{263a}"}]));
    ${ $copy->[0] } = 'smile';
    pass('a key that is text is accepted');
});

both_storable('objects that are tied' => sub {
    my ($m) = @_;
    my $object = bless Structures::tied_hash(a => 1), 'Tied::Object';
    my $copy   = $m->thaw($m->freeze([$object]));
    isa_ok($copy->[0], 'Tied::Object');
    isa_ok(tied %{ $copy->[0] }, 'Tie::Table');
    is($copy->[0]{a}, 1, 'a tied object reads through its tie');
});

both_storable('a tie whose object has hooks' => sub {
    my ($m) = @_;
    tie my $x, 'Hooked::Tie', 'kept';
    my $copy = $m->thaw($m->freeze(\$x));
    isa_ok(tied $$copy, 'Hooked::Tie');
    is($$copy, 'kept', 'STORABLE_thaw makes the object of the tie');
});

both_storable('reading without ties' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze(Structures::tied_hash(a => 1));
    # 2: objects are blessed, ties are not made (4).
    my $error = $m->dies(sub { $m->thaw($bytes, 2) });
    like($error, qr/Tying is disabled/, 'the flags of a call refuse a tie');
    $m->set(flags => 2);
    $error = $m->dies(sub { $m->thaw($bytes) });
    like($error, qr/Tying is disabled/, '$flags refuses a tie');
    my $copy = $m->thaw($bytes, 6);
    is($copy->{a}, 1, 'the flags of a call override $flags');
});

done_testing;
