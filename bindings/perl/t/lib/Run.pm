package Run;

# Runs perl code in a process of its own, to test the state of a whole process: which classes it
# allows, what it replaced, what happens when it ends.

use strict;
use warnings;

use Exporter   'import';
use File::Temp ();

our @EXPORT = qw(run_perl);

# Returns its output, with warnings and errors, and how it ended.
sub run_perl {
    my ($code, @arguments) = @_;
    my $script = File::Temp->new(SUFFIX => '.pl');
    print {$script} $code;
    close $script or die "$script: $!";
    my $output = File::Temp->new;
    my $child  = fork;
    die "no fork: $!" unless defined $child;
    if (!$child) {
        open STDOUT, '>&', $output or die $!;
        open STDERR, '>&', $output or die $!;
        exec $^X, (map { "-I$_" } grep { !ref } @INC), "$script", @arguments;
        die "no exec: $!";
    }
    waitpid $child, 0;
    my $status = $?;
    seek $output, 0, 0;
    local $/;
    my $text = <$output>;
    $text =~ s/ at \Q$script\E line \d+\.?$//gm;
    return wantarray ? ($text, $status) : $text;
}

1;
