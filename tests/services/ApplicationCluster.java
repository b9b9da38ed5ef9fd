import org.apache.flink.client.deployment.application.ApplicationClusterEntryPoint;
import org.apache.flink.client.program.PackagedProgram;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.entrypoint.ClusterEntrypoint;
import org.apache.flink.runtime.entrypoint.ClusterEntrypointUtils;
import org.apache.flink.runtime.entrypoint.EntrypointClusterConfiguration;
import org.apache.flink.runtime.entrypoint.EntrypointClusterConfigurationParserFactory;
import org.apache.flink.runtime.resourcemanager.StandaloneResourceManagerFactory;

/**
 * A JobManager in application mode: --configDir FOLDER CLASS WORD… runs the class's main method. What Flink's image has as
 * StandaloneApplicationClusterEntryPoint, which is in no jar of Maven.
 */
public final class ApplicationCluster extends ApplicationClusterEntryPoint {
    private ApplicationCluster(Configuration configuration, PackagedProgram program) {
        super(configuration, program, StandaloneResourceManagerFactory.getInstance());
    }

    public static void main(String[] words) throws Exception {
        EntrypointClusterConfiguration given = ClusterEntrypointUtils.parseParametersOrExit(
                words, new EntrypointClusterConfigurationParserFactory(), ApplicationCluster.class);
        Configuration configuration = loadConfiguration(given);
        String[] rest = given.getArgs();
        PackagedProgram program = PackagedProgram.newBuilder()
                .setEntryPointClassName(rest[0])
                .setArguments(java.util.Arrays.copyOfRange(rest, 1, rest.length))
                .setConfiguration(configuration)
                .build();
        configureExecution(configuration, program);
        ClusterEntrypoint.runClusterEntrypoint(new ApplicationCluster(configuration, program));
    }
}
