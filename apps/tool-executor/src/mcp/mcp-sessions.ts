import type { McpConnection } from './mcp-connection';

interface Session {
  readonly connection: Promise<McpConnection>;
  users: number;
  usedAtMs: number;
}

export interface McpSessionLimits {
  readonly idleMs: number;
  readonly most: number;
}

const usualLimits: McpSessionLimits = { idleMs: 120_000, most: 256 };
const sweepMs = 30_000;

/**
 * The open sessions of this executor, one per thread and server. They are only a saving: each can be opened again at any time
 * and by any executor, so that a restart or a server that forgets its sessions costs a handshake and no more.
 */
export class McpSessions {
  private readonly sessions = new Map<string, Session>();
  private readonly sweeper: NodeJS.Timeout;

  constructor(private readonly limits: McpSessionLimits = usualLimits) {
    this.sweeper = setInterval(() => this.closeIdle(), sweepMs).unref();
  }

  /** Uses the open session under this key, or the one that `open` makes. */
  async use<Result>(
    key: string,
    open: () => Promise<McpConnection>,
    work: (connection: McpConnection) => Promise<Result>,
  ): Promise<Result> {
    const session = await this.readSession(key, open);
    session.users += 1;
    try {
      return await work(await session.connection);
    } finally {
      session.users -= 1;
      session.usedAtMs = performance.now();
    }
  }

  /** The next use opens another one. */
  async drop(key: string): Promise<void> {
    const session = this.sessions.get(key);
    this.sessions.delete(key);
    await session?.connection.then(
      (connection) => connection.close(),
      () => undefined, // it never opened
    );
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    await Promise.all([...this.sessions.keys()].map((key) => this.drop(key)));
  }

  private async readSession(key: string, open: () => Promise<McpConnection>): Promise<Session> {
    const known = this.sessions.get(key);
    if (known && (await known.connection.catch(() => undefined))?.isOpen === true) return known;
    const opened = this.sessions.get(key);
    if (opened && opened !== known) return opened; // another call of the thread was faster
    if (this.sessions.size >= this.limits.most) this.closeLongestUnused();

    const session: Session = { connection: open(), users: 0, usedAtMs: performance.now() };
    this.sessions.set(key, session);
    session.connection.catch(() => {
      if (this.sessions.get(key) === session) this.sessions.delete(key);
    });
    return session;
  }

  private closeIdle(): void {
    const before = performance.now() - this.limits.idleMs;
    for (const [key, { users, usedAtMs }] of this.sessions) if (users === 0 && usedAtMs < before) void this.drop(key);
  }

  private closeLongestUnused(): void {
    const unused = [...this.sessions].filter(([, { users }]) => users === 0);
    const [oldest] = unused.sort(([, one], [, other]) => one.usedAtMs - other.usedAtMs);
    if (oldest) void this.drop(oldest[0]);
  }
}
