import type { AgentDefinition, RecordedFact, RunSettings, ToolCall } from '@rondo/contract';
import {
  type ChildRuns,
  type ChildStart,
  type ClaimedRun,
  type ModelProviders,
  type RunFeed,
  type StoppedChild,
  effectiveSettings,
  explainArguments,
  hasToolCalls,
  readsFiles,
  runAgentTool,
  whyNotConfigured,
  withDefinition,
} from '@rondo/domain';
import { type ChildOrder, type RunTrees, type Skills, toRunSkills } from '@rondo/persistence';
import type { OutboxRelay } from '@rondo/run-holder';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRunnerParts } from '../activation/agent-runner-parts';

interface ChildRunParts {
  readonly trees: RunTrees;
  readonly providers: ModelProviders;
  readonly skills: Pick<Skills, 'findVersions'>;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly relay: OutboxRelay;
  readonly failed: (error: unknown) => void;
}

const mayStartRuns = ({ run }: ClaimedRun): boolean => run.settings.tools.includes(runAgentTool.name);

/** What the runs of a worker need to start others, and to be started by others. */
export function composeChildRuns(parts: ChildRunParts): Pick<AgentRunnerParts, 'toTree' | 'afterActivation'> {
  const { trees, feed, relay, failed } = parts;
  const port = {
    trees,
    toSettings: resolveChildSettings(parts),
    publishFacts: feed.publish.bind(feed),
    publishJobs: () => relay.publish(),
  };
  return {
    toTree: (claim) => {
      const root = claim.run.root_run_id ?? (mayStartRuns(claim) ? claim.runId : undefined);
      if (root === undefined) return {};
      const treeBudget = () =>
        trees.resolveBudget({ rootRunId: root, runId: claim.runId }).catch((error: unknown) => {
          failed(error); // the run cannot write what it does then, and is asked about again at its next call
          return undefined;
        });
      return { treeBudget, ...(mayStartRuns(claim) && { children: new TreeChildRuns(claim, port) }) };
    },
    afterActivation: async (claim, outcome) => {
      const parent = outcome === 'ended' ? claim.run.parent_run_id : undefined;
      const waiting = outcome === 'parked' && mayStartRuns(claim) ? claim.runId : undefined;
      const id = parent ?? waiting;
      if (id === undefined) return;
      try {
        const facts = await trees.collect(id);
        feed.publish(facts);
        if (facts.length > 0) await relay.publish();
      } catch (error) {
        failed(error); // a periodic task does it again
      }
    },
  };
}

interface TreeChildRunsParts {
  readonly trees: Pick<RunTrees, 'start' | 'stopBelow' | 'listStoppedBelow'>;
  readonly toSettings: (claim: ClaimedRun) => ChildOrder['toSettings'];
  readonly publishFacts: (facts: readonly RecordedFact[]) => void;
  /** Publishes committed jobs to the queue. */
  readonly publishJobs: () => Promise<void>;
}

const lookEveryMs = 100;

/** The child runs of one claimed run. */
class TreeChildRuns implements ChildRuns {
  constructor(
    private readonly claim: ClaimedRun,
    private readonly parts: TreeChildRunsParts,
  ) {}

  async start(call: ToolCall): Promise<ChildStart> {
    const input = runAgentTool.input.safeParse(call.arguments);
    if (!input.success) return { how: 'refused', reason: explainArguments(runAgentTool, input.error, call.arguments) };

    const { trees, toSettings, publishFacts, publishJobs } = this.parts;
    const { agent, input: task } = input.data;
    const order = { parent: this.claim, call, agent, input: task, toSettings: toSettings(this.claim) };
    const started = await trees.start(order);
    if (started.how === 'refused') return started;
    publishFacts(started.facts);
    await publishJobs();
    return { how: 'started', child: started.child };
  }

  async stopAll(withinMs: number): Promise<readonly StoppedChild[]> {
    const until = performance.now() + withinMs;
    const { trees, publishFacts, publishJobs } = this.parts;
    const { accountId, runId, run } = this.claim;
    publishFacts(
      await trees.stopBelow({ accountId, runId, reason: run.stop_requested_at ? 'stopped' : 'its time is over' }),
    );
    await publishJobs();
    for (;;) {
      const stopped = await trees.listStoppedBelow(runId);
      if (stopped.every(({ ended_at }) => ended_at !== null) || performance.now() >= until) return stopped;
      await sleep(lookEveryMs);
    }
  }
}

/**
 * The settings of a run that another run starts: those of its agent, above those of the account. Without a model of its own it uses its parent's. It
 * has no person to ask, unless its agent says that it is interactive.
 */
const resolveChildSettings =
  ({ providers, skills }: Pick<ChildRunParts, 'providers' | 'skills'>) =>
  ({ run, accountId }: Pick<ClaimedRun, 'run' | 'accountId'>): ChildOrder['toSettings'] =>
  async ({ definition, servers, account }) => {
    if ((definition.memory ?? []).length > 0)
      return { problem: 'the agent names memory, which a run that another run starts cannot have' };
    const { model } = run.settings;
    const own = { model: definition.model ?? model, interactive: definition.interactive ?? false };
    const outcome = effectiveSettings(withDefinition(own, definition), {
      ...{ model, account },
      hasToolCalls: (model) => hasToolCalls(model, providers),
      agentServers: servers,
    });
    if ('problems' in outcome)
      return { problem: outcome.problems.map(({ field, message }) => `${field} ${message}`).join('; ') };
    const problem = whyNotConfigured(outcome.settings.model, providers);
    if (problem !== undefined) return { problem };
    return withSkills(outcome.settings, { named: definition.skills, skills, accountId });
  };

interface NamedSkills extends Pick<ChildRunParts, 'skills'>, Pick<ClaimedRun, 'accountId'> {
  readonly named: AgentDefinition['skills'];
}

/** Pins the versions of skills that the run has from now on. */
async function withSkills(
  settings: RunSettings,
  { named = [], skills, accountId }: NamedSkills,
): Promise<Awaited<ReturnType<ChildOrder['toSettings']>>> {
  if (named.length === 0) return { settings };
  if (!settings.tools.some(readsFiles)) return { problem: 'the agent names skills, and has no tool to read them' };
  const found = await skills.findVersions(accountId, named);
  const missing = named.filter((_, index) => !found[index]).map(({ name }) => name);
  if (missing.length > 0) return { problem: `the agent names skills that are not there: ${missing.join(', ')}` };
  return { settings: { ...settings, skills: toRunSkills(found) } };
}
