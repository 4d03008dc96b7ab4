package Differences;

# Cases in which Icecore intentionally writes other bytes than the original. The originals read
# all of them; each entry names the structures and the ways, and the reason. t/three-ways-*.t fail
# if one of them is no longer a difference.

use strict;
use warnings;

my @known = (
    {
        structure => qr{^strings/repeated-text$},
        way       => qr/dedupe_strings$/,
        why       => 'dedupe_strings takes bytes and text of the same characters for one string, and the second becomes'
            . ' what the first is; Icecore keeps both as they are',
    },
    {
        # Which string comes first depends on the order of a hash.
        structure => qr{^chance/},
        way       => qr/dedupe_strings$/,
        why       => 'the same, in random structures',
        sometimes => 1,
    },
    {
        structure => qr{^restricted/nested$},
        way       => qr/^(?:canonical|sort_keys 1)$/,
        why       => 'the keys of a restricted hash that allows more than it has are written in full when keys are'
            . ' sorted; Icecore writes a key that was there before as a COPY, as it does for every other hash',
    },
);

# Returns the reason for a difference, and whether it occurs only sometimes; an empty list if the
# bytes must be equal.
sub reason_for {
    my ($structure, $way) = @_;
    for my $difference (@known) {
        next if $structure !~ $difference->{structure} || $way !~ $difference->{way};
        return @$difference{qw(why sometimes)};
    }
    return;
}

1;
