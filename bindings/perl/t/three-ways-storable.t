# Every structure, frozen by both modules in all of Storable's ways, and read by both.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Structures;
use Ways;

my @modules = storables();
plan skip_all => 'needs Storable' unless @modules && !$modules[0]->ours;
my $original = $modules[0];
my $ours     = $modules[1] || $original;

sub in_memory {
    my ($name) = @_;
    return (
        write => sub { my ($m, $data)  = @_; return $m->$name($data) },
        read  => sub { my ($m, $bytes) = @_; return $m->thaw($bytes) },
    );
}

sub in_file {
    my ($name) = @_;
    return (
        write => sub {
            my ($m, $data) = @_;
            my $file = scratch('written');
            $m->$name($data, $file) or die "$name returned nothing";
            return slurp($file);
        },
        read => sub {
            my ($m, $bytes) = @_;
            my $file = scratch('read');
            spew($file, $bytes);
            return $m->retrieve($file);
        },
    );
}

my %native   = (lost => 'storable', same => { integral => 1, bools => 1 });
my %netorder = (lost => 'netorder', same => { integral => 1, bools => 1, digits => 1 });
my @ways     = (
    { name => 'freeze',  %native,   in_memory('freeze') },
    { name => 'nfreeze', %netorder, in_memory('nfreeze') },
    { name => 'store',   %native,   in_file('store') },
    { name => 'nstore',  %netorder, in_file('nstore') },
    { name => 'canonical freeze', %native,   in_memory('freeze'), sorted => 1, settings => { canonical => 1 } },
    { name => 'canonical nstore', %netorder, in_file('nstore'),   sorted => 1, settings => { canonical => 1 } },
);

for my $structure (Structures::all()) {
    next if ($structure->{only} || 'storable') ne 'storable';
    # Native losses are losses in network order too, unless stated otherwise.
    my %structure = (netorder => $structure->{storable}, %$structure);
    for my $way (@ways) {
        next if $structure->{large} && $way->{name} !~ /freeze/;
        next if $structure->{code}  && $way->{name} !~ /^n?freeze/;    # deparsing takes its time
        my %settings = (%{ $way->{settings} || {} }, $structure->{code} ? (Deparse => 1, Eval => 1) : ());
        my %way = %$way;
        for my $call ('write', 'read') {
            $way{$call} = sub { my ($m, $what) = @_; return $m->with(\%settings, sub { $way->{$call}->($m, $what) }) };
        }
        ways_ok(\%structure, \%way, $original, $ours);
    }
}

done_testing;
