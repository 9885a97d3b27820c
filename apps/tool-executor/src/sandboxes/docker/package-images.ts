import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { EnvironmentPackages } from '@rondo/contract';
import { toMessage } from '@rondo/platform';
import type { EgressGates } from '../egress/egress-gate';
import { proxyPort, proxyVariables } from '../egress/proxy-variables';
import { type WayOut, openWayOut } from '../egress/way-out';
import type { RuntimeDirectory } from '../host/isolation/runtime-directory';
import { searchPath } from '../provider/program-path';
import { SandboxError } from '../provider/sandbox-error';
import type { SandboxLog } from '../provider/sandbox-provider';
import type { PackageSettings, SandboxSettings } from '../provider/sandbox-settings';
import { refuseShape, requirePackages } from '../provider/sandbox-shape';
import { toInstallation } from '../provider/installation';
import { inside, installationRequest } from './container-request';
import type { EngineClient } from './engine-client';
import { runContainer } from './run-container';

export interface PackageParts {
  readonly engine: EngineClient;
  readonly log: SandboxLog;
  readonly settings: SandboxSettings;
  readonly egress: EgressGates;
  readonly runtime: Pick<RuntimeDirectory, 'path' | 'agent'>;
}

const repository = 'localhost/rondo-packages';
const shownCharacters = 1_500;

/** Images with packages on top of another one. Each is made once, named by the hash of what it is made of. */
export class PackageImages {
  private readonly installing = new Map<string, Promise<void>>();

  constructor(private readonly parts: PackageParts) {}

  /** The id of the image. Rejects with SandboxError where its packages are refused or cannot be installed, which is not remembered. */
  async find(base: string, packages: EnvironmentPackages): Promise<string> {
    const { engine, settings } = this.parts;
    requirePackages(packages, settings.packages);
    const baseId = await engine.findImage(base);
    if (baseId === undefined) throw new SandboxError('unavailable', `The engine has no image ${base}.`);
    const tag = toTag(baseId, packages, settings.packages);
    const known = await engine.findImage(`${repository}:${tag}`);
    if (known !== undefined) return known;
    const install =
      this.installing.get(tag) ?? this.install(baseId, packages, tag).finally(() => this.installing.delete(tag));
    this.installing.set(tag, install);
    await install;
    const made = await engine.findImage(`${repository}:${tag}`);
    if (made === undefined) throw new SandboxError('unavailable', 'The engine has lost the image with the packages.');
    return made;
  }

  private async install(image: string, packages: EnvironmentPackages, tag: string): Promise<void> {
    const { engine, settings, log, egress, runtime } = this.parts;
    const name = `installation-${tag}`;
    const path = join(runtime.path, name);
    const startedAt = Date.now();
    let wayOut: WayOut | undefined;
    egress.of(name).limitTo(settings.packages.hosts);
    try {
      wayOut = await openWayOut(egress, { threadId: () => name, path, uid: undefined });
      if (!wayOut) throw refuseShape('packages', 'sandboxes here reach nothing (SANDBOX_EGRESS)');
      const order = {
        relay: { port: proxyPort, socketPath: inside.egressSocket },
        ...toInstallation(packages, settings.packages, { PATH: searchPath, ...proxyVariables(egress.rules) }),
      };
      const files = { agentDirectory: runtime.agent, egressSocket: wayOut.socketPath };
      const { exitCode, output } = await runContainer(
        engine,
        installationRequest({ settings, image, order, ...files }),
        {
          timeoutMs: settings.packages.installMs,
          watch: (id) => this.requireSize(id),
          keep: (id) => engine.commit(id, { repository, tag, label: this.label }),
        },
      );
      if (exitCode !== 0) throw new Error(output);
      log.info({ tag, durationMs: Date.now() - startedAt }, 'packages installed');
      await this.removeOldest();
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      const reason = toMessage(error).trim().slice(-shownCharacters);
      throw new SandboxError('failed', `The packages of the environment cannot be installed: ${reason}`);
    } finally {
      await wayOut?.close();
      egress.forget(name);
    }
  }

  private async requireSize(id: string): Promise<void> {
    const { engine, settings } = this.parts;
    const { installedBytes } = settings.packages;
    if ((await engine.measureWritten(id)) > installedBytes)
      throw new Error(`they take more than ${Math.floor(installedBytes / 1024 ** 2)} MiB.`);
  }

  /** Those that a container uses stay. */
  private async removeOldest(): Promise<void> {
    const { engine, settings } = this.parts;
    const images = await engine.listImages(this.label);
    const old = images.sort((one, other) => other.created - one.created).slice(settings.packages.kept);
    for (const { id } of old) await engine.removeImage(id).catch(() => undefined);
  }

  private get label(): string {
    return `rondo.packages=${this.parts.settings.install ?? ''}`;
  }
}

/** The order of a list says nothing. */
function toTag(base: string, packages: EnvironmentPackages, { pipIndex, npmRegistry }: PackageSettings): string {
  const { apt = [], pip = [], npm = [] } = packages;
  const made = { base, lists: [apt, pip, npm].map((list) => [...list].sort()), pipIndex, npmRegistry };
  return createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 40);
}
