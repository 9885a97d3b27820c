import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { ContainerProcess, type ContainerRequest, containerRequest, isInstallation } from './container-process';

interface Container {
  readonly id: string;
  readonly name: string;
  readonly request: ContainerRequest;
  readonly removed: Promise<void>;
  reportRemoved(): void;
  connection?: Duplex;
  process?: ContainerProcess;
}

interface Answer {
  readonly status: number;
  readonly body?: object;
  /** Of lines. */
  readonly stream?: readonly object[];
}

const failed = (status: number, message: string): Answer => ({ status, body: { message } });
const toImageId = (name: string): string => `sha256:${createHash('sha256').update(name).digest('hex')}`;
const noSuchContainer = failed(404, 'No such container');

/**
 * As much of Docker's Engine API as the provider uses, over HTTP on a unix socket. Containers are real processes. It deletes a
 * container when it ends, as the request must have asked for. Emits `broken` for each connection that it breaks.
 */
export class EngineServer extends EventEmitter<{ broken: [] }> {
  readonly images = new Set(['node:24-bookworm']);
  /** What its registries have: a fault stands in the answer to a pull, as engines say it. */
  readonly registry = new Map<string, { readonly error?: string }>();
  readonly pulled: string[] = [];
  /** What the next installation of packages does, and what it has written. */
  installation = 'echo installed';
  writtenBytes = 1;
  about = { MemoryLimit: true, CpuCfsQuota: true, NCPU: 4, MemTotal: 8 * 1024 ** 3 };
  /** The requests to create a container, as they arrived. */
  readonly created: ContainerRequest[] = [];
  /** The next requests for this route get the status instead. */
  readonly faults: { route: string; status: number }[] = [];
  /** As while it restarts: it breaks every connection without an answer. */
  isAway = false;
  /** The number of connections that it broke. */
  broken = 0;
  /** The versions of the API that it has, as an engine of the day of this commit. A spec may replace it by another release. */
  versions = { oldest: '1.44', newest: '1.52' };
  /** The paths that were asked for, with their versions. */
  readonly asked: string[] = [];
  private readonly containers = new Map<string, Container>();

  private constructor(
    private readonly server: Server,
    private readonly directory: string,
  ) {
    super();
    server.on('request', (request, response) => void this.serve(request, response));
    server.on('upgrade', (request, connection: Duplex) => this.attach(request, connection));
  }

  static async start(): Promise<EngineServer> {
    const directory = await mkdtemp(join(tmpdir(), 'engine-spec-'));
    const server = createServer().listen(join(directory, 'docker.sock'));
    await once(server, 'listening');
    return new EngineServer(server, directory);
  }

  get socketPath(): string {
    return join(this.directory, 'docker.sock');
  }

  get running(): readonly ContainerRequest[] {
    return [...this.containers.values()].map(({ request }) => request);
  }

  /** As where a container dies by itself. */
  async killAll(): Promise<void> {
    await Promise.all([...this.containers.values()].flatMap(({ process }) => process?.kill() ?? []));
  }

  async close(): Promise<void> {
    await Promise.all([...this.containers.values()].map((container) => this.remove(container)));
    this.server.closeAllConnections();
    this.server.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isAway) {
      this.broken += 1;
      this.emit('broken');
      return void request.destroy();
    }
    const { status, body, stream }: Answer = await this.answerTo(request).catch((error: unknown) =>
      failed(400, String(error)),
    );
    if (stream) return void response.writeHead(status).end(stream.map((line) => JSON.stringify(line)).join('\r\n'));
    if (!body) return void response.writeHead(status).end();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  private async answerTo(request: IncomingMessage): Promise<Answer> {
    const { route, container, query } = this.read(request);
    const refusal = this.refusedVersion(request);
    if (refusal !== undefined) return failed(400, refusal);
    const fault = this.faults.findIndex((planned) => planned.route === route);
    if (fault >= 0) return failed(this.faults.splice(fault, 1)[0]?.status ?? 500, 'planned by the spec');
    switch (route) {
      case 'GET /_ping':
        return { status: 200 };
      case 'GET /version':
        return { status: 200, body: { ApiVersion: this.versions.newest, MinAPIVersion: this.versions.oldest } };
      case 'GET /info':
        return { status: 200, body: this.about };
      case 'POST /containers/create':
        return this.create(query.get('name') ?? '', await json(request));
      case 'POST /commit':
        this.images.add(`${query.get('repo')}:${query.get('tag')}`);
        return { status: 201, body: { Id: toImageId(`${query.get('repo')}:${query.get('tag')}`) } };
      case 'GET /images/json':
        return { status: 200, body: this.listImages(JSON.parse(query.get('filters') ?? '{}') as object) };
      case 'POST /images/create':
        return this.pull(query);
      case 'GET /containers/json':
        return this.list(query);
    }
    const image = /^GET \/images\/(.+)\/json$/.exec(route)?.[1];
    if (image !== undefined) return this.findImage(image);
    const removed = /^DELETE \/images\/(.+)$/.exec(route)?.[1];
    if (removed !== undefined) return this.removeImage(removed);
    if (!container) return noSuchContainer;
    switch (route) {
      case 'POST /containers/:id/start':
        return this.start(container);
      case 'GET /containers/:id/json':
        return {
          status: 200,
          body: { State: { Pid: (await container.process?.started) ?? 0 }, SizeRw: this.writtenBytes },
        };
      case 'POST /containers/:id/wait':
        if (query.get('condition') === 'removed') await container.removed;
        return { status: 200, body: { StatusCode: (await container.process?.ended)?.[0] ?? 137 } };
      case 'DELETE /containers/:id':
        await this.remove(container);
        return { status: 204 };
      default:
        return failed(404, `page not found: ${route}`);
    }
  }

