package Same;

# Compares two structures. Two graphs of variables are walked together and must map onto each
# other one to one: one variable here corresponds to one variable there, so sharing, cycles and
# aliases count, and the order of a hash does not.

use strict;
use warnings;
no warnings 'recursion';

use B            ();
use Exporter     'import';
use Hash::Util   ();
use Scalar::Util qw(blessed isweak refaddr reftype);
use re           ();

our @EXPORT = qw(difference same_ok differs_ok);

# difference($left, $right, %options): '' or a description of the first difference.
#
# strict       every public flag counts (integer and string of a dual value,
#              perl's own undef or a variable, read-only variables)
# own          makes `strict` ignore whether an undef or a boolean is perl's own
# integral     a float without a fraction is the integer
# digits       a number is the same as the string that it prints as (network
#              order writes some numbers that way; 15 digits of a float are kept)
# bools        a boolean is the string or number that it prints as
# holes        an element that doesn't exist is the same as undef
# unrestricted whether a hash is restricted doesn't matter
# untied       the values of a tied variable are compared, not its object
# variables    whether two slots are one variable matters only for containers
# references   also ignores whether two references refer to the same scalar
# weak         whether a reference is weak doesn't matter
# key_flags    only the characters of a key count, not its flag
# string_flags only the characters of a string count
# vstrings     a v-string is its string
# class_flags  the name of a class is its bytes
# classes      ignores whether anything is blessed, and into which class
# variable_class  ignores the classes of scalars; those of arrays and hashes count
# nan          one NaN is the same as another
# charset      the modifiers a, d, l and u of a regular expression don't matter

my $HAS_BOOLS = $] >= 5.036;

use constant {
    IOK      => B::SVf_IOK,
    NOK      => B::SVf_NOK,
    POK      => B::SVf_POK,
    ROK      => B::SVf_ROK,
    IS_UV    => B::SVf_IVisUV,
    MAGICAL  => B::SVs_GMG | B::SVs_SMG | B::SVs_RMG,
    READONLY => B::SVf_READONLY | B::SVf_PROTECT,
};

# perl's own undef, false, true and zero occur in many places, which does not make them one
# shared variable. They are next to each other in memory. So the lowest two of the three known
# addresses give the distance, and the last of the four addresses is that of the zero.
my %IMMORTAL = do {
    my ($first, $second) = sort { $a <=> $b } map { refaddr $_ } \!!1, \undef, \!!0;
    my %known = (
        (map { ($first + $_ * ($second - $first) => "perl's own zero") } 0 .. 3),
        refaddr(\undef) => "perl's own undef", refaddr(\!!1) => "perl's own true", refaddr(\!!0) => "perl's own false",
    );
    %known;
};
my ($TRUE, $FALSE) = map { refaddr $_ } \!!1, \!!0;

sub difference {
    my ($left, $right) = (\$_[0], \$_[1]);
    my (undef, undef, %options) = @_;
    my $self = bless { options => \%options, right_of => {}, left_of => {}, pending => [] }, __PACKAGE__;
    $self->compare_later([undef, '$'], $left, $right, 1);
    while (my $next = pop @{ $self->{pending} }) {
        my $found = $self->compare_variables(@$next);
        return path($next->[0]) . ': ' . shortened($found) if $found;
    }
    return '';
}

sub same_ok {
    my ($name) = splice @_, 2, 1;
    my $found = &difference;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $test = Test::More->builder;
    return $test->ok(!$found, $name) || do { $test->diag("    $found"); 0 };
}

sub differs_ok {
    my ($like, $name) = splice @_, 2, 2;
    my $found = &difference;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More->builder->like($found, $like, $name);
}

sub path {
    my ($step) = @_;
    my @steps;
    for (; $step; $step = $step->[0]) { unshift @steps, $step->[1] }
    return join '', @steps;
}

