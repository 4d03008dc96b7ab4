<?php
// A marshaller for Symfony's cache: Icecore writes and reads the values of a pool, and builds only the
// classes of the pool.
//
//   new RedisAdapter($redis, marshaller: new IcecoreMarshaller(['App\Entity\*']));

use Symfony\Component\Cache\Marshaller\MarshallerInterface;

if (!interface_exists(MarshallerInterface::class)) {
    // Declares Symfony's interface if Symfony is not installed.
    eval('namespace Symfony\Component\Cache\Marshaller;
    interface MarshallerInterface
    {
        public function marshall(array $values, ?array &$failed): array;
        public function unmarshall(string $value): mixed;
    }');
}

final class IcecoreMarshaller implements MarshallerInterface
{
    /** @param string[] $classes names and patterns */
    public function __construct(private array $classes = [])
    {
    }

    /** Values that can't be written are listed in $failed, and the rest is written. */
    public function marshall(array $values, ?array &$failed): array
    {
        $serialized = $failed = [];
        foreach ($values as $id => $value) {
            try {
                $serialized[$id] = Icecore\serialize($value);
            } catch (\Exception) {
                $failed[] = $id;
            }
        }
        return $serialized;
    }

    /** If this throws, the pool logs the exception and treats the entry as absent. */
    public function unmarshall(string $value): mixed
    {
        return $value === 'b:0;' ? false : Icecore\decode($value, 'php', ['classes' => $this->classes]);
    }
}

// -- How a pool uses it ----------------------------------------------------------

final class Article
{
    public function __construct(public readonly string $title, public readonly DateTimeImmutable $published)
    {
    }
}

$marshaller = new IcecoreMarshaller([Article::class, DateTimeImmutable::class]);
$stored = $marshaller->marshall([
    'article' => new Article('Frozen', new DateTimeImmutable('2024-02-29 12:00', new DateTimeZone('UTC'))),
    'list' => [1, 2, ['three' => 3]],
    'false' => false,
    'closure' => fn () => 1,
], $failed);
echo 'stored: ', implode(', ', array_keys($stored)), '; failed: ', implode(', ', $failed), "\n";

$article = $marshaller->unmarshall($stored['article']);
echo "article: $article->title, {$article->published->format('j F Y')}\n";
echo 'list: ', json_encode($marshaller->unmarshall($stored['list'])), "\n";
echo 'false: ', json_encode($marshaller->unmarshall($stored['false'])), "\n";

foreach (['O:11:"ArrayObject":0:{}', 'a:1:{i:0;', 'nonsense'] as $bytes) {
    try {
        $marshaller->unmarshall($bytes);
        echo "built: $bytes\n";
    } catch (Icecore\Exception $e) {
        echo $e::class, " ($e->kind): $bytes\n";
    }
}
