import type { Server } from 'node:http';
import { type INestApplication, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Counter, Registry } from 'prom-client';
import request from 'supertest';
import { HealthModule } from './health/health.module';
import { type HealthChecks, UnusableDependency, failingChecks } from './health/readiness';
import { MetricsModule } from './metrics/metrics.module';

const up = () => Promise.resolve();
const down = () => Promise.reject(new Error('connection refused'));
const hangs = () => new Promise<never>(() => undefined);

interface Served {
  readonly token?: string;
  readonly host?: string;
  readonly open?: boolean;
  readonly degradations?: HealthChecks;
}

async function serve(
  checks: HealthChecks,
  { token, host = '127.0.0.1', open = false, degradations = {} }: Served = {},
) {
  const module = await Test.createTestingModule({
    imports: [
      HealthModule.register(checks, degradations),
      MetricsModule.register({ METRICS_TOKEN: token, HOST: host, METRICS_OPEN: open }),
    ],
  }).compile();
  const app = module.createNestApplication<INestApplication<Server>>();
  await app.init();
  return { app, http: request(app.getHttpServer()) };
}

describe('health', () => {
  it('is live while its dependencies are away', async () => {
    const { app, http } = await serve({ postgres: down });

    await http.get('/health/live').expect(200, { status: 'live' });

    await app.close();
  });

  it('is ready when every check passes', async () => {
    const { app, http } = await serve({ postgres: up, nats: up });

    await http.get('/health/ready').expect(200, { status: 'ready' });

    await app.close();
  });

  it('answers 503 with the names of what fails', async () => {
    const { app, http } = await serve({ postgres: up, nats: down, redis: down });

    const response = await http
      .get('/health/ready')
      .expect(503)
      .expect('content-type', /application\/problem\+json/);

    expect(response.body).toMatchObject({ status: 503, code: 'not_ready', failing: ['nats', 'redis'] });
    await app.close();
  });

  it('says in words why a dependency cannot be used that answers, and nothing else of what failed', async () => {
    const refused = () => Promise.reject(new UnusableDependency('The call store cannot be used: it is full.'));
    const { app, http } = await serve({ nats: down, call_store: refused });

    const { body } = await http.get('/health/ready').expect(503);

    expect(body).toMatchObject({
      failing: ['nats', 'call_store'],
      detail: 'Not reachable: nats. The call store cannot be used: it is full.',
    });
    await app.close();
  });

  it('is ready while an optional dependency is away, and lists it as degraded', async () => {
    const { app, http } = await serve({ postgres: up }, { degradations: { redis: down, nats: up } });

    await http.get('/health/ready').expect(200, { status: 'ready', degraded: ['redis'] });

    await app.close();
  });

  it('lists degraded dependencies also when it is not ready', async () => {
    const { app, http } = await serve({ postgres: down }, { degradations: { redis: down, nats: up } });

    const { body } = await http.get('/health/ready').expect(503);

    expect(body).toMatchObject({ code: 'not_ready', failing: ['postgres'], degraded: ['redis'] });
    await app.close();
  });

  it('answers within a second while the check of an optional dependency hangs, as probes time out', async () => {
    const aided = await serve({}, { degradations: { redis: hangs } });
    const needy = await serve({ redis: hangs });

    const first = await Promise.race([aided, needy].map(async ({ http }) => (await http.get('/health/ready')).status));

    expect(first).toBe(200);
    await aided.app.close();
    await needy.app.close();
  });

  it('gives up on a check that hangs, as a frozen server never answers', async () => {
    expect(await failingChecks({ postgres: up, redis: hangs }, 20)).toEqual(['redis']);
  });

  it('is not live when a liveness check fails, which only a restart fixes', async () => {
    const stuck = HealthModule.registerAsync({
      useFactory: () => ({ postgres: up }),
      liveness: () => ({ heartbeat: down }),
    });
    const module = await Test.createTestingModule({ imports: [stuck] }).compile();
    const app = module.createNestApplication<INestApplication<Server>>();
    await app.init();

    const response = await request(app.getHttpServer()).get('/health/live').expect(503);

    expect(response.body).toMatchObject({ code: 'not_live', failing: ['heartbeat'] });
    await app.close();
  });

  it('builds its checks from providers of the app', async () => {
    @Module({ providers: [{ provide: 'LINK', useValue: { ping: down } }], exports: ['LINK'] })
    class LinkModule {}
    const fromLink = HealthModule.registerAsync({
      imports: [LinkModule],
      inject: ['LINK'],
      useFactory: (link: { ping: () => Promise<void> }) => ({ nats: () => link.ping() }),
    });
    const module = await Test.createTestingModule({ imports: [fromLink] }).compile();
    const app = module.createNestApplication<INestApplication<Server>>();
    await app.init();

    const response = await request(app.getHttpServer()).get('/health/ready').expect(503);

    expect(response.body).toMatchObject({ failing: ['nats'] });
    await app.close();
  });
});

describe('metrics', () => {
  it('include those of the process and those that the app adds', async () => {
    const { app, http } = await serve({});
    const runs = new Counter({ name: 'rondo_runs_total', help: 'Runs.', registers: [app.get(Registry)] });
    runs.inc(3);

    const { text } = await http
      .get('/metrics')
      .expect(200)
      .expect('content-type', /text\/plain/);

    expect(text).toContain('rondo_runs_total 3');
    expect(text).toContain('rondo_nodejs_eventloop_lag_seconds');
    await app.close();
  });

  it('show which dependencies answer, the optional ones too', async () => {
    const { app, http } = await serve({ postgres: up, redis: down }, { degradations: { nats: down } });

    const { text } = await http.get('/metrics').expect(200);

    expect(text).toContain('rondo_dependency_up{dependency="postgres"} 1');
    expect(text).toContain('rondo_dependency_up{dependency="redis"} 0');
    expect(text).toContain('rondo_dependency_up{dependency="nats"} 0');
    await app.close();
  });

  it('require the token when one is configured', async () => {
    const { app, http } = await serve({}, { token: 'sesame' });

    await http.get('/metrics').expect(401);
    await http.get('/metrics').set('authorization', 'Bearer other').expect(401);
    await http.get('/metrics').set('authorization', 'Bearer sesame').expect(200);

    await app.close();
  });

  it.each(['0.0.0.0', '::', '10.0.0.7', 'rondo.example.org'])(
    'are closed where %s is listened on and no token is set, and say what to set',
    async (host) => {
      const { app, http } = await serve({}, { host });

      const { body } = await http
        .get('/metrics')
        .expect(403)
        .expect('content-type', /application\/problem\+json/);

      expect(body).toMatchObject({ status: 403, code: 'metrics_closed' });
      expect((body as { detail: string }).detail).toMatch(/METRICS_TOKEN.*METRICS_OPEN=1/);
      await app.close();
    },
  );

  it('are open with METRICS_OPEN, and on the loopback interface', async () => {
    const opened = await serve({}, { host: '0.0.0.0', open: true });
    const local = await serve({}, { host: '127.0.0.1' });

    await opened.http.get('/metrics').expect(200);
    await local.http.get('/metrics').expect(200);
    for (const header of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP'])
      await local.http.get('/metrics').set(header, '203.0.113.7').expect(403);
    await local.http.get('/metrics').set('Host', 'rebound.example').expect(403);

    await Promise.all([opened.app.close(), local.app.close()]);
  });
});
