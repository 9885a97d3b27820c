import { type Environment, type RunSettings, type SecretPolicy, whyNotForRepository } from '@rondo/contract';
import { type SettingsProblem, environmentNeeds, isAllowedImage } from '@rondo/domain';
import type { EnvironmentOffers, HeardExecutor } from '@rondo/messaging';

type Need = (typeof environmentNeeds)[number];
type Executor = Pick<HeardExecutor, 'lacks' | 'offers'>;

/** Refuses each part that none of the executors that were heard of can honour. */
export function validateEnvironment(
  { environment = {} }: Pick<RunSettings, 'environment'>,
  executors: readonly Executor[],
): SettingsProblem[] {
  return environmentNeeds.flatMap((need) => {
    const refusals = executors.map((executor) => listRefusals(need, environment, executor));
    return refusals.every((problems) => problems.length > 0) ? (refusals[0] ?? []) : [];
  });
}

function listRefusals(need: Need, environment: Environment, { lacks, offers }: Executor): SettingsProblem[] {
  const asked = need === 'repository.secret' ? environment.repository?.secret : environment[need];
  if (asked === undefined) return [];
  const field = `environment.${need}`;
  const reason = lacks[field];
  if (reason !== undefined) return [{ field, message: reason }];
  return offers ? listExcesses(need, environment, offers) : [];
}

/** What is more than an executor offers. */
function listExcesses(need: Need, environment: Environment, offers: EnvironmentOffers): SettingsProblem[] {
  const { size = {}, image, packages = {} } = environment;
  switch (need) {
    case 'size':
      return (['cpus', 'memory_mb', 'disk_mb'] as const).flatMap((name) => {
        const [asked, most] = [size[name], offers.size[name]];
        if (asked === undefined || (most !== undefined && asked <= most)) return [];
        const message = most === undefined ? 'is not limited here' : `must be at most ${most} on this deployment`;
        return [{ field: `environment.size.${name}`, message }];
      });
    case 'image':
      return image === undefined || isAllowedImage(image, offers.images)
        ? []
        : [{ field: 'environment.image', message: `${image} is not among those that this deployment allows` }];
    case 'packages':
      return (['apt', 'pip', 'npm'] as const)
        .filter((kind) => packages[kind] && !offers.packages.includes(kind))
        .map((kind) => ({ field: `environment.packages.${kind}`, message: 'this deployment installs none of them' }));
    case 'egress':
    case 'repository.secret':
      return [];
  }
}

/** Refuses a secret with which git could not ask for the repository. One of those that have its name has to fit, if there are any. */
export function validateRepositorySecret(
  { repository }: Environment = {},
  policies: readonly SecretPolicy[],
): SettingsProblem[] {
  if (repository?.secret === undefined) return [];
  const { url, secret: name } = repository;
  const reasons = policies.map((policy) => whyNotForRepository(url, policy));
  const [first] = reasons;
  if (first === undefined || reasons.includes(undefined)) return [];
  return [{ field: 'environment.repository.secret', message: `${name} cannot be used for ${url}: ${first}` }];
}
