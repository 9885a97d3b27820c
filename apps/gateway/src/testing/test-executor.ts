import { EventEmitter, once } from 'node:events';
import { type Duplex, Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { BrowserAction, BrowserScreen, FileChanges } from '@rondo/contract';
import type { AcceptedTunnel, EnvironmentOffers } from '@rondo/messaging';
import {
  type KnownSandboxState,
  type KnownSite,
  type NatsLink,
  type SandboxHead,
  type SandboxRequest,
  TunnelError,
  announceExecutor,
  connectNats,
  sandboxRequest,
  serveTunnels,
} from '@rondo/messaging';
import { createLogger, newUlid } from '@rondo/platform';
import { testServer } from './test-server';

const log = createLogger({ name: 'test-executor', level: 'silent' });

/** An executor whose sandboxes are maps of paths to contents. It speaks the real protocol over the real NATS. */
export class TestExecutor {
  readonly id = `exe_${newUlid()}`;
  /** By thread; a thread without an entry has no workspace. */
  readonly workspaces = new Map<string, Map<string, Buffer>>();
  readonly awake = new Set<string>();
  /** What the browser of a thread shows; the title is what was done last. */
  readonly browsers = new Map<string, BrowserScreen>();
  /** With the account that each claims to be of. */
  readonly sites: (KnownSite & { readonly account: string })[] = [];
  /** What the next request is refused with. */
  refusal: TunnelError | undefined;
  /** Accepts each request that bytes follow, and then neither sends nor ends anything. */
  isSilent = false;
  /** What is written about each command of a person, by the thread. */
  readonly terminals = new Map<string, (tunnel: Duplex, request: Extract<SandboxRequest, { op: 'exec' }>) => void>();
  /** What is said to have been kept of the files, by the thread. */
  readonly moments = new Map<string, SandboxHead<'moment'>>();
  /** What states of files take here. Undefined: none are kept. */
  keptFiles: SandboxHead<'kept_files'> | undefined;
  /** What it is at in the preparation of a workspace, by the run. */
  readonly steps = new Map<string, SandboxHead<'preparation'>['step']>();
  /** The server of each preview, by the thread. */
  readonly servers = new Map<string, (tunnel: Duplex) => void>();
  private readonly tunnels = new Set<Duplex>();
  private readonly changes = new EventEmitter();
  private readonly stopParts: (() => void)[];

  private constructor(
    private readonly link: NatsLink,
    lacks: Readonly<Record<string, string>>,
    offers: EnvironmentOffers | undefined,
  ) {
    this.stopParts = [
      serveTunnels(link, this.id, { accept: (request) => this.accept(sandboxRequest.parse(request)) }),
      announceExecutor(link, this.id, {
        isOpen: () => Promise.resolve(true),
        everyMs: 100,
        lacks: () => lacks,
        offers: () => offers,
      }),
    ];
  }

  static async start(lacks: Readonly<Record<string, string>> = {}, offers?: EnvironmentOffers): Promise<TestExecutor> {
    const link = await connectNats({ url: testServer('TEST_NATS_URL'), name: 'test-executor', log });
    const executor = new TestExecutor(link, lacks, offers);
    await link.connection.flush();
    return executor;
  }

  async close(): Promise<void> {
    for (const stop of this.stopParts) stop();
    await this.link.close();
  }

  get openTunnels(): number {
    return this.tunnels.size;
  }

  /** Resolves once so many tunnels with bytes are open. */
  async untilTunnels(count: number): Promise<void> {
    while (this.tunnels.size !== count) await once(this.changes, 'change', { signal: AbortSignal.timeout(5_000) });
  }

  private async accept(request: SandboxRequest): Promise<AcceptedTunnel> {
    const { refusal } = this;
    this.refusal = undefined;
    if (refusal) throw refusal;
    const { head, serve } = this.perform(request);
    return { head, ...(serve && { serve: this.counted(this.isSilent ? untilGone : serve) }) };
  }

  private counted(serve: (tunnel: Duplex) => Promise<void>) {
    return (tunnel: Duplex) => {
      this.tunnels.add(tunnel);
      this.changes.emit('change');
      tunnel.once('close', () => {
        this.tunnels.delete(tunnel);
        this.changes.emit('change');
      });
      return serve(tunnel);
    };
  }

  private perform(request: SandboxRequest): AcceptedTunnel {
    if (request.op === 'states') {
      return { head: { states: request.thread_ids.map((thread_id) => ({ thread_id, ...this.readState(thread_id) })) } };
    }
    if (request.op === 'sites') return { head: { sites: this.sites.filter(belongsTo(request.account_id)) } };
    if (request.op === 'kept_files') {
      if (!this.keptFiles) throw new TunnelError('unsupported', 'Earlier states of workspaces are not kept here.');
      return { head: this.keptFiles };
    }
    if (request.op === 'preparation') return { head: { step: this.steps.get(request.run_id) ?? null } };
    const { thread_id: thread } = request;
    const files = this.workspaces.get(thread) ?? new Map<string, Buffer>();
    switch (request.op) {
      case 'status':
        return this.status(thread);
      case 'start':
        this.workspaces.set(thread, files);
        this.awake.add(thread);
        return this.status(thread);
      case 'stop':
        this.awake.delete(thread);
        return this.status(thread);
      case 'remove':
        this.workspaces.delete(thread);
        this.awake.delete(thread);
        return { head: {} };
      case 'list':
        return { head: { entries: [...files].map(createEntry), truncated: false } };
      case 'delete':
        if (!files.delete(request.path)) throw new TunnelError('not_found', 'There is no such file.');
        return { head: {} };
      case 'read':
        return readFrom(files.get(request.path));
      case 'write':
        return this.write(files, request);
      case 'withdraw':
        return this.withdraw(thread, request.site);
      case 'browser_look':
        return createScreen(this.browsers.get(thread));
      case 'browser_act':
        return this.act(thread, request.action);
      case 'exec':
        return this.runCommand(request);
      case 'moment':
        return { head: this.moments.get(thread) ?? { moment: null, refused: 'Nothing was kept.' } };
      case 'rewind_preview':
        return { head: {}, serve: (tunnel) => pipeline(Readable.from([JSON.stringify(noChanges)]), tunnel) };
      case 'rewind':
        throw new TunnelError('unsupported', 'Earlier states of workspaces are not kept here.');
      case 'prepare':
        throw new TunnelError('invalid_request', 'Nothing prepares workspaces here.');
      case 'connect':
      case 'site':
        return this.connect(thread);
    }
  }

  private runCommand(request: Extract<SandboxRequest, { op: 'exec' }>): AcceptedTunnel {
    return {
      head: {},
      serve: (tunnel) => {
        tunnel.resume();
        this.terminals.get(request.thread_id)?.(tunnel, request);
        return untilGone(tunnel);
      },
    };
  }

  private connect(thread: string): AcceptedTunnel {
    const server = this.servers.get(thread);
    if (!server) throw new TunnelError('not_listening', 'Nothing listens on this port.');
    return {
      head: {},
      serve: (tunnel) => {
        server(tunnel);
        return untilGone(tunnel);
      },
    };
  }

  private act(thread: string, action: BrowserAction): AcceptedTunnel {
    const screen = this.browsers.get(thread);
    if (screen) this.browsers.set(thread, { ...screen, title: action.type });
    return createScreen(this.browsers.get(thread));
  }

  private withdraw(thread: string, name: string): AcceptedTunnel {
    const at = this.sites.findIndex((site) => site.thread_id === thread && site.name === name);
    if (at < 0) throw new TunnelError('not_found', `There is no site ${name}.`);
    this.sites.splice(at, 1);
    return { head: {} };
  }

  private status(thread: string): AcceptedTunnel {
    return { head: this.readState(thread) };
  }

  private readState(thread: string): KnownSandboxState {
    const asleep = this.workspaces.has(thread) ? 'asleep' : 'absent';
    const state = this.awake.has(thread) ? 'awake' : asleep;
    const at = '2026-01-02T03:04:05.000Z';
    return { provider: 'test', state, since: at, used_at: at, disk_bytes: 4096, running_ms: 7_260_499, cost_usd: 0.2 };
  }

  private write(files: Map<string, Buffer>, request: Extract<SandboxRequest, { op: 'write' }>): AcceptedTunnel {
    this.workspaces.set(request.thread_id, files);
    return {
      head: {},
      serve: async (tunnel) => {
        const parts: Buffer[] = [];
        let size = 0;
        for await (const part of tunnel.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          size += part.length;
          if (size > request.max_bytes) throw new TunnelError('too_large', 'The file is too large.');
          parts.push(part);
        }
        files.set(request.path, Buffer.concat(parts));
        tunnel.end(JSON.stringify({ size }));
      },
    };
  }
}

const nothing = { count: 0, paths: [] };
const noChanges: FileChanges = { created: nothing, changed: nothing, removed: nothing };

const untilGone = (tunnel: Duplex): Promise<void> => finished(tunnel).catch(() => undefined);

const belongsTo =
  (account: string) =>
  (site: { readonly account: string }): boolean =>
    site.account === account;

const createEntry = ([path, { length }]: [string, Buffer]) => ({ path, kind: 'file', size: length });

function createScreen(screen: BrowserScreen | undefined): AcceptedTunnel {
  if (!screen) throw new TunnelError('browser_not_running', 'No browser runs in this sandbox.');
  return { head: {}, serve: (tunnel) => pipeline(Readable.from([Buffer.from(JSON.stringify(screen))]), tunnel) };
}

function readFrom(content: Buffer | undefined): AcceptedTunnel {
  if (!content) throw new TunnelError('not_found', 'There is no such file.');
  return {
    head: { size: content.length },
    serve: (tunnel) => pipeline(Readable.from(listPieces(content)), tunnel),
  };
}

function* listPieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 50_000) yield content.subarray(at, at + 50_000);
}
