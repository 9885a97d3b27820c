import { type Experiment, findingsOf } from '../experiment';
import { killServices } from '../faults/kill-services';
import { atLeast, within } from '../scorecard/findings';
import { spreadOf } from '../scorecard/spread';
import { examine } from '../stage/examine';
import { runThrough } from '../stage/run-through';
import { untilEnough } from '../stage/run-work';
import { takeovers } from '../stage/takeovers';
import { stepsOfTwo } from '../stage/work';

const sizes = {
  full: { runs: 300, iterations: 10, atOnce: 60, everyMs: 5_000, kills: 20 },
  small: { runs: 12, iterations: 4, atOnce: 12, everyMs: 2_500, kills: 2 },
};
const mix = { 'agent-worker': 6, 'tool-executor': 2, gateway: 1, summarizer: 1 };

/** Nobody is taken for dead sooner than this. */
const noticedAfterMs = 1_000;

export const kills: Experiment = {
  name: 'kills',
  title:
    'A random instance is killed with SIGKILL again and again until every run is over: of ten kills six hit one of three ' +
    'workers, two one of two executors, one a gateway, one the summarizer. A takeover is the time from the kill of a ' +
    'worker to the first fact of the next holder.',

  async run(stage, scale) {
    const size = sizes[scale.name];
    const isEnough = () => stage.faults.faults.length >= size.kills;
    const works = untilEnough({ about: 'kills', count: size.runs, isEnough }, (tag) =>
      stepsOfTwo(stage.effects, { tag, iterations: size.iterations }),
    );
    const runs = await runThrough(stage, { works, atOnce: size.atOnce, quietMs: scale.quietMs }, (until) =>
      killServices(stage, { mix, everyMs: size.everyMs, until }),
    );
    const examination = await examine(stage, runs);
    const workerKills = stage.faults.times('kill -9', 'agent-worker');
    const takeover = spreadOf(examination.runs.flatMap(({ facts }) => takeovers(facts, workerKills, noticedAfterMs)));
    return findingsOf(stage, examination, {
      size: `${runs.length} runs × ${size.iterations} iterations × 2 calls, ${size.atOnce} at once, a kill every ${size.everyMs / 1_000} s once the one before is back`,
      times: { takeover },
      bars: [
        atLeast('kills', { seen: stage.faults.faults.length, wanted: size.kills }),
        within('takeover p95', takeover?.p95, 20_000),
      ],
    });
  },
};
