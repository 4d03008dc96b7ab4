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

sub _store {
    my ($image, $lock, $ref, $file, @more) = @_;
    Carp::croak('not a reference') if !ref $ref;
    Carp::croak('wrong argument number') if @more || !defined $file;
    my $bytes = $image->($ref);
    local ($, , $\);
    my $out;
    if ($lock) {
        sysopen $out, $file, Fcntl::O_WRONLY() | Fcntl::O_CREAT() or Carp::croak("can't create $file: $!");
        flock $out, Fcntl::LOCK_EX()                            or Carp::croak("can't get exclusive lock on $file: $!");
        truncate $out, 0                                        or Carp::croak("can't truncate $file: $!");
    }
    else {
        open $out, '>', $file or Carp::croak("can't create $file: $!");
    }
    binmode $out;
    print {$out} $bytes or _drop($file, $lock, "can't write to $file: $!");
    close $out          or _drop($file, $lock, "can't store to $file: $!");
    return 1;
}

sub _drop {
    my ($file, $lock, $why) = @_;
    unlink $file if !$lock;
    Carp::croak($why);
}

sub store_fd  { return _store_fd(\&_image,  @_) }
sub nstore_fd { return _store_fd(\&_nimage, @_) }

sub _store_fd {
    my ($image, $ref, $handle, @more) = @_;
    Carp::croak('not a reference')    if !ref $ref;
    Carp::croak('too many arguments') if @more;
    my $fd = fileno $handle;
    Carp::croak('not a valid file descriptor') if !defined $fd;
    my $bytes = $image->($ref);
    local ($, , $\);
    print {$handle} $bytes or Carp::croak("can't store to the handle: $!");
    my $old = select $handle;
    { local $| = 1; }
    select $old;
    $handle->flush if $handle->can('flush');
    return 1;
}

sub retrieve      { my ($file, @options) = @_; return _retrieve($file, 0, @options) }
sub lock_retrieve { my ($file, @options) = @_; return _retrieve($file, 1, @options) }

sub _retrieve {
    my ($file, $lock, @options) = @_;
    open my $in, '<', $file or Carp::croak("can't open $file: $!");
    binmode $in;
    flock $in, Fcntl::LOCK_SH() or Carp::croak("can't get shared lock on $file: $!") if $lock;
    local $/ = undef;
    my $bytes = <$in>;
    close $in or Carp::croak("can't read $file: $!");
    $bytes //= '';
    Carp::croak("Magic number checking on storable file failed: $file has only " . length($bytes) . ' bytes') if length $bytes < 4;
    Carp::croak("File is not a perl storable: $file does not begin with pst0") if $bytes !~ /\A(?:pst0|perl-store)/;
    return thaw($bytes, @options);
}

sub retrieve_fd { goto &fd_retrieve }

# Reads one document from a handle and leaves what comes behind it there.
sub fd_retrieve {
    my ($handle, @options) = @_;
    Carp::croak('not a valid file descriptor') if !defined fileno $handle;
    my ($bytes, $tried) = ('', 0);
    while (1) {
        my $full = _more($handle, \$bytes);
        Carp::croak('Icecore: the handle ends before the document does') if !defined $full && length $bytes == $tried;
        # Each try costs what is there: so only when it has doubled, or when
        # there may be no more and reading on would wait for it.
        next if $full && length $bytes < 2 * $tried && _is_ready($handle);
        $tried = length $bytes;
        my $taken = _probe($bytes);
        next if $taken < 0;
        _unread($handle, substr $bytes, $taken) if $taken < length $bytes;
        return thaw(substr($bytes, 0, $taken), @options);
    }
}

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
    $file = "./$file" if $file !~ m{\A/};
    my $info = read_magic($bytes, $file);
    return $info;
}

sub read_magic {
    my ($bytes, $file) = @_;
    my %info;
    my $net_order;
    my $at = 0;
    if ($bytes =~ s/\A(pst0|perl-store)//) {
        $info{file} = $file || 1;
        $at = length $1;
        $info{hdrsize} = $at;
        my $old = $1 eq 'perl-store';
        my $byte = unpack 'C', $bytes;
        if ($old && defined $byte && $byte > 1) {
            $info{version}    = -1;
            $info{version_nv} = -1;
            $info{major}      = -1;
            $net_order        = 0;
        }
    }
    else {
        return undef if $file || !length $bytes;
    }
    if (!defined $info{version}) {
        return undef if !length $bytes;
        my $byte = unpack 'C', substr $bytes, 0, 1, '';
        $at++;
        $net_order = $byte & 1;
        my $major = $byte >> 1;
        return undef if $major > 4;
        $info{major} = $major;
        if ($major > 1) {
            return undef if !length $bytes;
            $info{minor} = unpack 'C', substr $bytes, 0, 1, '';
            $at++;
        }
        $info{version}    = defined $info{minor} ? "$major.$info{minor}" : "$major";
        $info{version_nv} = defined $info{minor} ? sprintf '%d.%03d', $major, $info{minor} : $major;
        $info{version_nv} += 0 if !defined $info{minor};
    }
    $info{netorder} = $net_order;
    if (!$net_order) {
        return undef if !length $bytes;
        my $len = unpack 'C', substr $bytes, 0, 1, '';
        $at++;
        return undef if length $bytes < $len + 3 || $len > 8;
        $info{byteorder} = substr $bytes, 0, $len, '';
        return undef if $info{byteorder} =~ /[^0-9]/;
        @info{qw(intsize longsize ptrsize)} = unpack 'C3', substr $bytes, 0, 3, '';
        $at += $len + 3;
        if ($info{version_nv} >= 2.002) {
            return undef if !length $bytes;
            $info{nvsize} = unpack 'C', substr $bytes, 0, 1, '';
            $at++;
        }
    }
    $info{hdrsize} = $at;
    return \%info;
}

sub CAN_FLOCK { return 1 }

# The versions of the format that are read and written.
sub BIN_MAJOR            { return 2 }
sub BIN_MINOR            { return $] >= 5.037 ? 12 : 11 }
sub BIN_WRITE_MINOR      { return 11 }
sub BIN_VERSION_NV       { return sprintf('%d.%03d', BIN_MAJOR(), BIN_MINOR()) + 0 }
sub BIN_WRITE_VERSION_NV { return sprintf('%d.%03d', BIN_MAJOR(), BIN_WRITE_MINOR()) + 0 }

# What file(1) has to know, so that it knows Storable's files.
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

# Puts these functions under the names of Storable's, for code that can't be
# changed. The variables are one and the same from then on.
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
