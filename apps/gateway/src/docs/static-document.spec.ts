import express from 'express';
import request from 'supertest';
import { RunningGateway } from '../testing/running-gateway';
import { staticDocument } from './openapi';

describe('a static document', () => {
  it('is built once, and not sent again to a client that has it', async () => {
    let built = 0;
    const build = () => ({ built: (built += 1) });
    const app = express().get('/document.json', staticDocument(build));

    const first = await request(app).get('/document.json').expect(200, { built: 1 });
    await request(app).get('/document.json').expect(200, { built: 1 });
    await request(app).get('/document.json').set('If-None-Match', String(first.headers['etag'])).expect(304);
    expect(built).toBe(1);
  });
});

describe('attack: public API', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await RunningGateway.start();
  });
  afterAll(() => gateway.close());

  it.each(['/openapi.json', '/asyncapi.json'])('requests without a key for %s, again and again', async (path) => {
    const first = await gateway.anonymous.get(path).expect(200);
    const begun = process.cpuUsage();
    for (let times = 0; times < 50; times += 1) {
      await gateway.anonymous.get(path).set('If-None-Match', String(first.headers['etag'])).expect(304);
    }
    const { user } = process.cpuUsage(begun);
    expect(user / 1_000 / 50).toBeLessThan(15);
    await gateway.anonymous.get('/docs-yaml').expect(404);
  });
});
