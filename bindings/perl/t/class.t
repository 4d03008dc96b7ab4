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
        is($Shape::adjusted, 0, 'reading an object does not run ADJUST');
        isa_ok($copy, 'Shape::Circle');
        isa_ok($copy, 'Shape');
        is(Scalar::Util::reftype($copy), 'OBJECT', 'the copy is a real object of a class');
        is($copy->radius, 5, 'a field of the class is restored');
        is($copy->name, 'round', 'a field of the parent class is restored');
        is_deeply([$copy->points], [[1], { x => 2 }, 'three'], 'an array field is restored');
        is_deeply($copy->style, { colour => "\x{263a}" }, 'a hash field is restored');
        is($copy->nothing, undef, 'a field that was never set is undef');
        $copy->rename('other');
        $copy->add(4);
        is($copy->name, 'other', 'methods can change a field of the copy');
        is(scalar(my @points = $copy->points), 4, 'methods can change an array field of the copy');

        my $error = dies(sub { $read->($bytes) });
        like($error, qr/classes => \['Shape::Circle'\]/, 'the error says how to allow the class');
        like($error, qr/\$\[0\]/, 'the error has the path of the object');

        my $shared = circle();
        $shared->move($shared);
        $copy = $read->($write->([$shared, { s => $shared }]), classes => ['Shape::*']);
        is($copy->[0], $copy->[1]{s}, 'an object that is shared stays one object');
        is($copy->[0]->centre, $copy->[0], 'an object can refer to itself');
        $_->move(undef) for $shared, $copy->[0];

        my $list = [1];
        $shared->move($list);
        $copy = $read->($write->([$list, $shared]), classes => ['Shape::*']);
        is($copy->[1]->centre, $copy->[0], 'a value in a field is shared with the rest of the data');

        $copy = $read->($write->(Empty->new), classes => ['Empty']);
        is($copy->hello, 'hello', 'an object without fields is restored');
        my $nested = Shape::Circle->new(radius => 1, centre => circle());
        is($read->($write->($nested), classes => ['Shape::Circle'])->centre->radius, 5, 'an object in a field is restored');
        is($nested->centre->radius, 5, 'freezing does not change the object');
    };
}

# Shared objects, an object that refers to itself, two fields with the same name.
for my $name ('dclone', sort keys %ways) {
    my ($write, $read) = $name eq 'dclone' ? (sub { return $_[0] }, sub { return dclone($_[0]) }) : @{ $ways{$name} };
    subtest "a hierarchy of classes, $name" => sub {
        my $alice = Employee->new(id => 1001, name => 'Alice')->add('first', [2])->flag(on => 1);
        my $boss  = Manager->new(id => 1, name => 'Bob', title => "Chef \x{263a}")->loop;
        push @{ $boss->staff }, $alice, $alice;
        $Employee::adjusted = 0;
        my $copy = $read->($write->([$alice, $boss, Empty->new]), classes => ['Employee', 'Manager', 'Empty']);
        is($Employee::adjusted, 0, 'reading runs neither a constructor nor ADJUST');
        my ($employee, $manager, $empty) = @$copy;
        is(ref $employee, 'Employee', 'the object has its class');
        is_deeply([$employee->id, $employee->name, $employee->notes, $employee->flags], [1001, 'Alice', 'first', [2], { on => 1 }], 'the object has its fields');
        is_deeply([$manager->id, $manager->name, $manager->title], [1, 'Bob', "Chef \x{263a}"], 'the object has the fields of each class of its hierarchy');
        is($manager->staff->[0], $employee,            'an object in two places stays one object');
        is($manager->staff->[1], $manager->staff->[0], 'an object in three places stays one object');
        is($manager->looped,     $manager,             'an object can refer to itself');
        is($empty->hello,        'hello',              'an object without fields is restored');
        $employee->rename('Carol');
        is($manager->staff->[0]->name, 'Carol', 'a method changes the copy');
        isnt($alice->name, 'Carol', 'changing the copy does not change the original object');
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
    is($Shape::adjusted, 1, 'dclone does not run ADJUST');
    isnt($copy, $circle, 'dclone returns another object');
    is($copy->radius, 5, 'the copy has the same fields');
    $copy->add('more');
    is(scalar(my @points = $circle->points), 3, 'the copy has an array of its own');
};

my $employee = freeze([Employee->new(id => 1, name => 'A')]);

subtest 'an object of a class that is not listed' => sub {
    like(dies(sub { thaw($employee) }), qr/Employee at \$\[0\].*classes => \['Employee'\]/, 'the error has the class and the path');
    is_deeply([map { $_->{class} } Icecore::classes($employee)], ['Employee'], 'Icecore::classes lists the class');
};

subtest 'records' => sub {
    # The fields of a record are a hash, which has its own order.
    local $Icecore::Storable::canonical = 1;
    my $bytes  = freeze([circle()]);
    my $record = thaw($bytes, classes => 'record')->[0];
    isa_ok($record, 'Icecore::Record');
    is($record->class, 'Shape::Circle', 'the record has the name of the class');
    bytes_are(freeze([$record]), $bytes, 'the record is written as the object that was read');
    $record = thaw($employee, classes => 'record')->[0];
    is($record->class, 'Employee', 'the record of another object has the name of its class');
    is_deeply($record->value, { 'Employee::$id' => 1, 'Employee::$name' => 'A', 'Employee::@notes' => [], 'Employee::%flags' => {} },
        'its value has the fields');
};

subtest 'an object of a class whose fields have changed' => sub {
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
    like($output, qr/points|style|nothing|area/, 'the error names the fields');
    unlike($output, qr/^taken/, 'no object is returned');
    my $changed = $employee =~ s/Employee::\$name/Employee::\$gone/r;
    like(dies(sub { thaw($changed, classes => ['Employee']) }), qr/lacks Employee::\$name; the class lacks Employee::\$gone/,
        'the message says which are where');
    my $hash = Icecore::encode(bless({ id => 1 }, 'Was'), 'storable') =~ s/Was/Empty/r =~ s/\x03Empty/\x05Empty/r;
    like(dies(sub { thaw($hash, classes => 'any') }), qr/without its fields/, 'a blessed hash is refused as an object of a `class`');
};

subtest 'an object of a class that is not loaded' => sub {
    spew(scratch('missing'), $image);
    my $output = run_perl(<<'END', scratch('missing'));
        use Icecore::Storable qw(thaw);
        open my $in, '<:raw', shift or die;
        my $bytes = do { local $/; <$in> };
        eval { thaw($bytes, classes => ['Shape::Circle']); 1 } ? print "taken\n" : print $@;
        print thaw($bytes, classes => 'record')->[0]->class, "\n";
END
    like($output, qr/Shape::Circle\n\z/, "with classes => 'record' the object is a record");
    like($output, qr/^(?!taken).*Shape::Circle.*\n/, 'without records the object is an error that names the class');
    my $other = $employee =~ s/Employee/Emplayee/gr;
    like(dies(sub { thaw($other, classes => 'any') }), qr/no such `class` is loaded/, 'the error says that the class is not loaded');
};

done_testing;
