import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Campaign } from './campaign';
import { effects } from './experiments/effects';
import { freeze } from './experiments/freeze';
import { kills } from './experiments/kills';
import { mixed } from './experiments/mixed';
import { nats } from './experiments/nats';
import { postgres } from './experiments/postgres';
import { redis } from './experiments/redis';

/** Only correctness: times depend on the machine that runs the tests. */
describe('faults lose nothing and duplicate nothing (I1–I5, I9)', () => {
  const logsIn = join(tmpdir(), `rondo-chaos-logs-${process.pid}`); // the logs of a failure are kept
  const campaign = new Campaign({ scale: 'small', logsIn });
  afterAll(() => campaign.end());

  // Those that share a test bed come first.
  it.each([kills, freeze, nats, postgres, effects, redis, mixed])('$name', async (experiment) => {
    const { error, findings } = await campaign.run(experiment);

    const missed = (findings?.bars ?? []).filter(({ about, met }) => about === 'truth' && !met);
    const details = missed.length === 0 ? [] : findings?.details;
    expect({ error, missed, details }).toEqual({ error: undefined, missed: [], details: [] });
  });
});
