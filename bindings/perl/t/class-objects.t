# Objects of perl 5.38's `class`.
use v5.30;
use warnings;

use Test::More;

BEGIN {
    plan skip_all => "perl $] has no `class`" if $] < 5.038;
}

use Icecore            ();
use Icecore::Sereal    qw(decode_sereal encode_sereal);
use Icecore::Storable  qw(dclone freeze nfreeze thaw);

my $classes = <<'PERL';
use v5.38;
use experimental 'class';
our $built = 0;
class Employee {
    field $id :param;
    field $name :param;
    field @notes;
    field %flags;
    ADJUST { $main::built++ }
    method id    { return $id }
    method name  { return $name }
    method add   (@more) { push @notes, @more; return $self }
    method notes { return @notes }
    method flag  ($name, $value) { $flags{$name} = $value; return $self }
    method flags { return \%flags }
    method rename ($new) { $name = $new }
}
class Manager :isa(Employee) {
    field $name :param(title);
    field $staff = [];
    field $self_ref;
    method title { return $name }
    method staff { return $staff }
    method loop  { $self_ref = $self; return $self }
    method looped { return $self_ref }
}
class Empty { method yes { return 'yes' } }
1;
PERL
eval $classes or die $@;
our $built;

my %ways = (
    freeze => [\&freeze, sub { thaw($_[0], classes => ['Employee', 'Manager', 'Empty']) }],
    nfreeze => [\&nfreeze, sub { thaw($_[0], classes => ['Employee', 'Manager', 'Empty']) }],
    sereal => [\&encode_sereal, sub { decode_sereal($_[0], { classes => ['Employee', 'Manager', 'Empty'] }) }],
    dclone => [sub { return $_[0] }, \&dclone],
);

for my $way (sort keys %ways) {
    my ($write, $read) = @{ $ways{$way} };
    my $alice = Employee->new(id => 1001, name => 'Alice')->add('first', [2])->flag(on => 1);
    my $boss  = Manager->new(id => 1, name => 'Bob', title => "Chef \x{263a}")->loop;
    push @{ $boss->staff }, $alice, $alice;
    $built = 0;
    my $back = $read->($write->([$alice, $boss, Empty->new]));
    is($built, 0, "$way: neither constructor nor ADJUST ran");
    my ($a, $b, $empty) = @$back;
    is(ref $a, 'Employee', "$way: the class");
    is_deeply([$a->id, $a->name, $a->notes, $a->flags], [1001, 'Alice', 'first', [2], { on => 1 }], "$way: fields");
    is_deeply([$b->id, $b->name, $b->title], [1, 'Bob', "Chef \x{263a}"], "$way: fields of each class of the hierarchy");
    is($b->staff->[0], $a,              "$way: shared with");
    is($b->staff->[1], $b->staff->[0],  "$way: and again");
    is($b->looped,     $b,              "$way: itself");
    is($empty->yes,    'yes',           "$way: without fields");
    $a->rename('Carol');
    is($b->staff->[0]->name, 'Carol', "$way: methods change it");
    isnt($alice->name, 'Carol', "$way: and not the first");
    $boss->staff->@* = ();
}

my $frozen = freeze([Employee->new(id => 1, name => 'A')]);
ok(!eval { thaw($frozen); 1 }, 'a class that is not listed');
like($@, qr/Employee at \$\[0\].*classes => \['Employee'\]/, 'is named with its path');
is_deeply([map { $_->{class} } Icecore::classes($frozen)], ['Employee'], 'classes');

my $record = thaw($frozen, classes => 'record');
is($record->[0]->class, 'Employee', 'as a record');
is_deeply($record->[0]->value, { 'Employee::$id' => 1, 'Employee::$name' => 'A', 'Employee::@notes' => [], 'Employee::%flags' => {} },
    'whose value has the fields');

# The class has changed since.
(my $changed = $frozen) =~ s/Employee::\$name/Employee::\$gone/;
ok(!eval { thaw($changed, classes => ['Employee']); 1 }, 'a class that changed');
like($@, qr/lacks Employee::\$name; the class lacks Employee::\$gone/, 'names the fields');
ok(!eval { thaw(Icecore::encode(bless({ id => 1 }, 'Was'), 'storable') =~ s/Was/Empty/r =~ s/\x03Empty/\x05Empty/r, classes => 'any'); 1 },
    'a hash that was blessed into it');
like($@, qr/without its fields/, 'is no object of a class');

(my $other = $frozen) =~ s/Employee/Emplayee/g;
ok(!eval { thaw($other, classes => 'any'); 1 }, 'a class that is not loaded');
like($@, qr/no such `class` is loaded/, 'says so');

done_testing;
