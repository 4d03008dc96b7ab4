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

subtest 'what a record says' => sub {
    for my $case (['Storable', thaw(freeze([bless({ name => 'Alice', list => [1, 2] }, 'Employee'), bless([5], 'Pair'), bless(\(my $x = 'x'), 'Cell')]), classes => 'record')],
                  ['Sereal', decode_sereal(encode_sereal([bless({ name => 'Alice', list => [1, 2] }, 'Employee'), bless([5], 'Pair'), bless(\(my $y = 'x'), 'Cell')]), { classes => 'record' })]) {
        my ($name, $copy) = @$case;
        is(join(' ', map { ref } @$copy), 'Icecore::Record Icecore::Record Icecore::Record', "$name: they are records");
        is(join(' ', map { $_->class } @$copy), 'Employee Pair Cell', 'class');
        is_deeply($copy->[0]->value, { name => 'Alice', list => [1, 2] }, 'value of a hash');
        is_deeply($copy->[1]->value, [5], 'of an array');
        is_deeply($copy->[2]->value, \'x', 'of a scalar');
        ok(defined $_->kind && length $_->kind, 'kind') for @$copy;
    }
};

subtest 'kinds' => sub {
    my $hooked = thaw(freeze([Hook::Text->new('some text', [1], { a => 2 }), bless({ a => 1 }, 'Plain')]), classes => 'record');
    is($hooked->[0]->class, 'Hook::Text', 'an object that a hook froze');
    isnt($hooked->[0]->kind, $hooked->[1]->kind, 'is of another kind than an ordinary one');
    my ($class) = grep { $_->{class} eq 'Hook::Text' } Icecore::classes(freeze([Hook::Text->new('x')]));
    is($hooked->[0]->kind, $class->{kind}, 'which Icecore::classes calls the same');
    like(join(' ', map { ref $_ || $_ } $hooked->[0]->value), qr/some text|ARRAY|HASH/, 'its value is there');
    my $frozen = decode_sereal(encode_sereal([Cold::Value->new(['payload'])], { freeze_callbacks => 1 }), { classes => 'record' });
    is($frozen->[0]->class, 'Cold::Value', 'an object that FREEZE froze');
    isnt($frozen->[0]->kind, $hooked->[0]->kind, 'is of a third kind');
};

subtest 'records and objects' => sub {
    my $bytes = freeze([bless({}, 'Listed'), bless({ in => bless({}, 'Listed') }, 'Other')]);
    Icecore->allow('Listed');
    my $copy = thaw($bytes, classes => 'record');
    is(ref $copy->[0], 'Listed', 'what is allowed for the process is an object');
    is(ref $copy->[1], 'Icecore::Record', 'the rest are records');
    is(ref $copy->[1]->value->{in}, 'Listed', 'with objects inside');
    @Icecore::ALLOWED = ();
    my $shared = bless { a => 1 }, 'Shared';
    $copy = thaw(freeze([$shared, $shared, \$shared]), classes => 'record');
    is($copy->[0], $copy->[1], 'a shared object is one record');
    is(${ $copy->[2] }, $copy->[0], 'behind a reference too');
    my $cycle = bless {}, 'Cycle';
    $cycle->{self} = $cycle;
    $copy = thaw(freeze($cycle), classes => 'record');
    is($copy->value->{self}, $copy, 'an object in itself');
    delete $_->{self} for $cycle, $copy->value;
};

my %storable = map { ($_->{name} => $_) } grep {
    $_->{name} =~ m{^(?:objects|classes|overloaded|hooks|chance|records)/} && ($_->{only} || '') ne 'sereal'
        || $_->{name} =~ m{^(?:tied|restricted/object|regexps/classes|vstrings/(?:object|version)|weak/(?:object|tree|overloaded)|cycles/.*object|aliases/object|deep/objects-50)}
            && ($_->{only} || '') ne 'sereal'
} Structures::all();

subtest 'written back, Storable' => sub {
    for my $name (sort keys %storable) {
        my $structure = $storable{$name};
        for my $how (\&freeze, \&nfreeze) {
            my $bytes = $how->($structure->{make}->());
            my $back  = eval { $how->(thaw($bytes, classes => 'record')) };
            bytes_are($back, $bytes, $name) or diag($@);
        }
    }
};

subtest 'written back, Sereal' => sub {
    my @sereal = grep { ($_->{only} || 'sereal') eq 'sereal' && $_->{name} =~ m{^(?:objects|classes|overloaded|callbacks|chance|records)/} } Structures::all();
    for my $structure (@sereal) {
        my %options = (canonical => 1, freeze_callbacks => 1);
        my $bytes = encode_sereal($structure->{make}->(), \%options);
        my $back  = eval { encode_sereal(decode_sereal($bytes, { classes => 'record' }), \%options) };
        bytes_are($back, $bytes, $structure->{name}) or diag($@);
    }
};

subtest 'who uses a record as something else' => sub {
    my $record = thaw(freeze([bless { name => 'Alice' }, 'Employee']), classes => 'record')->[0];
    ok(!$record->can('name'), 'it has no methods of the class');
    ok(!$record->isa('Employee'), 'and is none');
    my $copy = dclone([$record]);
    is($copy->[0]->class, 'Employee', 'a clone of a record');
    is_deeply($copy->[0]->value, { name => 'Alice' }, 'is a record');
    my $sereal = encode_sereal([$record]);
    is(decode_sereal($sereal, { classes => 'record' })->[0]->class, 'Employee', 'a record can go into the other format');
    is(ref decode_sereal($sereal, { classes => ['Employee'] })->[0], 'Employee', 'and be an object again');
};

subtest 'files' => sub {
    my $file = scratch('records');
    store([bless { a => 1 }, 'A'], $file);
    my $bytes = slurp($file);
    my $copy  = retrieve($file, classes => 'record');
    store($copy, $file);
    bytes_are(slurp($file), $bytes, 'are written back too');
};

done_testing;
