package Patterns;

# Random patterns with many things that could run code: properties that are subs of the program,
# names of characters, code; escaped, in classes, in comments.

use strict;
use warnings;

# Subs that a property could name, in many packages and spellings. Each records that it ran.
our @ran;
our @subs;

my @names = map { my $front = $_; map { "$front$_" } qw(Evil X alpha Alpha Greek _L Upper 9) }
    qw(In Is IN IS in is iN iS _In _Is);
for my $package (qw(main utf8 My My::App Icecore Icecore::Storable Patterns)) {
    for my $name (@names, 'Inherited', 'L', 'Alpha', 'Greek') {
        no strict 'refs';
        my $full = "${package}::$name";
        push @subs, $full;
        *$full = sub { push @ran, $full; return "41\t5A\n" };
    }
}

sub pick { return $_[int rand @_] }

sub blank { return pick(('') x 6, ' ', '  ', "\t", "\n") }

sub property {
    my $name = pick(
        (map { pick(@names) } 1 .. 4), "main::" . pick(@names), "My::App::" . pick(@names), "utf8::" . pick(@names),
        "::" . pick(@names), "main'" . pick(@names), "My::App'" . pick(@names), 'L', 'Lu', 'Alpha', 'PosixAlpha', 'Script=Greek',
        'Script:Greek', 'scx=Latn', 'Greek', 'Inherited', 'Script=Inherited', 'nv=1/2', 'nv=7', 'ccc=230', 'age=5.0', 'Block=ASCII', 'Blk:Greek',
        'gc=M', 'Any', 'XPosixUpper', 'L_', 'L&', 'Bidi_Class:R', 'na=LATIN SMALL LETTER A', 'name=SPACE', 'Name: DIGIT ONE', 'n a=SPACE', 'N_a=SPACE', '-n-a:SPACE', '_na=SPACE',
        'nv=/\d/', 'script=m!greek!', 'script=m/greek/', 'gc=/L/', 'na=/LATIN/', 'I', 'Is', 'In', '', 'Unknown', 'kRSUnicode=1.1',
        'IsL', 'InGreek', "In\xe9", 'NoSuchThing=1', 'gc=/(?{ push @Patterns::ran, 1 })/', 'gc=m{L}', 'gc = L', 'gc : Lu', 'Isc', 'Bidi_M', 'Is=Greek',
    );
    my $sign = pick('p', 'P');
    return "\\$sign" . pick('L', 'N', 'I', 'M', 'x', ' ', '\\', '{') if rand() < 0.06;
    return "\\$sign" . pick(('') x 9, ' ') . '{' . blank() . pick(('') x 4, '^', ' ^ ', '^^', '-') . blank() . $name . blank() . pick(('}') x 9, '');
}

sub name {
    return '\\N' . pick('', '{U+41}', '{ U+41 }', '{U+263A}', '{U+41.42}', '{3}', '{2,3}', '{SPACE}', '{LATIN SMALL LETTER A}', '{greek:alpha}',
        '{}', ' {SPACE}', '{U+}', '{U+4G}', '{alias}', '{', "\n{SPACE}", '{U+41', '{NBSP}', '{,3}', '{ 3 }');
}

sub code {
    my $code = pick('push @Patterns::ran, 1', '1', 'BEGIN { push @Patterns::ran, 1 }', 'require Benchmark');
    return pick("(?{ $code })", "(??{ $code })", "(*{ $code })", "(?p{ $code })", "( ?{ $code })", "(? {$code})", "(?(?{ $code })a|b)", "(?#x)(?{ $code })", "(?<a>b)(?{$code})");
}

sub escape { return pick('\\\\', '\\\\\\', '\\\\\\\\', '\\c\\', '\\c\\\\', '\\cA', '\\c', '\\Q', '\\E', '\\x{41}', '\\x{41\\}', '\\x{', '\\(', '\\[', '\\]', '\\#', '\\k', '\\g', '\\b{wb}', '\\X', '\\R', '\\') }

sub piece {
    my ($depth) = @_;
    my $kind = rand 100;
    return property() if $kind < 26;
    return name()     if $kind < 34;
    return code()     if $kind < 38;
    return escape()   if $kind < 52;
    return pick('a', 'b|c', '.', ' ', '#', "# a comment\n", '(?#', '(?# \\)', ')', ']', '[', '*', '+', '{1,2}', "\n", "\xe9", "\x{263a}", '^', '$', '[[:alpha:]]', '[[:IsX:]]', "'", '::')
        if $kind < 72 || $depth > 3;
    my $inside = join '', map { piece($depth + 1) } 1 .. 1 + rand 3;
    return pick("($inside)", "(?:$inside)", "(?i:$inside)", "(?x: $inside)", "(?xx:$inside)", "[$inside]", "[^$inside]", "(?[ $inside ])", "(?[ [$inside] + \\p{L} ])",
        "(?=$inside)", "(?<n>$inside)", "(?|$inside|b)", "(?#$inside)", "(?^x:$inside)", "(?^:$inside)", "(*pla:$inside)", "(*MARK:$inside)", "# $inside\n", "(?<!a)$inside");
}

sub pattern { return join '', map { piece(0) } 1 .. 1 + rand 4 }

sub modifiers { return join '', grep({ rand() < 0.25 } qw(m s i x n p)), rand() < 0.1 ? 'x' : '', pick('', '', 'u', 'a', 'aa', 'l') }

# Returns a frozen regexp, as Storable writes it.
sub frozen {
    my ($pattern, $modifiers) = @_;
    utf8::encode($pattern) if utf8::is_utf8($pattern);
    my $long = length $pattern > 255;
    return "\x05\x0b\x02\0\0\0\x01\x04\x11\x06Regexp\x20" . ($long ? pack 'CN', 1, length $pattern : pack 'CC', 0, length $pattern)
        . $pattern . chr(length $modifiers) . $modifiers;
}

1;
