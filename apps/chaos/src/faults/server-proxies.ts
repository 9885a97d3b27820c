import type { DeploymentRequest } from '@rondo/test-deployment';
import { StallingProxy } from './stalling-proxy';

type Servers = Parameters<NonNullable<DeploymentRequest['through']>>[0];

/** A stalling proxy to each server that the services use. */
export class ServerProxies {
  private readonly proxies = new Map<string, StallingProxy>();

  /** Resolves with the proxies' URLs, for the services to use instead of the servers' own. */
  async startAll(servers: Servers): Promise<Servers> {
    for (const [variable, url] of Object.entries(servers)) {
      if (typeof url === 'string' && url.includes('://')) this.proxies.set(variable, await StallingProxy.start(url));
    }
    return { ...servers, ...Object.fromEntries([...this.proxies].map(([variable, { url }]) => [variable, url])) };
  }

  to(variable: keyof Servers): StallingProxy {
    const proxy = this.proxies.get(variable);
    if (!proxy) throw new Error(`there is no proxy for ${variable}`);
    return proxy;
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies.values()) await proxy.close();
  }
}
