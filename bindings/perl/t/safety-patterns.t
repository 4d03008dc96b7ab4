# Patterns in data run no code and load no module: no sub that a property names, no names of
# characters, no code in the pattern. Patterns that could run code become records, which are
# written back unchanged.
#
#   ICECORE_TEST_ROUNDS=1000000 prove -b t/safety-patterns.t

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use Icecore;
use Icecore::Dumper   qw(undump);
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw dclone);
use Patterns;

sub UNIVERSAL::AUTOLOAD {
    push @Patterns::ran, $UNIVERSAL::AUTOLOAD unless $UNIVERSAL::AUTOLOAD =~ /::(?:DESTROY|import|unimport)\z/;
    return;
}

sub of_pattern { my ($pattern, $modifiers) = @_; return thaw(Patterns::frozen($pattern, $modifiers || ''))->[0] }

# A Sereal document with a regexp.
sub sereal_of {
    my ($pattern) = @_;
    return "=\xf3rl\5\0\x28\x2b\1\x2c\x66Regexp\x28\x31" . '&' . chr(length $pattern) . $pattern . "\x60";
}

my @run = (
    '\p{InEvil}', '\P{IsX}', '\p{My::App::IsX}', '\p{main::InEvil}', '\p{ ^ InEvil }', '\p{^IsX}', '[a\p{InEvil}]', '[^\P{IsX}b]',
    '(?[ \p{InEvil} + [a] ])', '(?x: \p{ InEvil } )', '\p{utf8::InX}', "\\p{main'IsX}", '\p{IsAlpha}', '\p{InGreek}', '\p{Inherited}',
    '\c\\\\p{InEvil}', '(?#\\)\p{InEvil}', "#\\\n\\p{InEvil}", '\\\\\p{InEvil}', '\p{IsL}', '\p{InEvil', '\p{na=SPACE}', '\p{ N_a = SPACE}',
    '\p{name:SPACE}', '\p{gc=/L/}', '\p{script=m!greek!}', '\N{SPACE}', '\N{LATIN SMALL LETTER A}', '[\N{SPACE}]', '\N{greek:alpha}', '\N{}',
    '(?{ 1 })', '(??{ 1 })', 'a(?{ 1 })b', '(?(?{ 1 })a|b)', '(*{ 1 })', '(?p{ 1 })', '( ?{ 1 })',
);
my @compile = (
    '\p{L}', '\pL', '\PL', '\p{Lu}', '\p{Script=Greek}', '\p{Script:Greek}', '\p{scx=Latn}', '\p{^L}', '\p{Greek}', '\p{Block=ASCII}', '\p{nv=1/2}',
    '\p{Alphabetic}', '\p{PosixAlpha}', '\p{L&}', '\p{L_}', '\p{Script=Inherited}', '\p{Age=5.0}', '\p{ccc=230}', '\p{Bidi_Class:R}', '[\p{L}\P{N}]', '\N{U+41}', '\N{ U+263A }',
    '\N', '\N{3}', '\N{2,3}', '(?[ \p{L} - [a-z] ])', '\\\\p{InEvil}', '\\\\\\\\p{InEvil}', '\\\\N{SPACE}', 'InEvil', 'p{InEvil}', '\{\(\?\{', '\(?{', '(?<name>a)\k<name>', '(?i:a)',
    '(?#a comment)b', '(*MARK:x)a', '(?>a+)', '(?=a)', '(?|a|b)', '^[[:alpha:]]+$', '\b{wb}', '\X', '\x{263a}', '(?<!b)a', '\cA', "caf\xe9",
);

