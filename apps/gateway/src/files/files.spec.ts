import { createHash, randomBytes } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { pngSource } from '@rondo/contract/testing';
import { RunningGateway, adminKey } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite({ MEMORY_BUDGET_BYTES: 16 * 1024 * 1024 });

const upload = (content: Buffer, filename = 'data.bin', key?: string) =>
  gateway.as(key).post('/v1/files').attach('file', content, filename);
const filesLeft = async () =>
  (await gateway.ownerDatabase.sql.query<{ name: string }>('select name from files')).map(({ name }) => name);

/** Waits until the database has it, or no longer has it. */
async function isStored(name: string, expected: boolean): Promise<void> {
  while ((await filesLeft()).includes(name) !== expected);
}

/** A request whose body is written by hand. */
function raw(headers: Record<string, string | number>): ClientRequest {
  const authorization = `Bearer ${adminKey}`;
  return httpRequest(`${gateway.url}/v1/files`, { method: 'POST', headers: { authorization, ...headers } });
}
const form = { 'content-type': 'multipart/form-data; boundary=B' };
const head = (name: string) =>
  `--B\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`;

async function responseTo(sent: ClientRequest): Promise<{ status: number | undefined; code: string }> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { code } = JSON.parse(await text(response)) as { code: string };
  return { status: response.statusCode, code };
}

