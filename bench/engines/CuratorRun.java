import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** A command under Curator's LeaderSelector, as its documentation has it: CuratorRun HOSTS SESSION_S PATH COMMAND... */
public final class CuratorRun {
    public static void main(String[] args) throws Exception {
        int session = 1000 * Integer.parseInt(args[1]);
        CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], session, session, new ExponentialBackoffRetry(1000, 3));
        client.start();
        LeaderSelector selector = new LeaderSelector(client, args[2], new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework unused) throws Exception {
                Process command = new ProcessBuilder(Arrays.asList(args).subList(3, args.length)).inheritIO().start();
                try {
                    command.waitFor();
                } catch (InterruptedException e) {
                    command.destroyForcibly(); // leadership is lost
                    throw e;
                }
                new Thread(() -> {
                    client.close();
                    System.exit(0);
                }).start();
            }
        });
        selector.autoRequeue();
        selector.start();
        new CountDownLatch(1).await(); // Curator's own threads keep no program running
    }
}
