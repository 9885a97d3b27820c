import { RondoError } from '@rondo/client';
import { isTerminal } from '@rondo/contract';
import { setTimeout as delay } from 'node:timers/promises';
import { never } from '../scorecard/findings';
import type { Examination } from '../test-bed/examine';
import { comesTrue, inLanes } from '../test-bed/pace';
import { collect } from '../test-bed/patient-client';
import { type LaunchedRun, launch } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import type { Load, LoadAudit } from './load';
import { type Tree, judgeTree } from './tree-audit';
import { type TreeKind, createHelper, isOfTree, treeKinds, treeRequest } from './trees';

/** More than any tree here spends. */
const raisedTokens = 10_000_000;
/** A stop comes at a random moment of this time. */
const stopWithinMs = 6_000;

/** Trees of runs: answers come back once, budgets hold for the whole tree, and a stop reaches all of it. */
export class TreeLoad implements Load {
  private readonly started: { readonly kind: TreeKind; readonly root: LaunchedRun }[] = [];

  private constructor(
    private readonly testBed: TestBed,
    private readonly atOnce: number,
  ) {}

  static async start(testBed: TestBed, atOnce: number): Promise<TreeLoad> {
    await createHelper(testBed);
    return new TreeLoad(testBed, atOnce);
  }

  run(over: AbortSignal, withinMs: number): Promise<void> {
    return inLanes({ over, atOnce: this.atOnce }, (n) => this.play(n, withinMs));
  }

  async audit({ runs }: Examination): Promise<LoadAudit> {
    const listed = await collect(this.testBed.client.runs.list());
    const facts = new Map(runs.map((run) => [run.id, run.facts] as const));
    const trees = this.started.map(({ kind, root }): Tree => ({
      kind,
      tag: root.tag,
      rootId: root.id,
      runs: listed.filter((run) => isOfTree(root.id, run)),
    }));
    const judged = trees.map((tree) => judgeTree(tree, facts));
    const sum = (of: (one: (typeof judged)[number]) => number) => judged.reduce((total, one) => total + of(one), 0);
    return {
      kind: 'child runs',
      seen: sum(({ calls }) => calls),
      lost: sum(({ lost }) => lost.length),
      doubled: sum(({ doubled }) => doubled.length),
      bars: [
        never(
          'trees that spent more than their budget and one reply of each run',
          sum(({ overspent }) => overspent.length),
        ),
        never(
          'runs that a stop of their tree did not reach',
          sum(({ unreached }) => unreached.length),
        ),
      ],
      details: judged.flatMap(({ lost, doubled, overspent, unreached }) => [
        ...lost,
        ...doubled,
        ...overspent,
        ...unreached,
      ]),
      runIds: trees.flatMap((tree) => tree.runs.map(({ id }) => id)),
    };
  }

  private async play(n: number, withinMs: number): Promise<void> {
    const kind = treeKinds[n % treeKinds.length] ?? 'plain';
    const root = await launch(this.testBed, treeRequest(this.testBed.effects, kind, `tree-${n}`));
    this.started.push({ kind, root });
    if (kind === 'stopped') {
      await delay(Math.random() * stopWithinMs);
      await this.testBed.client.requestStop(root.id);
    }
    await comesTrue(() => this.hasEnded(root, kind), withinMs);
    this.testBed.progress.ended += 1;
  }

  /** Raises the budget if a run of the tree waits for it. */
  private async hasEnded({ id }: LaunchedRun, kind: TreeKind): Promise<boolean> {
    const { client } = this.testBed;
    const run = await client.runs.get(id);
    if (isTerminal(run.status)) return true;
    const waits = [run, ...(run.children ?? [])].some(({ status }) => status === 'waiting_budget');
    if (kind === 'budget raised' && waits) {
      await client.runs.raiseBudget(id, { tokens: raisedTokens }).catch(unlessRefused);
    }
    return false;
  }
}

/** The tree has ended since. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof RondoError)) throw error;
}
