import type { Log } from '../log';
import { type NatsLink, connectNats } from '../connection/nats-link';
import { ToolStreams, type ToolStreamsOptions } from '../tool-calls/tool-streams';
import { SeverableProxy } from './severable-proxy';

export function testNatsUrl(): string {
  const url = process.env['TEST_NATS_URL'];
  if (url === undefined) throw new Error('TEST_NATS_URL must name a NATS server with JetStream');
  return url;
}

const streams = new WeakMap<NatsLink, ToolStreams>();

/** The tool streams of a connection; a process has one of each. The options are those of the first call. */
export function createToolStreams(link: NatsLink, options: ToolStreamsOptions = {}): ToolStreams {
  const known = streams.get(link) ?? new ToolStreams(link, options);
  streams.set(link, known);
  return known;
}

/** Records the messages of log lines. */
export class RecordedLog implements Log {
  readonly lines: string[] = [];
  readonly info = (_fields: object, message: string) => void this.lines.push(message);
  readonly warn = this.info;
  readonly error = this.info;
}

/** The test server as one spec sees it: under a namespace of its own, and every link is closed at the end. */
export class TestNats {
  readonly namespace = `spec${process.pid}x${Math.random().toString(36).slice(2, 10)}`;
  readonly log = new RecordedLog();
  private readonly links: NatsLink[] = [];
  private readonly proxies: SeverableProxy[] = [];

  constructor(private readonly url = testNatsUrl()) {}

  /** A new connection, as another process would have. */
  async link(url = this.url): Promise<NatsLink> {
    const link = await connectNats({ url, name: 'spec', log: this.log, namespace: this.namespace });
    this.links.push(link);
    return link;
  }

  /** A connection that can be cut. */
  async severableLink(): Promise<{ link: NatsLink; proxy: SeverableProxy }> {
    const proxy = await this.proxy();
    return { link: await this.link(proxy.findUrl(testNatsUrl())), proxy };
  }

  async proxy(): Promise<SeverableProxy> {
    const { hostname, port } = new URL(this.url);
    const proxy = new SeverableProxy({ host: hostname, port: Number(port) });
    this.proxies.push(proxy);
    await proxy.mend();
    return proxy;
  }

  /** Simulates a server that restarts without its store. */
  async loseStreams(): Promise<void> {
    const link = await this.link();
    const { streams } = await createToolStreams(link).manager;
    const { toolCalls, toolTakers, toolResults } = link.names;
    await Promise.all(
      [toolCalls, toolTakers, toolResults].map(({ stream }) => streams.delete(stream).catch(() => undefined)),
    );
  }

  async close(): Promise<void> {
    await this.loseStreams();
    await Promise.all(this.links.map(({ connection }) => connection.close()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
