package Behaviour;

# Runs a line of the behaviour list (bindings/common/behaviour) in Perl.
#
#   for my $line (Behaviour::lines($folder)) {
#       my ($verdict, $why) = Behaviour::run($line);    # passed, failed, skipped, open
#   }

use v5.30;
use warnings;

use B ();
use Behaviour::Classes;
use Behaviour::Values;
use Icecore;
use Icecore::Dumper   ();
use Icecore::Sereal   ();
use Icecore::Storable ();
use JSON::PP          ();

my $language = 'perl';
my %has = map { $_ => 1 } qw(alias weak hole regexp ref code freeze-hooks thaw-hooks destructors),
    defined &builtin::is_bool ? 'bool' : (), -r '/proc/self/statm' ? 'memory' : ();

# The functions of Perl's own formats; `decode` and `encode` are added for all formats.
my %own = (
    storable => [sub { local $Icecore::Storable::canonical = 1; Icecore::Storable::freeze($_[0]) }, \&Icecore::Storable::thaw],
    sereal   => [
        sub { Icecore::Sereal::encode_sereal($_[0], { freeze_callbacks => 1, canonical => 1 }) },
        sub { my ($bytes, %options) = @_; Icecore::Sereal::decode_sereal($bytes, \%options) }
    ],
    dumper => [sub { local $Icecore::Dumper::Sortkeys = 1; Icecore::Dumper::Dumper($_[0]) }, sub { scalar Icecore::Dumper::undump(@_) }],
);
my @own = qw(storable sereal);

my @kinds = (
    class => qr/^Icecore: (?:the class .* is|these classes are) not allowed/, truncated => qr/^(?:Icecore: )?the input ends too early/,
    trailing => qr/^bytes after the end/, malformed => qr/^malformed input|^Icecore: (?:text that is not|malformed) UTF-8/, 'bad-link' => qr/^bad link/,
    unsupported => qr/^not supported/, limit => qr/^limit reached|maximum recursion depth|recursion depth .*exceeded/,
    format => qr/^(?:Icecore: )?wrong format/, usage => qr/^Icecore: wrong option/,
    unrepresentable => qr/^the target format can't represent this|^Icecore: a key that is not a string/, value => qr/can't be encoded|^Can't store/, hook => qr/^the hook says no$/m,
);

