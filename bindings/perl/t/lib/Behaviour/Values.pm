package Behaviour::Values;

# The behaviour list's words for values, in Perl: builds the value that a line describes, and
# compares Icecore's value with such a description.
#
#   my $value = Behaviour::Values::build($description);
#   Behaviour::Values::check($description, $value);      # dies where they part

use v5.30;
use warnings;
use experimental 'refaliasing';

use B            ();
use Scalar::Util qw(blessed isweak refaddr reftype weaken);

# Returns the bytes of a line: text, {"hex": …}, {"join": [ … ]}, {"times": [N, …]}, {"count":
# [FROM, TO, BEFORE, AFTER]}.
sub bytes {
    my ($said) = @_;
    if (!ref $said) { utf8::encode(my $bytes = $said); return $bytes }
    return pack 'H*', $said->{hex} if exists $said->{hex};
    return join '', map { bytes($_) } @{ $said->{join} } if exists $said->{join};
    return bytes($said->{times}[1]) x $said->{times}[0] if exists $said->{times};
    my ($from, $to, $before, $after) = @{ $said->{count} };
    return join '', map { "$before$_$after" } $from .. $to;
}

# A string: "ASCII", {"text": …}, {"bytes": hex}.
sub string {
    my ($want) = @_;
    return $want if !ref $want;
    return $want->{text} if exists $want->{text};
    return pack 'H*', $want->{bytes};
}

sub is_number { return B::svref_2object(\$_[0])->FLAGS & (B::SVf_IOK | B::SVf_NOK) && !(B::svref_2object(\$_[0])->FLAGS & B::SVf_POK) }
sub is_integer { return is_number($_[0]) && B::svref_2object(\$_[0])->FLAGS & B::SVf_IOK }
sub is_true { return ref $_[0] eq 'JSON::PP::Boolean' || ref $_[0] eq 'Types::Serialiser::Boolean' }
sub is_bool { no warnings; return defined &builtin::is_bool && builtin::is_bool($_[0]) }

# --- Building ---------------------------------------------------------------

sub build {
    my ($want) = @_;
    put($want, \my $value, {});
    return $value;
}

