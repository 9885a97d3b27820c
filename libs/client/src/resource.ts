import type { ApiRequest, Transport } from './transport.ts';

export interface Options {
  readonly signal?: AbortSignal | undefined;
}

/** What the client asks of its own requests, beside options. */
export interface PatientOptions extends Options {
  /** How often the request is sent again, in place of what the client has. */
  readonly retries?: number | undefined;
}

export interface CreateOptions extends Options {
  /** The same request with the same key, within 24 hours, starts nothing and gets the first answer. Default: a new key. */
  readonly idempotencyKey?: string;
  /** Are uploaded with the request. The key then stands for their names and bytes. */
  readonly attachments?: readonly File[];
}

/** What the compiler knows of a route. `params` are those of its path, in order. */
interface RouteTypes {
  readonly params: readonly (string | number)[];
  readonly query?: object;
  readonly body?: unknown;
  readonly answer: unknown;
}

/** A route of the API, as `generated/routes.ts` lists them. */
export interface Route<Types extends RouteTypes = RouteTypes> {
  /** Absent: GET. */
  readonly method?: ApiRequest['method'];
  /** For example `/v1/agents/{}/versions/{}`. */
  readonly path: string;
  /** What a call has after the parameters of the path. */
  readonly takes?: 'query' | 'body' | 'query and body';
  /** Absent: JSON. */
  readonly answers?: 'bytes' | 'nothing';
  /** False: a second request would make another secret. */
  readonly repeatable?: false;
  /** Never there; it carries the types. */
  readonly types?: Types;
}

/** A query whose parameters may be left out also takes `undefined` for them. */
type Given<Query> = Partial<Query> extends Query ? { readonly [Name in keyof Query]?: Query[Name] | undefined } : Query;

type Input<Types> = [...QueryInput<Types>, ...BodyInput<Types>];

type QueryInput<Types> = Types extends { readonly query: infer Query }
  ? Partial<Query> extends Query
    ? [query?: Given<Query>]
    : [query: Query]
  : [];

type BodyInput<Types> = Types extends { readonly body: infer Body }
  ? Partial<Body> extends Body
    ? [body?: Body]
    : [body: Body]
  : [];

/** Sends one request: the parameters of the path, then the query, then the body, then options. */
type Method<Types extends RouteTypes> = (
  ...given: [...Types['params'], ...Input<Types>, options?: Options]
) => Promise<Types['answer']>;

/** The query of a list. The cursor is the client's own affair. */
export type ListQuery<Query> = { readonly [Name in keyof Query as Exclude<Name, 'after'>]?: Query[Name] | undefined };

interface Page {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

type Item<Answer> = Answer extends { readonly data: readonly (infer One)[] } ? One : never;

/** All items of a list, read page by page as they are needed. */
type List<Types extends RouteTypes> = (
  ...given: [...Types['params'], query?: ListQuery<Types['query']>, options?: Options]
) => AsyncGenerator<Item<Types['answer']>, void>;

/** What the methods of the client are made of: each is a route, or a few lines around one. */
export class Resource {
  constructor(protected readonly transport: Transport) {}

  protected send<Types extends RouteTypes>(route: Route<Types>): Method<Types> {
    const send = async (...given: readonly unknown[]): Promise<unknown> => {
      const request = toRequest(route, given);
      if (route.answers === undefined) return this.transport.json(request);
      const response = await this.transport.send(request);
      return route.answers === 'bytes' ? response : undefined;
    };
    return send; // as the gateway's own tests hold it to its documents
  }

  protected pages<Types extends RouteTypes>(route: Route<Types>): List<Types> {
    const { transport } = this;
    async function* list(...given: readonly unknown[]): AsyncGenerator<unknown, void> {
      const request = toRequest(route, given);
      let after: string | undefined;
      do {
        const page: Page = await transport.json({ ...request, query: { ...request.query, after } });
        yield* page.data;
        after = page.next_cursor ?? undefined;
      } while (after !== undefined);
    }
    return list as List<Types>; // as above
  }
}

/** The request of a route, from the arguments of its method. */
export function toRequest({ method, path, takes, repeatable }: Route, given: readonly unknown[] = []): ApiRequest {
  const rest = [...given];
  const filled = path.replaceAll('{}', () => toSegment(rest.shift()));
  const query = takes?.startsWith('query') && { query: (rest.shift() ?? {}) as NonNullable<ApiRequest['query']> };
  const body = takes?.endsWith('body') && { json: rest.shift() ?? {} };
  const { signal, retries } = (rest.shift() ?? {}) as PatientOptions;
  return { method, path: filled, repeatable: repeatable ?? true, ...query, ...body, signal, retries };
}

/** Without a text, or with one that means a folder, the path would be that of another route: a list, for example. */
function toSegment(given: unknown): string {
  const text = String(given);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`"${text}" is no id and no name.`);
  return encodeURIComponent(text);
}

/** The first `count` items, and whether there are more. */
export async function take<Item>(
  items: AsyncIterable<Item>,
  count: number,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const taken: Item[] = [];
  for await (const item of items) {
    if (taken.length === count) return { items: taken, hasMore: true };
    taken.push(item);
  }
  return { items: taken, hasMore: false };
}
