import { type Approval, RondoError } from '@rondo/client';
import type { ApprovalOutcome } from '@rondo/contract';
import type { Fact } from '@rondo/test-deployment';
import { never } from '../scorecard/findings';
import type { Examination } from '../test-bed/examine';
import { inLanes } from '../test-bed/pace';
import { findEffect, callsWith } from '../test-bed/planned-effects';
import { type PatientClient, collect } from '../test-bed/patient-client';
import { type RunRequest, keyCall, scriptRun, unsafeCommand } from '../test-bed/run-requests';
import { launch, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import type { Load, LoadAudit } from './load';

/** What each of the two deciders says of each of the calls. */
const plans = {
  agreed: ['approve', 'approve'],
  disputed: ['approve', 'deny'],
  refused: ['deny', 'deny'],
} as const satisfies Record<string, readonly Verdict[]>;
type Plan = keyof typeof plans;

/** Calls that wait for two people, who decide at the same time over two gateways. */
export class ApprovalLoad implements Load {
  private readonly decided: Decided[] = [];
  private readonly runIds: string[] = [];
  private readonly deciders: readonly PatientClient[];

  constructor(
    private readonly testBed: TestBed,
    private readonly atOnce: number,
  ) {
    this.deciders = testBed.client.forEachGateway();
  }

  run(over: AbortSignal, withinMs: number): Promise<void> {
    return inLanes({ over, atOnce: this.atOnce }, (n) => this.play(n, withinMs));
  }

  audit({ runs }: Examination): Promise<LoadAudit> {
    const facts = new Map(runs.map((run) => [run.id, run.facts] as const));
    const applied = this.testBed.effects.ledger.countEffects();
    const findings = this.decided.map((of) => ({
      of,
      flaws: listFlaws(of, { facts: facts.get(of.approval.run_id) ?? [], applied: applied.get(of.tag) }),
    }));
    const those = (flaw: Flaw) => findings.filter(({ flaws }) => flaws.includes(flaw));
    return Promise.resolve({
      kind: 'approvals',
      seen: this.decided.length,
      lost: those('lost').length,
      doubled: those('doubled').length,
      bars: [
        never('denied calls that took effect', those('denied').length),
        never('decisions other than those that a decider was told', those('contradicted').length),
      ],
      details: findings.flatMap(({ of, flaws }) => flaws.map((flaw) => `${of.approval.id} (${of.tag}): ${flaw}`)),
      runIds: this.runIds,
    });
  }

  private async play(n: number, withinMs: number): Promise<void> {
    const run = await launch(this.testBed, approvalRun(this.testBed, `approval-${n}`));
    this.runIds.push(run.id);
    const known = new Set<string>();
    for (;;) {
      await settle(this.testBed, run, withinMs);
      if (run.settled?.status !== 'waiting_input') return;
      this.testBed.progress.ended -= 1;
      const open = (await this.openApprovals(run.id)).filter(({ id }) => !known.has(id));
      open.forEach(({ id }) => known.add(id));
      await Promise.all(open.map((approval) => this.decide(approval, n)));
    }
  }

  private async openApprovals(runId: string): Promise<Approval[]> {
    const open = await collect(this.testBed.client.approvals.list());
    return open.filter(({ run_id: run }) => run === runId);
  }

  private async decide(approval: Approval, n: number): Promise<void> {
    const tag = findEffect(approval.arguments)?.tag ?? '';
    const plan = plans[(tag.split('/')[1] ?? '') as Plan]; // the tags are made below
    const verdicts = n % 2 === 0 ? plan : plan.toReversed();
    const answers = await Promise.all(
      this.deciders.map((decider, index) => say(decider, approval, verdicts[index] ?? 'deny')),
    );
    this.decided.push({ approval, tag, inForce: answers.flat() });
  }
}

/** Resolves to the verdict if it is in force, and to nothing if the other one came first. */
async function say(decider: PatientClient, { id, arguments_hash }: Approval, verdict: Verdict): Promise<Verdict[]> {
  try {
    await decider.approvals.decide(id, { decision: verdict, arguments_hash });
    return [verdict];
  } catch (error) {
    if (error instanceof RondoError && error.code === 'approval_not_open') return [];
    throw error;
  }
}

function approvalRun({ effects }: TestBed, tag: string): RunRequest {
  const calls = [
    unsafeCommand(effects, { tag: `${tag}/agreed/unsafe` }),
    ...Object.keys(plans).map((plan) => keyCall(effects, { tag: `${tag}/${plan}/keyed` })),
  ];
  const needed = { enabled: true, require_approval: true, only: true };
  return scriptRun(tag, [{ calls }, { text: 'All decided.' }], {
    tools: { execute_command: needed, http_request: needed },
  });
}

export type Verdict = 'approve' | 'deny';

/** A call that waited for an approval, and what those said who were told that their decision is in force. */
interface Decided {
  readonly approval: Pick<Approval, 'id' | 'run_id' | 'tool_call_id'>;
  /** Of its effect. */
  readonly tag: string;
  readonly inForce: readonly Verdict[];
}

type Flaw = 'lost' | 'doubled' | 'denied' | 'contradicted';

/** `applied` is how often its effect was applied; undefined if no request for it has ever arrived. */
export function listFlaws(
  { approval, inForce }: Decided,
  { facts, applied }: { facts: readonly Fact[]; applied: number | undefined },
): Flaw[] {
  const decisions = facts.filter(({ type, data }) => type === 'approval.decided' && data.approval_id === approval.id);
  const outcome = decisions[0]?.data.outcome as ApprovalOutcome | undefined;
  const isDone = callsWith(facts, 'tool.completed').has(approval.tool_call_id ?? '');
  const flaws: Record<Flaw, boolean> = {
    lost: outcome === undefined || (outcome === 'approve' && isDone && !applied),
    doubled: decisions.length > 1 || inForce.length > 1 || (applied ?? 0) > 1,
    denied: outcome !== 'approve' && applied !== undefined,
    contradicted: inForce.some((verdict) => verdict !== outcome),
  };
  return (Object.keys(flaws) as Flaw[]).filter((flaw) => flaws[flaw]);
}
