# The payload of a hook may be frozen data itself, which the class thaws with the original's
# functions: its classes are checked against the same list, before any hook runs.

use v5.30;
use warnings;

use Storable ();
use Test::More;
use Icecore ();
use Icecore::JSON ();
use Icecore::Sereal ();
use Icecore::Storable ();

my $has_sereal = eval { require Sereal::Decoder; require Sereal::Encoder; 1 };
our (@calls, @kept);

{
    # This one is in no list.
    package Evil;
    sub STORABLE_freeze { return 'x' }
    sub STORABLE_thaw { push @main::calls, 'Evil::STORABLE_thaw' }
    sub FREEZE { return 'x' }
    sub THAW { push @main::calls, 'Evil::THAW'; return bless {}, shift }
    sub TIEHASH { push @main::calls, 'Evil::TIEHASH'; return bless {}, shift }
    sub FETCH { push @main::calls, 'Evil::FETCH' }
    sub FIRSTKEY { push @main::calls, 'Evil::FIRSTKEY'; return }
    sub DESTROY { push @main::calls, 'Evil::DESTROY' if $main::reading }
    package Evil::Plain;
    sub DESTROY { push @main::calls, 'Evil::Plain::DESTROY' if $main::reading }
    package Evil::Attached;
    sub STORABLE_freeze { return 'x' }
    sub STORABLE_attach { push @main::calls, 'Evil::Attached::STORABLE_attach'; return bless {}, 'Evil::Attached' }
    # These are listed. They thaw any payload.
    package Good;
    sub thaw {
        my ($what) = @_;
        return map { thaw($_) } ref $what eq 'ARRAY' ? @$what : ref $what eq 'HASH' ? %$what : $$what if ref $what && ref($what) =~ /\A(?:ARRAY|HASH|SCALAR|REF)\z/;
        return if ref $what || !defined $what;
        push @main::kept, eval { Storable::thaw($what) }, eval { open my $in, '<', \(my $bytes = $what); Storable::fd_retrieve($in) };
        push @main::kept, eval { Sereal::Decoder::decode_sereal($what) } if $has_sereal;
        return;
    }
    sub new { my ($class, @given) = @_; return bless { given => \@given }, $class }
    sub STORABLE_freeze { my ($self) = @_; return @{ $self->{given} } }
    sub STORABLE_thaw { my ($self, $cloning, @given) = @_; push @main::calls, 'Good::STORABLE_thaw'; thaw($_) for @given; return }
    sub FREEZE { my ($self) = @_; return @{ $self->{given} } }
    sub THAW { my ($class, $for, @given) = @_; push @main::calls, 'Good::THAW'; thaw($_) for @given; return bless {}, $class }
    package Good::Attached;
    our @ISA = ('Good');
    sub STORABLE_attach { my ($class, $cloning, $text) = @_; push @main::calls, 'Good::STORABLE_attach'; Good::thaw($text); return bless {}, $class }
}
our $reading = 0;

sub file_image {
    my ($value, $store) = @_;
    my $bytes = '';
    open my $out, '>', \$bytes or die $!;
    $store->($value, $out);
    close $out;
    return $bytes;
}

# Values with an unlisted class, frozen in every way.
my %evil = (hook => bless({}, 'Evil'), plain => bless([1], 'Evil::Plain'), attached => bless({}, 'Evil::Attached'), deep => [{ a => [bless {}, 'Evil'] }]);
my %frozen;
for my $what (sort keys %evil) {
    my $value = $evil{$what};
    $frozen{"$what, freeze"} = Storable::freeze($what eq 'deep' ? $value : [$value]);
    $frozen{"$what, nfreeze"} = Storable::nfreeze([$value]);
    $frozen{"$what, store"} = file_image([$value], \&Storable::store_fd);
    $frozen{"$what, nstore"} = file_image([$value], \&Storable::nstore_fd);
    next if $what eq 'attached';
    for my $version (1 .. 5) {
        for my $compress (0 .. 3) {
            next if $compress > 1 && $version < 3 || $compress > 2 && $version < 4;
            my %options = (protocol_version => $version, compress => $compress, compress_threshold => 0, freeze_callbacks => 1);
            $frozen{"$what, Sereal $version, compress $compress"} = Icecore::Sereal::encode_sereal([$value, 'text' x 30], \%options);
        }
    }
    $frozen{"$what, Sereal, in the header"} = Icecore::Sereal::encode_sereal_with_header_data([1], [$value], { freeze_callbacks => 1 });
}
# With more bytes after it, without its end, and as characters.
for my $name (sort keys %frozen) {
    my $bytes = $frozen{$name};
    $frozen{"$name, bytes after it"} = "$bytes\0";
    utf8::upgrade(my $text = $bytes);
    $frozen{"$name, as text"} = $text;
}
for my $what (qw(freeze nfreeze)) {
    my $bytes = $frozen{"hook, $what"};
    my $image = Storable->can($what)->([bless({}, 'Evil'), [1 .. 9], 'the end']);
    $frozen{"without its end, $what"} = substr $image, 0, -5;
}
my $two = Icecore::Sereal::encode_sereal([1]) . Icecore::Sereal::encode_sereal([$evil{hook}], { freeze_callbacks => 1 });
$frozen{'the second of two'} = $two;
$frozen{'the second of two files'} = file_image([1], \&Storable::store_fd) . file_image([$evil{hook}], \&Storable::nstore_fd);
$frozen{'in what another hook is given'} = Storable::freeze(Good->new(Icecore::Sereal::encode_sereal([$evil{hook}], { freeze_callbacks => 1 })));
$frozen{'in what another hook is given, twice'} = Icecore::Sereal::encode_sereal(Good->new([Storable::nfreeze(Good->new($frozen{'plain, store'}))]), { freeze_callbacks => 1 });

