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
        ok($m->$how($data, $file), "$how returns true");
        for my $back (qw(retrieve lock_retrieve)) { is_deeply($m->$back($file), $data, "$back reads it") }
        my $size = -s $file;
        $m->$how([1], $file);
        cmp_ok(-s $file, '<', $size, "$how again: the shorter image replaces all of the longer one");
        is_deeply($m->retrieve($file), [1], 'the shorter image is read');
    }
    $m->store({ large => 'x' x 3_000_000, list => [1 .. 20_000] }, $file);
    my $copy = $m->retrieve($file);
    is(length $copy->{large}, 3_000_000, 'a file of several megabytes is read');
    is($copy->{list}[19_999], 20_000, 'the file is read to its end');
});

both_storable('a file is an image with a magic number' => sub {
    my ($m) = @_;
    $m->set(canonical => 1);
    my $file = scratch('magic');
    $m->store($data, $file);
    bytes_are(slurp($file), 'pst0' . $m->freeze($data), 'store writes an image with a magic number');
    $m->nstore($data, $file);
    bytes_are(slurp($file), 'pst0' . $m->nfreeze($data), 'nstore writes an image with a magic number');
    spew($file, $m->freeze($data));
    like($m->dies(sub { $m->retrieve($file) }), $m->says(qr/File is not a perl storable/, qr/no Storable file/), 'retrieve needs the magic number');
    # The original refuses a file image in memory; Icecore recognizes it.
    like($m->dies(sub { $m->thaw('pst0' . $m->freeze($data)) }), qr/more recent than I am/, 'thaw refuses the magic number') unless $m->ours;
});

