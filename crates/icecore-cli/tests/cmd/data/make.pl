#!/usr/bin/env perl
# Creates the files in this folder with the real Storable and Sereal.
use v5.36;
use FindBin;
use Storable ();
use Sereal::Encoder qw(SRL_ZSTD);

chdir $FindBin::Bin or die;
$Storable::canonical = 1;

sub write_file ($name, $bytes) {
    open my $file, '>:raw', $name or die "$name: $!";
    print $file $bytes;
    close $file or die "$name: $!";
}

sub employee ($id, $name, $age) { bless { id => $id, name => $name, age => $age }, 'Employee' }

my $staff = [ employee(1, 'Alice', 30), employee(2, "Zo\x{eb}", 41.5), employee(3, undef, undef) ];
utf8::upgrade($staff->[1]{name});
Storable::store($staff, 'staff.storable');
Storable::nstore($staff, 'staff-net.storable');

my $sereal = Sereal::Encoder->new({ canonical => 1 });
write_file('staff.srl', $sereal->encode($staff));

my $zstd = Sereal::Encoder->new({ canonical => 1, compress => SRL_ZSTD, compress_threshold => 0 });
write_file('header.srl', $zstd->encode([ map { employee($_, "Employee_$_", 20 + $_) } 1 .. 20 ], { made => 'by hand' }));

write_file('log.srl', join '', map { $sereal->encode({ n => $_ }) } 1 .. 3);

my $cycle = { name => 'top', list => [ 1, 2 ] };
$cycle->{self} = $cycle;
$cycle->{again} = $cycle->{list};
Storable::nstore($cycle, 'cycle.storable');

Storable::nstore({ latin => "caf\xe9", re => qr/a+/i, ref => \"x", list => [ 1 .. 100 ] }, 'mixed.storable');

{
    package My::Thing;
    sub STORABLE_freeze ($self, $cloning) { return 'frozen', $self->{inner} }
}
Storable::nstore([ bless({ inner => [ 1, 2 ] }, 'My::Thing'), employee(1, 'Bob', 5) ], 'hook.storable');

my $deep = 1;
$deep = [$deep] for 1 .. 40;
Storable::nstore($deep, 'deep.storable');
