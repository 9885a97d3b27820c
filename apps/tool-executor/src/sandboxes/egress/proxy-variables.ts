import type { EgressRules } from './destination';
import { trustVariables } from './secret-authority';

/** On the loopback of a sandbox. */
export const proxyPort = 3128;
/** For commands of runs with secrets: there, requests to hosts of secrets are looked into. */
export const secretProxyPort = 3129;

/** Commands reach servers in their own sandbox without the proxy, except under a loopback name that is an internal host. */
export function proxyVariables({ internalHosts }: EgressRules, port = proxyPort): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const isInternal = (name: string) => internalHosts.some((host) => host.replace(/[[\]]/g, '').startsWith(`${name}:`));
  const direct = ['localhost', '127.0.0.1', '::1'].filter((name) => !isInternal(name)).join(',');
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: direct, NODE_USE_ENV_PROXY: '1' };
  return { ...upper, http_proxy: proxy, https_proxy: proxy, no_proxy: direct };
}

/** Of commands of a run with secrets, instead of those above. `directory`: with the authorities that they are to trust. */
export const secretVariables = (rules: EgressRules, directory: string): Record<string, string> => ({
  ...proxyVariables(rules, secretProxyPort),
  ...trustVariables(directory),
});
