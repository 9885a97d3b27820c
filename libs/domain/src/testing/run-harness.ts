import {
  type NewFact,
  type RecordedFact,
  type RunId,
  type RunSettings,
  type SettingsRequest,
  runId,
  threadId,
} from '@rondo/contract';
import { summarize } from '../compaction/summarize';
import { type ResolveBudget, budgetOfModel } from '../models/model-budgets';
import { RunChangedError } from '../errors';
import { type AgentRun, type Step, toAgentRun } from '../loop-context';
import { runAgent } from '../loop/run-agent';
import type { Model, AgentPorts, Tools } from '../ports';
import { effectiveSettings } from '../profiles/effective-settings';
import { type ClaimedRun, withoutEnd } from '../run/claim';
import { type RunState, replay } from '../run/run-state';
import { tools as catalog } from '../tools/catalog';
import type { ToolDefinition } from '../tools/define-tool';
import { toToolSet } from '../tools/tool-set';
import { CountingIds, TickingClock } from './counting-ids';
import { EvenTokenCounter } from './even-token-counter';
import { InMemoryRunStore } from './in-memory-run-store';
import { LedgeredTools } from './ledgered-tools';

/** A worker that crashed. */
export class Crash extends Error {}

export interface CrashPoint {
  readonly step: number;
  readonly position: 'before' | 'after';
  /** Called at each step in that position, before the crash too. */
  readonly onStep?: () => void;
}

export interface HarnessParts {
  readonly model: Model;
  readonly tools?: Tools;
  readonly settings?: SettingsRequest;
  /** Those of its MCP servers. */
  readonly serverTools?: readonly ToolDefinition[];
  readonly input?: string;
  /** The memory stores that the run was created with. */
  readonly stores?: RunSettings['memory'];
  /** How far the clock moves each time it is read. */
  readonly tickMs?: number;
  /** The model of the summarizer. Without one, compactions go back to the workers. */
  readonly summarizer?: Model;
  readonly resolveBudget?: ResolveBudget;
  /** Ports that depend on the operator's configuration. */
  readonly extra?: Pick<
    AgentPorts,
    | 'findFacts'
    | 'honoursKeys'
    | 'leastInputPrice'
    | 'accountIsSpent'
    | 'children'
    | 'treeBudget'
    | 'reserve'
    | 'memory'
  >;
}

/**
 * Runs the loop with a store in memory, a scripted model and tools that count their effects. Replies are stored whole unless
 * the settings say otherwise, so that a crash never changes what a scripted model has said.
 */
export class RunHarness {
  readonly store = new InMemoryRunStore();
  readonly id: RunId = runId.parse('run_1');
  readonly tools: Tools;
  readonly deltas: Extract<Step, { delta: unknown }>['delta'][] = [];
  readonly stop = new AbortController();
  readonly drain = new AbortController();
  /** Whether a worker hears at once that a client has told the run something. If not, it finds out when it claims or ends the run. */
  isTold = true;
  readonly tokens = new EvenTokenCounter();
  readonly settings: RunSettings;
  private readonly ids = new CountingIds();
  private readonly clock: TickingClock;
  private readonly model: Model;
  private readonly summarizer: Model | undefined;
  private readonly resolveBudget: ResolveBudget;
  private readonly extra: HarnessParts['extra'];
  private readonly catalog: readonly ToolDefinition[];

  constructor({ model, tools = new LedgeredTools(), settings = {}, input = 'Do it.', ...rest }: HarnessParts) {
    this.clock = new TickingClock(rest.tickMs);
    this.model = model;
    this.summarizer = rest.summarizer;
    this.resolveBudget = rest.resolveBudget ?? budgetOfModel;
    this.tools = tools;
    this.extra = rest.extra;
    this.catalog = [...catalog, ...(rest.serverTools ?? [])];
    const processor = { execute_on_stream: false, ...settings.processor };
    const effective = effectiveSettings({ ...settings, processor }, { model: 'demo/coder' });
    if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
    this.settings = { ...effective.settings, ...(rest.stores && { memory: rest.stores }) };
    this.store.create({ id: this.id, threadId: threadId.parse('thr_1'), settings: this.settings, input });
  }

