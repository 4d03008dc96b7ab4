# Cases of Sereal's allow lists, generated from numbers, so that the original and Icecore get the
# same cases.
#
# A case is an encoder or a decoder with options, a value, and the results of both: bytes or a
# description of the value, the error, and the calls in order.
package SerealLists;
use strict;
use warnings;

use Scalar::Util qw(blessed refaddr reftype);

our @calls;

# ---- classes ------------------------------------------------------------------

{
    package SerealLists::Frozen;
    sub FREEZE { my ($self, $for) = @_; push @calls, "FREEZE $self->{name} $for"; return @{ $self->{given} } }
    sub THAW {
        my ($class, $for, @given) = @_;
        push @calls, "THAW $class $for " . join ',', map { SerealLists::short($_) } @given;
        return bless { given => [@given] }, $class;
    }
    package Fa; our @ISA = ('SerealLists::Frozen');
    package Fb; our @ISA = ('SerealLists::Frozen');
    package Fc::Deep; our @ISA = ('Fb');
    package Fd; our @ISA = ('SerealLists::Frozen');
    sub THAW { my ($class, $for, @given) = @_; push @calls, "THAW Fd " . scalar @given; return [@given] }
    package Fe; # objects that are arrays
    sub FREEZE { my ($self) = @_; push @calls, 'FREEZE Fe'; return [@$self] }
    sub THAW { my ($class, $for, $list) = @_; push @calls, 'THAW Fe'; return bless [@$list], $class }
    package Ff; # objects that are scalars
    sub FREEZE { my ($self) = @_; push @calls, 'FREEZE Ff'; return $$self }
    sub THAW { my ($class, $for, $value) = @_; push @calls, 'THAW Ff'; return bless \$value, $class }
    package Fg; # has no THAW
    sub FREEZE { push @calls, 'FREEZE Fg'; return 'g' }
    package Pa; # no callbacks
    sub new { return bless {}, shift }
    package SerealLists::Truth;
    use overload bool => sub { ${ $_[0] } }, '""' => sub { 'Fa' }, fallback => 1;
}

sub short {
    my ($value) = @_;
    return 'undef' if !defined $value;
    return $value if !ref $value;
    my $class = blessed($value);
    return defined $class ? $class : ref $value;
}

# ---- the description of a value -----------------------------------------------------------

