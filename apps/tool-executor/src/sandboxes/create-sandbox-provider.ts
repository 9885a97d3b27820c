import { publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import { EgressGates } from './egress/egress-gate';
import type { EgressRules } from './egress/destination';
import { EmbeddedProvider } from './embedded/embedded-provider';
import type { SandboxLog } from './sandbox-provider';
import type { SandboxSettings } from './sandbox-settings';

/** Sandboxes on this machine. Only tests pass `egress`, which replaces how names are resolved and addresses judged. */
export function createSandboxProvider(
  settings: SandboxSettings,
  log: SandboxLog,
  egress: Partial<Pick<EgressRules, 'resolve' | 'isAllowed'>> = {},
): EmbeddedProvider {
  const rules = {
    ...settings.egress,
    resolve: resolveByDns(),
    resolveInternal: resolveWithSystem(),
    isAllowed: publicInternet({ deniedNetworks: settings.egress.deniedNetworks }),
    ...egress,
  };
  return new EmbeddedProvider(settings, log, new EgressGates(rules));
}
