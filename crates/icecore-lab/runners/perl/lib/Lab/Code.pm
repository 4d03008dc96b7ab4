package Lab::Code;
# Turns the expressions of a runner into the subs that load, check and time call.
use v5.30;
use warnings;

use Lab::Launch;
use Time::HiRes ();

# The subs of a runner for one value:
#   loops   by operation: executes it this number of times, returns the seconds
#   sample  writes once; what is read afterwards is that
#   keep    copies what was written into a file, gives its size
#   once    reads what was written
sub compile {
    my ($runner, $value, $folder, $to_file) = @_;
    my %at = (file => "$folder/sample", json => "$folder/json", program => "$folder/to-json.pl");
    my %say = expressions($runner);
    my %code = $to_file ? on_file(\%say) : in_memory(\%say);
    $code{sample} = $to_file ? "sub { $say{store}; return }" : "sub { \$bytes = $say{write}; return }";
    my $subs = make(\%code, $say{prepare}, $$value, $at{file}, $runner->{names});
    $subs->{keep}  = $to_file ? sub { return copy($at{file}, $_[0]) } : sub { return keep($subs->{bytes}->(), $_[0]) };
    $subs->{loops} = { map { $_ => delete $subs->{$_} } grep { exists $subs->{$_} } 'write', 'read', 'round-trip' };
    my $ready;
    $subs->{loops}{'to-json'} = sub {
        my ($times) = @_;
        if (!$ready++) {
            $subs->{store}->();
            spew($at{program}, program(\%say, $runner));
        }
        return Lab::Launch::run($times, $^X, @at{qw(program file json)});
    } if $runner->{json};
    return $subs;
}

# Reading and writing a file as a program would do it, where the module has no call
# for it.
sub expressions {
    my ($runner) = @_;
    my ($write, $read) = @$runner{qw(write read)};
    my $slurp = '(do { open my $in, q(<:raw), $file or die "$file: $!\n"; read $in, my $bytes, -s $in; %s })';
    my $spew  = '(do { open my $out, q(>:raw), $file or die "$file: $!\n"; print {$out} %s; close $out or die "$file: $!\n" })';
    return (
        prepare  => $runner->{prepare} // '',
        write    => $write // 'undef',
        read     => $read,
        store    => $runner->{store}    // sprintf($spew,  $write // 'undef'),
        retrieve => $runner->{retrieve} // sprintf($slurp, $read),
    );
}

sub in_memory {
    my ($say) = @_;
    return (
        write        => loop("my \$made = $say->{write};"),
        read         => loop("my \$made = $say->{read};"),
        'round-trip' => loop("my \$bytes = $say->{write}; my \$made = $say->{read};"),
        once         => "sub { return scalar $say->{read} }",
        store        => "sub { $say->{store}; return }",
    );
}

sub on_file {
    my ($say) = @_;
    return (
        write        => loop("$say->{store};"),
        read         => loop("my \$made = $say->{retrieve};"),
        'round-trip' => loop("$say->{store}; my \$made = $say->{retrieve};"),
        once         => "sub { return scalar $say->{retrieve} }",
        store        => "sub { $say->{store}; return }",
    );
}

sub loop {
    my ($body) = @_;
    return "sub { my \$times = \$_[0]; my \$began = clock_gettime(CLOCK_MONOTONIC); for (1 .. \$times) { $body } return clock_gettime(CLOCK_MONOTONIC) - \$began }";
}

# Compiles the subs in the sight of $value, $bytes, $file and @names.
sub make {
    my ($code, $prepare, $value, $file, $names) = @_;
    my $subs = join ",\n", map {"'$_' => $code->{$_}"} sort keys %$code;
    my $source = <<"END";
package Lab::Made;
no warnings;
BEGIN { Time::HiRes->import(qw(clock_gettime CLOCK_MONOTONIC)) }
my (\$bytes, \@names) = (undef, \@\$names);
$prepare;
+{
bytes => sub { return \$bytes },
let_go => sub { undef \$value; return },
$subs
}
END
    my $made = eval $source;
    die "$@\nin:\n$source" if !$made;
    return $made;
}

# What a program would be that turns the file into JSON. It loads what it needs, and
# nothing of the lab.
sub program {
    my ($say, $runner) = @_;
    return join "\n", (map {"use $_ ();"} @{ $runner->{modules} }, $runner->{json}), <<"END";
my (\$file, \$to) = \@ARGV;
$say->{prepare};
my \$value = $say->{retrieve};
open my \$json, '>:raw', \$to or die "\$to: \$!\\n";
print {\$json} $runner->{json}->new->utf8->allow_nonref->encode(\$value);
close \$json or die "\$to: \$!\\n";
END
}

# Characters beyond a byte have no bytes yet: as UTF-8.
sub keep {
    my ($bytes, $to) = @_;
    utf8::encode($bytes) if utf8::is_utf8($bytes) && !utf8::downgrade($bytes, 1);
    return spew($to, $bytes);
}

sub copy {
    my ($from, $to) = @_;
    open my $in, '<:raw', $from or die "$from: $!\n";
    read $in, my $bytes, -s $in;
    return spew($to, $bytes);
}

sub spew {
    my ($to, $bytes) = @_;
    open my $out, '>:raw', $to or die "$to: $!\n";
    print {$out} $bytes;
    close $out or die "$to: $!\n";
    return length $bytes;
}

1;
