import type { RunSettings } from '@rondo/contract';
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
