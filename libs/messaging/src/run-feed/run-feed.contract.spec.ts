import { describeRunFeed } from '@rondo/domain/testing';
import { TestNats } from '../testing/test-nats';
import { NatsRunFeed, keptCharacters } from './run-feed';

let nats: TestNats;
beforeEach(() => (nats = new TestNats()));
afterEach(() => nats.close());

describeRunFeed('NatsRunFeed', () => {
  const process = async () => {
    const { link, proxy } = await nats.severableLink();
    const lost = () =>
      new Promise<void>((resolve) => (link.connected ? setTimeout(() => resolve(lost()), 5) : resolve()));
    return {
      feed: new NatsRunFeed(link),
      cut: async () => {
        await proxy.cut();
        await lost();
      },
      mend: async () => {
        const back = new Promise<void>((resolve) => link.onReconnect(resolve));
        await proxy.mend();
        await back;
        await link.ping();
      },
    };
  };
  return Promise.resolve({ process, keptCharacters });
});
