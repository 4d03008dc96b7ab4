#!/usr/bin/env php
<?php

// Accepts an order and queues a mail about it, through PDO: both in one transaction, or neither.
//
//   order.php DSN ORDER TOTAL
//
// DSN is sqlite:FILE, pgsql:host=HOST;dbname=NAME or mysql:host=HOST;dbname=NAME; PDO_USER and
// PDO_PASSWORD contain user and password. The tables of Icecore must exist: any command creates
// them, for example `icecore queue stats`.
declare(strict_types=1);

[, $dsn, $order, $total] = $argv + [null, null, null, null];
if ($total === null) {
    exit("usage: order.php DSN ORDER TOTAL\n");
}
$pdo = new PDO($dsn, getenv('PDO_USER') ?: null, getenv('PDO_PASSWORD') ?: null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$pdo->exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, total INTEGER NOT NULL)');

$pdo->beginTransaction();
try {
    $pdo->prepare('INSERT INTO orders (id, total) VALUES (?, ?)')->execute([$order, $total]);
    queue($pdo, 'mail', serialize(['order' => (int) $order, 'total' => (int) $total]));
    if ((int) $total === 0) {
        throw new DomainException('an order of nothing');
    }
    $pdo->commit();
} catch (Throwable $error) {
    $pdo->rollBack();
    throw $error;
}

/** Queues a job in the open transaction; the bytes may be in any format that Icecore reads. */
function queue(PDO $pdo, string $queue, string $bytes): void
{
    $now = (int) (microtime(true) * 1000);
    $insert = $pdo->prepare('INSERT INTO icecore_jobs (id, queue, queued_at, run_at, bytes) VALUES (?, ?, ?, ?, ?)');
    foreach ([uuid($now), $queue, $now, $now] as $at => $value) {
        $insert->bindValue($at + 1, $value, is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
    }
    // Bytes, not a text in some encoding.
    $insert->bindValue(5, $bytes, PDO::PARAM_LOB);
    $insert->execute();
}

/** Makes a UUID of version 7: ids sort by their time of creation. */
function uuid(int $millis): string
{
    $hex = sprintf('%012x', $millis) . bin2hex(random_bytes(10));
    $hex[12] = '7';
    $hex[16] = dechex(8 | (hexdec($hex[16]) & 3));
    return implode('-', sscanf($hex, '%8s%4s%4s%4s%12s'));
}
