import type { RunId, Sha256 } from '@rondo/contract';

/** Reads the bytes of images, as base64. Missing blobs are absent from the result. */
export interface BlobReader {
  read(blobs: readonly Sha256[]): Promise<ReadonlyMap<Sha256, string>>;
}

/** Those of these blobs that the account of the run has. */
export type ReadBlobs = (runId: RunId, blobs: readonly Sha256[]) => Promise<ReadonlyMap<Sha256, string>>;

/**
 * Images that runs showed recently, at most so many bytes of base64: an iteration reads only the images that the one
 * before did not show.
 */
export class ImageCache {
  /** In the order of their last use. */
  private readonly images = new Map<string, string>();
  private size = 0;

  constructor(
    private readonly readBlobs: ReadBlobs,
    private readonly maxBytes: number,
  ) {}

  /** A run finds only the images that it has cached itself. */
  of(runId: RunId): BlobReader {
    return { read: (blobs) => this.read(runId, blobs) };
  }

  private async read(runId: RunId, blobs: readonly Sha256[]): Promise<ReadonlyMap<Sha256, string>> {
    const found = new Map<Sha256, string>();
    for (const blob of blobs) {
      const image = this.images.get(`${runId} ${blob}`);
      if (image !== undefined) found.set(blob, image);
    }
    const missing = blobs.filter((blob) => !found.has(blob));
    const read = missing.length > 0 ? await this.readBlobs(runId, missing) : [];
    for (const [blob, image] of read) found.set(blob, image);
    for (const [blob, image] of found) this.put(`${runId} ${blob}`, image);
    return found;
  }

  private put(key: string, image: string): void {
    this.remove(key);
    this.images.set(key, image);
    this.size += image.length;
    for (const oldest of this.images.keys()) {
      if (this.size <= this.maxBytes) return;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    this.size -= this.images.get(key)?.length ?? 0;
    this.images.delete(key);
  }
}
