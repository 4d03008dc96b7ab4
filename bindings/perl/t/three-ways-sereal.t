# Every structure, encoded by both modules with every option that changes the
# bytes, and decoded by both.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
use Structures;
use Ways;

my @modules = sereals();
plan skip_all => 'needs Sereal::Encoder and Sereal::Decoder' unless @modules && !$modules[0]->ours;
my $original = $modules[0];
my $ours     = $modules[1] || $original;

# Name, options of the encoder, and differences that Same has to ignore.
my @options = (
    ['plain', {}],
    ['canonical', { canonical => 1 }],
    ['canonical_refs', { canonical_refs => 1 }],
    ['sort_keys 1', { sort_keys => 1 }],
    ['sort_keys 2', { sort_keys => 2 }],
    ['sort_keys 3', { sort_keys => 3 }],
    ['no_shared_hashkeys', { no_shared_hashkeys => 1 }],
    # For the encoder, bytes and text of the same characters are the same string, and a variable
    # is not shared if its string was written as a COPY. With aliases a string may be one that
    # is blessed elsewhere.
    ['dedupe_strings', { dedupe_strings => 1 }, string_flags => 1, variables => 1, references => 1],
    ['aliased_dedupe_strings', { aliased_dedupe_strings => 1 }, string_flags => 1, variables => 1, references => 1, variable_class => 1],
    ['protocol 1', { protocol_version => 1 }],
    ['protocol 2', { protocol_version => 2 }],
    ['protocol 3', { protocol_version => 3 }],
    ['protocol 4', { protocol_version => 4 }],
    ['no_bless_objects', { no_bless_objects => 1 }, classes => 1],
    ['snappy', { compress => 1, compress_threshold => 0 }],
    ['zlib', { compress => 2, compress_threshold => 0 }],
    ['zstd', { compress => 3, compress_threshold => 0 }],
);

my @ways = map {
    my ($name, $options, %same) = @$_;
    my $old = ($options->{protocol_version} || 5) < 5;
    +{
        name   => $name,
        lost   => 'sereal',
        sorted => $options->{sort_keys} || $options->{canonical},
        overlooks => scalar(%same),
        same   => { $old ? (bools => 1) : (), %same },
        $options->{compress} ? (plain => \&decompressed) : (),
        options => $options,
        # A string that several references share can become two, and one that is aliased to the
        # string of an object can become that object.
        $name =~ /dedupe/ ? (unfaithful => qr{^chance/}) : (),
        # Data that the original's own decoder can't read.
        $options->{aliased_dedupe_strings} ? (unreadable => qr/ALIAS tag not inside container/) : (),
    };
} @options;

my %first = map { ($_->{name} => 1) } @ways[0, 1];
my $count;
for my $structure (Structures::all()) {
    next if ($structure->{only} || 'sereal') ne 'sereal';
    $count++;
    for my $way (@ways) {
        next if $structure->{large}   && !$way->{options}{compress} && !$first{ $way->{name} };
        next if $structure->{freezes} && ($way->{options}{no_bless_objects} || ($way->{options}{protocol_version} || 5) < 2);
        # These differ from the previous ones in few cases.
        next if $way->{name} =~ /^(?:protocol [34]|sort_keys [23]|canonical_refs)$/ && $count % 4
            && $structure->{name} !~ m{^(?:keys|booleans|undef|restricted|records|callbacks)/};
        # Compression depends on bytes, not on structures.
        next if $way->{options}{compress} && !$structure->{large} && $count % 9;
        my %options = (
            %{ $way->{options} },
            $structure->{freezes} ? (freeze_callbacks => 1) : (),
            $structure->{unknown} ? (undef_unknown => 1) : (),
        );
        my %way = (
            %$way,
            write => sub { my ($m, $data)  = @_; return $m->encode($data, \%options) },
            read  => sub { my ($m, $bytes) = @_; $m->decode($bytes, {}, my $into); return $into },
        );
        ways_ok($structure, \%way, $original, $ours);
    }
}

done_testing;
