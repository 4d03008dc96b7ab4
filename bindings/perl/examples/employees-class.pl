#!/usr/bin/perl
# Employees that are objects of perl's own `class`. Neither Storable nor Sereal can store these;
# here they come back as objects whose methods work.

use v5.38;
use feature 'class';
no warnings 'experimental::class';

use File::Temp        qw(tempdir);
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze thaw dclone store retrieve);

class Employee {
    field $id   :param;
    field $name :param;
    field $age  :param;
    field @projects;
    field %phone;

    ADJUST { say "$name is hired" }

    method title    { return "$name ($id), $age" }
    method birthday { $age++; return }
    method all      { return join ', ', @projects, map { "$_ $phone{$_}" } sort keys %phone }

    method works_on   (@names)          { push @projects, @names; return }
    method answers_at ($place, $number) { $phone{$place} = $number; return }
}

class Manager :isa(Employee) {
    field $reports :param = [];
    method reports { return map { $_->title } @$reports }
}

my $alice = Employee->new(id => 1001, name => 'Alice', age => 30);
my $bob   = Manager->new(id => 1002, name => 'Bob', age => 25, reports => [$alice]);
$alice->works_on('parser', 'store');
$alice->answers_at(office => 17);

Icecore->allow('Employee', 'Manager');
my $folder = tempdir(CLEANUP => 1);
store([$alice, $bob], "$folder/staff");

my %copies = (
    'in memory, Storable' => thaw(freeze([$alice, $bob])),
    'in memory, Sereal'   => decode_sereal(encode_sereal([$alice, $bob])),
    'in a file'           => retrieve("$folder/staff"),
    'a clone'             => dclone([$alice, $bob]),
);
for my $what (sort keys %copies) {
    my ($first, $second) = $copies{$what}->@*;
    $first->birthday;
    say "$what: ", $first->title, '; ', $first->all;
    say "$what: ", $second->title, ' leads ', $second->reports;
}
say 'the first Alice: ', $alice->title;
