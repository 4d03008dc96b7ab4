# No code runs because of data: no hook, no destructor, no overloading, no tie, and no module is
# loaded, whatever the data contains.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use Hash::Util ();
use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw dclone store retrieve);
use Malice;
use Run;

$Malice::file = scratch('ran');

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

sub quietly {
    my ($name, $code) = @_;
    Malice::reset_calls();
    $code->();
    is(Malice::calls(), '', "$name: nothing ran");
    ok(!-e $Malice::file, "$name: no file was made");
    return;
}

# Made once, and the objects are freed before anything is read.
my %image;
{
    my %object = (
        plain    => sub { bless { a => 1 }, 'Malice::Plain' },
        hooks    => sub { bless { a => 1 }, 'Malice::Hooks' },
        attach   => sub { bless { a => 1 }, 'Malice::Attach' },
        overload => sub { bless { a => 1 }, 'Malice::Overload' },
        tie      => sub { my %tied; tie %tied, 'Malice::Tie'; return \%tied },
        auto     => sub { bless { a => 1 }, 'Malice::Auto' },
    );
    no warnings 'redefine';
    for my $kind (sort keys %object) {
        local *Malice::Auto::AUTOLOAD = sub { } if $kind eq 'auto';
        for my $where (['alone', sub { $_[0] }], ['inside', sub { [1, { x => [$_[0], $_[0]] }, 2] }], ['restricted', sub { my $hash = { x => $_[0] }; Hash::Util::lock_hashref($hash); $hash }]) {
            my $data = $where->[1]->($object{$kind}->());
            $image{"$kind $where->[0], Storable"} = [\&thaw, freeze($data)];
            next if $kind eq 'tie';
            $image{"$kind $where->[0], Sereal"} = [\&decode_sereal, encode_sereal($data)];
            $image{"$kind $where->[0], FREEZE"} = [\&decode_sereal, encode_sereal($data, { freeze_callbacks => 1 })] if $kind eq 'hooks';
        }
    }
}

for my $name (sort keys %image) {
    my ($read, $bytes) = @{ $image{$name} };
    quietly($name => sub {
        like(dies(sub { $read->($bytes) }), qr/Malice::\w+/, "$name is refused");
    });
    my @options = $read == \&thaw ? (classes => ['Other']) : { classes => ['Other'] };
    quietly("$name, another class allowed" => sub { dies(sub { $read->($bytes, @options) }) });
    my @record = $read == \&thaw ? (classes => 'record') : { classes => 'record' };
    quietly("$name, as records" => sub { my $record = $read->($bytes, @record); undef $record });
    quietly("$name, classes" => sub { Icecore::classes($bytes) });
}

subtest 'code of allowed classes' => sub {
    Malice::reset_calls();
    thaw($image{'hooks alone, Storable'}[1], classes => ['Malice::Hooks']);
    is(Malice::calls(), 'STORABLE_thaw DESTROY', 'STORABLE_thaw and the destructor of an allowed class run');
    Malice::reset_calls();
    decode_sereal($image{'hooks alone, FREEZE'}[1], { classes => ['Malice::*'] });
    like(Malice::calls(), qr/^THAW/, 'THAW of an allowed class runs');
    Malice::reset_calls();
    thaw($image{'attach alone, Storable'}[1], classes => ['Malice::Attach']);
    is(Malice::calls(), 'STORABLE_attach', 'STORABLE_attach of an allowed class runs');
    quietly('an image of an object with overloading' => sub { thaw($image{'overload inside, Storable'}[1], classes => ['Malice::Overload']) });
    quietly('a Sereal document of an object with overloading' => sub { decode_sereal($image{'overload inside, Sereal'}[1], { classes => ['Malice::Overload'] }) });
};

subtest 'hooks run only after everything is read and checked' => sub {
    my $bytes = nfreeze([bless({ a => 1 }, 'Malice::Hooks'), 'and something after it', [1, 2, 3]]);
    my @cut = map { substr $bytes, 0, $_ } grep { $_ < length $bytes } map { length($bytes) - $_ } 1 .. 40;
    quietly("truncated images (" . @cut . ')' => sub { dies(sub { thaw($_, classes => ['Malice::Hooks']) }) for @cut });
    quietly('bytes after the image' => sub { like(dies(sub { thaw("$bytes\1", classes => ['Malice::Hooks']) }), qr/./, 'bytes after the image are an error') });
    my $both = nfreeze([bless({ a => 1 }, 'Malice::Hooks'), bless({}, 'Not::Listed')]);
    quietly('an image with a second class that is not allowed' => sub {
        like(dies(sub { thaw($both, classes => ['Malice::Hooks']) }), qr/Not::Listed/, 'a second class that is not allowed is refused');
    });
    my $plain = nfreeze([bless({ a => 1 }, 'Malice::Plain'), bless({}, 'Not::Listed')]);
    quietly('a destructor before a class that is not allowed' => sub { dies(sub { thaw($plain, classes => ['Malice::Plain']) }) });
    my $sereal = encode_sereal([bless({ a => 1 }, 'Malice::Hooks'), 'behind'], { freeze_callbacks => 1 });
    quietly('truncated documents' => sub {
        for my $length (1 .. length($sereal) - 1) { dies(sub { decode_sereal(substr($sereal, 0, $length), { classes => ['Malice::Hooks'] }) }) }
    });
    $sereal = encode_sereal([bless({ a => 1 }, 'Malice::Hooks'), bless({}, 'Not::Listed')], { freeze_callbacks => 1 });
    quietly('a class of a document that is not allowed' => sub { dies(sub { decode_sereal($sereal, { classes => ['Malice::Hooks'] }) }) });
};