describe('an uploaded file', () => {
  it('is stored once for one Idempotency-Key', async () => {
    const send = (content: string) => upload(Buffer.from(content), 'once.bin').set('Idempotency-Key', 'upload');
    const { body: first } = await send('same').expect(201);
    const { body: again, headers } = await send('same').expect(201);
    const { body: other } = await send('another').expect(422);

    expect(again).toEqual(first);
    expect(headers['idempotent-replayed']).toBe('true');
    expect(other.code).toBe('idempotency_key_reused');
    expect((await filesLeft()).filter((name) => name === 'once.bin')).toHaveLength(1);
  });

  it('is returned byte for byte, as a download', async () => {
    const content = randomBytes(1_700_000);

    const { body: file, headers } = await upload(content, 'räume.bin').expect(201);
    const read = await gateway.as().get(`/v1/files/${file.id}/content`).expect(200);

    expect(file).toMatchObject({
      ...{ name: 'räume.bin', size: content.length, media_type: 'application/octet-stream' },
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect(headers['location']).toBe(`/v1/files/${file.id}`);
    expect(Buffer.compare(read.body as Buffer, content)).toBe(0);
    expect(read.headers).toMatchObject({
      'content-disposition': 'attachment',
      'content-length': String(content.length),
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    });
    expect((await gateway.as().get(`/v1/files/${file.id}`).expect(200)).body).toEqual(file);
    expect((await gateway.as().get('/v1/files').expect(200)).body.data[0]).toEqual(file);
  });

  it('may be empty', async () => {
    const { body: file } = await upload(Buffer.alloc(0), 'empty.txt').expect(201);
    expect(file).toMatchObject({ size: 0, media_type: 'text/plain' });
    const { body } = await gateway.as().get(`/v1/files/${file.id}/content`).expect(200);
    expect((body as Buffer).length).toBe(0);
  });

  it.each([
    ['image/png', 'a.txt', Buffer.from(pngSource().data, 'base64')],
    ['application/pdf', 'a.png', Buffer.from('%PDF-1.7\n')],
    ['text/plain', 'a.html', Buffer.from('<script>alert(1)</script>')],
    ['text/plain', 'a.txt', Buffer.from('Grüße')],
    ['application/octet-stream', 'a.txt', Buffer.from([0, 1, 2])],
    ['application/octet-stream', 'a.txt', Buffer.from([0xff, 0xfe, 0x41])],
  ])('is %s because of its bytes, whatever its name', async (mediaType, name, content) => {
    const { body } = await upload(content, name).expect(201);
    expect(body.media_type).toBe(mediaType);
  });

  it('is gone when it is deleted', async () => {
    const { body: file } = await upload(Buffer.from('x')).expect(201);
    await gateway.as().delete(`/v1/files/${file.id}`).expect(204);
    for (const path of [`/v1/files/${file.id}`, `/v1/files/${file.id}/content`]) {
      const { body } = await gateway.as().get(path).expect(404);
      expect(body.code).toBe('file_not_found');
    }
  });
});

describe('the name of an uploaded file', () => {
  const named = async (parameters: string) => {
    const content = `--B\r\nContent-Disposition: form-data; name="file"; ${parameters}\r\n\r\nkept\u0001\r\n--B--\r\n`;
    const sent = raw({ ...form, 'content-length': Buffer.byteLength(content) });
    sent.end(content);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = JSON.parse(await text(response)) as { id: string; name: string };
    const read = await gateway.as().get(`/v1/files/${body.id}/content`).expect(200);
    expect(String(read.body)).toBe('kept\u0001');
    return body.name;
  };

  it.each([
    ['filename="a\u0007b\u001b[31m\u0000.txt"', 'ab[31m.txt'],
    [`filename*=UTF-8''a%00b%0Ac%1B%E2%80%AEd.txt`, 'abcd.txt'],
    ['filename="user\u202egnp.exe"', 'usergnp.exe'],
    ['filename="x\u007f\u200b\u0085y.txt"', 'xy.txt'],
    ['filename="\ta\\"b.txt "', 'a"b.txt'],
    ['filename="../../etc/räume.txt"', 'räume.txt'],
    ['filename="\u0001\u0002"', 'file'],
    [`filename*=UTF-8''%00`, 'file'],
  ])('%j is cleaned, not refused', async (parameters, name) => {
    expect(await named(parameters)).toBe(name);
  });
});

describe('a run with files', () => {
  it('is created with a message that lists them', async () => {
    const { body: file } = await upload(Buffer.from('a,b'), 'sales.csv').expect(201);
    const run = await gateway.createRun({ input: 'Sum it up.', files: [file.id] });
    const { body } = await gateway.as().get(`/v1/threads/${run.thread_id}/messages`).expect(200);
    expect(body.data[0]).toMatchObject({
      content: [{ text: 'Sum it up.' }, { text: '[Uploaded File: /workspace/sales.csv]' }],
      metadata: { files: [{ file_id: file.id, name: 'sales.csv', path: 'sales.csv' }] },
    });
  });

  it('is refused with the field when there is no such file, or it is named twice', async () => {
    const { body: file } = await upload(Buffer.from('x')).expect(201);
    const stranger = await gateway.toKey('stranger');
    const refused = async (files: string[], key?: string) =>
      (await gateway.as(key).post('/v1/runs').send({ input: 'Go.', files }).expect(422)).body.errors[0].field as string;

    expect(await refused(['file_unknown'])).toBe('files.0');
    expect(await refused([file.id], stranger)).toBe('files.0');
    expect(await refused([file.id, file.id])).toBe('files');
    expect(await refused([])).toBe('files');
  });
});

describe('attack: uploads', () => {
  it('refuses a file that is longer than allowed, and keeps nothing of it', async () => {
    const { body } = await upload(Buffer.alloc(5_000_001), 'long.bin').expect(413);
    expect(body.code).toBe('payload_too_large');
    await upload(Buffer.alloc(5_000_000), 'longest.bin').expect(201);
    expect(await filesLeft()).not.toContain('long.bin');
  });

  it('refuses what declares to be far longer without reading it', async () => {
    const sent = raw({ ...form, 'content-length': 10_000_000_000 });
    sent.on('error', () => undefined); // the gateway closes the connection
    sent.write(head('endless.bin'));
    expect(await responseTo(sent)).toEqual({ status: 413, code: 'payload_too_large' });
    sent.destroy();
  });

  it('refuses files beyond the quota of the account, and accepts them again after a deletion', async () => {
    const key = await gateway.toKey('collector');
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1)
      ids.push((await upload(Buffer.alloc(5_000_000), 'full.bin', key).expect(201)).body.id as string);

    const { body } = await upload(Buffer.from('x'), 'over.bin', key).expect(422);
    expect(body.code).toBe('file_quota_exceeded');
    await gateway.as(key).delete(`/v1/files/${ids[0]}`).expect(204);
    await upload(Buffer.from('x'), 'within.bin', key).expect(201);
    expect(await filesLeft()).not.toContain('over.bin');
  });

  it.each([
    [
      'a boundary that does not occur',
      { 'content-type': 'multipart/form-data; boundary=OTHER' },
      `${head('b')}x\r\n--B--`,
    ],
    ['no boundary', { 'content-type': 'multipart/form-data' }, `${head('b')}x\r\n--B--`],
    ['no end', form, `${head('unended.bin')}and so on`],
    ['a part without headers', form, '--B\r\nnonsense\r\n--B--'],
  ])('answers 400 for a form with %s', async (_, headers, content) => {
    const sent = raw({ ...headers, 'content-length': Buffer.byteLength(content) });
    sent.end(content);
    const { status } = await responseTo(sent);
    expect(status).toBe(400);
    expect(await filesLeft()).not.toContain('unended.bin');
  });

  it('keeps nothing of a client that disconnects in the middle', async () => {
    const sent = raw({ ...form, 'transfer-encoding': 'chunked' });
    sent.on('error', () => undefined);
    sent.write(head('lost.bin'));
    sent.write(Buffer.alloc(2_000_000));
    await isStored('lost.bin', true);
    sent.destroy();
    await isStored('lost.bin', false);
  });

  it.each([
    ['an unknown part', 'files', 'files'],
    ['two files', 'file', 'file'],
  ])('refuses %s by name', async (_, field, named) => {
    const { body } = await gateway
      .as()
      .post('/v1/files')
      .attach('file', Buffer.from('a'), 'a')
      .attach(field, Buffer.from('b'), 'b')
      .expect(422);
    expect(body.errors[0].field).toBe(named);
  });

  it('refuses a form without a file, and a body that is no form', async () => {
    await gateway.as().post('/v1/files').field('file', 'text').expect(422);
    await gateway.as().post('/v1/files').send({ file: 'x' }).expect(415);
    await gateway.as().post('/v1/files').expect(415);
  });

  it('shows a file to its own account only', async () => {
    const stranger = gateway.as(await gateway.toKey('stranger'));
    const { body: file } = await upload(Buffer.from('secret')).expect(201);
    await stranger.get(`/v1/files/${file.id}/content`).expect(404);
    await stranger.delete(`/v1/files/${file.id}`).expect(404);
    expect((await stranger.get('/v1/files').expect(200)).body.data).toEqual([]);
    await gateway.as().get(`/v1/files/${file.id}`).expect(200);
  });
});
