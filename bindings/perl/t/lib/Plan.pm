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
    my ($class, $seed, %options) = @_;
    srand $seed;
    my $self = bless { %options, left => (5, 30, 200)[rand 3], shared => 0, texts => [@words, $options{utf8} ? @chars : @bytes] }, $class;
    $self->{root} = [list => $self->children(0)];
    return $self;
}

sub children {
    my ($self, $depth) = @_;
    return map { $self->node($depth + 1) } 1 .. int rand(rand() < 0.05 ? 30 : 5);
}

sub text {
    my ($self) = @_;
    return join '', map { $self->{texts}[rand @{ $self->{texts} }] } 1 .. (0, 1, 1, 2, 3, 5, 60)[rand 7];
}

# Makes a separate document: it has no links to values outside of it.
sub independent {
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
    return [list => $self->children($depth)] if $chance < 64;
    return [map  => $self->children($depth)] if $chance < 76;
    return [json => map { [text => $self->text] } $self->children($depth)] if $chance < 80 && $self->{json} && $self->{utf8};
    return [frozen => $self->independent(sub { [list => $self->children($depth)] })] if $chance < 88;
    return [object => $self->children($depth)] if $chance < 92;
    return [reference => $self->text] if $chance < 94;
    return [shared => ++$self->{shared}, [list => $self->children($depth)]] if $chance < 97;
    return $self->{shared} ? [repeat => 1 + int rand $self->{shared}] : [text => $self->text];
}

sub render {
    my ($self, $change, $key) = @_;
    return value({ %$self, change => $change, key => $key // sub { $_[0] }, seen => {} }, $self->{root});
}

sub value {
    my ($context, $node) = @_;
    my ($kind, @parts) = @$node;
    if ($kind eq 'text')      { return $context->{change}->($parts[0]) }
    if ($kind eq 'scalar')    { return $parts[0] }
    if ($kind eq 'reference') { return \(my $text = $context->{change}->($parts[0])) }
    if ($kind eq 'list')      { return [map { value($context, $_) } @parts] }
    if ($kind eq 'map')       { return { map { ($context->{key}->("key$_ old") => value($context, $parts[$_])) } 0 .. $#parts } }
    if ($kind eq 'object')    { return bless { map { ("field$_" => value($context, $parts[$_])) } 0 .. $#parts }, 'Plan::Object' }
    if ($kind eq 'shared')    { return $context->{seen}{ $parts[0] } = value($context, $parts[1]) }
    if ($kind eq 'repeat')     { return $context->{seen}{ $parts[0] } }
    if ($kind eq 'json')      { return JSON::PP->new->ascii->encode([map { value($context, $_) } @parts]) }
    return $context->{freeze}->(value({ %$context, seen => {} }, $parts[0]));
}

1;
