# Files, handles, locks, and information from a header.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Config;
use Fcntl qw(:flock :seek);
use IO::File;
use Time::HiRes qw(alarm);
use POSIX ();
use Both;
use Same;
use Structures;

my $data = { name => 'data', list => [1 .. 5], nested => { a => undef, "\x{263a}" => 'text' } };

both_storable('store and retrieve' => sub {
    my ($m) = @_;
    my $file = scratch('file');
    for my $how (qw(store nstore lock_store lock_nstore)) {
        unlink $file;
        ok($m->$how($data, $file), "$how says that it did");
        for my $back (qw(retrieve lock_retrieve)) { is_deeply($m->$back($file), $data, "$back") }
        my $size = -s $file;
        $m->$how([1], $file);
        cmp_ok(-s $file, '<', $size, "$how again: a shorter image leaves nothing of the longer one");
        is_deeply($m->retrieve($file), [1], 'and is the new one');
    }
    $m->store({ large => 'x' x 3_000_000, list => [1 .. 20_000] }, $file);
    my $copy = $m->retrieve($file);
    is(length $copy->{large}, 3_000_000, 'a file of megabytes');
    is($copy->{list}[19_999], 20_000, 'to its end');
});

both_storable('a file is an image with a magic number' => sub {
    my ($m) = @_;
    $m->set(canonical => 1);
    my $file = scratch('magic');
    $m->store($data, $file);
    bytes_are(slurp($file), 'pst0' . $m->freeze($data), 'store');
    $m->nstore($data, $file);
    bytes_are(slurp($file), 'pst0' . $m->nfreeze($data), 'nstore');
    spew($file, $m->freeze($data));
    like($m->dies(sub { $m->retrieve($file) }), $m->says(qr/File is not a perl storable/, qr/no Storable file/), 'retrieve needs it');
    # The original refuses a file image in memory; ours recognizes it.
    like($m->dies(sub { $m->thaw('pst0' . $m->freeze($data)) }), qr/more recent than I am/, 'thaw refuses it') unless $m->ours;
});

