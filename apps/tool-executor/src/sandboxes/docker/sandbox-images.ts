import { toMessage } from '@rondo/platform';
import { type ImageReference, isSameImage, parseImageReference, toEngineName } from '../provider/image-reference';
import { EngineAway, SandboxError } from '../provider/sandbox-error';
import type { SandboxLog } from '../provider/sandbox-provider';
import { type SandboxShape, requireImage } from '../provider/sandbox-shape';
import { type EngineClient, isAway } from './engine-client';
import { runContainer } from './run-container';
import { trialRequest } from './container-request';

interface ImageParts {
  readonly engine: EngineClient;
  readonly log: SandboxLog;
  /** That of the deployment. It was tried by a whole sandbox. */
  readonly own: string;
  readonly allowed: readonly string[];
  readonly root: string;
}

const trialMs = 60_000;

/** What containers are made from. One that a run names is pulled where the engine does not have it, and tried once. */
export class SandboxImages {
  /** By their ids. */
  private readonly tried = new Set<string>();
  /** By their names. */
  private readonly pulls = new Map<string, Promise<void>>();

  constructor(private readonly parts: ImageParts) {}

  /** The id of the image, or the name of the deployment's own. Rejects with SandboxError. */
  async find({ image }: SandboxShape = {}): Promise<string> {
    const { own, allowed, engine } = this.parts;
    if (image === undefined || isSameImage(image, own)) return own;
    requireImage(image, allowed);
    const reference = parseImageReference(image);
    try {
      const id = (await engine.findImage(toEngineName(reference))) ?? (await this.pulled(reference));
      if (!this.tried.has(id)) await this.try(id);
      this.tried.add(id);
      return id;
    } catch (error) {
      if (isAway(error)) throw new EngineAway(`Docker: ${toMessage(error)}`);
      throw new SandboxError('failed', `The image ${image} of the environment cannot be used: ${toMessage(error)}`);
    }
  }

  private async pulled(reference: ImageReference): Promise<string> {
    const name = toEngineName(reference);
    const pull = this.pulls.get(name) ?? this.pull(reference).finally(() => this.pulls.delete(name));
    this.pulls.set(name, pull);
    await pull;
    const id = await this.parts.engine.findImage(name);
    if (id === undefined) throw new Error('the engine does not have it after it was pulled.');
    return id;
  }

  private async pull(reference: ImageReference): Promise<void> {
    const { engine, log } = this.parts;
    const image = toEngineName(reference);
    const startedAt = Date.now();
    log.info({ image }, 'image is pulled');
    await engine.pull(reference.name, reference.digest ?? reference.tag ?? 'latest');
    log.info({ image, durationMs: Date.now() - startedAt }, 'image pulled');
  }

  private async try(id: string): Promise<void> {
    const { engine, root } = this.parts;
    const { exitCode, output } = await runContainer(engine, trialRequest(id, root), { timeoutMs: trialMs });
    if (exitCode !== 0) throw new Error(output.trim() || `a trial ended with ${exitCode}.`);
  }
}
