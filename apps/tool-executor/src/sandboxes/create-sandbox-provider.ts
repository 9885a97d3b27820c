import { publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import { DaytonaProvider } from './daytona/daytona-provider';
import { EgressGates } from './egress/egress-gate';
import type { EgressRules } from './egress/destination';
import { EmbeddedProvider } from './embedded/embedded-provider';
import type { SandboxLog, SandboxProvider } from './sandbox-provider';
import type { SandboxSettings } from './sandbox-settings';

type EgressParts = Partial<Pick<EgressRules, 'resolve' | 'isAllowed'>>;

/** The provider that the settings choose. */
export function createSandboxProvider(settings: SandboxSettings, log: SandboxLog): SandboxProvider {
  if (settings.provider === 'embedded') return createEmbeddedProvider(settings, log);
  const { daytona } = settings;
  if (!daytona) throw new Error('The provider daytona has no settings.');
  return new DaytonaProvider(settings, { daytona, log, egress: egressGates(settings) });
}

/** Sandboxes on this machine. Only tests pass `egress`, which replaces how names are resolved and addresses judged. */
export function createEmbeddedProvider(
  settings: SandboxSettings,
  log: SandboxLog,
  egress: EgressParts = {},
): EmbeddedProvider {
  return new EmbeddedProvider(settings, log, egressGates(settings, egress));
}

function egressGates(settings: SandboxSettings, replaced: EgressParts = {}): EgressGates {
  return new EgressGates({
    ...settings.egress,
    resolve: resolveByDns(),
    resolveInternal: resolveWithSystem(),
    isAllowed: publicInternet({ deniedNetworks: settings.egress.deniedNetworks }),
    ...replaced,
  });
}
