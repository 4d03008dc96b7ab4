package Lab::Literal;
# The perl source that builds a value.
use v5.30;
use warnings;

use B            ();
use Scalar::Util qw(blessed refaddr reftype);

my $most = 20_000;
my ($nodes, %seen);

# A sub for carries of the runner that reads nothing. A long list is built from its
# first thousand items, again and again.
sub carries {
    my ($value) = @_;
    my $source = eval { build($value) } // return $@ =~ s/\n\z//r;
    return { read => $source, retrieve => $source };
}

sub build {
    my ($value) = @_;
    my $long = ref $value eq 'ARRAY' && @$value > 1000;
    my $whole = eval { items($value) };
    return $whole if defined $whole;
    die $@ if !$long;
    my @items = @$value[0 .. 999];
    my ($times, $rest) = (int(@$value / 1000), @$value % 1000);
    my $all  = items(@items);
    my $tail = $rest ? 'push @made, ' . items(@items[0 .. $rest - 1]) . ';' : '';
    return "(do { my \@made; for (1 .. $times) { push \@made, $all; } $tail \\\@made })";
}

sub items {
    ($nodes, %seen) = (0);
    return join ', ', map { write_value($_, 0) } @_;
}

sub write_value {
    my ($value, $depth) = @_;
    die "it only builds up to $most values\n"       if ++$nodes > $most;
    die "it only builds what is not nested deeply\n" if $depth > 500;
    return write_plain($value) if !ref $value;
    die "it only builds what is referred to once\n" if $seen{ refaddr $value }++;
    my $type = reftype $value;
    my $text =
          $type eq 'ARRAY' ? '[' . join(',', map { write_value($_, $depth + 1) } @$value) . ']'
        : $type eq 'HASH'  ? '+{' . join(',', map { write_text($_) . '=>' . write_value($value->{$_}, $depth + 1) } keys %$value) . '}'
        : $type eq 'SCALAR' || $type eq 'REF' ? '\\(my $one = ' . write_value($$value, $depth + 1) . ')'
        :                                       die "it does not build a $type\n";
    return defined blessed $value ? "bless($text, " . write_text(blessed $value) . ')' : $text;
}

sub write_plain {
    my ($value) = @_;
    return 'undef' if !defined $value;
    my $flags = B::svref_2object(\$value)->FLAGS;
    return write_text($value) if $flags & B::SVf_POK;
    return "$value"           if $flags & B::SVf_IOK;
    my $text = sprintf '%.17g', $value;
    return $text =~ /\A-?[0-9]/ ? $text : "(0 + '$text')";
}

sub write_text {
    my ($text) = @_;
    $text =~ s/([^ -~]|["\\\$\@])/sprintf '\x{%x}', ord $1/ge;
    return qq("$text");
}

1;