  /** In the words of a real engine. Undefined where it answers. */
  private refusedVersion({ url = '/' }: IncomingMessage): string | undefined {
    this.asked.push(url);
    const version = /^\/v(1\.\d+)\//.exec(url)?.[1];
    if (version === undefined) return undefined;
    const { oldest, newest } = this.versions;
    const minor = (one: string) => Number(one.split('.')[1]);
    if (minor(version) < minor(oldest)) {
      return `client version ${version} is too old. Minimum supported API version is ${oldest}, please upgrade your client to a newer version`;
    }
    if (minor(version) > minor(newest)) {
      return `client version ${version} is too new. Maximum supported API version is ${newest}`;
    }
    return undefined;
  }

  private pull(query: URLSearchParams): Answer {
    const [name, version] = [query.get('fromImage'), query.get('tag') ?? ''];
    const image = `${name}${version.startsWith('sha256:') ? '@' : ':'}${version}`;
    this.pulled.push(image);
    const found = this.registry.get(image);
    if (!found) return failed(404, `pull access denied for ${name}, repository does not exist`);
    if (found.error === undefined) this.images.add(image);
    return { status: 200, stream: [{ status: `Pulling from ${name}`, id: version }, found] };
  }

  private removeImage(id: string): Answer {
    for (const name of this.images) if (toImageId(name) === id) this.images.delete(name);
    return { status: 200, body: [] };
  }

  private listImages(_filters: object) {
    return [...this.images]
      .filter((name) => name.startsWith('localhost/rondo-packages:'))
      .map((name, place) => ({ Id: toImageId(name), Created: place }));
  }

  private findImage(nameOrId: string): Answer {
    const name = [...this.images].find((image) => [image, toImageId(image)].includes(nameOrId));
    return name === undefined
      ? failed(404, `No such image: ${nameOrId}`)
      : { status: 200, body: { Id: toImageId(name) } };
  }

  private create(name: string, given: unknown): Answer {
    const parsed = containerRequest.safeParse(given);
    if (!parsed.success) return failed(400, parsed.error.message);
    const { data: request } = parsed;
    if (!request.HostConfig.ReadonlyRootfs && !isInstallation(request)) return failed(400, 'not a sandbox');
    if (![...this.images].some((image) => [image, toImageId(image)].includes(request.Image)))
      return failed(404, `No such image: ${request.Image}`);
    if (request.HostConfig.NanoCpus > this.about.NCPU * 1e9)
      return failed(
        400,
        `range of CPUs is from 0.01 to ${this.about.NCPU}.00, as there are only ${this.about.NCPU} CPUs available`,
      );
    if (this.find(name)) return failed(409, `Conflict. The container name "/${name}" is already in use.`);
    this.created.push(request);
    const id = randomBytes(32).toString('hex');
    let reportRemoved = (): void => undefined;
    const removed = new Promise<void>((resolve) => (reportRemoved = resolve));
    this.containers.set(id, { id, name, request, removed, reportRemoved });
    return { status: 201, body: { Id: id, Warnings: [] } };
  }

  private start(container: Container): Answer {
    container.process = new ContainerProcess(container.request, this.installation);
    if (container.connection) container.process.join(container.connection);
    if (container.request.HostConfig.AutoRemove) void container.process.ended.then(() => this.remove(container));
    return { status: 204 };
  }

  private list(query: URLSearchParams): Answer {
    const { label = [] } = JSON.parse(query.get('filters') ?? '{}') as { label?: string[] }; // as the provider sends it
    const isWanted = ({ request }: Container) =>
      label.every((pair) => Object.entries(request.Labels).some(([name, value]) => `${name}=${value}` === pair));
    return {
      status: 200,
      body: [...this.containers.values()]
        .filter(isWanted)
        .map(({ id, request }) => ({ Id: id, Labels: request.Labels })),
    };
  }

  private async remove(container: Container): Promise<void> {
    await container.process?.kill();
    this.containers.delete(container.id);
    const { connection } = container;
    connection?.end(() => connection.destroy());
    container.reportRemoved();
  }

  private attach(request: IncomingMessage, connection: Duplex): void {
    const { container } = this.read(request);
    if (!container) {
      const { message } = { message: 'No such container' };
      connection.end(`HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n${JSON.stringify({ message })}`);
      return;
    }
    const type = 'Content-Type: application/vnd.docker.multiplexed-stream';
    connection.write(`HTTP/1.1 101 UPGRADED\r\n${type}\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n`);
    container.connection = connection;
  }

  private read(request: IncomingMessage) {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://engine');
    const path = pathname.replace(/^\/v1\.\d+/, '');
    const name = /^\/containers\/([^/]+)/.exec(path)?.[1] ?? '';
    const container = this.find(name);
    const isCollection = name === '' || ((name === 'create' || name === 'json') && path.split('/').length === 3);
    return { route: `${request.method} ${isCollection ? path : path.replace(name, ':id')}`, container, query };
  }

  private find(idOrName: string): Container | undefined {
    return this.containers.get(idOrName) ?? [...this.containers.values()].find(({ name }) => name === idOrName);
  }
}