sub describe {
    my ($value) = @_;
    my (%seen, $count);
    my $show;
    $show = sub {
        my ($item) = @_;
        return defined $item ? "'$item'" : 'undef' if !ref $item;
        my $known = $seen{ refaddr $item };
        return "#$known" if $known;
        $seen{ refaddr $item } = ++$count;
        my $front = "$count:" . (blessed($item) // '');
        my $type = reftype $item;
        return "$front\[" . join(',', map { $show->($_) } @$item) . ']' if $type eq 'ARRAY';
        return "$front\{" . join(',', map { "$_=" . $show->($item->{$_}) } sort keys %$item) . '}' if $type eq 'HASH';
        return "$front\\" . $show->($$item) if $type eq 'SCALAR' || $type eq 'REF';
        return "$front$type";
    };
    my $text = $show->($value);
    undef $show;
    return $text;
}

# Returns the words of an error, without its place in a program or in the original's source.
sub words {
    my ($error) = @_;
    return 'an object: ' . describe($error) if ref $error;
    $error =~ s/('refuse_objects' option is in effect).*/$1/s;
    $error =~ s/ at srl_\w+\.[ch] line \d+//;
    $error =~ s/ at \S+ line \d+(?:, <\S+> line \d+)?\.?\n\z//;
    return $error;
}

# ---- numbers ---------------------------------------------------------------------------

# The same numbers in every perl.
package SerealLists::Chance {
    sub new { my ($class, $seed) = @_; return bless { state => ($seed * 2_654_435_761 + 1) % 4_294_967_296 }, $class }

    sub below {
        my ($self, $most) = @_;
        $self->{state} = ($self->{state} * 1_664_525 + 1_013_904_223) % 4_294_967_296;
        return int($self->{state} / 65_536) % $most;
    }
    sub one_of { my ($self, @all) = @_; return $all[ $self->below(scalar @all) ] }
}

package SerealLists;

my @classes = qw(Fa Fa Fb Fb Fc::Deep Fd Fe Ff Pa);

sub object {
    my ($chance, $made, $level) = @_;
    my $class = $chance->one_of(@classes);
    if ($class eq 'Ff') {
        my $value = 'f' . $chance->below(3);
        push @$made, bless \$value, $class;
    } elsif ($class eq 'Fe') {
        push @$made, my $object = bless [], $class;
        push @$object, map { value($chance, $made, $level + 1) } 1 .. $chance->below(3);
    } elsif ($class eq 'Pa') {
        push @$made, my $object = bless {}, $class;
        $object->{inside} = value($chance, $made, $level + 1);
    } else {
        my $object = bless { name => 'n' . @$made, given => [] }, $class;
        push @$made, $object;
        push @{ $object->{given} }, map { value($chance, $made, $level + 1) } 1 .. $chance->below(4);
    }
    return $made->[-1] if $class eq 'Ff';
    return (grep { ref $_ eq $class } reverse @$made)[0];
}

sub value {
    my ($chance, $made, $level) = @_;
    my $what = $chance->below($level > 4 ? 4 : 12);
    return $chance->one_of(1, 'text', undef, -7) if $what < 3;
    # The same value again, possibly inside of itself.
    return @$made ? $chance->one_of(@$made) : 'none' if $what == 3;
    return object($chance, $made, $level) if $what < 9;
    my $list;
    if ($what == 11) {
        # One key only: which of several comes first differs between processes.
        push @$made, $list = {};
        $list->{ 'k' . $chance->below(3) } = value($chance, $made, $level + 1);
    } else {
        push @$made, $list = [];
        push @$list, value($chance, $made, $level + 1) for 1 .. 1 + $chance->below(4);
    }
    return $list;
}

# ---- options -------------------------------------------------------------------------------

my @names = qw(Fa Fb Fc::Deep Fd Fe Ff);
# Values of an entry of a hash, by name.
my %values = (
    1 => sub { 1 }, yes => sub { 'yes' }, ref => sub { [] }, '0 but true' => sub { '0 but true' }, '00' => sub { '00' }, '0.0' => sub { '0.0' },
    0 => sub { 0 }, undef => sub { undef }, empty => sub { '' }, "'0'" => sub { '0' }, false => sub { !!0 }, 'float 0' => sub { 0.0 },
    'overloaded, true' => sub { bless \(my $truth = 1), 'SerealLists::Truth' }, 'overloaded, false' => sub { bless \(my $truth = 0), 'SerealLists::Truth' },
);
my %code = (
    yes => sub { 1 }, no => sub { 0 }, undef => sub { undef }, nothing => sub { () }, list => sub { (1, 0) }, dies => sub { die "the list dies\n" },
    'dies with an object' => sub { die [1] }, 'by name' => sub { $_[0] =~ /a|D/ }, 'not by name' => sub { $_[0] !~ /b/ },
);
# Whole values of an option.
my %wholes = (
    undef => sub { undef }, string => sub { 'Fa' }, 0 => sub { 0 }, empty => sub { '' }, 1 => sub { 1 }, 'scalar reference' => sub { \'Fa' }, pattern => sub { qr/F/ },
    glob => sub { \*STDOUT }, 'reference to a list' => sub { \['Fa'] }, 'no names' => sub { [] }, 'no keys' => sub { {} }, 'blessed list' => sub { bless [@names], 'Any' },
    'blessed hash' => sub { bless { map { $_ => 1 } @names }, 'Any' }, 'blessed code' => sub { bless sub { push @calls, 'ASK'; 1 }, 'Any' },
    'undef in a list' => sub { [undef, 'Fa', undef] }, 'references in a list' => sub { [[], {}, 'Fb'] }, 'overloaded name' => sub { [bless \(my $truth = 0), 'SerealLists::Truth'] },
    'pattern in a list' => sub { ['*', qr/./, 'F*'] }, 'sparse' => sub { my @list; $list[3] = 'Fa'; \@list }, 'twice' => sub { [qw(Fa Fa Fb Fb)] },
);
my %actions = (
    undef => undef, empty => '', croak => 'croak', raw => 'raw', serialize => 'serialize', other => 'die', capital => 'RAW', 0 => 0, list => ['raw'],
);

# Returns the text of a list, from which `list_of` makes one.
sub list_text {
    my ($chance) = @_;
    my $how = $chance->below(8);
    return 'array ' . join ' ', grep { $chance->below(4) } @names if $how < 2;
    return 'hash ' . join ';', map { "$_=" . $chance->one_of(sort keys %values) } grep { $chance->below(4) } @names if $how == 2;
    return 'hash ' . join ';', map { "$_=" . $chance->one_of(1, 1, 1, 0) } @names if $how == 3;
    return 'code ' . $chance->one_of(sort keys %code) if $how < 6;
    return 'whole ' . $chance->one_of(sort keys %wholes) if $how == 6;
    return 'array ' . join ' ', @names;
}

sub list_of {
    my ($text) = @_;
    my ($how, $rest) = split / /, $text, 2;
    return [split / /, $rest // ''] if $how eq 'array';
    return { map { my ($name, $value) = /\A(.*?)=(.*)\z/; $name => $values{$value}->() } split /;/, $rest // '' } if $how eq 'hash';
    return $wholes{$rest}->() if $how eq 'whole';
    my $answer = $code{$rest};
    return sub { push @calls, 'ASK ' . join ',', map { short($_) } @_; return $answer->(@_) };
}

sub options_text {
    my ($chance, $is_encoder) = @_;
    my $kind = $is_encoder ? 'freeze' : 'thaw';
    my %text;
    $text{"${kind}_allow_classes"} = list_text($chance) if $chance->below(8);
    $text{"${kind}_deny_action"} = $chance->one_of(sort keys %actions) if !$chance->below(6);
    $text{"${kind}_deny_action"} = $is_encoder ? 'serialize' : 'raw' if !$chance->below(3);
    for my $flag ($is_encoder ? qw(freeze_callbacks freeze_callbacks freeze_callbacks no_bless_objects) : qw(no_thaw_objects no_bless_objects refuse_objects)) {
        $text{$flag} = $chance->below(2) if !$chance->below($flag eq 'freeze_callbacks' ? 2 : 8);
    }
    return \%text;
}

sub options_of {
    my ($text) = @_;
    return { map { $_ => /allow/ ? list_of($text->{$_}) : /action/ ? $actions{ $text->{$_} } : $text->{$_} } keys %$text };
}

# ---- cases -----------------------------------------------------------------------------------

# Returns the result of a module for a case: `$module` has `encode(VALUE, OPTIONS)` and
# `decode(BYTES, OPTIONS)`. The bytes for a decoder are in the case.
sub outcome {
    my ($module, $case) = @_;
    @calls = ();
    my $result = eval {
        my $options = options_of($case->{options});
        defined $case->{bytes} ? describe($module->{decode}->(pack('H*', $case->{bytes}), $options))
            : unpack 'H*', $module->{encode}->(value(SerealLists::Chance->new($case->{seed}), [], 0), $options);
    };
    return { defined $result ? (result => $result) : (error => words($@)), calls => [@calls] };
}

# Returns the case with a number; `$encode` makes the bytes for a decoder.
sub case_of {
    my ($number, $encode) = @_;
    my $chance = SerealLists::Chance->new($number);
    my $is_encoder = $number % 3 == 0;
    my %case = (number => $number, options => options_text($chance, $is_encoder), seed => $number + 1_000_000);
    if (!$is_encoder) {
        @calls = ();
        $case{bytes} = unpack 'H*', $encode->(value(SerealLists::Chance->new($case{seed}), [], 0));
    }
    return \%case;
}

1;
