--TEST--
A constant that refers to a case is written as the case
--FILE--
<?php
enum Suit
{
    case Hearts;
    const Default = self::Hearts;
}
echo serialize(Suit::Default), "\n";
?>
--EXPECT--
E:11:"Suit:Hearts";
