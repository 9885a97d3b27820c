import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Server, Socket } from 'socket.io';
import { type ServerOptions, WebSocketServer } from 'ws';
import type { ConcurrencyLimit } from '../auth/concurrency-limits';
import { Holding, type MemoryBudget } from '../auth/memory-budget';

type Connection = Socket['conn'];

export interface AdmissionLimits {
  /** Connections per address that have not sent a valid key yet. */
  readonly unauthenticated: ConcurrencyLimit;
  readonly readAddress: (request: IncomingMessage) => string;
  /** The longest message of a connection that has sent a valid key. */
  readonly messageBytes: number;
  readonly memory: MemoryBudget;
}

/** What a connection may send in all while it has no caller, and for how long it may stay without one. */
export const withoutCaller = { bytes: 4 * 1024, ms: 10_000 } as const;

/** The library keeps each piece of an unfinished message as an object, which takes far more memory than a short piece. */
export const pieces = { maxFragments: 64, maxBufferedChunks: 16 * 1024 } as const;
const bytesPerPiece = 256;

/**
 * One WebSocket, or one session of polling. While it is restricted it may send few bytes, for a short time, and is then cut
 * off: a client that is asked to close need not do it, and what it has sent is kept until then.
 */
export class Admission {
  private received = 0;
  private deadline: NodeJS.Timeout | undefined;
  private isOver = false;
  /** Holds a message that has not arrived whole. */
  private unfinished: Holding | undefined;
  private lastPiece = 0;

  /** `release` is called when it is admitted or over. */
  constructor(
    private readonly release: () => void,
    private readonly cut: () => void,
  ) {
    this.restrict();
  }

  restrict(): void {
    this.unfinished?.keep();
    this.unfinished = undefined;
    if (this.isOver || this.deadline) return;
    this.received = 0;
    this.deadline = setTimeout(this.cut, withoutCaller.ms).unref();
  }

  /** What it sends is held by an account from now on. */
  admit(unfinished: Holding): void {
    this.unfinished = this.isOver ? undefined : (this.unfinished ?? unfinished);
    this.endRestriction();
  }

  end(): void {
    this.isOver = true;
    this.unfinished?.keep();
    this.unfinished = undefined;
    this.endRestriction();
  }

  receive(bytes: number): void {
    this.received += bytes;
    this.lastPiece = bytes + bytesPerPiece;
    if (this.deadline ? this.received > withoutCaller.bytes : this.unfinished?.take(this.lastPiece) === false)
      this.cut();
  }

  /** A message has arrived whole: of what is held, only the last piece can belong to the next one. */
  completeMessage(): void {
    this.unfinished?.keep(this.lastPiece);
  }

  private endRestriction(): void {
    clearTimeout(this.deadline);
    this.deadline = undefined;
    this.release();
  }
}

/** What is known of an open connection of Engine.IO. */
interface Visit {
  admission: Admission;
  isPolling: boolean;
  /** The WebSocket that is about to continue a session of polling. */
  next?: Admission | undefined;
  /** The account of its caller, if it has one. */
  account?: string | undefined;
}

/**
 * Restricts connections to Socket.IO that have no caller yet, or not any more. WebSockets are counted where they are opened:
 * Engine.IO also opens those that name the session of another connection, without asking `mayOpen`.
 */
export class SocketAdmission {
  private readonly webSockets = new WeakMap<IncomingMessage, Admission>();
  /** By the id of their session. */
  private readonly visits = new Map<string, Visit>();
  private readonly visitByConnection = new WeakMap<Connection, Visit>();

  constructor(private readonly limits: AdmissionLimits) {}

  mayOpen(request: IncomingMessage): boolean {
    return !this.limits.unauthenticated.isFull(this.limits.readAddress(request));
  }

