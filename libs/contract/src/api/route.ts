import type { z } from 'zod';
import type { ClientScope } from '../client-scope';
import type { PathParam, PathParams } from './path-params';
import type { ProblemCode } from './problem-codes';

/**
 * A route as data. The gateway binds a handler to it, and the API documents, the client's table of routes and the tests over all
 * routes are made from it. What every route has follows from its fields and is never written down: the problems of keys, rates,
 * bodies, cursors and idempotency keys, and those of the ids in its path.
 */
export interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** For example `/v1/schedules/{schedule_id}`; the parameters are those of `pathParams`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  /** Absent: reading needs the scope `read`, everything else `write`. */
  readonly role?: Role;
  /** What a client token must be allowed to call it. Absent: it is closed to them. */
  readonly client?: ClientScope;
  /** Parameters of the path that mean something else here than in `pathParams`, or only something here. */
  readonly params?: Readonly<Record<string, PathParam>>;
  /** Absent: any query is refused. */
  readonly query?: z.ZodObject;
  /** Headers of the request that mean something here. */
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
  /** JSON. A missing body is an empty object. */
  readonly body?: z.ZodType;
  /** The body may also be a form with files and this text of the body; `body` then describes its other fields. */
  readonly form?: FormText;
  /** The names of other texts of that form, which are fields of the body, too. */
  readonly formFields?: readonly string[];
  /** A body that the handler reads itself, as OpenAPI describes its content. */
  readonly rawBody?: Readonly<Record<string, RawContent>>;
  /** By status. A handler of a route with several says which one its answer has. */
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /** Those that do not follow from the other fields. */
  readonly problems?: readonly ProblemCode[];
  /** `noun.verb`: each request is recorded in the audit log of the caller's account. */
  readonly audit?: `${string}.${string}`;
  /**
   * A POST takes `Idempotency-Key`, and its answer is stored and sent again, unless this is false: the answer has a new secret or
   * a picture of what a person typed, or the handler writes it itself. Then only what was made is stored, and a repeated request
   * is refused with `idempotency_key_used`.
   */
  readonly storesAnswer?: false;
  /** The body has a secret that a person may have chosen: it must not be found by trying what has the stored hash. */
  readonly hasSecretBody?: true;
  /** A POST that reads: it may be repeated without a key. */
  readonly onlyReads?: true;
  /** Values for the parameters of the query without which a request is refused. */
  readonly queryExample?: Readonly<Record<string, string | number>>;
}

/**
 * Who may call a route. `open`: everyone, without a key. `reader`: every caller, also for what is not a read. `account-admin`:
 * admins of the caller's account. `operator`: admins of the account that operates this deployment.
 */
export type Role = 'open' | 'reader' | 'account-admin' | 'operator';

/** A text that a form may have as a field of its own. */
export type FormText = 'input' | 'content' | 'prompt' | 'name';

/** The most files of a form, and those that one message of a run may have. */
export const mostFiles = 20;

interface RawContent {
  readonly schema: object;
  readonly examples?: Record<string, { readonly value: unknown }>;
}

export interface HeaderDescription {
  readonly description: string;
  readonly example?: string;
}

/** What a route answers: JSON, bytes, a stream of events, or, where none of these is given, nothing. */
export interface AnswerDefinition {
  readonly description?: string;
  /** Fields that the schema does not have are not sent. */
  readonly body?: z.ZodType;
  /**
   * The body is sent as the handler returns it: it was parsed when it was read or stored and is too long to be parsed again, or
   * an earlier release may have stored a value that this one accepts from no request.
   */
  readonly isParsed?: false;
  /** Where a request prefers `text/csv`, the handler returns the rows as that text, for example this one. */
  readonly csv?: string;
  /** Media types of bytes. */
  readonly bytes?: readonly string[];
  /** Server-sent events, each with this as its data. The handler writes them itself. */
  readonly events?: z.ZodType;
  /** The header `Location`, whose `{id}` is a field of the body, and `{account.id}` one of a field of it. */
  readonly location?: `/${string}`;
  /** Other headers, which the handler sets. */
  readonly headers?: readonly string[];
}

/** A route with its operation id, by which clients call it, and the section of the document that it is in. */
export type Route<Definition extends RouteDefinition = RouteDefinition> = Definition & {
  readonly id: string;
  readonly tag: string;
};

/** Whether a route takes `Idempotency-Key`. */
export const isIdempotent = ({ method, role, onlyReads }: RouteDefinition): boolean =>
  method === 'POST' && onlyReads !== true && role !== 'open';

/** The routes of one resource. The names become their operation ids. */
export function defineRoutes<const Definitions extends Readonly<Record<string, RouteDefinition>>>(
  tag: string,
  definitions: Definitions,
): { readonly [Id in keyof Definitions]: Route<Definitions[Id]> } {
  const routes = Object.entries(definitions).map(([id, definition]) => [id, { ...definition, id, tag }]);
  return Object.fromEntries(routes) as { [Id in keyof Definitions]: Route<Definitions[Id]> }; // by the same names
}

/**
 * The schemas of one resource by the names that they have in the API documents and in generated clients. A field with a default
 * is optional in a request and there in an answer; what has none may be shared by both.
 */
export interface ApiSchemas {
  readonly shared?: Readonly<Record<string, z.ZodType>>;
  readonly requests?: Readonly<Record<string, z.ZodType>>;
  readonly answers?: Readonly<Record<string, z.ZodType>>;
  /** By the names of schemas. An example of a list follows from that of its items. */
  readonly examples?: Readonly<Record<string, unknown>>;
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

type OwnParams<Definition> = Definition extends { params: infer Own } ? Own : object;

type Param<Definition, Name> = Name extends keyof OwnParams<Definition>
  ? OwnParams<Definition>[Name]
  : Name extends keyof PathParams
    ? PathParams[Name]
    : never;

type PropertyName<Given> = Given extends { property: infer Property extends string } ? Property : never;
type ParamValue<Given> = Given extends { schema: infer Schema extends z.ZodType } ? z.output<Schema> : never;

/** The parameters of the path, under the names of their properties. */
export type RouteParams<Definition extends RouteDefinition> = {
  readonly [Name in ParamName<Definition['path']> as PropertyName<Param<Definition, Name>>]: ParamValue<
    Param<Definition, Name>
  >;
};

export type RouteQuery<Definition> = Definition extends { query: infer Query extends z.ZodType }
  ? z.output<Query>
  : object;

export type RouteBody<Definition> = Definition extends { body: infer Body extends z.ZodType }
  ? z.output<Body>
  : undefined;
