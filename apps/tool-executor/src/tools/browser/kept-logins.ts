import { SealBroken, type SecretBox } from '@rondo/platform';
import { z } from 'zod';
import { type Sandbox, SandboxError } from '../../sandboxes';
import { BrowserLost, CommandRefused, PageUnresponsive } from './browser-errors';
import type { CdpConnection } from './cdp-connection';

const path = '.browser/logins';
const mostCookies = 500;
const mostBytes = 1024 * 1024;
const commandMs = 5_000;

/** As the browser says it. `expires` is below 0 where the cookie ends with the browser. */
const cookie = z.object({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string(),
  expires: z.number(),
  httpOnly: z.boolean(),
  secure: z.boolean(),
  sameSite: z.enum(['Strict', 'Lax', 'None']).exactOptional(),
});
const answer = z.object({ cookies: z.array(cookie) });

export type Sealing = Pick<SecretBox, 'seal' | 'open'>;

/**
 * The cookies of a browser in a file of the workspace, so that they outlive the browser, its sandbox and its executor. They are sealed
 * for this workspace: a reader of its files, or a copy in another one, has nothing of them.
 */
export class KeptLogins {
  private last = '';

  constructor(
    private readonly sandbox: Sandbox,
    private readonly connection: CdpConnection,
    /** Absent: nothing is kept. */
    private readonly box: Sealing | undefined,
  ) {}

  /** Gives a browser that has just begun those that were kept. Without any, or with others than ours, it begins without. */
  async restore(): Promise<void> {
    const kept = await this.read();
    await Promise.all(kept.map((one) => this.send('Storage.setCookies', { cookies: [toParameter(one)] }, z.unknown())));
  }

  /** What cannot be kept is lost with the browser; the action that made it has happened all the same. */
  async keep(): Promise<void> {
    if (!this.box) return;
    const known = await this.send('Storage.getCookies', {}, answer);
    const text = JSON.stringify(known?.cookies.slice(0, mostCookies) ?? []);
    if (!known || text === this.last || text.length > mostBytes) return;
    const sealed = this.box.seal(text, this.purpose);
    await this.sandbox.files.write(path, sealed, { mode: 'put', permissions: 0o600 }).catch(passOver(SandboxError));
    this.last = text;
  }

  private async read(): Promise<readonly z.infer<typeof cookie>[]> {
    if (!this.box) return [];
    const range = { offset: 0, length: 2 * mostBytes };
    const file = await this.sandbox.files.read(path, range).catch(passOver(SandboxError));
    if (!file) return [];
    try {
      this.last = this.box.open(file.content.toString(), this.purpose);
      return z.array(cookie).parse(JSON.parse(this.last));
    } catch (error) {
      if (error instanceof SealBroken) return [];
      throw error;
    }
  }

  private get purpose(): string {
    return `browser\n${this.sandbox.id}`;
  }

  /** Undefined where the browser refuses it, or says nothing. */
  private send<Result>(method: string, params: object, result: z.ZodType<Result>): Promise<Result | undefined> {
    return this.connection
      .send({ method, params }, { result, timeoutMs: commandMs })
      .catch(passOver(CommandRefused, PageUnresponsive, BrowserLost));
  }
}

/** A cookie of one host alone is set for its address: with its domain it would be one of the hosts below it, too. */
function toParameter({ domain, expires, ...rest }: z.infer<typeof cookie>): object {
  const place = domain.startsWith('.')
    ? { domain }
    : { url: `${rest.secure ? 'https' : 'http'}://${domain}${rest.path}` };
  return { ...rest, ...place, ...(expires >= 0 && { expires }) };
}

const passOver =
  (...kinds: readonly (abstract new (...given: never[]) => Error)[]) =>
  (error: unknown): undefined => {
    if (!kinds.some((kind) => error instanceof kind)) throw error;
  };
