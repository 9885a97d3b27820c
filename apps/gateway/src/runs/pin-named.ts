import type {
  AccountId,
  AgentDefinition,
  MemoryChoice,
  RunSettings,
  SettingsRequest,
  SkillChoice,
  RunMemoryStore,
} from '@rondo/contract';
import { readsFiles } from '@rondo/domain';
import { type Skills, toRunSkills, type MemoryEntries, type MemoryStores } from '@rondo/persistence';
import { InvalidRequest, refuseField } from '../problems/api-error';

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
function findNamed<Kind extends keyof Names>(
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
  if (!settings.tools.some(readsFiles)) throw refuseField(field, 'needs a tool that reads files or runs commands');
  const found = await skills.findVersions(accountId, named);
  const missing = named.flatMap(({ name, version }, index) => {
    const what = version === undefined ? 'skill' : `version ${version} of a skill`;
    return found[index] ? [] : [{ field: `${field}.${index}`, message: `there is no ${what} named "${name}"` }];
  });
  if (missing.length > 0) throw new InvalidRequest(missing);
  return { skills: toRunSkills(found) };
}

type RunPlace = Parameters<MemoryStores['findForRun']>[0];

export interface MemoryReads {
  readonly stores: Pick<MemoryStores, 'findForRun'>;
  readonly entries: Pick<MemoryEntries, 'list'>;
}

/** What the list of entries may take of each request, in characters: about 2,500 tokens. */
const indexCharacters = 10_000;
const mostListed = 200;

/**
 * The stores that the run has from now on, by name: those of the request, or of its agent, each with the entries that its prompt
 * lists. Throws InvalidRequest with the fields of those that there are not.
 */
export async function pinMemory(
  { stores, entries }: MemoryReads,
  place: RunPlace,
  request: NamingRequest,
): Promise<Pick<RunSettings, 'memory'>> {
  const [field, named = []] = findNamed(request, 'memory');
  if (named.length === 0) return {};
  const found = await stores.findForRun(
    place,
    named.map(({ store }) => store),
  );
  const known = new Map<string, (typeof found)[number]>(found.map((store) => [store.name, store]));
  const missing = named.flatMap(({ store }, index) =>
    known.has(store) ? [] : [{ field: `${field}.${index}`, message: `there is no memory store named "${store}"` }],
  );
  if (missing.length > 0) throw new InvalidRequest(missing);
  const policies = new Map(named.map(({ store, policy }) => [store, policy ?? 'ask']));
  const pinned = found.map(async ({ id, name, description, entry_count }) => {
    const { data } = await entries.list({ accountId: place.accountId, memoryStoreId: id, limit: mostListed });
    const listed = toIndex(data, Math.floor(indexCharacters / found.length));
    return { id, name, description, policy: policies.get(name) ?? 'ask', entry_count, entries: listed };
  });
  return { memory: await Promise.all(pinned) };
}

/** The first of them that fit. */
function toIndex(entries: readonly RunMemoryStore['entries'][number][], characters: number): RunMemoryStore['entries'] {
  let left = characters;
  const listed = entries.map(({ path, size, version }) => ({ path, size, version }));
  const end = listed.findIndex(({ path }) => (left -= path.length + 30) < 0);
  return end < 0 ? listed : listed.slice(0, end);
}