sub put {
    my ($want, $slot, $at, $id) = @_;
    if (is_true($want)) { $$slot = $want ? !!1 : !!0; return }
    if (!ref $want) { $$slot = $want; return }
    my $named = sub { $at->{$id} = $_[0] if defined $id };
    if (ref $want eq 'ARRAY' || $want->{map}) {
        $$slot = my $new = ref $want eq 'ARRAY' ? [] : {};
        $named->($new);
        my $n = 0;
        for my $entry (ref $want eq 'ARRAY' ? @$want : @{ $want->{map} }) {
            my ($key, $item) = ref $want eq 'ARRAY' ? ($n++, $entry) : (string($entry->[0]), $entry->[1]);
            if (ref $want ne 'ARRAY') { element($item, \$new->{$key}, $at, sub { \$new->{$key} = $_[0] }) }
            elsif (ref $item eq 'HASH' && $item->{hole}) { $#$new = $key }
            else { element($item, \$new->[$key], $at, sub { \$new->[$key] = $_[0] }) }
        }
    }
    elsif ($want->{id}) { put($want->{is}, $slot, $at, $want->{id}) }
    elsif ($want->{same}) { $$slot = $at->{ $want->{same} } }
    elsif ($want->{weak}) { put($want->{weak}, $slot, $at); weaken($$slot) }
    elsif (exists $want->{ref}) { $$slot = \my $new; $named->(\$new); put($want->{ref}, \$new, $at) }
    elsif (exists $want->{object}) { put($want->{is}, $slot, $at, $id); bless $$slot, string($want->{object}) }
    elsif ($want->{deep}) {
        my ($levels, $word, $inner) = @{ $want->{deep} };
        put($inner, $slot, $at);
        $$slot = $word eq 'list' ? [$$slot] : { a => $$slot } for 1 .. $levels;
    }
    elsif (exists $want->{int}) { $$slot = 0 + $want->{int} }
    elsif (exists $want->{float}) { $$slot = unpack 'd>', pack 'H*', $want->{float} eq 'nan' ? '7ff8000000000000' : $want->{float} }
    elsif (exists $want->{code}) { $$slot = sub { 1 } }
    elsif (exists $want->{regexp}) { $$slot = eval q(no feature ':all'; qr/) . string($want->{regexp}) . "/$want->{flags}" }
    elsif (exists $want->{text} || exists $want->{bytes}) { $$slot = string($want) }
    else { die 'Perl has no ' . join(' ', sort keys %$want) . "\n" }
    return;
}

sub element {
    my ($item, $slot, $at, $alias) = @_;
    if (ref $item eq 'HASH' && $item->{alias}) { $alias->($at->{"var $item->{alias}"}) }
    elsif (ref $item eq 'HASH' && $item->{var}) { $at->{"var $item->{var}"} = $slot; put($item->{is}, $slot, $at) }
    else { put($item, $slot, $at) }
    return;
}

# --- Checking ---------------------------------------------------------------

sub check {
    my ($want, $value) = @_;
    hold($want, \$value, '$', { ids => {}, met => {}, slots => {} });
    return;
}

sub shown {
    my ($value) = @_;
    return 'undef' if !defined $value;
    return ref $value if ref $value;
    my $text = $value =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger;
    return is_bool($value) ? 'the boolean ' . ($value ? 'true' : 'false') : is_number($value) ? $text : '"' . substr($text, 0, 60) . '"';
}

sub part { my ($path, $want, $got) = @_; die "at $path: expected $want, found " . shown($got) . "\n" }

sub hold {
    my ($want, $slot, $path, $s) = @_;
    my $got = $$slot;
    if (ref $want eq 'HASH' && $want->{any}) { return }
    if (ref $want eq 'HASH' && $want->{alias}) {
        die "at $path: expected the variable $want->{alias} again\n" if ($s->{ids}{"var $want->{alias}"} // 0) != refaddr $slot;
        return;
    }
    if (ref $want eq 'HASH' && $want->{var}) { $s->{ids}{"var $want->{var}"} = refaddr $slot; $want = $want->{is} }
    # Perl's own undef and booleans occur in many places.
    my $is_perls = Internals::SvREADONLY($$slot) && !ref $got;
    die "at $path: the same variable as at $s->{slots}{ refaddr $slot }\n" if !$is_perls && exists $s->{slots}{ refaddr $slot };
    $s->{slots}{ refaddr $slot } = $path;
    if (ref $want eq 'HASH' && $want->{weak}) {
        part($path, 'a weak reference', $got) if !ref $got || !isweak($$slot);
        $want = $want->{weak};
    }
    elsif (ref $got && isweak($$slot)) { part($path, 'a reference that is not weak', $got) }
    if (!defined $want || is_true($want) || !ref $want || grep { exists $want->{$_} } ref $want eq 'HASH' ? qw(text bytes int float) : ()) {
        return leaf($want, $got, $path);
    }
    part($path, 'a reference', $got) if !ref $got;
    if (ref $want eq 'HASH' && $want->{same}) {
        return if ($s->{ids}{ $want->{same} } // 0) == refaddr $got;
        part($path, "object $want->{same} again", $got);
    }
    if (ref $want eq 'HASH' && $want->{id}) { $s->{ids}{ $want->{id} } = refaddr $got; $want = $want->{is} }
    die "at $path: the same object as at $s->{met}{ refaddr $got }\n" if exists $s->{met}{ refaddr $got };
    $s->{met}{ refaddr $got } = $path;
    return container($want, $got, $path, $s);
}

sub leaf {
    my ($want, $got, $path) = @_;
    if (!defined $want) { part($path, 'undef', $got) if defined $got; return }
    if (is_true($want)) {
        part($path, 'the boolean ' . ($want ? 'true' : 'false'), $got) if !is_bool($got) || !$got != !$want;
    }
    elsif (ref $want && exists $want->{float}) {
        my $bits = defined $got && !ref $got && is_number($got) && !is_integer($got) ? unpack 'H*', pack 'd>', $got : '';
        part($path, "the float $want->{float}", $got) if $bits ne $want->{float} && !($want->{float} eq 'nan' && $bits =~ /^[7f]ff[^0]/);
    }
    elsif (ref $want ? exists $want->{int} : is_number($want)) {
        my $number = ref $want ? $want->{int} : $want;
        part($path, "the integer $number", $got) if !defined $got || ref $got || !is_integer($got) || is_bool($got) || $got ne $number;
    }
    else {
        my $string = string($want);
        part($path, 'the string ' . shown($string), $got) if !defined $got || ref $got || is_number($got) || is_bool($got) || $got ne $string;
        part($path, exists $want->{text} ? 'text' : 'bytes', $got) if ref $want && !!utf8::is_utf8($got) ne !!exists $want->{text};
    }
    return;
}

sub container {
    my ($want, $got, $path, $s) = @_;
    if (ref $want eq 'HASH' && exists $want->{object}) {
        part($path, 'an object of ' . shown(string($want->{object})), $got) if (blessed($got) // '') ne string($want->{object});
        $want = $want->{is};
    }
    elsif (ref $want eq 'HASH' && exists $want->{record}) {
        part($path, "a record of $want->{record}", $got) if ref $got ne 'Icecore::Record' || $got->class ne string($want->{record});
        part($path, "a record of the kind $want->{kind}", $got->kind) if $want->{kind} && $got->kind ne $want->{kind};
        my $value = $got->value;
        push @{ $s->{kept} }, \$value;    # or its address would be another's soon
        return hold($want->{is}, \$value, $path, $s);
    }
    elsif (ref $want eq 'HASH' && exists $want->{regexp}) {
        my ($pattern, $flags) = ref $got eq 'Regexp' ? re::regexp_pattern($got) : ('');
        part($path, "the pattern $want->{regexp}", $pattern) if $pattern ne string($want->{regexp}) || $flags ne $want->{flags};
        return;
    }
    elsif (blessed($got)) { part($path, 'no object', $got) }
    if (ref $want eq 'HASH' && $want->{deep}) {
        my ($levels, $word, $inner) = @{ $want->{deep} };
        for my $level (1 .. $levels) {
            part("$path, level $level", "a $word", $got) if ref $got ne ($word eq 'list' ? 'ARRAY' : 'HASH');
            $got = $word eq 'list' ? $got->[0] : $got->{a};
        }
        push @{ $s->{kept} }, \$got;
        return hold($inner, \$got, "$path, level $levels", $s);
    }
    my $type = reftype($got);
    if (ref $want eq 'ARRAY') {
        part($path, 'a list', $got) if $type ne 'ARRAY';
        part($path, @$want . ' items', scalar @$got) if @$got != @$want;
        for my $n (0 .. $#$want) {
            my $is_hole = ref $want->[$n] eq 'HASH' && exists $want->[$n]{hole};
            part("$path\[$n]", $is_hole ? 'no element' : 'an element', $got->[$n]) if $is_hole xor !exists $got->[$n];
            hold($want->[$n], \$got->[$n], "$path\[$n]", $s) if !$is_hole;
        }
    }
    elsif ($want->{map}) {
        part($path, 'a map', $got) if $type ne 'HASH';
        part($path, @{ $want->{map} } . ' entries', scalar keys %$got) if keys %$got != @{ $want->{map} };
        for my $entry (@{ $want->{map} }) {
            my $key = string($entry->[0]);
            part($path, 'the key ' . shown($key), undef) if !exists $got->{$key};
            hold($entry->[1], \$got->{$key}, $path . '.' . $key =~ s/([^ -~])/?/gr, $s);
        }
    }
    elsif (exists $want->{ref}) {
        part($path, 'a reference to a scalar', $got) if $type !~ /^(?:SCALAR|REF|LVALUE|VSTRING)$/;
        hold($want->{ref}, $got, "\$\{$path}", $s);
    }
    else { die "at $path: no word of this host: " . join(' ', sort keys %$want) . "\n" }
    return;
}

1;
