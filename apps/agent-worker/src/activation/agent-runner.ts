import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedResult, RunId } from '@rondo/contract';
import {
  type AgentPorts,
  type AgentRun,
  ClaimLostError,
  type ClaimedRun,
  type FairClaims,
  type LastClaims,
  type Model,
  type RunStore,
  StopPendingError,
  TerminalError,
  type ThreadArchive,
  type Tools,
  UnreadableRunError,
  failRun,
  maxFruitlessClaims,
  outOfTime,
  replay,
  runAgent,
  timeLeftMs,
} from '@rondo/domain';
import { AbandonableModel } from './abandonable-model';
import { AbandonedError, ActiveRun } from './active-run';
import { endWithoutLog } from './end-without-log';
import { giveBack } from './give-back';
import type { ActiveRuns } from './active-runs';
import { Outage } from './outage';
import { type JournalSettings, type RunFeed, RunJournal } from '../delivery/run-journal';
import { type RunPortsParts, portsOf } from './run-ports';

/** How an activation ended. */
export type ActivationOutcome = 'not due' | 'not readable' | 'ended' | 'parked' | 'handed over' | 'claim lost';

export interface ActiveTools<Result = RecordedResult> extends Tools<Result> {
  close(reason: Error): void;
}

export interface AgentRunnerParts extends RunPortsParts {
  readonly owner: string;
  readonly store: RunStore & FairClaims & LastClaims;
  readonly feed: RunFeed;
  /** The claim with the images of its messages' URLs; early, without all of them, after an abort. */
  readonly withImages?: (claim: ClaimedRun, signal: AbortSignal) => Promise<ClaimedRun>;
  readonly modelFor: (claim: ClaimedRun) => Model;
  readonly toolsFor: (claim: ClaimedRun, journal: RunJournal) => ActiveTools;
  readonly archiveOf?: (claim: ClaimedRun) => ThreadArchive;
  readonly held: ActiveRuns;
  /** Hears of activations that broke for a reason nobody foresaw. */
  readonly broke: (about: { runId: RunId; fruitlessClaims: number; error: unknown }) => void;
  readonly journal: JournalSettings;
  /** An outage that says nothing about the run, a database that restarts for instance. */
  readonly passes: (error: unknown) => boolean;
  /** Somebody else is to take the run: brings it to its queue. */
  readonly handedOver: () => Promise<void>;
}

/** Takes a run through as many iterations as it may, and leaves it in a state in which anyone can take it on. */
export class AgentRunner {
  private readonly outage = new Outage();

  constructor(private readonly parts: AgentRunnerParts) {}

  /** Rejects only when the database cannot be reached; the lease then runs out and the reaper queues the run again. */
  activate(id: RunId): Promise<ActivationOutcome> {
    return this.takeOn(() => this.parts.store.claim(id, this.parts.owner));
  }

  /** The same for the run whose turn it is. */
  activateNext(): Promise<ActivationOutcome> {
    const { store, owner, held } = this.parts;
    return this.takeOn(() => store.claimNext(owner, () => held.served()));
  }

  private async takeOn(take: () => Promise<ClaimedRun | undefined>): Promise<ActivationOutcome> {
    const verdict = await this.tryOn(take);
    if (isForOthers(verdict)) await this.parts.handedOver(); // the run is let go of by now: a queue may take long to answer
    return verdict;
  }

  private async tryOn(take: () => Promise<ClaimedRun | undefined>): Promise<ActivationOutcome> {
    try {
      const claim = await take();
      return claim ? await this.hold(claim) : 'not due';
    } catch (error) {
      if (!(error instanceof UnreadableRunError)) throw error;
      const { runId, fruitlessClaims, cause } = error;
      this.parts.broke({ runId, fruitlessClaims, error: cause });
      return fruitlessClaims < maxFruitlessClaims ? 'not readable' : endWithoutLog(runId, this.parts);
    }
  }

  private async hold(claim: ClaimedRun): Promise<ActivationOutcome> {
    if (claim.fruitlessClaims > maxFruitlessClaims) return this.endBroken(claim);
    const held = this.parts.held.hold(claim);
    try {
      held.signals.abandon.throwIfAborted(); // a worker that is leaving may be given one more job
      requireHope(claim);
      const verdict = await this.drive(claim, held);
      this.outage.isOver();
      return verdict;
    } catch (error) {
      return await this.leave(held, error);
    } finally {
      this.parts.held.release(held);
    }
  }

  /** It broke also when it was to be given up, so what its log says is of no use. */
  private async endBroken(claim: ClaimedRun): Promise<ActivationOutcome> {
    await giveBack(claim, { broke: true }, this.parts);
    return endWithoutLog(claim.runId, this.parts);
  }

