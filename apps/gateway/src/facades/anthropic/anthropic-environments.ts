import type { AccountId } from '@rondo/contract';
import type { AnthropicEnvironmentChange, NewAnthropicEnvironment } from '@rondo/contract/api';
import type { FacadeIds, FacadeObject } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { ApiError } from '../../problems/api-error';
import { mergeMetadata } from './anthropic-agents';
import { refuse } from './anthropic-errors';

const toKind = (accountId: AccountId) => ({ accountId, facade: 'anthropic', kind: 'environment' });
const config = {
  type: 'cloud',
  networking: { type: 'unrestricted' },
  packages: { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
} as const;

interface Address {
  readonly accountId: AccountId;
  readonly environmentId: string;
}

/** Names for the one kind of environment that there is: a sandbox for each session. */
export class AnthropicEnvironments {
  constructor(private readonly ids: FacadeIds) {}

  async create(accountId: AccountId, request: NewAnthropicEnvironment, at: string) {
    refuseConfig(request.config);
    const { name, description = null, metadata = {} } = request;
    const environmentId = `env_${newUlid()}`;
    const data = { name, description, metadata, archived_at: null, updated_at: at };
    await this.ids.addObject(toKind(accountId), { id: environmentId, data, isThread: false });
    return this.get({ accountId, environmentId });
  }

  async get({ accountId, environmentId: id }: Address) {
    const found = await this.ids.findObject(toKind(accountId), id);
    if (!found || isDeleted(found)) throw notFound(id);
    return toEnvironment(found);
  }

  async list(accountId: AccountId, page: { limit: number; page?: string | undefined; withArchived: boolean }) {
    const { limit, page: after, withArchived } = page;
    const found = await this.ids.listObjects(toKind(accountId), {
      after,
      limit: limit + 1,
      withArchived,
      isNewestFirst: true,
    });
    const data = found.slice(0, limit);
    const next_page = found.length > limit ? (data.at(-1)?.id ?? null) : null;
    return { data: data.filter((each) => !isDeleted(each)).map(toEnvironment), next_page };
  }

  update(address: Address, request: AnthropicEnvironmentChange, at: string) {
    refuseConfig(request.config);
    const { name, description, metadata } = request;
    return this.change(address, (data) => ({
      ...data,
      ...(typeof name === 'string' && { name }),
      ...(description !== undefined && { description }),
      metadata: mergeMetadata(data['metadata'], metadata),
      updated_at: at,
    }));
  }

  archive(address: Address, at: string) {
    return this.change(address, (data) => ({ ...data, archived_at: data['archived_at'] ?? at }));
  }

  async delete(address: Address, at: string) {
    await this.change(address, (data) => ({ ...data, archived_at: at, deleted_at: at }));
    return { id: address.environmentId, type: 'environment_deleted' };
  }

  /** Throws unless sessions may begin in it. */
  async require(address: Address): Promise<void> {
    const { archived_at: at } = await this.get(address);
    if (at !== null) throw new ApiError('environment_archived', `${address.environmentId} is archived.`);
  }

  private async change(
    { accountId, environmentId: id }: Address,
    change: (data: FacadeObject['data']) => FacadeObject['data'],
  ) {
    const changed = await this.ids.changeObject(toKind(accountId), id, (data) => {
      if (data['deleted_at'] !== undefined) throw notFound(id);
      return change(data);
    });
    if (!changed) throw notFound(id);
    return toEnvironment(changed);
  }
}

const isDeleted = ({ data }: FacadeObject): boolean => data['deleted_at'] !== undefined;
const notFound = (id: string): ApiError => new ApiError('environment_not_found', `There is no environment ${id}.`);

const toEnvironment = ({ id, data, created_at }: FacadeObject) => {
  const { name, description, metadata, archived_at, updated_at } = data;
  return { id, type: 'environment', name, description, metadata, archived_at, updated_at, created_at, config };
};

function refuseConfig(given: NewAnthropicEnvironment['config']): void {
  if (!given) return;
  if (given.type === 'self_hosted') throw refuse('config.type', '"self_hosted"');
  if (given.networking && given.networking.type !== 'unrestricted')
    throw refuse('config.networking', `"${given.networking.type}"`);
  const packages = Object.entries(given.packages ?? {}).filter(([, names]) => Array.isArray(names) && names.length > 0);
  if (packages[0]) throw refuse(`config.packages.${packages[0][0]}`, 'installing packages');
}
