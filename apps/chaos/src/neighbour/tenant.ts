import { RondoClient, command, scripted } from '@rondo/test-deployment';
import { type Socket, io } from 'socket.io-client';
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
  client: new AddressedClient(url, key, address),
  key,
  url: new URL(url),
  address,
});

/** A client behind the proxy that the gateway trusts. */
class AddressedClient extends RondoClient {
  constructor(
    url: string,
    key: string,
    private readonly address: string,
  ) {
    super(url, key);
  }

  override async request(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.key}`,
        'X-Forwarded-For': this.address,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  override connect(): Socket {
    const extraHeaders = { 'X-Forwarded-For': this.address };
    return io(`${this.url}/runs`, {
      transports: ['websocket'],
      auth: { token: this.key },
      forceNew: true,
      extraHeaders,
    });
  }
}

/** What a run with a few commands does. */
export const shortRun = (about: string, ...lines: string[]) =>
  scripted(about, [...lines.map((line) => ({ calls: [command(line)] })), { text: 'Done.' }]);