both_storable('errors of the file system' => sub {
    my ($m) = @_;
    my $file = scratch('no/such/folder/file');
    like($m->dies(sub { $m->store($data, $file) }), qr/^can't create \Q$file\E: /, 'store reports the error');
    like($m->dies(sub { $m->lock_store($data, $file) }), qr/^can't (?:write into|create) \Q$file\E: /, 'lock_store reports the error');
    like($m->dies(sub { $m->retrieve($file) }), qr/^can't open \Q$file\E: /, 'retrieve reports the error');
    like($m->dies(sub { $m->lock_retrieve($file) }), qr/^can't open \Q$file\E: /, 'lock_retrieve reports the error');
    like($m->dies(sub { $m->file_magic($file) }), qr/^Can't open '\Q$file\E': /, 'file_magic reports the error');
    like($m->dies(sub { $m->store($data, scratch('a'), 'b') }), qr/^wrong argument number/, 'store with too many arguments is an error');
    spew(scratch('empty'), '');
    my $copy;
    my $error = $m->dies(sub { $copy = $m->retrieve(scratch('empty')) });
    ok($error || !defined $copy, 'an empty file gives no value');
    ok($error, 'an empty file is an error') if $m->ours;
    spew(scratch('text'), "some text\n" x 10);
    like($m->dies(sub { $m->retrieve(scratch('text')) }), $m->says(qr/File is not a perl storable/, qr/no Storable file/), 'a file of another format is an error');
});

both_storable('$@ and $_ do not change' => sub {
    my ($m) = @_;
    my $file = scratch('left');
    local $_ = 'topic';
    $@ = "before\n";
    $m->store($data, $file);
    $m->retrieve($file);
    $m->thaw($m->freeze($data));
    is($@, "before\n", '$@ does not change');
    is($_, 'topic', '$_ does not change');
    local $, = '-';
    local $\ = "!\n";
    local $/ = 'x';
    $m->store($data, $file);
    is_deeply($m->retrieve($file), $data, 'record separators have no effect');
});

both_storable("a file whose replacement can't be frozen" => sub {
    my ($m) = @_;
    my $file = scratch('fails');
    $m->store($data, $file);
    ok($m->dies(sub { $m->store([sub { 1 }], $file) }), "data that can't be frozen is an error");
    # The original empties the file, fails, and then removes it. Icecore may keep the old contents.
    my $left = -e $file ? eval { $m->retrieve($file) } || 'a broken file' : $data;
    is_deeply($left, $data, 'a failed store leaves no broken file');
});

both_storable('file handles' => sub {
    my ($m) = @_;
    my $file = scratch('handle');
    for my $how (qw(store_fd nstore_fd)) {
        open my $out, '>:raw', $file or die $!;
        ok($m->$how($data, $out), "$how writes to a lexical handle");
        ok($m->$how([2], $out), "$how writes a second image");
        close $out or die $!;
        open my $in, '<:raw', $file or die $!;
        is_deeply($m->fd_retrieve($in), $data, 'fd_retrieve reads the first image');
        is_deeply($m->retrieve_fd($in), [2], 'retrieve_fd reads the next image');
        ok(eof $in, 'the handle is at its end');
        close $in;

        no strict 'refs';
        open OUT, '>:raw', $file or die $!;
        $m->$how($data, \*OUT);
        $m->$how([3], *OUT);
        close OUT;
        open IN, '<:raw', $file or die $!;
        is_deeply($m->fd_retrieve(\*IN), $data, 'fd_retrieve reads from a reference to a glob');
        is_deeply($m->fd_retrieve(*IN), [3], 'fd_retrieve reads from a glob');
        close IN;

        my $object = IO::File->new($file, 'w') or die $!;
        binmode $object;
        $m->$how($data, $object);
        $object->close;
        $object = IO::File->new($file, 'r');
        is_deeply($m->fd_retrieve($object), $data, 'fd_retrieve reads from an IO::File');
    }
    open my $closed, '<', $file or die $!;
    close $closed;
    like($m->dies(sub { $m->fd_retrieve($closed) }), qr/^not a valid file descriptor/, 'reading from a closed handle is an error');
    like($m->dies(sub { no warnings; $m->store_fd($data, $closed) }), qr/^not a valid file descriptor/, 'writing to a closed handle is an error');
    like($m->dies(sub { $m->store_fd('text', \*STDOUT) }), qr/^not a reference/, 'store_fd of a string is an error');
});

both_storable('handles in the middle of a file' => sub {
    my ($m) = @_;
    my $file = scratch('middle');
    open my $out, '>:raw', $file or die $!;
    print {$out} "a line before\n";
    $m->store_fd([1], $out);
    print {$out} "a line between\n";
    $m->nstore_fd({ two => 2 }, $out);
    print {$out} "a line after it\n";
    close $out or die $!;
    open my $in, '<:raw', $file or die $!;
    is(scalar <$in>, "a line before\n", 'a line before the image is read');
    is_deeply($m->fd_retrieve($in), [1], 'an image after a line is read');
    is(scalar <$in>, "a line between\n", 'fd_retrieve reads no byte after the image');
    is_deeply($m->fd_retrieve($in), { two => 2 }, 'a second image is read');
    is(scalar <$in>, "a line after it\n", 'a line after the image is read');
    my $at = tell $in;
    is($at, -s $file, 'the handle is at the end of the file');
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
    is($m->fd_retrieve($in)->{n}, $_, "image $_ is read from a pipe") for 1 .. 3;
    close $in;
    waitpid $child, 0;
    is($?, 0, 'the child process succeeds');
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
        return $? ? 'waits' : 'returns';
    };
    is($try->(sub { $m->lock_store([2], $file) }, 0.3), 'waits', 'lock_store waits for the lock');
    is_deeply($m->retrieve($file), [1], 'lock_store does not change the file while it waits');
    is($try->(sub { $m->retrieve($file) }), 'returns', 'retrieve does not wait');
    flock $handle, LOCK_SH or die $!;
    is($try->(sub { $m->lock_retrieve($file) }), 'returns', 'lock_retrieve does not wait for another reader');
    is($try->(sub { $m->lock_nstore([3], $file) }, 0.3), 'waits', 'lock_nstore waits for a reader');
    close $handle;
    is($try->(sub { $m->lock_store([4], $file) }), 'returns', 'lock_store returns when the lock is free');
    is_deeply($m->lock_retrieve($file), [4], 'lock_store writes the file');
});

both_storable('read_magic' => sub {
    my ($m) = @_;
    my $bytes = $m->freeze([1]);
    my $info  = $m->read_magic($bytes);
    is($info->{version}, "$info->{major}.$info->{minor}", 'read_magic gives version');
    is($info->{version_nv}, sprintf('%d.%03d', @$info{qw(major minor)}), 'read_magic gives version_nv');
    is($info->{netorder}, 0, 'read_magic gives netorder');
    is($info->{byteorder}, $Config{byteorder}, 'read_magic gives byteorder');
    is($info->{intsize}, $Config{intsize}, 'read_magic gives intsize');
    is($info->{longsize}, $Config{longsize}, 'read_magic gives longsize');
    is($info->{ptrsize}, $Config{ptrsize}, 'read_magic gives ptrsize');
    is($info->{nvsize}, $Config{nvsize}, 'read_magic gives nvsize');
    is($info->{hdrsize}, length($Config{byteorder}) + 7, 'read_magic gives hdrsize');
    ok(!exists $info->{file}, 'read_magic gives no file for an image in memory');
    is($info->{version_nv}, $m->BIN_WRITE_VERSION_NV, 'BIN_WRITE_VERSION_NV is the version of the image');
    cmp_ok($m->BIN_VERSION_NV, '>=', $m->BIN_WRITE_VERSION_NV, 'BIN_VERSION_NV is at least BIN_WRITE_VERSION_NV');

    $info = $m->read_magic($m->nfreeze([1]));
    is_deeply($info, { major => $info->{major}, minor => $info->{minor}, version => $info->{version},
        version_nv => $info->{version_nv}, netorder => 1, hdrsize => 2 }, 'network order');
    $info = $m->read_magic('pst0' . $bytes);
    is($info->{file}, 1, 'read_magic recognises a file');
    is($info->{hdrsize}, length($Config{byteorder}) + 11, 'hdrsize of a file includes the magic number');
    is($m->read_magic($bytes, 1), undef, 'read_magic gives undef for an image that must be a file');
    is($m->read_magic(substr $bytes, 0, 5), undef, 'read_magic gives undef for truncated data');
    is($m->read_magic("\xff\xff" . 'x' x 40), undef, 'read_magic gives undef for other data');
    is($m->read_magic(''), undef, 'read_magic gives undef for an empty string');
    $info = $m->read_magic('perl-store' . "\3");
    is($info->{version}, 1, 'read_magic gives version 1 for an old file') if $info;
});

both_storable('file_magic' => sub {
    my ($m) = @_;
    my $file = scratch('info');
    $m->nstore($data, $file);
    my $info = $m->file_magic($file);
    is($info->{file}, $file, 'file_magic gives the name of the file');
    is($info->{netorder}, 1, 'file_magic gives netorder');
    is($info->{hdrsize}, 6, 'file_magic gives hdrsize');
    $m->store($data, $file);
    is($m->file_magic($file)->{byteorder}, $Config{byteorder}, 'file_magic gives byteorder of a native file');
    spew($file, 'something else');
    is($m->file_magic($file), undef, 'file_magic gives undef for a file of another format');
});

both_storable('classes that inherit from the module' => sub {
    my ($m) = @_;
    no strict 'refs';
    @Stored::Object::ISA = ($m->name);
    my $object = bless { a => 1 }, 'Stored::Object';
    my $file   = scratch('object');
    ok($object->store($file), 'store works as a method');
    my $copy = $m->retrieve($file);
    isa_ok($copy, 'Stored::Object');
    is($copy->{a}, 1, 'the stored value is the object, not a reference to it');
    is($m->thaw($object->freeze)->{a}, 1, 'freeze works as a method');
});

done_testing;
