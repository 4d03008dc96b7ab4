package Ways;

# One structure, one way to freeze it, two modules: the bytes must be equal, and the results of
# both readers must be the same, whoever wrote the bytes.
#
# A way is a hash:
#   name        its name
#   lost        the key of a structure that has the losses of this way
#   write       sub ($m, $data), returns bytes
#   read        sub ($m, $bytes), returns the value
#   same        options of `difference` that ignore the losses of all structures
#   sorted      true if hashes are written in the order of their keys
#   plain       sub ($bytes), returns the part of the bytes that must be equal
#   unreadable  the message of the original for data that it wrote but can't read
#   unfaithful  matches the names of structures that the original may read back as another value

use strict;
use warnings;

use Exporter   'import';
use Scalar::Util 'blessed';
use Test::More ();
use Differences;
use Same;

our @EXPORT = qw(check_ways ways_ok);

# Returns a failure for each error; none if everything is fine.
sub check_ways {
    my ($structure, $way, $original, $ours) = @_;
    my @failures;
    my $data = $structure->{make}->();
    my $lost = $structure->{ $way->{lost} } || {};

    # Freezing can change the type of a number, so the original's second result counts, and
    # Icecore runs between the second and the third call of the original.
    my ($first, $original_error) = try_call($way->{write}, $original, $data);
    if (defined $original_error) {
        my (undef, $our_error) = try_call($way->{write}, $ours, $data);
        push @failures, "the original refuses it: $original_error"
            unless $lost->{refused} && $original_error =~ $lost->{refused};
        push @failures, 'Icecore accepts data that the original refuses' unless defined $our_error;
        push @failures, "Icecore gives another error: $our_error"
            if defined $our_error && $lost->{refused} && $our_error !~ $lost->{refused};
        return @failures;
    }
    push @failures, 'the original accepts it, but the structure says that it is refused' if $lost->{refused};
    my $before = $way->{write}->($original, $data);
    my ($bytes, $write_error) = try_call($way->{write}, $ours, $data);
    return (@failures, "Icecore can't write it: $write_error") if defined $write_error;
    my $after  = $way->{write}->($original, $data);
    my $plain  = $way->{plain} || sub { $_[0] };
    my ($known_reason, $sometimes) = Differences::reason_for($structure->{name}, $way->{name});
    if ($sometimes) { }
    elsif ($known_reason) {
        push @failures, "the bytes are equal, but a difference is documented: $known_reason"
            if $plain->($bytes) eq $plain->($before);
    }
    elsif ($plain->($before) ne $plain->($after)) {
        push @failures, 'the original writes other bytes each time: ' . first_difference($before, $after);
    }
    elsif ($plain->($bytes) ne $plain->($before)) {
        push @failures, 'the bytes differ: ' . first_difference($plain->($bytes), $plain->($before));
    }

    # In the order of their keys even two new structures give the same bytes, and nothing has
    # touched these before.
    if ($way->{sorted} && !$known_reason) {
        my ($ours_first, $original_first) =
            map { $plain->($way->{write}->($_, $structure->{make}->())) } $ours, $original;
        push @failures, 'the bytes differ for new structures: ' . first_difference($ours_first, $original_first)
            if $ours_first ne $original_first;
    }

    # Each reads into a variable of its own: a copy of a root that refers to itself would be
    # another variable.
    my ($read, $read_error) = try_call($way->{read}, $original, $before);
    if (defined $read_error) {
        my $known = $lost->{unreadable} || $way->{unreadable};
        return (@failures, "the original can't read what it wrote: $read_error")
            unless $known && $read_error =~ $known;
        # Ours may write it differently, so that it can be read.
        @failures = grep { !/^the bytes differ/ } @failures;
        return (@failures, readable_by($way, $original, $ours, $bytes, $data));
    }
    push @failures, 'the original reads it, but the structure says that it is unreadable' if $lost->{unreadable};
    push @failures, compare_with_source($data, $read, $way, $lost)
        unless $way->{unfaithful} && $structure->{name} =~ $way->{unfaithful};
    my @others = ['Icecore reads the bytes of the original', $ours, $before];
    if ($bytes ne $before) {
        push @others, ['the original reads the bytes of Icecore', $original, $bytes];
        push @others, ['Icecore reads its own bytes', $ours, $bytes];
    }
    for my $other (@others) {
        my ($what, $m, $image) = @$other;
        my ($result, $error) = try_call($way->{read}, $m, $image);
        if (defined $error) { push @failures, "$what: $error"; next }
        # A program can't see if an undef is perl's own or a variable, except that it can write
        # to the variable.
        my $difference = $known_reason && $image eq $bytes
            ? difference($result, $data, %{ $way->{same} || {} }, %{ $lost->{same} || {} })
            : difference($result, $read, strict => 1, own => 1);
        # Ours may lose less than the original.
        push @failures, "$what: $difference"
            if $difference && !($lost->{why} && !difference($result, $data, %{ $way->{same} || {} }));
    }
    return @failures;
}

# Checks data that the original wrote but can't read: Icecore must read its own bytes.
sub readable_by {
    my ($way, $original, $ours, $bytes, $data) = @_;
    return if $ours->name eq $original->name;
    my ($result, $error) = try_call($way->{read}, $ours, $bytes);
    return "Icecore can't read it either: $error" if defined $error;
    my $difference = difference($result, $data, %{ $way->{same} || {} });
    return $difference ? "Icecore reads its own bytes: $difference" : ();
}

sub try_call {
    my ($code, @arguments) = @_;
    my $result;
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    return (undef, $@ || 'died') unless eval { $result = $code->(@arguments); 1 };
    return ($result, undef);
}

sub compare_with_source {
    my ($data, $read, $way, $lost) = @_;
    my %tolerated = %{ $way->{same} || {} };
    if (!%$lost) {
        my $difference = difference($read, $data, %tolerated);
        return $difference ? "the original doesn't read it back: $difference" : ();
    }
    return if $lost->{refused};
    # A documented loss must happen, or the note is outdated.
    my @failures;
    push @failures, "nothing is lost, but a loss is documented: $lost->{why}"
        unless $lost->{maybe} || $way->{overlooks} || difference($read, $data, %tolerated);
    if ($lost->{same}) {
        my $difference = difference($read, $data, %tolerated, %{ $lost->{same} });
        push @failures, "more is lost than documented ($lost->{why}): $difference" if $difference;
    }
    return @failures;
}

sub first_difference {
    my ($got, $expected) = map { defined $_ ? $_ : '' } @_;
    my $same = length(($got ^ $expected) =~ /^(\0*)/ ? $1 : '');
    my $from = $same > 8 ? $same - 8 : 0;
    return sprintf '%s, not %s (from %d of %d and %d)', map({ unpack 'H*', substr $_, $from, 24 } $got, $expected),
        $from, length $got, length $expected;
}

# One test.
sub ways_ok {
    my ($structure, $way, @modules) = @_;
    my @failures;
    eval { @failures = check_ways($structure, $way, @modules); 1 } or push @failures, "the check died: $@";
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $test = Test::More->builder;
    $test->ok(!@failures, "$structure->{name}: $way->{name}");
    $test->diag("    $_") for @failures;
    return !@failures;
}

1;
