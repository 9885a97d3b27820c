import type { RunId } from '@rondo/contract';
import {
  type AgentPorts,
  type AgentRun,
  type ClaimedRun,
  type LastClaim,
  type Model,
  type ModelChunk,
  type ModelRequest,
  ClaimLostError,
  ConnectionsAwaited,
  endUnreadableRun,
  failRun,
  isOverruled,
  maxFruitlessClaims,
  NewerRunError,
  outOfTime,
  replay,
  runAgent,
  StopPendingError,
  TerminalError,
  timeLeftMs,
  toAgentRun,
  UnreadableRunError,
  waitForConnections,
} from '@rondo/domain';
import { AbandonedError, ActiveRun, OutageBackoff, handOver } from '@rondo/run-holder';
import { RunJournal } from '../delivery/run-journal';
import type { CallJournal } from './account-reservations';
import type { ActivationOutcome, AgentRunnerParts, RunPortsParts } from './agent-runner-parts';

/** Claims a run, runs the agent loop on it, and releases it in a state from which any worker can continue. */
export class AgentRunner {
  private readonly outage = new OutageBackoff();

  constructor(private readonly parts: AgentRunnerParts) {}

  /** Rejects only when the database cannot be reached; the lease then runs out and the reaper queues the run again. */
  activate(id: RunId): Promise<ActivationOutcome> {
    return this.activateClaim(() => this.parts.store.claim(id, this.parts.owner));
  }

  /** The same for the run whose turn it is. */
  activateNext(): Promise<ActivationOutcome> {
    const { store, owner, activeRuns } = this.parts;
    return this.activateClaim(() => store.claimNext(owner, () => activeRuns.listServed()));
  }

  private async activateClaim(claim: () => Promise<ClaimedRun | undefined>): Promise<ActivationOutcome> {
    const outcome = await this.claimAndRun(claim);
    if (hasCommittedJob(outcome)) await this.parts.publishJobs(); // the run is released by now: Redis may take long to answer
    return outcome;
  }

  private async claimAndRun(claimRun: () => Promise<ClaimedRun | undefined>): Promise<ActivationOutcome> {
    try {
      const claim = await claimRun();
      if (!claim) return 'not due';
      const outcome = await this.runTraced(claim);
      await this.parts.afterActivation?.(claim, outcome);
      return outcome;
    } catch (error) {
      if (error instanceof NewerRunError) return this.leave(error);
      if (!(error instanceof UnreadableRunError)) throw error;
      const { runId, fruitlessClaims, cause } = error;
      this.parts.onError({ runId, fruitlessClaims, error: cause });
      return fruitlessClaims < maxFruitlessClaims ? 'not readable' : endWithoutLog(runId, this.parts);
    }
  }

  /** To workers of a newer version. A stop needs none: it ends the run from its rows alone. */
  private leave(error: NewerRunError): Promise<ActivationOutcome> | ActivationOutcome {
    const { runId, isStopping } = error;
    if (isStopping) return endWithoutLog(runId, this.parts);
    this.parts.onError({ runId, fruitlessClaims: 0, error });
    return 'needs a newer version';
  }

  private async runTraced(claim: ClaimedRun): Promise<ActivationOutcome> {
    const endTrace = this.parts.activated?.(claim);
    let outcome: ActivationOutcome | 'broke' = 'broke';
    try {
      return (outcome = await this.run(claim));
    } finally {
      endTrace?.(outcome);
    }
  }

  private async run(claim: ClaimedRun): Promise<ActivationOutcome> {
    if (claim.fruitlessClaims > maxFruitlessClaims) return this.endBroken(claim);
    const active = this.parts.activeRuns.add(claim);
    try {
      active.signals.abandon.throwIfAborted(); // a job may still arrive while the worker shuts down
      assertProgress(claim);
      const outcome = await this.runWithPorts(claim, active);
      this.outage.reset();
      return outcome;
    } catch (error) {
      return await this.handleError(active, error);
    } finally {
      this.parts.activeRuns.remove(active);
    }
  }

  /** Even failing the run from its log broke, so the log is not read again. */
  private async endBroken(claim: ClaimedRun): Promise<ActivationOutcome> {
    await handOver(claim, { broke: true }, this.parts);
    return endWithoutLog(claim.runId, this.parts);
  }

