#!/usr/bin/env php
<?php

// Objects that wait in a database until somebody handles them, in the table of Icecore, through
// PDO: `icecore store each` reads what this program stores, and this program reads what `icecore
// store put` stores.
//
//   pending.php DSN store CUSTOMER…    one object for each, all in one transaction; an empty name undoes it
//   pending.php DSN each               a line of JSON for each record and its object
//   pending.php DSN restore ID…
//
// DSN is sqlite:FILE, pgsql:host=HOST;dbname=NAME or mysql:host=HOST;dbname=NAME; PDO_USER and
// PDO_PASSWORD contain user and password. With BASE64=1 the bytes go into the text column. The
// tables must exist: any command creates them. It needs the extension icecore.
declare(strict_types=1);

/** The objects of `icecore_objects`, frozen by serialize. */
final class PendingObjects
{
    /** @param string[] $classes the classes that may be built */
    public function __construct(private readonly PDO $pdo, private readonly array $classes, private readonly bool $inBase64 = false)
    {
    }

    /** Stores an object in the open transaction. Returns its id. */
    public function store(mixed $object, ?string $key = null): string
    {
        $bytes = Icecore\serialize($object);
        $now = (int) (microtime(true) * 1000);
        $names = array_values(array_unique(array_column(Icecore\classes($bytes, 'php'), 'class')));
        $column = $this->inBase64 ? 'base64' : 'bytes';
        $insert = $this->pdo->prepare("INSERT INTO icecore_objects (id, object_key, stored_at, format, class, checksum, size, $column)
            VALUES (?, ?, ?, 'php', ?, ?, ?, ?)");
        $id = self::uuid($now);
        foreach ([$id, $key, $now, $names[0] ?? null, hash('sha256', $bytes), strlen($bytes)] as $at => $value) {
            $insert->bindValue($at + 1, $value, is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
        }
        // Bytes, not a text in some encoding.
        $insert->bindValue(7, $this->inBase64 ? base64_encode($bytes) : $bytes, $this->inBase64 ? PDO::PARAM_STR : PDO::PARAM_LOB);
        $insert->execute();
        // The classes in the object, so that it can be found by them.
        $classes = $this->pdo->prepare('INSERT INTO icecore_object_classes (class, seq) SELECT ?, seq FROM icecore_objects WHERE id = ?');
        foreach ($names as $name) {
            $classes->execute([$name, $id]);
        }
        return $id;
    }

    /** Returns the object of a record. Classes that are not allowed are not built. */
    public function restore(array $record): mixed
    {
        // PostgreSQL gives bytes as a stream.
        $bytes = is_resource($record['bytes']) ? stream_get_contents($record['bytes']) : $record['bytes'];
        return Icecore\decode($bytes ?? base64_decode($record['base64'], true), $record['format'], ['classes' => $this->classes]);
    }

    public function find(string $id): ?array
    {
        $asked = $this->pdo->prepare('SELECT * FROM icecore_objects WHERE id = ?');
        $asked->execute([$id]);
        return $asked->fetch(PDO::FETCH_ASSOC) ?: null;
    }

    /** Yields each record with its object, in the order of storing, a batch at a time. An object that can't be restored is null. */
    public function each(int $batch = 1000): Generator
    {
        $asked = $this->pdo->prepare("SELECT * FROM icecore_objects WHERE seq > ? ORDER BY seq LIMIT $batch");
        for ($last = 0; $last !== null; $last = $next) {
            $asked->execute([$last]);
            $next = null;
            foreach ($asked->fetchAll(PDO::FETCH_ASSOC) as $record) {
                try {
                    $object = $this->restore($record);
                } catch (Icecore\Exception) {
                    $object = null;
                }
                yield $record => $object;
                $next = $record['seq'];
            }
        }
    }

    /** Makes a UUID of version 7: ids sort by their time of creation. */
    private static function uuid(int $millis): string
    {
        $hex = sprintf('%012x', $millis) . bin2hex(random_bytes(10));
        $hex[12] = '7';
        $hex[16] = dechex(8 | (hexdec($hex[16]) & 3));
        return implode('-', sscanf($hex, '%8s%4s%4s%4s%12s'));
    }
}

final class Order
{
    public function __construct(public readonly string $customer, public readonly string $note)
    {
    }
}

$arguments = array_slice($argv, 1);
[$dsn, $what] = [array_shift($arguments), array_shift($arguments)];
$pdo = new PDO((string) $dsn, getenv('PDO_USER') ?: null, getenv('PDO_PASSWORD') ?: null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$pending = new PendingObjects($pdo, ['Order'], getenv('BASE64') === '1');
switch ($what) {
    case 'store':
        $pdo->beginTransaction();
        try {
            foreach ($arguments as $customer) {
                $ids[] = $pending->store(new Order($customer, "\xff\0"));
                if ($customer === '') {
                    throw new DomainException('an order of nobody');
                }
            }
            $pdo->commit();
        } catch (Throwable $error) {
            $pdo->rollBack();
            throw $error;
        }
        echo implode("\n", $ids), "\n";
        break;
    case 'each':
        foreach ($pending->each(2) as $record => $object) {
            $said = ['id' => $record['id'], 'format' => $record['format'], 'class' => $record['class']];
            echo json_encode($said + ['object' => $object instanceof Order ? $object->customer : $object], JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), "\n";
        }
        break;
    case 'restore':
        foreach ($arguments as $id) {
            $record = $pending->find($id) ?? exit("there is no such object\n");
            echo $pending->restore($record)->customer, "\n";
        }
        break;
    default:
        exit("usage: pending.php DSN store CUSTOMER… | each | restore ID…\n");
}
