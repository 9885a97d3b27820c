import {
  type ArgumentsHost,
  HttpCode,
  RequestMapping,
  RequestMethod,
  Res,
  type StreamableFile,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import type { AccountId } from '@rondo/contract';
import {
  type AnswerDefinition,
  type Route as RouteData,
  type RouteBody,
  type RouteDefinition,
  type RouteParams,
  type RouteQuery,
  readParams,
} from '@rondo/contract/api';
import type { Caller, PendingKey, StoredResponse } from '@rondo/persistence';
import type { Response } from 'express';
import { z } from 'zod';
import { AuditInterceptor } from './audit.interceptor';
import type { ApiRequest } from '../auth/api-request';
import { ApiError, InvalidRequest, refuseUnauthorized } from '../problems/api-error';
import { parseInput } from './parse-input';
import { RouteMetadata } from './route-metadata';

/** What a handler gets: the request as its route describes it, parsed. */
export type RouteInput<Definition extends RouteDefinition> = {
  /** The ids of the path, with the account of the caller. */
  readonly address: RouteParams<Definition> & ByCaller<Definition, { readonly accountId: AccountId }>;
  readonly query: RouteQuery<Definition>;
  readonly body: RouteBody<Definition>;
  /** To be stored with what the handler creates, in one transaction. Undefined for a request without an idempotency key. */
  readonly promised: PendingKey<RouteAnswer<Definition>> | undefined;
  readonly request: ApiRequest;
  readonly response: Response;
} & ByCaller<Definition, { readonly caller: Caller }>;

type ByCaller<Definition, Known> = Definition extends { role: 'open' } ? unknown : Known;

/** The bodies that a handler may return: readonly, and with fields that the route does not show. */
type Shown<Body> = unknown extends Body
  ? unknown
  : Body extends string | number | boolean | null | undefined
    ? Body
    : Body extends readonly (infer Item)[]
      ? readonly Shown<Item>[]
      : { readonly [Name in keyof Body]: Shown<Body[Name]> };

type Answer<Given> = Given extends { body: infer Body extends z.ZodType }
  ? Shown<z.input<Body>> | (Given extends { csv: string } ? string : never)
  : Given extends { bytes: readonly string[] }
    ? StreamableFile
    : unknown; // it is not sent

/** The answer of any status, as it is stored and sent. */
export type RouteAnswer<Definition extends RouteDefinition> = {
  [Status in keyof Definition['answers']]: Answer<Definition['answers'][Status]>;
}[keyof Definition['answers']];

/** An answer of a route that has several statuses. */
export interface Reply<Status, Body> {
  readonly status: Status;
  readonly body: Body;
}

type IsUnion<Given, All = Given> = Given extends Given ? ([All] extends [Given] ? false : true) : never;

/** What a handler returns: the answer, and its status where the route has several. */
type Returned<Definition extends RouteDefinition> = [WrittenAnswer<Definition>] extends [never]
  ? IsUnion<keyof Definition['answers']> extends true
    ? {
        [Status in keyof Definition['answers']]: Reply<Status, Answer<Definition['answers'][Status]>>;
      }[keyof Definition['answers']]
    : RouteAnswer<Definition>
  : unknown;

/** An answer that the handler writes itself, wholly or in part. */
type WrittenAnswer<Definition extends RouteDefinition> = Extract<
  Definition['answers'][keyof Definition['answers']],
  { events: z.ZodType } | { headers: readonly string[] }
>;

type RouteHandler<Definition extends RouteDefinition> = (
  input: RouteInput<Definition>,
) => Returned<Definition> | Promise<Returned<Definition>>;

/** Schemas with the checks that the contract cannot make, for example of a cron expression. They accept no more than the route's. */
interface StricterSchemas {
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
}

/**
 * Binds a handler to a route: its method, path, status, role, audit and idempotency follow from the route, the handler gets the
 * parsed request, and its answer passes the schema of the route.
 */
export function Route<Definition extends RouteDefinition>(
  route: RouteData<Definition>,
  stricter: StricterSchemas = {},
) {
  return <Handler extends RouteHandler<Definition>>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Handler>,
  ): void => {
    const handle: ((input: never) => unknown) | undefined = descriptor.value;
    if (!handle) throw new Error(`${key} is not a method`);
    const [reader, writer] = [new RequestReader(route, stricter), new AnswerWriter(route)];
    const respond = async function (this: unknown, { request, response }: Exchange): Promise<unknown> {
      const input = { ...reader.read(request), promised: writer.promise(request), request, response };
      const answer = writer.read(await handle.call(this, input as never)); // as its type says
      await request.storeAnswer?.(answer);
      return writer.send(response, answer);
    };
    descriptor.value = respond as unknown as Handler; // Nest calls it, and nothing else does
    GetExchange()(target, key, 0);
    if (writer.isStream) Res()(target, key, 1); // then Nest leaves the response to the handler
    applyDecorators(
      RequestMapping({
        method: RequestMethod[route.method],
        path: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      }),
      HttpCode(writer.status),
      RouteMetadata(route),
      ...(route.audit === undefined ? [] : [UseInterceptors(AuditInterceptor)]),
    )(target, key, descriptor);
  };
}

interface Exchange {
  readonly request: ApiRequest;
  readonly response: Response;
}

