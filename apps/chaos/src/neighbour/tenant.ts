import { RondoClient, command, scriptInput } from '@rondo/test-deployment';
import type { TestBed } from '../test-bed/test-bed';

/** An account with a key and an address of its own, as the gateway behind a proxy sees it. */
export interface Tenant {
  readonly client: RondoClient;
  readonly key: string;
  readonly url: URL;
  /** The value of X-Forwarded-For. */
  readonly address: string;
}

/** What another process needs to act as the tenant. */
export interface TenantAddress extends Pick<Tenant, 'key' | 'address'> {
  readonly url: string;
}

export async function createTenant({ rondo }: TestBed, name: string, address: string): Promise<Tenant> {
  const admin = rondo.client();
  const { key } = (await admin.newAccount(name)).client;
  return toTenant({ url: admin.url, key, address });
}

export const toTenant = ({ url, key, address }: TenantAddress): Tenant => ({
  client: new RondoClient(url, key, { 'X-Forwarded-For': address }),
  key,
  url: new URL(url),
  address,
});

/** What a run with a few commands does. */
export const shortRun = (about: string, ...lines: string[]) =>
  scriptInput(about, [...lines.map((line) => ({ calls: [command(line)] })), { text: 'Done.' }]);
