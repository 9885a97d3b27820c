import { z } from 'zod';
import { argumentsJsonSchema } from './arguments-schema';
import { type ConnectionOwner, connectionOwner } from './mcp-connection';
import { textLimits } from './text-limits';
import { effectClass } from './tool-call';
import type { AccountId } from './ids';

/** Without two underscores in a row and none at its ends, so that `server__tool` names one tool of one server. */
export const mcpServerName = z
  .string()
  .max(24)
  .regex(
    /^[a-z0-9]+([_-][a-z0-9]+)*$/,
    'lower-case letters and digits, with single dashes or underscores between them',
  );

export const mcpServerUrl = z
  .url({ protocol: /^https?$/ })
  .max(textLimits.url)
  .refine((text) => {
    if (!URL.canParse(text)) return true; // that is a problem of its own
    const { username, password } = new URL(text);
    return username === '' && password === '';
  }, 'must not contain credentials: put them in `headers`');

/** Headers of the connection and of the protocol, which the client sets. */
const reservedHeader =
  /^(host|connection|content-|transfer-encoding$|accept|upgrade$|te$|trailer$|expect$|keep-alive$|proxy-|mcp-|last-event-id$)/i;

const headerName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is no name of a header')
  .refine((name) => !reservedHeader.test(name), 'is set by the client');
const headerValue = z
  .string()
  .max(4_000)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');
const fewHeaders = (headers: object) => Object.keys(headers).length <= 20;

/** More than any model takes at once: it finds what it needs with `tool_search`. */
export const maxMcpTools = 512;

/** What a run is offered of a server that has resources, under the names that the protocol has for it. */
export const mcpResourceOperation = z.enum(['resources/list', 'resources/read']);
export type McpResourceOperation = z.infer<typeof mcpResourceOperation>;

const options = {
  name: mcpServerName,
  /** The tools that are offered, by the server's own names. Default: all. */
  tools: z.array(z.string().min(1).max(textLimits.toolName)).max(maxMcpTools).optional(),
  /** Believe the server which of its tools only read. Without it every call is `unsafe`. */
  trust_annotations: z.boolean().optional(),
};
const stdio = {
  ...options,
  /** Runs in the thread's sandbox, never beside it. */
  transport: z.literal('stdio'),
  command: z.string().min(1).max(4_000),
};
const remote = {
  ...options,
  transport: z.enum(['streamable_http', 'sse']),
  url: mcpServerUrl,
  /** Requests carry a token of OAuth: of the connection of the account, or of the person for whom the run is. */
  connection: connectionOwner.optional(),
};
/** A token goes into the same header. */
const withoutBoth = {
  check: (server: { connection?: ConnectionOwner | undefined; headers?: object | undefined }) =>
    server.connection === undefined ||
    !Object.keys(server.headers ?? {}).some((name) => name.toLowerCase() === 'authorization'),
  problem: { path: ['connection'], message: 'sets the header `authorization`: leave one of them out' },
};

const namesOnce = (servers: readonly { name: string }[]) =>
  new Set(servers.map(({ name }) => name)).size === servers.length;
const toList = <Server extends z.ZodType<{ name: string }>>(server: Server) =>
  z.array(server).max(10).refine(namesOnce, 'each name must stand once');

/** A server whose tools a run asks for. */
export const mcpServerRequest = z.discriminatedUnion('transport', [
  z
    .strictObject({
      ...remote,
      headers: z.record(headerName, headerValue).refine(fewHeaders, 'at most 20').optional(),
    })
    .refine(withoutBoth.check, withoutBoth.problem),
  z.strictObject(stdio),
]);
export type McpServerRequest = z.infer<typeof mcpServerRequest>;
export const mcpServerRequests = toList(mcpServerRequest);

/**
 * Of a stored agent. The values of headers are kept sealed beside its definition, which has null in their place; null in a
 * request keeps the value.
 */
export const mcpServersOfAgent = toList(
  z.discriminatedUnion('transport', [
    z
      .strictObject({
        ...remote,
        headers: z.record(headerName, headerValue.nullable()).refine(fewHeaders, 'at most 20').optional(),
      })
      .refine(withoutBoth.check, withoutBoth.problem),
    z.strictObject(stdio),
  ]),
);

/** The same as it is stored and sent to executors, which alone can open the values of its headers. */
export const mcpServer = z.discriminatedUnion('transport', [
  z.object({ ...remote, sealed_headers: z.record(z.string(), z.string()).optional() }),
  z.object(stdio),
]);
export type McpServer = z.infer<typeof mcpServer>;
export const mcpServers = toList(mcpServer);

/** A tool of a server, after its description and its schema were checked. */
export const mcpTool = z.object({
  /** `server__tool` */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  /** As the server calls it. */
  tool: z.string().max(textLimits.toolName),
  description: z.string().max(2_000),
  parameters: argumentsJsonSchema,
  /** What its structured results are, if the server says so. */
  output_schema: argumentsJsonSchema.optional(),
  effect_class: effectClass,
  /** Of what the server said about the tool. Another one later means that the server has changed it. */
  fingerprint: z.string().max(64),
});
export type McpTool = z.infer<typeof mcpTool>;

export const refusedMcpTool = z.object({ tool: z.string().max(textLimits.toolName), reason: z.string().max(500) });

/** What came of connecting to a server for a run. */
export const mcpDiscovery = z.discriminatedUnion('how', [
  z.object({
    how: z.literal('connected'),
    tools: z.array(mcpTool).max(maxMcpTools),
    /** Those that are not offered, because of what the server says of them. */
    refused: z.array(refusedMcpTool).max(maxMcpTools),
  }),
  z.object({
    ...{ how: z.literal('failed'), reason: z.string().max(1_000) },
    /** A person has to connect it first. Older executors do not say so. */
    is_unconnected: z.literal(true).exactOptional(),
    /** Where they do, if the one that asked for the tools can wait for it. */
    connect_page: z.string().max(2_000).exactOptional(),
  }),
]);
export type McpDiscovery = z.infer<typeof mcpDiscovery>;

/** Binds a sealed header to its account, to the origin of its server and to its name, so that it opens for no other. */
export const mcpHeaderPurpose = (account: AccountId, url: string, header: string): string =>
  `mcp header\n${account}\n${new URL(url).origin}\n${header}`;
