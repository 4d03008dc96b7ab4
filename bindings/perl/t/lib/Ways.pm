package Ways;

# One structure, one way to freeze it, two modules: the bytes must be equal, and the results of
# both readers must be the same, whoever wrote the bytes.
#
# A way is { name, lost, write => sub ($m, $data), read => sub ($m, $bytes), same => {...},
# sorted => 1, plain => sub ($bytes) }: `lost` names the key under which a structure describes
# its losses in this way, `same` the losses of all structures, `sorted` means that hashes are
# written in the order of their keys, `plain` returns the part of the bytes that must be equal,
# `unreadable` is a message of the original for data that it wrote itself and can't read,
# `unfaithful` matches the names of structures that it may bring back as something else.

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
    my @wrong;
    my $data = $structure->{make}->();
    my $lost = $structure->{ $way->{lost} } || {};

    # Freezing can change the type of a number, so the second time counts, and ours runs between
    # the second and the third time of the original.
    my ($first, $refusal) = attempt($way->{write}, $original, $data);
    if (defined $refusal) {
        my (undef, $our_refusal) = attempt($way->{write}, $ours, $data);
        push @wrong, "the original refuses it: $refusal" unless $lost->{refused} && $refusal =~ $lost->{refused};
        push @wrong, 'ours takes what the original refuses' unless defined $our_refusal;
        push @wrong, "ours refuses it otherwise: $our_refusal"
            if defined $our_refusal && $lost->{refused} && $our_refusal !~ $lost->{refused};
        return @wrong;
    }
    push @wrong, 'the original takes it, though this is said to be refused' if $lost->{refused};
    my $before = $way->{write}->($original, $data);
    my ($bytes, $problem) = attempt($way->{write}, $ours, $data);
    return (@wrong, "ours can't write it: $problem") if defined $problem;
    my $after  = $way->{write}->($original, $data);
    my $plain  = $way->{plain} || sub { $_[0] };
    my ($meant, $sometimes) = Differences::why($structure->{name}, $way->{name});
    if ($sometimes) { }
    elsif ($meant) { push @wrong, "the same bytes, though: $meant" if $plain->($bytes) eq $plain->($before) }
    elsif ($plain->($before) ne $plain->($after)) {
        push @wrong, 'the original writes other bytes each time: ' . parting($before, $after);
    }
    elsif ($plain->($bytes) ne $plain->($before)) {
        push @wrong, 'other bytes: ' . parting($plain->($bytes), $plain->($before));
    }

    # In the order of their keys even two new structures give the same bytes, and nothing has
    # touched these before.
    if ($way->{sorted} && !$meant) {
        my ($ours_first, $original_first) = map { $plain->($way->{write}->($_, $structure->{make}->())) } $ours, $original;
        push @wrong, 'other bytes when fresh: ' . parting($ours_first, $original_first) if $ours_first ne $original_first;
    }

    # Each reads into a variable of its own: a copy of a root that refers to itself would be
    # another variable.
    my ($read, $cant) = attempt($way->{read}, $original, $before);
    if (defined $cant) {
        my $known = $lost->{unreadable} || $way->{unreadable};
        return (@wrong, "the original can't read what it wrote: $cant") unless $known && $cant =~ $known;
        # Ours may write it differently, so that it can be read.
        @wrong = grep { !/^other bytes/ } @wrong;
        return (@wrong, readable_by($way, $original, $ours, $bytes, $data));
    }
    push @wrong, 'the original reads it, though this is said to be unreadable' if $lost->{unreadable};
    push @wrong, against_source($data, $read, $way, $lost) unless $way->{unfaithful} && $structure->{name} =~ $way->{unfaithful};
    my @others = ['ours from the original', $ours, $before];
    push @others, ['the original from ours', $original, $bytes], ['ours from ours', $ours, $bytes] if $bytes ne $before;
    for my $other (@others) {
        my ($what, $m, $image) = @$other;
        my ($got, $fault) = attempt($way->{read}, $m, $image);
        if (defined $fault) { push @wrong, "$what: $fault"; next }
        # A program can't see if an undef is perl's own or a variable, except that it can write
        # to the variable.
        my $difference = $meant && $image eq $bytes ? difference($got, $data, %{ $way->{same} || {} }, %{ $lost->{same} || {} })
            : difference($got, $read, strict => 1, own => 1);
        # Ours may lose less than the original.
        push @wrong, "$what: $difference" if $difference && !($lost->{why} && !difference($got, $data, %{ $way->{same} || {} }));
    }
    return @wrong;
}

# Data that the original wrote and can't read: ours must read its own bytes, and the original
# too if ours wrote something else.
sub readable_by {
    my ($way, $original, $ours, $bytes, $data) = @_;
    return if $ours->name eq $original->name;
    my ($got, $fault) = attempt($way->{read}, $ours, $bytes);
    return "ours can't read it either: $fault" if defined $fault;
    my $difference = difference($got, $data, %{ $way->{same} || {} });
    return $difference ? "ours from ours: $difference" : ();
}

sub attempt {
    my ($code, @arguments) = @_;
    my $result;
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    return (undef, $@ || 'died') unless eval { $result = $code->(@arguments); 1 };
    return ($result, undef);
}

sub against_source {
    my ($data, $read, $way, $lost) = @_;
    my %usual = %{ $way->{same} || {} };
    if (!%$lost) {
        my $difference = difference($read, $data, %usual);
        return $difference ? "the original doesn't bring it back: $difference" : ();
    }
    return if $lost->{refused};
    # A documented loss must happen, or the note is outdated.
    my @wrong;
    push @wrong, "nothing is lost, though: $lost->{why}" unless $lost->{maybe} || $way->{overlooks} || difference($read, $data, %usual);
    if ($lost->{same}) {
        my $difference = difference($read, $data, %usual, %{ $lost->{same} });
        push @wrong, "more is lost than that $lost->{why}: $difference" if $difference;
    }
    return @wrong;
}

sub parting {
    my ($got, $expected) = map { defined $_ ? $_ : '' } @_;
    my $same = length(($got ^ $expected) =~ /^(\0*)/ ? $1 : '');
    my $from = $same > 8 ? $same - 8 : 0;
    return sprintf '%s, not %s (from %d of %d and %d)', map({ unpack 'H*', substr $_, $from, 24 } $got, $expected),
        $from, length $got, length $expected;
}

# One test.
sub ways_ok {
    my ($structure, $way, @modules) = @_;
    my @wrong;
    eval { @wrong = check_ways($structure, $way, @modules); 1 } or push @wrong, "the check died: $@";
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $test = Test::More->builder;
    $test->ok(!@wrong, "$structure->{name}: $way->{name}");
    $test->diag("    $_") for @wrong;
    return !@wrong;
}

1;
