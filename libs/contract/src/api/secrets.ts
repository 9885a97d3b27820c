import { z } from 'zod';
import { projectId, runId, secretId } from '../ids';
import {
  allowedHost,
  newSecretName,
  newSecretPlacement,
  secret,
  secretApproval,
  secretMethod,
  secretPlacement,
  secretUse,
  secretValue,
} from '../secret';
import { exampleIds as ids } from './example-ids';
import { createPage, instant, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const once = (list: readonly string[]) => new Set(list).size === list.length;

const fields = {
  description: z.string().max(500),
  value: secretValue.describe('It is sealed, and no answer has it. At least 8 characters.'),
  allowed_hosts: z
    .array(allowedHost)
    .min(1)
    .max(50)
    .refine(once, 'names a host twice')
    .describe(
      '`api.example.com`, or `*.example.com` for the names below it: TLS on port 443. `api.example.com:8443` is another port, and only `http://build.internal:8080` is without TLS.',
    ),
  methods: z.array(secretMethod).min(1).refine(once, 'names a method twice'),
  placement: newSecretPlacement.describe(
    'Where the value goes: in a header, whole if there is a `prefix`; as a parameter of the query; or as the password of a user.',
  ),
  expires_at: instant.nullable().describe('From then on it is refused.'),
  approval: secretApproval.describe(
    '`first_use`: the first request of each run that would carry it waits until a person allows it.',
  ),
};

const newSecret = z
  .strictObject({
    name: newSecretName.describe('Also of the environment variable in which commands find the placeholder.'),
    project_id: projectId.nullable().default(null).describe('Only runs of its threads can use it. Absent: all runs.'),
    ...fields,
    description: fields.description.default(''),
    methods: fields.methods.default(['GET', 'HEAD']),
    expires_at: fields.expires_at.default(null),
    approval: fields.approval.default('none'),
  })
  .meta({
    examples: [
      {
        name: 'GITHUB_TOKEN',
        value: 'ghp_not_a_real_token_0000000000000000',
        allowed_hosts: ['api.github.com'],
        methods: ['GET', 'POST'],
        placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' },
      },
      {
        name: 'GIT_PASSWORD',
        value: 'ghp_not_a_real_token_0000000000000000',
        allowed_hosts: ['github.com'],
        methods: ['GET', 'POST'],
        placement: { in: 'basic', username: 'x-access-token' },
        expires_at: '2027-01-01T00:00:00.000Z',
        approval: 'first_use',
      },
    ],
  });

const secretChange = z
  .strictObject(fields)
  .partial()
  .meta({ examples: [{ expires_at: '2027-01-01T00:00:00.000Z' }] });

const secretPage = createPage(secret);
const secretUsePage = createPage(secretUse);

export const secrets = defineRoutes('secrets', {
  createSecret: {
    method: 'POST',
    path: '/v1/secrets',
    summary: 'Store a secret, which sandboxes and MCP servers may use and not read',
    description:
      'Its value is sealed. Commands and headers have a placeholder, which becomes the value on the way out.',
    audit: 'secret.create',
    hasSecretBody: true,
    body: newSecret,
    answers: { 201: { body: secret, location: '/v1/secrets/{id}' } },
    problems: ['secret_name_taken', 'too_many_secrets', 'project_not_found'],
  },
  listSecrets: {
    method: 'GET',
    path: '/v1/secrets',
    summary: 'List secrets without their values, newest first',
    query: pageQuery.extend({ project_id: projectId.optional().describe('Those of this project alone.') }),
    answers: { 200: { body: secretPage } },
  },
  listSecretUses: {
    method: 'GET',
    path: '/v1/secrets/uses',
    summary: 'What secrets were sent to, or refused to, newest first',
    description: 'Kept for 90 days, also when the secret is deleted.',
    query: pageQuery.extend({ secret_id: secretId.optional(), run_id: runId.optional() }),
    answers: { 200: { body: secretUsePage } },
  },
  getSecret: {
    method: 'GET',
    path: '/v1/secrets/{secret_id}',
    summary: 'Read a secret without its value',
    answers: { 200: { body: secret } },
  },
  updateSecret: {
    method: 'PATCH',
    path: '/v1/secrets/{secret_id}',
    summary: 'Change where a secret may go, when it expires, or its value',
    description: 'It holds for the next request that would carry it, also of runs that are active.',
    audit: 'secret.change',
    body: secretChange,
    answers: { 200: { body: secret } },
  },
  deleteSecret: {
    method: 'DELETE',
    path: '/v1/secrets/{secret_id}',
    summary: 'Revoke a secret: it is deleted, and refused from then on',
    audit: 'secret.delete',
    answers: { 204: {} },
  },
});

const at = '2026-11-25T09:00:00.000Z';

export const secretSchemas: ApiSchemas = {
  shared: { SecretMethod: secretMethod },
  requests: { NewSecret: newSecret, SecretChange: secretChange, NewSecretPlacement: newSecretPlacement },
  answers: {
    SecretPlacement: secretPlacement,
    Secret: secret,
    SecretPage: secretPage,
    SecretUse: secretUse,
    SecretUsePage: secretUsePage,
  },
  examples: {
    Secret: {
      id: ids.secret,
      name: 'GITHUB_TOKEN',
      project_id: null,
      description: '',
      allowed_hosts: ['api.github.com'],
      methods: ['GET', 'POST'],
      placement: { in: 'header', name: 'Authorization', prefix: 'Bearer ' },
      expires_at: null,
      approval: 'none',
      created_at: at,
      updated_at: at,
    },
    SecretUse: {
      id: ids.secretUse,
      secret_id: ids.secret,
      name: 'GITHUB_TOKEN',
      run_id: ids.run,
      tool_call_id: ids.call,
      via: 'sandbox',
      host: 'api.github.com',
      method: 'GET',
      path: '/repos/example/site/issues',
      status: 200,
      refusal: null,
      at,
    },
  },
};
