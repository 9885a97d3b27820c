import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { accountId, apiKeyId } from '@rondo/contract';
import type { Response } from 'express';
import request from 'supertest';
import type { ApiRequest } from '../auth/api-request';
import { ConcurrencyLimit } from '../auth/concurrency-limits';
import { BodyGuard } from '../request-pipeline/body.guard';
import { HttpAdapter } from './http-adapter';

@Controller()
class Echo {
  @Post('echo')
  echo(@Body() body: unknown) {
    return { body };
  }
}

@Module({ controllers: [Echo] })
class EchoModule {}

const caller = { accountId: accountId.parse('acc_1'), keyId: apiKeyId.parse('key_1'), scopes: ['write'] };
let app: NestExpressApplication;
beforeAll(async () => {
  app = await NestFactory.create(EchoModule, new HttpAdapter(), { bodyParser: false, logger: false });
  app.use((request: ApiRequest, _: unknown, next: () => void) => {
    request.caller = caller;
    next();
  });
  app.use((request: ApiRequest, response: Response, next: () => void) => {
    if (request.get('x-late') === undefined) next();
    else response.once('close', () => setImmediate(next)); // its key was looked up for so long
  });
  app.useGlobalGuards(
    new BodyGuard(1_000, new ConcurrencyLimit(10_000, { code: 'too_many_bytes_in_flight', detail: '' }), {
      read: () => Promise.reject(new Error('no route takes a form here')),
    }),
  );
  await app.init();
});
afterAll(() => app.close());

const echo = (type: string) => request(app.getHttpServer()).post('/echo').set('Content-Type', type);

describe('HttpAdapter', () => {
  it('creates requests and responses whose prototypes Express does not replace', async () => {
    const prototypes: unknown[] = [];
    app.getHttpServer().prependOnceListener('request', (...born: object[]) => {
      prototypes.push(...born.map((one) => Object.getPrototypeOf(one) as unknown));
    });
    await echo('application/json').send('{}');

    const express = app.getHttpAdapter().getInstance();
    expect(prototypes[0]).toBe(express.request);
    expect(prototypes[1]).toBe(express.response);
  });

  it('answers a client that would have HTTP/2, and leaves other upgrades to who takes them', async () => {
    const server = app.getHttpServer();
    server.on('upgrade', (_: unknown, socket: Duplex) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const firstLine = async (protocol: string, body: string) => {
      const socket = connect(port, '127.0.0.1');
      const lines = [
        ...['POST /echo HTTP/1.1', 'Host: localhost', 'Connection: Upgrade, HTTP2-Settings', `Upgrade: ${protocol}`],
        ...['Content-Type: application/json', `Content-Length: ${body.length}`, '', body],
      ];
      socket.write(lines.join('\r\n'));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return answer.toString().split('\r\n')[0];
    };

    expect(await firstLine('h2c', '{"a":1}')).toBe('HTTP/1.1 201 Created');
    expect(await firstLine('websocket', '')).toBe('HTTP/1.1 101 Switching Protocols');
  });

  it('holds nothing for clients that left before their bodies were read', async () => {
    const server = app.getHttpServer();
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const lines = ['POST /echo HTTP/1.1', 'Host: localhost', 'X-Late: 1', 'Content-Type: application/json'];
    for (let count = 0; count < 20; count++) {
      const client = connect(port, '127.0.0.1');
      const arrived = once(server, 'request') as Promise<[unknown, Response]>;
      client.write([...lines, 'Content-Length: 1000', '', ''].join('\r\n'));
      const [, response] = await arrived;
      client.destroy();
      await once(response, 'close');
      await new Promise(setImmediate);
    }
    await echo('application/json').send('{}').expect(201);
  });

  it('keeps a connection longer than the minute after which proxies close it', async () => {
    const { headers } = await echo('application/json').set('Connection', 'keep-alive').send('{}');
    expect(headers['keep-alive']).toBe('timeout=75');
  });
});

describe('BodyGuard', () => {
  const text = '{"input":"Grüße."}';

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; a=b',
  ])('reads %s', async (type) => {
    const { body } = await echo(type).send(text).expect(201);
    expect(body).toEqual({ body: { input: 'Grüße.' } });
  });

  it('reads a body that begins with a byte order mark', async () => {
    const { body } = await echo('application/json').send(`\uFEFF${text}`).expect(201);
    expect(body).toEqual({ body: { input: 'Grüße.' } });
  });

  it('refuses compressed bodies, which may expand without bound', async () => {
    const sending = echo('application/json').set('Content-Encoding', 'gzip');
    sending.write(gzipSync(text));

    const { body } = await sending;

    expect(body).not.toHaveProperty('body');
  });
});
