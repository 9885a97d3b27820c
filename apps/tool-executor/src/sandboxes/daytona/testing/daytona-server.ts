import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { ControlPlane } from './control-plane';
import { DaytonaFaults } from './daytona-faults';
import { answerTo, failed } from './daytona-routes';
import { serveTerminal } from './test-terminal';

const terminalRoute = 'GET /toolbox/:id/process/pty/create-connect';

/**
 * As much of Daytona as the provider uses, over HTTP as the real SDK speaks it: the control plane below `/api`, and the toolbox
 * of each sandbox below `/toolbox/<id>`. Commands really run. Faults can be planned for any route.
 */
export class DaytonaServer {
  readonly apiKey = 'dtn_secret_of_this_spec';
  readonly faults = new DaytonaFaults();
  /** Every request by its route. */
  readonly requests: string[] = [];

  private constructor(
    private readonly server: Server,
    private readonly root: string,
    readonly control: ControlPlane,
  ) {
    server.on('request', (request, response) => void this.serve(request, response));
    server.on('upgrade', (request, connection) => this.connect(request, connection));
  }

  static async start(): Promise<DaytonaServer> {
    const root = await mkdtemp(join(tmpdir(), 'daytona-spec-'));
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DaytonaServer(server, root, new ControlPlane(root, `${toOrigin(server)}/toolbox`));
  }

  get apiUrl(): string {
    return `${toOrigin(this.server)}/api`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await this.control.close();
    await rm(this.root, { recursive: true, force: true });
  }

  private connect(request: IncomingMessage, connection: Duplex): void {
    const { route, id, query, isKnown } = this.read(request);
    this.requests.push(route);
    const terminal = query.get('id');
    const machine = this.control.findMachine(id);
    if (!isKnown || !machine || terminal === null || route !== terminalRoute) connection.destroy();
    else serveTerminal(machine, { id: terminal, request, connection });
  }

  private read(request: IncomingMessage) {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.apiUrl);
    const id = /[0-9a-f-]{36}/.exec(pathname)?.[0] ?? '';
    const route = `${request.method} ${pathname.replace(id === '' ? /$^/ : id, ':id')}`;
    return { route, id, query, isKnown: request.headers.authorization === `Bearer ${this.apiKey}` };
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { route, id, query, isKnown } = this.read(request);
    this.requests.push(route);
    const body = await buffer(request);
    const fault = this.faults.take(route);
    if (fault?.reset) return void request.socket.destroy();
    if (fault?.delayMs !== undefined) await delay(fault.delayMs);
    await fault?.until;
    const refused = fault?.status ?? (isKnown ? undefined : 401);
    const asked = { route, id, query, body, contentType: request.headers['content-type'] ?? '' };
    const answer = refused === undefined ? await answerTo(asked, this.control) : failed(refused, 'refused');
    if (fault?.loseAnswer) return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  }
}

function toOrigin(server: Server): string {
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
  return `http://127.0.0.1:${port}`;
}
