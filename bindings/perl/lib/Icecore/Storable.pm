package Icecore::Storable;
use v5.30;
use warnings;

use Carp  ();
use Fcntl ();
use Icecore;

our $VERSION   = $Icecore::VERSION;
our @EXPORT    = qw(store retrieve);
our @EXPORT_OK = qw(
    nstore store_fd nstore_fd fd_retrieve retrieve_fd
    freeze nfreeze thaw dclone
    lock_store lock_nstore lock_retrieve
    file_magic read_magic
    BLESS_OK TIE_OK FLAGS_COMPAT
    stack_depth stack_depth_hash
);

use constant { BLESS_OK => 2, TIE_OK => 4, FLAGS_COMPAT => 2 | 4 };

our ($canonical, $forgive_me, $Deparse, $Eval);
our $flags = FLAGS_COMPAT;
our ($recursion_limit, $recursion_limit_hash);
our $downgrade_restricted = 1;
our $accept_future_minor  = 1;
our $drop_utf8;
our ($DEBUGME, $Storable_deparse);

*import = \&Icecore::_import_names;

sub stack_depth()      { return $recursion_limit // 10_000 }
sub stack_depth_hash() { return $recursion_limit_hash // 10_000 }

sub store       { return _store(\&_image,  0, @_) }
sub nstore      { return _store(\&_nimage, 0, @_) }
sub lock_store  { return _store(\&_image,  1, @_) }
sub lock_nstore { return _store(\&_nimage, 1, @_) }

# Writes a file. `$image` returns the bytes of a value, `$lock` is true for a locked file.
sub _store {
    my ($image, $lock, $ref, $file, @more) = @_;
    Carp::croak('not a reference') if !ref $ref;
    Carp::croak('wrong argument number') if @more || !defined $file;
    my $bytes = $image->($ref);
    local ($, , $\);
    my $out;
    if ($lock) {
        sysopen $out, $file, Fcntl::O_WRONLY() | Fcntl::O_CREAT() or Carp::croak("can't create $file: $!");
        flock $out, Fcntl::LOCK_EX() or Carp::croak("can't get exclusive lock on $file: $!");
        truncate $out, 0             or Carp::croak("can't truncate $file: $!");
    }
    else {
        open $out, '>', $file or Carp::croak("can't create $file: $!");
    }
    binmode $out;
    print {$out} $bytes or _croak_after_write($file, $lock, "can't write to $file: $!");
    close $out          or _croak_after_write($file, $lock, "can't store to $file: $!");
    return 1;
}

# Dies after a failed write. Removes the incomplete file, unless it is locked.
sub _croak_after_write {
    my ($file, $lock, $message) = @_;
    unlink $file if !$lock;
    Carp::croak($message);
}

sub store_fd  { return _store_fd(\&_image,  @_) }
sub nstore_fd { return _store_fd(\&_nimage, @_) }

# Writes to a handle, and flushes it.
sub _store_fd {
    my ($image, $ref, $handle, @more) = @_;
    Carp::croak('not a reference')    if !ref $ref;
    Carp::croak('too many arguments') if @more;
    $handle = _handle($handle);
    my $bytes = $image->($ref);
    local ($, , $\);
    print {$handle} $bytes or Carp::croak("can't store to the handle: $!");
    # perl flushes the selected handle when $| becomes true.
    my $old = select $handle;
    { local $| = 1; }
    select $old;
    $handle->flush if $handle->can('flush');
    return 1;
}

# Returns the handle for an argument: a glob, an object, or a name. A name belongs to the package of the
# caller, which is the first package in the call stack that is not this one.
sub _handle {
    my ($handle) = @_;
    if (defined $handle && !ref $handle && ref \$handle ne 'GLOB') {
        my ($package) = grep { defined && $_ ne __PACKAGE__ } map { scalar caller $_ } 1 .. 3;
        require Symbol;
        $handle = Symbol::qualify_to_ref($handle, $package // 'main');
    }
    Carp::croak('not a valid file descriptor') if !defined $handle || !defined fileno $handle;
    return $handle;
}

sub retrieve      { my ($file, @options) = @_; return _retrieve($file, 0, @options) }
sub lock_retrieve { my ($file, @options) = @_; return _retrieve($file, 1, @options) }

# Reads a file.
sub _retrieve {
    my ($file, $lock, @options) = @_;
    open my $in, '<', $file or Carp::croak("can't open $file: $!");
    binmode $in;
    flock $in, Fcntl::LOCK_SH() or Carp::croak("can't get shared lock on $file: $!") if $lock;
    local $/ = undef;
    my $bytes = <$in>;
    close $in or Carp::croak("can't read $file: $!");
    $bytes //= '';
    # As in Storable, data from a named file is not tainted.
    ($bytes) = $bytes =~ /\A(.*)\z/s if ${^TAINT};
    Carp::croak("Magic number checking on storable file failed: $file has only " . length($bytes) . ' bytes')
        if length $bytes < 4;
    Carp::croak("File is not a perl storable: $file does not begin with pst0")
        if $bytes !~ /\A(?:pst0|perl-store)/;
    return thaw($bytes, @options);
}

sub retrieve_fd { goto &fd_retrieve }

# Reads one document from a handle and leaves the bytes after it there.
sub fd_retrieve {
    my ($handle, @options) = @_;
    $handle = _handle($handle);
    my ($bytes, $tried_length) = ('', 0);
    while (1) {
        my $buffer_was_full = _read_buffered($handle, \$bytes);
        Carp::croak('Icecore: the handle ends before the document does')
            if !defined $buffer_was_full && length $bytes == $tried_length;
        # The time for a search for the end of the document is proportional to the data. So the search runs
        # only when the data has doubled, or when reading more bytes would wait for the writer.
        next if $buffer_was_full && length $bytes < 2 * $tried_length && _is_ready($handle);
        $tried_length = length $bytes;
        my $length = _document_length($bytes);
        next if $length < 0;
        _unread($handle, substr $bytes, $length) if $length < length $bytes;
        return thaw(substr($bytes, 0, $length), @options);
    }
}

# Returns true if a handle can be read without waiting.
sub _is_ready {
    my $fd = fileno $_[0];
    return 1 if $fd < 0;
    vec(my $ready = '', $fd, 1) = 1;
    return select $ready, undef, undef, 0;
}

sub file_magic {
    my ($file) = @_;
    open my $in, '<', $file or die qq(Can't open '$file': $!);
    binmode $in;
    read $in, my $bytes, 1024;
    close $in or die qq(Can't read '$file': $!);
    return read_magic($bytes, $file || "./$file");
}

# Returns what the header of an image says; undef if the bytes are not an image. With a file name they
# have to begin with the magic number of a file.
sub read_magic {
    my ($bytes, $file) = @_;
    my $size = length $bytes;
    my %info;
    my $netorder;
    if ($bytes =~ s/\A(pst0|perl-store)//) { $info{file} = $file || 1 }
    elsif ($file)                           { return undef }
    return undef if !length $bytes;
    if (($1 // '') eq 'perl-store' && ord $bytes > 1) {
        # The first version had no version number; the length of the byte order comes next.
        @info{qw(version version_nv)} = (-1, -1);
        $netorder = 0;
    }
    else {
        my $byte = ord substr $bytes, 0, 1, '';
        $netorder = $byte & 1;
        $info{major} = $byte >> 1;
        return undef if $info{major} > 4;
        $info{version} = $info{version_nv} = $info{major};
        if ($info{major} > 1) {
            return undef if !length $bytes;
            $info{minor}      = ord substr $bytes, 0, 1, '';
            $info{version}    = "$info{major}.$info{minor}";
            $info{version_nv} = sprintf '%d.%03d', @info{qw(major minor)};
        }
    }
    $info{netorder} = $netorder;
    if (!$netorder) {
        my $digits = length $bytes ? ord substr $bytes, 0, 1, '' : 0;
        return undef if ($digits != 4 && $digits != 8) || length $bytes < $digits;
        $info{byteorder} = substr $bytes, 0, $digits, '';
        @info{qw(intsize longsize ptrsize)} = unpack 'C3', $bytes;
        $bytes = substr $bytes, length $bytes < 3 ? length $bytes : 3;
        if ($info{version_nv} >= 2.002) {
            return undef if !length $bytes;
            $info{nvsize} = ord substr $bytes, 0, 1, '';
        }
    }
    $info{hdrsize} = $size - length $bytes;
    return \%info;
}

sub CAN_FLOCK { return 1 }

# The versions of the format that are read and written.
sub BIN_MAJOR            { return 2 }
sub BIN_MINOR            { return $] >= 5.037 ? 12 : 11 }
sub BIN_WRITE_MINOR      { return 11 }
sub BIN_VERSION_NV       { return sprintf('%d.%03d', BIN_MAJOR(), BIN_MINOR()) + 0 }
sub BIN_WRITE_VERSION_NV { return sprintf('%d.%03d', BIN_MAJOR(), BIN_WRITE_MINOR()) + 0 }

# Prints the rules with which file(1) recognizes Storable's files.
sub show_file_magic {
    print <<'MAGIC';
# Files of Perl's Storable, for a local magic(5) file.
0	string	perl-store	Perl Storable data, before version 0.7
0	string	pst0	Perl Storable data
>4	byte&1	1	\b, network order
>4	byte&1	0	\b, native
>4	byte&0xfe	4	\b, major 2
>5	byte	x	\b, minor %d
MAGIC
    return;
}

# Replaces the functions of Storable by these, for code that can't be changed. From then on, both
# modules have the same variables.
sub _replace {
    no warnings qw(redefine prototype once);
    no strict 'refs';
    require Storable;
    for my $name (qw(canonical forgive_me Deparse Eval flags recursion_limit recursion_limit_hash accept_future_minor
        downgrade_restricted drop_utf8))
    {
        *{"Icecore::Storable::$name"} = *{"Storable::$name"};
    }
    $flags = FLAGS_COMPAT if !defined $flags;
    for my $name (@EXPORT, @EXPORT_OK, qw(is_storing is_retrieving last_op_in_netorder)) {
        next if $name eq uc $name || !defined &{"Icecore::Storable::$name"};
        *{"Storable::$name"} = \&{"Icecore::Storable::$name"};
    }
    return;
}

1;
