import { type Environment, type RunSettings, type SecretPolicy, whyNotForRepository } from '@rondo/contract';
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
