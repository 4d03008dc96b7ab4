# Features for programs that change from Storable: handles by name, information about a file,
# code that `$forgive_me` accepts, and classes that are loaded on demand.

use v5.30;
use warnings;
use FindBin ();

use File::Temp qw(tempdir);
use Storable ();
use Test::More;
use Icecore::Sereal ();
use Icecore::Storable ();

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? 'it lives' : $@ }
my $folder = tempdir(CLEANUP => 1);

subtest 'file handles' => sub {
    my %ways = (
        'a glob'             => sub { *OUT },
        'a reference to one' => sub { \*OUT },
        'a name'             => sub { 'OUT' },
        'a full name'        => sub { '::OUT' },
        'a name with main'   => sub { 'main::OUT' },
        'an IO object'       => sub { *OUT{IO} },
    );
    for my $how (sort keys %ways) {
        no strict 'refs';
        open OUT, '>', "$folder/handle" or die $!;
        binmode OUT;
        ok(Icecore::Storable::store_fd([1, $how], $ways{$how}->()), "$how: store_fd returns true");
        ok(Icecore::Storable::nstore_fd({ a => 2 }, $ways{$how}->()), 'nstore_fd returns true');
        close OUT or die $!;
        open OUT, '<', "$folder/handle" or die $!;
        is_deeply(Icecore::Storable::fd_retrieve($ways{$how}->()), [1, $how], 'fd_retrieve reads the first image');
        is_deeply(Icecore::Storable::fd_retrieve($ways{$how}->()), { a => 2 }, 'fd_retrieve reads the next image');
        like(dies(sub { Icecore::Storable::fd_retrieve($ways{$how}->()) }), qr/ends before the document/, 'fd_retrieve at the end is an error');
        close OUT;
    }
    no warnings "once";
    for my $none (undef, 'NONE', '::NONE', \*NONE) {
        like(dies(sub { Icecore::Storable::store_fd([], $none) }), qr/\Anot a valid file descriptor/, 'store_fd without a handle is an error');
        like(dies(sub { Icecore::Storable::fd_retrieve($none) }),  qr/\Anot a valid file descriptor/, 'fd_retrieve without a handle is an error');
    }
    package Other {
        our @results;
        open OUT, '>', "$folder/other" or die $!;
        push @results, Icecore::Storable::store_fd([3], 'OUT');
        close OUT;
    }
    is_deeply(Icecore::Storable::retrieve("$folder/other"), [3], 'the name of a handle is looked up in the package of the caller');
};

subtest 'file_magic and read_magic' => sub {
    my %images = (
        plain => Storable::freeze([1]), netorder => Storable::nfreeze([1]), 'major 1' => "\3", 'major 1, native' => "\2\4" . '1234' . "\4\4\4",
        'major 2.0' => "\4\0\4" . '4321' . "\4\4\4", 'major 4' => "\x09\1", 'major 5' => "\x0b\1", nothing => '', letters => 'hello',
        'an odd length' => "\4\x0b\7" . '1234567' . "\4\4\4\10", 'no digits' => "\4\x0b\4abcd\4\4\4\10",
    );
    $images{"$_, cut"} = substr $images{$_}, 0, -1 for grep { length $images{$_} } keys %images;
    $images{"plain to $_"} = substr $images{plain}, 0, $_ for 0 .. 20;
    for my $name (sort keys %images) {
        for my $magic ('', 'pst0', 'perl-store') {
            my $bytes = $magic . $images{$name};
            for my $file (undef, 'some') {
                no warnings;
                is_deeply(Icecore::Storable::read_magic($bytes, $file), Storable::read_magic($bytes, $file), "read_magic of $magic $name is as in the original");
            }
        }
    }
    my $kept = pack 'H*', '70737430050b';
    Icecore::Storable::read_magic($kept);
    is(length $kept, 6, 'read_magic does not change its argument');
    Storable::store([1], "$folder/file");
    is_deeply(Icecore::Storable::file_magic("$folder/file"), Storable::file_magic("$folder/file"), 'file_magic of a path is as in the original');
    chdir $folder or die $!;
    is_deeply(Icecore::Storable::file_magic('file'), Storable::file_magic('file'), 'file_magic of a file in the current folder is as in the original');
    chdir $FindBin::Bin or die $!;
};

