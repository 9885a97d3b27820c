import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { KeyedMutex } from '@rondo/platform';
import { SandboxError } from '../sandboxes';
import { isThreadId, requireThreadId } from '../sandboxes/provider/thread-ids';
import type { PreviewUrls } from './preview-urls';

const site = z.object({
  name: z.string(),
  /** Whose it is, and since when. Missing in what a version has published that listed no sites. */
  account: z.string().optional(),
  publishedAt: z.iso.datetime().optional(),
  /** Who has it can open the site. It stays when the site is replaced. */
  token: z.string(),
  /** The directory of its files. */
  version: z.uuid(),
  /** What its address shows, if there is one. */
  index: z.string(),
  /** A file's place in this list is its name on the disk. */
  files: z.array(z.object({ path: z.string(), bytes: z.number().int().nonnegative() })),
});
const sites = z.array(site);
export type Site = z.infer<typeof site>;

export interface SiteFile {
  readonly path: string;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface SiteSource {
  readonly index: string;
  readonly files: AsyncIterable<SiteFile>;
}

export interface ThreadSites {
  /** Replaces the site of that name at once, or leaves it as it was. Rejects with `too_large` beyond the thread's limit. */
  publish(name: string, source: SiteSource): Promise<Site & { readonly url: string }>;
  /** False when there is no such site. */
  withdraw(name: string): Promise<boolean>;
}

interface SiteStoreParts {
  /** The directory of workspaces; sites lie in a hidden one beside them. */
  readonly root: string;
  readonly previews: Pick<PreviewUrls, 'urlOfSite'>;
  /** Of all sites of a thread together. */
  readonly maxBytes: number;
  /** Rejects where the disk has too little space for new files. */
  readonly requireSpace?: () => Promise<void>;
}

/** Of one thread. Their table is read for each request. */
const mostSites = 20;

/** A site as its owner sees it. */
export interface PublishedSite {
  readonly threadId: string;
  readonly name: string;
  readonly url: string;
  readonly files: number;
  readonly bytes: number;
  readonly publishedAt: string | undefined;
}

/**
 * Static sites of threads, on this executor's disk: `.sites/<thread>/<version>/<number>`, and a table in `sites.json` that
 * says which path is which number. The names of an agent's files are only keys in that table, never names on this disk.
 * The table is replaced as a whole, so that a reader sees the old site or the new one.
 */
export class SiteStore {
  private readonly directory: string;
  private readonly changes = new KeyedMutex();

  constructor(private readonly parts: SiteStoreParts) {
    this.directory = join(resolve(parts.root), '.sites');
  }

  /** Undefined where previews are not configured. */
  of(threadId: string, account: string): ThreadSites | undefined {
    const { previews } = this.parts;
    if (previews.urlOfSite(threadId, '0'.repeat(20)) === undefined) return undefined;
    return {
      publish: (name, source) =>
        this.change(threadId, async () => {
          await this.parts.requireSpace?.();
          const published = await this.publish(threadId, { name, account }, source);
          return { ...published, url: previews.urlOfSite(threadId, published.token) ?? '' };
        }),
      withdraw: (name) => this.withdraw(threadId, name),
    };
  }

  /** All sites of an account. `findAccount` says whose a thread is where the site does not. */
  async ofAccount(
    account: string,
    findAccount: (threadId: string) => Promise<string | undefined>,
  ): Promise<PublishedSite[]> {
    const found: PublishedSite[] = [];
    for (const threadId of await this.threads()) {
      for (const one of await this.read(threadId)) {
        const url = this.parts.previews.urlOfSite(threadId, one.token);
        const owner = one.account ?? (await findAccount(threadId));
        if (owner === account && url !== undefined) found.push(toPublishedSite(threadId, one, url));
      }
    }
    return found;
  }

  /** False when there is no such site. */
  withdraw(threadId: string, name: string): Promise<boolean> {
    return this.change(threadId, () => this.withdrawNow(threadId, name));
  }

  async find(threadId: string, token: string): Promise<Site | undefined> {
    const known = isThreadId(threadId) ? await this.read(threadId) : [];
    return known.find((one) => isSame(one.token, token));
  }

