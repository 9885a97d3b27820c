import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandboxProvider } from '../../create-sandbox-provider';
import type { EgressRules } from '../../egress/destination';
import type { Sandbox } from '../../provider/sandbox';
import type { SecretSource } from '../../../secrets/secret-source';
import { type SandboxSettings, type SandboxSettingsInput, sandboxSettings } from '../../provider/sandbox-settings';
import type { CopySettings } from '../../host/workspaces/workspace-copies';
import type { HostProvider } from '../../host/host-provider';
import type { EmbeddedProbeResult } from '../prepare-isolation';
import { removeTree } from '../../host/workspaces/directory-tree';

type FixtureOptions = Partial<EgressRules> & {
  readonly copies?: CopySettings;
  readonly secretSource?: SecretSource;
  readonly hostAuthority?: string;
};

/**
 * A provider on a temporary root, with real bubblewrap. Without bubblewrap the specs fail: isolation is not optional. A spec that
 * asks for nothing of bubblewrap can be run with `engineUnderTest`.
 */
export class SandboxFixture {
  provider: HostProvider<EmbeddedProbeResult>;
  /** The logged messages, without their fields. */
  readonly logged: string[] = [];
  private readonly log = {
    info: (_: object, text: string) => void this.logged.push(text),
    warn: (_: object, text: string) => void this.logged.push(text),
  };

  private constructor(
    readonly root: string,
    readonly settings: SandboxSettings,
    private readonly options: FixtureOptions,
  ) {
    this.provider = this.another();
  }

  private another(): HostProvider<EmbeddedProbeResult> {
    return createSandboxProvider(this.settings, this.log, this.options) as HostProvider<EmbeddedProbeResult>;
  }

  static async open(
    settings: Partial<SandboxSettingsInput> = {},
    options: FixtureOptions = {},
  ): Promise<SandboxFixture> {
    const root = await mkdtemp(join(tmpdir(), 'sandbox-spec-'));
    await chmod(root, 0o711);
    const parsed = sandboxSettings.parse({ root, bubblewrapPath: process.env['BWRAP_PATH'] ?? 'bwrap', ...settings });
    return new SandboxFixture(root, parsed, options);
  }

  sandbox(threadId = `thr_${randomUUID()}`): Promise<Sandbox> {
    return this.provider.get(threadId);
  }

  /** Like a restart of the executor: everything stops, and a new provider opens the same root. */
  async restart(): Promise<void> {
    await this.provider.close();
    this.provider = this.another();
  }

  async close(): Promise<void> {
    await this.provider.close();
    await removeTree(this.root);
  }
}
