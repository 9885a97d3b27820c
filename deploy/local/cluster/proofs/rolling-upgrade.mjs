import { toOutcome } from '../outcome.mjs';
import { RunLoad } from '../run-load.mjs';

/** Replaces every pod by one of another tag, and back, under a load of runs: no run and no request fails. */
export const rollingUpgrade = {
  name: 'rolling-upgrade',
  async prove({ release, node, client, note }) {
    await tagImages(node);
    const load = new RunLoad(client(), { lanes: 6 });
    await load.progress(2);
    for (const [what, change] of [
      ['to the next tag', () => release.upgrade('image.tag=next')],
      ['back', () => release.rollback()],
    ]) {
      const since = performance.now();
      await change();
      note(`all pods replaced, ${what}, in ${((performance.now() - since) / 1_000).toFixed(1)} s`);
      await load.progress(4);
    }
    return toOutcome(await load.stop(), { requestsMayFail: false });
  },
};

/** The same images under another tag: what differs between versions is tested elsewhere, here it is that pods are replaced. */
async function tagImages(node) {
  const names = (await node.ctr('images', 'list', '--quiet')).split('\n');
  for (const name of names.filter((entry) => /^localhost\/rondo-[a-z-]+:latest$/.test(entry)))
    await node.ctr('images', 'tag', '--force', name, name.replace(':latest', ':next'));
}
