# Neutral records: data with classes that were not allowed, for inspection and for writing back.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use Scalar::Util qw(reftype);
use Classes;
use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw dclone store retrieve);
use Structures;

$Icecore::Storable::canonical = 1;
$Classes::storable = 'Icecore::Storable';

subtest 'the methods of a record' => sub {
    for my $case (['Storable', thaw(freeze([bless({ name => 'Alice', list => [1, 2] }, 'Employee'), bless([5], 'Pair'), bless(\(my $x = 'x'), 'Cell')]), classes => 'record')],
                  ['Sereal', decode_sereal(encode_sereal([bless({ name => 'Alice', list => [1, 2] }, 'Employee'), bless([5], 'Pair'), bless(\(my $y = 'x'), 'Cell')]), { classes => 'record' })]) {
        my ($name, $copy) = @$case;
        is(join(' ', map { ref } @$copy), 'Icecore::Record Icecore::Record Icecore::Record', "$name: objects become records");
        is(join(' ', map { $_->class } @$copy), 'Employee Pair Cell', '`class` returns the class');
        is_deeply($copy->[0]->value, { name => 'Alice', list => [1, 2] }, '`value` returns a hash');
        is_deeply($copy->[1]->value, [5], '`value` returns an array');
        is_deeply($copy->[2]->value, \'x', '`value` returns a reference to a scalar');
        ok(defined $_->kind && length $_->kind, '`kind` returns a name') for @$copy;
    }
};

subtest 'kinds' => sub {
    my $hooked = thaw(freeze([Hook::Text->new('some text', [1], { a => 2 }), bless({ a => 1 }, 'Plain')]), classes => 'record');
    is($hooked->[0]->class, 'Hook::Text', 'an object with a STORABLE_freeze hook becomes a record');
    isnt($hooked->[0]->kind, $hooked->[1]->kind, 'its kind differs from that of an ordinary object');
    my ($class) = grep { $_->{class} eq 'Hook::Text' } Icecore::classes(freeze([Hook::Text->new('x')]));
    is($hooked->[0]->kind, $class->{kind}, 'Icecore::classes has the same kind');
    like(join(' ', map { ref $_ || $_ } $hooked->[0]->value), qr/some text|ARRAY|HASH/, 'its value is what the hook returned');
    my $frozen = decode_sereal(encode_sereal([Cold::Value->new(['payload'])], { freeze_callbacks => 1 }), { classes => 'record' });
    is($frozen->[0]->class, 'Cold::Value', 'an object that FREEZE wrote becomes a record');
    isnt($frozen->[0]->kind, $hooked->[0]->kind, 'its kind differs from that of a STORABLE_freeze hook');
};

subtest 'records and objects in one document' => sub {
    my $bytes = freeze([bless({}, 'Listed'), bless({ in => bless({}, 'Listed') }, 'Other')]);
    Icecore->allow('Listed');
    my $copy = thaw($bytes, classes => 'record');
    is(ref $copy->[0], 'Listed', 'a class that the process allows is built');
    is(ref $copy->[1], 'Icecore::Record', 'other objects become records');
    is(ref $copy->[1]->value->{in}, 'Listed', 'a record can contain objects');
    @Icecore::ALLOWED = ();
    my $shared = bless { a => 1 }, 'Shared';
    $copy = thaw(freeze([$shared, $shared, \$shared]), classes => 'record');
    is($copy->[0], $copy->[1], 'a shared object becomes one record');
    is(${ $copy->[2] }, $copy->[0], 'a reference to a shared object leads to the same record');
    my $cycle = bless {}, 'Cycle';
    $cycle->{self} = $cycle;
    $copy = thaw(freeze($cycle), classes => 'record');
    is($copy->value->{self}, $copy, 'an object that contains itself becomes such a record');
    delete $_->{self} for $cycle, $copy->value;
};

my %storable = map { ($_->{name} => $_) } grep {
    $_->{name} =~ m{^(?:objects|classes|overloaded|hooks|chance|records)/} && ($_->{only} || '') ne 'sereal'
        || $_->{name} =~ m{^(?:tied|restricted/object|regexps/classes|vstrings/(?:object|version)|weak/(?:object|tree|overloaded)|cycles/.*object|aliases/object|deep/objects-50)}
            && ($_->{only} || '') ne 'sereal'
} Structures::all();

subtest 'Storable writes records as they were read' => sub {
    for my $name (sort keys %storable) {
        my $structure = $storable{$name};
        for my $how (\&freeze, \&nfreeze) {
            my $bytes = $how->($structure->{make}->());
            my $back  = eval { $how->(thaw($bytes, classes => 'record')) };
            bytes_are($back, $bytes, $name) or diag($@);
        }
    }
};

subtest 'Sereal writes records as they were read' => sub {
    my @sereal = grep { ($_->{only} || 'sereal') eq 'sereal' && $_->{name} =~ m{^(?:objects|classes|overloaded|callbacks|chance|records)/} } Structures::all();
    for my $structure (@sereal) {
        my %options = (canonical => 1, freeze_callbacks => 1);
        my $bytes = encode_sereal($structure->{make}->(), \%options);
        my $back  = eval { encode_sereal(decode_sereal($bytes, { classes => 'record' }), \%options) };
        bytes_are($back, $bytes, $structure->{name}) or diag($@);
    }
};

subtest 'a record has no other behaviour' => sub {
    my $record = thaw(freeze([bless { name => 'Alice' }, 'Employee']), classes => 'record')->[0];
    ok(!$record->can('name'), 'a record has no methods of the class');
    ok(!$record->isa('Employee'), 'a record is not an object of the class');
    my $copy = dclone([$record]);
    is($copy->[0]->class, 'Employee', 'dclone copies a record');
    is_deeply($copy->[0]->value, { name => 'Alice' }, 'the copy has the same value');
    my $sereal = encode_sereal([$record]);
    is(decode_sereal($sereal, { classes => 'record' })->[0]->class, 'Employee', 'a record can be written in the other format');
    is(ref decode_sereal($sereal, { classes => ['Employee'] })->[0], 'Employee', 'the record can become an object there');
};

subtest 'files' => sub {
    my $file = scratch('records');
    store([bless { a => 1 }, 'A'], $file);
    my $bytes = slurp($file);
    my $copy  = retrieve($file, classes => 'record');
    store($copy, $file);
    bytes_are(slurp($file), $bytes, 'store writes records as they were read');
};

done_testing;
