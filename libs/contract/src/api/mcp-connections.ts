import { z } from 'zod';
import { endUser } from '../end-user';
import { mcpConnection, mcpConnectionStatus } from '../mcp-connection';
import { mcpServerUrl } from '../mcp-server';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const printable = (length: number) =>
  z
    .string()
    .min(1)
    .max(length)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

const newMcpConnection = z.strictObject({
  url: mcpServerUrl.describe('Of the server, as runs name it.'),
  user: endUser
    .nullable()
    .default(null)
    .describe('The person who connects it, for runs of theirs. Absent: the account.'),
  scopes: z.array(printable(200)).max(50).optional().describe('Absent: those that the server asks for.'),
  client: z
    .strictObject({ id: printable(500), secret: printable(1_000).optional() })
    .optional()
    .describe(
      'What the authorization server knows this deployment as, where someone has registered it there. The secret is sealed. Absent: it is told the address of a document about this deployment, or asked to register it.',
    ),
});

const begunMcpConnection = mcpConnection.extend({
  authorization_url: z
    .url()
    .describe(
      'A page of this deployment, to be opened by the person who connects. It leads on to the authorization server.',
    ),
  authorization_expires_at: z.iso.datetime().describe('Until then the page can be used.'),
});
const mcpConnectionPage = createPage(mcpConnection);

export const mcpConnections = defineRoutes('catalog', {
  beginMcpConnection: {
    method: 'POST',
    path: '/v1/mcp-connections',
    summary: 'Begin to connect an MCP server that wants a token of OAuth',
    description:
      'A person opens `authorization_url` and allows it at the authorization server. One that is connected already stays so until then.',
    audit: 'mcp_connection.begin',
    storesAnswer: false,
    body: newMcpConnection,
    answers: { 201: { body: begunMcpConnection, location: '/v1/mcp-connections/{id}' } },
    problems: ['too_many_mcp_connections'],
  },
  listMcpConnections: {
    method: 'GET',
    path: '/v1/mcp-connections',
    summary: 'List connections to MCP servers, newest first',
    query: pageQuery.extend({
      user: endUser.optional().describe('Those of this person alone.'),
      url: mcpServerUrl.optional().describe('Those to this server alone.'),
    }),
    answers: { 200: { body: mcpConnectionPage } },
  },
  getMcpConnection: {
    method: 'GET',
    path: '/v1/mcp-connections/{mcp_connection_id}',
    summary: 'Read a connection to an MCP server',
    answers: { 200: { body: mcpConnection } },
  },
  deleteMcpConnection: {
    method: 'DELETE',
    path: '/v1/mcp-connections/{mcp_connection_id}',
    summary: 'Disconnect an MCP server: its tokens are deleted, and no further request carries one',
    description: 'The authorization server is asked to revoke them, if it can.',
    audit: 'mcp_connection.delete',
    answers: { 204: {} },
  },
});

const link = z.string().min(1).max(200);
const exampleLink = 'mcl_4hd8w0';

const mcpClientMetadata = z.object({
  client_id: z.string(),
  client_name: z.string(),
  client_uri: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/** Pages for the browser of the person who connects, and for the authorization server. */
export const mcpConnectPages = defineRoutes('catalog', {
  showMcpConnect: {
    method: 'GET',
    path: '/oauth/connect',
    summary: 'The page that says what is to be connected, and for whom',
    role: 'open',
    query: z.strictObject({ link }),
    queryExample: { link: exampleLink },
    answers: { 200: { bytes: ['text/html'] } },
  },
  continueMcpConnect: {
    method: 'POST',
    path: '/oauth/connect',
    summary: 'Go on from that page to the authorization server',
    role: 'open',
    query: z.strictObject({ link }),
    queryExample: { link: exampleLink },
    answers: { 303: { description: 'To the authorization server.', headers: ['Set-Cookie'] } },
  },
  finishMcpConnect: {
    method: 'GET',
    path: '/oauth/callback',
    summary: 'Where the authorization server sends the person back to',
    role: 'open',
    query: z.object({
      state: z.string().max(200).optional(),
      code: z.string().max(4_000).optional(),
      iss: z.string().max(2_000).optional(),
      error: z.string().max(200).optional(),
    }),
    answers: { 200: { bytes: ['text/html'] } },
  },
  getMcpClientMetadata: {
    method: 'GET',
    path: '/oauth/client.json',
    summary: 'What this deployment is as a client of OAuth; its address is its client id',
    role: 'open',
    answers: { 200: { body: mcpClientMetadata } },
  },
});

const at = '2026-11-25T09:00:00.000Z';
const example = {
  id: ids.mcpConnection,
  url: 'https://tickets.example.com/mcp',
  user: null,
  status: 'connected',
  problem: null,
  issuer: 'https://login.example.com',
  client_id: 'https://rondo.example.com/oauth/client.json',
  scopes: ['tickets.read'],
  expires_at: '2026-11-25T10:00:00.000Z',
  connected_by: ids.key,
  connected_at: at,
  created_at: at,
};

export const mcpConnectionSchemas: ApiSchemas = {
  shared: { McpConnectionStatus: mcpConnectionStatus },
  requests: { NewMcpConnection: newMcpConnection },
  answers: {
    McpConnection: mcpConnection,
    BegunMcpConnection: begunMcpConnection,
    McpConnectionPage: mcpConnectionPage,
    McpClientMetadata: mcpClientMetadata,
  },
  examples: {
    NewMcpConnection: { url: 'https://tickets.example.com/mcp' },
    McpConnection: example,
    McpClientMetadata: {
      client_id: 'https://rondo.example.com/oauth/client.json',
      client_name: 'Rondo',
      client_uri: 'https://rondo.example.com',
      redirect_uris: ['https://rondo.example.com/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    BegunMcpConnection: {
      ...example,
      ...{ status: 'pending', issuer: null, client_id: null, scopes: [], expires_at: null, connected_at: null },
      authorization_url: `https://rondo.example.com/oauth/connect?link=${exampleLink}`,
      authorization_expires_at: '2026-11-25T09:15:00.000Z',
    },
  },
};
