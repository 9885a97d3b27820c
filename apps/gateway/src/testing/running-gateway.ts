import type { Server } from 'node:http';
import type { Run, RunId } from '@rondo/contract';
import type { Database } from '@rondo/persistence';
import { type TestDatabase, makeTestDatabase } from '@rondo/persistence/testing';
import { createLogger } from '@rondo/platform';
import { type Socket, io } from 'socket.io-client';
import request from 'supertest';
import type { GatewayConfig } from '../config';
import { createGateway } from '../gateway-app';
import type { GatewayParts } from '../compose';
import { readConnections } from '../http/last-responses';
import { testServer } from './test-server';

export const adminKey = 'rondo_the_key_of_the_operator';

interface StartedGateway {
  readonly url: string;
  readonly server: Server;
  readonly parts: GatewayParts;
  readonly made: TestDatabase | undefined;
  readonly stop: () => Promise<void>;
}

/** A gateway on a free port, with a database of its own, as a client sees it. */
export class RunningGateway {
  private readonly sockets: Socket[] = [];
  private readonly users: { close(): Promise<void> }[] = [];
  private running: StartedGateway | undefined;

  private constructor() {
    // Only the methods below make one, since it is of no use before it has started.
  }

  static async start(overrides: Partial<GatewayConfig> = {}): Promise<RunningGateway> {
    const gateway = new RunningGateway();
    await gateway.open(overrides);
    return gateway;
  }

  /** Runs while the tests run of the file, or of the block, in which it is called. */
  static forSuite(overrides: Partial<GatewayConfig> = {}): RunningGateway {
    const gateway = new RunningGateway();
    beforeAll(() => gateway.open(overrides));
    afterAll(() => gateway.close());
    return gateway;
  }

  /** A further gateway of the same deployment, for the same suite. */
  anotherForSuite(overrides: Partial<GatewayConfig> = {}): RunningGateway {
    const gateway = new RunningGateway();
    this.use(gateway, () => gateway.open({ DATABASE_URL: this.parts.config.DATABASE_URL, ...overrides }));
    return gateway;
  }

  /** Opens what uses this gateway before the tests of a suite, and closes it before the gateway. */
  use(user: { close(): Promise<void> }, open: () => Promise<void>): void {
    beforeAll(async () => {
      await open();
      this.users.unshift(user);
    });
  }

