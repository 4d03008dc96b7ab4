package Lab::Flat;
# For runners that know only a list of plain values, as join and pack do: what they
# need to carry a flat list, or a flat hash whose keys are known outside.
use v5.30;
use warnings;

# A sub for carries. `write` is an expression of LIST, `read` gives a list; `refuse` is
# a sub that tells of one value why it can't be carried, or nothing.
sub carries {
    my (%runner) = @_;
    return sub {
        my ($value) = @_;
        my $is = ref $value;
        return 'it only carries flat lists, and flat hashes whose keys are known' if $is ne 'ARRAY' && $is ne 'HASH';
        # Copies, as a number that is looked at as text remembers it.
        for my $one (my @copy = $is eq 'HASH' ? values %$value : @$value) {
            return 'it does not carry undef'             if !defined $one;
            return 'it only carries what is not nested'  if ref $one;
            return 'it only carries characters of a byte' if $one =~ /[^\x00-\xff]/;
            my $why = $runner{refuse}->($one);
            return $why if $why;
        }
        my ($names, $list, $made, $into) =
            $is eq 'HASH'
            ? ([sort keys %$value], '@$value{@names}', '%made', '@made{@names}')
            : ([], '@$value', '@made', '@made');
        return {
            names => $names,
            write => $runner{write} =~ s/LIST/$list/r,
            # Faster than [...] around it: the list goes into the array without a copy.
            read  => "(do { my $made; $into = $runner{read}; \\$made })",
        };
    };
}

1;
