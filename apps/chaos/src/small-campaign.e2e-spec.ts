import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCampaign } from './campaign';
import { effects } from './experiments/effects';
import { freeze } from './experiments/freeze';
import { kills } from './experiments/kills';
import { nats } from './experiments/nats';
import { postgres } from './experiments/postgres';
import { redis } from './experiments/redis';

/** Watches nothing: jest reports. */
const watcher = { progress: () => undefined, done: () => undefined };

/** Correctness alone: how long something took says more about the machine that tests run on. */
describe('nothing is lost, and nothing happens twice (I1–I5, I9)', () => {
  it.each([kills, freeze, nats, redis, postgres, effects])('$name', async (experiment) => {
    const logsIn = join(tmpdir(), 'rondo-chaos-logs');

    const [result] = await runCampaign([experiment], { scale: 'small', watcher, logsIn });

    const missed = (result?.findings?.bars ?? []).filter(({ about, met }) => about === 'truth' && !met);
    const details = missed.length === 0 ? [] : result?.findings?.details;
    expect({ error: result?.error, missed, details }).toEqual({ error: undefined, missed: [], details: [] });
  });
});
