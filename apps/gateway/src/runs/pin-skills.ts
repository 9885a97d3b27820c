import type {
  AccountId,
  AgentDefinition,
  MemoryChoice,
  RunSettings,
  SettingsRequest,
  SkillChoice,
} from '@rondo/contract';
import { readsFiles } from '@rondo/domain';
import { type Skills, toRunSkills } from '@rondo/persistence';
import { InvalidRequest } from '../problems/api-error';

export interface NamingRequest {
  readonly overrides: SettingsRequest;
  /** Of the stored agent. */
  readonly definition: AgentDefinition | undefined;
}

interface SkillsOfRun extends NamingRequest {
  readonly accountId: AccountId;
  readonly settings: RunSettings;
}

interface Names {
  readonly skills: readonly SkillChoice[];
  readonly memory: readonly MemoryChoice[];
}
type Naming = { readonly [Kind in keyof Names]?: Names[Kind] | undefined };

/** What the request names, or its agent, and the field that does. */
export function findNamed<Kind extends keyof Names>(
  { overrides, definition }: NamingRequest,
  kind: Kind,
): readonly [field: string, named: Naming[Kind]] {
  const [own, agent, stored]: (Naming | undefined)[] = [overrides, overrides.agent, definition];
  return own?.[kind] ? [kind, own[kind]] : [`agent.${kind}`, agent?.[kind] ?? stored?.[kind]];
}

/**
 * The versions that the run has from now on, by name: those of the request, or of its agent. Throws InvalidRequest with the fields
 * of those that there are not, and for a run whose tools could not read them.
 */
export async function pinSkills(
  skills: Pick<Skills, 'findVersions'>,
  { accountId, settings, ...request }: SkillsOfRun,
): Promise<Pick<RunSettings, 'skills'>> {
  const [field, named = []] = findNamed(request, 'skills');
  if (named.length === 0) return {};
  if (!settings.tools.some(readsFiles))
    throw new InvalidRequest([{ field, message: 'needs a tool that reads files or runs commands' }]);
  const found = await skills.findVersions(accountId, named);
  const missing = named.flatMap(({ name, version }, index) => {
    const what = version === undefined ? 'skill' : `version ${version} of a skill`;
    return found[index] ? [] : [{ field: `${field}.${index}`, message: `there is no ${what} named "${name}"` }];
  });
  if (missing.length > 0) throw new InvalidRequest(missing);
  return { skills: toRunSkills(found) };
}