# The lines of a file, with the changes for this language.
sub lines { return map { my $line = $_; +{ %$line, %{ delete $line->{$language} // {} } } } raw_lines(@_) }

sub raw_lines {
    my ($file) = @_;
    my $json = JSON::PP->new->utf8->allow_nonref;
    $json = JSON::XS->new->utf8 if eval { require JSON::XS };    # the same, faster
    open my $in, '<', $file or die "$file: $!";
    return map { $json->decode($_) } grep { /\S/ } <$in>;
}

sub run {
    my ($line) = @_;
    return ('other host', '') if $line->{hosts} && !grep { $_ eq $language } @{ $line->{hosts} };
    my @missing = grep { !$has{$_} } @{ $line->{needs} // [] };
    return ('skipped', "this Perl lacks @missing") if @missing;
    return ('open', $line->{open}) if $line->{open};
    my @steps = $line->{do} ? $line : @{ $line->{steps} };
    for my $own (JSON::PP->new->encode(\@steps) =~ /"own"/ ? @own : '') {
        my $self = bless { own => $own, values => {}, written => '' }, __PACKAGE__;
        @Behaviour::Classes::log = ();
        local $Behaviour::Classes::nested = sub { Icecore::decode(Icecore::encode([1, { a => 2 }], $own || 'json'))->[1]{a} == 2 or die "nested\n" };
        if (!eval { $self->steps(@steps); 1 }) { return ('failed', ($own ? "$own: " : '') . $@) }
    }
    return ('passed', '');
}

sub steps {
    my ($self, @steps) = @_;
    my $index = 0;
    for my $step (@steps) {
        my $do = $self->can("do_$step->{do}") or die "there is no step $step->{do}\n";
        eval { $do->($self, $step); 1 } or die @steps > 1 ? "step $index, $step->{do}: $@" : $@;
        $index++;
    }
    return;
}

# Returns an error without its first part, the original's text.
sub without_original_error { return $_[0] =~ s/\A.*?: (?=[a-z][a-z' ]* \((?:sereal|storable|json)\))//r }

# Calls code that may die, and compares the error with the one that the step expects.
sub call_checked {
    my ($self, $step, $code) = @_;
    my $result;
    my $log = @Behaviour::Classes::log;
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, $_[0] };
    return $result if eval { $result = $code->(); 1 } && !$step->{error};
    die 'it was not refused, but gave ' . Behaviour::Values::shown($result) . "\n" if $step->{error} && !$@;
    my $message = without_original_error($@);
    my %found = (says => $message);
    for (my $index = 0; $index < @kinds; $index += 2) { $found{kind} //= $kinds[$index] if $message =~ $kinds[ $index + 1 ] }
    ($found{offset}) = $message =~ /at offset (\d+)/;
    ($found{path})   = $message =~ /\bat (\$.*?)(?=: | is not allowed|, \S+ at \$| at \S+ line \d|\n)/;
    die "refused: $message" if !$step->{error} || !$found{kind};
    for my $property (sort keys %{ $step->{error} }) {
        my ($expected, $actual) = ($step->{error}{$property}, $found{$property} // 'nothing');
        next if ref $expected ? grep { $_ eq $actual } @$expected : $property eq 'says' ? index($actual, $expected) >= 0 : $actual eq $expected;
        die "the error has $property $actual, not " . (ref $expected ? "@$expected" : $expected) . ": $message";
    }
    # A call that failed has called no hook.
    die "ran: @Behaviour::Classes::log[$log .. $#Behaviour::Classes::log]\n" if $found{kind} ne 'hook' && @Behaviour::Classes::log > $log;
    return;
}

sub bytes_of {
    my ($self, $description) = @_;
    return ref $description && $description->{written} ? $self->{written} : Behaviour::Values::bytes($description);
}

# Returns all functions that read a format, or write it.
sub functions {
    my ($self, $step, $is_reader) = @_;
    my $format = $step->{format};
    return $own{ $self->{own} }[$is_reader] if $format eq 'own';
    my @all = $is_reader ? sub { my ($bytes, %options) = @_; Icecore::decode($bytes, format => $format, %options) } : sub { Icecore::encode($_[0], $format) };
    # Sereal's own functions ignore bytes after a document, as Sereal does.
    my $ignores = $format eq 'sereal' && (($step->{error} // {})->{kind} // '') eq 'trailing';
    push @all, $own{$format}[1] if $is_reader && $own{$format} && !$ignores;
    return @all;
}

sub do_read {
    my ($self, $step) = @_;
    my $bytes = $self->bytes_of($step->{bytes});
    my %options = exists $step->{classes} ? (classes => $step->{classes}) : ();
    my $name = $step->{as} // 'it';
    for my $function ($self->functions($step, 1)) {
        # The previous value is freed first, and its destructor appears in the log.
        delete $self->{values}{$name};
        my $value = $self->call_checked($step, sub { $function->($bytes, %options) });
        next if $step->{error};
        $self->{values}{$name} = $value;
        Behaviour::Values::check($step->{value}, $value) if exists $step->{value};
    }
    return;
}

sub do_write {
    my ($self, $step) = @_;
    my $value = exists $step->{value} ? Behaviour::Values::build($step->{value}) : $self->{values}{ $step->{of} // 'it' };
    for my $function ($self->functions($step, 0)) {
        my $bytes = $self->call_checked($step, sub { $function->($value) });
        next if $step->{error};
        my $out = exists $step->{out} ? $self->bytes_of($step->{out}) : $bytes;
        $self->{written} = $bytes;
        die 'wrote ' . Behaviour::Values::shown($bytes) . ', not ' . Behaviour::Values::shown($out) . "\n" if $bytes ne $out;
    }
    return;
}

sub do_make  { my ($self, $step) = @_; $self->{values}{ $step->{as} // 'it' } = Behaviour::Values::build($step->{value}); return }
sub do_match { my ($self, $step) = @_; Behaviour::Values::check($step->{value}, $self->{values}{ $step->{of} // 'it' }); return }
sub do_forget { my ($self) = @_; $self->{values} = {}; return }

# Returns the variable at a path: numbers are for lists, strings for maps and objects, null
# follows a reference.
sub variable_at {
    my ($self, $step) = @_;
    my $variable = \$self->{values}{ $step->{of} // 'it' };
    for my $part (@{ $step->{path} }) {
        $variable = !defined $part ? $$variable : Behaviour::Values::is_number($part) ? \$$variable->[$part] : \$$variable->{$part};
    }
    return $variable;
}

sub do_set { my ($self, $step) = @_; ${ $self->variable_at($step) } = Behaviour::Values::build($step->{value}); return }
sub do_get { my ($self, $step) = @_; Behaviour::Values::check($step->{value}, ${ $self->variable_at($step) }); return }

sub do_log {
    my ($self, $step) = @_;
    my $log = join ', ', splice @Behaviour::Classes::log;
    my $expected = join ', ', @{ $step->{log} // [] };
    die "the log has ($log), not ($expected)\n" if $step->{log} && $log ne $expected;
    return;
}

sub do_classes {
    my ($self, $step) = @_;
    my @found = map { "$_->{class} $_->{count} $_->{path}" } Icecore::classes($self->bytes_of($step->{bytes}), format => $step->{format});
    my @expected = map { Behaviour::Values::string($_->[0]) . " $_->[1] $_->[2]" } @{ $step->{list} };
    die "the classes are (@found), not (@expected)\n" if "@found" ne "@expected";
    return;
}

sub do_times { my ($self, $step) = @_; $self->steps(@{ $step->{steps} }) for 1 .. $step->{times}; return }

# Truncates the bytes to each length; all must be refused.
sub do_cut {
    my ($self, $step) = @_;
    my $bytes = $self->bytes_of($step->{bytes});
    for my $length ($step->{from} // 0 .. length($bytes) - 1) {
        my %cut = (%$step, bytes => { hex => unpack 'H*', substr $bytes, 0, $length }, error => { kind => $step->{kinds} // ['truncated'] });
        eval { $self->do_read(\%cut); 1 } or die "$length bytes: $@";
    }
    return;
}

# Changes each byte: it is refused with an error, or read as some value.
sub do_change {
    my ($self, $step) = @_;
    my $bytes = $self->bytes_of($step->{bytes});
    for my $offset (0 .. length($bytes) - 1) {
        for my $xor (1, 0x20, 0x80, 0xff) {
            substr(my $changed = $bytes, $offset, 1) ^.= chr $xor;
            for my $function ($self->functions($step, 1)) {
                next if eval { no warnings; local $SIG{__WARN__} = sub { }; $function->($changed, classes => $step->{classes} // []); 1 };
                my $message = without_original_error($@);
                die "byte $offset changed by $xor: $message" if !grep { ref && $message =~ $_ } @kinds;
            }
        }
    }
    return;
}

sub resident { open my $in, '<', '/proc/self/statm' or die $!; return 4096 * (split ' ', <$in>)[1] }

sub do_memory {
    my ($self, $step) = @_;
    $self->steps(@{ $step->{steps} }) for 1 .. $step->{times} / 4;
    my $before = resident();
    $self->steps(@{ $step->{steps} }) for 1 .. $step->{times};
    my $grown = resident() - $before;
    die "grew by $grown bytes\n" if $grown > $step->{most};
    return;
}

1;
