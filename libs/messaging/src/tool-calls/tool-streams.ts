import { createHash, randomUUID } from 'node:crypto';
import {
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  NatsError,
  RetentionPolicy,
  StorageType,
  type StreamAPI,
  type StreamConfig,
  type StreamInfo,
  nanos,
} from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { shareNextRound } from '../connection/share-next-round';
import type { WireNames } from '../connection/subjects';

/** How long records of a call are kept, and for how long a missing record proves anything. */
const keptForMs = 24 * 60 * 60 * 1_000;
const reliableForMs = 20 * 60 * 60 * 1_000;
const mebibyte = 1024 * 1024;

/** The timeout of a request that creates a stream; callers retry. */
const requestTimeoutMs = 2_000;

/** Records under other subjects are not found: a store with another layout counts as another store. */
const layout = 'by executor';

/** For so long a process believes that the streams which it has seen are still there. */
const lookAgainAfterMs = 10_000;

/** The limit of a call, and of a reply. */
export const maxMessageBytes = 8 * mebibyte;

/** The calls of all accounts that wait or run. */
export const callQueueBytes = 256 * mebibyte;

/** Stands for the start of a server where there are several. */
const inCluster = 'cluster';

type Config = Partial<StreamConfig> & { name: string };

/** A call stays until it is answered; when the queue is full, new ones are refused and none is lost. */
const callsConfig = ({ toolCalls: { stream, all } }: WireNames): Config => ({
  name: stream,
  subjects: [all],
  retention: RetentionPolicy.Workqueue,
  max_bytes: callQueueBytes,
  max_msg_size: maxMessageBytes,
  discard: DiscardPolicy.New,
});

/** Separate from the results, so that large results never evict claims. The oldest claims are dropped for newer ones. */
const claimsConfig = ({ toolTakers: { stream, all } }: WireNames): Config => ({
  name: stream,
  subjects: [all],
  max_bytes: 128 * mebibyte,
  max_msgs_per_subject: 1,
});

const resultsConfig = ({ toolResults: { stream, all } }: WireNames): Config => ({
  name: stream,
  subjects: [all],
  max_bytes: 512 * mebibyte,
  max_msg_size: maxMessageBytes,
  max_msgs_per_subject: 1,
});

/** What does not limit a stream is said, too: an update keeps what it does not mention, and another version may have set it. */
const unlimited = { max_msgs: -1, max_msgs_per_subject: -1, max_msg_size: -1, discard: DiscardPolicy.Old };

/** The streams of tool calls as this version needs them. `npm run record-release` records them for the next version. */
export const toolStreamConfigs = (names: WireNames): Config[] =>
  [callsConfig, claimsConfig, resultsConfig].map((config) => ({
    ...unlimited,
    storage: StorageType.File,
    max_age: nanos(keptForMs),
    allow_direct: true,
    ...config(names),
  }));

interface KnownStore {
  readonly serverStart: string;
  readonly stamp: string;
  /** Older claims may have been dropped. */
  readonly claimsSinceMs: number;
}

export interface ToolStreamsOptions {
  /** False for executors, which lack the permission. */
  readonly createsStreams?: boolean;
  /** How many servers of a cluster keep each stream: 1, 3 or 5. Undefined keeps what a stream has, one when it is new. */
  readonly replicas?: number | undefined;
  readonly lookAgainAfterMs?: number;
}

/**
 * The streams of tool calls. Workers create missing ones, at the first use and after a server lost its store; executors
 * lack the permission and wait for the workers.
 */
export class ToolStreams {
  readonly jetstream: JetStreamClient;
  readonly manager: Promise<JetStreamManager>;
  private creation: Promise<void> | undefined;
  private refusal: string | undefined;
  private known: KnownStore | undefined;
  private lookAgainAtMs = Infinity;

  constructor(
    private readonly nats: NatsLink,
    private readonly options: ToolStreamsOptions = {},
  ) {
    this.jetstream = nats.connection.jetstream({ timeout: requestTimeoutMs });
    this.manager = this.jetstream.jetstreamManager(false);
    nats.onReconnect(() => this.forget());
  }

  /**
   * Resolves when all exist. Now and then it looks for them again: someone may have deleted them, which NATS does not tell, and to
   * requests for a stream that is not there it gives no answer.
   */
  async ensure(): Promise<void> {
    await this.ensureOnce();
    if (performance.now() > this.lookAgainAtMs) await this.lookAgain();
  }

  private ensureOnce(): Promise<void> {
    this.creation ??= this.create().then(
      () => void (this.refusal = undefined),
      (error: unknown) => {
        this.refusal = readRefusal(error);
        this.forget();
        throw error;
      },
    );
    return this.creation;
  }

  /** Why NATS refuses the streams, in one sentence for people. Undefined: it does not, or it has not answered. */
  get problem(): string | undefined {
    return this.refusal;
  }

  /** Rejects with `problem` while NATS refuses the streams; for readiness. Does not wait for a server that is away. */
  async assertUsable(): Promise<void> {
    if (!this.nats.connected) return;
    await this.ensure().catch(() => undefined);
    if (this.refusal !== undefined) throw new Error(this.refusal);
  }

  /** Creates them now and after each reconnection, so that executors find them before any call is sent. */
  keepCreated(): void {
    const create = () =>
      this.ensure().catch((error: unknown) =>
        this.nats.log.warn({ error }, 'tool streams not created, retrying at the first call'),
      );
    void create();
    this.nats.onReconnect(() => void create());
  }

