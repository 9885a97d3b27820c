import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../libs/messaging/src/testing/free-ports';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

/** The program, where tests have one. */
export const nginx = process.env['TEST_NGINX'];

/** The lines of docs/reverse-proxy.md, with these addresses in place of its own. Throws where the document has others. */
function readConfiguration(gateway: string, port: number): string {
  const document = readFileSync(join(repoRoot, 'docs/reverse-proxy.md'), 'utf8');
  const [, lines = ''] = /```nginx\n([^]*?)```/.exec(document) ?? [];
  const replaced = lines.replace('127.0.0.1:3000', gateway).replace(/listen 80;/, `listen 127.0.0.1:${port};`);
  if (!replaced.includes(gateway) || !replaced.includes(`:${port};`))
    throw new Error('The document has other addresses.');
  return replaced;
}

/** A real nginx in front of a gateway, which it shows below /rondo/, as docs/reverse-proxy.md says. */
export class NginxServer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  static async start(gatewayUrl: string): Promise<NginxServer> {
    if (nginx === undefined) throw new Error('TEST_NGINX must name the program.');
    const [port = 0] = await freePorts(1);
    const directory = mkdtempSync(join(tmpdir(), 'nginx-'));
    const file = join(directory, 'nginx.conf');
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (one) => `${one}_temp_path ${directory}/${one};`,
    );
    const lines = [
      ...(process.getuid?.() === 0 ? ['user root root;'] : []),
      ...['daemon off;', `pid ${directory}/pid;`, 'worker_processes 1;', 'events {}', 'http {', 'access_log off;'],
      ...[...places, readConfiguration(new URL(gatewayUrl).host, port), '}'],
    ];
    writeFileSync(file, lines.join('\n'));
    const child = spawn(nginx, ['-c', file, '-p', directory, '-g', 'error_log stderr notice;'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await awaitStart(child);
    return new NginxServer(`http://127.0.0.1:${port}/rondo`, child, directory);
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
async function awaitStart(child: ChildProcess): Promise<void> {
  let log = '';
  const up = new Promise<void>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('start worker process ')) resolve();
    });
  });
  const ended = once(child, 'close').then(() => {
    throw new Error(`nginx has ended: ${log}`);
  });
  await Promise.race([up, ended]);
  ended.catch(() => undefined); // It is stopped later.
}
