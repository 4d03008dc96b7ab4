# References in rings, in every format: each call ends, with bytes or an error. A child process
# does it, with little memory and time, because a writer that follows a ring for ever can't be
# stopped from within.

use strict;
use warnings;
use lib 't/lib';

use Test::More;
use Both;
use Run qw(run_perl);
BEGIN { ours_only() }

my $code = <<'END';
    use strict;
    use warnings;
    if (!$ENV{ICECORE_RINGS}++) {
        exec 'sh', '-c', 'ulimit -v 2000000; exec "$@"', 'sh', $^X, (map { "-I$_" } @INC), $0;
    }
    require Icecore;
    $SIG{__WARN__} = sub { };
    alarm 120;
    srand 1;

    # A few containers and references that refer to each other, some of them objects.
    sub graph {
        my @all = map { my $kind = int rand 3; my $variable; $kind == 0 ? [] : $kind == 1 ? {} : \$variable } 0 .. 1 + rand 4;
        my $any = sub { rand() < 0.8 ? $all[ rand @all ] : rand() < 0.5 ? 7 : \(my $other = $all[ rand @all ]) };
        for my $one (@all) {
            if    (ref $one eq 'ARRAY') { push @$one, $any->() for 0 .. rand 3 }
            elsif (ref $one eq 'HASH')  { $one->{$_} = $any->() for 'a' .. ('a', 'b', 'c')[ rand 3 ] }
            else                        { $$one = $any->() }
        }
        for my $one (@all) { bless $one, 'Foo' if rand() < 0.2 }
        return $all[0];
    }

    my ($x, $y);
    $x = \$y;
    $y = \$x;
    my $self;
    $self = \$self;
    my @chain = map { my $variable; \$variable } 1 .. 10;
    ${ $chain[$_] } = $chain[ ($_ + 1) % 10 ] for 0 .. 9;
    my @values = ($self, [$self], { a => $self }, $x, [$x, $y], $chain[3], \@chain, bless(\(my $object = $self), 'Foo'), map { graph() } 1 .. 300);
    for my $format (qw(php php-session igbinary marshal var-export json json:typed ndjson join dumper storable sereal), 'pack:template="(N/A*)*"') {
        my ($written, $longest) = (0, 0);
        for my $value (@values) {
            my $bytes = eval { Icecore::encode($value, $format) };
            $written++, $longest = length $bytes > $longest ? length $bytes : $longest if defined $bytes;
        }
        my $outcome = eval { Icecore::encode($self, $format); 1 } ? 'is written' : $@ =~ /^the target format can't represent this/ ? 'is refused' : $@;
        print "$format: $outcome, ", $longest < 10_000 ? 'short' : "$longest bytes", "\n";
    }
END
my $output = run_perl($code);
is($output, <<'END', 'processing of each ring ends');
php: is refused, short
php-session: is refused, short
igbinary: is written, short
marshal: is written, short
var-export: is refused, short
json: is refused, short
json:typed: is written, short
ndjson: is refused, short
join: is refused, short
dumper: is written, short
storable: is written, short
sereal: is written, short
pack:template="(N/A*)*": is refused, short
END

done_testing;
