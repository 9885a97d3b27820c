import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCampaign } from './campaign';
import { effects } from './experiments/effects';
import { freeze } from './experiments/freeze';
import { kills } from './experiments/kills';
import { mixed } from './experiments/mixed';
import { nats } from './experiments/nats';
import { postgres } from './experiments/postgres';
import { redis } from './experiments/redis';

/** Jest reports the results instead. */
const reporter = { progress: () => undefined, done: () => undefined };

/** Only correctness: times depend on the machine that runs the tests. */
describe('faults lose nothing and duplicate nothing (I1–I5, I9)', () => {
  it.each([kills, freeze, nats, redis, postgres, effects, mixed])('$name', async (experiment) => {
    const logsIn = join(tmpdir(), `rondo-chaos-logs-${process.pid}`); // the logs of a failure are kept

    const [result] = await runCampaign([experiment], { scale: 'small', reporter, logsIn });

    const missed = (result?.findings?.bars ?? []).filter(({ about, met }) => about === 'truth' && !met);
    const details = missed.length === 0 ? [] : result?.findings?.details;
    expect({ error: result?.error, missed, details }).toEqual({ error: undefined, missed: [], details: [] });
  });
});