  private async drive(given: ClaimedRun, held: ActiveRun): Promise<ActivationOutcome> {
    const claim = await this.withImages(given, held);
    const { store, feed, modelFor, toolsFor, journal: settings } = this.parts;
    const journal = new RunJournal(claim, { store, feed, settings, failed: (error) => held.abandon(error) });
    held.journal = journal;
    const tools = toolsFor(claim, journal);
    const leave = () => tools.close(held.signals.abandon.reason as Error); // whoever abandons gives an Error
    held.signals.abandon.addEventListener('abort', leave, { once: true });

    try {
      const model = new AbandonableModel(modelFor(claim), held.signals.abandon);
      const archive = this.parts.archiveOf?.(claim);
      const ports = portsOf(this.parts, claim.runId, { model, tools, archive });
      return await this.follow(claim, journal, { ports, held });
    } catch (error) {
      if (error instanceof TerminalError) await journal.settled(); // what the run did comes before its end
      throw error;
    } finally {
      tools.close(wasLeft);
      this.parts.accountBudgets?.forget(claim.runId);
    }
  }

  private async withImages(claim: ClaimedRun, { signals: { stop, abandon } }: ActiveRun): Promise<ClaimedRun> {
    const shown = await this.parts.withImages?.(claim, AbortSignal.any([stop, abandon]));
    abandon.throwIfAborted();
    return shown ?? claim;
  }

  private async follow(
    claim: ClaimedRun,
    journal: RunJournal,
    { ports, held }: { ports: AgentPorts; held: ActiveRun },
  ): Promise<ActivationOutcome> {
    const run = agentRun(claim);
    held.endsIn(timeLeftMs(run, { now: ports.clerk.now() }), () => outOfTime(run.settings));
    for await (const step of runAgent(run, ports, held.signals)) {
      held.signals.abandon.throwIfAborted(); // what follows from a stream that was left is not the run's
      if ('delta' in step) {
        journal.publishDelta(step.delta);
        continue;
      }
      await journal.write(step);
      held.signals.abandon.throwIfAborted();
    }
    await journal.commit();
    if (journal.claimEnded) return journal.claimEnded;

    return this.handOver(claim);
  }

  private async handOver(claim: ClaimedRun, how = { broke: false }): Promise<ActivationOutcome> {
    await giveBack(claim, how, this.parts);
    return 'handed over';
  }

  /** The one place where the kinds of error are told apart. */
  private async leave(held: ActiveRun, error: unknown): Promise<ActivationOutcome> {
    const { claim } = held;
    if (error instanceof ClaimLostError) return 'claim lost';
    if (error instanceof TerminalError) return this.fail(claim, error);
    if (error instanceof StopPendingError) return this.goOn(claim);
    if (error instanceof AbandonedError) return this.handOver(claim);
    if (this.parts.passes(error)) {
      await pause(this.outage.pauseMs(), held);
      return this.handOver(claim);
    }
    const { runId, fruitlessClaims } = claim;
    this.parts.broke({ runId, fruitlessClaims, error });
    return this.handOver(claim, { broke: true });
  }

  /** With what is in the log by now. Whoever else takes it would have to come by it in the queue, behind all others. */
  private async goOn(claim: ClaimedRun): Promise<ActivationOutcome> {
    const next = await this.takeAgain(claim);
    return next ? this.hold(next) : 'claim lost';
  }

  /** Takes the run once more, to end it with every open call answered. A run that was told to stop is stopped instead. */
  private async fail(claim: ClaimedRun, { code, message }: TerminalError): Promise<ActivationOutcome> {
    const { store, clerk, feed } = this.parts;
    const last = await this.takeAgain(claim);
    if (!last) return 'claim lost';
    if (last.stop) return this.hold(last);

    try {
      feed.publish(await store.append(last, failRun(agentRun(last), clerk, { code, message })));
      return 'ended';
    } catch (error) {
      return this.leave(new ActiveRun(last), error);
    }
  }

  private async takeAgain(claim: ClaimedRun): Promise<ClaimedRun | undefined> {
    const { store, owner } = this.parts;
    await store.handOver(claim);
    return store.claim(claim.runId, owner);
  }
}

/** Others hear of it by a queue. A run that is parked may be the summarizers' now. */
const isForOthers = (verdict: ActivationOutcome): boolean => verdict === 'handed over' || verdict === 'parked';

/** Ends early where the run is to stop or this process to end. */
const pause = (ms: number, { signals: { stop, drain } }: ActiveRun): Promise<void> =>
  sleep(ms, undefined, { signal: AbortSignal.any([stop, drain]) }).catch(() => undefined);

/** Nobody looks at where it was made, and to note that costs more than all else about it. */
const wasLeft = new AbandonedError('the run was left');

function requireHope({ fruitlessClaims, stop }: ClaimedRun): void {
  if (fruitlessClaims < maxFruitlessClaims || stop) return;
  throw new TerminalError('no_progress', `The run was taken up ${fruitlessClaims} times in a row and came no further.`);
}

const agentRun = ({ runId, threadId, run, log, earlier }: ClaimedRun): AgentRun => ({
  id: runId,
  threadId,
  settings: run.settings,
  createdAt: run.created_at,
  state: replay(log, earlier),
});
