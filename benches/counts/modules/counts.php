<?php
// The work of the cells for PHP: counts.php JOB ROUNDS. Input and output are compared with PHP's
// own functions first, also in a run with 0 rounds.

[, $job, $rounds] = $argv;

$records = [];
for ($id = 1; $id <= 100; $id++) {
    $records[] = ['id' => $id, 'name' => "Employee_$id", 'email' => "employee.$id@example.org", 'age' => 20 + $id % 50];
}
$text = Icecore\serialize($records);
$igbinary = Icecore\igbinary_serialize($records);

if ($text !== serialize($records)) {
    fwrite(STDERR, "serialize writes something else\n");
    exit(1);
}
if (Icecore\unserialize($text) !== $records || Icecore\igbinary_unserialize($igbinary) !== $records) {
    fwrite(STDERR, "another value comes back\n");
    exit(1);
}

switch ($job) {
    case 'serialize':
        for ($i = 0; $i < $rounds; $i++) {
            Icecore\serialize($records);
        }
        break;
    case 'unserialize':
        for ($i = 0; $i < $rounds; $i++) {
            Icecore\unserialize($text);
        }
        break;
    case 'igbinary-serialize':
        for ($i = 0; $i < $rounds; $i++) {
            Icecore\igbinary_serialize($records);
        }
        break;
    case 'igbinary-unserialize':
        for ($i = 0; $i < $rounds; $i++) {
            Icecore\igbinary_unserialize($igbinary);
        }
        break;
    default:
        fwrite(STDERR, "$job: no such job\n");
        exit(1);
}
