import { randomBytes } from 'node:crypto';
import { type OutboundProxy, publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import { DaytonaProvider } from './daytona/daytona-provider';
import { prepareDocker } from './docker/prepare-docker';
import type { SecretSource } from '../secrets/secret-source';
import { EgressGates, type EgressSecrets } from './egress/egress-gate';
import { SecretAuthority } from './egress/secret-authority';
import type { EgressRules } from './egress/destination';
import { HostProvider } from './host/host-provider';
import type { CopySettings } from './host/workspaces/workspace-copies';
import { type EmbeddedProbeResult, prepareIsolation } from './embedded/prepare-isolation';
import type { SandboxLog, SandboxProvider } from './provider/sandbox-provider';
import type { SandboxSettings } from './provider/sandbox-settings';

interface ProviderOptions {
  /** Only for providers whose sandboxes no other executor reaches. */
  readonly copies?: CopySettings | undefined;
  /** What requests of sandboxes, and of tools that act for them, leave through. */
  readonly proxy?: OutboundProxy | undefined;
  /** Absent: sandboxes can use no secrets. */
  readonly secretSource?: SecretSource | undefined;
}

/** Only tests replace how names are resolved and addresses judged. */
type EgressParts = Partial<Pick<EgressRules, 'resolve' | 'isAllowed' | 'proxy'> & Pick<EgressSecrets, 'hostAuthority'>>;

/** The provider that the settings choose. */
export function createSandboxProvider(
  settings: SandboxSettings,
  log: SandboxLog,
  options: ProviderOptions & EgressParts = {},
): SandboxProvider {
  if (settings.provider === 'embedded') return createEmbeddedProvider(settings, log, options);
  if (settings.provider === 'docker') return createDockerProvider(settings, log, options);
  const { daytona } = settings;
  if (!daytona) throw new Error('The provider daytona has no settings.');
  return new DaytonaProvider(settings, { daytona, log, egress: egressGates(settings, { proxy: options.proxy }) });
}

/** Sandboxes on this machine. */
export function createEmbeddedProvider(
  settings: SandboxSettings,
  log: SandboxLog,
  { copies, ...egress }: ProviderOptions & EgressParts = {},
): HostProvider<EmbeddedProbeResult> {
  const gates = egressGates(settings, settings.unsafeHost ? { ...egress, secretSource: undefined } : egress);
  return new HostProvider(settings, { name: 'embedded', log, egress: gates, prepare: prepareIsolation, copies });
}

/** Sandboxes in containers of an engine on this machine. */
export function createDockerProvider(
  settings: SandboxSettings,
  log: SandboxLog,
  { copies, ...egress }: ProviderOptions & EgressParts = {},
): HostProvider {
  return new HostProvider(settings, {
    ...{ name: 'docker', log, egress: egressGates(settings, egress) },
    prepare: prepareDocker,
    copies,
  });
}

function egressGates(
  settings: SandboxSettings,
  { secretSource: source, hostAuthority, ...replaced }: EgressParts & Pick<ProviderOptions, 'secretSource'> = {},
): EgressGates {
  const rules = {
    ...settings.egress,
    resolve: resolveByDns(),
    resolveInternal: resolveWithSystem(),
    isAllowed: publicInternet({ deniedNetworks: settings.egress.deniedNetworks }),
    ...replaced,
  };
  if (!source) return new EgressGates(rules);
  const secrets = { source, key: randomBytes(32), authority: new SecretAuthority(), hostAuthority };
  return new EgressGates(rules, secrets);
}
