import { type AccountId, type Environment, type RunSettings, whyNotForRepository } from '@rondo/contract';
import type { Secrets } from '@rondo/persistence';
import { type SettingsProblem, environmentNeeds } from '@rondo/domain';

/** Refuses what no executor that was heard of can honour. `whyNowhere` gives the reason for a need, or undefined. */
export function validateEnvironment(
  { environment }: Pick<RunSettings, 'environment'>,
  whyNowhere: (need: string) => string | undefined,
): SettingsProblem[] {
  const asked = {
    egress: environment?.egress,
    size: environment?.size,
    image: environment?.image,
    packages: environment?.packages,
    'repository.secret': environment?.repository?.secret,
  };
  return environmentNeeds.flatMap((need) => {
    const message = asked[need] === undefined ? undefined : whyNowhere(`environment.${need}`);
    return message === undefined ? [] : [{ field: `environment.${need}`, message }];
  });
}

/**
 * Refuses a secret with which git could not ask for the repository. A project may have another of that name, so one that fits is
 * enough, and none at all is refused where a run begins.
 */
export async function validateRepositorySecret(
  { repository }: Environment = {},
  secrets: Pick<Secrets, 'listPolicies'>,
  accountId: AccountId,
): Promise<SettingsProblem[]> {
  if (repository?.secret === undefined) return [];
  const { url, secret: name } = repository;
  const policies = await secrets.listPolicies(accountId, name);
  const reasons = policies.map((policy) => whyNotForRepository(url, policy));
  const [first] = reasons;
  if (first === undefined || reasons.includes(undefined)) return [];
  return [{ field: 'environment.repository.secret', message: `${name} cannot be used for ${url}: ${first}` }];
}
