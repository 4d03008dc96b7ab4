# Objects of perl's own classes (`use feature 'class'`), which the originals can't store:
# Storable dies, Sereal writes something that it can't read.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN {
    plan(skip_all => 'needs perl 5.38') if $] < 5.038;
    ours_only();
}

use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw dclone store retrieve);
use Run;
use Scalar::Util ();

# Perls before 5.38 must not see the syntax.
BEGIN {
    eval <<'END' or die $@;
        use v5.38;
        use feature 'class';
        no warnings 'experimental::class';

        class Shape {
            our $adjusted = 0;
            field $name :param = 'a shape';
            field @points;
            field %style;
            field $nothing;
            ADJUST { $adjusted++ }
            method name           { return $name }
            method rename ($new)  { $name = $new; return }
            method add (@more)    { push @points, @more; return }
            method points         { return @points }
            method points_of      { return \@points }
            method style          { return \%style }
            method nothing        { return $nothing }
        }

        class Shape::Circle :isa(Shape) {
            field $radius :param;
            field $centre :param = undef;
            method radius         { return $radius }
            method centre         { return $centre }
            method move ($to)     { $centre = $to; return }
        }

        class Empty { method hello { return 'hello' } }

        class Employee {
            our $adjusted = 0;
            field $id :param;
            field $name :param;
            field @notes;
            field %flags;
            ADJUST { $adjusted++ }
            method id             { return $id }
            method name           { return $name }
            method add (@more)    { push @notes, @more; return $self }
            method notes          { return @notes }
            method flag  ($name, $value) { $flags{$name} = $value; return $self }
            method flags          { return \%flags }
            method rename ($new)  { $name = $new; return }
        }

        # A field with the same name as one of its parent class.
        class Manager :isa(Employee) {
            field $name :param(title);
            field $staff = [];
            field $self_ref;
            method title          { return $name }
            method staff          { return $staff }
            method loop           { $self_ref = $self; return $self }
            method looped         { return $self_ref }
            method unloop         { $self_ref = undef; return }
        }

        1;
END
}

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

my $file = scratch('shape');
my %ways = (
    freeze  => [sub { freeze($_[0]) }, sub { my ($bytes, @classes) = @_; thaw($bytes, @classes) }],
    nfreeze => [sub { nfreeze($_[0]) }, sub { my ($bytes, @classes) = @_; thaw($bytes, @classes) }],
    store   => [sub { store($_[0], $file); slurp($file) }, sub { my ($bytes, @classes) = @_; retrieve($file, @classes) }],
    sereal  => [sub { encode_sereal($_[0]) }, sub { my ($bytes, @classes) = @_; decode_sereal($bytes, {@classes}) }],
    'sereal, canonical' => [sub { encode_sereal($_[0], { canonical => 1 }) }, sub { my ($bytes, @classes) = @_; decode_sereal($bytes, {@classes}) }],
);

sub circle {
    my $circle = Shape::Circle->new(name => 'round', radius => 5, centre => [1, 2]);
    $circle->add([1], { x => 2 }, 'three');
    $circle->style->{colour} = "\x{263a}";
    return $circle;
}

for my $name (sort keys %ways) {
    my ($write, $read) = @{ $ways{$name} };
    subtest $name => sub {
        my $bytes = eval { $write->([circle()]) };
        ok(defined $bytes, 'an object can be written') or do { diag($@); return };
        $Shape::adjusted = 0;
        my $copy = $read->($bytes, classes => ['Shape::Circle'])->[0];
        is($Shape::adjusted, 0, 'ADJUST is not run');
        isa_ok($copy, 'Shape::Circle');
        isa_ok($copy, 'Shape');
        is(Scalar::Util::reftype($copy), 'OBJECT', 'a real object');
        is($copy->radius, 5, 'a field of the class');
        is($copy->name, 'round', 'a field of its parent');
        is_deeply([$copy->points], [[1], { x => 2 }, 'three'], 'an array');
        is_deeply($copy->style, { colour => "\x{263a}" }, 'a hash');
        is($copy->nothing, undef, 'a field that was never set');
        $copy->rename('other');
        $copy->add(4);
        is($copy->name, 'other', 'fields can be changed');
        is(scalar(my @points = $copy->points), 4, 'arrays too');

        my $error = dies(sub { $read->($bytes) });
        like($error, qr/classes => \['Shape::Circle'\]/, 'the class has to be allowed');
        like($error, qr/\$\[0\]/, 'the error says where it stands');

        my $shared = circle();
        $shared->move($shared);
        $copy = $read->($write->([$shared, { s => $shared }]), classes => ['Shape::*']);
        is($copy->[0], $copy->[1]{s}, 'a shared object is one');
        is($copy->[0]->centre, $copy->[0], 'an object may refer to itself');
        $_->move(undef) for $shared, $copy->[0];

        my $list = [1];
        $shared->move($list);
        $copy = $read->($write->([$list, $shared]), classes => ['Shape::*']);
        is($copy->[1]->centre, $copy->[0], 'what is in a field is shared with the rest');

        $copy = $read->($write->(Empty->new), classes => ['Empty']);
        is($copy->hello, 'hello', 'a class without fields');
        my $nested = Shape::Circle->new(radius => 1, centre => circle());
        is($read->($write->($nested), classes => ['Shape::Circle'])->centre->radius, 5, 'an object in a field');
        is($nested->centre->radius, 5, 'the source is not touched');
    };
}

