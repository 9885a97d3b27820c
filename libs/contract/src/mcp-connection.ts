import { z } from 'zod';
import { endUser } from './end-user';
import { type AccountId, mcpConnectionId, type McpConnectionId } from './ids';
import { textLimits } from './text-limits';

/**
 * By whose connection a run speaks to a server that wants a token of OAuth: the one of its account, or that of the person for
 * whom it runs.
 */
export const connectionOwner = z.enum(['account', 'user']);
export type ConnectionOwner = z.infer<typeof connectionOwner>;

/** `pending`: no one has connected it yet. `expired`: its tokens are gone, and a person has to connect it again. */
export const mcpConnectionStatus = z.enum(['pending', 'connected', 'expired']);

/** A server that a person has connected, as the API shows it. Nothing shows its tokens. */
export const mcpConnection = z.object({
  id: mcpConnectionId,
  /** Of the server. */
  url: z.string().max(textLimits.url),
  /** Null: of the whole account. */
  user: endUser.nullable(),
  status: mcpConnectionStatus,
  /** Why the last attempt to connect failed, or why it has expired. */
  problem: z.string().nullable(),
  /** The authorization server. Null: it is not known yet. */
  issuer: z.string().nullable(),
  /** What it knows this deployment as. */
  client_id: z.string().nullable(),
  scopes: z.array(z.string()),
  /** Of the access token, which is refreshed before. Null: it does not say. */
  expires_at: z.iso.datetime().nullable(),
  /** The id of the caller that has begun it last. */
  connected_by: z.string().nullable(),
  connected_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
});
export type McpConnection = z.infer<typeof mcpConnection>;

/** Under which a call asks a person to connect its server. What a server itself asks has names of its own. */
export const connectKey = 'rondo:connect';
/** The same for a call that its server wants more scopes for than the token has. */
export const scopesKey = 'rondo:scopes';

/** What stands for the name of a tool where a run asks before it knows the tools of the server. */
export const connectName = 'connect';
/** For the person who is asked. */
export const connectWords =
  'It has to be connected: sign in there with what agents may do for you. The run goes on by itself then.';

/** As RFC 6749 allows it. */
export const oauthScope = z
  .string()
  .max(200)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
export const mostScopes = 50;

/** Binds what is sealed of a connection to its account and to itself. */
export const mcpConnectionPurpose = (account: AccountId, connection: McpConnectionId): string =>
  `mcp connection\n${account}\n${connection}`;

/** Binds an access token, on its way to an executor, to the account and to the origin of the server. */
export const mcpTokenPurpose = (account: AccountId, url: string): string =>
  `mcp token\n${account}\n${new URL(url).origin}`;
