# The behaviour list that every language passes: bindings/common/behaviour. One test per line.

use v5.30;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Behaviour;

my ($folder) = grep { -e "$_/README.md" } "$FindBin::Bin/behaviour", "$FindBin::Bin/../../common/behaviour";
plan(skip_all => 'the behaviour list is not here') if !$folder;

sub test {
    my ($line) = @_;
    my ($verdict, $why) = Behaviour::run($line);
    return $verdict if $verdict eq 'other host';
    my $name = $line->{id} . ($line->{about} ? ": $line->{about}" : '');
    if    ($verdict eq 'skipped') { diag("$name: skipped, $why"); SKIP: { skip("$name: $why", 1) } }
    elsif ($verdict eq 'open')    { diag("$name: open, $why"); SKIP: { skip("$name: open, $why", 1) } }
    else                          { ok($verdict eq 'passed', $name) or diag("    $why") }
    return $verdict;
}

my (%count, %seen);
for my $file (sort glob "$folder/*.jsonl") {
    for my $line (Behaviour::lines($file)) {
        $seen{ $line->{id} }++ and fail("$line->{id} is the name of two lines");
        $count{ test($line) }++;
    }
}
ok($count{passed} && $count{passed} > 500, 'the behaviour list has more than 500 lines for Perl');

# Lines of other hosts are not run here, but it is checked that they use only the words of the
# page.
subtest 'the lines use only known words' => sub {
    my %line  = map { $_ => 1 } qw(id about do steps hosts perl php ruby needs open format bytes classes as of value out error path log list kinds from times most);
    my %value = map { $_ => 1 } qw(int float text bytes string encoding symbol class module enum hole map object record kind is ref weak regexp flags id same var alias
        struct subclass extended attributes default identity frozen known deep code any);
    my %verb = map { $_ => 1 } qw(read make write match set get forget log classes cut change times memory);
    my @unknown;
    my $value = sub {
        my @left = @_;
        while (@left) {
            my $at = pop @left;
            push @left, ref $at eq 'ARRAY' ? @$at : ref $at eq 'HASH' ? values %$at : ();
            push @unknown, grep { !$value{$_} } ref $at eq 'HASH' ? keys %$at : ();
        }
    };
    my $words;
    $words = sub {
        my ($step) = @_;
        push @unknown, grep { !$line{$_} } keys %$step;
        push @unknown, "verb $step->{do}" if defined $step->{do} && !$verb{ $step->{do} };
        $value->($step->{value}) if exists $step->{value};
        $words->($_) for @{ $step->{steps} // [] }, grep { defined } @$step{qw(perl php ruby)};
    };
    for my $file (sort glob "$folder/*.jsonl") {
        $words->($_) for Behaviour::raw_lines($file);
    }
    is("@unknown", '', 'the page of the list defines every word');
};
diag(join ', ', map { "$count{$_} $_" } sort keys %count);

# Errors of a module are detected: each of these lines must fail, for its reason.
subtest 'Behaviour::run reports wrong lines' => sub {
    my @wrong = map { [@$_] } (
        [qr/expected the integer 2, found 1/, { do => 'read', format => 'json', bytes => '[1]', value => [2] }],
        [qr/expected the string "1", found 1/, { do => 'read', format => 'json', bytes => '[1]', value => ['1'] }],
        [qr/expected the integer 1, found "1"/, { do => 'read', format => 'json', bytes => '["1"]', value => [1] }],
        [qr/expected the float/, { do => 'read', format => 'json', bytes => '[1]', value => [{ float => '3ff0000000000000' }] }],
        [qr/expected undef/, { do => 'read', format => 'json', bytes => '[0]', value => [undef] }],
        [qr/expected 1 items/, { do => 'read', format => 'json', bytes => '[0,1]', value => [0] }],
        [qr/expected 1 entries/, { do => 'read', format => 'json', bytes => '{"a":1,"b":2}', value => { map => [['a', 1]] } }],
        [qr/expected the key "b"/, { do => 'read', format => 'json', bytes => '{"a":1}', value => { map => [['b', 1]] } }],
        [qr/expected a list/, { do => 'read', format => 'json', bytes => '{"a":1}', value => [1] }],
        [qr/expected bytes/, { do => 'read', format => 'json', bytes => { hex => '5b22c3a9225d' }, value => [{ bytes => 'e9' }] }],
        [qr/not refused/, { do => 'read', format => 'json', bytes => '[1]', error => {} }],
        [qr/refused: malformed/, { do => 'read', format => 'json', bytes => '[x]', value => [1] }],
        [qr/has offset 1, not 2/, { do => 'read', format => 'json', bytes => '[x]', error => { offset => 2 } }],
        [qr/has kind malformed, not limit/, { do => 'read', format => 'json', bytes => '[x]', error => { kind => 'limit' } }],
        [qr/has path \$\[0\], not \$/, { do => 'read', format => 'json', bytes => '[x]', error => { path => '$' } }],
        [qr/wrote "\[1\]", not "\[2\]"/, { do => 'write', format => 'json', value => [1], out => '[2]' }],
        [qr/object 1 again/, { do => 'read', format => 'json', bytes => '[[],[]]', value => [{ id => 1, is => [] }, { same => 1 }] }],
        [qr/the same object as at \$\[0\]/, { do => 'read', format => 'marshal', bytes => { hex => '04085b075b004006' }, value => [[], []] }],
        [qr/the same variable as at \$\[0\]/, { do => 'read', format => 'php', bytes => 'a:2:{i:0;i:1;i:1;R:2;}', value => [1, 1] }],
        [qr/the variable 1 again/, { do => 'read', format => 'json', bytes => '[1,1]', value => [{ var => 1, is => 1 }, { alias => 1 }] }],
        [qr/expected a weak reference/, { do => 'read', format => 'json', bytes => '[[]]', value => [{ weak => [] }] }],
        [qr/expected no object/, { do => 'read', format => 'php', bytes => 'O:1:"A":0:{}', classes => 'any', value => { map => [] } }],
        [qr/expected an object of "B"/, { do => 'read', format => 'php', bytes => 'O:1:"A":0:{}', classes => 'any', value => { object => 'B', is => { map => [] } } }],
        [qr/the log has \(\), not/, { do => 'log', log => ['thaw Notes'] }],
        [qr/the classes are/, { do => 'classes', format => 'php', bytes => 'O:1:"A":0:{}', list => [['B', 1, '$']] }],
        [qr/bytes: it was not refused/, { do => 'cut', format => 'php:lenient', bytes => 'i:1;x' }],
        # Not every system reports the memory of a process.
        -r '/proc/self/statm'
        ? [qr/grew by/, { do => 'memory', times => 80, most => 1_000_000, steps => [{ do => 'grow' }] }]
        : (),
        [qr/no step frobnicate/, { do => 'frobnicate' }],
    );
    my @leak;
    no warnings 'once';
    local *Behaviour::do_grow = sub { my $n = 1_000_000; push @leak, 'x' x $n; return };
    for my $case (@wrong) {
        my ($like, $line) = @$case;
        my ($verdict, $why) = Behaviour::run($line);
        is($verdict, 'failed', "$like");
        like($why, $like, 'the line fails for the expected reason');
    }
    is((Behaviour::run({ do => 'log', log => [], needs => ['wings'] }))[0], 'skipped', 'a line that needs something that Perl lacks is skipped');
    is((Behaviour::run({ do => 'log', log => ['x'], open => 'why' }))[0], 'open', 'an open line is reported as open');
};

done_testing;
