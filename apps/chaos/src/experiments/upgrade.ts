import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import type { DeploymentRequest } from '@rondo/test-deployment';
import { terminal } from '../../../../deploy/local/progress.mjs';
import { buildReleased, readReleasedCommit } from '../../../../deploy/local/tests/released-build.mjs';
import { type Experiment, toFindings } from '../experiment';
import { type Findings, atLeast, never } from '../scorecard/findings';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { quiet } from '../test-bed/start-runs';
import { receiptIn } from '../test-bed/stopped-run';
import type { Scale, TestBed, TestBedRequest } from '../test-bed/test-bed';
import { UpgradeLoad } from '../upgrade/upgrade-load';
import { WatchedRuns } from '../test-bed/watched-runs';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';

const sizes = {
  full: { atOnce: 16, iterations: 8, pauseMs: 5_000 },
  small: { atOnce: 6, iterations: 4, pauseMs: 500 },
};
const settledWithinMs = 300_000;

interface Pass {
  readonly to: Version;
  readonly order: readonly string[];
}

/** An upgrade and the way back, twice, each in an order of its own. */
const passes: readonly Pass[] = [
  { to: 'new', order: ['gateway', 'agent-worker', 'tool-executor', 'summarizer'] },
  { to: 'released', order: ['gateway', 'summarizer', 'tool-executor', 'agent-worker'] },
  { to: 'new', order: ['summarizer', 'tool-executor', 'agent-worker', 'gateway'] },
  { to: 'released', order: ['tool-executor', 'agent-worker', 'gateway', 'summarizer'] },
];

class Upgrade implements Experiment {
  readonly name = 'upgrade';
  readonly title =
    'The services of the last release and of this version side by side, on the schema of this version, under runs that ' +
    'come and go and are watched: of many steps, summarized, with a question, with the default tools, queued on a thread whose files they share, and ' +
    'stopped. One instance after the other is replaced, forwards and back, in four orders. Nothing may fail, be lost, or be done twice.';

  private versions: MixedVersions | undefined;

  async deployment({ from = readReleasedCommit() }: Scale): Promise<TestBedRequest> {
    this.versions = new MixedVersions(await buildReleased(from, terminal));
    const settings = { 'demo-model': { DEMO_CONTENT_OPTIONAL: '1' } };
    return { leases: 'production', launch: this.versions.launch, settings };
  }

  async run(testBed: TestBed, scale: Scale): Promise<Findings> {
    const { pauseMs, ...size } = sizes[scale.name];
    const watched = new WatchedRuns(testBed);
    const load = new UpgradeLoad(testBed, watched, { ...size, withinMs: settledWithinMs });
    const over = new AbortController();
    await Promise.all([load.run(over.signal), this.replaceAll(testBed, pauseMs).finally(() => over.abort())]);
    await quiet(testBed, load.runs, scale.quietMs);
    await watched.waitForEnds(scale.quietMs);

    const examination = await examine(testBed, load.runs, { mayEnd: ['stopped'] });
    const streamFlaws = watched.flaws(examination.runs);
    const stopFlaws = examination.runs.flatMap((run) => listStopFlaws(run, load.stopped));
    const facts = examination.runs.flatMap((run) => run.facts);
    const summaries = facts.filter(
      ({ type, data }) => type === 'context.compacted' && data.method === 'summary',
    ).length;
    return toFindings(testBed, examination, {
      size: `${testBed.faults.faults.length} replacements in ${passes.length} passes, ${size.atOnce} runs live at any time`,
      counts: {
        'streams watched': watched.size,
        connections: watched.connections,
        summaries,
        stopped: load.stopped.size,
      },
      details: [...examination.details, ...streamFlaws.slice(0, 5), ...stopFlaws.slice(0, 5)],
      bars: [
        never('streams that differ from their logs', streamFlaws.length),
        never('stops without effect, or without a request', stopFlaws.length),
        never('tool calls unknown', examination.unknown),
        never('compactions that failed', facts.filter(({ type }) => type === 'context.compaction_failed').length),
        atLeast('summaries by the summarizer', { seen: summaries, wanted: passes.length }),
        atLeast('runs stopped', { seen: load.stopped.size, wanted: passes.length }),
      ],
    });
  }

  private async replaceAll(testBed: TestBed, pauseMs: number): Promise<void> {
    await delay(pauseMs);
    for (const { to, order } of passes) {
      for (const service of order) {
        for (const { name } of testBed.instances(service)) await this.versions?.replace(testBed, name, to);
      }
      await delay(pauseMs);
    }
  }
}

export const upgrade: Experiment = new Upgrade();

/** Who was asked to stop must have stopped, with every tool seen dead, and no other run may have. */
function listStopFlaws({ id, tag, facts, settled }: ExaminedRun, stopped: ReadonlySet<string>): string[] {
  if (!stopped.has(id)) return settled?.status === 'stopped' ? [`${id} (${tag}) stopped by itself`] : [];
  const tools = receiptIn(facts)?.tools_stopped ?? [];
  const isDead = tools.length > 0 && tools.every(({ verified_dead_at: at }) => at !== null);
  return isDead
    ? []
    : [`${id} (${tag}) was stopped and its command was not seen dead: ${JSON.stringify(facts.at(-1))}`];
}

type Version = 'released' | 'new';
type Launch = NonNullable<DeploymentRequest['launch']>;

/** Which version each instance runs. All begin with the released one, except the demo model, which stands for a provider. */
class MixedVersions {
  private readonly newer = new Set<string>(['demo-model']);

  /** `released` is the directory with the build of the released version. */
  constructor(private readonly released: string) {}

  readonly launch: Launch = ({ service, name, env }) => ({
    file: process.execPath,
    args: [join('apps', service, 'dist/main.js')],
    cwd: this.newer.has(name) ? repoRoot : this.released,
    env,
  });

  /** Stops the instance as an orchestrator does, with SIGTERM, and starts the other version of it. */
  async replace(testBed: TestBed, name: string, version: Version): Promise<void> {
    const instance = testBed.rondo.services.get(name);
    testBed.faults.note(`to ${version}`, name);
    testBed.progress.faults += 1;
    await instance.stop();
    if (version === 'new') this.newer.add(name);
    else this.newer.delete(name);
    await instance.start();
  }
}
