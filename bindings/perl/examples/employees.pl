#!/usr/bin/perl
# Employees in memory and in a file, with the functions of Storable and of Sereal, as plain
# hashes and as objects.

use strict;
use warnings;

use File::Temp        qw(tempdir);
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze thaw store retrieve);

package Employee {
    sub new   { my ($class, %field) = @_; return bless {%field}, $class }
    sub name  { return $_[0]{name} }
    sub title { my ($self) = @_; return "$self->{name} ($self->{id}), $self->{age}" }
}

my @plain = (
    { id => 1001, name => 'Alice', age => 30 },
    { id => 1002, name => 'Bob',   age => 25 },
);
my @objects = map { Employee->new(%$_) } @plain;
my $folder  = tempdir(CLEANUP => 1);

# Plain data needs only the functions.
my $copy = thaw(freeze(\@plain));
print "in memory, Storable: $_->{name} is $_->{age}\n" for @$copy;

$copy = decode_sereal(encode_sereal(\@plain));
print "in memory, Sereal:   $_->{name} is $_->{age}\n" for @$copy;

store(\@plain, "$folder/plain.storable");
print "in a file, Storable: $_->{name} is $_->{age}\n" for @{ retrieve("$folder/plain.storable") };

write_file("$folder/plain.srl", encode_sereal(\@plain));
print "in a file, Sereal:   $_->{name} is $_->{age}\n" for @{ decode_sereal(read_file("$folder/plain.srl")) };

# Objects come back if their class is named; then their methods work.
my $bytes = freeze(\@objects);
print "not allowed: ", eval { thaw($bytes); 1 } ? 'taken' : short($@), "\n";
print "as objects, Storable: ", $_->title, "\n" for @{ thaw($bytes, classes => ['Employee']) };

$bytes = encode_sereal(\@objects);
print "not allowed: ", eval { decode_sereal($bytes); 1 } ? 'taken' : short($@), "\n";
print "as objects, Sereal:   ", $_->title, "\n" for @{ decode_sereal($bytes, { classes => ['Employee'] }) };

# Or once for the whole program.
Icecore->allow('Employee');
store(\@objects, "$folder/objects.storable");
print "from a file: ", $_->title, "\n" for @{ retrieve("$folder/objects.storable") };

sub short { my ($error) = @_; return $error =~ /(classes => \['\w+'\])/ ? "it takes $1" : $error }

sub write_file {
    my ($file, $content) = @_;
    open my $out, '>:raw', $file or die "$file: $!";
    print {$out} $content;
    close $out or die "$file: $!";
    return;
}

sub read_file {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$file: $!";
    local $/;
    return scalar readline $in;
}
