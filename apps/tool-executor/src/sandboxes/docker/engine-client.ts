import { readJson } from '@rondo/contract';
import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { toMessage } from '@rondo/platform';
import type { HostSize } from '../provider/sandbox-shape';

/** The newest version of the API that these calls were tried with. Docker 20.10 has 1.41, as has Podman's service. */
const newestKnown = '1.51';
const requestTimeoutMs = 60_000;
const askAgainMs = 1_000;
/** While it unpacks what it has pulled. */
const longestSilenceMs = 600_000;

interface Sent {
  readonly body?: object;
  /** Zero: as long as the engine takes. */
  readonly timeoutMs?: number;
  /** Of lines, each of which is JSON. */
  readonly isStream?: true;
}

const versions = z.object({
  ApiVersion: z.string().regex(/^\d+\.\d+$/),
  MinAPIVersion: z
    .string()
    .regex(/^\d+\.\d+$/)
    .optional(),
});
const created = z.object({ Id: z.string().min(1) });
const inspected = z.object({ State: z.object({ Pid: z.number().int().nonnegative() }) });
const listed = z.array(created);
const hosted = z.number().positive().catch(Infinity);
const about = z.object({
  MemoryLimit: z.boolean().default(false),
  CpuCfsQuota: z.boolean().default(false),
  NCPU: hosted,
  MemTotal: hosted,
});
const refused = z.object({ message: z.string() });
const listedImages = z.array(created.extend({ Created: z.number() }));
const measured = z.object({ SizeRw: z.number().default(0) });
const ended = z.object({ StatusCode: z.number().int() });
/** A line of what is said about a pull. */
const pulling = z.object({ error: z.string().optional() });

/** What the engine answered instead of doing it. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';

  constructor(
    message: string,
    /** Missing where there was no answer. */
    readonly status?: number,
  ) {
    super(message);
  }
}

/** The calls of Docker's Engine API that sandboxes need. Node's own client reaches a unix socket, so this needs no library. */
export class EngineClient {
  private version: Promise<string> | undefined;

  constructor(private readonly socketPath: string) {}

  async ping(): Promise<void> {
    await this.ask('GET', '/_ping');
  }

  /** The id of an image. Undefined where it has none of the name. */
  async findImage(name: string): Promise<string | undefined> {
    try {
      return created.parse(await this.ask('GET', `/images/${name}/json`)).Id;
    } catch (error) {
      if (error instanceof EngineFailure && error.status === 404) return undefined;
      throw error;
    }
  }

  /** `version`: a tag or a digest. What goes wrong while it is pulled is said in the answer, whose status is a good one. */
  async pull(name: string, version: string): Promise<void> {
    const query = new URLSearchParams({ fromImage: name, tag: version });
    const said = await this.ask('POST', `/images/create?${query.toString()}`, {
      isStream: true,
      timeoutMs: longestSilenceMs,
    });
    const problem = z
      .string()
      .parse(said)
      .split('\n')
      .map((line) => pulling.safeParse(readJson(line)).data?.error)
      .find((error) => error !== undefined);
    if (problem !== undefined) throw new EngineFailure(problem, 200);
  }

  /** An image of a container that has ended, with the label. */
  async commit(
    container: string,
    { repository, tag, label }: { readonly repository: string; readonly tag: string; readonly label: string },
  ): Promise<void> {
    const [name = '', value = ''] = label.split('=');
    const changes = `LABEL ${name}="${value}"`;
    const query = new URLSearchParams({ container, repo: repository, tag, changes });
    await this.ask('POST', `/commit?${query.toString()}`, { body: {}, timeoutMs: longestSilenceMs });
  }

  async listImages(label: string): Promise<{ readonly id: string; readonly created: number }[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
    const images = listedImages.parse(await this.ask('GET', `/images/json?filters=${filters}`));
    return images.map(({ Id: id, Created: made }) => ({ id, created: made }));
  }

  async removeImage(id: string): Promise<void> {
    await this.ask('DELETE', `/images/${id}`);
  }

  /** What a container has written to its root. */
  async measureWritten(id: string): Promise<number> {
    return measured.parse(await this.ask('GET', `/containers/${id}/json?size=true`)).SizeRw;
  }

  /** Its exit code, once it has ended. */
  async untilEnded(id: string): Promise<number> {
    return ended.parse(await this.ask('POST', `/containers/${id}/wait`, { timeoutMs: 0 })).StatusCode;
  }

  /** What it can limit, and what its host has. It only warns of limits that its kernel does not know, and takes no notice of them. */
  async readLimits(): Promise<{ readonly memory: boolean; readonly cpu: boolean; readonly host: HostSize }> {
    const { MemoryLimit, CpuCfsQuota, NCPU, MemTotal } = about.parse(await this.ask('GET', '/info'));
    return { memory: MemoryLimit, cpu: CpuCfsQuota, host: { cpus: NCPU, memoryBytes: MemTotal } };
  }

  /** Fails with status 409 where the name is taken. */
  async create(name: string, container: object): Promise<string> {
    const answer = await this.ask('POST', `/containers/create?name=${encodeURIComponent(name)}`, { body: container });
    return created.parse(answer).Id;
  }

  async start(id: string): Promise<void> {
    await this.ask('POST', `/containers/${id}/start`);
  }