  /** What Engine.IO takes as its `wsEngine`. */
  webSocketServer(): new (options: ServerOptions) => WebSocketServer {
    const open = (request: IncomingMessage, socket: Duplex) => this.openWebSocket(request, socket);
    const mayContinue = (request: IncomingMessage) => this.mayContinue(request);
    return class extends WebSocketServer {
      constructor(options: ServerOptions) {
        super({ ...options, ...pieces });
      }

      override handleUpgrade(...[request, socket, head, callback]: Parameters<WebSocketServer['handleUpgrade']>): void {
        if (!mayContinue(request)) {
          socket.destroy();
          return;
        }
        super.handleUpgrade(request, socket, head, (client, upgraded) => {
          open(upgraded, socket);
          callback(client, upgraded);
        });
      }
    };
  }

  /** Watches the connections of a server that was made with `mayOpen` and `webSocketServer`. */
  attach(server: Server): void {
    server.engine.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      if (request.method !== 'POST' || this.mayPost(request)) next();
      else response.writeHead(411, { Connection: 'close' }).end(() => request.destroy());
    });
    server.engine.on('connection', (connection: Connection) => this.open(connection));
  }

  /** Its caller is known from now on. */
  admit(connection: Connection, account: string): void {
    const visit = this.visitByConnection.get(connection);
    if (!visit) return;
    visit.account = account;
    visit.admission.admit(new Holding(this.limits.memory, account));
    setLongestPost(connection, this.limits.messageBytes);
  }

  /** It has left the namespace where it had a caller. */
  dismiss(connection: Connection): void {
    const visit = this.visitByConnection.get(connection);
    if (!visit) return;
    visit.account = undefined;
    visit.admission.restrict();
    setLongestPost(connection, withoutCaller.bytes);
  }

  private open(connection: Connection): void {
    const { request } = connection;
    const webSocket = this.webSockets.get(request);
    const admission = webSocket ?? this.createAdmission(request, () => connection.close(true));
    const visit: Visit = { admission, isPolling: !webSocket };
    const id = connection.transport.sid;
    this.visits.set(id, visit);
    this.visitByConnection.set(connection, visit);
    if (!webSocket) setLongestPost(connection, withoutCaller.bytes);
    connection.on('packet', () => visit.admission.completeMessage());
    connection.once('upgrade', () => this.continueWith(visit));
    connection.once('close', () => {
      this.visits.delete(id);
      if (visit.isPolling) visit.admission.end();
      else visit.admission.restrict();
    });
  }

  private openWebSocket(request: IncomingMessage, socket: Duplex): void {
    const admission = this.createAdmission(request, () => socket.destroy());
    const visit = this.visits.get(readSession(request));
    if (visit) visit.next = admission;
    this.webSockets.set(request, admission);
    socket.prependListener('data', (chunk: Buffer) => admission.receive(chunk.length));
    socket.once('close', () => {
      admission.end();
      if (visit?.next === admission) visit.next = undefined;
    });
  }

  private createAdmission(request: IncomingMessage, cut: () => void): Admission {
    try {
      return new Admission(this.limits.unauthenticated.acquire(this.limits.readAddress(request)), cut);
    } catch {
      cut(); // its address has too many: others were accepted since `mayOpen`, or it was not asked
      return new Admission(() => undefined, cut);
    }
  }

  /** One WebSocket at a time, of a session of polling: Engine.IO asks the others to close, and receives from them meanwhile. */
  private mayContinue(request: IncomingMessage): boolean {
    const visit = this.visits.get(readSession(request));
    return !visit || (visit.isPolling && !visit.next);
  }

  private continueWith(visit: Visit): void {
    if (!visit.next) return;
    visit.admission.end();
    visit.admission = visit.next;
    visit.isPolling = false;
    if (visit.account !== undefined) visit.admission.admit(new Holding(this.limits.memory, visit.account));
  }

  /** Counts what is announced. A body without a length could come in any number of pieces. */
  private mayPost(request: IncomingMessage): boolean {
    const length = request.headers['content-length'];
    if (length === undefined) return false;
    this.visits.get(readSession(request))?.admission.receive(Number(length));
    return true;
  }
}

/** Empty for a request that begins one. */
const readSession = ({ url }: IncomingMessage): string =>
  new URL(url ?? '', 'http://gateway').searchParams.get('sid') ?? '';

function setLongestPost({ transport }: Connection, bytes: number): void {
  if ('maxHttpBufferSize' in transport) transport.maxHttpBufferSize = bytes;
}
