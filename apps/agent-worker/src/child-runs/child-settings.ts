import {
  type ClaimedRun,
  type ModelProviders,
  effectiveSettings,
  hasToolCalls,
  whyNotConfigured,
  withDefinition,
} from '@rondo/domain';
import type { ChildOrder } from '@rondo/persistence';

/**
 * The settings of a run that another run starts: those of its agent. Without a model of its own it uses its parent's. It
 * has no person to ask, unless its agent says that it is interactive.
 */
export const childSettings =
  (providers: ModelProviders) =>
  ({ run }: Pick<ClaimedRun, 'run'>): ChildOrder['settingsOf'] =>
  ({ definition, servers }) => {
    const request = withDefinition({ interactive: definition.interactive ?? false }, definition);
    const outcome = effectiveSettings(request, {
      model: run.settings.model,
      hasToolCalls: (model) => hasToolCalls(model, providers),
      agentServers: servers,
    });
    if ('problems' in outcome)
      return { problem: outcome.problems.map(({ field, message }) => `${field} ${message}`).join('; ') };
    const { settings } = outcome;
    const problem = whyNotConfigured(settings.model, providers);
    return problem === undefined ? { settings } : { problem };
  };
