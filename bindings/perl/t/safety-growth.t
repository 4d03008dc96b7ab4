# Memory does not grow from call to call, even if calls fail. ICECORE_CALLS sets the number of
# calls; a release is tested with a million.

use strict;
use warnings;
use lib 't/lib';

use Test::More;
use Both;
BEGIN { ours_only() }

use Icecore;
use Icecore::Dumper   qw(Dumper undump);
use Icecore::JSON;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw dclone);
use Scalar::Util      ();

{
    package Hooked;
    sub STORABLE_freeze { my ($self) = @_; return ('x', $self->{list}) }
    sub STORABLE_thaw   { my ($self, undef, undef, $list) = @_; $self->{list} = $list; return }
    sub FREEZE          { my ($self) = @_; return $self->{list} }
    sub TO_JSON         { my ($self) = @_; return $self->{list} }
    sub THAW            { my ($class, undef, $list) = @_; return bless { list => $list }, $class }

    package Locks;
    sub STORABLE_freeze { my ($self) = @_; return ('x', $self->{in}) }
    sub STORABLE_thaw   { my ($self, undef, undef, $in) = @_; Internals::SvREADONLY(%$in, 1); return }
}

-r '/proc/self/statm' or plan skip_all => 'this system does not say how much memory a process has';

my $calls = $ENV{ICECORE_CALLS} || 20_000;

# Returns the memory in pages.
sub resident {
    open my $file, '<', '/proc/self/statm' or die $!;
    return (split ' ', <$file>)[1];
}

my $plain  = { id => 1, name => 'Employee_1', list => [1 .. 20], more => { a => undef, b => 1.5 } };
my $cyclic = [1, bless { a => [2] }, 'Some'];
push @$cyclic, $cyclic->[1]{a}, \$cyclic->[0];
my $hooked  = bless { list => [1, 2, 3] }, 'Hooked';
my $encoder = Icecore::Sereal::Encoder->new({ freeze_callbacks => 1 });
my $decoder = Icecore::Sereal::Decoder->new({ classes          => 'any' });
my ($sereal, $storable) = (encode_sereal($cyclic), freeze($cyclic));
my ($frozen, $image)    = ($encoder->encode($hooked), freeze($hooked));
my ($key, $text)        = (0, "\x{263A}" x 5);

# A hash with so many keys that they have no ids. Its first value has the hook that locks it.
my %large = map { ("k$_" => 'x' x 50) } 1 .. 300;
$large{a} = bless { in => \%large }, 'Locks';
my $locked = do { local $Icecore::Storable::canonical = 1; freeze(\%large) };

# The hook dies when a weak reference was read, and before it became weak.
{ package Dies; sub STORABLE_freeze { return 'x' } sub STORABLE_thaw { die "no\n" } }
my $target = ['x' x 200];
my $weak   = [$target, $target, bless({}, 'Dies')];
Scalar::Util::weaken($weak->[1]);
my $dying = freeze($weak);

my $json     = Icecore::JSON->new->canonical->convert_blessed->allow_tags;
my $filtered = Icecore::JSON->new->filter_json_object(sub { return [%{ $_[0] }] });
my $pieces   = Icecore::JSON->new;
my $dying    = Icecore::JSON->new->filter_json_object(sub { die "no\n" });
my $dumped   = Dumper($plain, $cyclic);
my @numbers  = (1 .. 100);