  open(threadId: string, { version }: Site, place: number): Promise<FileHandle> {
    return open(join(this.toHome(threadId), version, String(place)));
  }

  async threads(): Promise<string[]> {
    return (await readdir(this.directory).catch(() => [])).filter(isThreadId); // created with the first site
  }

  /** All sites of a thread that was deleted. */
  async remove(threadId: string): Promise<void> {
    await this.change(threadId, () => rm(this.toHome(threadId), { recursive: true, force: true }));
  }

  private async publish(threadId: string, { name, account }: Owned, { index, files }: SiteSource): Promise<Site> {
    const known = await this.read(threadId);
    const others = known.filter((one) => one.name !== name);
    if (others.length >= mostSites) {
      throw new SandboxError('too_large', `A thread may have ${mostSites} sites. Take one down with undeploy.`);
    }
    const token = known.find((one) => one.name === name)?.token ?? newToken();
    const version = randomUUID();
    const directory = join(this.toHome(threadId), version);
    const limit = this.parts.maxBytes;
    let left = limit - countBytes(others);
    const written: Site['files'] = [];
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      for await (const { path, content } of files) {
        const bytes = await writeDurably(join(directory, String(written.length)), atMost(left, content, limit));
        written.push({ path, bytes });
        left -= bytes;
      }
      const publishedAt = new Date().toISOString();
      const published = { name, account, publishedAt, token, version, index, files: written };
      await this.write(threadId, [...others, published]);
      return published;
    } finally {
      await this.sweep(threadId);
    }
  }

  private async withdrawNow(threadId: string, name: string): Promise<boolean> {
    const known = await this.read(threadId);
    const others = known.filter((one) => one.name !== name);
    if (others.length === known.length) return false;
    await this.write(threadId, others);
    await this.sweep(threadId);
    return true;
  }

  private async read(threadId: string): Promise<Site[]> {
    try {
      return sites.parse(JSON.parse(await readFile(this.toTable(threadId), 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []; // Node's own error
      throw error;
    }
  }

  private async write(threadId: string, table: readonly Site[]): Promise<void> {
    const draft = `${this.toTable(threadId)}.draft`;
    await writeDurably(draft, [Buffer.from(JSON.stringify(table))]);
    await rename(draft, this.toTable(threadId));
  }

  /** Deletes the files of sites that were replaced, withdrawn, or left half written by an executor that died. */
  private async sweep(threadId: string): Promise<void> {
    const home = this.toHome(threadId);
    const kept = ['sites.json', ...(await this.read(threadId)).map(({ version }) => version)];
    for (const name of await readdir(home)) {
      if (!kept.includes(name)) await rm(join(home, name), { recursive: true, force: true });
    }
  }

  private change<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    return this.changes.run(threadId, work);
  }

  private toTable(threadId: string): string {
    return join(this.toHome(threadId), 'sites.json');
  }

  private toHome(threadId: string): string {
    requireThreadId(threadId);
    return join(this.directory, threadId);
  }
}

type Owned = Pick<Site, 'name'> & { readonly account: string };

const toPublishedSite = (threadId: string, one: Site, url: string): PublishedSite => ({
  ...{ threadId, name: one.name, url, files: one.files.length, bytes: countBytes([one]), publishedAt: one.publishedAt },
});

const countBytes = (known: readonly Site[]): number =>
  known.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0);

async function* atMost(most: number, content: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > most) {
      throw new SandboxError('too_large', `The sites of a thread may have ${limit} bytes together, and this is more.`);
    }
    yield part;
  }
}

async function writeDurably(path: string, content: AsyncIterable<Uint8Array> | Uint8Array[]): Promise<number> {
  const file = await open(path, 'w', 0o600);
  try {
    let bytes = 0;
    for await (const part of content) bytes += (await file.write(part)).bytesWritten;
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** 100 bits in characters that host names keep. */
const newToken = (): string => [...randomBytes(20)].map((byte) => (byte % 32).toString(32)).join('');

function isSame(token: string, given: string): boolean {
  const [one, other] = [Buffer.from(token), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
