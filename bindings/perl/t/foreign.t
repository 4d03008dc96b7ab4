# Data that PHP and Ruby froze, read in Perl; and Perl's data, frozen for them.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use Icecore;

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

# Format, a blob of each kind of value, and the value.
my @plain = (
    [php => 'N;'             => undef],
    [php => 'b:1;'           => !!1],
    [php => 'i:-5;'          => -5],
    [php => 'd:0.5;'         => 0.5],
    [php => "s:3:\"\0\xe9a\";" => "\0\xe9a"],
    [php => 'a:2:{i:0;i:1;i:1;a:0:{}}' => [1, []]],
    [php => 'a:2:{s:1:"b";i:1;i:7;s:1:"x";}' => { b => 1, 7 => 'x' }],
    [php => 'E:8:"Suit:One";' => 'Suit:One'],
    [igbinary => "\0\0\0\2\x14\2\6\0\x11\1a\6\1\x0e\0" => ['a', 'a']],
    [marshal  => "\4\b0"                           => undef],
    [marshal  => "\4\bi\xfa"                       => -1],
    [marshal  => "\4\bl+\x0a\0\0\0\0\0\0\0\0\1\0"  => '18446744073709551616'],
    [marshal  => "\4\bf\x080.5"                    => 0.5],
    [marshal  => "\4\b\"\x06\xe9"                  => "\xe9"],
    [marshal  => "\4\bI\"\x07\xc3\xa9\6:\6ET"      => "\x{e9}"],
    [marshal  => "\4\bI\"\x06\xe9\6:\6ET"          => "\xe9", 'text that is not UTF-8 is bytes'],
    [marshal  => "\4\bI:\x07\xc3\xa9\6:\6ET"       => "\x{e9}", 'a symbol of letters beyond ASCII'],
    [marshal  => "\4\b[\x07:\6a;\0"                => ['a', 'a']],
    [marshal  => "\4\b{\x07:\6ai\6i\7[\0"          => { a => 1, 2 => [] }],
    [marshal  => "\4\b[\x07}\6:\6ai\6i\7i\x08"     => [{ a => 1 }, 3], 'a default value is left out'],
    [marshal  => "\4\b[\x07I[\6i\6\6:\7\@xi\7i\x08" => [[1], 3], 'instance variables of an array are left out'],
    [marshal  => "\4\b[\x07C:\6L[\6i\6i\7"         => [[1], 2], 'of a subclass of Array'],
    [marshal  => "\4\bc\x0bString"                 => 'String'],
    [marshal  => "\4\b{\6[\0i\6"                   => undef, 'a key that is an array', qr/key/],
);

