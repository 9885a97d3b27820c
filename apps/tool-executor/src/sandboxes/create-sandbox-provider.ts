import { publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import { EmbeddedProvider } from './embedded/embedded-provider';
import type { EgressRules } from './embedded/egress/destination';
import { EgressGates } from './embedded/egress/egress-gate';
import type { SandboxProvider } from './sandbox';
import type { SandboxLog } from './sandbox-log';
import type { SandboxSettings } from './sandbox-settings';

/** Sandboxes on this machine. `egress` replaces how names are resolved and addresses judged; only tests have a reason to. */
export function createSandboxProvider(
  settings: SandboxSettings,
  log: SandboxLog,
  egress: Partial<Pick<EgressRules, 'resolve' | 'isAllowed'>> = {},
): SandboxProvider {
  const rules = {
    ...settings.egress,
    resolve: resolveByDns(),
    resolveInternal: resolveWithSystem(),
    isAllowed: publicInternet({ deniedNetworks: settings.egress.deniedNetworks }),
    ...egress,
  };
  return new EmbeddedProvider(settings, log, new EgressGates(rules));
}
