import type { RunWait, WaitCause } from '@rondo/contract';
import { explainPreparation, explainQueueShare, explainServerStart } from '@rondo/domain';
import type { QueueShares } from '@rondo/messaging';
import type { RunAddress, RunHolder, Runs } from '@rondo/persistence';
import type { SignsOfLife } from '../operations/signs-of-life';
import type { SandboxService } from '../sandboxes/sandbox-service';
import type { WorkerSignals } from './worker-signals';

interface RunWaitsParts {
  readonly runs: Pick<Runs, 'why'>;
  readonly queueShares: Pick<QueueShares, 'read'>;
  /** The worker that holds the run, if any. */
  readonly findHolder: (run: RunAddress) => Promise<RunHolder | undefined>;
  readonly workers: Pick<WorkerSignals, 'callsProblem' | 'startingServers'>;
  readonly executors: Pick<SandboxService, 'findPreparationStep'>;
  readonly signsOfLife: Pick<SignsOfLife, 'findProblem' | 'findHolderProblem' | 'findExecutorProblem'>;
}

/**
 * What runs wait for: Postgres knows it of all, Redis of which the worker waits until a call may be sent, and a worker itself
 * why it can send none, and which MCP servers it waits for; an executor what of a workspace it prepares.
 */
export class RunWaits {
  constructor(private readonly parts: RunWaitsParts) {}

  /** Rejects with `run_not_found`. While Redis is away, a call that waits to be sent counts as running. */
  async explain(address: RunAddress): Promise<RunWait> {
    const wait = await this.parts.runs.why(address);
    if (forPeople.has(wait.cause)) return wait;
    const holder = await this.parts.findHolder(address);
    const problem = this.findSilence(wait, holder?.workerId);
    if (problem !== undefined) return { ...wait, sentence: `${wait.sentence} ${problem}` };
    if (wait.cause === 'worker' && holder)
      return explainServerStart(wait, await this.parts.workers.startingServers(holder.workerId, address.runId));
    if (wait.cause === 'workspace') return this.explainWorkspace(wait, address);
    return wait.cause === 'tool' ? this.explainTool(wait, { address, holder }) : wait;
  }

  private async explainWorkspace(wait: RunWait, address: RunAddress): Promise<RunWait> {
    const { executor_id: executorId } = wait;
    const step = executorId && (await this.parts.executors.findPreparationStep(executorId, address));
    return step ? explainPreparation(wait, step) : wait;
  }

  /** Which process that has to act gives no sign of life. */
  private findSilence({ cause, executor_id: executorId }: RunWait, holderId: string | undefined): string | undefined {
    const { signsOfLife } = this.parts;
    const service = cause === 'summary' ? 'summarizer' : 'agent-worker';
    if (holderId === undefined || cause === 'takeover') return signsOfLife.findProblem(service);
    const problem = signsOfLife.findHolderProblem(holderId);
    return problem ?? (executorId === undefined ? undefined : signsOfLife.findExecutorProblem(executorId));
  }

  private async explainTool(wait: RunWait, { address, holder }: HeldRun): Promise<RunWait> {
    const { workers, queueShares } = this.parts;
    const problem = holder && (await workers.callsProblem(holder.workerId, address.runId));
    if (problem !== undefined) return { ...wait, sentence: `${sendingWaits(wait)} ${problem}` };
    const share = await queueShares.read(address.accountId).catch(() => undefined);
    return share?.waitingRuns.includes(address.runId) ? explainQueueShare(wait) : wait;
  }
}

interface HeldRun {
  readonly address: RunAddress;
  readonly holder: RunHolder | undefined;
}

/** No process of the deployment has to act on these now. */
const forPeople: ReadonlySet<WaitCause> = new Set([
  'none',
  'thread',
  'answer',
  'approval',
  'elicitation',
  'budget',
  'tool_unknown',
  'child_runs',
]);

const sendingWaits = ({ tool_calls: calls = [] }: RunWait): string =>
  `Waits to send ${calls.map(({ name }) => name).join(', ')}.`;
