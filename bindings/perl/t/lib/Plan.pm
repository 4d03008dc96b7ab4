package Plan;

# A random value that can be made twice: with the original texts, and with the replaced ones.
# The originals freeze both, including texts in texts, so the expected result of replacing is
# known without looking into any bytes.
#
#   my $plan  = Plan->new($seed, utf8 => 0, json => 1);
#   my $value = $plan->render(sub { $_[0] }, sub { $_[0] });   # of texts, and of keys
#
# `freeze`: a sub that freezes a value inside of a text. `json`: there are texts in JSON too.

use strict;
use warnings;

use JSON::PP ();

# Pieces of texts. No two of them together form data of any format.
my @words = ('old', 'older', 'an old one', 'Old', 'o', 'ld', ' ', "\n", 'text', '"', "'", '\\', '/', ';}', "\0", '$1', '@x', 'ink');
my @bytes = ("\xe9", "\xff\xfe");
my @chars = ("\x{263a}", "\x{e9}", "\x{1F600}");

sub new {
    my ($class, $seed, %how) = @_;
    srand $seed;
    my $self = bless { %how, left => (5, 30, 200)[rand 3], shared => 0, texts => [@words, $how{utf8} ? @chars : @bytes] }, $class;
    $self->{root} = [list => $self->several(0)];
    return $self;
}

sub several {
    my ($self, $depth) = @_;
    return map { $self->node($depth + 1) } 1 .. int rand(rand() < 0.05 ? 30 : 5);
}

sub text {
    my ($self) = @_;
    return join '', map { $self->{texts}[rand @{ $self->{texts} }] } 1 .. (0, 1, 1, 2, 3, 5, 60)[rand 7];
}

# A document of its own: links do not leave it.
sub apart {
    my ($self, $make) = @_;
    local $self->{shared} = 0;
    return $make->();
}

sub node {
    my ($self, $depth) = @_;
    return [text => $self->text] if --$self->{left} < 0 || $depth > 10;
    my $chance = rand 100;
    return [text   => $self->text] if $chance < 40;
    return [scalar => (undef, 0, -7, 123_456, 1.5, 1e100, 300, -200)[rand 8]] if $chance < 52;
    return [list => $self->several($depth)] if $chance < 64;
    return [map  => $self->several($depth)] if $chance < 76;
    return [json => map { [text => $self->text] } $self->several($depth)] if $chance < 80 && $self->{json} && $self->{utf8};
    return [frozen => $self->apart(sub { [list => $self->several($depth)] })] if $chance < 88;
    return [object => $self->several($depth)] if $chance < 92;
    return [reference => $self->text] if $chance < 94;
    return [shared => ++$self->{shared}, [list => $self->several($depth)]] if $chance < 97;
    return $self->{shared} ? [again => 1 + int rand $self->{shared}] : [text => $self->text];
}

sub render {
    my ($self, $change, $key) = @_;
    return value({ %$self, change => $change, key => $key // sub { $_[0] }, seen => {} }, $self->{root});
}

sub value {
    my ($how, $node) = @_;
    my ($kind, @parts) = @$node;
    if ($kind eq 'text')      { return $how->{change}->($parts[0]) }
    if ($kind eq 'scalar')    { return $parts[0] }
    if ($kind eq 'reference') { return \(my $text = $how->{change}->($parts[0])) }
    if ($kind eq 'list')      { return [map { value($how, $_) } @parts] }
    if ($kind eq 'map')       { return { map { ($how->{key}->("key$_ old") => value($how, $parts[$_])) } 0 .. $#parts } }
    if ($kind eq 'object')    { return bless { map { ("field$_" => value($how, $parts[$_])) } 0 .. $#parts }, 'Plan::Object' }
    if ($kind eq 'shared')    { return $how->{seen}{ $parts[0] } = value($how, $parts[1]) }
    if ($kind eq 'again')     { return $how->{seen}{ $parts[0] } }
    if ($kind eq 'json')      { return JSON::PP->new->ascii->encode([map { value($how, $_) } @parts]) }
    return $how->{freeze}->(value({ %$how, seen => {} }, $parts[0]));
}

1;
