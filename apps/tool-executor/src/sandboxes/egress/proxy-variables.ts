import type { EgressRules } from './destination';

/** On the loopback of a sandbox. */
export const proxyPort = 3128;

/** Commands reach servers in their own sandbox without the proxy, except under a loopback name that is an internal host. */
export function proxyVariables({ internalHosts }: EgressRules): Record<string, string> {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  const isInternal = (name: string) => internalHosts.some((host) => host.replace(/[[\]]/g, '').startsWith(`${name}:`));
  const direct = ['localhost', '127.0.0.1', '::1'].filter((name) => !isInternal(name)).join(',');
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: direct, NODE_USE_ENV_PROXY: '1' };
  return { ...upper, http_proxy: proxy, https_proxy: proxy, no_proxy: direct };
}
