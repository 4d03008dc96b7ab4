# Reads lines `FORMAT HEX` and prints what perl reads from each, one line per value.
use strict;
use warnings;
use B ();
use Data::Dumper ();
use Scalar::Util ();
use Sereal::Decoder ();
use Storable ();
no warnings 'experimental';

# Strings are given as the UTF-8 of their characters.
sub text { my $text = shift; utf8::encode($text); unpack 'H*', $text }

sub scalar_of {
    my $value = ${ $_[0] };
    return 'n' if !defined $value;
    return $value ? 't' : 'f' if builtin::is_bool($value);
    my $flags = B::svref_2object($_[0])->FLAGS;
    return 's' . text($value) if $flags & B::SVf_POK;
    return "i$value" if $flags & B::SVf_IOK;
    return 'dnan' if $value != $value;
    return 'd' . unpack 'H*', pack 'd>', $value;
}

sub said {
    my $value = ${ $_[0] };
    my $kind = ref $value or return scalar_of($_[0]);
    my $is = Scalar::Util::reftype($value);
    my $body
        = $is eq 'ARRAY' ? '[' . join(',', map said(\$value->[$_]), 0 .. $#$value) . ']'
        : $is eq 'HASH' ? '{' . join(',', sort map 's' . text($_) . '=' . said(\$value->{$_}), keys %$value) . '}'
        : '?';
    return $kind eq $is ? $body : 'o' . text($kind) . $body;
}

while (my $line = <STDIN>) {
    my ($format, $blob) = split ' ', $line;
    $blob = pack 'H*', $blob // '';
    my $value;
    my $ok = eval {
        no strict;
        local $SIG{__WARN__} = sub { };
        if ($format eq 'storable') { $value = Storable::thaw($blob) }
        elsif ($format eq 'sereal') { $value = Sereal::Decoder::decode_sereal($blob) }
        else { my $VAR1; eval "$blob; 1" or die $@; $value = $VAR1 }
        1;
    };
    my $said = $ok && eval { said(\$value) } || "error $@";
    $said =~ s/\n.*//s;
    print "$said\n";
    STDOUT->flush;
}
