import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import request from 'supertest';
import { securityHeaders } from '../gateway-app';
import { serveConsole } from './serve-console';

describe('the console of a gateway', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rondo-console-'));
  const page = '<!doctype html><title>Rondo</title><script src="./assets/main-abc.js"></script>';
  const script = 'export const words = "again and again and again and again and again";';

  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), page);
  writeFileSync(join(directory, 'assets/main-abc.js'), script.repeat(9));
  writeFileSync(join(directory, 'assets/secret.map'), '{}');
  const app = express().use(securityHeaders).use(serveConsole(directory));
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it.each(['/', '/console'])('%s leads to it', async (path) => {
    await request(app).get(path).expect(302).expect('Location', 'console/');
  });

  it.each([
    ['/console/', './assets/'],
    ['/console/runs', './assets/'],
    ['/console/runs/run_1?seq=4', '../assets/'],
    ['/console/schedules/webhooks/wht_1', '../../assets/'],
  ])('%s is its page, which is not stored and finds its assets', async (path, assets) => {
    const expected = page.replace('./assets/', assets);
    const response = await request(app).get(path).expect(200, expected).expect('Cache-Control', 'no-store');
    expect(response.headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'");
    expect(response.headers['content-security-policy']).not.toContain('unsafe');
  });

  it('an asset is compressed, and kept for ever', async () => {
    const response = await request(app).get('/console/assets/main-abc.js').expect(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
    });
    const etag = String(response.headers['etag']);
    await request(app).get('/console/assets/main-abc.js').set('If-None-Match', etag).expect(304);
    const plain = await request(app).get('/console/assets/main-abc.js').set('Accept-Encoding', 'identity').expect(200);
    expect(plain.headers).not.toHaveProperty('content-encoding');
  });

  it.each(['/console/assets/other.js', '/console/assets/secret.map', '/console/assets/..%2f..%2fpackage.json'])(
    '%s is not there',
    async (path) => {
      await request(app).get(path).expect(404);
    },
  );

  it('a console that was not built is not there', async () => {
    const empty = express().use(serveConsole(join(directory, 'none')));
    await request(empty).get('/console/').expect(404);
  });
});
