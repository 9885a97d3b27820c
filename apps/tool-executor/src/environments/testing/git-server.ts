import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type Server, type ServerResponse, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';

/** A git server on loopback that serves one repository, whose files git reads one by one. */
export class GitServer {
  /** The header of each request that had one. */
  readonly authorizations = new Set<string>();
  requests = 0;
  /** Called for each request. An answer waits until it resolves. */
  hold: () => Promise<void> = () => Promise.resolve();

  private constructor(
    private readonly server: Server,
    private readonly root: string,
    readonly port: number,
  ) {}

  /** With a password, requests need it, and the user `robot`. The port is a free one, unless given. */
  static async open(
    files: Readonly<Record<string, string>>,
    { password, port: wanted = 0 }: { readonly password?: string; readonly port?: number } = {},
  ): Promise<GitServer> {
    const root = mkdtempSync(join(tmpdir(), 'git-server-'));
    const server = createServer((request, response) => {
      void (async () => {
        const { authorization } = request.headers;
        git.requests += 1;
        if (authorization !== undefined) git.authorizations.add(authorization);
        await git.hold();
        const credentials = password && `Basic ${Buffer.from(`robot:${password}`).toString('base64')}`;
        if (credentials && authorization !== credentials)
          response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
        else git.answer(request.url ?? '', response);
      })();
    });
    server.listen(wanted, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number }; // It listens on TCP.
    const git = new GitServer(server, root, port);
    git.run('init', '--quiet', '--initial-branch=main', 'work');
    git.commit(files);
    return git;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/team/site.git`;
  }

  /** Its id. `name -> target` is a symbolic link. */
  commit(files: Readonly<Record<string, string>>): string {
    const work = join(this.root, 'work');
    for (const [path, text] of Object.entries(files)) {
      const [name = '', target] = path.split(' -> ');
      mkdirSync(dirname(join(work, name)), { recursive: true });
      if (target === undefined) writeFileSync(join(work, name), text);
      else symlinkSync(target, join(work, name));
    }
    this.run('-C', 'work', 'add', '--all');
    this.run('-C', 'work', ...author, 'commit', '--quiet', '--message=A change');
    this.publish();
    return this.run('-C', 'work', 'rev-parse', 'HEAD').trim();
  }

  tag(name: string): void {
    this.run('-C', 'work', 'tag', name);
    this.publish();
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
    rmSync(this.root, { recursive: true, force: true });
  }

  private publish(): void {
    rmSync(join(this.root, 'team'), { recursive: true, force: true });
    this.run('clone', '--quiet', '--bare', 'work', 'team/site.git');
    this.run('-C', 'team/site.git', 'update-server-info');
  }

  private run(...words: readonly string[]): string {
    return execFileSync('git', words, { cwd: this.root, encoding: 'utf8', env: { PATH: process.env['PATH'] } });
  }

  private answer(url: string, response: ServerResponse): void {
    const path = normalize(join(this.root, new URL(url, 'http://any').pathname));
    if (!path.startsWith(`${this.root}/team/`) || !existsSync(path) || !statSync(path).isFile())
      response.writeHead(404).end();
    else createReadStream(path).pipe(response);
  }
}

const author = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