# Ways in which a hook receives a string.
my %ways = (
    'the string of STORABLE_thaw'   => sub { \&Icecore::Storable::thaw, Storable::freeze([Good->new($_[0])]) },
    'a reference of STORABLE_thaw'  => sub { \&Icecore::Storable::thaw, Storable::nfreeze([Good->new('', \"$_[0]", [1])]) },
    'an array of STORABLE_thaw'     => sub { \&Icecore::Storable::thaw, Storable::freeze([Good->new('', [1, [$_[0]]])]) },
    'a value that was there before' => sub { my $list = [$_[0]]; \&Icecore::Storable::thaw, Storable::freeze([$list, Good->new('', $list)]) },
    'STORABLE_attach'               => sub { \&Icecore::Storable::thaw, Storable::freeze([Good::Attached->new($_[0])]) },
    'an argument of THAW'           => sub { \&sereal, Icecore::Sereal::encode_sereal([Good->new(1, $_[0])], { freeze_callbacks => 1 }) },
    'an array of THAW'              => sub { \&sereal, Icecore::Sereal::encode_sereal([Good->new([1, { a => $_[0] }])], { freeze_callbacks => 1 }) },
    'a key for THAW'                => sub { \&sereal, Icecore::Sereal::encode_sereal([Good->new({ $_[0] => 1 })], { freeze_callbacks => 1 }) },
    'a link for THAW'               => sub { my $list = [$_[0]]; \&sereal, Icecore::Sereal::encode_sereal([$list, Good->new($list)], { freeze_callbacks => 1 }) },
    'a COPY for THAW'               => sub { \&sereal, Icecore::Sereal::encode_sereal([$_[0], Good->new($_[0])], { freeze_callbacks => 1, dedupe_strings => 1 }) },
    'THAW, in the header'           => sub { \&with_header, Icecore::Sereal::encode_sereal_with_header_data([1], [Good->new($_[0])], { freeze_callbacks => 1 }) },
    'THAW, after a header'         => sub { \&with_header, Icecore::Sereal::encode_sereal_with_header_data([Good->new($_[0])], [Good->new(1)], { freeze_callbacks => 1 }) },
    'THAW, compressed'              => sub { \&sereal, Icecore::Sereal::encode_sereal([Good->new($_[0])], { freeze_callbacks => 1, compress => 1, compress_threshold => 0 }) },
    'THAW of JSON'                  => sub { \&json, Icecore::JSON->new->latin1->allow_tags->encode([Good->new([$_[0]])]) },
    'Icecore::decode'               => sub { \&Icecore::decode, Storable::freeze([Good->new($_[0])]) },
);
sub sereal { my ($bytes, @options) = @_; return Icecore::Sereal::decode_sereal($bytes, {@options}) }
sub json { my ($bytes, %options) = @_; return Icecore::JSON->new->latin1->allow_tags->classes($options{classes})->decode($bytes) }
sub with_header { my ($bytes, @options) = @_; return Icecore::Sereal::Decoder->new({@options})->decode_with_header($bytes) }

sub read_error {
    my ($read, $bytes, @classes) = @_;
    (@calls, @kept) = ();
    my $error;
    {
        local $reading = 1;
        my $value = eval { $read->($bytes, classes => @classes) };
        $error = defined $value ? '' : $@;
        @kept = ();
    }
    return $error;
}

for my $way (sort keys %ways) {
    my (@failures, $count);
    for my $name (sort keys %frozen) {
        next if $way =~ /key/ && length $frozen{$name} > 100_000;
        my ($read, $bytes) = $ways{$way}->($frozen{$name});
        my $error = read_error($read, $bytes, ['Good', 'Good::*']);
        $count++;
        # Payloads that nobody can read: characters that Storable passes to a hook as bytes of
        # UTF-8, and data that the first protocol compressed up to its end.
        my $is_unreadable = $name =~ /as text/ && $way =~ /string of STORABLE|ATTACH|attach|Icecore::decode/ || $name =~ /Sereal 1, compress 1, bytes/;
        my $is_refused = !@calls && $error =~ /Evil/;
        push @failures, "$name: @calls; $error" if !$is_refused && (!$is_unreadable || grep { /Evil/ } @calls);
    }
    is(join("\n", @failures), '', "$way: $count payloads with a class that is not listed are refused");
}

