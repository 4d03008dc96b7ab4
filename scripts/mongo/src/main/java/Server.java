import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/** A server that speaks MongoDB's protocol and keeps all in memory, on a port of this machine. */
public final class Server {
    /** What it says of itself: drivers of today refuse what the library would say. */
    private record Version(List<Integer> getVersionArray, int getWireVersion) implements MongoVersion {}

    public static void main(String[] arguments) {
        var backend = new MemoryBackend();
        backend.version(new Version(List.of(6, 0, 0), 17));
        new MongoServer(backend).bind("127.0.0.1", Integer.parseInt(arguments[0]));
        System.out.println("ready");
    }
}
