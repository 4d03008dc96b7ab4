# Values with parts that several places share, as perl programs have them, and which places change
# together. One question per line:
#
#   make SEED            a value, frozen in each format: name=base64 ...
#   look FORMAT BASE64   its places: path=paths that change with it ...
use strict;
use warnings;
use MIME::Base64;
use Storable ();
use Sereal::Encoder;
use Sereal::Decoder;
use Data::Dumper;
use Scalar::Util qw(blessed reftype refaddr);

my $MARK = 'MARK';
my $seed;
sub below { $seed = ($seed * 1103515245 + 12345) % 2147483648; return int($seed / 65536) % $_[0] }

my (@containers, @scalars, $left);
sub leaf { return (7, 'abc', 2.5, 'x' x 40, undef, "caf\x{e9}", 1e20)[below(7)] }
sub value {
    my ($depth) = @_;
    $left--;
    my $what = below(12);
    return $containers[below(scalar @containers)] if $what < 2 && @containers;
    return $scalars[below(scalar @scalars)] if $what == 2 && @scalars;
    if ($what == 3) { my $leaf = leaf(); push @scalars, \$leaf; return \$leaf }
    return leaf() if $what < 6 || $depth <= 0 || $left <= 0;
    if ($what < 9) {
        my $array = [];
        push @containers, $array if below(2);
        push @$array, value($depth - 1) for 1 .. below(4);
        # A variable of the program as an element: the same one twice.
        if (below(5) == 0 && @scalars) { my $known = $scalars[below(scalar @scalars)]; Internals::SvREADONLY($$known) or alias($array, $known) }
        return $array;
    }
    my $hash = {};
    push @containers, $hash if below(2);
    $hash->{$_} = value($depth - 1) for ('a' .. 'd')[0 .. below(4) - 1];
    bless $hash, 'Obj' if below(4) == 0;
    return $hash;
}
sub alias { my ($array, $known) = @_; push @$array, undef; my $with = sub { \@_ }->(@$array[0 .. $#$array - 1], $$known); @$array = (); $#$array = -1; splice_in($array, $with) }
# Data that perl itself aliases: an array made from @_ contains the variables themselves.
sub splice_in { my ($array, $with) = @_; push @containers, $with if below(2); $array->[0] = $with }

my %freeze = (
    storable => sub { Storable::freeze($_[0]) },
    nstorable => sub { Storable::nfreeze($_[0]) },
    sereal => sub { Sereal::Encoder->new->encode($_[0]) },
    dumper => sub { local $Data::Dumper::Purity = 1; local $Data::Dumper::Indent = 1; Data::Dumper->new([$_[0]])->Useqq(1)->Dump },
);
my %thaw = (
    storable => sub { Storable::thaw($_[0]) },
    sereal => sub { Sereal::Decoder->new->decode($_[0]) },
    dumper => sub { my $VAR1; no strict; eval $_[0]; die $@ if $@; $VAR1 },
);
$thaw{nstorable} = $thaw{storable};

# Returns the variable at a place, through references to scalars.
sub variable { my ($to) = @_; my %seen; $to = $$to while ref $to && !$seen{refaddr $to}++ && (reftype($$to) // '') =~ /^(?:SCALAR|REF|LVALUE|VSTRING)$/ && ref $$to; return $to }

# Lists what is below a variable: path => variable.
sub places {
    my ($to, $path, $found, $open) = @_;
    $to = variable($to);
    push @$found, [$path, $to];
    my $value = $$to;
    my $type = ref $value ? reftype $value : '';
    return if !$type || $open->{refaddr $value} || keys %$open > 5;
    local $open->{refaddr $value} = 1;
    if ($type eq 'ARRAY') { places(\$value->[$_], "$path/$_", $found, $open) for 0 .. $#$value }
    if ($type eq 'HASH') { places(\$value->{$_}, "$path/$_", $found, $open) for sort keys %$value }
}
sub all { my ($root) = @_; my @found; places($root, '', \@found, {}); return @found }

sub change {
    my ($to) = @_;
    my $type = ref $$to ? reftype $$to : '';
    if ($type eq 'ARRAY') { push @{$$to}, $MARK; return }
    if ($type eq 'HASH') { ${$$to}{zz} = $MARK; return }
    $$to = $MARK;
}

sub is_mark { return defined $_[0] && !ref $_[0] && $_[0] eq $MARK }
sub has_mark {
    my ($value) = @_;
    my $type = ref $value ? reftype $value : '';
    return $type eq 'ARRAY' ? @$value && is_mark($$value[-1]) : $type eq 'HASH' && is_mark($$value{zz});
}

sub look {
    my ($thaw, $blob) = @_;
    my $first = $thaw->($blob);
    my @names = map { $_->[0] } all(\$first);
    my @said;
    for my $n (0 .. $#names) {
        my $value = $thaw->($blob);
        my @found = all(\$value);
        my $is_leaf = (ref ${$found[$n][1]} ? reftype ${$found[$n][1]} : '') !~ /^(?:ARRAY|HASH)$/;
        # A literal in evaluated text can't be changed at all.
        if (Internals::SvREADONLY(${$found[$n][1]})) { push @said, "?$names[$n]=$names[$n]"; next }
        change($found[$n][1]);
        my %changed;
        for (all(\$value)) {
            my ($path, $to) = @$_;
            $changed{$path} = 1 if $is_leaf ? is_mark($$to) : has_mark($$to);
        }
        push @said, ($is_leaf ? '' : '+') . "$names[$n]=" . join ',', sort keys %changed;
    }
    return join ' ', @said;
}

$| = 1;
while (my $line = <STDIN>) {
    my ($what, @more) = split ' ', $line;
    my $answer = eval {
        local $SIG{__WARN__} = sub { };
        if ($what eq 'make') {
            ($seed, $left) = ($more[0] * 2654435761 % 2147483648, 14);
            @containers = @scalars = ();
            my $value = below(2) ? [map value(3), 0 .. 4] : {map { $_ => value(3) } 'a' .. 'e'};
            return join ' ', map { "$_=" . encode_base64($freeze{$_}->($value), '') } sort keys %freeze;
        }
        return look($thaw{$more[0]}, decode_base64($more[1] // ''));
    };
    $answer = 'error ' . ($@ =~ s/\s+/ /gr) if !defined $answer;
    print "$answer\n";
}
