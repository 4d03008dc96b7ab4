package Both;

# Runs one test body for the original and for Icecore, so that every expectation is verified with
# the original.
#
#   both_storable('what is tested' => sub { my ($m) = @_; ... });
#
# $m has the functions of the module as methods, and
#
#   $m->name, $m->ours          the name of the module, and whether it is Icecore's
#   $m->set(canonical => 1)     a package variable, until the body ends
#   $m->with({ canonical => 1 }, sub { ... })
#   $m->dies($code)             the error of the code, or '' if it does not die
#   $m->says(qr/original/, qr/ours/)   the expected error of this module
#
# both_sereal likewise; $m has encode, decode and so on (see Both::Sereal).
#
# ICECORE_TEST_ORIGINALS=only  leaves Icecore out
# ICECORE_TEST_ORIGINALS=no    leaves the originals out

use strict;
use warnings;

use Exporter   'import';
use File::Temp ();
use Test::More ();

our @EXPORT = qw(
    both_storable both_sereal our_storable our_sereal storables sereals ours_only with_ours scratch bytes_are
    have_original decompressed slurp spew
);

my $which = $ENV{ICECORE_TEST_ORIGINALS} || '';

my %found;    # module => '' or why it can't be used

sub why_not {
    my ($module) = @_;
    return $found{$module} if defined $found{$module};
    my $file = "$module.pm" =~ s{::}{/}gr;
    return $found{$module} = eval { require $file; 1 } ? '' : (split /\n/, $@)[0];
}

sub have_original {
    my ($module) = @_;
    return $which ne 'no' && !why_not($module);
}

sub with_ours { return $which ne 'only' }

# All data here is written by the tests themselves, so any class may be built; t/safety-*.t test
# the restrictions.
my %allowed;

sub ours {
    my ($module) = @_;
    my $why = why_not($module);
    Test::More::BAIL_OUT("$module: $why") if $why;
    $module->import(classes => 'any') unless $allowed{$module}++ || $ENV{ICECORE_TEST_STRICT};
    return;
}

sub storables {
    my @all;
    push @all, Both::Storable->new('Storable', 0) if have_original('Storable');
    if (with_ours()) {
        ours('Icecore::Storable');
        push @all, Both::Storable->new('Icecore::Storable', 1);
    }
    return @all;
}

sub sereals {
    my @all;
    push @all, Both::Sereal->new('Sereal', 0) if have_original('Sereal::Encoder') && have_original('Sereal::Decoder');
    if (with_ours()) {
        ours('Icecore::Sereal');
        push @all, Both::Sereal->new('Icecore::Sereal', 1);
    }
    return @all;
}

sub both_storable { unshift @_, [storables()]; goto &both }
sub both_sereal   { unshift @_, [sereals()];   goto &both }

# Tests that the original can't run: it crashes, or lacks the feature.
sub our_storable { unshift @_, [grep { $_->ours } storables()]; goto &both }
sub our_sereal   { unshift @_, [grep { $_->ours } sereals()];   goto &both }

sub both {
    my ($modules, @about) = @_;
    my $body  = pop @about;
    my $about = @about ? ": $about[0]" : '';
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    unless (@$modules) {
        Test::More->builder->skip("nothing to test$about");
        return;
    }
    for my $m (@$modules) {
        Test::More::subtest($m->name . $about => sub {
            my $left = eval { $body->($m); 1 };
            my $error = $@;
            $m->restore;
            Test::More::fail("the body died: $error") unless $left;
        });
    }
    return;
}

# Skips the file if only the originals are tested, or if one of the modules that are passed is not
# installed.
sub ours_only {
    my (@others) = @_;
    Test::More::plan(skip_all => 'the originals only') unless with_ours();
    for my $other (@others) {
        my $why = why_not($other);
        Test::More::plan(skip_all => $why) if $why;
    }
    my $why = why_not('Icecore');
    Test::More::BAIL_OUT("Icecore: $why") if $why;
    return;
}

my $scratch;

sub scratch {
    my ($name) = @_;
    $scratch = File::Temp->newdir('icecore-XXXXXX', TMPDIR => 1) unless $scratch;
    return defined $name ? "$scratch/$name" : "$scratch";
}

sub slurp {
    my ($file) = @_;
    open my $handle, '<:raw', $file or die "$file: $!";
    local $/;
    return scalar readline $handle;
}