both_storable('what the file system refuses' => sub {
    my ($m) = @_;
    my $file = scratch('no/such/folder/file');
    like($m->dies(sub { $m->store($data, $file) }), qr/^can't create \Q$file\E: /, 'store');
    like($m->dies(sub { $m->lock_store($data, $file) }), qr/^can't (?:write into|create) \Q$file\E: /, 'lock_store');
    like($m->dies(sub { $m->retrieve($file) }), qr/^can't open \Q$file\E: /, 'retrieve');
    like($m->dies(sub { $m->lock_retrieve($file) }), qr/^can't open \Q$file\E: /, 'lock_retrieve');
    like($m->dies(sub { $m->file_magic($file) }), qr/^Can't open '\Q$file\E': /, 'file_magic');
    like($m->dies(sub { $m->store($data, scratch('a'), 'b') }), qr/^wrong argument number/, 'store with too much');
    spew(scratch('empty'), '');
    my $copy;
    my $error = $m->dies(sub { $copy = $m->retrieve(scratch('empty')) });
    ok($error || !defined $copy, 'an empty file is nothing');
    ok($error, 'and an error') if $m->ours;
    spew(scratch('text'), "some text\n" x 10);
    like($m->dies(sub { $m->retrieve(scratch('text')) }), $m->says(qr/File is not a perl storable/, qr/no Storable file/), 'a file of something else');
});

both_storable('$@ and $_ are left alone' => sub {
    my ($m) = @_;
    my $file = scratch('left');
    local $_ = 'topic';
    $@ = "before\n";
    $m->store($data, $file);
    $m->retrieve($file);
    $m->thaw($m->freeze($data));
    is($@, "before\n", '$@');
    is($_, 'topic', '$_');
    local $, = '-';
    local $\ = "!\n";
    local $/ = 'x';
    $m->store($data, $file);
    is_deeply($m->retrieve($file), $data, 'separators do no harm');
});

both_storable('what was there when freezing fails' => sub {
    my ($m) = @_;
    my $file = scratch('fails');
    $m->store($data, $file);
    ok($m->dies(sub { $m->store([sub { 1 }], $file) }), 'something that can\'t be stored');
    # The original empties the file, fails, and then removes it. Ours may keep the old contents.
    my $left = -e $file ? eval { $m->retrieve($file) } || 'a broken file' : $data;
    is_deeply($left, $data, 'leaves no broken file');
});

both_storable('handles' => sub {
    my ($m) = @_;
    my $file = scratch('handle');
    for my $how (qw(store_fd nstore_fd)) {
        open my $out, '>:raw', $file or die $!;
        ok($m->$how($data, $out), "$how to a lexical handle");
        ok($m->$how([2], $out), 'and a second image');
        close $out or die $!;
        open my $in, '<:raw', $file or die $!;
        is_deeply($m->fd_retrieve($in), $data, 'fd_retrieve');
        is_deeply($m->retrieve_fd($in), [2], 'retrieve_fd, the next one');
        ok(eof $in, 'at the end');
        close $in;

        no strict 'refs';
        open OUT, '>:raw', $file or die $!;
        $m->$how($data, \*OUT);
        $m->$how([3], *OUT);
        close OUT;
        open IN, '<:raw', $file or die $!;
        is_deeply($m->fd_retrieve(\*IN), $data, 'a reference to a glob');
        is_deeply($m->fd_retrieve(*IN), [3], 'a glob');
        close IN;

        my $object = IO::File->new($file, 'w') or die $!;
        binmode $object;
        $m->$how($data, $object);
        $object->close;
        $object = IO::File->new($file, 'r');
        is_deeply($m->fd_retrieve($object), $data, 'IO::File');
    }
    open my $closed, '<', $file or die $!;
    close $closed;
    like($m->dies(sub { $m->fd_retrieve($closed) }), qr/^not a valid file descriptor/, 'a closed handle');
    like($m->dies(sub { no warnings; $m->store_fd($data, $closed) }), qr/^not a valid file descriptor/, 'for writing too');
    like($m->dies(sub { $m->store_fd('text', \*STDOUT) }), qr/^not a reference/, 'no reference');
});

both_storable('handles that stand in the middle of a file' => sub {
    my ($m) = @_;
    my $file = scratch('middle');
    open my $out, '>:raw', $file or die $!;
    print {$out} "a line before\n";
    $m->store_fd([1], $out);
    print {$out} "a line between\n";
    $m->nstore_fd({ two => 2 }, $out);
    print {$out} "a line behind\n";
    close $out or die $!;
    open my $in, '<:raw', $file or die $!;
    is(scalar <$in>, "a line before\n", 'a line');
    is_deeply($m->fd_retrieve($in), [1], 'an image');
    is(scalar <$in>, "a line between\n", 'not a byte too many was read');
    is_deeply($m->fd_retrieve($in), { two => 2 }, 'another one');
    is(scalar <$in>, "a line behind\n", 'and the rest');
    my $at = tell $in;
    is($at, -s $file, 'the end');
});

both_storable('pipes' => sub {
    my ($m) = @_;
    pipe my $in, my $out or die $!;
    binmode $_ for $in, $out;
    my $child = fork;
    plan(skip_all => 'no fork') unless defined $child;
    if (!$child) {
        close $in;
        $out->autoflush(1);
        $m->nstore_fd({ n => $_, list => [1 .. 2000] }, $out) for 1 .. 3;
        close $out;
        POSIX::_exit(0);
    }
    close $out;
    is($m->fd_retrieve($in)->{n}, $_, "image $_ from a pipe") for 1 .. 3;
    close $in;
    waitpid $child, 0;
    is($?, 0, 'the child is well');
});

both_storable('locks' => sub {
    my ($m) = @_;
    my $file = scratch('locked');
    $m->lock_store([1], $file);
    open my $handle, '+<', $file or die $!;
    flock $handle, LOCK_EX or plan(skip_all => "no locks here: $!");
    my $try = sub {
        my ($code, $patience) = @_;
        my $child = fork;
        plan(skip_all => 'no fork') unless defined $child;
        if (!$child) {
            local $SIG{ALRM} = 'DEFAULT';
            # Only calls that must wait get little time; for others the alarm ends a call that
            # would never return.
            alarm($patience || 600);
            $code->();
            POSIX::_exit(0);
        }
        waitpid $child, 0;
        return $? ? 'waits' : 'goes on';
    };
    is($try->(sub { $m->lock_store([2], $file) }, 0.3), 'waits', 'lock_store waits for who has a lock');
    is_deeply($m->retrieve($file), [1], 'and has not touched the file');
    is($try->(sub { $m->retrieve($file) }), 'goes on', 'retrieve does not care');
    flock $handle, LOCK_SH or die $!;
    is($try->(sub { $m->lock_retrieve($file) }), 'goes on', 'lock_retrieve shares a lock');
    is($try->(sub { $m->lock_nstore([3], $file) }, 0.3), 'waits', 'lock_nstore does not');
    close $handle;
    is($try->(sub { $m->lock_store([4], $file) }), 'goes on', 'when it is free');
    is_deeply($m->lock_retrieve($file), [4], 'it is written');
});

both_storable('read_magic' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze([1]);
    my $info  = $m->read_magic($bytes);
    is($info->{version}, "$info->{major}.$info->{minor}", 'version');
    is($info->{version_nv}, sprintf('%d.%03d', @$info{qw(major minor)}), 'version_nv');
    is($info->{netorder}, 0, 'netorder');
    is($info->{byteorder}, $Config{byteorder}, 'byteorder');
    is($info->{intsize}, $Config{intsize}, 'intsize');
    is($info->{longsize}, $Config{longsize}, 'longsize');
    is($info->{ptrsize}, $Config{ptrsize}, 'ptrsize');
    is($info->{nvsize}, $Config{nvsize}, 'nvsize');
    is($info->{hdrsize}, length($Config{byteorder}) + 7, 'hdrsize');
    ok(!exists $info->{file}, 'is no file');
    is($info->{version_nv}, $m->BIN_WRITE_VERSION_NV, 'BIN_WRITE_VERSION_NV');
    cmp_ok($m->BIN_VERSION_NV, '>=', $m->BIN_WRITE_VERSION_NV, 'BIN_VERSION_NV');

    $info = $m->read_magic($m->nfreeze([1]));
    is_deeply($info, { major => $info->{major}, minor => $info->{minor}, version => $info->{version},
        version_nv => $info->{version_nv}, netorder => 1, hdrsize => 2 }, 'network order');
    $info = $m->read_magic('pst0' . $bytes);
    is($info->{file}, 1, 'a file');
    is($info->{hdrsize}, length($Config{byteorder}) + 11, 'with its magic number');
    is($m->read_magic($bytes, 1), undef, 'must be a file');
    is($m->read_magic(substr $bytes, 0, 5), undef, 'too short');
    is($m->read_magic("\xff\xff" . 'x' x 40), undef, 'something else');
    is($m->read_magic(''), undef, 'nothing');
    $info = $m->read_magic('perl-store' . "\3");
    is($info->{version}, 1, 'an old file') if $info;
});

both_storable('file_magic' => sub {
    my ($m) = @_;
    my $file = scratch('info');
    $m->nstore($data, $file);
    my $info = $m->file_magic($file);
    is($info->{file}, $file, 'has the name of the file');
    is($info->{netorder}, 1, 'and the rest');
    is($info->{hdrsize}, 6, 'hdrsize');
    $m->store($data, $file);
    is($m->file_magic($file)->{byteorder}, $Config{byteorder}, 'a native one');
    spew($file, 'something else');
    is($m->file_magic($file), undef, 'another file');
});

both_storable('inheriting' => sub {
    my ($m) = @_;
    no strict 'refs';
    @Stored::Object::ISA = ($m->name);
    my $object = bless { a => 1 }, 'Stored::Object';
    my $file   = scratch('object');
    ok($object->store($file), 'store as a method');
    my $copy = $m->retrieve($file);
    isa_ok($copy, 'Stored::Object');
    is($copy->{a}, 1, 'itself, not a reference to it');
    is($m->thaw($object->freeze)->{a}, 1, 'freeze as a method');
});

done_testing;
