import { type Experiment, toFindings } from '../experiment';
import { killServices } from '../faults/kill-services';
import { atLeast, within } from '../scorecard/findings';
import { findSpread } from '../scorecard/spread';
import { examine } from '../test-bed/examine';
import { runUnderFault, requestsUntil } from '../test-bed/start-runs';
import { takeovers } from '../test-bed/takeovers';
import { stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { runs: 300, iterations: 10, atOnce: 60, everyMs: 5_000, kills: 20 },
  small: { runs: 12, iterations: 4, atOnce: 12, everyMs: 2_500, kills: 2 },
};
const mix = { 'agent-worker': 6, 'tool-executor': 2, gateway: 1, summarizer: 1 };

/** The earliest time after a kill at which it can be detected. */
const noticedAfterMs = 1_000;

export const kills: Experiment = {
  name: 'kills',
  title:
    'A random instance is killed with SIGKILL again and again until every run is over: of ten kills six hit one of three ' +
    'workers, two one of two executors, one a gateway, one the summarizer. A takeover is the time from the kill of a ' +
    'worker to the first fact of the next holder.',

  async run(testBed, scale) {
    const size = sizes[scale.name];
    const isEnough = () => testBed.faults.faults.length >= size.kills;
    const requests = requestsUntil({ about: 'kills', count: size.runs, isEnough }, (tag) =>
      stepsOfTwo(testBed.effects, { tag, iterations: size.iterations }),
    );
    const runs = await runUnderFault(testBed, { requests, atOnce: size.atOnce, quietMs: scale.quietMs }, (until) =>
      killServices(testBed, { mix, everyMs: size.everyMs, until }),
    );
    const examination = await examine(testBed, runs);
    const workerKills = testBed.faults.times('kill -9', 'agent-worker');
    const takeover = findSpread(examination.runs.flatMap(({ facts }) => takeovers(facts, workerKills, noticedAfterMs)));
    return toFindings(testBed, examination, {
      size: `${runs.length} runs × ${size.iterations} iterations × 2 calls, ${size.atOnce} at once, a kill every ${size.everyMs / 1_000} s once the one before is back`,
      times: { takeover },
      bars: [
        atLeast('kills', { seen: testBed.faults.faults.length, wanted: size.kills }),
        within('takeover p95', takeover?.p95, 20_000),
      ],
    });
  },
};
