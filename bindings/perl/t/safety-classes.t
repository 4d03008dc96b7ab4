# The classes that data may bring back: only those that were named.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }

use Icecore;
use Icecore::Sereal   qw(encode_sereal decode_sereal);
use Icecore::Storable qw(freeze nfreeze thaw dclone store retrieve fd_retrieve lock_retrieve);

sub dies { my ($code) = @_; return eval { $code->(); 1 } ? '' : $@ }

my $data = { staff => ['a', 'b', 'c', bless({ name => 'Alice' }, 'Employee')], boss => undef };
my %bytes = (freeze => freeze($data), nfreeze => nfreeze($data), sereal => encode_sereal($data));
my $file  = scratch('staff');
store($data, $file);

# All reading functions, with their arguments for a list of classes.
my %readers = (
    'thaw, native'   => sub { my @classes = @_; return thaw($bytes{freeze}, @classes ? (classes => @classes) : ()) },
    'thaw, network'  => sub { my @classes = @_; return thaw($bytes{nfreeze}, @classes ? (classes => @classes) : ()) },
    retrieve         => sub { my @classes = @_; return retrieve($file, @classes ? (classes => @classes) : ()) },
    lock_retrieve    => sub { my @classes = @_; return lock_retrieve($file, @classes ? (classes => @classes) : ()) },
    fd_retrieve      => sub {
        my @classes = @_;
        open my $handle, '<:raw', $file or die $!;
        return fd_retrieve($handle, @classes ? (classes => @classes) : ());
    },
    decode_sereal    => sub { my @classes = @_; return decode_sereal($bytes{sereal}, @classes ? { classes => @classes } : ()) },
    'Sereal decoder' => sub {
        my @classes = @_;
        my $decoder = Icecore::Sereal::Decoder->new(@classes ? { classes => @classes } : {});
        return $decoder->decode($bytes{sereal});
    },
    'decode, storable' => sub { my @classes = @_; return Icecore::decode($bytes{nfreeze}, format => 'storable', @classes ? (classes => @classes) : ()) },
    'decode, guessed'  => sub { my @classes = @_; return Icecore::decode($bytes{sereal}, @classes ? (classes => @classes) : ()) },
);

for my $name (sort keys %readers) {
    my $read = $readers{$name};
    for my $case (['nothing is allowed'], ['an empty list', []], ['other classes', ['Employer', 'Employe', 'My::*']], ['undef', undef]) {
        my ($what, @classes) = @$case;
        my $error = dies(sub { $read->(@classes) });
        like($error, qr/\bEmployee\b/, "$name, $what: the error names the class");
        like($error, qr/\$\.staff\[3\]/, 'the error has the path of the object');
        like($error, qr/classes => \['Employee'\]/, 'the error says how to allow the class');
        unlike($error, qr/\n./, 'the error is one line');
    }
    for my $classes (['Employee'], ['Other', 'Employee'], ['Emp*'], ['*'], 'any') {
        my $list = ref $classes ? "[@$classes]" : $classes;
        my $copy = eval { $read->($classes) };
        is(scalar eval { ref $copy->{staff}[3] }, 'Employee', "$name: $list allows it") or diag($@);
        is(scalar eval { $copy->{staff}[3]{name} }, 'Alice', 'the object has its contents');
    }
}

