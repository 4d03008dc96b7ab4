package Oracle;

# Perl's own results, as descriptions in the form of ../README.md.

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
    # A string that the data marks as text, but that is invalid, is described as bytes.
    Encode::_utf8_off($value) if utf8::is_utf8($value) && !utf8::valid($value);
    return $value !~ /[^\0-\x7f]/ ? "$value" : utf8::is_utf8($value) ? { text => $value } : { bytes => unpack 'H*', $value };
}

sub describe ($value) { return item(\$value, { containers => {}, variables => {} }) }

# Describes the value in a variable. Every container and every variable gets a number; numbers that
# no link uses are removed later.
sub item ($variable, $state) {
    my $is_constant = Internals::SvREADONLY($$variable) && !ref $$variable;
    my $address = refaddr $variable;
    return { alias => $state->{variables}{$address} } if $state->{variables}{$address};
    my $number = $state->{variables}{$address} = keys(%{ $state->{variables} }) + 1 if !$is_constant;
    my $value = ref $$variable && isweak($$variable) ? { weak => value($variable, $state) } : value($variable, $state);
    return $is_constant ? $value : { var => $number, is => $value };
}

sub value ($variable, $state) {
    my $value = $$variable;
    if (!ref $value) {
        return undef if !defined $value;
        return $value ? JSON::PP::true : JSON::PP::false if builtin::is_bool($value);
        my $flags = B::svref_2object(\$value)->FLAGS;
        return string($value) if $flags & B::SVf_POK;
        return abs $value < 2**53 ? 0 + $value : { int => "$value" } if $flags & B::SVf_IOK;
        return { float => $value != $value ? 'nan' : unpack 'H*', pack 'd>', $value };
    }
    return $value ? JSON::PP::true : JSON::PP::false if ref $value eq 'JSON::PP::Boolean';
    my $address = refaddr $value;
    return { same => $state->{containers}{$address} } if $state->{containers}{$address};
    my $number = $state->{containers}{$address} = keys(%{ $state->{containers} }) + 1;
    my $type = reftype $value;
    my $is;
    if ($type eq 'ARRAY') { $is = [map { exists $value->[$_] ? item(\$value->[$_], $state) : { hole => 1 } } 0 .. $#$value] }
    elsif ($type eq 'HASH') { $is = { map => [map { [string($_), item(\$value->{$_}, $state)] } sort keys %$value] } }
    elsif ($type eq 'REGEXP') { my ($pattern, $flags) = re::regexp_pattern($value); return { regexp => string($pattern), flags => $flags } }
    elsif ($type eq 'CODE') { die "code\n" }
    else { $is = { ref => item($value, $state) } }
    my $class = blessed $value;
    $is = { object => string($class), is => $is } if defined $class;
    return { id => $number, is => $is };
}

# Removes the numbers that no link uses, and renumbers the others.
sub numbered ($tree) {
    no warnings 'recursion';
    my %used;
    my @pending = $tree;
    while (@pending) {
        my $part = pop @pending;
        if (ref $part eq 'ARRAY') { push @pending, @$part }
        elsif (ref $part eq 'HASH') {
            $used{"id $part->{same}"}   = 1 if $part->{same};
            $used{"var $part->{alias}"} = 1 if $part->{alias};
            push @pending, values %$part;
        }
    }
    my (%number, %count);
    my $new_number = sub ($tag, $n) { return $number{"$tag $n"} //= ++$count{$tag} };
    my $walk;
    $walk = sub ($part) {
        return [map { $walk->($_) } @$part] if ref $part eq 'ARRAY';
        return $part if ref $part ne 'HASH';
        return { same => $new_number->(id => $part->{same}) } if $part->{same};
        return { alias => $new_number->(var => $part->{alias}) } if $part->{alias};
        for my $tag (qw(id var)) {
            next if !$part->{$tag};
            return $walk->($part->{is}) if !$used{"$tag $part->{$tag}"};
            my $n = $new_number->($tag, $part->{$tag});
            return { $tag => $n, is => $walk->($part->{is}) };
        }
        return { map { ($_ => $walk->($part->{$_})) } keys %$part };
    };
    return $walk->($tree);
}

# Returns a description with the entries of maps sorted by their keys, for comparisons.
sub sorted ($part) {
    return [map { sorted($_) } @$part] if ref $part eq 'ARRAY';
    return $part if ref $part ne 'HASH';
    my %copy = map { ($_ => sorted($part->{$_})) } keys %$part;
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

# The values are not copied, because Sereal writes values with one reference in another form.
my %freeze = (
    storable            => sub { local $Storable::canonical = 1; return Storable::freeze($_[0]) },
    'storable:netorder' => sub { local $Storable::canonical = 1; return Storable::nfreeze($_[0]) },
    sereal              => sub { return Sereal::Encoder->new({ sort_keys => 2 })->encode($_[0]) },
    'sereal:dedupe'     => sub { return Sereal::Encoder->new({ sort_keys => 2, dedupe_strings => 1, compress => Sereal::Encoder::SRL_ZLIB(), compress_threshold => 0 })->encode($_[0]) },
    dumper              => sub { return Data::Dumper->new([$_[0]])->Sortkeys(1)->Purity(1)->Useqq(1)->Indent(1)->Dump },
);

sub frozen () {
    my @lines;
    my @seeds = seeds();    # only this array refers to the values, because reference counts matter
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
