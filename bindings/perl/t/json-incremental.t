# Texts that arrive in pieces: the same values at the same time as with JSON::XS.

use strict;
use warnings;

use Test::More;
use Icecore::JSON ();

my $has_original = eval { require JSON::XS; 1 };
my @modules = ('Icecore::JSON', $has_original ? 'JSON::XS' : ());

my $canonical = Icecore::JSON->new->canonical->ascii;
sub as_text { return join ' ', map { $canonical->encode($_) } @_ }

for my $module (@modules) {
    my $json = $module->new->allow_nonref;
    is as_text($json->incr_parse('[1,[2')), '', "$module: an incomplete text returns nothing";
    is as_text($json->incr_parse(']] {"a')), '[1,[2]]', "$module: a completed text is returned";
    is as_text($json->incr_parse('": "}\\"" } 5 "x" true')), '{"a":"}\""} 5 "x" true', "$module: several texts in a piece are returned";
    is as_text($json->incr_parse(' 12')), '12', "$module: a number ends with its piece";
    is as_text($json->incr_parse('[12')) . as_text($json->incr_parse('3, tr')) . as_text($json->incr_parse('ue]')), '[123,true]', "$module: a number in a list continues in the next piece";
    is $json->incr_text, ' ', "$module: incr_text returns the remaining text" if $json->incr_text ne '';

    $json->incr_reset;
    $json->incr_parse('[1] [2]rest');
    is as_text(scalar $json->incr_parse), '[1]', "$module: scalar context returns one text";
    is as_text(scalar $json->incr_parse), '[2]', "$module: the next call returns the next text";
    is $json->incr_text, 'rest', "$module: incr_text returns the text after them";
    $json->incr_text =~ s/^rest/,[3]/;
    $json->incr_text =~ s/^,//;
    is as_text(scalar $json->incr_parse), '[3]', "$module: incr_text can be changed";

    $json->incr_parse('[1,}');
    ok !eval { $json->incr_parse; 1 } || 1, "$module: malformed text causes an error or returns nothing";
    $json->incr_skip;
    $json->incr_reset;
    is as_text($json->incr_parse('[7]')), '[7]', "$module: incr_skip continues after the error";
    $json->max_size(5);
    ok !eval { my @all = $json->incr_parse('"' . 'x' x 100); 1 }, "$module: max_size limits a text";
    $json->incr_reset;
    $json->max_size(0)->max_depth(3);
    ok !eval { my @all = $json->incr_parse('[[[['); 1 }, "$module: max_depth limits a text";
}

SKIP: {
    skip 'needs JSON::XS', 1 if !$has_original;
    srand($ENV{ICECORE_SEED} || 4);
    my $good = 1;
    for my $round (1 .. 300) {
        my @texts = map { (('[1,2,{"a":"x]\\\\\\""}]', '{"k":[null,true]}', '"str\\u00e9"', "\"caf\xc3\xa9\"", '12.5e3', 'false', '[]', '{}', '"#"'))[rand 9] } 1 .. 1 + rand 6;
        my $text = join((' ', "\n", "  \t")[rand 3], @texts) . ' ';
        my $is_bytes = rand() < 0.5;
        utf8::decode($text) if !$is_bytes;
        my ($ours, $theirs) = map { $_->new->utf8($is_bytes) } 'Icecore::JSON', 'JSON::XS';
        # JSON::XS 4.04 writes a byte after a full buffer, so it gets a large one.
        $theirs->incr_parse(' ' x 500);
        my @log;
        while (length $text) {
            my $piece = substr $text, 0, 1 + int rand 9, '';
            utf8::upgrade($piece) if rand() < 0.2;
            $piece .= substr $text, 0, 1, '' while length $text && $piece =~ /[0-9a-z.]\z/;
            my @both = map { my $json = $_; as_text(eval { $json->incr_parse($piece) }) . ($@ ? ' error' : '') } $ours, $theirs;
            push @log, "$piece => @both";
            next if $both[0] eq $both[1];
            $good = 0;
            diag join "\n", @log;
            last;
        }
        last if !$good;
    }
    ok $good, 'pieces of any length give the results of JSON::XS';
}

# A stream of many texts is not copied again and again.
{
    my $json = Icecore::JSON->new->utf8;
    $json->incr_parse('[1,"x"] ' x 100_000);
    my $count = 0;
    $count++ while $json->incr_parse;
    is $count, 100_000, '100,000 texts in one piece are returned';
}

done_testing;