subtest 'places' => sub {
    my @places = (
        [\bless({}, 'P'), qr/\$\$?/, 'through a reference'],
        [bless({}, 'P'), qr/at \$(?![.\[])/, 'the root'],
        [[bless {}, 'P'], qr/\$\[0\]/, 'an element'],
        [{ key => bless {}, 'P' }, qr/\$\.key\b/, 'a value'],
        [{ 'two words' => bless {}, 'P' }, qr/\$.*two words/, 'a key with a blank'],
        [{ a => [{ b => { c => bless {}, 'P' } }] }, qr/\$\.a\[0\]\.b\.c\b/, 'deep inside'],
    );
    for my $place (@places) {
        my ($structure, $like, $name) = @$place;
        like(dies(sub { thaw(freeze($structure)) }), $like, "$name, Storable");
        like(dies(sub { decode_sereal(encode_sereal($structure)) }), $like, "$name, Sereal");
    }
    my $inside = bless { in => bless {}, 'Inner' }, 'Outer';
    like(dies(sub { thaw(freeze([$inside]), classes => ['Outer']) }), qr/\$\[0\]\.in\b.*classes => \['Inner'\]/s, 'an object in an allowed object is refused');
};

subtest 'patterns' => sub {
    my $verdict = sub {
        my ($class, @classes) = @_;
        my $bytes = freeze([bless {}, $class]);
        my $sereal = encode_sereal([bless {}, $class]);
        my $one = ref(eval { thaw($bytes, classes => [@classes])->[0] } || '') eq $class ? 'allowed' : 'refused';
        my $two = ref(eval { decode_sereal($sereal, { classes => [@classes] })->[0] } || '') eq $class ? 'allowed' : 'refused';
        # Storable's bytes have no mark for a class name that is text.
        return $one eq $two || $class =~ /[^\0-\xff]/ ? $two : "$one by Storable, $two by Sereal";
    };
    my @allowed = (
        ['My::A', 'My::A'], ['My::A', 'My::*'], ['My::A::B', 'My::*'], ['My::A', 'Your::*', 'My::*'], ['Employee', 'Employee'],
        ["Caf\xe9", "Caf\xe9"], ["\x{263a}::A", "\x{263a}::*"], ['A' x 300, 'A*'], ['a b', 'a b'],
    );
    my @refused = (
        ['My::A', 'My::'], ['My', 'My::*'], ['MyOwn::A', 'My::*'], ['Not::My::A', 'My::*'], ['my::a', 'My::*'],
        ['Employee', 'employee'], ['Employee2', 'Employee'], ['Employee::Evil', 'Employee'], ["Employee\0Evil", 'Employee'],
        ["Employee\n", 'Employee'], ['EmployeeX', 'Employe.'], ['X', '.'], ['X', '?'], ['X', '[X]'], ['X', '(X)'], ['X', 'X|Y'], ['X', ''], ['X', undef],
    );
    is($verdict->(@$_), 'allowed', case_name(@$_)) for @allowed;
    is($verdict->(@$_), 'refused', case_name(@$_)) for @refused;
};

sub case_name { return join ' by ', map { defined $_ ? s/[^ -~]/?/gr =~ s/^(.{30}).*/$1.../r : 'undef' } @_ }

# The remedy in the exception can be pasted, and allows this class and no other.
subtest 'names of classes with special characters' => sub {
    for my $class ('Plain::Class', 'any', 'a b', "a'b", 'q"$x@y\\', "line\nbreak", "\e[1mbold", "nul\0byte", "\xe9", "caf\xc3\xa9", "\x{263a}::\x{c9}", "-\x{1f600}", '*', 'a*', 'My::*') {
        my $data = encode_sereal([bless [], $class]);
        my $name = $class =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger;
        my $message = dies(sub { decode_sereal($data) });
        unlike($message, qr/[^ -~\n]/, "$name: the error is plain text");
        my ($classes) = $message =~ /classes => (\[.*?\]|\{.*?\})(?=,| at | in )/;
        ok($classes, 'it says what to allow') or next;
        if ($class =~ /\*/) {
            like($message, qr/wildcard/, 'the error warns that the name is a wildcard');
            unlike($message, qr/\[|Icecore->allow/, 'the error does not suggest a list') if $message =~ s/\$\[0\]//;
        }
        my $allowed = eval $classes;
        ok(eval { decode_sereal($data, { classes => $allowed }); 1 }, "$classes allows the class");
        for my $other ('Plain::Clas', 'Other', "$class\0", "$class ", 'a', '**', 'My::Own') {
            ok(!eval { decode_sereal(encode_sereal([bless [], $other]), { classes => $allowed }); 1 }, '$classes allows no other class');
        }
    }
};

subtest 'bytes and text' => sub {
    my $text = "caf\xe9";
    utf8::upgrade($text);
    my %class = (latin => "caf\xe9", text => $text, utf8 => "caf\xc3\xa9", wide => "\x{263a}", 'bytes of wide' => "\xe2\x98\xba");
    my %same  = ('latin text' => 1, 'text latin' => 1);
    for my $data (sort keys %class) {
        my $bytes = encode_sereal([bless [], $class{$data}]);
        for my $pattern (sort keys %class) {
            my $allows = $data eq $pattern || $same{"$data $pattern"} || 0;
            for my $list ($class{$pattern}, "$class{$pattern}*") {
                is(eval { decode_sereal($bytes, { classes => [$list] }); 1 } || 0, $allows, "$data with the list $pattern");
            }
        }
    }
};

subtest 'a parent class does not allow its child' => sub {
    @Child::Of::Employee::ISA = ('Employee');
    like(dies(sub { thaw(freeze([bless {}, 'Child::Of::Employee']), classes => ['Employee']) }), qr/Child::Of::Employee/, 'a child class must be listed');
    like(dies(sub { thaw(freeze([bless {}, 'Employee']), classes => ['Child::*']) }), qr/Employee/, 'a parent class must be listed');
};

subtest 'plain data' => sub {
    my $plain = [1, 'a', { b => undef }, \'ref', qr/x+/i, !!1, v1.2, [\[]], "\x{263a}"];
    is_deeply(thaw(freeze($plain)), $plain, 'Storable: plain data and regexps need no class');
    my @sereal = @$plain[0 .. 5];
    is_deeply(decode_sereal(encode_sereal([@sereal])), [@sereal], 'Sereal: plain data and regexps need no class');
    like(dies(sub { thaw(freeze([bless qr/x/, 'My::Regexp'])) }), qr/My::Regexp/, 'Storable: a regexp of another class is refused');
    like(dies(sub { decode_sereal(encode_sereal([bless qr/x/, 'My::Regexp'])) }), qr/My::Regexp/, 'Sereal: a regexp of another class is refused');
    is(ref thaw(freeze([bless qr/x/, 'My::Regexp']), classes => ['My::Regexp'])->[0], 'My::Regexp', 'a regexp of a listed class is built');
};

subtest 'every kind of object' => sub {
    require Classes;
    require Structures;
    my %kinds = (
        array => bless([1], 'K'), scalar => bless(\(my $x = 1), 'K'), reference => bless(\\1, 'K'), overloaded => Structures::money(1),
        hook => Hook::Text->new('t'), attached => Hook::Attached->get('x'), 'tied hash' => Structures::tied_hash(a => 1),
        'tied array' => Structures::tied_array(1), 'tied scalar' => Structures::tied_scalar(1), restricted => Structures::restricted(bless { a => 1 }, 'K'),
    );
    for my $kind (sort keys %kinds) {
        my $object = $kinds{$kind};
        my $class  = $kind =~ /^tied (\w+)/ ? ref($1 eq 'hash' ? tied %$object : $1 eq 'array' ? tied @$object : tied $$object) : ref $object;
        for my $bytes (freeze([$object]), nfreeze([$object])) {
            like(dies(sub { thaw($bytes) }), qr/classes => \['\Q$class\E'\]/, "$kind is refused");
            ok(eval { thaw($bytes, classes => [$class]); 1 }, "$kind is built if its class is listed") or diag($@);
        }
    }
    my $frozen = encode_sereal([Cold::Value->new(1)], { freeze_callbacks => 1 });
    like(dies(sub { decode_sereal($frozen) }), qr/classes => \['Cold::Value'\]/, 'an object that FREEZE wrote is refused');
    is(ref decode_sereal($frozen, { classes => ['Cold::Value'] })->[0], 'Cold::Value', 'an object that FREEZE wrote is built if its class is listed');
    my $header = Icecore::Sereal::Encoder->new->encode([1], bless {}, 'In::Header');
    my $decoder = Icecore::Sereal::Decoder->new;
    like(dies(sub { $decoder->decode_only_header($header) }), qr/In::Header/, 'an object in a user header is refused');
    is_deeply($decoder->decode($header), [1], 'the body after a refused header can be read');
};

subtest 'several classes' => sub {
    my $bytes = freeze([map { bless {}, $_ } qw(A B C)]);
    like(dies(sub { thaw($bytes, classes => ['A', 'B']) }), qr/classes => \['C'\]/, 'the error names the class that is missing');
    like(dies(sub { thaw($bytes, classes => ['C']) }), qr/A at \$\[0\], B at \$\[1\]; .*classes => \['A', 'B'\]/, 'the error names all classes that are missing');
    is_deeply([map { ref } @{ thaw($bytes, classes => [qw(A B C)]) }], [qw(A B C)], 'the objects are built if all classes are listed');
};

subtest "'report'" => sub {
    my $data  = [map { bless {}, $_ } qw(A B A My::C)];
    my %reads = (thaw => sub { thaw(freeze($data), classes => 'report') }, sereal => sub { decode_sereal(encode_sereal($data), { classes => 'report' }) });
    for my $name (sort keys %reads) {
        my $message = dies($reads{$name});
        like($message, qr/\AIcecore: these classes are not allowed: A at \$\[0\], B at \$\[1\], My::C at \$\[3\]; /, "$name: the error lists each refused class once");
        like($message, qr/allow them with classes => \['A', 'B', 'My::C'\], in this call or for all with Icecore->allow\('A', 'B', 'My::C'\)/, 'the error says how to allow all of them');
    }
    like(dies(sub { thaw(freeze([bless {}, 'A']), classes => 'report') }), qr/the class A at \$\[0\] is not allowed; allow it with/, 'the error for one class is the usual one');
    like(dies(sub { thaw(freeze([map { bless {}, $_ } 'A', 'B*']), classes => 'report') }), qr/classes => \{ 'A' => 1, 'B\*' => 1 \}/, 'the error for a name with a wildcard suggests a hash');
    is_deeply(thaw(freeze([1]), classes => 'report'), [1], 'plain data needs no class');
    local @Icecore::ALLOWED = ('A', 'My::*');
    like(dies($reads{thaw}), qr/the class B at \$\[1\] is not allowed/, 'a class that the process allows is not listed');
    push @Icecore::ALLOWED, 'B';
    is_deeply([map { ref } @{ $reads{thaw}->() }], [qw(A B A My::C)], 'the objects are built if the process allows all classes');
    my $many = join ' ', map { "C$_" } 1 .. 3000;
    my $message = dies(sub { thaw(freeze([map { bless {}, $_ } split ' ', $many]), classes => 'report') });
    like($message, qr/, C1000 at \$\[999\], and 2000 more; /, 'refused classes after the first 1,000 are counted');
};

subtest 'dclone checks no class' => sub {
    require Classes;
    my $object = bless { in => [Hook::Text->new('t', [1]), qr/x/, Structures::tied_hash(a => 1)] }, 'Not::Listed';
    my $copy   = dclone($object);
    is(ref $copy, 'Not::Listed', 'dclone copies an object of any class');
    is($copy->{in}[0]{text}, 't', 'dclone calls hooks');
    is($copy->{in}[2]{a}, 1, 'dclone copies ties');
};

subtest 'flags' => sub {
    is(scalar eval { ref thaw($bytes{freeze}, 0)->{staff}[3] }, 'HASH', 'flags without BLESS_OK need no class');
    is(scalar eval { ref decode_sereal($bytes{sereal}, { no_bless_objects => 1 })->{staff}[3] }, 'HASH', 'no_bless_objects needs no class');
    like(dies(sub { thaw($bytes{freeze}, 6) }), qr/Employee/, 'flags with BLESS_OK need classes');
    is(ref thaw($bytes{freeze}, classes => ['Employee'], flags => 6)->{staff}[3], 'Employee', '`classes` and `flags` can be combined');
};

subtest 'invalid options' => sub {
    like(dies(sub { thaw($bytes{freeze}, class => ['Employee']) }), qr/class/, 'an unknown option is refused');
    like(dies(sub { thaw($bytes{freeze}, classes => \'Employee') }), qr/classes/, 'a reference to a scalar as `classes` is refused');
};

done_testing;