# Only the report is shortened: the comparison uses the whole text.
sub shortened {
    my ($found) = @_;
    $found =~ s/'((?:[^'\\]|\\.){60})((?:[^'\\]|\\.){20,})'/"'$1...' (" . (60 + length $2) . ')'/ge;
    return $found;
}

sub compare_later {
    my ($self, @pair) = @_;
    push @{ $self->{pending} }, \@pair;
}

# Records that two variables correspond to each other. Returns an error if one of them already
# corresponds to another variable, and whether the pair is new.
sub record_pair {
    my ($self, $left, $right) = @_;
    my ($x, $y) = (refaddr $left, refaddr $right);
    return (undef, 1) if $IMMORTAL{$x} && $IMMORTAL{$y};
    return (undef, 1) if ($IMMORTAL{$x} || $IMMORTAL{$y}) && (!$self->{options}{strict} || $self->{options}{own});
    my ($to, $from) = ($self->{right_of}{$x}, $self->{left_of}{$y});
    if (!defined $to && !defined $from) {
        $self->{right_of}{$x} = $y;
        $self->{left_of}{$y}  = $x;
        # The address must not be reused for something else.
        push @{ $self->{kept} }, $left, $right;
        return (undef, 1);
    }
    return ('the same variable again on the left only')  if !defined $from && defined $to;
    return ('the same variable again on the right only') if !defined $to;
    return $to == $y ? (undef, 0) : ('a different one of the variables seen before');
}

# Compares two references to variables. The variables of the root and of a tie object are
# temporary: of these only the values are compared.
sub compare_variables {
    my ($self, $path, $left, $right, $is_temporary) = @_;
    my $options = $self->{options};
    unless ($is_temporary || $options->{variables}) {
        my ($found, $new) = $self->record_pair($left, $right);
        return $found if $found;
        return '' unless $new;
    }
    my ($left_flags, $right_flags) = map { flags($_) } $left, $right;
    if ($options->{untied} && ($left_flags | $right_flags) & MAGICAL) {
        ($left, $right) = map { \(my $fetched = $$_) } $left, $right;
        ($left_flags, $right_flags) = map { flags($_) } $left, $right;
    }
    unless ($is_temporary) {
        my $found = $options->{variable_class} ? '' : $self->class_difference($left, $right);
        return $found if $found;
        if ($options->{strict} && !($options->{own} && grep { $IMMORTAL{ refaddr $_ } } $left, $right)) {
            my ($x, $y) = map { $IMMORTAL{ refaddr $_ } || (flags($_) & READONLY ? 'read-only' : 'writable') } $left, $right;
            return "$x, not $y" if $x ne $y;
        }
    }
    if (($left_flags | $right_flags) & MAGICAL) {
        my ($x, $y) = (tie_of($left), tie_of($right));
        return $self->tied_difference($path, $x, $y) if $x || $y;
    }
    if ($left_flags & ROK && $right_flags & ROK) {
        my ($x, $y) = map { isweak($$_) ? 'weak' : 'strong' } $left, $right;
        return "$x, not $y" if $x ne $y && !$options->{weak};
        return $self->compare_referents($path, $$left, $$right);
    }
    return $self->scalar_difference($left, $right, $left_flags, $right_flags);
}

sub flags {
    my ($slot) = @_;
    my $immortal = $IMMORTAL{ refaddr $slot };
    return B::svref_2object($slot)->FLAGS unless $immortal;
    return $immortal =~ /undef/ ? 0 : IOK | NOK | POK;
}

sub tied_difference {
    my ($self, $path, $x, $y) = @_;
    my ($left_type, $right_type) = map { $_ ? $_->[0] : 'not tied' } $x, $y;
    return "$left_type, not $right_type" if $left_type ne $right_type;
    $self->compare_later([$path, '(tied)'], \$x->[1], \$y->[1], 1);
    return '' if @$x == 2;
    my ($left_key, $right_key) = map { ref $_->[2] ? ${ $_->[2] } : $_->[2] } $x, $y;
    return difference_of_text($self->key($left_key), $self->key($right_key));
}

sub class_difference {
    my ($self, @both) = @_;
    return '' if $self->{options}{classes};
    my ($x, $y) = map { blessed $_ } @both;
    return '' if !defined $x && !defined $y || defined $x && defined $y && $x eq $y;
    if ($self->{options}{class_flags}) { utf8::encode($_) for grep { defined && utf8::is_utf8($_) } $x, $y }
    ($x, $y) = map { defined $_ ? 'blessed into ' . quoted($_) : 'not blessed' } $x, $y;
    return $x eq $y ? '' : "$x, not $y";
}

# Compares the targets of two references.
sub compare_referents {
    my ($self, $path, $left, $right) = @_;
    my ($x, $y) = map { kind($_) } $left, $right;
    return "a reference to $x, not $y" if $x ne $y;
    if ($x eq 'SCALAR') {
        if ($self->{options}{references}) {
            return '' if $self->{pairs}{ refaddr($left) . ' ' . refaddr $right }++;
            push @{ $self->{kept} }, $left, $right;
            return $self->compare_later([$path, '$'], $left, $right) && '';
        }
        return $self->compare_later([$path, '$'], $left, $right) && '' unless $self->{options}{variables};
        my ($found, $new) = $self->record_pair($left, $right);
        return $found if $found;
        return $new ? $self->compare_later([$path, '$'], $left, $right) && '' : '';
    }
    my ($found, $new) = $self->record_pair($left, $right);
    return $found if $found;
    return '' unless $new;
    $found = $self->class_difference($left, $right);
    return $found if $found;
    return $self->compare_arrays($path, $left, $right)  if $x eq 'ARRAY';
    return $self->compare_hashes($path, $left, $right)  if $x eq 'HASH';
    return $self->scalar_difference($left, $right) if $x eq 'REGEXP';
    return difference_of_text(map { deparsed($_) } $left, $right) if $x eq 'CODE';
    return difference_of_text(map { *{$_} } $left, $right) if $x eq 'GLOB';
    return '';
}

sub kind {
    my $type = reftype $_[0];
    return $type =~ /^(?:SCALAR|REF|VSTRING|LVALUE)$/ ? 'SCALAR' : $type;
}

sub deparsed {
    require B::Deparse;
    return B::Deparse->new->coderef2text($_[0]);
}

sub tie_of {
    my ($slot) = @_;
    return unless flags($slot) & MAGICAL && kind($slot) eq 'SCALAR';
    for (my $magic = B::svref_2object($slot)->MAGIC; ref $magic && ref $magic ne 'B::SPECIAL' && $$magic; $magic = $magic->MOREMAGIC) {
        return ['a tied scalar', tied $$slot] if $magic->TYPE eq 'q';
        next unless $magic->TYPE eq 'p';
        my $key = $magic->PTR;
        $key = defined $key ? ref $key ? $key->object_2svref : $key : $magic->LENGTH;
        return ['a tied element', ${ $magic->OBJ->object_2svref }, $key];
    }
    return;
}

sub compare_arrays {
    my ($self, $path, $left, $right) = @_;
    unless ($self->{options}{untied}) {
        my ($x, $y) = (tied @$left, tied @$right);
        return $self->compare_ties($path, 'array', $x, $y) if $x || $y;
    }
    return @$left . ' elements, not ' . @$right if @$left != @$right;
    for my $index (reverse 0 .. $#$left) {
        my ($x, $y) = (exists $left->[$index], exists $right->[$index]);
        if (!$x || !$y) {
            next if !$x && !$y;
            my ($slot) = map { \$_ } $x ? $left->[$index] : $right->[$index];
            next if $self->{options}{holes} && !defined $$slot;
            return "element $index exists on " . ($x ? 'the left' : 'the right') . ' only';
        }
        $self->compare_later([$path, "[$index]"], \$left->[$index], \$right->[$index]);
    }
    return '';
}

sub compare_ties {
    my ($self, $path, $what, $x, $y) = @_;
    return "the $what is tied on " . ($x ? 'the left' : 'the right') . ' only' unless $x && $y;
    $self->compare_later([$path, '(tied)'], \$x, \$y, 1);
    return '';
}

# Returns the slots of a hash by key; a key is in the form that the options compare. The slots
# are not taken as \$hash->{$key}: perl refuses that if the hash is restricted and the value is
# perl's own undef.
sub slots {
    my ($self, $hash) = @_;
    my @slots = map { \$_ } values %$hash;
    my %slot;
    for my $key (keys %$hash) { $slot{ $self->key($key) } = shift @slots }
    return \%slot;
}

sub key {
    my ($self, $key) = @_;
    my $flag = utf8::is_utf8($key) && !$self->{options}{key_flags} ? 'text ' : '';
    utf8::encode(my $bytes = $key);
    return "$flag$bytes";
}

sub compare_hashes {
    my ($self, $path, $left, $right) = @_;
    unless ($self->{options}{untied}) {
        my ($x, $y) = (tied %$left, tied %$right);
        return $self->compare_ties($path, 'hash', $x, $y) if $x || $y;
    }
    my ($x, $y) = map { $self->slots($_) } $left, $right;
    for my $key (sort keys %$x) { return 'key ' . quoted($key) . ' on the left only'  unless $y->{$key} }
    for my $key (sort keys %$y) { return 'key ' . quoted($key) . ' on the right only' unless $x->{$key} }
    unless ($self->{options}{unrestricted}) {
        my $found = $self->compare_restrictions($left, $right, $x, $y);
        return $found if $found;
    }
    for my $key (reverse sort keys %$x) {
        $self->compare_later([$path, '{' . quoted($key) . '}'], $x->{$key}, $y->{$key});
    }
    return '';
}

sub compare_restrictions {
    my ($self, $left, $right, $x, $y) = @_;
    my ($left_type, $right_type) = map { Internals::SvREADONLY(%$_) ? 'restricted' : 'unrestricted' } $left, $right;
    return "$left_type, not $right_type" if $left_type ne $right_type;
    return '' if $left_type eq 'unrestricted';
    my ($left_keys, $right_keys) = map { join ' ', map { quoted($_) } sort map { $self->key($_) } Hash::Util::hidden_ref_keys($_) } $left, $right;
    return "also allows [$left_keys], not [$right_keys]" if $left_keys ne $right_keys;
    for my $key (sort keys %$x) {
        my ($left_state, $right_state) = map { locked($_) ? 'locked' : 'unlocked' } $x->{$key}, $y->{$key};
        return 'value of ' . quoted($key) . " $left_state, not $right_state" if $left_state ne $right_state;
    }
    return '';
}

sub locked {
    my ($slot) = @_;
    return $IMMORTAL{ refaddr $slot } || flags($slot) & READONLY;
}

sub scalar_difference {
    my ($self, $left, $right, @flags) = @_;
    my ($left_type, @left)   = $self->possible_types($left, $flags[0]);
    my ($right_type, @right) = $self->possible_types($right, $flags[1]);
    return '' if $left_type eq $right_type || grep({ $_ eq $left_type } @right) || grep({ $_ eq $right_type } @left);
    return '' if $self->{options}{nan} && grep({ $_ eq 'float NaN' } @left) && grep { $_ eq 'float NaN' } @right;
    return "$left_type, not $right_type";
}

# Returns all types that a value may have, with these options; the main one first.
sub possible_types {
    my ($self, $slot, $flags) = @_;
    my $options = $self->{options};
    my $type = reftype $slot;
    return $self->regexp_type($slot) if $type eq 'REGEXP';
    return 'a reference' if $type eq 'REF';
    return 'a glob ' . *{ $$slot } if $type eq 'GLOB';
    return 'undef' if !defined $$slot;
    if ($type eq 'VSTRING' && !$options->{vstrings}) {
        return 'v-string ' . quoted(vstring($slot)) . ' ' . quoted($$slot);
    }
    if (is_bool($slot)) {
        my $type_name = 'boolean ' . ($$slot ? 'true' : 'false');
        return $options->{bools} ? ($type_name, 'string ' . quoted("$$slot"), 'integer ' . ($$slot ? 1 : 0)) : $type_name;
    }
    my $sv = B::svref_2object($slot);
    return dual_type($sv, $slot, $flags) if $options->{strict};

    # The public flags decide; if there are none, the private ones, which are 4 bits above them.
    my $kind   = $flags & (POK | IOK | NOK) ? $flags : $flags >> 4;
    my $string = $kind & POK;
    my @types  = $string ? $self->string_type($$slot) : $kind & IOK ? 'integer ' . integer($sv, $flags) : float_type($sv->NVX);
    if (!$string) {
        my $value = $types[0] =~ /^integer/ ? integer($sv, $flags) : $sv->NVX;
        push @types, sprintf 'integer %.0f', $value + 0 || 0
            if $options->{integral} && $types[0] =~ /^float/ && $value == int $value && abs $value < 2**63;
        push @types, 'float NaN' if $options->{nan} && $value != $value;
        push @types, map { 'string ' . quoted(/^integer (.*)/ ? $1 : sprintf '%.15g', $value) } @types if $options->{digits};
    }
    return @types;
}

sub string_type {
    my ($self, $string) = @_;
    my $flag = utf8::is_utf8($string) && !$self->{options}{string_flags} ? 'text' : 'string';
    return "$flag " . quoted($string);
}

sub float_type { return sprintf 'float %.17g (%s)', $_[0], unpack 'H*', pack 'd>', $_[0] }

sub integer {
    my ($sv, $flags) = @_;
    return $flags & IS_UV ? $sv->UVX : $sv->IVX;
}

sub dual_type {
    my ($sv, $slot, $flags) = @_;
    my @parts;
    push @parts, 'integer ' . integer($sv, $flags) if $flags & IOK;
    push @parts, float_type($sv->NVX) if $flags & NOK;
    push @parts, (utf8::is_utf8($$slot) ? 'text ' : 'string ') . quoted("$$slot") if $flags & POK;
    return join ' and ', @parts if @parts;
    return 'value ' . quoted("$$slot") . ' with private flags only';
}

sub is_bool {
    my ($slot) = @_;
    return 1 if refaddr $slot == $TRUE || refaddr $slot == $FALSE;
    return 0 unless $HAS_BOOLS;
    no warnings;
    return builtin::is_bool($$slot);
}

sub vstring {
    my ($slot) = @_;
    return unless reftype($slot) eq 'VSTRING';
    for (my $magic = B::svref_2object($slot)->MAGIC; ref $magic && ref $magic ne 'B::SPECIAL' && $$magic; $magic = $magic->MOREMAGIC) {
        return $magic->PTR if $magic->TYPE eq 'V';
    }
    return;
}

sub regexp_type {
    my ($self, $slot) = @_;
    my ($pattern, $flags) = re::regexp_pattern($slot);
    ($pattern, $flags) = re::regexp_pattern($$slot) unless defined $pattern;
    $flags =~ tr/adlu//d if $self->{options}{charset};
    return 'regexp ' . (utf8::is_utf8($pattern) ? 'text ' : '') . quoted($pattern) . " with '$flags'";
}

sub difference_of_text {
    my ($x, $y) = @_;
    return $x eq $y ? '' : quoted($x) . ', not ' . quoted($y);
}

sub quoted {
    my ($text) = @_;
    $text =~ s/([^ -\x{7e}]|['\\])/sprintf ord $1 > 255 ? '\\x{%x}' : '\\x%02x', ord $1/ge;
    return "'$text'";
}

1;