  /** The host's number of the container's first process. */
  async firstPid(id: string): Promise<number> {
    return inspected.parse(await this.ask('GET', `/containers/${id}/json`)).State.Pid;
  }

  async list(label: string): Promise<string[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
    return listed.parse(await this.ask('GET', `/containers/json?all=1&filters=${filters}`)).map(({ Id }) => Id);
  }

  /** Kills everything in the container and deletes it. Resolves when it is gone, also when it was gone before. */
  async remove(idOrName: string): Promise<void> {
    try {
      await this.ask('DELETE', `/containers/${idOrName}?force=1&v=1`);
    } catch (error) {
      if (!(error instanceof EngineFailure) || error.status === undefined || error.status >= 500) throw error;
      if (error.status === 409)
        await this.untilRemoved(idOrName); // It is being deleted already.
      else if (error.status !== 404) throw error;
    }
  }

  /** Resolves when the container is gone, however often the engine restarts meanwhile. */
  async untilRemoved(id: string): Promise<void> {
    for (;;) {
      try {
        await this.ask('POST', `/containers/${id}/wait?condition=removed`, { timeoutMs: 0 });
        return;
      } catch (error) {
        if (error instanceof EngineFailure && error.status === 404) return;
        await delay(askAgainMs, undefined, { ref: false });
      }
    }
  }

  /** The container's standard input and its outputs, framed: a connection that stays open as long as the container. */
  async attach(id: string): Promise<Socket> {
    const path = `/v${await this.agreeOnVersion()}/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
    const outgoing = request({
      ...this.target('POST', path),
      headers: { connection: 'Upgrade', upgrade: 'tcp' },
    });
    outgoing.setTimeout(requestTimeoutMs, () => outgoing.destroy(new Error('the engine does not answer')));
    const upgraded = new Promise<Socket>((resolve, reject) => {
      outgoing.on('error', (error) => reject(new EngineFailure(error.message)));
      outgoing.on('response', (response) => void readFailure(response).then(reject));
      outgoing.on('upgrade', (_, socket: Socket, head) => {
        socket.setTimeout(0);
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
    });
    outgoing.end();
    return upgraded;
  }

  /** An engine that was replaced by another release may refuse the version of the last one: then it is asked again. */
  private async ask(method: string, path: string, sent: Sent = {}): Promise<unknown> {
    const version = await this.agreeOnVersion();
    try {
      return await this.answer(method, `/v${version}${path}`, sent);
    } catch (error) {
      if (!isRefusedVersion(error)) throw error;
      this.version = undefined;
      const next = await this.agreeOnVersion();
      if (next === version) throw error;
      return this.answer(method, `/v${next}${path}`, sent);
    }
  }

  /** The newest version that both sides know; where that is older than what the engine accepts, its oldest. */
  private agreeOnVersion(): Promise<string> {
    this.version ??= this.agree().catch((error: unknown) => {
      this.version = undefined;
      throw error;
    });
    return this.version;
  }

  private async agree(): Promise<string> {
    const engine = versions.parse(await this.answer('GET', '/version'));
    const newest = isOlder(engine.ApiVersion, newestKnown) ? engine.ApiVersion : newestKnown;
    const { MinAPIVersion: oldest = newest } = engine;
    return isOlder(newest, oldest) ? oldest : newest;
  }

  private async answer(method: string, path: string, sent: Sent = {}): Promise<unknown> {
    const response = await this.answerTo(method, path, sent);
    if ((response.statusCode ?? 500) >= 400) throw await readFailure(response);
    const answer = await text(response).catch(() => {
      throw new EngineFailure('the connection to the engine broke');
    });
    if (sent.isStream) return answer;
    return response.headers['content-type']?.startsWith('application/json') && answer !== ''
      ? readJson(answer)
      : undefined;
  }

  private async answerTo(
    method: string,
    path: string,
    { body, timeoutMs = requestTimeoutMs }: Sent,
  ): Promise<IncomingMessage> {
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = content && { 'content-type': 'application/json', 'content-length': content.length };
    const outgoing = request({ ...this.target(method, path), ...(headers && { headers }) });
    outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error('the engine does not answer')));
    outgoing.end(content);
    try {
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's documented event
      return response;
    } catch (error) {
      throw new EngineFailure(toMessage(error));
    }
  }

  private target(method: string, path: string): RequestOptions {
    return { socketPath: this.socketPath, method, path, agent: false };
  }
}

async function readFailure(response: IncomingMessage): Promise<EngineFailure> {
  const answer = await text(response).catch(() => '');
  const known = refused.safeParse(readJson(answer));
  return new EngineFailure(known.success ? known.data.message : `status ${response.statusCode}`, response.statusCode);
}

/** Nothing answered, or what answered is only starting or ending. */
export const isAway = (error: unknown): boolean =>
  error instanceof EngineFailure && (error.status === undefined || error.status === 503);

/** As the engines say it: "client version 1.41 is too old. Minimum supported API version is 1.44". */
const isRefusedVersion = (error: unknown): boolean =>
  error instanceof EngineFailure &&
  error.status === 400 &&
  /client version [\d.]+ is too (old|new)/.test(error.message);

const isOlder = (version: string, other: string): boolean => version.localeCompare(other, 'en', { numeric: true }) < 0;