  private async runWithPorts(due: ClaimedRun, active: ActiveRun): Promise<ActivationOutcome> {
    const { store, feed, modelFor, toolSetFor, toolsFor, journal: settings, withWorkspace } = this.parts;
    const endSignal = AbortSignal.any([active.signals.stop, active.signals.abandon]);
    const claimed = (await withWorkspace?.(due, endSignal)) ?? due; // servers that are commands run there
    const toolSet = await toolSetFor(claimed, endSignal);
    const claim = await this.prepare(claimed, active); // it checks last whether the run was abandoned
    const run = toAgentRun(claim, toolSet);
    const journal = new RunJournal(claim, { store, feed, settings, failed: (error) => active.abandon(error) });
    active.openStreams = () => journal.streamsSoFar();
    const tools = toolsFor(claim, journal, toolSet);
    const closeTools = () => tools.close(active.signals.abandon.reason as Error); // `abandon` accepts nothing else
    active.signals.abandon.addEventListener('abort', closeTools, { once: true });

    try {
      const { abandon } = active.signals;
      const isShuttingDown = () => this.parts.activeRuns.isDraining;
      const model = new AbandonableModel({ model: modelFor(claim), abandon, isShuttingDown });
      const archive = this.parts.toArchive?.(claim);
      const ports = toPorts(this.parts, {
        claim,
        journal,
        abandon,
        model,
        tools,
        archive,
        memory: this.parts.toMemory?.(claim),
        waitingMessages: () => active.unread(async () => (await this.parts.waitingMessages?.(claim)) ?? []),
        ...this.parts.toTree?.(claim),
      });
      return (await this.runLoop(run, journal, { ports, active })) ?? (await this.handOver(claim));
    } catch (error) {
      if (error instanceof TerminalError) await journal.waitForWrites(); // commits what the run did before it fails
      throw error;
    } finally {
      tools.close(activationEnded);
      this.parts.accountBudgets?.forget(claim.runId);
    }
  }

  private async prepare(claim: ClaimedRun, { signals: { stop, abandon } }: ActiveRun): Promise<ClaimedRun> {
    const either = AbortSignal.any([stop, abandon]);
    const ready = await this.parts.prepared?.(await this.withFirstFacts(claim, either), either);
    abandon.throwIfAborted();
    return ready ?? claim;
  }

  private async withFirstFacts(claim: ClaimedRun, signal: AbortSignal): Promise<ClaimedRun> {
    const { store, feed, recordedFirst } = this.parts;
    const first = (await recordedFirst?.(claim, signal)) ?? [];
    if (first.length === 0) return claim;
    const facts = await store.append(claim, first);
    feed.publish(facts);
    return { ...claim, log: [...claim.log, ...facts] };
  }

  /** Undefined when the loop left the run to another worker. */
  private async runLoop(
    run: AgentRun,
    journal: RunJournal,
    { ports, active }: { ports: AgentPorts; active: ActiveRun },
  ): Promise<'ended' | 'parked' | undefined> {
    active.stopIn(timeLeftMs(run, { now: ports.clock.now() }), () => outOfTime(run.settings));
    for await (const step of runAgent(run, ports, active.signals)) {
      active.signals.abandon.throwIfAborted(); // a step that follows from an abandoned stream must not be written
      if ('delta' in step) {
        journal.publishDelta(step.delta);
        continue;
      }
      await journal.write(step);
      active.signals.abandon.throwIfAborted();
    }
    await journal.commit();
    return journal.claimEnded;
  }

  private async handOver(claim: ClaimedRun, how = { broke: false }): Promise<ActivationOutcome> {
    await handOver(claim, how, this.parts);
    return 'handed over';
  }

  /** The only place that distinguishes the kinds of error. */
  private async handleError(active: ActiveRun, error: unknown): Promise<ActivationOutcome> {
    const { claim } = active;
    if (error instanceof ClaimLostError) return 'claim lost';
    if (error instanceof TerminalError) return this.fail(claim, error);
    if (error instanceof ConnectionsAwaited) return this.park(active, error);
    if (isOverruled(error)) return this.runAgain(claim);
    if (error instanceof AbandonedError) return this.handOver(claim);
    if (this.parts.isOutage(error)) {
      await this.outage.pause(active);
      return this.handOver(claim);
    }
    const { runId, fruitlessClaims } = claim;
    this.parts.onError({ runId, fruitlessClaims, error });
    return this.handOver(claim, { broke: true });
  }

  /** From the log as it is now. Another worker would get to the run only behind the whole queue. */
  private async runAgain(claim: ClaimedRun): Promise<ActivationOutcome> {
    const next = await this.claimAgain(claim);
    return next ? this.run(next) : 'claim lost';
  }

  /** A run that cannot start before people have connected its servers. */
  private async park({ claim }: ActiveRun, { servers }: ConnectionsAwaited): Promise<ActivationOutcome> {
    const { store, feed, clock } = this.parts;
    try {
      const { settings } = claim.run;
      feed.publish(await store.append(claim, [waitForConnections(servers, { now: clock.now(), settings })]));
      return 'parked';
    } catch (error) {
      return this.handleError(new ActiveRun(claim), error);
    }
  }