my %ways = (
    'JSON, written'        => sub { encode_json($plain); $json->encode($plain) },
    'JSON, read'           => sub { decode_json('{"a":[1,2.5,"x",true,{"b":null,"caf\u00e9":"\u263a"}]}') },
    'JSON, objects'        => sub { $json->encode([$hooked, [$hooked]]); $json->allow_tags(0)->encode([$hooked]); $json->allow_tags },
    'JSON, filters'        => sub { $filtered->decode('[{"a":{"b":1}},2]'); eval { $dying->decode('[[1,{"a":{"b":1}}]]') } },
    'JSON, pieces'         => sub { for my $piece ('[1,', '2] {"a', '":1}') { my @all = $pieces->incr_parse($piece) } },
    'JSON, errors'         => sub { eval { decode_json('[1,{"a":[1,') }; eval { encode_json([1, { a => sub { } }]) }; eval { $json->decode('[1') } },
    'JSON, settings'       => sub { Icecore::JSON->new->pretty->boolean_values(0, 1)->filter_json_single_key_object(a => sub { })->decode('{"a":true}') },
    'Dumper'               => sub { Dumper($plain); my @texts = Dumper($plain, $cyclic) },
    'Dumper, objects'      => sub { Icecore::Dumper->new([$plain], ['name'])->Indent(1)->Pad('# ')->Sortkeys(sub { [sort keys %{ $_[0] }] })->Dump },
    'undump'               => sub { undump($dumped, classes => 'any'); eval { undump($dumped) }; eval { undump('$VAR1 = [1, {a => system("x")}]') } },
    'undump, code'         => sub { undump('$VAR1 = [sub { "DUMMY" }, \\*::STDOUT, qr/x/]') },
    'lists'                => sub { my @all = Icecore::unpack_list('l*', Icecore::pack_list('l*', @numbers)); eval { Icecore::pack_list('?', 1) } },
    'freeze'            => sub { freeze($plain) },
    'nfreeze'           => sub { nfreeze($cyclic) },
    'thaw'              => sub { thaw($storable, classes => 'any') },
    'dclone'            => sub { dclone($cyclic) },
    'encode'            => sub { encode_sereal($plain) },
    'decode'            => sub { decode_sereal($sereal, { classes => 'any' }) },
    'hooks, written'    => sub { $encoder->encode($hooked); freeze($hooked) },
    'hooks, read'       => sub { $decoder->decode($frozen); thaw($image, classes => 'any') },
    'a hook that locks' => sub { eval { thaw($locked, classes => 'any'); 1 } and die 'the locked hash is filled' },
    'a hook that dies'  => sub { eval { thaw($dying, classes => 'any'); 1 } and die 'the hook did not die' },
    'objects'           => sub { Icecore::Sereal::Encoder->new->encode([]); Icecore::Sereal::Decoder->new },
    'keys'              => sub { thaw(freeze({ $key++ % 50_000 => $text, "$text$key" => 1 })) },
    'a class that is refused' => sub { eval { thaw($storable) } },
    'cut off'           => sub { eval { decode_sereal(substr $sereal, 0, -3) }; eval { thaw(substr $storable, 0, -3) } },
    'code, which can\'t be written' => sub { eval { freeze([1, [2, sub { }]]) }; eval { encode_sereal([1, [2, sub { }]]) } },
    'any format'        => sub { Icecore::decode(Icecore::encode($plain, 'json')) },
    'classes'           => sub { Icecore::classes($storable) },
    'replaced'          => sub { Icecore::replace('Employee', 'Worker', $storable, report => \my %report); Icecore::replace('none', 'x', $storable) },
    'other pairs'       => sub { Icecore::replace({ 'Some' . $key++ => 'x', a => 'b' }, $storable, keys => 1) },
    'wrong pairs'       => sub { eval { Icecore::replace({ "a$key" => 'b', c => undef }, $storable) }; eval { Icecore::replace('', 'x', $storable) } },
    'replaced in none'  => sub { eval { Icecore::replace('a', 'b', '[', format => 'json') }; eval { Icecore::replace('a', 'b', undef) } },
);

for my $name (sort keys %ways) {
    my $way = $ways{$name};
    # The caches fill up first.
    $way->() for 1 .. 2000;
    my $before = resident();
    $way->() for 1 .. $calls;
    my $grown = resident() - $before;
    # For keys as much as is remembered; otherwise what an allocator may need.
    my $most = $name eq 'keys' ? 2500 : 100;
    cmp_ok($grown, '<', $most, "$name: $calls calls need $grown pages more");
}

done_testing();
