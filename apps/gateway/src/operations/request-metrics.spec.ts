import express from 'express';
import { Registry } from 'prom-client';
import request from 'supertest';
import { noteLasting } from '../http/lasting-answers';
import { requestMetrics } from './request-metrics';

function server() {
  const registry = new Registry();
  const app = express();
  app.use(requestMetrics(registry));
  app.get('/v1/runs', (_, response) => void response.send('ok'));
  app.get('/health/ready', (_, response) => void response.status(503).send('away'));
  app.get('/v1/runs/run_1/wait', (_, response) => {
    noteLasting(response);
    response.send('ok');
  });
  app.get('/v1/runs/run_2/wait', (_, response) => void response.status(503).send('away'));
  app.post('/broken', () => {
    throw new Error('broken');
  });
  app.use((_error: Error, _request: express.Request, response: express.Response, next: express.NextFunction) => {
    if (response.headersSent) next();
    else response.status(500).send('broken');
  });
  return { http: request(app), page: () => registry.metrics() };
}

describe('the metrics of requests', () => {
  it('begin at 0, so that the first error is seen', async () => {
    expect(await server().page()).toContain('rondo_gateway_request_seconds_count{method="GET",status="5xx"} 0');
  });

  it('count answers by method and class of status', async () => {
    const { http, page } = server();

    await http.get('/v1/runs').expect(200);
    await http.get('/v1/absent').expect(404);
    await http.post('/broken').expect(500);
    await http.options('/v1/runs');

    const text = await page();
    expect(text).toContain('rondo_gateway_request_seconds_count{method="GET",status="2xx"} 1');
    expect(text).toContain('rondo_gateway_request_seconds_count{method="GET",status="4xx"} 1');
    expect(text).toContain('rondo_gateway_request_seconds_count{method="POST",status="5xx"} 1');
    expect(text).toMatch(/rondo_gateway_request_seconds_count\{method="OTHER",status="2xx"\} 1/);
  });

  it('leave out probes, and what lasts as long as a run, but not waits that could not begin', async () => {
    const { http, page } = server();

    await http.get('/v1/runs/run_1/wait').expect(200);
    await http.get('/v1/runs/run_2/wait').expect(503);
    await http.get('/health/ready').expect(503);

    const text = await page();
    expect(text).toContain('rondo_gateway_request_seconds_count{method="GET",status="2xx"} 0');
    expect(text).toContain('rondo_gateway_request_seconds_count{method="GET",status="5xx"} 1');
  });
});
