import { apiRoutes } from '@rondo/contract/api';
import { Resource } from './resource.ts';
import { Rondo } from './rondo.ts';

/** Of every route: `createRun`, and how a request to it begins, for example `POST /v1/runs`. */
const routes = Object.entries(apiRoutes).map(([id, { method, path }]) => ({
  id,
  pattern: new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  params: path.split('{').length - 1,
}));

/** Those of a request; a literal path counts more than a parameter. */
const toRoute = (request: string): string | undefined =>
  routes.filter(({ pattern }) => pattern.test(request)).sort((one, other) => one.params - other.params)[0]?.id;

/** Routes without a method of their own. */
const withoutMethod: readonly string[] = [
  // For machines that watch a gateway, other services, and a browser that opens a link.
  ...['getLiveness', 'getMetrics', 'getReadiness', 'receiveWebhook', 'redeemSessionLink'],
  ...['showMcpConnect', 'continueMcpConnect', 'finishMcpConnect', 'getMcpClientMetadata'],
  // What is shared is read without a key, by pages that know nothing else of an account.
  ...['getPublicImage', 'getPublicProject', 'getPublicRun', 'getPublicThread'],
  ...['listPublicLlmMessages', 'listPublicMessages', 'listPublicThreads'],
  // Its method takes files.
  'createSkill',
  // Other methods have the same: `runs.create`, `agents.versions`, `mcp.tools`.
  ...['createRunOnThread', 'getAgentVersion', 'getMcpTool'],
];

/** Answers everything so that methods with several requests get to their last one. */
const answer = { id: 'x', status: 'completed', data: [], next_cursor: null, head_seq: 0, last_seq: 0 };

/** A client that calls each of its methods once, and writes down what they send. */
class CalledClient {
  readonly requests = new Set<string>();

  async callAll(): Promise<void> {
    const client = new Rondo({ baseUrl: 'http://gateway', retries: 0, fetch: (...sent) => this.answer(...sent) });
    for (const resource of [client, ...Object.values(client)] as object[]) {
      if (!(resource instanceof Resource)) continue;
      for (const method of readMethods(resource)) await this.call(resource, method);
    }
  }

  private async call(resource: object, method: CalledMethod): Promise<void> {
    try {
      const returned: unknown = await method.call(resource, 'x', 'x');
      if (isIterable(returned)) await returned.next();
    } catch {
      // what it makes of such an answer is tested elsewhere
    }
  }

  private answer(...sent: Parameters<typeof fetch>): Promise<Response> {
    const { method, url, headers } = new Request(...sent);
    this.requests.add(`${method} ${new URL(url).pathname}`);
    const isStream = headers.get('Accept') === 'text/event-stream';
    return Promise.resolve(
      Response.json(isStream ? { code: 'x', status: 404, title: 'x' } : answer, { status: isStream ? 404 : 200 }),
    );
  }
}

const isIterable = (value: unknown): value is AsyncGenerator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

type CalledMethod = (...given: string[]) => unknown;

/** Methods of its class, and those that are made from routes. */
function readMethods(resource: object): CalledMethod[] {
  const described = [resource, Object.getPrototypeOf(resource) as object].flatMap((owner) =>
    Object.entries(Object.getOwnPropertyDescriptors(owner)),
  );
  return described.flatMap(([name, { value }]: [string, PropertyDescriptor]) =>
    name !== 'constructor' && typeof value === 'function' ? [value as CalledMethod] : [],
  );
}

describe('the client', () => {
  const called = new CalledClient();
  beforeAll(() => called.callAll());

  it('sends nothing that is no route', () => {
    expect([...called.requests].filter((request) => toRoute(request) === undefined)).toEqual([]);
  });

  it('has a method for every route but these', () => {
    const reached = new Set([...called.requests].map(toRoute));
    const missing = routes.map(({ id }) => id).filter((id) => !reached.has(id));
    expect(missing.sort()).toEqual([...withoutMethod].sort());
  });
});