subtest 'a repeated key' => sub {
    my $object = sub { my ($key) = @_; return "\x04\x11\x0dMalice::Plain\3" . pack('N', 0) . pack('N', length $key) . $key };
    my $bytes  = "\5\13\3" . pack('N', 2) . $object->('k') . $object->('k');
    quietly('an object in a hash with a duplicate key' => sub { dies(sub { thaw($bytes) }) });
    quietly('a record in a hash with a duplicate key' => sub { dies(sub { thaw($bytes, classes => 'record') }) });
};

subtest 'a tie to the name of a class' => sub {
    my %tag = (array => "\x0b", hash => "\x0c", scalar => "\x0d");
    for my $kind (sort keys %tag) {
        for my $what ("\x0a" . chr(length 'Malice::Tie') . 'Malice::Tie', "\4\x0a" . chr(length 'Malice::Tie') . 'Malice::Tie', "\x88", "\5") {
            my $bytes = "\5\13$tag{$kind}$what";
            for my $classes ([], 'any') {
                quietly("a tied $kind" => sub {
                    dies(sub {
                        my $copy = thaw($bytes, classes => $classes);
                        my $touched = $kind eq 'array' ? "$#$copy $copy->[0]" : $kind eq 'hash' ? "$copy->{a} @{[ %$copy ]}" : "$$copy";
                    });
                });
            }
        }
    }
};

subtest 'modules' => sub {
    my $bytes = "\5\13" . "\x13\2" . chr(length 'Malice::Module') . 'Malice::Module' . "\4text";
    my $sereal = "=\xf3rl\5\0\x32\x6eMalice::Module\x28\x2b\1\1";
    my @asked;
    local @INC = (sub { push @asked, $_[1]; return }, @INC);
    for my $classes ([], ['Malice'], ['Malice::Other'], 'record') {
        dies(sub { thaw($bytes, classes => $classes) });
        dies(sub { decode_sereal($sereal, { classes => $classes }) });
    }
    is("@asked", '', 'no module of a refused class is searched');
};

subtest 'code as text' => sub {
    our $ran = 0;
    my $text  = 'BEGIN { $main::ran++ } sub { $main::ran++ }';
    my $bytes = "\5\13\4\x1a\x0a" . chr(length $text) . $text;
    like(dies(sub { thaw($bytes) }), qr/Can't eval/, 'code as text is refused');
    like(dies(sub { thaw($bytes, classes => 'any') }), qr/Can't eval/, 'code as text is refused if any class is allowed');
    is($ran, 0, 'code as text does not run');
    local $Icecore::Storable::forgive_me = 1;
    dies(sub { thaw($bytes) });
    is($ran, 0, 'code as text does not run with $forgive_me');
};

subtest 'code in patterns' => sub {
    our $ran = 0;
    my $pattern = 'a(?{ $main::ran++ })b';
    my $bytes  = "\5\13\2" . pack('N', 1) . "\4\x11\6Regexp\x20\0" . chr(length $pattern) . "$pattern\0";
    my $sereal = "=\xf3rl\5\0\x41\x2cfRegexp\x28\x31" . chr(0x60 + length $pattern) . $pattern . "\x60";
    for my $case (['Storable', sub { thaw($bytes, classes => 'any') }], ['Sereal', sub { decode_sereal($sereal, { classes => 'any' }) }]) {
        my ($name, $read) = @$case;
        my $copy;
        my $error = dies(sub { $copy = $read->() });
        dies(sub { 'ab' =~ $copy->[0] }) if !$error && ref $copy->[0];
        is($ran, 0, "$name: the code in the pattern does not run");
    }
    {
        use re 'eval';
        dies(sub { my $copy = thaw($bytes); 'ab' =~ $copy->[0] if ref $copy->[0] });
        is($ran, 0, 'the code in the pattern does not run under use re "eval"');
    }
};

subtest 'destructors at the end of a process' => sub {
    my $file  = scratch('ran-at-end');
    my $image = scratch('image');
    spew($image, $image{'plain inside, Storable'}[1]);
    my $sereal = scratch('document');
    spew($sereal, $image{'plain inside, Sereal'}[1]);
    my $output = run_perl(<<'END', $file, $image, $sereal);
        use strict;
        use warnings;
        use Malice;
        use Icecore::Sereal   qw(decode_sereal);
        use Icecore::Storable qw(thaw);
        $Malice::file = shift;
        our @kept;
        my ($image, $sereal) = map { open my $handle, '<:raw', $_ or die; local $/; scalar <$handle> } @ARGV;
        eval { push @kept, thaw($image); 1 } or print "refused\n";
        eval { push @kept, decode_sereal($sereal); 1 } or print "refused\n";
        push @kept, thaw($image, classes => 'record');
        push @kept, decode_sereal($sereal, { classes => 'record' });
        print scalar(@kept), " records\n";
END
    is($output, "refused\nrefused\n2 records\n", 'a process reads the documents without building objects');
    ok(!-e $file, 'no hook runs at the end of the process');
};

done_testing;
