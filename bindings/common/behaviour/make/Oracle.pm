package Oracle;

# Perl's own results, in the words of ../README.md.

use v5.36;
use experimental 'builtin';

use B            ();
use Data::Dumper ();
use Encode       ();
use JSON::PP     ();
use List::Util   ();
use Scalar::Util qw(blessed isweak refaddr reftype);
use Sereal::Decoder ();
use Sereal::Encoder ();
use Storable     ();

sub string ($value) {
    # Marked as text by the data, but invalid: for this module such a string is bytes.
    Encode::_utf8_off($value) if utf8::is_utf8($value) && !utf8::valid($value);
    return $value !~ /[^\0-\x7f]/ ? "$value" : utf8::is_utf8($value) ? { text => $value } : { bytes => unpack 'H*', $value };
}

sub describe ($value) { return item(\$value, { seen => {}, slots => {} }) }

# Describes the value in a variable. Every container and every variable that is met has a
# number; numbers without references are removed later.
sub item ($slot, $s) {
    my $is_perls = Internals::SvREADONLY($$slot) && !ref $$slot;
    my $at = refaddr $slot;
    return { alias => $s->{slots}{$at} } if $s->{slots}{$at};
    my $number = $s->{slots}{$at} = keys(%{ $s->{slots} }) + 1 if !$is_perls;
    my $value = ref $$slot && isweak($$slot) ? { weak => value($slot, $s) } : value($slot, $s);
    return $is_perls ? $value : { var => $number, is => $value };
}

