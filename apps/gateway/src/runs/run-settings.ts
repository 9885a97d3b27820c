import type { AccountId, AccountSettings, McpServer, RunSettings, SettingsRequest } from '@rondo/contract';
import {
  type BudgetRaise,
  type ModelAliases,
  type ModelFallbacks,
  type ModelProviders,
  type SettingsProblem,
  budgetProblems,
  builtInTools,
  effectiveSettings,
  hasToolCalls,
  findPrice,
} from '@rondo/domain';
import type { HeardExecutor } from '@rondo/messaging';
import type { SecretBox } from '@rondo/platform';
import { InvalidRequest } from '../problems/api-error';
import { renewedServer, sealedServer } from './sealed-server';
import { validateEnvironment } from './validate-environment';
import { validateModel } from './validate-model';

export interface DeploymentSettings {
  readonly defaultModel: string;
  readonly providers: ModelProviders;
  /** Full names of models by their aliases. */
  readonly aliases?: ModelAliases;
  /** The models that stand in for others. */
  readonly fallbacks?: ModelFallbacks;
  /** Of a run that sets none. */
  readonly budget?: RunSettings['budget'];
  /** The most that a run may set. */
  readonly maxBudget?: RunSettings['budget'];
  /** The executors that were heard of. Absent: nothing is known of them. */
  readonly executors?: () => readonly HeardExecutor[];
  /** Absent: secrets are refused. */
  readonly secrets?: Pick<SecretBox, 'seal' | 'renew'> | undefined;
}

interface SettingsOwner {
  /** Only its runs can use its secrets. Absent: a request with secrets is refused. */
  readonly account?: AccountId | undefined;
  /** What the account keeps for its runs. */
  readonly settings?: AccountSettings | undefined;
  /** The servers of its stored agent. */
  readonly servers?: readonly McpServer[] | undefined;
}

/** The effective settings of runs on this deployment. */
export class RunSettingsResolver {
  constructor(private readonly deployment: DeploymentSettings) {}

  /** Throws InvalidRequest with the fields that cannot be honoured. */
  toSettings(request: SettingsRequest, owner: SettingsOwner): RunSettings {
    const outcome = this.resolve(request, owner);
    if ('problems' in outcome) throw new InvalidRequest(outcome.problems);
    return outcome.settings;
  }

  /** Throws InvalidRequest with the parts of a budget that are more than a run may have. */
  checkBudget(budget: BudgetRaise): void {
    const problems = budgetProblems(budget, this.deployment.maxBudget, '');
    if (problems.length > 0) throw new InvalidRequest(problems);
  }

  /** The settings with another model. Throws InvalidRequest if this deployment cannot use it. */
  withModel(settings: RunSettings, model: string | undefined): RunSettings {
    const { aliases, providers } = this.deployment;
    const changed = model === undefined ? settings : { ...settings, model: aliases?.get(model) ?? model };
    const problems = validateModel(changed, providers);
    if (problems.length > 0) throw new InvalidRequest(problems);
    return changed;
  }

  resolve(
    request: SettingsRequest,
    { account, settings, servers }: SettingsOwner,
  ): { settings: RunSettings } | { problems: SettingsProblem[] } {
    const { defaultModel, providers, aliases, fallbacks, budget, maxBudget, secrets, executors } = this.deployment;
    const outcome = effectiveSettings(request, {
      model: defaultModel,
      tools: builtInTools,
      hasToolCalls: (model) => hasToolCalls(model, providers),
      hasPrice: (model) => findPrice(model, providers, Date.now()) !== undefined,
      agentServers: servers?.map((server) => (account && secrets ? renewedServer(server, account, secrets) : server)),
      sealServer: secrets && account && ((server) => sealedServer(server, account, secrets)),
      ...(settings && { account: settings }),
      ...(aliases && { aliases }),
      ...(fallbacks && { fallbacks }),
      ...(budget && { budget }),
      ...(maxBudget && { maxBudget }),
    });
    if ('problems' in outcome) return outcome;
    const problems = [
      ...validateModel(outcome.settings, providers),
      ...validateEnvironment(outcome.settings, executors?.() ?? []),
    ];
    return problems.length > 0 ? { problems } : outcome;
  }
}
