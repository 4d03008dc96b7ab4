# Tasks that Icecore::Dumper leaves to Data::Dumper: the same texts, from call to call.

use v5.30;
use warnings;
use utf8;

use Test::More;
use Data::Dumper ();
use Icecore::Dumper ();

our %texts;

my @classes = qw(Data::Dumper Icecore::Dumper);

# The results of both for the same calls, including warnings.
sub both {
    my ($name, $code) = @_;
    my @outcomes;
    for my $class (@classes) {
        my @warnings;
        local $SIG{__WARN__} = sub { push @warnings, $_[0] =~ s/ at \S+ line \d+\.?.*//sr };
        my @texts = eval { $code->($class) };
        push @outcomes, [@texts, $@ =~ s/ at \S+ line \d+\.?.*//sr, @warnings];
    }
    return is_deeply($outcomes[1], $outcomes[0], $name) || diag(explain(\@outcomes));
}

our ($scalar, @list, %map) = (5, 1 .. 3);
our $glob = 'a scalar';
our @glob = ('an', \$scalar, \@glob);
our %glob = (in => \@glob, code => sub { 1 });
%map = (list => \@list, glob => \*glob);
my $cycle = { name => 'x' };
$cycle->{self} = $cycle;
my $levels = [[[[[[1]]]], { a => { b => { c => [] } } }], \\\1];
my @values = (undef, 1, 'a', \$scalar, \@list, \%map, $cycle, \*glob, [\*glob, \*glob, \@glob], $levels, "é\x{263a}", { "é" => ["\x{263a}"] }, bless([], "Fé"), [qr/é/]);

my @settings = (
    [], [Purity => 1], [Maxdepth => 1], [Maxdepth => 3], [Useperl => 1], [Useperl => 1, Useqq => 1], [Purity => 1, Useperl => 1],
    [Purity => 1, Deepcopy => 1], [Purity => 1, Maxdepth => 2], map [Maxrecurse => $_], 1 .. 6,
);
for my $settings (@settings) {
    for my $indent (0 .. 3) {
        my $set = sub {
            my ($dumper) = @_;
            my @left = @$settings;
            while (my ($name, $value) = splice @left, 0, 2) { $dumper->$name($value) }
            return $dumper->Indent($indent)->Sortkeys(1);
        };
        my $name = "@$settings, indent $indent";
        both($name, sub { my ($class) = @_; map { my $value = $_; scalar eval { $set->($class->new([$value], ['*name']))->Dump } // $@ =~ s/ at .*//sr } @values });
        both("$name, names in UTF-8", sub { my ($class) = @_; $set->($class->new([$levels, 'é'], ['*été', "\x{263a}"]))->Dump });
        both("$name, twice", sub { my ($class) = @_; my $dumper = $set->($class->new([$cycle, \%map])); ($dumper->Dump, $dumper->Dump, $dumper->Reset->Dump) });
        both("$name, others then", sub { my ($class) = @_; my $dumper = $set->($class->new([$cycle])); ($dumper->Dump, $dumper->Values([[$cycle, \%map]])->Dump) });
        both("$name, names that are given", sub {
            my ($class) = @_;
            my $dumper = $set->($class->new([[\@list, \%map, $cycle, \$scalar], $cycle], [qw(a *b)]));
            $dumper->Seen({ '*list' => \@list, '*map' => \%map, scalar => \$scalar });
            return $dumper->Dump;
        });
    }
}

both('Seen says what was dumped', sub {
    my ($class) = @_;
    my $dumper = $class->new([[1, { a => 2 }]])->Sortkeys(1);
    $dumper->Dump;
    my %seen = map { ref ? () : ($_ => 1) } $dumper->Seen;
    return sort keys %seen;
});
both('Seen with something else', sub { my ($class) = @_; my @outcomes = $class->new([1])->Seen([1]); scalar @outcomes });
both('Seen with no reference',   sub { my ($class) = @_; $class->new([1])->Seen({ a => 1 }); 1 });
both('Usage',                    sub { my ($class) = @_; $class->new({}) });
both('Names that are numbers',   sub { my ($class) = @_; $class->new([[], []], [3, 'x'])->Dump });
both('Dumpxs and Dumpperl',      sub { my ($class) = @_; ($class->new([12345678901, 'é'])->Useperl(1)->Dumpxs, $class->new([12345678901, 'é'])->Dumpperl) });
both('qquote', sub { my ($class) = @_; no strict 'refs'; map { &{"${class}::qquote"}($_) } "a\$b\@c\"\\\n\0\x{1}1é", "\x{263a}", '', "\t\e" });

for my $class (@classes) {
    no strict 'refs';
    local ${"${class}::Useperl"}  = 1;
    local ${"${class}::Sortkeys"} = 1;
    local ${"${class}::Maxdepth"} = 2;
    push @{ $texts{$class} }, &{"${class}::Dumper"}($levels, $cycle, "é"), scalar &{"${class}::Dumper"}($cycle);
}
is_deeply($texts{'Icecore::Dumper'}, $texts{'Data::Dumper'}, "both give the same texts for the package's variables");

# Handles and formats, which Data::Dumper warns of; v-strings in tied variables; items that do not exist beside references
# to perl's own undef.
{
    package Version { sub TIESCALAR { return bless [] } sub FETCH { return v1.22.333 } }
    format PAGE =
.
    tie my $tied, 'Version';
    my @tied_item;
    tie $tied_item[0], 'Version';
    my (@first, @last, @only_hole, @deleted);
    $#first = 3;
    @first[1, 3] = (\undef, \undef);
    $last[2]      = \undef;
    $only_hole[3] = 1;
    @deleted = (1, 2, 3);
    delete $deleted[1];
    my %cases = (
        'undef twice' => [\undef, { a => \undef }], handle => [*STDOUT{IO}], format => [*PAGE{FORMAT}], 'tied version' => [\$tied, $tied], 'tied item' => \@tied_item,
        'holes first' => \@first, 'hole before' => [\@last, \undef], 'hole after' => [\undef, \@only_hole, \@only_hole],
        'deleted item' => [\@deleted, \undef, \undef], 'holes alone' => [\@only_hole, \@only_hole],
    );
    for my $name (sort keys %cases) {
        for my $settings ([], [Purity => 1], [Deepcopy => 1], [Indent => 0], [Terse => 1, Useqq => 1]) {
            both("$name, @$settings", sub {
                my $dumper = $_[0]->new([$cases{$name}]);
                my @left = @$settings;
                while (my ($setting, $value) = splice @left, 0, 2) { $dumper->$setting($value) }
                return $dumper->Dump;
            });
        }
    }
}

done_testing;
