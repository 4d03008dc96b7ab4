# Mutated images and documents: no class outside of the list is called, and nothing is called
# for malformed data. Longer runs:
#
#   ICECORE_TEST_ROUNDS=3000000 ICECORE_TEST_SEED=1 prove -b t/safety-mutated.t

use v5.30;
use warnings;

use Storable ();
use Test::More;
use Icecore ();
use Icecore::Sereal ();
use Icecore::Storable ();

my $has_sereal = eval { require Sereal::Decoder; require Sereal::Encoder; 1 };
my $count = $ENV{ICECORE_TEST_ROUNDS} || 60_000;
my $seed  = $ENV{ICECORE_TEST_SEED} || 1;

our (@calls, $reading, $hooks_thaw);
$reading = 0;

# All methods of a class that perl may call record their calls.
my @listed   = qw(Good::Hooks Good::Attached Good::Plain Good::Tie Good::Over);
my @unlisted = qw(Evil::Hooks Evil::Attached Evil::Plain Evil::Tie Evil::Over Evil Good Good::Hook);
for my $class (@listed, @unlisted) {
    my $recorder = sub { my ($what) = @_; return sub { push @calls, "$class $what" if $reading; return $what =~ /\A(?:TIE|THAW|STORABLE_attach)/ ? bless {}, $class : $what =~ /\A[<(]/ ? 1 : () } };
    no strict 'refs';
    *{"${class}::$_"} = $recorder->($_) for qw(TIEHASH TIEARRAY TIESCALAR FETCH STORE FIRSTKEY NEXTKEY FETCHSIZE EXISTS UNTIE import unimport DESTROY can isa CLONE CLONE_SKIP TO_JSON);
    *{"${class}::AUTOLOAD"} = do { my $autoload = "${class}::AUTOLOAD"; sub { push @calls, "$class AUTOLOAD $$autoload" if $reading; return } };
    if ($class =~ /Hook|Attached|\AEvil\z|\AGood\z/) {
        *{"${class}::STORABLE_freeze"} = sub { my ($self) = @_; return @{ $self->{given} // ['x'] } };
        *{"${class}::FREEZE"} = sub { my ($self) = @_; return @{ $self->{given} // ['x'] } };
        *{"${class}::THAW"} = sub { my ($is, $for, @given) = @_; push @calls, "$class THAW" if $reading; thaw_given(@given); return bless {}, $is };
        *{"${class}::STORABLE_thaw"} = sub { my ($self, $cloning, @given) = @_; push @calls, "$class STORABLE_thaw" if $reading; thaw_given(@given); return };
    }
    *{"${class}::STORABLE_attach"} = sub { my ($is, $cloning, $text) = @_; push @calls, "$class STORABLE_attach" if $reading; thaw_given($text); return bless {}, $is } if $class =~ /Attached/;
    if ($class =~ /Over/) {
        require overload;
        "overload"->can('OVERLOAD')->($class, map { my $operator = $_; ($operator => $recorder->("<$operator>")) } '""', 'bool', '0+', '==', 'eq', '${}', '@{}', '%{}', '&{}', '<=>', 'cmp');
    }
}

# Whether the original reads bytes without requesting gigabytes, or reading beyond their end.
sub is_bearable {
    my ($text) = @_;
    # Weak references to thawed values make the original free memory twice.
    return $text !~ /[\x30\xb0]/ && defined eval { Icecore::Sereal::decode_sereal($text, { classes => 'record' }); 1 } if $text =~ /\A=(?:srl|\xf3rl)/;
    return 0 if $text !~ /\A(?:pst0)?([\0-\5])/;
    my $number = ord($1) & 1 ? 'N' : 'V';
    while ($text =~ /[\1-\3\x13\x18\x19\x1e-\x20]/g) {
        my $offset = pos $text;
        for my $skipped (0 .. 2) {
            my $length = unpack $number, substr $text, $offset + $skipped, 4 if $offset + $skipped + 4 <= length $text;
            return 0 if defined $length && $length > 1_000_000;
        }
    }
    return 1;
}

# A hook that thaws its payload with the original.
sub thaw_given {
    return if !$hooks_thaw;
    local $SIG{__WARN__} = sub { };
    local $reading = 0;
    my @strings = grep { defined && !ref && length } map { ref $_ eq 'ARRAY' ? @$_ : ref $_ eq 'SCALAR' ? $$_ : $_ } @_;
    for my $text (grep { is_bearable($_) } @strings) {
        $reading = 1;
        if ($text =~ /\A=/) { eval { Sereal::Decoder::decode_sereal($text) } if $has_sereal }
        elsif ($text =~ /\Apst0/) { eval { open my $in, '<', \(my $bytes = $text); Storable::fd_retrieve($in) } }
        else { eval { Storable::thaw($text) } }
        $reading = 0;
    }
    return;
}

# Requests for modules are recorded too.
unshift @INC, sub { my ($self, $file) = @_; push @calls, "require $file" if $reading && $file !~ /\A(?:Good\/|overload|Carp|Icecore|re\.pm|bytes|utf8|unicore|Storable|Log|warnings|Tie\/|strict|feature)/; return };

# ---- data to mutate ------------------------------------------------------------

sub file_image { my ($value) = @_; my $bytes = ''; open my $out, '>', \$bytes; Storable::nstore_fd($value, $out); return $bytes }

sub good_object { my (@given) = @_; return bless { given => [@given] }, 'Good::Hooks' }

my $evil  = bless { given => ['y'] }, 'Evil::Hooks';
my @inner = (Storable::freeze([$evil]), Storable::nfreeze([bless {}, 'Evil::Plain']), Storable::nfreeze([good_object('z'), 1]), Storable::nfreeze(bless {}, 'Evil::Attached'), file_image([$evil]));
push @inner, map { my $options = $_; map { Icecore::Sereal::encode_sereal($_, { freeze_callbacks => 1, %$options }) } [$evil], [good_object('z')], [bless [], 'Evil::Plain'] }
    {}, { protocol_version => 2 }, { protocol_version => 1 }, { compress => 1, compress_threshold => 0 }, { compress => 2, compress_threshold => 0 }, { compress => 3, compress_threshold => 0 };
tie my %tied, 'Good::Tie';
tie my @tied, 'Good::Tie';
tie my $tied, 'Evil::Tie';
my $shared = [1, 'two'];
my $over   = bless {}, 'Good::Over';
my @values = (
    [good_object('a'), { b => good_object('c', $shared) }, $shared], [bless({ given => ['y'] }, 'Evil::Hooks'), bless([], 'Evil::Plain'), 'end'], [bless({}, 'Good::Attached'), bless({}, 'Evil::Attached')],
    [\%tied, \@tied], [\$tied], [$over, bless({}, 'Evil::Over')], [qr/a.b/i, bless(qr/c/x, 'Good::Plain'), bless(qr/d/, 'Evil::Plain')], [bless({ x => bless [1], 'Good::Plain' }, 'Good::Plain'), undef, 3.5, -1],
    [bless({}, 'Good'), bless({}, 'Evil'), bless({}, 'Good::Hook')], { list => [map { good_object($_) } 1 .. 3], Evil => 'Evil' },
    map({ [good_object($_), 'end'] } @inner), [good_object('', [$inner[0], $inner[5]], \"$inner[1]")],
);
my @documents;
local $SIG{__WARN__} = sub { };
for my $value (@values) {
    push @documents, map { [\&Icecore::Storable::thaw, $_] } grep { defined } eval { Storable::freeze($value) }, eval { Storable::nfreeze($value) }, eval { file_image($value) };
    push @documents, map { [\&sereal, $_] } grep { defined } map { my $options = $_; eval { Icecore::Sereal::encode_sereal($value, { freeze_callbacks => 1, %$options }) } }
        {}, { protocol_version => 3 }, { protocol_version => 1 }, { compress => 1, compress_threshold => 0 }, { dedupe_strings => 1 };
}
sub sereal { my ($bytes, @options) = @_; return Icecore::Sereal::decode_sereal($bytes, {@options}) }

# ---- numbers ---------------------------------------------------------------------

my $state = $seed * 2_654_435_761 % 4_294_967_296;
sub random_below { my ($limit) = @_; $state = ($state * 1_664_525 + 1_013_904_223) % 4_294_967_296; return int($state / 65_536) % $limit }

my @pieces = ('Evil', 'Evil::Hooks', 'Good::Hooks', "\x2c", "\x32", "\x33", "\x29", "\x2f", "\x28", "\x11", "\x13", "\x04", "\x0b\x0c\x0d", "\0\0\0\1", "\xff", '=srl', 'pst0', "\5\13", @inner[0 .. 2]);

sub mutate {
    my ($bytes) = @_;
    for (0 .. random_below(3)) {
        my $length = length $bytes or last;
        my $offset     = random_below($length);
        my $kind    = random_below(9);
        if ($kind < 3) { substr($bytes, $offset, 1) = chr random_below(256) }
        elsif ($kind == 3) { substr($bytes, $offset, 1) = chr(ord(substr $bytes, $offset, 1) ^ 1 << random_below(8)) }
        elsif ($kind == 4) { substr($bytes, $offset, 1 + random_below(4)) = '' }
        elsif ($kind == 5) { substr($bytes, $offset, 0) = $pieces[ random_below(scalar @pieces) ] }
        elsif ($kind == 6) { my $from = random_below($length); substr($bytes, $offset, 0) = substr $bytes, $from, 1 + random_below(12) }
        elsif ($kind == 7) { substr($bytes, $offset) = '' }
        else { my $other = $documents[ random_below(scalar @documents) ][1]; substr($bytes, $offset) = substr $other, random_below(length $other) }
    }
    return $bytes;
}

# ---- reading -----------------------------------------------------------------------

# An error that a hook causes; in this case some hooks were called before it.
my $from_hooks = qr/\ASTORABLE_attach did not return/;
my (%seen, @failures);
my $allowed = { map { $_ => 1 } @listed };
for my $number (1 .. $count) {
    my ($read, $document) = @{ $documents[ random_below(scalar @documents) ] };
    my $bytes   = mutate($document);
    my $classes = random_below(4) ? \@listed : $allowed;
    $hooks_thaw = random_below(2);
    @calls = ();
    my ($value, $error);
    {
        local $reading = 1;
        $value = eval { $read->($bytes, classes => $classes, (random_below(8) || $read != \&sereal ? () : (thaw_allow_classes => ['Good::Hooks']))) };
        $error = $@;
    }
    $seen{ $error eq '' ? 'read' : $error =~ /not allowed/ ? 'refused' : 'malformed' }++;
    $seen{hooks}++ if grep { /^Good/ } @calls;
    my @evil = grep { !/\A(?:Good::(?:Hooks|Attached|Plain|Tie|Over)) / } @calls;
    my @early = $error ne '' && $error !~ $from_hooks ? grep { !/DESTROY/ } @calls : ();
    {
        # The built values are freed, and no destructor of an unlisted class runs.
        local $reading = 1;
        @calls = ();
        undef $value;
        push @evil, grep { !/\A(?:Good::(?:Hooks|Attached|Plain|Tie|Over)) / } @calls;
    }
    next if !@evil && !@early;
    push @failures, "number $number of seed $seed: @evil | @early | $error | " . unpack 'H*', $bytes;
    last if @failures > 5;
}
is(join("\n", @failures), '', "$count mutated blobs: " . join ', ', map { "$_ $seen{$_}" } sort keys %seen);
ok($seen{read} > $count / 50 && $seen{refused} > $count / 50 && $seen{malformed} > $count / 50 && $seen{hooks} > $count / 50, 'each outcome occurs often');

done_testing;
