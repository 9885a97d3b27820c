import type { RunSettings, SettingsRequest } from '@rondo/contract';
import {
  type ModelProviders,
  type SettingsProblem,
  builtInTools,
  effectiveSettings,
  hasToolCalls,
  priceOf,
} from '@rondo/domain';
import { InvalidRequest } from '../problems/api-error';
import { validateModel } from './validate-model';

export interface DeploymentSettings {
  readonly defaultModel: string;
  readonly providers: ModelProviders;
  /** Of a run that sets none. */
  readonly budget?: RunSettings['budget'];
  /** The most that a run may set. */
  readonly maxBudget?: RunSettings['budget'];
}

/** The effective settings of runs on this deployment. */
export class RunSettingsResolver {
  constructor(private readonly deployment: DeploymentSettings) {}

  /** Throws InvalidRequest with the fields that cannot be honoured. */
  settingsOf(request: SettingsRequest): RunSettings {
    const outcome = this.resolve(request);
    if ('problems' in outcome) throw new InvalidRequest(outcome.problems);
    return outcome.settings;
  }

  resolve(request: SettingsRequest): { settings: RunSettings } | { problems: SettingsProblem[] } {
    const { defaultModel, providers, budget, maxBudget } = this.deployment;
    const outcome = effectiveSettings(request, {
      model: defaultModel,
      tools: builtInTools,
      hasToolCalls: (model) => hasToolCalls(model, providers),
      hasPrice: (model) => priceOf(model, providers) !== undefined,
      ...(budget && { budget }),
      ...(maxBudget && { maxBudget }),
    });
    if ('problems' in outcome) return outcome;
    const problems = validateModel(outcome.settings, providers);
    return problems.length > 0 ? { problems } : outcome;
  }
}
