import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { anySignal } from '@rondo/platform';
import { z } from 'zod';
import { nodeOptions } from './node-options';
import { ParserSlots } from './parser-slots';
import { watchMemory } from './watch-memory';

/** Why an input is not read, as the end of a sentence about it. The message is for the model. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export type ParserRequest =
  | { readonly kind: 'page'; readonly url: string }
  | { readonly kind: 'document'; readonly characters: number; readonly pages: number }
  | {
      readonly kind: 'image';
      readonly width: number;
      readonly height: number;
      readonly pixels: number;
      readonly maxBytes: number;
    };

const answers = {
  page: z.object({ title: z.string(), markdown: z.string(), needsJavaScript: z.boolean() }),
  document: z.object({ format: z.string(), text: z.string(), truncated: z.boolean() }),
  image: z.object({ format: z.string(), originalWidth: z.number().int(), originalHeight: z.number().int() }),
};
const refused = z.object({ problem: z.string() });

type Answer<Kind extends ParserRequest['kind']> = z.infer<(typeof answers)[Kind]>;
export type Parsed<Kind extends ParserRequest['kind']> = Answer<Kind> & { readonly bytes: Buffer };

export interface ParserLimits {
  /** Processes at the same time; others wait. */
  readonly processes: number;
  readonly timeoutMs: number;
  /** Of one process, Node itself included. */
  readonly memoryBytes: number;
}

const mebibyte = 1024 * 1024;
export const usualParserLimits: ParserLimits = { processes: 4, timeoutMs: 30_000, memoryBytes: 768 * mebibyte };
const program = join(__dirname, 'in-child/main.cjs');

/**
 * Reads pages, documents and images, which are hostile: each in a process of its own that has no environment, no access
 * to files but its own code, and limits on time and memory. A bad input fails its call and no other.
 */
export class Parser {
  private readonly slots: ParserSlots;

  constructor(private readonly limits: ParserLimits = usualParserLimits) {
    this.slots = new ParserSlots(limits.processes);
  }

  /** Rejects with Unreadable when nothing can be read from it, and with the reason of the signal when that ended it. */
  async parse<Kind extends ParserRequest['kind']>(
    request: ParserRequest & { kind: Kind },
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<Parsed<Kind>> {
    const output = await this.slots.use(signal, () => this.run(request, bytes, signal));
    const end = output.indexOf('\n');
    const answer: unknown = JSON.parse(output.subarray(0, end).toString());
    const refusal = refused.safeParse(answer);
    if (refusal.success) throw new Unreadable(refusal.data.problem);
    const parsed = answers[request.kind].parse(answer) as Answer<Kind>; // the schema of this kind has parsed it
    return { ...parsed, bytes: output.subarray(end + 1) };
  }

  private async run(request: ParserRequest, bytes: Uint8Array, signal: AbortSignal): Promise<Buffer> {
    const timeout = AbortSignal.timeout(this.limits.timeoutMs);
    const enough = anySignal([signal, timeout]);
    const { memoryBytes } = this.limits;
    const addons = request.kind === 'image'; // sharp is one
    const child = spawn(process.execPath, [...nodeOptions({ memoryBytes, addons }), program], {
      ...{ env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] },
    });
    const kill = () => child.kill('SIGKILL');
    const watch = watchMemory(child.pid, memoryBytes, kill);
    enough.signal.addEventListener('abort', kill);
    if (enough.signal.aborted) kill();
    try {
      child.stdin.on('error', () => undefined); // it was killed, which its exit says
      child.stdin.end(Buffer.concat([Buffer.from(`${JSON.stringify(request)}\n`), bytes]));
      const [output] = await Promise.all([buffer(child.stdout), once(child, 'exit')]);
      if (child.exitCode === 0) return output;
      signal.throwIfAborted();
      if (timeout.aborted) throw new Unreadable(`reading it takes longer than ${this.limits.timeoutMs / 1_000} s`);
      throw new Unreadable('reading it takes more memory than is allowed');
    } finally {
      enough.release();
      enough.signal.removeEventListener('abort', kill);
      clearInterval(watch);
      kill();
    }
  }
}
