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
    package Hooked::Tie;    # the object behind the tie has a hook of its own
    our @ISA = ('Tie::Box');
    sub STORABLE_freeze { my ($self) = @_; return "value=$self->{value}" }
    sub STORABLE_thaw   { my ($self, $cloning, $text) = @_; ($self->{value}) = $text =~ /=(.*)/; return }
}

both_storable('a tied hash, array and scalar' => sub {
    my ($m) = @_;
    my $copy = $m->thaw($m->freeze(Structures::tied_hash(a => 1, b => [2])));
    isa_ok(tied %$copy, 'Tie::Table');
    is_deeply([map { "$_=" . (ref $copy->{$_} ? $copy->{$_}[0] : $copy->{$_}) } keys %$copy], ['a=1', 'b=2'], 'answers');
    $copy->{c} = 3;
    is((tied %$copy)->{pairs}{c}, 3, 'stores through the tie');

    $copy = $m->thaw($m->nfreeze(Structures::tied_array('x', 'y')));
    isa_ok(tied @$copy, 'Tie::Row');
    is("@$copy", 'x y', 'answers');
    $copy->[1] = 'new';
    is((tied @$copy)->{items}[1], 'new', 'stores through the tie');

    $copy = $m->thaw($m->freeze(Structures::tied_scalar('v')));
    isa_ok(tied $$copy, 'Tie::Box');
    is($$copy, 'v', 'answers');
    $$copy = 'new';
    is((tied $$copy)->{value}, 'new', 'stores through the tie');
});

both_storable('a tie is not asked for its contents' => sub {
    my ($m) = @_;
    tie my %tied, 'Counting::Hash', a => 1, b => 2;
    %Counting::Hash::asked = ();
    my $copy = $m->thaw($m->freeze(\%tied));
    is_deeply(\%Counting::Hash::asked, {}, 'no method is called');
    is($copy->{b}, 2, 'the copy answers');
    is($Counting::Hash::asked{FETCH}, 1, 'and is asked then');
    undef $copy;
    is($Counting::Hash::asked{DESTROY}, 1, 'its object is destroyed with it');
});

both_storable('ties in structures' => sub {
    my ($m) = @_;
    my $tied = Structures::tied_hash(a => 1);
    my $copy = $m->dclone([$tied, { again => $tied }, Structures::tied_array($tied)]);
    is(tied %{ $copy->[0] }, tied %{ $copy->[1]{again} }, 'one tied hash stays one');
    is($copy->[2][0], $copy->[0], 'also inside another tie');
    $copy->[0]{a} = 5;
    is($copy->[1]{again}{a}, 5, 'and changes everywhere');
    is($tied->{a}, 1, 'but not in the source');

    my $data = [Structures::tied_scalar(1), 'between', tied(%$tied), $tied];
    same_ok($m->thaw($m->freeze($data)), $data, 'a tie and the object behind it');
});

both_storable('elements of tied variables' => sub {
    my ($m) = @_;
    my $hash  = Structures::tied_hash(a => 1, b => 2);
    my $array = Structures::tied_array(10, 20, 30);
    my $copy  = $m->thaw($m->freeze([\$hash->{b}, \$array->[2], $hash, $array]));
    is(${ $copy->[0] }, 2,  'of a hash');
    is(${ $copy->[1] }, 30, 'of an array');
    ${ $copy->[0] } = 'B';
    ${ $copy->[1] } = 'C';
    is($copy->[2]{b}, 'B', 'stores into the new hash');
    is($copy->[3][2], 'C', 'stores into the new array');
    is("$hash->{b} $array->[2]", '2 30', 'not into the old ones');

    $copy = $m->thaw($m->freeze([\$hash->{"\x{263a}"}]));
    ${ $copy->[0] } = 'smile';
    pass('a key that is text');
});

both_storable('objects that are tied' => sub {
    my ($m) = @_;
    my $object = bless Structures::tied_hash(a => 1), 'Tied::Object';
    my $copy   = $m->thaw($m->freeze([$object]));
    isa_ok($copy->[0], 'Tied::Object');
    isa_ok(tied %{ $copy->[0] }, 'Tie::Table');
    is($copy->[0]{a}, 1, 'answers');
});

both_storable('the object behind a tie has hooks' => sub {
    my ($m) = @_;
    tie my $x, 'Hooked::Tie', 'kept';
    my $copy = $m->thaw($m->freeze(\$x));
    isa_ok(tied $$copy, 'Hooked::Tie');
    is($$copy, 'kept', 'the hook made it');
});

both_storable('ties can be left out' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze(Structures::tied_hash(a => 1));
    # 2: objects are blessed, ties are not made (4).
    my $error = $m->dies(sub { $m->thaw($bytes, 2) });
    like($error, qr/Tying is disabled/, 'by flags');
    $m->set(flags => 2);
    $error = $m->dies(sub { $m->thaw($bytes) });
    like($error, qr/Tying is disabled/, 'by $flags');
    my $copy = $m->thaw($bytes, 6);
    is($copy->{a}, 1, 'the flags of a call go first');
});

done_testing;
