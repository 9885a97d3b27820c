import type { Duplex, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccountId, RequestedCommand, RunWait } from '@rondo/contract';
import {
  type KnownSandboxState,
  type NatsLink,
  OpenExecutors,
  type OpenedSandbox,
  type PreviewAddress,
  type SandboxHead,
  type SandboxRequest,
  TunnelError,
  accessSandbox,
  readAnswer,
  writeThrough,
} from '@rondo/messaging';
import type { RunAddress, Sandbox, SandboxAddress, Sandboxes, ThreadAddress } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';
import { asApiError, asErrorOfNewer, asPreviewError, unavailable, whyNotKept } from './sandbox-errors';

/** About an account, and not one thread of it. */
type AccountOperation = 'states' | 'sites' | 'preparation' | 'kept_files';
type Operation = Exclude<SandboxRequest['op'], AccountOperation>;
/** A request without what the sandbox's row says. */
type Question<Op extends Operation> = Omit<Extract<SandboxRequest, { op: Op }>, 'thread_id' | 'account_id'>;

const answerBytes = 1_000_000;
/** Executors announce themselves every second. */
const announcedWithinMs = 2_500;
/** What is shown beside other things does not wait longer for an executor that hangs. */
const answerWithinMs = 2_000;

type SandboxPlace = Pick<SandboxAddress & Sandbox, 'accountId' | 'executorId' | 'threadId'>;