# Each in a process of its own: after an error Storable keeps the old values of the variables.
subtest 'code: $Eval and $forgive_me' => sub {
    my @evals = ('0', '1', 'sub { die "no such code\n" }', 'sub { eval { die "trapped\n" }; undef }', 'sub { 7 }', 'sub { eval shift }');
    my $program = <<'PERL';
require Scalar::Util;
my ($class, $forgive, $eval, $blessed) = @ARGV;
eval "require $class; 1" or die;
${"${class}::Deparse"} = 1;
my $code   = sub { 42 };
my $frozen = &{"${class}::freeze"}([$blessed ? bless $code, 'Some::Code' : $code]);
${"${class}::forgive_me"} = $forgive;
${"${class}::Eval"}       = eval $eval;
my $copy = eval { &{"${class}::thaw"}($frozen, $class =~ /Ice/ ? (classes => 'any') : ()) };
my $error = $@;
$error =~ s/(?: at |,)[^\n]* line \d+.*//s;
chomp $error;
# Storable 3.26 drops the class of evaluated code.
print $copy ? Scalar::Util::reftype($copy->[0]) : 'none', '|', $copy ? Scalar::Util::reftype($copy->[0]) eq 'SCALAR' ? ${ $copy->[0] } : $copy->[0]->() : '', '|', $error;
PERL
    for my $forgive (0, 1) {
        for my $eval (@evals) {
            for my $blessed (0, 1) {
                my ($theirs, $ours) = map {
                    open my $in, '-|', $^X, (map { "-I$_" } @INC), '-e', $program, $_, $forgive, $eval, $blessed or die $!;
                    local $/;
                    <$in>
                } qw(Storable Icecore::Storable);
                is($ours, $theirs, "forgive_me $forgive, Eval $eval and blessed $blessed behave as in the original");
            }
        }
    }
};

subtest 'which classes are loaded' => sub {
    my %modules = (
        Hooked     => 'sub new { bless { a => $_[1] }, $_[0] } sub STORABLE_freeze { $_[0]{a} } sub STORABLE_thaw { $_[0]{a} = $_[2]; return }',
        Attached   => 'sub new { bless { a => $_[1] }, $_[0] } sub STORABLE_freeze { $_[0]{a} } sub STORABLE_attach { $_[0]->new($_[2]) }',
        Overloaded => 'use overload q("") => sub { "over $_[0]{a}" }; sub new { bless { a => $_[1] }, $_[0] }',
        Thawed     => 'sub new { bless { a => $_[1] }, $_[0] } sub FREEZE { $_[0]{a} } sub THAW { $_[0]->new($_[2]) }',
    );
    mkdir "$folder/LoadedLate" or die $!;
    for my $name (sort keys %modules) {
        open my $out, '>', "$folder/LoadedLate/$name.pm" or die $!;
        print {$out} "package LoadedLate::$name; our \$loaded = 1; $modules{$name} 1;\n";
        close $out or die $!;
    }
    # Another process freezes, so none of the classes is loaded here.
    my $write = 'use Icecore::Storable; use Icecore::Sereal; my %out; for my $name (qw(Hooked Attached Overloaded Thawed)) {'
        . ' require "LoadedLate/$name.pm"; my $object = ["LoadedLate::$name"->new("x")]; open my $out, ">", "$ARGV[0]/$name" or die;'
        . ' print $out $name eq "Thawed" ? Icecore::Sereal::encode_sereal($object, { freeze_callbacks => 1 }) : Icecore::Storable::freeze($object) }';
    system($^X, (map { "-I$_" } @INC, $folder), '-e', $write, $folder) == 0 or die "cannot freeze: $?";
    my $loaded = sub { my ($name) = @_; exists $INC{"LoadedLate/$name.pm"} };
    local @INC = ($folder, @INC);
    for my $name (sort keys %modules) {
        my $bytes = do { open my $in, '<', "$folder/$name" or die $!; binmode $in; local $/; <$in> };
        my $thaw = $name eq 'Thawed' ? sub { Icecore::Sereal::decode_sereal($bytes, {@_}) } : sub { Icecore::Storable::thaw($bytes, @_) };
        eval { $thaw->() };
        ok(!$loaded->($name), "the data alone does not load $name");
        eval { $thaw->(classes => $_) } for 'any', ['LoadedLate::*'], [qr/Late/], 'record', ['Other'];
        ok(!$loaded->($name), "a pattern that matches does not load $name");
        my $copy = $thaw->(classes => ["LoadedLate::$name"]);
        ok($loaded->($name), "$name is loaded when the call names it");
        is($name eq 'Overloaded' ? "$copy->[0]" : $copy->[0]{a}, $name eq 'Overloaded' ? 'over x' : 'x', "methods of $name work");
    }
    my $missing = Icecore::Storable::freeze([bless {}, 'Missing::Hooked']);
    { no warnings 'once'; *Missing::Hooked::STORABLE_freeze = sub { 'x' } }
    $missing = Icecore::Storable::freeze([bless {}, 'Missing::Hooked']);
    like(dies(sub { Icecore::Storable::thaw($missing, classes => ['Missing::Hooked']) }), qr{Can't locate Missing/Hooked\.pm}, 'a class whose module is missing is an error');
    like(dies(sub { Icecore::Storable::thaw($missing, classes => 'any') }), qr/\ANo STORABLE_thaw defined for objects of class Missing::Hooked/, "classes => 'any' does not load a class");
};

done_testing;