subtest 'patterns that could run code' => sub {
    for my $pattern (@run) {
        (my $shown = $pattern) =~ s/\n/\\n/g;
        for my $read (\&of_pattern, sub { decode_sereal(sereal_of($_[0]))->[0] }) {
            my %before = %INC;
            @Patterns::ran = ();
            my $record = eval { no strict; use re 'eval'; $read->($pattern) };
            is("@Patterns::ran", '', "$shown: nothing ran");
            is(join(' ', grep { !$before{$_} } keys %INC), '', 'no module was loaded');
            is(ref $record, 'Icecore::Record', "$shown becomes a record") or do { diag($@ || ''); next };
            is(join('|', map { $record->$_ // '' } qw(class kind value flags)), "Regexp|regexp|$pattern|", 'the record has the pattern');
        }
    }
};

subtest 'patterns that are compiled' => sub {
    local $SIG{__WARN__} = sub { };
    for my $pattern (@compile) {
        my $regexp = eval { of_pattern($pattern, $pattern =~ /\(\?#|#/ ? '' : 'i') };
        is(ref $regexp, 'Regexp', $pattern) or diag($@ || '');
    }
    ok('Gg' =~ of_pattern('\A\p{Lu}\p{Ll}\z'), 'a property of Unicode matches');
};

# Bytes and modifiers, shared and blessed, as a variable, and through a reference.
subtest 'records of patterns are written as they were read' => sub {
    my %make = (
        plain     => sub { [qr/\p{InEvil}/] },
        modifiers => sub { [qr/\p{IsX} x/mixxsn, qr/\P{InEvil}/aa, qr/\p{IsX}/u] },
        text      => sub { [qr/\p{InEvil}\x{263a}caf\x{e9}/] },
        wide      => sub { [qr/☺\p{IsX}/, qr/\p{IsX}\N{U+263a}/] },
        shared    => sub { my $regexp = qr/\p{InEvil}/; [$regexp, { again => $regexp }, \$regexp] },
        blessed   => sub { [bless qr/\p{InEvil}/, 'My::Regexp'] },
        bare      => sub { my $regexp = ${ qr/\p{InEvil}/m }; [$regexp, \$regexp] },
        root      => sub { qr/\p{InEvil}/ },
        long      => sub { my $long = 'x' x 300; [qr/\p{InEvil}$long/] },
        mixed     => sub { [qr/a/, qr/\p{InEvil}/, qr/\p{L}/, 'text', { k => qr/\p{IsX}/ }] },
    );
    Icecore->allow('My::Regexp');
    for my $name (sort keys %make) {
        my $data = $make{$name}->();
        for my $how (['freeze', \&freeze, \&thaw], ['nfreeze', \&nfreeze, \&thaw], ['Sereal', \&encode_sereal, \&decode_sereal], ['Dumper', sub { local $Icecore::Dumper::Sortkeys = 1; Icecore::Dumper::Dumper($_[0]) }, \&undump]) {
            next if $name eq 'bare' && $how->[0] eq 'Dumper';    # it shows no such variable
            my $bytes = $how->[1]->($data);
            @Patterns::ran = ();
            bytes_are(eval { $how->[1]->($how->[2]->($bytes)) }, $bytes, "$name: $how->[0]") or diag($@ || '');
            is("@Patterns::ran", '', 'no code ran');
        }
        my $copy = dclone($data);
        bytes_are(freeze($copy), freeze($data), "$name: dclone copies the regexp");
        unlike(Icecore::Dumper::Dumper($copy), qr/Icecore::Record/, 'dclone creates no record');
    }
    @Icecore::ALLOWED = ();
};

subtest 'random patterns' => sub {
    my $rounds = $ENV{ICECORE_TEST_ROUNDS} || 5000;
    my (%before, %count, @bad);
    srand($ENV{ICECORE_TEST_SEED} || 1);
    local $SIG{__WARN__} = sub { };
    %before = %INC;
    for (1 .. $rounds) {
        my ($pattern, $modifiers) = (Patterns::pattern(), Patterns::modifiers());
        @Patterns::ran = ();
        my $read = eval { no strict; use re 'eval'; of_pattern($pattern, $modifiers) };
        $count{ ref $read || 'died' }++;
        my @loaded = grep { !$before{$_} } keys %INC;
        push @bad, "$pattern /$modifiers: @Patterns::ran @loaded" if @Patterns::ran || @loaded;
        @before{@loaded} = @loaded;
    }
    is(scalar @bad, 0, 'no pattern runs code') or diag(join "\n", map { s/([^ -~])/sprintf '\\x{%x}', ord $1/ger } @bad[0 .. ($#bad < 9 ? $#bad : 9)]);
    ok($count{Regexp} && $count{'Icecore::Record'}, 'some patterns are compiled, and some become records');
};

done_testing;
