import type { Duplex } from 'node:stream';
import { agentAnswers, agentMessage, type AgentAnswer, type AgentCall, type AgentMessage } from './agent-messages';
import type { AgentEvent, EndedEvent } from './agent-messages';
import { encodeFrame, FrameDecoder, maximumFrameBytes } from './frame-codec';
import { AgentStreams } from './agent-streams';
import type { LaunchedAgent } from './launcher';
import type { RunProcesses } from '../processes/run-processes';
import { SandboxError, type SandboxErrorCode } from '../../provider/sandbox-error';

export interface CommandEvents {
  output(bytes: Buffer): void;
  end(end: EndedEvent): void;
  /** Called at most once and instead of `end`: the agent is gone. */
  lost(): void;
}

interface Pending {
  call: AgentCall;
  resolve(answer: unknown): void;
  reject(error: SandboxError): void;
  timer: NodeJS.Timeout;
}

const signalTimeoutMs = 2_000;
/** The agent answers such requests at once, whatever the server at the other end does. */
const streamTimeoutMs = 10_000;

const answerCodes: readonly SandboxErrorCode[] = [
  'invalid_request',
  'invalid_path',
  'not_found',
  'already_exists',
  'not_a_file',
  'not_a_directory',
  'too_large',
  'not_listening',
  'lost',
];

/**
 * The protocol with one booted agent. The agent is treated as hostile: every message is parsed and bounded, and the first
 * invalid one kills the sandbox, as does a missing answer. Therefore every request settles.
 */
export class AgentConnection {
  private readonly decoder = new FrameDecoder();
  private readonly pending = new Map<number, Pending>();
  private readonly commands = new Map<number, CommandEvents>();
  private readonly streams = new AgentStreams((call, parameters) => this.request(call, parameters, streamTimeoutMs));
  private lastId = 0;
  private open = true;
  /** Missing when the host cannot attribute processes of the sandbox to runs. */
  runProcesses: RunProcesses | undefined;
  /** Resolves when every process of the sandbox is gone. */
  readonly ended: Promise<string>;

  constructor(private readonly agent: LaunchedAgent) {
    agent.control.on('data', (chunk: Buffer) => this.receive(chunk));
    agent.control.on('error', () => this.lose());
    agent.control.on('close', () => this.lose());
    this.ended = agent.ended.then((lastErrors) => {
      this.lose();
      return lastErrors;
    });
  }

  get isOpen(): boolean {
    return this.open;
  }

  outOfMemoryKills(): number {
    return this.agent.outOfMemoryKills();
  }

  /** Rejects with SandboxError: the agent's own answer, or `lost`. */
  async request<C extends AgentCall>(call: C, parameters: object, timeoutMs: number): Promise<AgentAnswer<C>> {
    const id = (this.lastId += 1);
    const frame = encodeFrame({ ...parameters, id, call });
    if (frame.length > maximumFrameBytes) throw new SandboxError('too_large', 'The request is too large.');
    if (!this.open) throw lostError();
    const answer = await new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => void this.kill(), timeoutMs);
      this.pending.set(id, { call, resolve, reject, timer });
      this.agent.control.write(frame);
    });
    return answer as AgentAnswer<C>; // `settle` has parsed it with this call's schema.
  }

  /** A request that the agent answers at once. A lost sandbox counts as done: it has no processes left. */
  async signalProcesses(call: 'freeze' | 'thaw'): Promise<void> {
    await this.request(call, {}, signalTimeoutMs).catch(() => undefined);
  }

  /** A stream to a port on the sandbox's loopback. */
  connect(port: number, onWrite: () => void): Promise<Duplex> {
    return this.streams.open(port, onWrite);
  }

  /** Must precede the request that runs the command, or its first output would have no listener. */
  subscribe(command: number, events: CommandEvents): void {
    this.commands.set(command, events);
  }

  unsubscribe(command: number): void {
    this.commands.delete(command);
  }

  /** Kills the whole sandbox. True when it is verified dead. */
  async kill(): Promise<boolean> {
    const dead = await this.agent.kill();
    this.lose();
    return dead;
  }

  private receive(chunk: Buffer): void {
    if (!this.open) return;
    try {
      for (const message of this.decoder.push(chunk)) this.handle(agentMessage.parse(message));
    } catch {
      void this.kill(); // No message of the original agent: another process has taken it over.
    }
  }

  private handle(message: AgentMessage): void {
    if ('event' in message) this.report(message);
    else this.settle(message);
  }

  private report(event: AgentEvent): void {
    if ('stream' in event) {
      this.streams.report(event);
      return;
    }
    const listener = this.commands.get(event.command);
    if (!listener) throw new Error('a report on a command that does not run');
    if (event.event === 'output') {
      listener.output(Buffer.from(event.data, 'base64'));
      return;
    }
    this.commands.delete(event.command);
    listener.end(event);
  }

  private settle(answer: Exclude<AgentMessage, AgentEvent>): void {
    const pending = this.pending.get(answer.id);
    if (!pending) throw new Error('an answer without a request');
    const result = answer.ok ? agentAnswers[pending.call].parse(answer.result) : undefined;
    this.pending.delete(answer.id);
    clearTimeout(pending.timer);
    if (answer.ok) pending.resolve(result);
    else pending.reject(new SandboxError(toCode(answer.error.code), answer.error.message));
  }

  private lose(): void {
    if (!this.open) return;
    this.open = false;
    this.agent.control.destroy();
    for (const request of this.pending.values()) {
      clearTimeout(request.timer);
      request.reject(lostError());
    }
    this.pending.clear();
    for (const listener of this.commands.values()) listener.lost();
    this.commands.clear();
    this.streams.lose();
    void this.agent.kill();
  }
}

function toCode(code: string): SandboxErrorCode {
  return answerCodes.find((known) => known === code) ?? 'failed';
}

function lostError(): SandboxError {
  return new SandboxError('lost', 'The sandbox stopped during the request.');
}