for my $case (@plain) {
    my ($format, $bytes, $value, $name, $error) = @$case;
    $name = "$format: " . ($name // $bytes =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger);
    my $read = eval { Icecore::decode($bytes, format => $format) };
    if ($error) { like($@, $error, $name); next }
    is_deeply($read, $value, $name) or diag($@);
    is_deeply(Icecore::decode($bytes), $value, "$name, format guessed") if ref $value;
}

subtest 'links' => sub {
    my $list = Icecore::decode("\4\b[\x08I\"\6a\6:\6ET\@\6[\0", format => 'marshal');
    is_deeply($list, ['a', 'a', []], 'a string with two references in Ruby is read back');
    $list->[0] .= 'b';
    is($list->[1], 'a', 'a string with two references in Ruby is copied');
    $list = Icecore::decode("\4\b[\x07[\0\@\6", format => 'marshal');
    is($list->[0], $list->[1], 'an array with two references in Ruby stays one array');
    $list = Icecore::decode('a:2:{i:0;O:8:"stdClass":0:{}i:1;r:2;}', format => 'php', classes => ['stdClass']);
    is($list->[0], $list->[1], 'an object with two references in PHP stays one object');
    $list = Icecore::decode('a:2:{i:0;i:1;i:1;R:2;}', format => 'php');
    $list->[0] = 2;
    is($list->[1], 2, 'a variable with two references in PHP stays one variable');
};

subtest 'objects' => sub {
    my $php  = "O:8:\"App\\User\":2:{s:2:\"id\";i:1;s:7:\"\0*\0name\";s:5:\"Alice\";}";
    my $ruby = "\4\bo:\x0eApp::User\6:\x08\@idi\6";
    for my $case ([php => $php, 'App\\User', { id => 1, "\0*\0name" => 'Alice' }], [marshal => $ruby, 'App::User', { id => 1 }]) {
        my ($format, $bytes, $class, $members) = @$case;
        like(dies(sub { Icecore::decode($bytes, format => $format) }), qr/\Q$class\E .*not allowed/, "$format: a class that is not allowed is refused by name");
        my $object = Icecore::decode($bytes, format => $format, classes => [$class]);
        is(ref $object, $class, 'an allowed class is built');
        is_deeply({%$object}, $members, 'the object has its members');
        is_deeply([map { "$_->{class} $_->{path}" } Icecore::classes($bytes, format => $format)], ["$class \$"], 'Icecore::classes lists the class');
    }
    for my $case (
        [php      => 'C:3:"Foo":3:{abc}',       'C', 'abc'],
        [marshal  => "\4\bu:\x08Foo\x08abc",    'u', 'abc'],
        [marshal  => "\4\bU:\x08Foo[\6i\6",     'U', [1]],
        [marshal  => "\4\bd:\x08Foo[\6i\6",     'd', [1]],
        [marshal  => "\4\bo:\x08Foo\6:\7\@ai\6", 'object', { a => 1 }],
        [marshal  => "\4\bS:\x08Foo\6:\6ai\6", 'struct', { a => 1 }],
        [php      => 'O:3:"Foo":1:{s:1:"a";i:1;}', 'object', { a => 1 }],
    ) {
        my ($format, $bytes, $kind, $value) = @$case;
        my $record = Icecore::decode($bytes, format => $format, classes => 'record');
        is_deeply([$record->class, $record->kind, $record->value], ['Foo', $kind, $value], "a record of the kind $kind");
        bytes_are(Icecore::encode($record, $format), $bytes, 'a record is written as the bytes that it came from');
    }
    like(dies(sub { Icecore::decode('C:3:"Foo":3:{abc}', format => 'php', classes => 'any') }), qr/record/, 'the error for a C: object of PHP mentions records');
};

subtest "Perl's data in formats of other languages" => sub {
    my $data = { list => [1, -2.5, undef, 'x'], text => "\x{263a}" };
    for my $format (qw(php igbinary marshal)) {
        is_deeply(Icecore::decode(Icecore::encode($data, $format), format => $format),
            { %$data, text => $format eq 'marshal' ? "\x{263a}" : "\xe2\x98\xba" }, "$format is read back");
    }
    is(Icecore::encode(bless({ id => 1 }, 'App::User'), 'php'), 'O:8:"App\\User":1:{s:2:"id";i:1;}', 'an object is written for PHP');
    bytes_are(Icecore::encode(bless({ id => 1 }, 'App::User'), 'marshal'), "\4\bo:\x0eApp::User\6:\x08\@idi\6", 'an object is written for Ruby');
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    is(Icecore::encode([\1], 'php'), 'a:1:{i:0;i:1;}', "a reference that PHP can't express is left out");
    like("@warnings", qr/reference to a scalar/, 'the loss causes a warning');
    like(dies(sub { Icecore::encode([\1], 'php', strict => 1) }), qr/reference to a scalar/, 'with `strict` the loss is an error');
    @warnings = ();
    bytes_are(Icecore::encode([qr/\Aa\h$/i, qr/(a)b/n], 'marshal'),
        "\4\b[\7I/\x14\\Aa[\\t\\p{Zs}]\\Z\x11\6:\6ETI/\x0b(?:a)b\0\6;\0F", 'regular expressions have the syntax of Ruby');
    like(dies(sub { Icecore::encode([qr/a(*SKIP)b/], 'marshal', strict => 1) }), qr/regular expression without a translation/,
        'one that Ruby does not have is a loss');
    is(Icecore::encode([qr/\Aa\h$/n], 'dumper:indent=0'), '$VAR1 = [qr/\Aa\h$/n];', 'they are unchanged for Perl');
};

subtest 'limits' => sub {
    my ($text, $list) = ('[' x 20_000 . ']' x 20_000, []);
    $list = [$list] for 2 .. 20_000;
    like(dies(sub { Icecore::decode($text, format => 'json') }), qr/max_recursion_depth => N/, 'the error of a limit names the option of decode');
    my ($value, $depth) = (Icecore::decode($text, format => 'json', max_recursion_depth => 30_000), 1);
    $depth++ while $value = $value->[0];
    is($depth, 20_000, 'max_recursion_depth of decode raises the limit');
    like(dies(sub { Icecore::encode($list, 'json') }), qr/recursion depth/, 'encode limits the depth');
    is(Icecore::encode($list, 'json', max_recursion_depth => 30_000), $text, 'max_recursion_depth of encode raises the limit');
    like(dies(sub { Icecore::decode('["abcd"]', format => 'json', max_string_length => 3) }), qr/max_string_length => N/, 'the error for a long string names the option');
};

subtest 'keys' => sub {
    my $key = "I\"\6\xe9\6:\6ET";    # marked as UTF-8, and none
    is_deeply(Icecore::decode("\4\b[\7{\6${key}i\6$key"), [{ "\xe9" => 1 }, "\xe9"], 'a key that is not UTF-8 becomes bytes, like a value');
    like(dies(sub { Icecore::decode("\4\b[\6{\6[\0i\6") }), qr/a key that is not a string at \$\[0\]\{0\}/, 'the error for a key that perl does not support has a path');
};

subtest 'malformed' => sub {
    my %bytes = (php => 'a:1:{i:0;s:3:"abc";}', igbinary => "\0\0\0\2\x14\1\6\0\x11\3abc", marshal => "\4\b[\6\"\x08abc");
    for my $format (sort keys %bytes) {
        for my $len (0 .. length($bytes{$format}) - 1) {
            like(dies(sub { Icecore::decode(substr($bytes{$format}, 0, $len), format => $format) }), qr/offset \d+/, "$format, $len bytes: the error has an offset");
        }
        like(dies(sub { Icecore::decode($bytes{$format} . 'x', format => $format) }), qr/after the end|trailing/, "$format: bytes after the document are an error");
    }
};

# With the real programs, if they are installed.
sub output {
    my ($input, @command) = @_;
    my $file = scratch('frozen');
    open my $to, '>:raw', $file or die "$file: $!";
    print $to $input;
    close $to or die "$file: $!";
    open my $from, '-|', @command, $file or return;
    local $/;
    return scalar <$from>;
}

my $shared = [1, 2];
my $value  = { a => [1, 'two', undef, 2.5], b => { c => "\x{e9}\x{263a}" } };
for my $case (
    [php     => 'php', '-r', 'echo json_encode(unserialize(file_get_contents($argv[1])));'],
    [marshal => 'ruby', '-rjson', '-e', 'print JSON.generate(Marshal.load(File.binread(ARGV[0])))'],
) {
    my ($format, @command) = @$case;
SKIP: {
        skip("$command[0] is not installed", 1) if !grep { -x "$_/$command[0]" } split /:/, $ENV{PATH};
        my $json = output(Icecore::encode($value, $format), @command);
        is_deeply(Icecore::decode($json, format => 'json'), $value, "$command[0] reads what encode wrote");
    }
}

done_testing;
