import { toMessage } from '@rondo/platform';
import { type ImageReference, isSameImage, parseImageReference, toEngineName } from '@rondo/domain';
import { EngineAway, SandboxError } from '../provider/sandbox-error';
import type { ReportStep } from '../provider/sandbox-provider';
import { type SandboxShape, requireImage } from '../provider/sandbox-shape';
import { isAway } from './engine-client';
import { PackageImages, type PackageParts } from './package-images';
import { runContainer } from './run-container';
import { trialRequest } from './container-request';

interface ImageParts extends PackageParts {
  /** That of the deployment. It was tried by a whole sandbox. */
  readonly own: string;
}

const trialMs = 60_000;

/** What containers are made from. One that a run names is pulled where the engine does not have it, and tried once. */
export class SandboxImages {
  /** By their ids. */
  private readonly tried = new Set<string>();
  /** By their names. */
  private readonly providing = new Map<string, Promise<string>>();

  private readonly withPackages: PackageImages;

  constructor(private readonly parts: ImageParts) {
    this.withPackages = new PackageImages(parts);
  }

  /** The id of what a sandbox is made from, or the name of the deployment's own. Rejects with SandboxError. */
  async find({ image, packages }: SandboxShape = {}, report?: ReportStep): Promise<string> {
    if (image !== undefined) report?.('image');
    const base = await this.findBase(image);
    if (!packages) return base;
    report?.('packages');
    return this.withPackages.find(base, packages);
  }

  private async findBase(image: string | undefined): Promise<string> {
    const { own, settings } = this.parts;
    if (image === undefined || isSameImage(image, own)) return own;
    requireImage(image, settings.images);
    const name = toEngineName(parseImageReference(image));
    const providing = this.providing.get(name) ?? this.provide(image).finally(() => this.providing.delete(name));
    this.providing.set(name, providing);
    try {
      return await providing;
    } catch (error) {
      if (isAway(error)) throw new EngineAway(`Docker: ${toMessage(error)}`);
      throw new SandboxError('failed', `The image ${image} of the environment cannot be used: ${toMessage(error)}`);
    }
  }

  private async provide(image: string): Promise<string> {
    const reference = parseImageReference(image);
    const name = toEngineName(reference);
    const id = (await this.parts.engine.findImage(name)) ?? (await this.pull(reference));
    if (!this.tried.has(id)) await this.try(id);
    this.tried.add(id);
    return id;
  }

  private async pull(reference: ImageReference): Promise<string> {
    const { engine, log } = this.parts;
    const image = toEngineName(reference);
    const startedAt = Date.now();
    log.info({ image }, 'image is pulled');
    await engine.pull(reference.name, reference.digest ?? reference.tag ?? 'latest');
    log.info({ image, durationMs: Date.now() - startedAt }, 'image pulled');
    const id = await engine.findImage(image);
    if (id === undefined) throw new Error('the engine does not have it after it was pulled.');
    return id;
  }

  private async try(id: string): Promise<void> {
    const { engine, settings } = this.parts;
    const { exitCode, output } = await runContainer(engine, trialRequest(id, settings.root), { timeoutMs: trialMs });
    if (exitCode !== 0) throw new Error(output.trim() || `a trial ended with ${exitCode}.`);
  }
}
