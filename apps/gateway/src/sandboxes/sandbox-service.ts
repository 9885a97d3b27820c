import type { Duplex, Readable } from 'node:stream';
import {
  type NatsLink,
  OpenExecutors,
  type OpenedSandbox,
  type PreviewAddress,
  type SandboxRequest,
  TunnelError,
  accessSandbox,
  writeThrough,
} from '@rondo/messaging';
import type { Sandbox, SandboxAddress, Sandboxes, ThreadAddress, Threads } from '@rondo/persistence';
import { ApiError, InvalidRequest, retryAfter } from '../problems/api-error';

type Operation = SandboxRequest['op'];
/** A request without what the sandbox's row says. */
type Question<Op extends Operation> = Omit<Extract<SandboxRequest, { op: Op }>, 'thread_id' | 'account_id'>;

/** Executors announce themselves every second. */
const announcedWithinMs = 2_500;

interface SandboxServiceParts {
  readonly sandboxes: Pick<Sandboxes, 'get' | 'ofThread' | 'keep' | 'hosting'>;
  readonly threads: Pick<Threads, 'get'>;
  readonly link: Promise<NatsLink>;
  /** The longest file that may be sent. */
  readonly maxFileBytes: number;
}

/** Sandboxes and their files as a client sees them. The executors that have them answer over NATS. */
export class SandboxService {
  private nats: { readonly link: NatsLink; readonly executors: OpenExecutors } | undefined;

  constructor(private readonly parts: SandboxServiceParts) {
    void parts.link.then((link) => (this.nats = { link, executors: new OpenExecutors(link) }));
  }

  /** With its state, as far as its executor answers. */
  async status(address: SandboxAddress) {
    const sandbox = await this.parts.sandboxes.get(address);
    return this.ask<'status'>({ ...address, ...sandbox }, { op: 'status' }).then(
      ({ head }) => ({ ...described(sandbox), ...head }),
      (error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'sandbox_unavailable') throw error;
        return { ...described(sandbox), state: 'unknown' as const, provider: null };
      },
    );
  }

  async change(address: SandboxAddress, op: 'start' | 'stop') {
    return this.changed({ ...address, ...(await this.parts.sandboxes.get(address)) }, op);
  }

  /** The thread's sandbox, awake; it is created where the thread has none. */
  async ensure({ accountId, threadId }: ThreadAddress) {
    const { sandboxes, threads } = this.parts;
    await threads.get({ accountId, threadId });
    let sandbox = await sandboxes.ofThread(accountId, threadId);
    if (!sandbox) {
      await sandboxes.keep(threadId, await this.freeExecutor());
      sandbox = await sandboxes.ofThread(accountId, threadId);
    }
    if (!sandbox) throw unavailable('The thread was deleted meanwhile.');
    return this.changed({ accountId, ...sandbox }, 'start');
  }

  /** Ends its processes and deletes its files. The row stays: the thread's next use begins with an empty workspace. */
  async remove(address: SandboxAddress): Promise<void> {
    await this.at<'remove'>(address, { op: 'remove' });
  }

  async listFiles(address: SandboxAddress, { path, depth }: { path: string; depth: number }) {
    const { head } = await this.at<'list'>(address, { op: 'list', path, depth });
    return { data: head.entries, truncated: head.truncated };
  }

  async deleteFile(address: SandboxAddress, { path, recursive }: { path: string; recursive: boolean }): Promise<void> {
    await this.at<'delete'>(address, { op: 'delete', path, recursive });
  }

  /** The caller reads or destroys the content. */
  async readFile(address: SandboxAddress, path: string): Promise<{ content: Readable; size: number }> {
    const { tunnel, head } = await this.at<'read'>(address, { op: 'read', path }, { keepOpen: true });
    tunnel.end();
    return { content: tunnel, size: head.size };
  }

  /** A source that ends too early or fails leaves the file as it was. */
  async writeFile(address: SandboxAddress, path: string, source: Readable): Promise<{ path: string; size: number }> {
    const { maxFileBytes } = this.parts;
    const { tunnel } = await this.at<'write'>(
      address,
      { op: 'write', path, max_bytes: maxFileBytes, mode: 'put' },
      { keepOpen: true },
    );
    try {
      return { path, size: await writeThrough(tunnel, source) };
    } catch (error) {
      throw asApiError(error);
    }
  }

  /** For a client that has the URL of a preview, and so no account. */
  async connect({ threadId, port, token }: PreviewAddress): Promise<Duplex> {
    const sandbox = await this.parts.sandboxes.hosting(threadId);
    if (!sandbox) throw new ApiError('file_not_found', 'There is no such preview.');
    const question = port === undefined ? { op: 'site' as const, token } : { op: 'connect' as const, port, token };
    const { tunnel } = await this.ask<'connect' | 'site'>(sandbox, question, { keepOpen: true });
    return tunnel;
  }

  private async changed(sandbox: Sandbox & Pick<SandboxAddress, 'accountId'>, op: 'start' | 'stop') {
    const { head } = await this.ask<'start' | 'stop'>(sandbox, { op });
    return { ...described(sandbox), ...head };
  }

  /** About a sandbox that the account has. */
  private async at<Op extends Operation>(address: SandboxAddress, question: Question<Op>, how = { keepOpen: false }) {
    const sandbox = await this.parts.sandboxes.get(address);
    return this.ask<Op>({ ...address, ...sandbox }, question, how);
  }

  private async ask<Op extends Operation>(
    { accountId, executorId, threadId }: Pick<SandboxAddress & Sandbox, 'accountId' | 'executorId' | 'threadId'>,
    question: Question<Op>,
    { keepOpen } = { keepOpen: false },
  ): Promise<OpenedSandbox<Op>> {
    if (!this.nats) throw unavailable('NATS is away.');
    const request = { ...question, thread_id: threadId, account_id: accountId } as Extract<SandboxRequest, { op: Op }>;
    try {
      const opened = await accessSandbox(this.nats.link, executorId, request);
      if (!keepOpen) opened.tunnel.resume().end();
      return opened;
    } catch (error) {
      throw asApiError(error);
    }
  }

  private async freeExecutor(): Promise<string> {
    const drawn = await this.nats?.executors.drawWithin(announcedWithinMs);
    if (drawn === undefined) throw unavailable('No executor takes a new sandbox now.');
    return drawn;
  }
}

export const described = ({ id, threadId, executorId, createdAt }: Sandbox) => ({
  id,
  thread_id: threadId,
  executor_id: executorId,
  created_at: createdAt,
});

const unavailable = (detail: string): ApiError => new ApiError('sandbox_unavailable', detail, retryAfter(1));

/** The executor's words are about the request, and fit for its client. */
function asApiError(error: unknown): unknown {
  if (!(error instanceof TunnelError)) return error;
  switch (error.code) {
    case 'not_found':
      return new ApiError('file_not_found', error.message);
    case 'too_large':
      return new ApiError('payload_too_large', error.message);
    case 'invalid_path':
    case 'invalid_request':
    case 'not_a_file':
    case 'not_a_directory':
      return new InvalidRequest([{ field: 'path', message: error.message }]);
    case 'not_listening':
    case 'executor_away':
    case 'executor_busy':
    case 'unavailable':
    case 'tunnel_lost':
    case 'lost':
      return unavailable(error.message);
    default:
      return new ApiError('sandbox_refused', error.message);
  }
}
