# The examples run, and print the expected output in the files next to them.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use Both;
BEGIN { ours_only() }
use Run;

my @examples = glob "$FindBin::Bin/../examples/*.pl";
plan skip_all => 'the examples are not here' unless @examples;

for my $script (@examples) {
    my ($name) = $script =~ m{([^/]+)$};
    (my $expected = $script) =~ s/pl$/out/;
    my $code = slurp($script);
    ok(-e $expected, "$name: its output is written down") or next;
    SKIP: {
        my ($needs) = $code =~ /^use v(5\.\d+)/m;
        skip("$name needs perl $needs", 2) if $needs && $] < sprintf '%d.%03d', split /\./, $needs;
        my ($output, $status) = run_perl($code);
        is($output, slurp($expected), "$name prints the expected output");
        is($status, 0, "$name exits with status 0");
    }
}

done_testing;