  /**
   * One activation by a worker that commits each step as late as it may. `onStep` may throw a Crash, which loses every
   * fact that was not committed. False if there was nothing to do.
   */
  async activate(onStep: (step: Step, position: 'before' | 'after') => void = () => {}): Promise<boolean> {
    const claim = await this.claim();
    if (!claim) return this.summarize();
    if (claim.stop) this.stop.abort(claim.stop);

    const agent = this.createAgent(claim);
    const { model, tools, tokens, resolveBudget, ids, clock } = this;
    const waitingMessages = () =>
      Promise.resolve(this.isTold || claim.mayHaveMessages ? this.store.waitingMessages(this.id) : []);
    const ports = { model, tools, tokens, resolveBudget, ids, clock, waitingMessages, ...this.extra };
    const commit = (facts: readonly NewFact[]) => this.commit(claim, facts);
    const held: NewFact[] = [];
    const late: NewFact[] = [];
    for await (const step of runAgent(agent, ports, { stop: this.stop.signal, drain: this.drain.signal })) {
      onStep(step, 'before');
      if (late.length > 0 && !(await commit(late.splice(0)))) return true;
      if ('delta' in step) this.deltas.push(step.delta);
      else held.push(...step.facts);
      if ('facts' in step && step.meanwhile) late.push(...held.splice(0));
      else if ('facts' in step && !step.hold && !(await commit(held.splice(0)))) return true;
      onStep(step, 'after');
    }
    if (held.length === 0 || (await commit(held))) await this.store.handOver(claim);
    return true;
  }

  /** False: the run was changed, and is released to be claimed again. */
  private async commit(claim: ClaimedRun, facts: readonly NewFact[]): Promise<boolean> {
    try {
      await this.store.append(claim, facts);
      return true;
    } catch (error) {
      if (!(error instanceof RunChangedError)) throw error;
      await this.store.append(claim, withoutEnd(facts, error));
      await this.store.handOver(claim);
      return false;
    }
  }

  /** Activates until there is nothing more to do. */
  async runOn(): Promise<void> {
    while (await this.activate());
  }

  /** One activation by the summarizer. */
  private async summarize(): Promise<boolean> {
    const claim = await this.store.compactions.claim(this.id, 'summarizer');
    if (!claim || !this.summarizer) return false;
    const { summarizer: model, tokens, resolveBudget, ids, clock } = this;
    const ports = { model, tokens, resolveBudget, ids, clock };
    await this.store.compactions.append(claim, await summarize(this.createAgent(claim), ports, this.drain.signal));
    return true;
  }

  private createAgent(claim: ClaimedRun): AgentRun {
    return toAgentRun(claim, toToolSet(claim.run.settings, this.catalog));
  }

  private claim(): Promise<ClaimedRun | undefined> {
    const claim = this.store.claim(this.id, 'worker');
    if (this.summarizer) return claim;
    return claim.then((claimed) => claimed ?? this.store.claim(this.id, 'worker', 'compactions'));
  }

  /** One activation whose worker crashes at its nth step, before or after writing it; the reaper then frees the run. */
  async crashAt({ step, position, onStep }: CrashPoint): Promise<void> {
    let seen = 0;
    try {
      await this.activate((_, at) => {
        if (at !== position) return;
        onStep?.();
        if (seen++ === step) throw new Crash();
      });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.store.expireLease(this.id);
    }
  }

  get log(): readonly RecordedFact[] {
    return this.store.log(this.id);
  }

  get types(): string[] {
    return this.log.map(({ type }) => type);
  }

  get state(): RunState {
    return replay(this.log);
  }
}
