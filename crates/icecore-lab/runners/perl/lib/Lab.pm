package Lab;
# What the runners of Perl share: the protocol. A runner says in perl expressions how
# to write and to read; the loops that are timed are compiled from them, so that they
# hold the very call that a program would hold.
#
#   use lib $ENV{LAB_LIB};
#   use Lab;
#   Lab::run(name => 'Storable', needs => ['Storable'],
#       write => 'Storable::freeze($value)', read => 'Storable::thaw($bytes)');
#
#   name      for people
#   needs     modules, each a name or [name, the command that installs it]; the version
#             of the runner is that of the first, or perl's
#   write     an expression of $value: the bytes
#   read      an expression of $bytes: the value
#   store     an expression of $value and $file, if not write into a file
#   retrieve  an expression of $file, if not read from a file
#   prepare   statements that come first: what is made once and used by all calls
#   carries   a sub of the value: why it can't be carried, or nothing; then a hash with
#             write, read and the names (@names in expressions) that this value needs
#   json      the module that to-json encodes with, JSON::XS if not said; undef if the
#             runner has no to-json
#   role      'floor' for one that only builds values: it needs no write
use v5.30;
use warnings;

use Lab::Code;
use Lab::Launch;
use Lab::Memory;

my %runner;
my %loaded;

my %answers = (
    hello  => \&hello,
    load   => \&load,
    check  => \&check,
    time   => \&take_time,
    memory => sub { return { steps => Lab::Memory::steps(@loaded{qw(code value)}) } },
);

# Answers the lab until it says quit. What the modules print goes to standard error.
sub run {
    %runner = @_;
    require JSON::PP;
    my $json = JSON::PP->new->utf8->canonical;
    open my $out, '>&', \*STDOUT or die "standard output: $!\n";
    open STDOUT, '>&', \*STDERR or die "standard output: $!\n";
    $out->autoflush(1);
    while (defined(my $line = <STDIN>)) {
        my $answer = eval {
            my $request = $json->decode($line);
            return if $request->{do} eq 'quit';
            my $do = $answers{ $request->{do} } or die "there is no $request->{do}\n";
            $do->($request);
        };
        $answer //= $@ ne '' ? { error => text_of($@) } : last;
        print {$out} $json->encode($answer), "\n";
    }
    return;
}

sub text_of {
    my ($error) = @_;
    my $text = "$error";
    $text =~ s/ at \(eval \d+\) line \d+\.?\n?\z|\n\z//;
    $text =~ s/=\w+\(0x[0-9a-f]+\)//g;
    return $text;
}

sub hello {
    my $missing = missing();
    return $missing if $missing;
    my $floor   = ($runner{role} // '') eq 'floor';
    my $json    = json_module();
    my $runtime = sprintf '%vd', $^V;
    my ($first) = modules();
    return {
        protocol   => 1,
        name       => $runner{name},
        version    => $first ? '' . $first->VERSION : $runtime,
        runtime    => $runtime,
        reference  => 'storable',
        operations => $floor ? ['read'] : ['write', 'read', 'round-trip', $json && loads($json) ? 'to-json' : ()],
        $floor ? (role => 'floor') : (),
    };
}

# Loads the modules; what is missing and how it is installed, or nothing.
sub missing {
    for my $need (@{ $runner{needs} // [] }) {
        my ($module, $install) = ref $need ? @$need : ($need, 'apt-get install perl');
        loads($module) or return { missing => "the Perl module $module", install => $install };
    }
    return;
}

sub modules { return map { ref ? $_->[0] : $_ } @{ $runner{needs} // [] } }

sub json_module { return exists $runner{json} ? $runner{json} : $runner{role} ? undef : 'JSON::XS' }

sub loads {
    my ($module) = @_;
    return eval "require $module; 1";
}

# Memory is looked at between the steps, as it may be asked for later.
sub load {
    my ($request) = @_;
    my $missing = missing();
    die "$missing->{missing} is missing\n" if $missing;
    require Storable;
    require $request->{code} if defined $request->{code};
    Lab::Launch::prepare() if json_module();
    Lab::Memory::begin();
    my $value = Storable::retrieve($request->{file}) // die "$request->{file}: no Storable file\n";
    $value = $$value if ref $value eq 'SCALAR';
    Lab::Memory::note('data');
    my %expressions = (%runner, names => []);
    if (my $carries = $runner{carries}) {
        my $found = $carries->($value);
        return { cannot => $found } if !ref $found;
        @expressions{ keys %$found } = values %$found;
    }
    %loaded = (value => \$value, floor => $runner{role}, folder => $request->{folder});
    $loaded{code} = Lab::Code::compile({ %expressions, modules => [modules()], json => json_module() }, \$value, $request->{folder}, $request->{medium} eq 'file');
    if (!eval { $loaded{code}{sample}->() if !$runner{role}; 1 }) { return { cannot => text_of($@) } }
    Lab::Memory::note('written');
    return { ok => JSON::PP::true() };
}

sub check {
    my ($request) = @_;
    my $code = loaded();
    $code->{sample}->();
    my $size  = $code->{keep}->($request->{bytes});
    my $value = $code->{once}->();
    Storable::nstore(ref $value ? $value : \$value, $request->{answer});
    return { size => $size };
}

sub take_time {
    my ($request) = @_;
    my $loop = loaded()->{loops}{ $request->{operation} } or die "there is no operation $request->{operation}\n";
    return { ns => sprintf('%.0f', 1e9 * $loop->($request->{times})) + 0 };
}

sub loaded { return $loaded{code} // die "nothing is loaded\n" }

1;