# Shared objects, an object that refers to itself, two fields with the same name.
for my $name ('dclone', sort keys %ways) {
    my ($write, $read) = $name eq 'dclone' ? (sub { return $_[0] }, sub { return dclone($_[0]) }) : @{ $ways{$name} };
    subtest "a hierarchy, $name" => sub {
        my $alice = Employee->new(id => 1001, name => 'Alice')->add('first', [2])->flag(on => 1);
        my $boss  = Manager->new(id => 1, name => 'Bob', title => "Chef \x{263a}")->loop;
        push @{ $boss->staff }, $alice, $alice;
        $Employee::adjusted = 0;
        my $copy = $read->($write->([$alice, $boss, Empty->new]), classes => ['Employee', 'Manager', 'Empty']);
        is($Employee::adjusted, 0, 'neither a constructor nor ADJUST ran');
        my ($employee, $manager, $empty) = @$copy;
        is(ref $employee, 'Employee', 'the class');
        is_deeply([$employee->id, $employee->name, $employee->notes, $employee->flags], [1001, 'Alice', 'first', [2], { on => 1 }], 'its fields');
        is_deeply([$manager->id, $manager->name, $manager->title], [1, 'Bob', "Chef \x{263a}"], 'fields of each class of the hierarchy');
        is($manager->staff->[0], $employee,            'an object in two places');
        is($manager->staff->[1], $manager->staff->[0], 'and in three');
        is($manager->looped,     $manager,             'itself');
        is($empty->hello,        'hello',              'without fields');
        $employee->rename('Carol');
        is($manager->staff->[0]->name, 'Carol', 'methods change it');
        isnt($alice->name, 'Carol', 'and not the first');
        $_->unloop for $boss, $manager;
    };
}

my $image = eval { nfreeze([circle()]) };
unless (defined $image) {
    fail("no object can be written: $@");
    done_testing;
    exit;
}

subtest 'dclone' => sub {
    $Shape::adjusted = 0;
    my $circle = circle();
    my $copy   = dclone($circle);
    is($Shape::adjusted, 1, 'ADJUST was run for the first only');
    isnt($copy, $circle, 'another object');
    is($copy->radius, 5, 'with the same fields');
    $copy->add('more');
    is(scalar(my @points = $circle->points), 3, 'of its own');
};

my $employee = freeze([Employee->new(id => 1, name => 'A')]);

subtest 'a class that is not listed' => sub {
    like(dies(sub { thaw($employee) }), qr/Employee at \$\[0\].*classes => \['Employee'\]/, 'is named with its path');
    is_deeply([map { $_->{class} } Icecore::classes($employee)], ['Employee'], 'and by classes');
};

subtest 'records' => sub {
    # The fields of a record are a hash, which has its own order.
    local $Icecore::Storable::canonical = 1;
    my $bytes  = freeze([circle()]);
    my $record = thaw($bytes, classes => 'record')->[0];
    isa_ok($record, 'Icecore::Record');
    is($record->class, 'Shape::Circle', 'names the class');
    bytes_are(freeze([$record]), $bytes, 'and is written back');
    $record = thaw($employee, classes => 'record')->[0];
    is($record->class, 'Employee', 'another');
    is_deeply($record->value, { 'Employee::$id' => 1, 'Employee::$name' => 'A', 'Employee::@notes' => [], 'Employee::%flags' => {} },
        'its value has the fields');
};

subtest 'a class whose fields have changed' => sub {
    spew(scratch('changed'), $image);
    my $output = run_perl(<<'END', scratch('changed'));
        use v5.38;
        use feature 'class';
        no warnings 'experimental::class';
        use Icecore::Storable qw(retrieve thaw);
        class Shape { field $name; field $area; method name { return $name } }
        class Shape::Circle :isa(Shape) { field $radius; field $centre; field @points; field %style; }
        open my $in, '<:raw', shift or die;
        my $bytes = do { local $/; <$in> };
        eval { thaw($bytes, classes => ['Shape::Circle']); 1 } ? print "taken\n" : print $@;
END
    like($output, qr/points|style|nothing|area/, 'is an error that names them');
    unlike($output, qr/^taken/, 'and nothing is taken');
    my $changed = $employee =~ s/Employee::\$name/Employee::\$gone/r;
    like(dies(sub { thaw($changed, classes => ['Employee']) }), qr/lacks Employee::\$name; the class lacks Employee::\$gone/,
        'the message says which are where');
    my $hash = Icecore::encode(bless({ id => 1 }, 'Was'), 'storable') =~ s/Was/Empty/r =~ s/\x03Empty/\x05Empty/r;
    like(dies(sub { thaw($hash, classes => 'any') }), qr/without its fields/, 'a hash that was blessed is no object of a class');
};

subtest 'a class that is not there' => sub {
    spew(scratch('missing'), $image);
    my $output = run_perl(<<'END', scratch('missing'));
        use Icecore::Storable qw(thaw);
        open my $in, '<:raw', shift or die;
        my $bytes = do { local $/; <$in> };
        eval { thaw($bytes, classes => ['Shape::Circle']); 1 } ? print "taken\n" : print $@;
        print thaw($bytes, classes => 'record')->[0]->class, "\n";
END
    like($output, qr/Shape::Circle\n\z/, 'is a record to who wants one');
    like($output, qr/^(?!taken).*Shape::Circle.*\n/, 'and otherwise an error that names it');
    my $other = $employee =~ s/Employee/Emplayee/gr;
    like(dies(sub { thaw($other, classes => 'any') }), qr/no such `class` is loaded/, 'and says why');
};

done_testing;
