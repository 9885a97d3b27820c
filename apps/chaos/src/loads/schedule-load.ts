import type { NewSchedule, Run } from '@rondo/client';
import { never } from '../scorecard/findings';
import { awaitAbort, comesTrue } from '../test-bed/pace';
import { collect } from '../test-bed/patient-client';
import type { TestBed } from '../test-bed/test-bed';
import { type Load, type LoadAudit, isUnderWay, markWith, repeats, listRuns } from './load';

interface Plan {
  readonly name: string;
  readonly everyS: number;
  readonly overlap: NonNullable<NewSchedule['overlap']>;
}

const plans: readonly Plan[] = [
  { name: 'schedule-allow', everyS: 2, overlap: 'allow' },
  { name: 'schedule-queue', everyS: 5, overlap: 'queue' },
];

/** It fires no more. A pause would hold back what is still to be made up for. */
const nextYear = '0 0 1 1 *';

interface Firing extends Plan {
  readonly id: string;
  readonly firstDueAt: number;
}

/** Schedules that make up for what they have missed: each due time has one run. */
export class ScheduleLoad implements Load {
  private constructor(
    private readonly testBed: TestBed,
    private readonly firings: readonly Firing[],
  ) {}

  static async start(testBed: TestBed): Promise<ScheduleLoad> {
    return new ScheduleLoad(testBed, await Promise.all(plans.map((plan) => create(testBed, plan))));
  }

  async run(over: AbortSignal, withinMs: number): Promise<void> {
    await awaitAbort(over);
    const overAt = Date.now();
    await Promise.all(this.firings.map((firing) => this.end(firing, overAt, withinMs)));
  }

  async audit(): Promise<LoadAudit> {
    const audits = await Promise.all(this.firings.map((firing) => this.readAudit(firing)));
    const sum = (of: (audit: FiringAudit) => number) => audits.reduce((total, audit) => total + of(audit), 0);
    return {
      kind: 'due times of schedules',
      seen: sum(({ due }) => due),
      lost: sum(({ lost }) => lost.length),
      doubled: sum(({ doubled }) => doubled),
      bars: [
        never(
          'runs of a schedule that overlap although it queues them',
          sum(({ overlaps }) => overlaps),
        ),
      ],
      details: audits.flatMap(({ lost }) => lost),
      runIds: audits.flatMap(({ runIds }) => runIds),
    };
  }

  /** Once it has fired after the last fault, everything before has been made up for or is lost. */
  private async end({ id }: Firing, overAt: number, withinMs: number): Promise<void> {
    const { client } = this.testBed;
    const newest = async () => (await client.schedules.executions(id, { limit: 1 }).next()).value;
    await comesTrue(async () => Date.parse((await newest())?.due_at ?? '') > overAt, withinMs);
    await client.schedules.update(id, { cron: nextYear });
    const isDone = async () => !(await collect(client.schedules.executions(id))).some(isUnderWay);
    await comesTrue(isDone, withinMs);
  }

  private async readAudit({ id, name, everyS, overlap, firstDueAt }: Firing): Promise<FiringAudit> {
    const executions = await collect(this.testBed.client.schedules.executions(id));
    const runs = await listRuns(this.testBed, name);
    const runIds = runs.map((run) => run.id);
    const dueAt = executions.map(({ due_at: at }) => Date.parse(at ?? ''));
    const due = timesBetween(firstDueAt, Math.max(...dueAt), everyS * 1_000);
    const fired = new Set(
      executions
        .filter(({ status, run_id: run }) => status === 'started' && run !== null && runIds.includes(run))
        .map(({ due_at: at }) => Date.parse(at ?? '')),
    );
    return {
      due: due.length,
      lost: due
        .filter((at) => !fired.has(at))
        .map((at) => `${name}: nothing was started for ${new Date(at).toISOString()}`),
      doubled: repeats(dueAt) + repeats(runs.map(({ preview }) => preview)) + (runs.length - fired.size),
      overlaps: overlap === 'queue' ? listOverlaps(runs) : 0,
      runIds,
    };
  }
}

interface FiringAudit {
  readonly due: number;
  readonly lost: readonly string[];
  readonly doubled: number;
  readonly overlaps: number;
  readonly runIds: readonly string[];
}

async function create(testBed: TestBed, plan: Plan): Promise<Firing> {
  const { id, next_fire_at: first } = await testBed.client.schedules.create({
    name: plan.name,
    cron: `*/${plan.everyS} * * * * *`,
    missed: 'all',
    overlap: plan.overlap,
    run: { input: 'Due at {{due_at}}.', model: 'demo/plain', ...markWith(plan.name) },
  });
  return { ...plan, id, firstDueAt: Date.parse(first ?? '') };
}

/** Pairs of runs of which the later one was created before the earlier one had finished. */
function listOverlaps(runs: readonly Run[]): number {
  const inOrder = runs.toSorted((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at));
  return inOrder.filter(({ created_at: at }, index) => {
    const before = inOrder[index - 1];
    return before && Date.parse(before.finished_at ?? '9999-01-01') > Date.parse(at);
  }).length;
}

const timesBetween = (first: number, last: number, everyMs: number): number[] =>
  Array.from({ length: Math.max(0, Math.round((last - first) / everyMs) + 1) }, (_, index) => first + index * everyMs);