  /** Checks the streams again before the next use. */
  forget(): void {
    this.creation = undefined;
    this.known = undefined;
  }

  /** Checks the streams again now. Resolves when all exist. After a failover each run asks for it, so they share the check. */
  readonly recheck = shareNextRound(() => {
    this.creation = undefined;
    return this.ensureOnce();
  });

  /**
   * Identifies the store by its streams, the start of its server and the current time; null while one is not known. The
   * start counts because a killed server may lose what it confirmed last: it writes before it confirms, but syncs later.
   */
  get store(): string | null {
    return this.stamp && `${this.stamp}-${Date.now().toString(36)}`;
  }

  /**
   * True when the record of a call that was sent into this store must still exist, as of the last check. Where it is known when the
   * call was stored, and what time it is now, both by the clock of NATS, that counts, and otherwise the clocks of those who sent it
   * and who asks.
   */
  remembers(store: string | null, stored?: { readonly atMs: number; readonly nowMs: number }): boolean {
    const [stamp, at = ''] = store?.split('-') ?? [];
    const { atMs, nowMs } = stored ?? { atMs: parseInt(at, 36), nowMs: Date.now() };
    if (stamp !== this.stamp || nowMs - atMs >= reliableForMs) return false;
    return atMs >= (this.known?.claimsSinceMs ?? Infinity);
  }

  private get stamp(): string | null {
    return this.known?.serverStart === this.serverStart ? this.known.stamp : null;
  }

  /** A server generates an id at each start. In a cluster, the connected server need not be the one that stores. */
  private get serverStart(): string {
    const { info } = this.nats.connection;
    return info?.cluster ? inCluster : (info?.server_id ?? '');
  }

  /** Others do not wait for it. Without an answer, what is known stays. */
  private async lookAgain(): Promise<void> {
    this.lookAgainAtMs = performance.now() + this.lookAgainAfterMs;
    try {
      await this.look();
    } catch (error) {
      if (isMissing(error)) await this.recheck();
    }
  }

  private get lookAgainAfterMs(): number {
    return this.options.lookAgainAfterMs ?? lookAgainAfterMs;
  }

  private async create(): Promise<void> {
    const manager = await this.manager;
    const serverStart = this.serverStart;
    const { createsStreams = true, replicas } = this.options;
    const configs = toolStreamConfigs(this.nats.names).map((config) => ({
      ...config,
      ...(replicas !== undefined && { num_replicas: replicas }),
    }));
    const isCluster = serverStart === inCluster;
    if (createsStreams) await Promise.all(configs.map((config) => createStream(manager, config, isCluster)));
    await this.look(serverStart);
  }

  /** Notes what is there. Rejects where a stream is missing. */
  private async look(serverStart = this.serverStart): Promise<void> {
    const { streams } = await this.manager;
    const isCluster = serverStart === inCluster;
    const names = toolStreamConfigs(this.nats.names).map(({ name }) => name);
    const infos = await Promise.all(names.map((name) => streams.info(name)));
    const identity = infos.map(({ created, config }) => (isCluster && config.description) || created).join();
    const stamp = createHash('sha256').update(`${layout},${serverStart},${identity}`).digest('hex').slice(0, 12);
    const claims = infos.find(({ config }) => config.name === this.nats.names.toolTakers.stream);
    this.known = { serverStart, stamp, claimsSinceMs: claims ? readOldestKept(claims) : Infinity };
    this.lookAgainAtMs = performance.now() + this.lookAgainAfterMs;
  }
}

/** A stream that drops its oldest message for a newer one stays within the length of one message of its limit. */
function readOldestKept({ config, state }: StreamInfo): number {
  const mayHaveDropped = config.max_bytes > 0 && state.bytes > config.max_bytes - mebibyte;
  return mayHaveDropped ? Date.parse(state.first_ts) : -Infinity;
}

/** An answer of the server, in contrast to none: it refuses the request whenever it is repeated. */
function readRefusal(error: unknown): string | undefined {
  if (!(error instanceof NatsError)) return undefined;
  const isRefused = error.api_error !== undefined || error.isPermissionError();
  return isRefused ? `The call store cannot be used: NATS says "${error.message}".` : undefined;
}

/** "Stream name already in use", and "subjects overlap": what the loser of a race to create the same stream is told. */
const existsAlready: readonly unknown[] = [10058, 10065];

/**
 * Creating a stream that exists with this configuration changes nothing; another configuration is updated. The client
 * library asks for the present one first, so what operators have set beside it stays, the number of replicas for example.
 * The update fails where the overlap is with a stream of another name.
 */
async function createStream({ streams }: JetStreamManager, config: Config, isCluster: boolean): Promise<void> {
  const description = isCluster ? await readIdentity(streams, config.name) : '';
  try {
    await streams.add({ ...config, description });
  } catch (error) {
    if (!(error instanceof NatsError && existsAlready.includes(error.api_error?.err_code))) throw error;
    await streams.update(config.name, config);
  }
}

/**
 * What a stream is told apart by in a cluster, kept as its description by its creator: each server tells a time of its
 * own for the creation, until all have agreed.
 */
async function readIdentity(streams: StreamAPI, name: string): Promise<string> {
  try {
    return (await streams.info(name)).config.description ?? '';
  } catch (error) {
    if (isMissing(error)) return randomUUID();
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error?.err_code === streamNotFound;

const streamNotFound = 10059;
