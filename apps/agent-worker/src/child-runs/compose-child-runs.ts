import { type ClaimedRun, type ModelProviders, type RunFeed, runAgentTool } from '@rondo/domain';
import type { RunTrees } from '@rondo/persistence';
import type { OutboxRelay } from '@rondo/run-holder';
import type { AgentRunnerParts } from '../activation/agent-runner-parts';
import { childSettings } from './child-settings';
import { TreeChildRuns } from './tree-child-runs';

interface ChildRunParts {
  readonly trees: RunTrees;
  readonly providers: ModelProviders;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly relay: OutboxRelay;
  readonly failed: (error: unknown) => void;
}

const mayStartRuns = ({ run }: ClaimedRun): boolean => run.settings.tools.includes(runAgentTool.name);

/** What the runs of a worker need to start others, and to be started by others. */
export function composeChildRuns(parts: ChildRunParts): Pick<AgentRunnerParts, 'treeOf' | 'afterActivation'> {
  const { trees, feed, relay, failed } = parts;
  const port = {
    trees,
    settingsOf: childSettings(parts.providers),
    publishFacts: feed.publish.bind(feed),
    publishJobs: () => relay.publish(),
  };
  return {
    treeOf: (claim) => {
      const root = claim.run.root_run_id ?? (mayStartRuns(claim) ? claim.runId : undefined);
      if (root === undefined) return {};
      const treeBudget = () =>
        trees.budgetOf({ rootRunId: root, runId: claim.runId }).catch((error: unknown) => {
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