const GetExchange = createParamDecorator((_: unknown, context: ArgumentsHost): Exchange => {
  const http = context.switchToHttp();
  return { request: http.getRequest<ApiRequest>(), response: http.getResponse<Response>() };
});

const noQuery = z.strictObject({});
const noFields = z.strictObject({});

/** Whether a field of the body would be left unread without a word. */
const readsNoFields = ({ method, path, rawBody }: RouteData): boolean =>
  method === 'POST' && path.startsWith('/v1/') && !rawBody;

/** Reads what a request to one route says. */
class RequestReader {
  private readonly params: ReturnType<typeof readParams>;
  private readonly query: z.ZodType;
  private readonly body: z.ZodType | undefined;

  constructor(
    private readonly route: RouteData,
    stricter: StricterSchemas,
  ) {
    this.params = readParams(route.path, route.params);
    this.query = stricter.query ?? route.query ?? noQuery;
    this.body = stricter.body ?? route.body ?? (readsNoFields(route) ? noFields : undefined);
  }

  /** Throws the problem of an id that cannot exist, and InvalidRequest with the fields that are not valid. */
  read(request: ApiRequest) {
    const { caller } = request;
    if (!caller && this.route.role !== 'open') throw refuseUnauthorized('This needs an API key.');
    const address = { ...this.readAddress(request), ...(caller && { accountId: caller.accountId }) };
    refuseUnreadableCursor(this.route, request.query);
    refuseEmptyValues(request.query);
    const query = parseInput(this.query, request.query);
    const { body = {} } = request as { body?: unknown };
    return { caller, address, query, body: this.body && parseInput(this.body, body) };
  }

  private readAddress({ params }: ApiRequest): Record<string, unknown> {
    return Object.fromEntries(
      this.params.map(([name, { schema, property, unknown }]) => {
        const text = params[name] ?? '';
        if (!unknown) return [property, parseInput(z.object({ [name]: schema }), { [name]: text })[name]];
        const parsed = schema.safeParse(text);
        if (!parsed.success) throw new ApiError(unknown.code, `There is no ${unknown.noun} ${String(text)}.`);
        return [property, parsed.data];
      }),
    );
  }
}

/** A cursor that is empty, or a word where a number is expected, is not an invalid value: it cannot be read at all. */
function refuseUnreadableCursor({ query }: RouteData, { after }: { readonly after?: unknown }): void {
  const schema = query?.shape['after'] as z.ZodType | undefined; // shapes are of schemas
  if (typeof after !== 'string' || !schema) return;
  const { error } = z.safeParse(schema, after);
  if (after !== '' && !error?.issues.some(({ code }) => code === 'invalid_type')) return;
  throw new ApiError('invalid_cursor', 'after: this is not a cursor of this list.');
}

/** `?timeout_s=` has no value, and would be coerced to 0. */
function refuseEmptyValues(query: object): void {
  const empty = Object.entries(query).filter(([, value]) => value === '');
  if (empty.length === 0) return;
  throw new InvalidRequest(empty.map(([field]) => ({ field, message: 'must not be empty' })));
}

/** Sends what the handler of one route returns. */
class AnswerWriter {
  /** Of an answer that does not say its own. */
  readonly status: number;
  readonly isStream: boolean;

  constructor(private readonly route: RouteData) {
    const answers = Object.entries(route.answers);
    this.status = Number(answers[0]?.[0]);
    this.isStream = answers.some(([, { events }]) => events !== undefined);
  }

  promise({ idempotent }: ApiRequest): PendingKey<unknown> | undefined {
    const { status } = this;
    return idempotent && { request: idempotent, answer: (created) => ({ status, ...this.show(created, status) }) };
  }

  /** What a handler has returned, as it is sent. */
  read(returned: unknown): StoredResponse {
    if (this.isStream) return { status: this.status, body: returned, location: null };
    const reply = Object.keys(this.route.answers).length > 1 ? (returned as Reply<number, unknown>) : undefined; // as its type says
    const status = reply?.status ?? this.status;
    return { status, ...this.show(reply ? reply.body : returned, status) };
  }

  /** Returns the body to send. */
  send(response: Response, { status, body, location }: StoredResponse): unknown {
    if (this.isStream) return body;
    response.status(status);
    if (location !== null) response.location(location);
    return body;
  }

  private show(returned: unknown, status: number): { body: unknown; location: string | null } {
    const answer: AnswerDefinition = this.route.answers[status] ?? {};
    if (answer.bytes) return { body: returned, location: null };
    const body = answer.body && (answer.isParsed === false ? returned : this.parse(answer.body, returned));
    return { body, location: answer.location === undefined ? null : fillIn(answer.location, body) };
  }

  private parse(schema: z.ZodType, returned: unknown): unknown {
    const { data, error } = schema.safeParse(returned);
    if (error) throw new Error(`${this.route.id} does not answer what its route says`, { cause: error });
    return data;
  }
}

/** `{account.id}` is the id in the field `account` of the body. */
const fillIn = (location: string, body: unknown): string =>
  location.replace(/\{([\w.]+)\}/, (_, path: string) => {
    const inner = path.split('.').reduce<unknown>((part, name) => z.looseObject({}).parse(part)[name], body);
    return z.string().parse(inner);
  });
