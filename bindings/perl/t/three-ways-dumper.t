# Random data and random settings, dumped by Data::Dumper and by Icecore::Dumper: the same
# bytes; and read back without eval: the same values as eval.

use strict;
use warnings;

use Test::More;
use Data::Dumper    ();
use Icecore::Dumper qw(undump);

plan skip_all => "this test needs Data::Dumper 2.184, and this is $Data::Dumper::VERSION" if $Data::Dumper::VERSION != 2.184;

my $seed = $ENV{ICECORE_SEED} || 30;
srand $seed;

{
    package Cold;
    sub freeze { my ($self) = @_; $self->{frozen} = 1; return }
    sub thaw { return $_[0] }
}

my @words = ('', 'a', '0', '1', '12', '-5', '007', '1.5', 'name', "tab\there", "it's \\ \$x \@y", "\0\1\x1f\x7f", "caf\xe9", "\x{263a}x",
    "\xff", 'x' x 40, "line\nbreak", 'A::B', 'a-b', '12345678901', '-', "\x{e9}\x{100}");
our @shared;

sub pick { return $_[rand @_] }

sub leaf {
    my $kind = int rand 16;
    return undef                                       if $kind == 0;
    return int rand 100                                if $kind == 1;
    return -int(rand 1e6)                              if $kind == 2;
    return pick(18446744073709551615, 1234567890, 12345678901, -1234567890) if $kind == 3;
    return pick(0.1, -2.5, 1e20, 1e-7, 1 / 3, 3.0, 1e5) if $kind == 4;
    return \pick(@words)                               if $kind == 5;
    return \\'deep'                                    if $kind == 6;
    if ($kind == 7) { my $number = int rand 1000; my $text = "$number"; return $number }
    if ($kind == 8) { my $text = pick('12', '3.5', 'abc', ' 1'); { no warnings; my $sum = $text + 1 } return $text }
    if ($kind == 9) { my $text = pick(@words); utf8::upgrade($text); return $text }
    return pick(qr/a.b/i, qr{/slash}, bless(qr/x/, 'Pattern')) if $kind == 10 && rand() < 0.3;
    return pick(sub {1}, sub { my $x = 1; return $x }, bless(\(my $s = 'obj'), 'Scalar'), \*STDOUT, *STDERR) if $kind == 11 && rand() < 0.3;
    return pick(@shared) if $kind >= 12 && @shared && rand() < 0.5;
    return pick(@words);
}

sub value {
    my ($depth) = @_;
    return leaf() if $depth <= 0 || rand() < 0.25;
    my $value = rand() < 0.5 ? [map { value($depth - 1) } 1 .. rand 5]
        : { map { (pick(@words) =~ tr/\0//dr . (rand() < 0.3 ? int rand 30 : '')) => value($depth - 1) } 1 .. rand 5 };
    bless $value, pick('Cold', 'My::Class', "It's") if rand() < 0.1;
    push @shared, $value if rand() < 0.3;
    push @shared, \$value->[0] if ref $value eq 'ARRAY' && @$value && rand() < 0.1;
    push @$value, $value if ref $value eq 'ARRAY' && rand() < 0.05;
    return $value;
}

my %settings = (
    Indent => [0 .. 3], Terse => [0, 1], Useqq => [0, 1], Purity => [0, 1], Deepcopy => [0, 1], Quotekeys => [0, 1], Trailingcomma => [0, 1],
    Sortkeys => [0, 1, sub { return [sort { $b cmp $a } keys %{ $_[0] }] }], Pad => ['', '# '], Pair => [' => ', ', ', ':'], Varname => ['VAR', 'x'],
    Maxdepth => [0, 1, 2], Bless => ['bless', 'make'], Freezer => ['', 'freeze'], Toaster => ['', 'thaw'], Sparseseen => [0, 1], Deparse => [0, 1],
);

# A key with a NUL is broken if Data::Dumper writes a path through it.
my ($same, $read, $good) = (0, 0, 1);
my $rounds = $ENV{ICECORE_ROUNDS} || 3000;
for my $round (1 .. $rounds) {
    local @shared = ();
    my @data = map { value(rand 4) } 1 .. (rand() < 0.7 ? 1 : 1 + rand 3);
    my @names = rand() < 0.2 ? map { pick('a', '*h', '$c', 'named') . int rand 100 } @data : ();
    my ($ours, $theirs) = map { $_->new([@data], [@names]) } 'Icecore::Dumper', 'Data::Dumper';
    my @set;
    for my $name (sort keys %settings) {
        next if rand() < 0.75;
        my $value = pick(@{ $settings{$name} });
        push @set, "$name($value)";
        $_->$name($value) for $ours, $theirs;
    }
    my $name = "seed $seed, round $round: " . join('->', @set) . " @names";
    # Data that is shared across the depth limit is written differently: Icecore::Dumper's page
    # describes it.
    my $is_cut = "@set" =~ /Maxdepth\([12]/;
    next if $is_cut && @shared;
    local $SIG{__WARN__} = sub { };
    my @their = eval { $theirs->Dumpxs };
    my $their_error = $@;
    next if $is_cut && "@their" =~ /\(0x/ && "@their" =~ /\$\w+(?! = )\b/;
    my @our = eval { $ours->Dump };
    my $our_error = $@;
    if ($their_error || $our_error || "@our" ne "@their" || @our != @their) {
        $good = 0;
        my ($o, $t) = (join('|', @our), join('|', @their));
        my $at = 0;
        $at++ while $at < length $o && substr($o, $at, 1) eq substr($t, $at, 1);
        my $from = $at < 200 ? 0 : $at - 200;
        diag "$name\nours:   $our_error" . substr($o, $from, 260) . "\ntheirs: $their_error" . substr $t, $from, 260;
        last;
    }
    $same++;
    # The result of eval; if Pair and Bless are changed, the text is no longer Perl. Without
    # Purity a path may name something that does not exist yet.
    next if "@set" !~ /Purity\(1/ && "@their" =~ /\$(?:VAR|x)\d+(?! = )/;
    # For eval a path has to come after its target; undump keeps shared data.
    next if "@their" =~ /\$\{\$/;
    next if "@set" =~ /Pair|Bless|Toaster|Pad|Maxdepth|Terse/ || @names || "@their" =~ /DUMMY|sub \{|\\\*|\*::|'STDERR|main::/;
    my @evaluated = do {
        no strict;
        my @all;
        my $text = join '', @their;
        eval $text . ';@all = (' . join(',', map {'$' . ("@set" =~ /Varname\(x\)/ ? 'x' : 'VAR') . $_} 1 .. @data) . ')';
        die "$text: $@" if $@;
        @all;
    };
    my @undumped = eval { undump(join('', @their), classes => 'any') };
    if ($@) { $good = 0; diag "$name\n$@\n" . join '', @their; last }
    my ($a, $b) = map { scalar Data::Dumper->new($_)->Sortkeys(1)->Useqq(1)->Dump } \@evaluated, \@undumped;
    if ($a ne $b) { $good = 0; diag "$name\n" . join('', @their) . "\neval:   $a\nundump: $b"; last }
    $read++;
}
ok $good, 'the texts are those of Data::Dumper';
ok $same > $rounds / 2, "the texts were equal $same times";
ok $read > $rounds / 10, "the texts were read back $read times";
done_testing;
