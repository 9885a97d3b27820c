import { type AccountId, type Environment, isListedHost } from '@rondo/contract';
import type { AnthropicEnvironmentChange, AnthropicNetworking, NewAnthropicEnvironment } from '@rondo/contract/api';
import type { FacadeIds, FacadeObject } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { ApiError } from '../../problems/api-error';
import { mergeMetadata } from './anthropic-agents';
import { refuse } from './anthropic-errors';

const toKind = (accountId: AccountId) => ({ accountId, facade: 'anthropic', kind: 'environment' });
const packages = { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] } as const;
const unrestricted = { type: 'unrestricted' } as const;

/** What `allow_package_managers` adds to the hosts. */
const registries = [
  ...['registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org', 'rubygems.org', 'index.rubygems.org'],
  ...['crates.io', 'index.crates.io', 'static.crates.io', 'proxy.golang.org', 'sum.golang.org'],
  ...['deb.debian.org', 'security.debian.org', 'archive.ubuntu.com', 'security.ubuntu.com'],
];

const mostEnvironments = 1_000;

interface Address {
  readonly accountId: AccountId;
  readonly environmentId: string;
}

/** Names for sandboxes, of which each session has one, with the hosts that they reach. */
export class AnthropicEnvironments {
  constructor(private readonly ids: FacadeIds) {}

  async create(accountId: AccountId, request: NewAnthropicEnvironment, at: string) {
    refuseConfig(request.config);
    const { name, description = null, metadata = {} } = request;
    const environmentId = `env_${newUlid()}`;
    const networking = mergeNetworking(unrestricted, request.config?.networking);
    const data = { name, description, metadata, networking, archived_at: null, updated_at: at };
    const object = { id: environmentId, data, isThread: false };
    if (!(await this.ids.addObjectWithin(mostEnvironments, toKind(accountId), object)))
      throw new ApiError('too_many_environments', `An account may have ${mostEnvironments} environments. Delete some.`);
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
      networking: mergeNetworking(readNetworking(data), request.config?.networking),
      updated_at: at,
    }));
  }

  archive(address: Address, at: string) {
    return this.change(address, (data) => ({ ...data, archived_at: data['archived_at'] ?? at }));
  }

  async delete({ accountId, environmentId: id }: Address) {
    await this.get({ accountId, environmentId: id });
    if (!(await this.ids.deleteObject(toKind(accountId), id))) throw notFound(id);
    return { id, type: 'environment_deleted' };
  }

  /** Resolves to the only hosts that it reaches, if it is limited to some. Throws unless sessions may begin in it. */
  async requireHosts(address: Address): Promise<readonly string[] | undefined> {
    const { archived_at: at, config } = await this.get(address);
    if (at !== null) throw new ApiError('environment_archived', `${address.environmentId} is archived.`);
    return toHosts(config.networking);
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

/** Versions before this one kept the rows of deleted environments. */
const isDeleted = ({ data }: FacadeObject): boolean => data['deleted_at'] !== undefined;
const notFound = (id: string): ApiError => new ApiError('environment_not_found', `There is no environment ${id}.`);

const toEnvironment = ({ id, data, created_at }: FacadeObject) => {
  const { name, description, metadata, archived_at, updated_at } = data;
  const config = { type: 'cloud', networking: readNetworking(data), packages };
  return { id, type: 'environment', name, description, metadata, archived_at, updated_at, created_at, config };
};

function refuseConfig(given: NewAnthropicEnvironment['config']): void {
  if (!given) return;
  if (given.type === 'self_hosted') throw refuse('config.type', '"self_hosted"');
  const installed = Object.entries(given.packages ?? {}).filter(
    ([, names]) => Array.isArray(names) && names.length > 0,
  );
  if (installed[0]) throw refuse(`config.packages.${installed[0][0]}`, 'installing packages');
}

/** As it was stored. */
const readNetworking = (data: FacadeObject['data']) => (data['networking'] ?? unrestricted) as AnthropicNetworking;

/** What is absent stays. */
function mergeNetworking(
  stored: AnthropicNetworking,
  given: AnthropicNetworking | null | undefined,
): AnthropicNetworking {
  if (!given) return stored;
  if (given.type === 'unrestricted') return given;
  const known = stored.type === 'limited' ? stored : undefined;
  return {
    type: 'limited',
    allowed_hosts: given.allowed_hosts ?? known?.allowed_hosts ?? [],
    allow_mcp_servers: given.allow_mcp_servers ?? known?.allow_mcp_servers ?? false,
    allow_package_managers: given.allow_package_managers ?? known?.allow_package_managers ?? false,
  };
}

function toHosts(networking: AnthropicNetworking): readonly string[] | undefined {
  if (networking.type === 'unrestricted') return undefined;
  const { allowed_hosts: hosts, allow_package_managers: withRegistries } = networking;
  return [...(hosts ?? []), ...(withRegistries ? registries : [])];
}

/** The environment of an agent where only these hosts are reached, and of them none that the agent does not reach itself. */
export function limitHosts(own: Environment = {}, hosts: readonly string[] | undefined): Environment {
  if (!hosts) return own;
  const { egress } = own;
  return { ...own, egress: hosts.filter((host) => !egress || egress.includes(host) || isListedHost(egress, host)) };
}