sub value ($slot, $s) {
    my $value = $$slot;
    if (!ref $value) {
        return undef if !defined $value;
        return $value ? JSON::PP::true : JSON::PP::false if builtin::is_bool($value);
        my $flags = B::svref_2object(\$value)->FLAGS;
        return string($value) if $flags & B::SVf_POK;
        return abs $value < 2**53 ? 0 + $value : { int => "$value" } if $flags & B::SVf_IOK;
        return { float => $value != $value ? 'nan' : unpack 'H*', pack 'd>', $value };
    }
    return $value ? JSON::PP::true : JSON::PP::false if ref $value eq 'JSON::PP::Boolean';
    my $at = refaddr $value;
    return { same => $s->{seen}{$at} } if $s->{seen}{$at};
    my $number = $s->{seen}{$at} = keys(%{ $s->{seen} }) + 1;
    my $type = reftype $value;
    my $is;
    if ($type eq 'ARRAY') { $is = [map { exists $value->[$_] ? item(\$value->[$_], $s) : { hole => 1 } } 0 .. $#$value] }
    elsif ($type eq 'HASH') { $is = { map => [map { [string($_), item(\$value->{$_}, $s)] } sort keys %$value] } }
    elsif ($type eq 'REGEXP') { my ($pattern, $flags) = re::regexp_pattern($value); return { regexp => string($pattern), flags => $flags } }
    elsif ($type eq 'CODE') { die "code\n" }
    else { $is = { ref => item($value, $s) } }
    my $class = blessed $value;
    $is = { object => string($class), is => $is } if defined $class;
    return { id => $number, is => $is };
}

# Removes the numbers without references, and renumbers the rest.
sub numbered ($tree) {
    no warnings 'recursion';
    my %used;
    my @left = $tree;
    while (@left) {
        my $at = pop @left;
        if (ref $at eq 'ARRAY') { push @left, @$at }
        elsif (ref $at eq 'HASH') {
            $used{"id $at->{same}"}   = 1 if $at->{same};
            $used{"var $at->{alias}"} = 1 if $at->{alias};
            push @left, values %$at;
        }
    }
    my (%number, %count);
    my $named = sub ($word, $n) { return $number{"$word $n"} //= ++$count{$word} };
    my $walk;
    $walk = sub ($at) {
        return [map { $walk->($_) } @$at] if ref $at eq 'ARRAY';
        return $at if ref $at ne 'HASH';
        return { same => $named->(id => $at->{same}) } if $at->{same};
        return { alias => $named->(var => $at->{alias}) } if $at->{alias};
        for my $word (qw(id var)) {
            next if !$at->{$word};
            return $walk->($at->{is}) if !$used{"$word $at->{$word}"};
            my $n = $named->($word, $at->{$word});
            return { $word => $n, is => $walk->($at->{is}) };
        }
        return { map { ($_ => $walk->($at->{$_})) } keys %$at };
    };
    return $walk->($tree);
}

# The same with the entries of maps sorted by their keys, for comparisons.
sub sorted ($at) {
    return [map { sorted($_) } @$at] if ref $at eq 'ARRAY';
    return $at if ref $at ne 'HASH';
    my %copy = map { ($_ => sorted($at->{$_})) } keys %$at;
    my $json = JSON::PP->new->canonical->allow_nonref;
    $copy{map} = [sort { $json->encode($a->[0]) cmp $json->encode($b->[0]) } @{ $copy{map} }] if $copy{map};
    return \%copy;
}

sub read_bytes ($format, $bytes) {
    return Storable::thaw($bytes) if $format =~ /^storable/;
    return Sereal::Decoder->new->decode($bytes) if $format =~ /^sereal/;
    return JSON::PP->new->utf8->allow_nonref->decode($bytes) if $format eq 'json';
    return eval "no strict; my \$VAR1; $bytes; \$VAR1" if $format eq 'dumper';
    die "Perl itself reads no $format\n";
}

# --- Data that Perl freezes -------------------------------------------------

sub seeds () {
    my $shared = [1];
    my %cycle;
    $cycle{self} = \%cycle;
    my @cycle;
    push @cycle, 1, \@cycle;
    my $variable = 'v';
    my $parent = { name => 'p' };
    $parent->{child} = { up => $parent };
    Scalar::Util::weaken($parent->{child}{up});
    my @holes;
    $holes[3] = 1;
    my $object = bless { id => 1 }, 'App::User';
    my $loop; $loop = \$loop;
    my @all = (
        'empty list' => [], 'empty map' => {}, list => [1, 'a', undef], booleans => [!!1, !!0], nested => [[1, [2]], { a => { b => [3] } }], map => { b => 1, a => 2 },
        text => ["caf\x{e9}", "\x{263a}", "caf\x{e9}\x{263a}"], bytes => ["\0\xe9\xff", "caf\xc3\xa9"], 'keys of text' => { "\x{263a}" => 1, "\xe9" => 2, '' => 3, "\0" => 4 },
        'strings that look like numbers' => ['1', '-5', '1.5', '1e3', ' 1', 'inf', 'nan'], 'long string' => 'abc ' x 100, 'reference to a string' => \'abc', 'reference to undef' => \undef,
        'reference to a number' => [\1, \\2], 'reference to a list' => [\[1]], object => bless({ a => 1 }, 'Plain'), 'object that is a list' => bless([1, 2], 'List'), 'object that is a scalar' => bless(\(my $x = 'x'), 'Cell'),
        'the same list' => [$shared, $shared, { a => $shared }], 'the same object' => [$object, $object], 'equal objects' => [map { bless {}, 'E' } 1 .. 2], 'map in itself' => \%cycle, 'list in itself' => \@cycle,
        'reference to itself' => \$loop, 'the same variable' => [\$variable, \$variable], 'weak' => $parent, holes => \@holes, 'class with a namespace' => [bless({}, 'A::B::C'), bless([], "A'B")],
        'class of text' => [bless {}, "Caf\x{e9}\x{263a}"], regexp => [qr/a+/i, qr/b.*c/ms], 'objects in objects' => bless({ a => bless({ b => bless [1], 'C' }, 'B') }, 'A'),
        'same keys often' => [map { { id => $_, name => "n$_", tags => [] } } 1 .. 12], 'many keys' => { map { ("key$_" => $_) } 1 .. 40 }, deep => List::Util::reduce(sub { [$a] }, 'x', 1 .. 40),
        'root is text' => \"\x{263a}", 'undef often' => [undef, undef, { a => undef, b => undef }],
    );
    push @all, "integer $_" => [$_] for 0, 1, -1, 15, 16, -16, -17, 127, 128, -128, -129, 255, 256, 65535, 65536, -32769, 2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 4294967296, 9007199254740993, 9223372036854775807, -9223372036854775807 - 1, 18446744073709551615;
    push @all, "float $_" => [$_] for 0.5, -1.5, 0.1, 1e100, 1e-300, 4.94065645841247e-324, 1.7976931348623157e308, 1e22, 9**9**9, -9**9**9, -sin(9**9**9);
    return @all;
}

# No copies: Sereal writes values with one reference in another form.
my %freeze = (
    storable            => sub { local $Storable::canonical = 1; return Storable::freeze($_[0]) },
    'storable:netorder' => sub { local $Storable::canonical = 1; return Storable::nfreeze($_[0]) },
    sereal              => sub { return Sereal::Encoder->new({ sort_keys => 2 })->encode($_[0]) },
    'sereal:dedupe'     => sub { return Sereal::Encoder->new({ sort_keys => 2, dedupe_strings => 1, compress => Sereal::Encoder::SRL_ZLIB(), compress_threshold => 0 })->encode($_[0]) },
    dumper              => sub { return Data::Dumper->new([$_[0]])->Sortkeys(1)->Purity(1)->Useqq(1)->Indent(1)->Dump },
);

sub frozen () {
    my @lines;
    my @seeds = seeds();    # which end with this call: a value is held once
    for my $n (map { 2 * $_ } 0 .. $#seeds / 2) {
        my $name = $seeds[$n];
        for my $way (sort keys %freeze) {
            next if $way !~ /^storable/ && $name eq 'holes';
            next if $way =~ /^storable/ && !ref $seeds[ $n + 1 ];
            next if $way =~ /netorder|dedupe/ && $name =~ /^(?:integer|float)/ && @lines % 3;
            my $bytes = $freeze{$way}->($seeds[ $n + 1 ]);
            my $format = $way =~ s/:dedupe//r =~ s/:netorder//r;
            my $read = eval { numbered(describe(read_bytes($format, $bytes))) };
            warn("$way $name: $@"), next if $@;
            push @lines, { name => $name, way => $way, format => $format, hex => unpack('H*', $bytes), value => $read };
        }
    }
    return @lines;
}

1;
