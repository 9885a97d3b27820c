import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DaytonaProvider } from '../daytona-provider';
import { type DaytonaSettings, daytonaSettings } from '../../provider/daytona-settings';
import { EgressGates } from '../../egress/egress-gate';
import { type SandboxSettingsInput, sandboxSettings } from '../../provider/sandbox-settings';
import type { SandboxProviderFixture } from '../../testing/sandbox-provider-fixture';
import { DaytonaServer } from './daytona-server';

interface FixtureOptions {
  readonly settings?: Partial<SandboxSettingsInput>;
  readonly daytona?: Partial<DaytonaSettings>;
}

/** A provider at a test server of its own. */
export class DaytonaFixture implements SandboxProviderFixture {
  provider: DaytonaProvider;
  /** Everything that was logged, as text. */
  readonly logged: string[] = [];

  private constructor(
    readonly server: DaytonaServer,
    private readonly root: string,
    private readonly options: FixtureOptions,
  ) {
    this.provider = this.another();
  }

  static async open(options: FixtureOptions = {}): Promise<DaytonaFixture> {
    return new DaytonaFixture(await DaytonaServer.start(), await mkdtemp(join(tmpdir(), 'daytona-records-')), options);
  }

  /** As of another executor with the same account. */
  another(): DaytonaProvider {
    const { apiUrl, apiKey } = this.server;
    const daytona = daytonaSettings.parse({ apiUrl, apiKey, ...this.options.daytona });
    const settings = sandboxSettings.parse({ root: this.root, ...this.options.settings });
    const write = (fields: object, text: string) => void this.logged.push(`${JSON.stringify(fields)} ${text}`);
    const rules = { ...settings.egress, isAllowed: () => false };
    const noNames = () => Promise.resolve([]);
    return new DaytonaProvider(settings, {
      ...{ daytona, log: { info: write, warn: write } },
      egress: new EgressGates({ ...rules, resolve: noNames, resolveInternal: noNames }),
    });
  }

  async restart(): Promise<void> {
    await this.provider.close();
    this.provider = this.another();
  }

  async close(): Promise<void> {
    await this.provider.close();
    await this.server.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
