import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../libs/messaging/src/testing/free-ports';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

interface Proxied {
  /** The host and port of the gateway. */
  readonly gateway: string;
  readonly port: number;
  /** Where it may write. */
  readonly directory: string;
}

/** A server of docs/reverse-proxy.md. */
export interface ProxyProgram {
  readonly name: string;
  /** Undefined where tests have none. */
  readonly file: string | undefined;
  /** The lines of the document, and what a test needs around them. */
  readonly configuration: (proxied: Proxied) => string;
  readonly toArguments: (configuration: string, directory: string) => string[];
  /** What it writes to its standard error once it listens. */
  readonly isUp: string;
}

/** The lines of the document in one language, with other addresses. Throws where it does not have those that are replaced. */
function readDocument(language: string, replaced: readonly (readonly [string, string])[]): string {
  const document = readFileSync(join(repoRoot, 'docs/reverse-proxy.md'), 'utf8');
  const [, lines = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(document) ?? [];
  return replaced.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The document has no ${from} for ${language}.`);
    return text.replace(from, to);
  }, lines);
}

const nginx: ProxyProgram = {
  name: 'nginx',
  file: process.env['TEST_NGINX'],
  configuration: ({ gateway, port, directory }) =>
    [
      ...(process.getuid?.() === 0 ? ['user root root;'] : []),
      ...['daemon off;', `pid ${directory}/pid;`, 'worker_processes 1;', 'events {}', 'http {', 'access_log off;'],
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${directory}/${one};`),
      readDocument('nginx', [
        ['127.0.0.1:3000', gateway],
        ['listen 80;', `listen 127.0.0.1:${port};`],
      ]),
      '}',
    ].join('\n'),
  toArguments: (file, directory) => ['-c', file, '-p', directory, '-g', 'error_log stderr notice;'],
  isUp: 'start worker process ',
};

const caddy: ProxyProgram = {
  name: 'Caddy',
  file: process.env['TEST_CADDY'],
  configuration: ({ gateway, port }) =>
    ['{', 'admin off', 'auto_https off', '}'].join('\n') +
    readDocument('caddyfile', [
      ['example.com {', `\nhttp://127.0.0.1:${port} {`],
      ['127.0.0.1:3000', gateway],
    ]),
  toArguments: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  isUp: 'serving initial configuration',
};

const haproxy: ProxyProgram = {
  name: 'HAProxy',
  file: process.env['TEST_HAPROXY'],
  configuration: ({ gateway, port }) =>
    readDocument('haproxy', [
      ['bind :80', `bind 127.0.0.1:${port}`],
      ['127.0.0.1:3000', gateway],
    ]),
  toArguments: (file) => ['-W', '-db', '-f', file],
  isUp: 'Loading success',
};

export const proxyPrograms = [nginx, caddy, haproxy];

/** A real proxy in front of a gateway, which it shows below /rondo/, as docs/reverse-proxy.md says. */
export class ProxyServer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(program: ProxyProgram, gatewayUrl: string): Promise<ProxyServer> {
    if (program.file === undefined) throw new Error(`Tests have no ${program.name}.`);
    const [port = 0] = await freePorts(1);
    const directory = mkdtempSync(join(tmpdir(), 'proxy-'));
    const configuration = join(directory, 'configuration');
    writeFileSync(configuration, program.configuration({ gateway: new URL(gatewayUrl).host, port, directory }));
    const child = spawn(program.file, program.toArguments(configuration, directory), {
      env: { HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await awaitStart(child, program);
    return new ProxyServer(`http://127.0.0.1:${port}/rondo`, child, directory);
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'close');
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.directory, { recursive: true });
  }
}

/** Rejects with what it has written when it ends instead. */
async function awaitStart(child: ChildProcess, { name, isUp }: ProxyProgram): Promise<void> {
  let log = '';
  const up = new Promise<void>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes(isUp)) resolve();
    });
  });
  const ended = once(child, 'close').then(() => {
    throw new Error(`${name} has ended: ${log}`);
  });
  await Promise.race([up, ended]);
  ended.catch(() => undefined); // It is stopped later.
}
