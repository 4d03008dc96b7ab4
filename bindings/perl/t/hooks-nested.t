# Hooks that thaw and freeze their contents: at least as deep as with the original, and beyond
# that an error instead of a crash. Also JSON of data that contains itself.

use v5.30;
use warnings;

use Test::More;

# Returns the output of a program in a new process with a limited native stack.
sub output_of {
    my ($program, @arguments) = @_;
    open my $in, '-|', 'sh', '-c', 'ulimit -s 8192 && ulimit -v 8000000; exec "$@"', 'sh', $^X, (map { "-I$_" } @INC), '-e', $program, @arguments or die $!;
    my $text = do { local $/; <$in> } // '';
    close $in;
    return $? ? "it ends with $?: $text" : $text;
}

my $thaw = <<'PERL';
use Icecore::Storable qw(freeze thaw dclone); use Icecore::Sereal qw(encode_sereal decode_sereal);
my ($levels, $how) = @ARGV;
our ($payload, $depth) = ('x', 0);
sub Held::STORABLE_freeze { return $payload }
sub Held::STORABLE_thaw { $depth++; $_[0]{in} = thaw($_[2], classes => ['Held']) if length $_[2] > 1; return }
sub Held::FREEZE { return $payload }
sub Held::THAW { $depth++; return bless { in => length $_[2] > 1 ? decode_sereal($_[2], { classes => ['Held'] }) : 1 }, 'Held' }
for (1 .. $levels) { $payload = $how eq 'sereal' ? encode_sereal((bless {}, 'Held'), { freeze_callbacks => 1 }) : freeze(bless {}, 'Held') }
my $done = eval { $how eq 'sereal' ? decode_sereal($payload, { classes => ['Held'] }) : thaw($payload, classes => ['Held']) };
print $done ? "fine, $depth" : "no: $@";
PERL
like(output_of($thaw, 4000, 'storable'), qr/\Afine, 4000/, '4,000 nested hooks of Storable');
like(output_of($thaw, 5000, 'storable'), qr/\Afine, 5000/, '5,000 nested hooks of Storable, as in the original');
like(output_of($thaw, 8000, 'storable'), qr/\Ano: Max\. recursion depth with nested refs exceeded/, '8,000 nested hooks of Storable are an error');
like(output_of($thaw, 2500, 'sereal'), qr/\Afine, 2500/, '2,500 nested hooks of Sereal');
like(output_of($thaw, 8000, 'sereal'), qr/\Ano: .*recursion depth/s, '8,000 nested hooks of Sereal are an error');

my $freeze = <<'PERL';
use Icecore::Storable qw(freeze dclone); use Icecore::Sereal qw(encode_sereal); use Icecore::JSON;
my ($max_depth, $how) = @ARGV;
our $depth = 0;
my %functions = (storable => sub { freeze($_[0]) }, sereal => sub { encode_sereal($_[0], { freeze_callbacks => 1 }) },
    json => sub { Icecore::JSON->new->convert_blessed->encode($_[0]) }, dclone => sub { dclone($_[0]) });
my $call_again = sub { return $depth++ < $max_depth ? $functions{$how}->(bless {}, 'Held') : 'x' };
sub Held::STORABLE_freeze { my $text = $call_again->(); return ref $text ? 'x' : $text }
sub Held::STORABLE_thaw { return }
sub Held::FREEZE { return $call_again->() }
sub Held::TO_JSON { return $call_again->() }
print eval { $call_again->(); 1 } ? "fine, $depth" : "no: $@";
PERL
for my $how (qw(storable sereal json dclone)) {
    # Each level of text is escaped again, so there are fewer for JSON.
    my $levels = $how eq 'json' ? 10 : 1000;
    like(output_of($freeze, $levels, $how), qr/\Afine/, "$how: hooks that freeze again");
    like(output_of($freeze, 1_000_000, $how), qr/\Ano: Max\. recursion depth/, "$how: endless recursion of hooks is an error");
}

my $circle = <<'PERL';
use Icecore::JSON;
my $array = [1]; push @$array, [2, { a => $array }];
my $hash = { a => [] }; push @{ $hash->{a} }, 1, $hash;
for my $value ($array, $hash) {
    for my $json (map { $_->max_depth(2**31) } Icecore::JSON->new, Icecore::JSON->new->canonical, Icecore::JSON->new->pretty) {
        print eval { $json->encode($value) } ? "encoded\n" : $@;
    }
}
my $depth = [];
$depth = [$depth] for 1 .. 100_000;
print length(Icecore::JSON->new->max_depth(2**31)->encode($depth)), "\n";
PERL
like(output_of($circle), qr/\A(?:json text or perl structure exceeds maximum nesting level .*contains itself.*\n){6}200002\n\z/, 'encoding JSON of a value that contains itself is an error');

done_testing;
