package Behaviour::Values;

# Builds the Perl value that a line of the behaviour list describes, and compares a value of
# Icecore with such a description.
#
#   my $value = Behaviour::Values::build($description);
#   Behaviour::Values::check($description, $value);      # dies at the first difference

use v5.30;
use warnings;
use experimental 'refaliasing';

use B            ();
use Scalar::Util qw(blessed isweak refaddr reftype weaken);

# Returns the bytes of a line: text, {"hex": …}, {"join": [ … ]}, {"times": [N, …]}, {"count":
# [FROM, TO, BEFORE, AFTER]}.
sub bytes {
    my ($description) = @_;
    if (!ref $description) { utf8::encode(my $bytes = $description); return $bytes }
    return pack 'H*', $description->{hex} if exists $description->{hex};
    return join '', map { bytes($_) } @{ $description->{join} } if exists $description->{join};
    return bytes($description->{times}[1]) x $description->{times}[0] if exists $description->{times};
    my ($from, $to, $before, $after) = @{ $description->{count} };
    return join '', map { "$before$_$after" } $from .. $to;
}

# A string: "ASCII", {"text": …}, {"bytes": hex}.
sub string {
    my ($description) = @_;
    return $description if !ref $description;
    return $description->{text} if exists $description->{text};
    return pack 'H*', $description->{bytes};
}

sub is_number { return B::svref_2object(\$_[0])->FLAGS & (B::SVf_IOK | B::SVf_NOK) && !(B::svref_2object(\$_[0])->FLAGS & B::SVf_POK) }
sub is_integer { return is_number($_[0]) && B::svref_2object(\$_[0])->FLAGS & B::SVf_IOK }
sub is_true { return ref $_[0] eq 'JSON::PP::Boolean' || ref $_[0] eq 'Types::Serialiser::Boolean' }
sub is_bool { no warnings; return defined &builtin::is_bool && builtin::is_bool($_[0]) }

# --- Building ---------------------------------------------------------------

sub build {
    my ($description) = @_;
    build_into($description, \my $value, {});
    return $value;
}