interface SandboxServiceParts {
  readonly sandboxes: Pick<Sandboxes, 'get' | 'ofThread' | 'readWorkspace' | 'keep' | 'readExecutors'>;
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
    return this.readStatus({ ...address, ...(await this.parts.sandboxes.get(address)) });
  }

  /** `sandbox_not_found` where the thread has none yet. */
  async statusOfThread({ accountId, threadId }: ThreadAddress) {
    const { sandboxes } = this.parts;
    await sandboxes.readWorkspace({ accountId, threadId });
    const sandbox = await sandboxes.ofThread(accountId, threadId);
    if (!sandbox) throw new ApiError('sandbox_not_found', 'The thread has no sandbox yet.');
    return this.readStatus({ accountId, ...sandbox });
  }

  /** Each executor is asked once. Those that do not answer soon do not keep the others. */
  async statuses(accountId: AccountId, sandboxes: readonly Sandbox[]) {
    const executors = [...new Set(sandboxes.map(({ executorId }) => executorId))];
    const known = await Promise.all(
      executors.map((executorId) => {
        const threads = sandboxes.flatMap((one) => (one.executorId === executorId ? [one.threadId] : []));
        return this.askSoon<'states'>(executorId, { op: 'states', account_id: accountId, thread_ids: threads });
      }),
    );
    const states = new Map(known.flatMap((head) => head?.states ?? []).map((state) => [state.thread_id, state]));
    return sandboxes.map((sandbox) => describeSandbox(sandbox, states.get(sandbox.threadId)));
  }

  /** What is done at the moment for the workspace of a run that waits for it, where its executor says so soon. */
  async findPreparationStep(executorId: string, { accountId, runId }: RunAddress): Promise<RunWait['step']> {
    const request = { op: 'preparation', account_id: accountId, run_id: runId } as const;
    return (await this.askSoon<'preparation'>(executorId, request))?.step ?? undefined;
  }

  /** What earlier states of files take, and may take, on all executors together that answer soon. Undefined where none keeps any. */
  async measureKeptFiles(accountId: AccountId): Promise<SandboxHead<'kept_files'> | undefined> {
    const executors = await this.parts.sandboxes.readExecutors(accountId);
    const request = { op: 'kept_files', account_id: accountId } as const;
    const known = await Promise.all(executors.map((executor) => this.askSoon<'kept_files'>(executor, request)));
    const heads = known.filter((head) => head !== undefined);
    if (heads.length === 0) return undefined;
    const add = (part: 'used' | 'limit') => heads.reduce((sum, head) => sum + head[part], 0);
    return { used: add('used'), limit: add('limit') };
  }

  /** Undefined where it is away, does not answer soon, or is of a version that does not know the question. */
  private async askSoon<Op extends AccountOperation>(
    executorId: string,
    request: Extract<SandboxRequest, { op: Op }>,
  ): Promise<SandboxHead<Op> | undefined> {
    if (!this.nats) return undefined;
    const answer = accessSandbox<Op>(this.nats.link, { executorId }, request).then(
      ({ head, tunnel }) => {
        tunnel.resume().end();
        return head;
      },
      () => undefined,
    );
    return Promise.race([answer, delay(answerWithinMs, undefined, { ref: false })]);
  }

  private async readStatus(sandbox: Sandbox & Pick<SandboxAddress, 'accountId'>) {
    return this.ask<'status'>(sandbox, { op: 'status' }).then(
      ({ head }) => describeSandbox(sandbox, head),
      (error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'sandbox_unavailable') throw error;
        return describeSandbox(sandbox, undefined);
      },
    );
  }

  async change(address: SandboxAddress, op: 'start' | 'stop') {
    return this.changeState({ ...address, ...(await this.parts.sandboxes.get(address)) }, op);
  }

  /** The thread's sandbox, awake; it is created where the thread has none. */
  async ensure({ accountId, threadId }: ThreadAddress) {
    const { sandboxes } = this.parts;
    const workspace = await sandboxes.readWorkspace({ accountId, threadId });
    let sandbox = await sandboxes.ofThread(accountId, threadId);
    if (!sandbox) {
      await sandboxes.keep(workspace, await this.freeExecutor());
      sandbox = await sandboxes.ofThread(accountId, threadId);
    }
    if (!sandbox) throw unavailable('The thread was deleted meanwhile.');
    return this.changeState({ accountId, ...sandbox }, 'start');
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

  /** The content is there for as long as its client is. */
  async readFile(
    address: SandboxAddress,
    path: string,
    client: AbortSignal,
  ): Promise<{ content: Readable; size: number }> {
    const { tunnel, head } = await this.at<'read'>(address, { op: 'read', path }, client);
    tunnel.end();
    return { content: tunnel, size: head.size };
  }

  /** A source that ends too early or fails leaves the file as it was. */
  async writeFile(
    address: SandboxAddress,
    path: string,
    { source, client }: { readonly source: Readable; readonly client: AbortSignal },
  ): Promise<{ path: string; size: number }> {
    const question = { op: 'write', path, max_bytes: this.parts.maxFileBytes, mode: 'put' } as const;
    const { tunnel } = await this.at<'write'>(address, question, client);
    try {
      return { path, size: await writeThrough(tunnel, source) };
    } catch (error) {
      throw asApiError(error);
    }
  }

  /** The lines that the executor writes about the command, which is killed when the client leaves. */
  async exec(address: SandboxAddress, asked: RequestedCommand, client: AbortSignal): Promise<Duplex> {
    const { command, cwd, timeout_s: seconds } = asked;
    const question = { op: 'exec', command, ...(cwd !== undefined && { cwd }), timeout_ms: seconds * 1_000 } as const;
    const sandbox = { ...address, ...(await this.parts.sandboxes.get(address)) };
    try {
      const { tunnel } = await this.open<'exec'>(sandbox, question, client);
      tunnel.end();
      return tunnel;
    } catch (error) {
      throw asErrorOfNewer(error, 'runs no commands of people');
    }
  }

  /** Which of these moments its executor has kept the files of, the newest; or why not. */
  async findMoment(sandbox: SandboxPlace, keys: readonly string[]): Promise<SandboxHead<'moment'>> {
    try {
      return (await this.open<'moment'>(sandbox, { op: 'moment', keys: [...keys] })).head;
    } catch (error) {
      const refused = whyNotKept(error);
      if (refused === undefined) throw asApiError(error);
      return { moment: null, refused };
    }
  }

  async previewRewind(sandbox: SandboxPlace, moment: string, client: AbortSignal): Promise<unknown> {
    try {
      const { tunnel } = await this.open<'rewind_preview'>(sandbox, { op: 'rewind_preview', moment }, client);
      tunnel.end();
      return await readAnswer(tunnel, answerBytes);
    } catch (error) {
      const refused = whyNotKept(error);
      throw refused === undefined ? asApiError(error) : new ApiError('files_not_kept', refused);
    }
  }

  /** For a client that has the URL of a preview, and so no account. Rejects with `preview_not_found` and `preview_unavailable`. */
  async connect(sandbox: SandboxPlace, { port, token }: PreviewAddress, client: AbortSignal): Promise<Duplex> {
    const question = port === undefined ? { op: 'site' as const, token } : { op: 'connect' as const, port, token };
    try {
      return (await this.open<'connect' | 'site'>(sandbox, question, client)).tunnel;
    } catch (error) {
      throw asPreviewError(error);
    }
  }

  private async changeState(sandbox: Sandbox & Pick<SandboxAddress, 'accountId'>, op: 'start' | 'stop') {
    const { head } = await this.ask<'start' | 'stop'>(sandbox, { op });
    return describeSandbox(sandbox, head);
  }

  /** About a sandbox that the account has. */
  private async at<Op extends Operation>(address: SandboxAddress, question: Question<Op>, client?: AbortSignal) {
    const sandbox = await this.parts.sandboxes.get(address);
    return this.ask<Op>({ ...address, ...sandbox }, question, client);
  }

  private async ask<Op extends Operation>(
    sandbox: SandboxPlace,
    question: Question<Op>,
    client?: AbortSignal,
  ): Promise<OpenedSandbox<Op>> {
    try {
      return await this.open(sandbox, question, client);
    } catch (error) {
      throw asApiError(error);
    }
  }

  /** For a client the tunnel stays open as long as it is there; otherwise the head is all. Rejects with TunnelError. */
  private async open<Op extends Operation>(
    { accountId, executorId, threadId }: SandboxPlace,
    question: Question<Op>,
    client?: AbortSignal,
  ): Promise<OpenedSandbox<Op>> {
    if (!this.nats) throw new TunnelError('unavailable', 'NATS is away.');
    const request = { ...question, thread_id: threadId, account_id: accountId } as Extract<SandboxRequest, { op: Op }>;
    const opened = await accessSandbox(this.nats.link, { executorId, signal: client }, request);
    if (!client) opened.tunnel.resume().end();
    return opened;
  }

  private async freeExecutor(): Promise<string> {
    const drawn = await this.nats?.executors.drawWithin(announcedWithinMs);
    if (drawn === undefined) throw unavailable('No executor takes a new sandbox now.');
    return drawn;
  }
}

/** Without a state, its executor has not said one. */
const describeSandbox = (
  { id, threadId, projectId, executorId, createdAt }: Sandbox,
  known: KnownSandboxState | undefined,
) => ({
  id,
  thread_id: threadId,
  project_id: projectId,
  executor_id: executorId,
  created_at: createdAt,
  provider: known?.provider ?? null,
  state: known?.state ?? ('unknown' as const),
  since: known?.since ?? null,
  used_at: known?.used_at ?? null,
  disk_bytes: known?.disk_bytes ?? null,
  running_seconds: known?.running_ms === undefined ? null : Math.floor(known.running_ms / 1_000),
  cost_usd: known?.cost_usd ?? null,
});
