import { z } from 'zod';
import { approvalOutcome } from './approval';
import { type AccountId, approvalId, callId, projectId, runId, secretId, secretUseId } from './ids';

/** Commands find the placeholder of a secret in the environment variable of this name. */
export const secretName = z
  .string()
  .max(64)
  .regex(/^[A-Z][A-Z0-9_]*$/, 'upper-case letters, digits and underscores, as in names of environment variables');

/** Variables that shells, loaders and proxies read: a placeholder there would break every command. */
const reservedName =
  /^(PATH|HOME|USER|LANG|TERM|TMPDIR|SHELL|PWD|IFS|ENV|PS\d|NO_PROXY|HTTPS?_PROXY|ALL_PROXY|(LD|BASH|LC|RONDO|SANDBOX)_.*|NODE_(OPTIONS|PATH|EXTRA_CA_CERTS|USE_ENV_PROXY)|SSL_CERT_(FILE|DIR)|\w*_CA_BUNDLE|GIT_SSL_CAINFO|PIP_CERT)$/;

export const newSecretName = secretName.refine(
  (name) => !reservedName.test(name),
  'is a variable that programs need for something else',
);

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const allowedHostForm = new RegExp(
  `^(?<plain>http://)?(?<host>(?:\\*\\.${label}\\.)?${label}(?:\\.${label})*)(?::(?<port>\\d{1,5}))?$`,
);

/**
 * A host that may be sent a secret: `api.example.com`, or `*.example.com` for the names below it. That is TLS on port 443;
 * `api.example.com:8443` is TLS on another port, and only `http://build.internal:8080` is without TLS.
 */
export const allowedHost = z
  .string()
  .toLowerCase()
  .max(260)
  .refine((text) => readAllowedHost(text) !== undefined, {
    message: 'must be a host such as `api.example.com`, `*.example.com`, `host:8443` or `http://host:8080`',
  });

/** Where a request goes. */
export interface SecretTarget {
  readonly protocol: 'http:' | 'https:';
  /** In lower case, without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** Whether one of the hosts of a secret is this one. */
export const isAllowedTarget = (hosts: readonly string[], target: SecretTarget): boolean =>
  hosts.some((text) => {
    const allowed = readAllowedHost(text);
    if (!allowed || allowed.protocol !== target.protocol || allowed.port !== target.port) return false;
    const { hostname } = allowed;
    return hostname.startsWith('*.') ? target.hostname.endsWith(hostname.slice(1)) : target.hostname === hostname;
  });

function readAllowedHost(text: string): SecretTarget | undefined {
  const { plain, host, port } = allowedHostForm.exec(text)?.groups ?? {};
  if (host === undefined) return undefined;
  const number = port === undefined ? (plain === undefined ? 443 : 80) : Number(port);
  if (number < 1 || number > 65_535) return undefined;
  return { protocol: plain === undefined ? 'https:' : 'http:', hostname: host, port: number };
}

export const secretMethod = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const fieldName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is no name of a header')
  .refine(
    (name) => !/^(host|connection|content-.*|transfer-encoding|upgrade|te|trailer|expect|proxy-.*)$/i.test(name),
    {
      message: 'is set by the client',
    },
  );
const printable = (length: number) =>
  z
    .string()
    .max(length)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');

const header = { in: z.literal('header'), name: fieldName, prefix: printable(40).optional() };
const query = { in: z.literal('query'), name: printable(100).min(1) };
const username = printable(200).regex(/^[^:]*$/, 'must have no colon');
const basic = { in: z.literal('basic'), username };

/**
 * Where the value goes. `header`: the placeholder in this header becomes the value; with a prefix, the whole header becomes
 * prefix and value. `query`: the placeholder that is this parameter. `basic`: the password of this user.
 */
export const secretPlacement = z.discriminatedUnion('in', [z.object(header), z.object(query), z.object(basic)]);

/** The same in a request, where unknown fields are refused. */
export const newSecretPlacement = z.discriminatedUnion('in', [
  z.strictObject(header),
  z.strictObject(query),
  z.strictObject(basic),
]);
export type SecretPlacement = z.infer<typeof secretPlacement>;

/** Long enough that to mask it in an answer does not cut the answer to pieces. */
export const secretValue = z
  .string()
  .min(8)
  .max(4_000)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII without a space at its ends');

/** What may be done with a secret, without its value. */
export const secretPolicy = z.object({
  allowed_hosts: z.array(z.string()),
  methods: z.array(secretMethod),
  placement: secretPlacement,
});
export type SecretPolicy = z.infer<typeof secretPolicy>;

/** `first_use`: the first request of each run that would carry it waits for a person. */
export const secretApproval = z.enum(['none', 'first_use']);

/** A secret as the API shows it. Nothing shows its value. */
export const secret = secretPolicy.extend({
  id: secretId,
  approval: secretApproval,
  name: secretName,
  /** Null: of the whole account. */
  project_id: projectId.nullable(),
  description: z.string(),
  expires_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Secret = z.infer<typeof secret>;

/** What is asked of a secret: one request that would carry it. */
export const secretRequest = z.object({
  protocol: z.enum(['http:', 'https:']),
  host: z.string().max(260),
  port: z.number().int(),
  method: z.string().max(40),
  /** Without its query. */
  path: z.string().max(2_000),
});
export type SecretRequest = z.infer<typeof secretRequest>;

/** One request that a secret was opened for, or refused to. */
export const secretUse = z.object({
  id: secretUseId,
  secret_id: secretId,
  name: secretName,
  run_id: runId.nullable(),
  tool_call_id: callId.nullable(),
  /** `sandbox`: a command sent the placeholder. `mcp`: a header of an MCP server has it. */
  via: z.enum(['sandbox', 'mcp']),
  host: z.string(),
  method: z.string(),
  path: z.string(),
  /** What the host answered. Null: nothing, or not yet. */
  status: z.number().int().nullable(),
  /** Why the value was not sent. Null: it was. */
  refusal: z
    .enum(['revoked', 'expired', 'host', 'method', 'run_over', 'not_named', 'denied', 'not_approved'])
    .nullable(),
  at: z.iso.datetime(),
});
export type SecretUse = z.infer<typeof secretUse>;
export type SecretRefusal = NonNullable<SecretUse['refusal']>;

/** The tool that an approval of a secret's first use has as its name. No model can call it. */
export const useSecret = 'use_secret';

const approvalOfUse = z.object({
  approval_id: approvalId,
  /** Null: of the header of an MCP server that the run begins with. */
  tool_call_id: callId.nullable(),
  name: secretName,
});

/** A request that waits, because no person has allowed its run to use the secret yet. The run goes on meanwhile. */
export const requestedSecret = approvalOfUse.extend({
  host: z.string(),
  method: z.string(),
  /** Without its query. */
  path: z.string(),
  requested_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

/** What was decided about it, for all requests of the run that would carry the secret. */
export const decidedSecret = approvalOfUse.extend({
  outcome: approvalOutcome.exclude(['edit']),
  /** The id of the API key with which it was decided. Null: it expired. */
  decided_by: z.string().nullable(),
  reason: z.string().nullable(),
});

/** Binds a sealed value to its account and its secret, so that it opens for no other. */
export const secretPurpose = (account: AccountId, secret: z.infer<typeof secretId>): string =>
  `secret\n${account}\n${secret}`;
