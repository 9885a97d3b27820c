import { InMemoryRunFeed, keptCharacters } from './in-memory-run-feed';
import { describeRunFeed } from './run-feed.contract';

describeRunFeed('InMemoryRunFeed', () => {
  const network = new InMemoryRunFeed();
  const process = () => {
    const feed = network.connect();
    return {
      feed,
      cut: () => Promise.resolve(feed.disconnect()),
      mend: () => Promise.resolve(feed.reconnect()),
    };
  };
  return Promise.resolve({ process: () => Promise.resolve(process()), keptCharacters });
});