# Listed classes are built, and `any` needs no check.
for my $way (sort keys %ways) {
    my ($read, $bytes) = $ways{$way}->($frozen{'hook, nfreeze'});
    is(read_error($read, $bytes, ['Good', 'Good::Attached', 'Evil']), '', "$way: payloads with listed classes are accepted");
    ok((grep { /^Good/ } @calls) && (grep { /^Evil::STORABLE_thaw/ } @calls), 'the payloads are thawed');
    is(read_error($read, $bytes, 'any'), '', '`any` accepts all payloads');
    ok((grep { /^Evil/ } @calls), 'with `any` the payloads are thawed');
    like(read_error($read, $bytes, 'record') , qr/\A\z/, 'records need no check of payloads');
    is("@calls", '', 'the hooks of records are not called');
}

# Data that only begins like frozen data.
my @harmless = ('=srl', '=srl is text', "=\xf3rl\5\0", "=\xf3rl\5\0\x2b\xff\xff\xff\xff", 'pst0', 'pst0 is text', "pst0\5\13", "\4\13", "\5\13", "\5\13\3\377\377\377\377", "\4\13\10" . '12345678',
    "\4\4\4\4\4\4", "\0\0\0\5hello", "\0" x 50, "\5" x 50, "\1\2\3\4", substr(Storable::freeze([1 .. 9]), 0, -3), Storable::freeze(['Evil']), Icecore::Sereal::encode_sereal({ Evil => 'Evil' }), '', '0');
for my $way (sort keys %ways) {
    my @failures;
    for my $text (@harmless) {
        my ($read, $bytes) = $ways{$way}->($text);
        my $error = read_error($read, $bytes, ['Good', 'Good::*']);
        push @failures, unpack('H*', $text) . ": $error" if $error || !grep { /^Good/ } @calls;
    }
    is(join("\n", @failures), '', "$way: strings that only begin like frozen data are accepted");
}

# A hook that is not called receives nothing.
{
    my ($read, $bytes) = $ways{'an argument of THAW'}->($frozen{'hook, nfreeze'});
    is(ref eval { Icecore::Sereal::decode_sereal($bytes, { classes => ['Good'], no_thaw_objects => 1 }) }, 'ARRAY', 'no_thaw_objects needs no check of payloads');
    is(ref eval { Icecore::Sereal::decode_sereal($bytes, { classes => ['Good'], thaw_allow_classes => [], thaw_deny_action => 'raw' }) }, 'ARRAY', 'an object that is not thawed needs no check');
    is(ref eval { Icecore::Storable::thaw(Storable::freeze([bless { frozen => $frozen{'hook, nfreeze'} }, 'Held']), classes => ['Held']) }, 'ARRAY', 'a string outside of hooks is not checked');
}

# Perl would call the methods of a class that a string names, and code as text is code.
{
    my $image = Storable::nfreeze(do { tie my %tied, 'Evil'; \%tied });
    # A string instead of the object.
    my $tied = "\5\13\4\13\12\4Evil";
    my ($read, $bytes) = $ways{'the string of STORABLE_thaw'}->($tied);
    like(read_error($read, $bytes, ['Good']), qr/Evil/, 'a payload with a tie to a string is refused');
    is("@calls", '', 'no method of the tie is called');
    ($read, $bytes) = $ways{'the string of STORABLE_thaw'}->($image);
    like(read_error($read, $bytes, ['Good']), qr/Evil/, 'a payload with a tie to an object is refused');
    no warnings 'once';
    local $Storable::Deparse = 1;
    ($read, $bytes) = $ways{'the string of STORABLE_thaw'}->(Storable::freeze([sub { 1 }]));
    like(read_error($read, $bytes, ['Good']), qr/code as text/, 'a payload with code as text is refused');
    local $Icecore::Storable::Eval = 1;
    is(read_error($read, $bytes, ['Good']), '', 'a payload with code as text is accepted with $Eval');
}

# Reading has a limit: too much is an error, and nothing is read twice.
{
    my $bomb = Icecore::Sereal::encode_sereal([Good->new(1), "\0" x 300_000_000], { freeze_callbacks => 1, compress => 3 });
    my ($read, $bytes) = $ways{'an argument of THAW'}->($bomb);
    like(read_error($read, $bytes, ['Good']), qr/can't be checked: .*decompress/, 'a payload that decompresses to too much is refused');
    my $deep = "\5\13" . "\4" x 20_000 . "\5";
    ($read, $bytes) = $ways{'the string of STORABLE_thaw'}->($deep);
    like(read_error($read, $bytes, ['Good']), qr/can't be checked: .*nesting/, 'a payload with too many levels is refused');
}

done_testing;
