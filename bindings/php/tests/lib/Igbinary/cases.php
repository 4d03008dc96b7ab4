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
        'an object whose class has no valid name' => [
            '1703' . '412042' . '1401' . '1101780601',
            fn ($value) => json_encode((array) $value),
            '{"__PHP_Incomplete_Class_Name":"A B","x":1}',
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

/** Names of cases, each with malformed bytes and igbinary's warning. The bytes have their header. */
function malformed_cases(): array
{
    $suit = bin2hex('Igbinary\Suit');
    return [
        'an old version' => ['00000003' . '00', 'igbinary_unserialize_header: unsupported version: 3, should be 1 or 2'],
        'the other byte order' => [
            '02000000' . '00',
            'igbinary_unserialize_header: unsupported version: 33554432, should be 1 or 2 (wrong endianness?)',
        ],
        'a text' => [
            bin2hex('s:2:"a'),
            'igbinary_unserialize_header: unsupported version: "s:2:"..., should begin with a binary version header of '
                . '"\x00\x00\x00\x01" or "\x00\x00\x00\x02"',
        ],
        'a text with quotes' => [
            bin2hex('"a\\bc'),
            'igbinary_unserialize_header: unsupported version: "\\"a\\\\b"..., should begin with a binary version header '
                . 'of "\x00\x00\x00\x01" or "\x00\x00\x00\x02"',
        ],
        'no value' => ['00000002', 'igbinary_unserialize_header: expected at least 5 bytes of data, got 4 byte(s)'],
        'more data' => ['00000002' . '0500', 'igbinary_unserialize: received more data to unserialize than expected'],
        'a cut count' => ['00000002' . '1500', 'igbinary_unserialize_array: end-of-data'],
        'a count beyond the end' => [
            '00000002' . '1403' . '0600',
            'igbinary_unserialize_array: data size 2 smaller that requested array length 3.',
        ],
        'a float as a key' => [
            '00000002' . '1401' . '0c' . '0000000000000000' . '00',
            "igbinary_unserialize_array: unknown key type '0c', position 7",
        ],
        'an entry without its value' => ['00000002' . '1401' . '0601', 'igbinary_unserialize_zval: end-of-data'],
        'an unknown tag' => ['00000002' . '1401' . '0600' . '28', "igbinary_unserialize_zval: unknown type '28', position 9"],
        'a cut integer' => ['00000002' . '0801', 'igbinary_unserialize_long: end-of-data'],
        'a cut float' => ['00000002' . '0c01', 'igbinary_unserialize_double: end-of-data'],
        'a cut string' => ['00000002' . '110361', 'igbinary_unserialize_chararray: end-of-data'],
        'a string without a number' => [
            '00000002' . '1401' . '110161' . '0e01',
            'igbinary_unserialize_string: string index is out-of-bounds',
        ],
        'a link to a later value' => [
            '00000002' . '1401' . '0600' . '0101',
            'igbinary_unserialize_ref: invalid reference 1 >= 1',
        ],
        'a link to a variable with a scalar' => [
            '00000002' . '1403' . '0600' . '250601' . '0601' . '2501' . '01' . '0602' . '2202',
            'igbinary_unserialize_ref: invalid reference 2 >= 2',
        ],
        'an object without a body' => ['00000002' . '170141', 'igbinary_unserialize_object: end-of-data'],
        'an object with another body' => [
            '00000002' . '170141' . '00',
            "igbinary_unserialize_object: unknown object inner type '00', position 8",
        ],
        'properties beyond the end' => [
            '00000002' . '170141' . '1401',
            'igbinary_unserialize_object_properties: data size 0 smaller that requested array length 1.',
        ],
        'an enum case without a name' => [
            '00000002' . '170d' . $suit . '27',
            'igbinary_unserialize_object_enum_case: end-of-data',
        ],
        'an unknown case' => [
            '00000002' . '170d' . $suit . '27' . '1101' . '58',
            'igbinary_unserialize_object_enum_case: Undefined constant Igbinary\Suit::X',
        ],
        'an enum that does not exist' => [
            '00000002' . '170141' . '27' . '1101' . '58',
            "igbinary_unserialize_object_enum_case: Class 'A' does not exist",
        ],
        'a payload for a class that does not exist' => [
            '00000002' . '170141' . '1d00',
            'Class __PHP_Incomplete_Class has no unserializer',
        ],
    ];
}