sub spew {
    my ($file, $bytes) = @_;
    open my $handle, '>:raw', $file or die "$file: $!";
    print {$handle} $bytes or die "$file: $!";
    close $handle or die "$file: $!";
    return;
}

# Like `is` for bytes: shows the first difference.
sub bytes_are {
    my ($got, $expected, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $test = Test::More->builder;
    return $test->ok(1, $name) if defined $got && defined $expected && $got eq $expected;
    $test->ok(0, $name);
    for ($got, $expected) {
        next if defined;
        $test->diag('    undef instead of bytes');
        return 0;
    }
    my $same = length(($got ^ $expected) =~ /^(\0*)/ ? $1 : '');
    my $from = $same > 12 ? $same - 12 : 0;
    for (['got', $got], ['expected', $expected]) {
        my $window = substr $_->[1], $from, 40;
        $test->diag(sprintf '    %-8s %5d bytes, from %d: %s  %s', $_->[0], length $_->[1], $from,
            unpack('H*', $window), $window =~ tr/ -~/./cr);
    }
    $test->diag("    equal up to offset $same");
    return 0;
}

# Returns a Sereal document without its compression, so that documents that were compressed by
# different libraries can be compared. The original can't be used for this: decoding and
# encoding again would not show the bytes.
sub decompressed {
    my ($document) = @_;
    my $encoding = ord(substr $document, 4, 1) >> 4;
    return $document unless $encoding;
    require Sereal::Decoder;
    my ($suffix, $body) = Both::Body::of($document);
    # As it would be without compression: a body that hardly shrinks is compressed by one
    # library and left as it is by the other.
    return substr($document, 0, 4) . chr(ord(substr $document, 4, 1) & 15) . $suffix . $body if $encoding != 4;
    return join ' ', unpack('H*', substr $document, 0, 5), unpack('H*', $suffix), $body;
}

package Both::Body;

sub varint {
    my ($bytes, $at) = @_;
    my ($value, $shift) = (0, 0);
    while (1) {
        my $byte = ord substr $bytes, $$at++, 1;
        $value |= ($byte & 0x7f) << $shift;
        return $value if $byte < 0x80;
        $shift += 7;
    }
}

# Returns the suffix of the header, and the body before compression.
sub of {
    my ($document) = @_;
    my $at       = 5;
    my $encoding = ord(substr $document, 4, 1) >> 4;
    my $length   = varint($document, \$at);
    $at += $length;
    # Includes the length before it.
    my $suffix = substr $document, 5, $at - 5;
    my $body;
    if ($encoding == 3) {
        require Compress::Zlib;
        my $size   = varint($document, \$at);
        $length = varint($document, \$at);
        $body = Compress::Zlib::uncompress(substr $document, $at, $length);
        die 'the size in the header is wrong' unless length $body == $size;
    }
    elsif ($encoding == 1 || $encoding == 2) {
        $length = $encoding == 2 ? varint($document, \$at) : length($document) - $at;
        $body = unsnappy(substr $document, $at, $length);
    }
    else {
        # None of perl's core modules supports Zstandard.
        $length = varint($document, \$at);
        $body = 'zstd of ' . content_size(substr $document, $at, $length);
    }
    return ($suffix, $body);
}

sub content_size {
    my ($frame) = @_;
    my $flags   = ord substr $frame, 4, 1;
    my $single  = $flags & 0x20;
    my $kind    = $flags >> 6;
    my $at      = 5 + ($single ? 0 : 1) + (0, 1, 2, 4)[$flags & 3];
    return $single ? ord substr $frame, $at, 1 : 'unknown' if $kind == 0;
    return 256 + unpack 'v', substr $frame, $at, 2 if $kind == 1;
    return unpack $kind == 2 ? 'V' : 'Q<', substr $frame, $at, 8;
}

sub unsnappy {
    my ($bytes) = @_;
    my ($at, $out) = (0, '');
    my $size = varint($bytes, \$at);
    while ($at < length $bytes) {
        my $tag = ord substr $bytes, $at++, 1;
        if (($tag & 3) == 0) {
            my $length = $tag >> 2;
            if ($length >= 60) {
                my $wide = $length - 59;
                $length = unpack 'V', substr($bytes, $at, $wide) . "\0\0\0\0";
                $at += $wide;
            }
            $out .= substr $bytes, $at, $length + 1;
            $at += $length + 1;
            next;
        }
        my ($length, $offset);
        if (($tag & 3) == 1) {
            $length = 4 + (($tag >> 2) & 7);
            $offset = ($tag >> 5 << 8) | ord substr $bytes, $at++, 1;
        }
        else {
            my $wide = ($tag & 3) == 2 ? 2 : 4;
            $length = 1 + ($tag >> 2);
            $offset = unpack 'V', substr($bytes, $at, $wide) . "\0\0\0\0";
            $at += $wide;
        }
        $out .= substr $out, length($out) - $offset, 1 for 1 .. $length;
    }
    die 'the size in the header is wrong' unless length $out == $size;
    return $out;
}

package Both::Module;

sub new {
    my ($class, $package, $ours) = @_;
    return bless { package => $package, ours => $ours, before => [] }, $class;
}

sub name { $_[0]{package} }
sub ours { $_[0]{ours} }

# Returns a function of the module by its name.
sub function {
    my ($self, $name) = @_;
    no strict 'refs';
    my $full = "$self->{package}::$name";
    return \&$full if defined &$full;
    die "$full doesn't exist\n";
}

sub set {
    my ($self, %value) = @_;
    no strict 'refs';
    for my $name (sort keys %value) {
        my $variable = \${"$self->{package}::$name"};
        push @{ $self->{before} }, [$variable, $$variable];
        $$variable = $value{$name};
    }
    return;
}

sub get {
    my ($self, $name) = @_;
    no strict 'refs';
    return ${"$self->{package}::$name"};
}

sub restore {
    my ($self, $down_to) = @_;
    my $before = $self->{before};
    while (@$before > ($down_to || 0)) {
        my ($variable, $value) = @{ pop @$before };
        $$variable = $value;
    }
    return;
}

sub with {
    my ($self, $values, $code) = @_;
    my $depth = @{ $self->{before} };
    $self->set(%$values);
    my @result = eval { wantarray ? $code->() : scalar $code->() };
    my $error = $@;
    my $fine = $error eq '' && !ref $error;
    $self->restore($depth);
    die $error unless $fine;
    return wantarray ? @result : $result[0];
}

sub dies {
    my ($self, $code) = @_;
    my $lived = eval { $code->(); 1 };
    return $lived ? '' : $@;
}

# Returns the pattern for an error of this module: Icecore may have its own text.
sub says {
    my ($self, $original, $ours) = @_;
    return $self->{ours} ? qr/$original|$ours/ : $original;
}

package Both::Storable;

our @ISA = ('Both::Module');

for my $name (qw(
    freeze nfreeze thaw dclone store nstore retrieve lock_store lock_nstore lock_retrieve
    store_fd nstore_fd fd_retrieve retrieve_fd file_magic read_magic last_op_in_netorder
    is_storing is_retrieving stack_depth stack_depth_hash BIN_VERSION_NV BIN_WRITE_VERSION_NV
)) {
    no strict 'refs';
    *$name = sub {
        my $self     = shift;
        my $function = $self->function($name);
        return &$function;
    };
}

package Both::Sereal;

our @ISA = ('Both::Module');

sub encoder_class { $_[0]{ours} ? 'Icecore::Sereal::Encoder' : 'Sereal::Encoder' }
sub decoder_class { $_[0]{ours} ? 'Icecore::Sereal::Decoder' : 'Sereal::Decoder' }

sub encoder { my $self = shift; return $self->encoder_class->new(@_) }
sub decoder { my $self = shift; return $self->decoder_class->new(@_) }

my %original = (
    encode             => 'Sereal::Encoder::encode_sereal',
    encode_with_header => 'Sereal::Encoder::encode_sereal_with_header_data',
    decode             => 'Sereal::Decoder::decode_sereal',
    decode_with_header => 'Sereal::Decoder::decode_sereal_with_header_data',
    looks_like_sereal  => 'Sereal::Decoder::looks_like_sereal',
    scalar_looks_like_sereal => 'Sereal::Decoder::scalar_looks_like_sereal',
);
for my $name (sort keys %original) {
    my ($function) = $original{$name} =~ /(\w+)$/;
    no strict 'refs';
    *$name = sub {
        my $self = shift;
        my $full = $self->{ours} ? "Icecore::Sereal::$function" : $original{$name};
        die "$full doesn't exist\n" unless defined &$full;
        return &$full;
    };
}

1;
