# Works on a queue: the result of a job is its number, and whether perl sees its value as equal to that
# of the file.
use strict;
use warnings;
use Icecore::Client;
use Icecore::JSON;
use Scalar::Util qw(looks_like_number);

my ($queue, $file) = @ARGV;
open my $in, '<', $file or die "$file: $!";
my @wanted = map { decode_json($_)->{value} } <$in>;
print Icecore::Client->new->work($queue, sub {
    my ($number, $value) = @{ $_[0]->value };
    return [ 0 + $number, same($wanted[$number], $value) ? 'same' : 'other' ];
}, drain => 1, max => 3);

sub same {
    my ($wanted, $got) = @_;
    return !defined $got if !defined $wanted;
    return 0 if !defined $got || ref $wanted ne ref $got;
    if (ref $wanted eq 'ARRAY') {
        return @$wanted == @$got && !grep { !same($wanted->[$_], $got->[$_]) } 0 .. $#$wanted;
    }
    if (ref $wanted eq 'HASH') {
        my %got = map { text($_) => $got->{$_} } keys %$got;
        return keys %got == keys %$wanted && !grep { !exists $got{ text($_) } || !same($wanted->{$_}, $got{ text($_) }) } keys %$wanted;
    }
    return 1 if looks_like_number($wanted) && looks_like_number($got) && $wanted == $got;
    return text($wanted) eq text($got);
}

# Languages whose strings are bytes send bytes.
sub text {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text) || ($text =~ /[^\x00-\x7f]/ && !utf8::decode(my $copy = $text));
    return $text;
}
