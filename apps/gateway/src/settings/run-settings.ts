import {
  type AccountId,
  type AccountSettings,
  type McpServer,
  type RunSettings,
  type SettingsRequest,
  agentIdentity,
  modelName,
} from '@rondo/contract';
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
  whyNotConfigured,
} from '@rondo/domain';
import type { HeardExecutor } from '@rondo/messaging';
import type { SecretBox } from '@rondo/platform';
import { InvalidRequest } from '../problems/api-error';
import { renewServer, sealServer } from './sealed-server';
import { validateEnvironment } from './validate-environment';

interface DeploymentSettings {
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

  /** Whether the name is one of a model: with its provider, or an alias of this deployment. */
  isModelName(name: string): boolean {
    return modelName.safeParse(name).success || this.deployment.aliases?.has(name) === true;
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
      agentServers: servers?.map((server) => (account && secrets ? renewServer(server, account, secrets) : server)),
      sealServer: secrets && account && ((server) => sealServer(server, account, secrets)),
      ...(settings && { account: settings }),
      ...(aliases && { aliases }),
      ...(fallbacks && { fallbacks }),
      ...(budget && { budget }),
      ...(maxBudget && { maxBudget }),
    });
    if ('problems' in outcome) return outcome;
    const problems = [
      ...validateInstructions(outcome.settings),
      ...validateModel(outcome.settings, providers),
      ...validateEnvironment(outcome.settings, executors?.() ?? []),
    ];
    return problems.length > 0 ? { problems } : outcome;
  }
}

/** Those of a request become the prompt, or further directives, after both were parsed. */
function validateInstructions({ agent: { system_prompt: prompt, directives } }: RunSettings): SettingsProblem[] {
  const { shape } = agentIdentity;
  const toProblem = (message: string) => [{ field: 'instructions', message }];
  if (!shape.system_prompt.safeParse(prompt).success) return toProblem('are longer than a prompt may be');
  if (shape.directives.safeParse(directives).success) return [];
  return toProblem('are too long beside the directives of the stored agent');
}

/** Refuses models that the workers have no provider for, and a budget in money for a model without a known price. */
export function validateModel(settings: RunSettings, providers: ModelProviders): SettingsProblem[] {
  const { model, fallbacks = [], context, budget } = settings;
  const absent = [
    { field: 'model', name: model },
    ...fallbacks.map(({ model: name }, index) => ({ field: `fallbacks.${index}`, name })),
    { field: 'context.summary_model', name: context.summary_model },
  ].flatMap(({ field, name }) => {
    const message = name === undefined ? undefined : whyNotConfigured(name, providers);
    return message === undefined ? [] : [{ field, message }];
  });
  const unpriced = [model, context.summary_model ?? model].find(
    (name) => findPrice(name, providers, Date.now()) === undefined,
  );
  if (absent.length > 0 || budget.usd === undefined || unpriced === undefined) return absent;
  return [{ field: 'budget.usd', message: noPrice(unpriced) }];
}

const noPrice = (model: string): string =>
  `the price of ${model} is not known, so the budget could not be enforced: declare it in MODEL_PRICES, or set budget.tokens`;
