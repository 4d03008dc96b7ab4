#!/usr/bin/env perl
# Sereal's functions for whole files, compared with the original if it is installed.
use v5.30;
use warnings;

use File::Temp qw(tempdir);
use Test::More;

use Icecore::Sereal qw(read_sereal read_sereal_file write_sereal write_sereal_file scalar_looks_like_sereal);
use Icecore::Storable ();

my $folder = tempdir(CLEANUP => 1);
my $data   = { list => [1, 2.5, "caf\x{e9}", undef], deep => { a => { b => 'c' } } };

write_sereal_file("$folder/a", $data);
is_deeply read_sereal_file("$folder/a"), $data, 'a written file is read back';
write_sereal("$folder/a", [3], 0, { compress => Icecore::Sereal::SRL_ZLIB() });
is_deeply read_sereal("$folder/a"), [3], 'a file is replaced, and write_sereal has the options of an encoder';
write_sereal_file("$folder/b", [$_], 1) for 1, 2;
my @all = read_sereal_file("$folder/b", { incremental => 1 });
is_deeply \@all, [[1], [2]], 'appended documents are read one by one';
read_sereal_file("$folder/a", undef, my $into);
is_deeply $into, [3], 'a document is read into a variable';
ok !eval { read_sereal_file("$folder/none"); 1 } && $@ =~ /Failed to open/, 'a missing file is an error';
is prototype('Icecore::Sereal::scalar_looks_like_sereal'), '$', 'scalar_looks_like_sereal has the prototype of the original';

SKIP: {
    skip 'Sereal::Decoder is not installed', 1 if !eval { require Sereal::Decoder; 1 };
    is_deeply(Sereal::Decoder->new->decode_from_file("$folder/a"), [3], 'the original reads the file');
}

is Icecore::Storable::BIN_MAJOR(), 2, 'BIN_MAJOR is the major version';
cmp_ok Icecore::Storable::BIN_VERSION_NV(), '==', 2 + Icecore::Storable::BIN_MINOR() / 1000, 'BIN_VERSION_NV is the version as a number';
SKIP: {
    skip 'file is not installed', 2 if system('file --version >/dev/null 2>&1') != 0;
    open my $magic, '>', "$folder/magic" or die $!;
    my $before = select $magic;
    Icecore::Storable::show_file_magic();
    select $before;
    close $magic;
    Icecore::Storable::store([1], "$folder/native");
    Icecore::Storable::nstore([1], "$folder/network");
    my $description = sub { my $text = qx{file -m "$folder/magic" "$folder/$_[0]"}; $text =~ s/.*?: //sr =~ s/\n\z//r };
    is $description->('native'),  'Perl Storable data, native, major 2, minor 11',        'file(1) recognises a native file';
    is $description->('network'), 'Perl Storable data, network order, major 2, minor 11', 'file(1) recognises a file in network order';
}

done_testing;
