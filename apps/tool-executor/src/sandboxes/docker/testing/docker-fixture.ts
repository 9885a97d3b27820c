import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDockerProvider } from '../../create-sandbox-provider';
import type { EgressRules } from '../../egress/destination';
import type { CopySettings } from '../../host/workspaces/workspace-copies';
import { removeTree } from '../../host/workspaces/directory-tree';
import { type SandboxSettings, type SandboxSettingsInput, sandboxSettings } from '../../provider/sandbox-settings';
import type { SandboxProvider } from '../../provider/sandbox-provider';
import type { SandboxProviderFixture } from '../../testing/sandbox-provider-fixture';
import { EngineServer } from './engine-server';

const { TEST_DOCKER_SOCKET: socketPath, TEST_DOCKER_IMAGE: image, TEST_DOCKER_BROWSER: browserPath } = process.env;

/** Settings with which specs use a real engine, an image that it has, and the browser of that. Empty unless variables name them. */
export const engineUnderTest: Partial<SandboxSettingsInput> = socketPath
  ? { provider: 'docker', docker: { socketPath, image, browserPath } }
  : {};

/** A provider of containers at a test engine of its own. */
export class DockerFixture implements SandboxProviderFixture {
  provider: SandboxProvider;

  private constructor(
    readonly engine: EngineServer,
    readonly settings: SandboxSettings,
    private readonly options: Partial<EgressRules> & { readonly copies?: CopySettings },
  ) {
    this.provider = this.another();
  }

  static async open(
    settings: Partial<SandboxSettingsInput> = {},
    options: Partial<EgressRules> & { readonly copies?: CopySettings } = {},
  ): Promise<DockerFixture> {
    const engine = await EngineServer.start();
    const root = await mkdtemp(join(tmpdir(), 'docker-spec-'));
    await chmod(root, 0o711);
    const docker = { socketPath: engine.socketPath, ...settings.docker };
    const parsed = sandboxSettings.parse({ root, provider: 'docker', install: 'spec', ...settings, docker });
    return new DockerFixture(engine, parsed, options);
  }

  /** As of a new process of the executor. */
  another(): SandboxProvider {
    const log = { info: () => undefined, warn: () => undefined };
    return createDockerProvider(this.settings, log, this.options);
  }

  async restart(): Promise<void> {
    await this.provider.close();
    this.provider = this.another();
  }

  async close(): Promise<void> {
    await this.provider.close();
    await this.engine.close();
    await removeTree(this.settings.root);
  }
}
