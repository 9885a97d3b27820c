import { liveSourcesOf } from './live-sources-of';
import { ScriptedRun } from './testing/scripted-run';

const script = new ScriptedRun();
const holder = { workerId: 'worker-1', threadId: script.threadId };

const openingIn = (iteration: number) => {
  const opening = {
    run: { ...script.run, iteration },
    holder,
    page: { data: script.log, head_seq: script.log.length },
  };
  return liveSourcesOf({
    runs: { open: () => Promise.resolve(opening), events: () => Promise.resolve(opening.page) },
    holderOf: () => Promise.resolve(holder),
    feed: { watch: () => ({ ready: Promise.resolve(), stop: () => undefined }) },
    workers: { openStreams: () => Promise.resolve([]) },
    mint: () => {
      throw new Error('no notice is due');
    },
  }).open(script.address, 0);
};

describe('liveSourcesOf', () => {
  it('names nobody who could tell what a run said before its first iteration', async () => {
    expect((await openingIn(0)).holder).toBeUndefined();
    expect((await openingIn(1)).holder).toEqual(holder);
  });
});