  /** Claims the run again, to fail it with every open call answered. If a stop was requested, it stops the run instead. */
  private async fail(claim: ClaimedRun, { code, message }: TerminalError): Promise<ActivationOutcome> {
    const { store, ids, feed } = this.parts;
    const last = await this.claimAgain(claim);
    if (!last) return 'claim lost';
    if (last.stop) return this.run(last);

    const { runId, threadId, log, earlier } = last;
    try {
      const run = { id: runId, threadId, state: replay(log, earlier) };
      feed.publish(await store.append(last, failRun(run, ids, { code, message })));
      return 'ended';
    } catch (error) {
      return this.handleError(new ActiveRun(last), error);
    }
  }

  private async claimAgain(claim: ClaimedRun): Promise<ClaimedRun | undefined> {
    const { store, owner } = this.parts;
    await store.handOver(claim);
    return store.claim(claim.runId, owner);
  }
}

/** A parked run may wait for a summarizer, to which its job must be published as after a handover. */
const hasCommittedJob = (outcome: ActivationOutcome): boolean => outcome === 'handed over' || outcome === 'parked';

/** Shared instance: capturing a stack for each run is costly and nothing reads it. */
const activationEnded = new AbandonedError('the activation has ended');

function assertProgress({ fruitlessClaims, stop }: ClaimedRun): void {
  if (fruitlessClaims < maxFruitlessClaims || stop) return;
  throw new TerminalError('no_progress', `The run was claimed ${fruitlessClaims} times in a row without progress.`);
}

interface HeldRun {
  readonly claim: ClaimedRun;
  readonly journal: CallJournal;
  /** The run is let go of. */
  readonly abandon: AbortSignal;
}

/** The ports of one run. */
function toPorts(
  {
    accountBudgets,
    reservations,
    tokens,
    resolveBudget,
    findFacts,
    ids,
    clock,
    honoursKeys,
    leastInputPrice,
  }: RunPortsParts,
  {
    claim,
    journal,
    abandon,
    ...own
  }: Pick<AgentPorts, 'model' | 'tools' | 'archive' | 'memory' | 'waitingMessages' | 'children' | 'treeBudget'> &
    HeldRun,
): AgentPorts {
  const accountIsSpent = accountBudgets?.of(claim.runId);
  const reserve = reservations?.of(claim, { journal, abandon });
  return {
    ...own,
    tokens,
    resolveBudget,
    findFacts,
    ids,
    clock,
    honoursKeys,
    leastInputPrice,
    accountIsSpent,
    reserve,
  };
}

interface AbandonableModelParts {
  readonly model: Model;
  readonly abandon: AbortSignal;
  readonly isShuttingDown: () => boolean;
}

/**
 * A model whose streams end at once when the run is abandoned. Unlike a stop this completes no reply: nothing more of the
 * loop is written, so the next holder withdraws the partial reply and calls the model again.
 *
 * A reply that is lost while the worker shuts down abandons the run too. What carries the connection often ends at the same
 * time, so the loss says nothing about the model, and it must not count as one of the attempts at a reply.
 */
class AbandonableModel implements Model {
  private lastSignals: { readonly with: AbortSignal; readonly either: AbortSignal } | undefined;

  constructor(private readonly parts: AbandonableModelParts) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[], void> {
    for await (const chunks of this.parts.model.stream(request, this.orAbandon(signal))) {
      if (this.parts.isShuttingDown() && chunks.some(isLoss))
        throw new AbandonedError('a reply was lost while the worker shuts down');
      yield chunks;
    }
  }

  /** Reuses the combined signal, since most calls of a run pass the same one. */
  private orAbandon(signal: AbortSignal): AbortSignal {
    if (this.lastSignals?.with !== signal)
      this.lastSignals = { with: signal, either: AbortSignal.any([signal, this.parts.abandon]) };
    return this.lastSignals.either;
  }
}

const isLoss = (chunk: ModelChunk): boolean =>
  chunk.type === 'end' && (chunk.how === 'broken' || chunk.how === 'failed');

type EndingParts = Pick<AgentRunnerParts, 'owner' | 'store' | 'feed' | 'ids'>;

/** Ends a run whose log cannot be used, from its rows alone. */
async function endWithoutLog(id: RunId, parts: EndingParts): Promise<'not due' | 'ended' | 'claim lost'> {
  const claim = await parts.store.claimToEnd(id, parts.owner);
  return claim ? end(claim, parts) : 'not due';
}

async function end(claim: LastClaim, parts: EndingParts): Promise<'ended' | 'claim lost'> {
  const { store, feed, ids } = parts;
  try {
    feed.publish(await store.append(claim, endUnreadableRun(claim, ids)));
    return 'ended';
  } catch (error) {
    if (error instanceof ClaimLostError) return 'claim lost';
    if (error instanceof StopPendingError) return end({ ...claim, stop: error.stop }, parts);
    throw error;
  }
}
