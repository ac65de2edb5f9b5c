import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.retry.RetryOneTime;

/**
 * A candidate of Curator, for tests beside ours: Candidate HOSTS latch|selector PATH NAME. Says `stands`, then `sees` and the
 * names in the queue, and `leads`. Leads until it is killed; SIGTERM closes it.
 */
public final class Candidate {
    private static void say(String text) {
        System.out.println(text);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        CuratorFramework client =
            CuratorFrameworkFactory.newClient(args[0], 2000, 2000, new RetryOneTime(200));
        client.start();
        Runtime.getRuntime().addShutdownHook(new Thread(client::close));
        if (args[1].equals("latch")) {
            LeaderLatch latch = new LeaderLatch(client, args[2], args[3]);
            latch.start();
            StringBuilder names = new StringBuilder("sees");
            while (names.indexOf(args[3]) < 0) {
                Thread.sleep(20);
                names = new StringBuilder("sees");
                for (Participant each : latch.getParticipants()) names.append(' ').append(each.getId());
            }
            say(names.toString());
            latch.await();
            say("leads");
        } else {
            LeaderSelector selector = new LeaderSelector(client, args[2], new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework unused) throws Exception {
                    say("leads");
                    new CountDownLatch(1).await();
                }
            });
            selector.setId(args[3]);
            selector.start();
        }
        new CountDownLatch(1).await();
    }
}
