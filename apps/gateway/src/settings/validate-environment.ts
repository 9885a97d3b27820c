import {
  type Environment,
  type RunSettings,
  type SecretPolicy,
  whyNotForRepository,
  whyNotForSandbox,
} from '@rondo/contract';
import { type SettingsProblem, environmentNeeds, isAllowedImage } from '@rondo/domain';
import type { EnvironmentOffers, HeardExecutor } from '@rondo/messaging';

type Executor = Pick<HeardExecutor, 'lacks' | 'offers'>;

const sizes = ['cpus', 'memory_mb', 'disk_mb'] as const;
const kinds = ['apt', 'pip', 'npm'] as const;

/** What an environment asks for. */
type Part =
  | { readonly need: 'size'; readonly name: (typeof sizes)[number] }
  | { readonly need: 'packages'; readonly name: (typeof kinds)[number] }
  | { readonly need: Exclude<(typeof environmentNeeds)[number], 'size' | 'packages'>; readonly name?: undefined };

interface Refusal extends SettingsProblem {
  readonly part: Part;
  /** What the executor offers at most. */
  readonly most?: number | undefined;
}

/** Refuses each part that none of the executors that were heard of can honour, and what none can honour together. */
export function validateEnvironment(
  { environment = {} }: Pick<RunSettings, 'environment'>,
  executors: readonly Executor[],
): SettingsProblem[] {
  const parts = listParts(environment);
  const refusals = executors.map((executor) => parts.flatMap((part) => refuse(part, environment, executor) ?? []));
  const [fewest = []] = refusals.toSorted((a, b) => a.length - b.length);
  if (fewest.length === 0) return [];
  const byAll = parts.flatMap((part) => findCommonRefusal(part, refusals) ?? []);
  if (byAll.length > 0) return byAll.filter(({ field }, at) => byAll.findIndex((one) => one.field === field) === at);
  return fewest.map(({ field }) => ({
    field,
    message: 'no executor offers it together with the rest of the environment',
  }));
}

function listParts(environment: Environment): Part[] {
  const { size = {}, packages = {}, repository } = environment;
  return environmentNeeds.flatMap((need): Part[] => {
    if (need === 'size') return sizes.filter((name) => size[name] !== undefined).map((name) => ({ need, name }));
    if (need === 'packages') return kinds.filter((name) => packages[name]).map((name) => ({ need, name }));
    const asked = need === 'repository.secret' ? repository?.secret : environment[need];
    return asked === undefined ? [] : [{ need }];
  });
}

/** By the executor that offers most. */
function findCommonRefusal(part: Part, refusals: readonly (readonly Refusal[])[]): SettingsProblem | undefined {
  const each = refusals.map((ofOne) => ofOne.find((refusal) => refusal.part === part));
  const found = each.filter((refusal) => refusal !== undefined);
  if (found.length < each.length) return undefined;
  const [largest] = found.toSorted((a, b) => (b.most ?? 0) - (a.most ?? 0));
  return largest && { field: largest.field, message: largest.message };
}

function refuse(part: Part, environment: Environment, { lacks, offers }: Executor): Refusal | undefined {
  const { need, name } = part;
  const reason = lacks[`environment.${need}`];
  if (reason !== undefined) return { part, field: `environment.${need}`, message: reason };
  const excess = offers && findExcess(part, environment, offers);
  return excess ? { part, field: `environment.${need}${name ? `.${name}` : ''}`, ...excess } : undefined;
}

/** What an executor does not offer. */
function findExcess(
  part: Part,
  { size = {}, image = '' }: Environment,
  offers: EnvironmentOffers,
): Pick<Refusal, 'message' | 'most'> | undefined {
  switch (part.need) {
    case 'size': {
      const [asked = 0, most] = [size[part.name], offers.size[part.name]];
      const message = whyNotForSandbox(asked, most, offers.size_step?.[part.name]);
      return message === undefined ? undefined : { message, most };
    }
    case 'image':
      return isAllowedImage(image, offers.images)
        ? undefined
        : { message: `${image} is not among those that this deployment allows` };
    case 'packages':
      return offers.packages.includes(part.name) ? undefined : { message: 'this deployment installs none of them' };
    case 'egress':
    case 'repository.secret':
      return undefined;
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
