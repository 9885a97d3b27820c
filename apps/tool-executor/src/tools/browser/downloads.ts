import { z } from 'zod';
import type { CdpConnection } from './cdp-connection';

const directory = '/workspace/downloads';
const largestMebibytes = 100;
const maximumAtOnce = 10;
const waitMs = 10_000;
const commandMs = 10_000;

const begun = z.object({ guid: z.string(), suggestedFilename: z.string() });
const progress = z.object({
  guid: z.string(),
  receivedBytes: z.number(),
  state: z.enum(['inProgress', 'completed', 'canceled']),
  filePath: z.string().optional(),
});

/** What pages download, into a directory of the workspace. */
export class Downloads {
  private readonly running = new Map<string, string>();
  private changed: () => void = () => undefined;

  constructor(
    private readonly connection: CdpConnection,
    private readonly note: (text: string) => void,
  ) {
    connection.on('Browser.downloadWillBegin', ({ params }) => this.begin(begun.parse(params)));
    connection.on('Browser.downloadProgress', ({ params }) => this.advance(progress.parse(params)));
  }

  async start(): Promise<void> {
    const params = { behavior: 'allow', downloadPath: directory, eventsEnabled: true };
    await this.send('Browser.setDownloadBehavior', params);
  }

  /** Waits for those that an action has begun, for a while. */
  async settle(): Promise<void> {
    const until = performance.now() + waitMs;
    while (this.running.size > 0 && performance.now() < until) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.changed = resolve;
        timer = setTimeout(resolve, until - performance.now());
      });
      clearTimeout(timer);
    }
    for (const name of this.running.values()) this.note(`${name} is still being downloaded to ${directory}.`);
  }

  private begin({ guid, suggestedFilename }: z.infer<typeof begun>): void {
    const name = suggestedFilename.slice(0, 200);
    if (this.running.size < maximumAtOnce) {
      this.running.set(guid, name);
      return;
    }
    this.note(`The download of ${name} was cancelled: ${maximumAtOnce} are running.`);
    this.cancel(guid);
  }

  private advance({ guid, receivedBytes, state, filePath }: z.infer<typeof progress>): void {
    const name = this.running.get(guid);
    if (name === undefined) return;
    if (receivedBytes > largestMebibytes * 1024 * 1024) {
      this.note(`The download of ${name} was cancelled: it has more than ${largestMebibytes} MiB.`);
      this.cancel(guid);
    } else if (state === 'completed') this.note(`Downloaded ${filePath?.slice(0, 1_000) ?? `${directory}/${name}`}.`);
    else if (state === 'canceled') this.note(`The download of ${name} failed.`);
    else return;
    this.running.delete(guid);
    this.changed();
  }

  private cancel(guid: string): void {
    this.send('Browser.cancelDownload', { guid }).catch(() => undefined); // It has ended meanwhile.
  }

  private send(method: string, params: object): Promise<unknown> {
    return this.connection.send({ method, params }, { result: z.unknown(), timeoutMs: commandMs });
  }
}