sub build_into {
    my ($description, $variable, $by_id, $id) = @_;
    if (is_true($description)) { $$variable = $description ? !!1 : !!0; return }
    if (!ref $description) { $$variable = $description; return }
    my $register = sub { $by_id->{$id} = $_[0] if defined $id };
    if (ref $description eq 'ARRAY' || $description->{map}) {
        $$variable = my $new = ref $description eq 'ARRAY' ? [] : {};
        $register->($new);
        my $index = 0;
        for my $entry (ref $description eq 'ARRAY' ? @$description : @{ $description->{map} }) {
            my ($key, $item) = ref $description eq 'ARRAY' ? ($index++, $entry) : (string($entry->[0]), $entry->[1]);
            if (ref $description ne 'ARRAY') { build_item($item, \$new->{$key}, $by_id, sub { \$new->{$key} = $_[0] }) }
            elsif (ref $item eq 'HASH' && $item->{hole}) { $#$new = $key }
            else { build_item($item, \$new->[$key], $by_id, sub { \$new->[$key] = $_[0] }) }
        }
    }
    elsif ($description->{id}) { build_into($description->{is}, $variable, $by_id, $description->{id}) }
    elsif ($description->{same}) { $$variable = $by_id->{ $description->{same} } }
    elsif ($description->{weak}) { build_into($description->{weak}, $variable, $by_id); weaken($$variable) }
    elsif (exists $description->{ref}) { $$variable = \my $new; $register->(\$new); build_into($description->{ref}, \$new, $by_id) }
    elsif (exists $description->{object}) { build_into($description->{is}, $variable, $by_id, $id); bless $$variable, string($description->{object}) }
    elsif ($description->{deep}) {
        my ($levels, $kind, $inner) = @{ $description->{deep} };
        build_into($inner, $variable, $by_id);
        $$variable = $kind eq 'list' ? [$$variable] : { a => $$variable } for 1 .. $levels;
    }
    elsif (exists $description->{int}) { $$variable = 0 + $description->{int} }
    elsif (exists $description->{float}) { $$variable = unpack 'd>', pack 'H*', $description->{float} eq 'nan' ? '7ff8000000000000' : $description->{float} }
    elsif (exists $description->{code}) { $$variable = sub { 1 } }
    elsif (exists $description->{regexp}) { $$variable = eval q(no feature ':all'; qr/) . string($description->{regexp}) . "/$description->{flags}" }
    elsif (exists $description->{text} || exists $description->{bytes}) { $$variable = string($description) }
    else { die 'Perl has no ' . join(' ', sort keys %$description) . "\n" }
    return;
}

sub build_item {
    my ($item, $variable, $by_id, $alias) = @_;
    if (ref $item eq 'HASH' && $item->{alias}) { $alias->($by_id->{"var $item->{alias}"}) }
    elsif (ref $item eq 'HASH' && $item->{var}) { $by_id->{"var $item->{var}"} = $variable; build_into($item->{is}, $variable, $by_id) }
    else { build_into($item, $variable, $by_id) }
    return;
}

# --- Checking ---------------------------------------------------------------

sub check {
    my ($expected, $value) = @_;
    check_variable($expected, \$value, '$', { ids => {}, object_paths => {}, paths => {} });
    return;
}

sub shown {
    my ($value) = @_;
    return 'undef' if !defined $value;
    return ref $value if ref $value;
    my $text = $value =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger;
    return is_bool($value) ? 'the boolean ' . ($value ? 'true' : 'false') : is_number($value) ? $text : '"' . substr($text, 0, 60) . '"';
}

sub fail_at { my ($path, $expected, $actual) = @_; die "at $path: expected $expected, found " . shown($actual) . "\n" }

sub check_variable {
    my ($expected, $variable, $path, $state) = @_;
    my $actual = $$variable;
    if (ref $expected eq 'HASH' && $expected->{any}) { return }
    if (ref $expected eq 'HASH' && $expected->{alias}) {
        die "at $path: expected the variable $expected->{alias} again\n" if ($state->{ids}{"var $expected->{alias}"} // 0) != refaddr $variable;
        return;
    }
    if (ref $expected eq 'HASH' && $expected->{var}) { $state->{ids}{"var $expected->{var}"} = refaddr $variable; $expected = $expected->{is} }
    # Perl's own undef and booleans occur in many places.
    my $is_perls = Internals::SvREADONLY($$variable) && !ref $actual;
    die "at $path: the same variable as at $state->{paths}{ refaddr $variable }\n" if !$is_perls && exists $state->{paths}{ refaddr $variable };
    $state->{paths}{ refaddr $variable } = $path;
    if (ref $expected eq 'HASH' && $expected->{weak}) {
        fail_at($path, 'a weak reference', $actual) if !ref $actual || !isweak($$variable);
        $expected = $expected->{weak};
    }
    elsif (ref $actual && isweak($$variable)) { fail_at($path, 'a reference that is not weak', $actual) }
    if (!defined $expected || is_true($expected) || !ref $expected || grep { exists $expected->{$_} } ref $expected eq 'HASH' ? qw(text bytes int float) : ()) {
        return check_leaf($expected, $actual, $path);
    }
    fail_at($path, 'a reference', $actual) if !ref $actual;
    if (ref $expected eq 'HASH' && $expected->{same}) {
        return if ($state->{ids}{ $expected->{same} } // 0) == refaddr $actual;
        fail_at($path, "object $expected->{same} again", $actual);
    }
    if (ref $expected eq 'HASH' && $expected->{id}) { $state->{ids}{ $expected->{id} } = refaddr $actual; $expected = $expected->{is} }
    die "at $path: the same object as at $state->{object_paths}{ refaddr $actual }\n" if exists $state->{object_paths}{ refaddr $actual };
    $state->{object_paths}{ refaddr $actual } = $path;
    return check_container($expected, $actual, $path, $state);
}

sub check_leaf {
    my ($expected, $actual, $path) = @_;
    if (!defined $expected) { fail_at($path, 'undef', $actual) if defined $actual; return }
    if (is_true($expected)) {
        fail_at($path, 'the boolean ' . ($expected ? 'true' : 'false'), $actual) if !is_bool($actual) || !$actual != !$expected;
    }
    elsif (ref $expected && exists $expected->{float}) {
        my $bits = defined $actual && !ref $actual && is_number($actual) && !is_integer($actual) ? unpack 'H*', pack 'd>', $actual : '';
        fail_at($path, "the float $expected->{float}", $actual) if $bits ne $expected->{float} && !($expected->{float} eq 'nan' && $bits =~ /^[7f]ff[^0]/);
    }
    elsif (ref $expected ? exists $expected->{int} : is_number($expected)) {
        my $number = ref $expected ? $expected->{int} : $expected;
        fail_at($path, "the integer $number", $actual) if !defined $actual || ref $actual || !is_integer($actual) || is_bool($actual) || $actual ne $number;
    }
    else {
        my $string = string($expected);
        fail_at($path, 'the string ' . shown($string), $actual) if !defined $actual || ref $actual || is_number($actual) || is_bool($actual) || $actual ne $string;
        fail_at($path, exists $expected->{text} ? 'text' : 'bytes', $actual) if ref $expected && !!utf8::is_utf8($actual) ne !!exists $expected->{text};
    }
    return;
}

sub check_container {
    my ($expected, $actual, $path, $state) = @_;
    if (ref $expected eq 'HASH' && exists $expected->{object}) {
        fail_at($path, 'an object of ' . shown(string($expected->{object})), $actual) if (blessed($actual) // '') ne string($expected->{object});
        $expected = $expected->{is};
    }
    elsif (ref $expected eq 'HASH' && exists $expected->{record}) {
        fail_at($path, "a record of $expected->{record}", $actual) if ref $actual ne 'Icecore::Record' || $actual->class ne string($expected->{record});
        fail_at($path, "a record of the kind $expected->{kind}", $actual->kind) if $expected->{kind} && $actual->kind ne $expected->{kind};
        my $value = $actual->value;
        push @{ $state->{kept} }, \$value;    # otherwise another value could get its address
        return check_variable($expected->{is}, \$value, $path, $state);
    }
    elsif (ref $expected eq 'HASH' && exists $expected->{regexp}) {
        my ($pattern, $flags) = ref $actual eq 'Regexp' ? re::regexp_pattern($actual) : ('');
        fail_at($path, "the pattern $expected->{regexp}", $pattern) if $pattern ne string($expected->{regexp}) || $flags ne $expected->{flags};
        return;
    }
    elsif (blessed($actual)) { fail_at($path, 'no object', $actual) }
    if (ref $expected eq 'HASH' && $expected->{deep}) {
        my ($levels, $kind, $inner) = @{ $expected->{deep} };
        for my $level (1 .. $levels) {
            fail_at("$path, level $level", "a $kind", $actual) if ref $actual ne ($kind eq 'list' ? 'ARRAY' : 'HASH');
            $actual = $kind eq 'list' ? $actual->[0] : $actual->{a};
        }
        push @{ $state->{kept} }, \$actual;
        return check_variable($inner, \$actual, "$path, level $levels", $state);
    }
    my $type = reftype($actual);
    if (ref $expected eq 'ARRAY') {
        fail_at($path, 'a list', $actual) if $type ne 'ARRAY';
        fail_at($path, @$expected . ' items', scalar @$actual) if @$actual != @$expected;
        for my $index (0 .. $#$expected) {
            my $is_hole = ref $expected->[$index] eq 'HASH' && exists $expected->[$index]{hole};
            fail_at("$path\[$index]", $is_hole ? 'no element' : 'an element', $actual->[$index]) if $is_hole xor !exists $actual->[$index];
            check_variable($expected->[$index], \$actual->[$index], "$path\[$index]", $state) if !$is_hole;
        }
    }
    elsif ($expected->{map}) {
        fail_at($path, 'a map', $actual) if $type ne 'HASH';
        fail_at($path, @{ $expected->{map} } . ' entries', scalar keys %$actual) if keys %$actual != @{ $expected->{map} };
        for my $entry (@{ $expected->{map} }) {
            my $key = string($entry->[0]);
            fail_at($path, 'the key ' . shown($key), undef) if !exists $actual->{$key};
            check_variable($entry->[1], \$actual->{$key}, $path . '.' . $key =~ s/([^ -~])/?/gr, $state);
        }
    }
    elsif (exists $expected->{ref}) {
        fail_at($path, 'a reference to a scalar', $actual) if $type !~ /^(?:SCALAR|REF|LVALUE|VSTRING)$/;
        check_variable($expected->{ref}, $actual, "\$\{$path}", $state);
    }
    else { die "at $path: unknown description: " . join(' ', sort keys %$expected) . "\n" }
    return;
}

1;
