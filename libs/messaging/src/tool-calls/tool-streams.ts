import { createHash } from 'node:crypto';
import {
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  NatsError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  nanos,
} from 'nats';
import type { NatsLink } from '../connection/nats-link';
import type { WireNames } from '../connection/subjects';

/** How long what is stored of a call is kept, and how long one may count on that. */
const keptForMs = 24 * 60 * 60 * 1_000;
const countedOnForMs = 20 * 60 * 60 * 1_000;
const mebibyte = 1024 * 1024;

/** The longest that making a stream may take; its callers ask again. */
const requestTimeoutMs = 2_000;

/** Traces of a call that stand in another order are not found: a store that was written so is another store. */
const layout = 'by executor';

/** Of a call, and of a reply. */
export const longestBytes = 8 * mebibyte;

type Config = Partial<StreamConfig> & { name: string };

/** A call stays until it is answered; when the queue is full, new ones are refused and none is lost. */
const callsConfig = ({ toolCalls: { stream, all } }: WireNames): Config => ({
  name: stream,
  subjects: [all],
  retention: RetentionPolicy.Workqueue,
  max_bytes: 256 * mebibyte,
  max_msg_size: longestBytes,
  discard: DiscardPolicy.New,
});

/** Apart from the results, so that large ones never push these out. */
const takersConfig = ({ toolTakers: { stream, all } }: WireNames): Config => ({
  name: stream,
  subjects: [all],
  max_bytes: 128 * mebibyte,
  max_msgs_per_subject: 1,
});

const resultsConfig = ({ toolResults: { stream, all } }: WireNames): Config => ({
  name: stream,
  subjects: [all],
  max_bytes: 512 * mebibyte,
  max_msg_size: longestBytes,
  max_msgs_per_subject: 1,
});

/**
 * The streams of tool calls. Workers make them when they are missing, at the first use and after a server lost its store;
 * executors, which may not, wait for that.
 */
export class ToolStreams {
  readonly jetstream: JetStreamClient;
  readonly manager: Promise<JetStreamManager>;
  private making: Promise<void> | undefined;
  private known: { readonly life: string; readonly stamp: string } | undefined;

  constructor(
    private readonly nats: NatsLink,
    private readonly makesThem: boolean,
  ) {
    this.jetstream = nats.connection.jetstream({ timeout: requestTimeoutMs });
    this.manager = this.jetstream.jetstreamManager(false);
    nats.onReconnect(() => this.forget());
  }

  /** Resolves when all are there. */
  ensure(): Promise<void> {
    this.making ??= this.make().catch((error: unknown) => {
      this.forget();
      throw error;
    });
    return this.making;
  }

  /** Makes them now, and again when the server is back, so that those who only look find them before any call is sent. */
  keep(): void {
    const make = () =>
      this.ensure().catch((error: unknown) =>
        this.nats.log.warn({ error }, 'tool streams were not made, trying again at the first call'),
      );
    void make();
    this.nats.onReconnect(() => void make());
  }

  /** Looks again before the next use. */
  forget(): void {
    this.making = undefined;
    this.known = undefined;
  }

  /** Resolves when all are there, and what was known of them before is confirmed or corrected. */
  lookAgain(): Promise<void> {
    this.making = undefined;
    return this.ensure();
  }

  /**
   * Names the store, the life of its server, and the moment; null while one of them is not known. The life counts because a
   * server that was killed may come back without what it confirmed last: it writes to the disk before it confirms, but
   * syncs later.
   */
  get store(): string | null {
    return this.stamp && `${this.stamp}-${Date.now().toString(36)}`;
  }

  /** True when a call that was sent into this store would have left a trace that is still there. */
  remembers(store: string | null): boolean {
    const [stamp, at = ''] = store?.split('-') ?? [];
    return stamp === this.stamp && Date.now() - parseInt(at, 36) < countedOnForMs;
  }

  private get stamp(): string | null {
    return this.known?.life === this.serverLife ? this.known.stamp : null;
  }

  /** A server makes itself a new id each time it starts. In a cluster the one that we talk to need not be the one that stores. */
  private get serverLife(): string {
    const { info } = this.nats.connection;
    return info?.cluster ? 'cluster' : (info?.server_id ?? '');
  }

  private async make(): Promise<void> {
    const manager = await this.manager;
    const life = this.serverLife;
    const configs = [callsConfig, takersConfig, resultsConfig].map((config) => config(this.nats.names));
    const find = ({ name }: Config) => manager.streams.info(name);
    const infos = await Promise.all(
      configs.map((config) => (this.makesThem ? makeStream(manager, config) : find(config))),
    );
    const births = infos.map(({ created }) => created).join();
    const stamp = createHash('sha256').update(`${layout},${life},${births}`).digest('hex').slice(0, 12);
    this.known = { life, stamp };
  }
}

const nameInUse = 10058;

/** Making a stream that is there as it should be changes nothing; one of an older version is brought up to date. */
async function makeStream({ streams }: JetStreamManager, ours: Config) {
  const config = { storage: StorageType.File, max_age: nanos(keptForMs), allow_direct: true, ...ours };
  try {
    return await streams.add(config);
  } catch (error) {
    if (!(error instanceof NatsError && error.api_error?.err_code === nameInUse)) throw error;
    return streams.update(config.name, config);
  }
}