  private async open(overrides: Partial<GatewayConfig>): Promise<void> {
    const made = overrides.DATABASE_URL === undefined ? await makeTestDatabase() : undefined;
    const config: GatewayConfig = {
      HOST: '127.0.0.1',
      PORT: 0,
      LOG_LEVEL: 'silent',
      METRICS_OPEN: false,
      DATABASE_URL: (await made?.findUrl('gateway')) ?? '',
      DATABASE_POOL_SIZE: 5,
      REDIS_URL: testServer('TEST_REDIS_URL'),
      NATS_URL: testServer('TEST_NATS_URL'),
      RONDO_ADMIN_KEY: adminKey,
      DEFAULT_MODEL: 'demo/coder',
      BUDGET_ON_EXCEEDED: 'end',
      DEMO_MODEL_URL: 'http://127.0.0.1:1',
      MODEL_KEYS_PRESENT: '',
      MCP_START_S: 60,
      BODY_LIMIT_BYTES: 100_000,
      FILE_LIMIT_BYTES: 5_000_000,
      ACCOUNT_API_KEYS: 100,
      ACCOUNT_THREADS: 100_000,
      ACCOUNT_MESSAGE_BYTES: 8 * 1024 ** 3,
      ACCOUNT_IMAGE_BYTES: 1024 ** 3,
      ACCOUNT_FILE_BYTES: 20_000_000,
      ACCOUNT_WORKSPACES: 1_000,
      MAX_ACTIVE_RUNS_PER_ACCOUNT: 1_000,
      THREAD_MAX_MESSAGES: 50_000,
      THREAD_MAX_BYTES: 256 * 1024 * 1024,
      SCHEDULE_LEAST_INTERVAL_S: 60,
      RATE_LIMIT_PER_SECOND: 10_000,
      CLIENT_RATE_LIMIT_PER_SECOND: 10_000,
      ACCOUNT_RATE_LIMIT_PER_SECOND: 10_000,
      MEMORY_BUDGET_BYTES: 256 * 1024 * 1024,
      SOCKETS_PER_ACCOUNT: 1_000,
      STREAMS_PER_ACCOUNT: 1_000,
      WAITS_PER_ACCOUNT: 1_000,
      HANDSHAKES_PER_SECOND: 10_000,
      SESSION_HOURS: 12,
      SESSION_LINK_MINUTES: 10,
      OIDC_ACCOUNT_CLAIM: 'rondo_account',
      OIDC_ROLE_CLAIM: 'rondo_role',
      OIDC_CLOCK_SKEW_S: 60,
      OIDC_MAY_OPERATE: false,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false,
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_TRACES_SAMPLER_ARG: 1,
      TRUSTED_PROXY_HOPS: 0,
      PROXY_BY_ADDRESS: false,
      STALL_LIMIT_S: 5,
      ...overrides,
    };
    const { app, parts } = await createGateway(config, createLogger({ name: 'gateway', level: config.LOG_LEVEL }));
    await app.listen(0, config.HOST);
    const stop = async () => {
      await app.close();
      await made?.drop();
    };
    this.running = { url: await app.getUrl(), server: app.getHttpServer(), parts, made, stop };
  }

  private get started(): StartedGateway {
    if (!this.running) throw new Error('the gateway has not started');
    return this.running;
  }

  get url(): string {
    return this.started.url;
  }

  get parts(): GatewayParts {
    return this.started.parts;
  }

  countConnections(): Promise<number> {
    return readConnections(this.started.server);
  }

  async close(): Promise<void> {
    for (const user of this.users.splice(0)) await user.close();
    for (const socket of this.sockets) socket.disconnect();
    await this.running?.stop();
  }

  /** With all rights, for what other services do; the gateway's own role may not. */
  get ownerDatabase(): Database {
    const { made } = this.started;
    if (!made) throw new Error('this gateway was given a database that is not its own');
    return made;
  }

  get database(): Database {
    return this.parts.database;
  }

  /** Requests with a key; the operator's unless given. */
  as(key = adminKey) {
    const send = (method: 'get' | 'post' | 'put' | 'patch' | 'delete') => (path: string) =>
      request(this.url)[method](path).set('Authorization', `Bearer ${key}`);
    return { get: send('get'), post: send('post'), put: send('put'), patch: send('patch'), delete: send('delete') };
  }

  get anonymous() {
    return request(this.url);
  }

  /** A key of another account, with these scopes. */
  async toKey(name: string, scopes: readonly string[] = ['admin']): Promise<string> {
    return (await this.parts.accounts.create({ name, scopes })).apiKey.key;
  }

  /** A key of the account of `adminKey` that only reads. */
  async createReadingKey(): Promise<string> {
    const { body } = await this.as()
      .post('/v1/api-keys')
      .send({ name: 'Reader', scopes: ['read'] })
      .expect(201);
    return (body as { key: string }).key;
  }

  async createRun(body: object = { input: 'Go.' }, key = adminKey): Promise<Run> {
    return (await this.as(key).post('/v1/runs').send(body).expect(202)).body as Run;
  }

  async read(runId: RunId): Promise<Run> {
    return (await this.as().get(`/v1/runs/${runId}`).expect(200)).body as Run;
  }

  socket(token: string = adminKey, query: Record<string, string> = {}): Socket {
    const socket = io(`${this.url}/runs`, { auth: { token }, query, transports: ['websocket'], forceNew: true });
    this.sockets.push(socket);
    return socket;
  }
}
