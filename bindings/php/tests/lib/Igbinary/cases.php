<?php
// Bytes of igbinary 3.2.13, without their header `00 00 00 02`.

declare(strict_types=1);

namespace Igbinary;

/** Names of cases, each with a function that makes the value, and the bytes. */
function written_cases(): array
{
    // Variables that live longer than the values.
    static $number = 1, $array = [];
    return [
        'a variable of which another place is outside of the value' => [
            function () use (&$number) {
                return [&$number];
            },
            '14010600250601',
        ],
        'the same for an array' => [
            function () use (&$array) {
                return [&$array];
            },
            '140106002514' . '00',
        ],
        'an object, and a variable with it' => [
            function () {
                $o = new \stdClass;
                $r = $o;
                return [$o, &$r, &$r];
            },
            '140306001708737464436c61737314000601252201' . '0602252201',
        ],
        'a variable with an object, and the object' => [
            function () {
                $o = new \stdClass;
                static $r;
                $r = $o;
                return [&$r, $o];
            },
            '14020600251708737464436c617373140006012201',
        ],
        'an array that contains itself' => [
            function () {
                static $a;
                $a = [];
                $a[1] = &$a;
                return $a;
            },
            '14010601251401060125' . '0101',
        ],
        'the root array, found again in an object' => [
            function () {
                $o = new \stdClass;
                $o->list = [$o];
                return $o->list;
            },
            '140106001708737464436c617373140111046c697374' . '140106002201',
        ],
        'a shared array' => [
            function () {
                $a = [1];
                return [$a, $a];
            },
            '140206001401060006010601' . '0101',
        ],
        '__sleep that returns no array' => [fn () => sleeps(5), '170f496762696e6172795c536c656570731400'],
        '__sleep that returns an object' => [
            fn () => sleeps(new Wakes),
            '170f496762696e6172795c536c65657073140100',
        ],
        '__sleep that names a property twice' => [
            fn () => sleeps(['a', 'a']),
            '170f496762696e6172795c536c65657073140211016106010e010601',
        ],
        '__sleep that names an unset protected property' => [
            function () {
                $o = sleeps(['b']);
                $o->dropHidden();
                return $o;
            },
            '170f496762696e6172795c536c6565707314011104002a006200',
        ],
        '__sleep that returns a number and a name' => [
            fn () => sleeps([5, 'a']),
            '170f496762696e6172795c536c65657073140200' . '1101610601',
        ],
    ];
}

function sleeps(mixed $names): Sleeps
{
    $o = new Sleeps;
    $o->names = $names;
    return $o;
}

/** Names of cases, each with bytes, a function that describes the value, and the description. */
function read_cases(): array
{
    $text = fn ($value) => json_encode($value);
    return [
        'a variable that begins at the second place' => [
            '140306001708737464436c617373140006012522010602252201',
            function ($value) {
                $value[1] = 'changed';
                return json_encode($value);
            },
            '[{},"changed","changed"]',
        ],
        'the same with an array' => [
            '140206001402060006011101611101620601250101',
            function ($value) {
                $value[1] = 'changed';
                return json_encode($value);
            },
            '[{"0":1,"a":"b"},"changed"]',
        ],
        'a copy of a variable' => [
            '14030600251400060101' . '01' . '0602250101',
            function ($value) {
                $value[0] = 'changed';
                return json_encode($value);
            },
            '["changed",[],"changed"]',
        ],
        'a link to a value that was replaced' => [
            '14030600170d496762696e6172795c53756974271106486561727473' . '06001a0027110653706164657306012201',
            fn ($value) => $value[0]->name . ' ' . $value[1]->name,
            'Spades Hearts',
        ],
        'an array that is part of itself' => [
            '14010600140106000101',
            fn ($value) => get_debug_type($value[0][0][0][0][0]),
            'array',
        ],
        'the root array in itself' => [
            '1401060001' . '00',
            fn ($value) => get_debug_type($value[0][0][0]),
            'array',
        ],
        'a protected property under its bare name' => [
            '170e496762696e6172795c506c61696e1401' . '1101620609',
            fn ($value) => str_replace('\u0000', '~', json_encode((array) $value)),
            '{"a":null,"~*~b":2,"~Igbinary\\\\Plain~c":3,"b":9}',
        ],
        'a payload for a class without Serializable' => [
            '170e496762696e6172795c506c61696e1d024e3b',
            $text,
            'null',
        ],
        'an unknown case of an enum' => ['170d496762696e6172795c5375697427110151', $text, 'null'],
        'a constant of an enum' => ['170d496762696e6172795c5375697427110744454641554c54', $text, 'null'],
        'a key of digits' => ['14011101350601', fn ($value) => get_debug_type(array_key_first($value)), 'string'],
    ];
}

/** Names of cases, each with a call of an implementation, and a part of the outcome. */
function failing_cases(): array
{
    return [
        '__sleep names a typed property without a value' => [
            fn ($implementation) => $implementation->igbinarySerialize(sleeps(['unset'])),
            'Typed property Igbinary\Sleeps::$unset must not be accessed before initialization (in __sleep)',
        ],
        '__sleep returns no array' => [
            fn ($implementation) => $implementation->igbinarySerialize(sleeps(null)),
            '__sleep should return an array only containing the names of instance-variables to serialize',
        ],
        'a resource' => [
            fn ($implementation) => $implementation->igbinarySerialize([STDERR]),
            'Cannot serialize resource(stream)',
        ],
    ];
}
