import java.nio.file.Path;
import java.time.Duration;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.io.ByteUnit;

/** A Neo4j server on 127.0.0.1: {@code java Server DIRECTORY PORT}. Ends when its standard input closes. */
public class Server {
    public static void main(String[] arguments) throws Exception {
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var service = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, address)
                .setConfig(BoltConnector.advertised_address, address)
                .setConfig(GraphDatabaseSettings.auth_enabled, true)
                .setConfig(GraphDatabaseSettings.pagecache_memory, ByteUnit.mebiBytes(256))
                .build();
        System.out.println("ready");
        while (System.in.read() >= 0) {}
        Runtime.getRuntime().halt(shutDown(service));
    }

    private static int shutDown(org.neo4j.dbms.api.DatabaseManagementService service) {
        service.shutdown();
        return 0;
    }
}
