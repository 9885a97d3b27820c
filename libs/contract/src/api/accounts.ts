import { z } from 'zod';
import { accountId, apiKeyId } from '../ids';
import { exampleIds as ids } from './example-ids';
import { createPage, instant, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

/** Each scope includes the ones before it. `admin` also creates and revokes keys. */
export const scope = z.enum(['read', 'write', 'admin']);

const name = z.string().trim().min(1).max(200);

export const newApiKey = z.strictObject({
  name,
  scopes: z.array(scope).min(1).max(10).describe('Each includes the ones before it.'),
  expires_at: instant
    .optional()
    .describe('When it stops working, with what it has signed in or keeps open. Absent: it does not expire.'),
});

const apiKeyWithSecret = z.object({
  id: apiKeyId,
  name: z.string(),
  scopes: z.array(z.string()),
  key: z.string().describe('Shown this once.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable().describe('From then on it is refused. Null: it does not expire.'),
});
const apiKey = apiKeyWithSecret.omit({ key: true }).extend({
  hint: z.string().describe('The last characters of the key.'),
  revoked_at: z.iso.datetime().nullable(),
  last_used_at: z.iso
    .datetime()
    .nullable()
    .describe('Up to a minute or two older than its last use. Null: it was not used.'),
});
const apiKeyPage = createPage(apiKey);

const newAccount = z.strictObject({ name });
const account = z.object({ id: accountId, name: z.string(), created_at: z.iso.datetime() });
const accountWithKey = z.object({
  account,
  api_key: z.string().describe('A key with the scope admin on the new account. Shown this once.'),
});
const removedAccount = account.extend({ removed_at: z.iso.datetime() });
const listedAccount = account.extend({
  tier: z.string().nullable().describe('The tier that it has; null if the deployment has no tiers.'),
});
const accountPage = createPage(listedAccount).extend({
  tiers: z.array(z.string()).describe('The tiers of the deployment, on each page.'),
});

export const accounts = defineRoutes('accounts', {
  createAccount: {
    method: 'POST',
    path: '/v1/admin/accounts',
    summary: 'Create an account with its first key; for the operator of this deployment',
    role: 'operator',
    audit: 'account.create',
    storesAnswer: false,
    body: newAccount,
    answers: { 201: { body: accountWithKey, location: '/v1/admin/accounts/{account.id}' } },
  },
  listAccounts: {
    method: 'GET',
    path: '/v1/admin/accounts',
    summary:
      'List the accounts with their tiers, the own one and then the newest first; for the operator of this deployment',
    role: 'operator',
    query: pageQuery,
    answers: { 200: { body: accountPage } },
  },
  removeAccount: {
    method: 'DELETE',
    path: '/v1/admin/accounts/{account_id}',
    summary: 'Remove an account and everything that it owns; for the operator of this deployment',
    description:
      'Its keys are revoked and its runs stopped at once; threads, runs, images and the account itself are deleted ' +
      'soon after. The request can be repeated until the account is gone.',
    role: 'operator',
    audit: 'account.remove',
    answers: { 202: { body: removedAccount } },
    problems: ['operator_account'],
  },
  createApiKey: {
    method: 'POST',
    path: '/v1/api-keys',
    summary: 'Create an API key; for admins of the account',
    role: 'account-admin',
    audit: 'api_key.create',
    storesAnswer: false,
    body: newApiKey,
    answers: { 201: { body: apiKeyWithSecret, location: '/v1/api-keys/{id}' } },
    problems: ['quota_exceeded'],
  },
  listApiKeys: {
    method: 'GET',
    path: '/v1/api-keys',
    summary: 'List the API keys of the account, newest first; for its admins',
    role: 'account-admin',
    query: pageQuery,
    answers: { 200: { body: apiKeyPage } },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/v1/api-keys/{key_id}',
    summary: 'Revoke an API key; its open connections are closed within seconds',
    description:
      'The only valid admin key of an account is not revoked, since no other key could make one: create another first. ' +
      'Users of an outside issuer may revoke it.',
    role: 'account-admin',
    audit: 'api_key.revoke',
    answers: { 204: {} },
    problems: ['last_admin_key'],
  },
});

const at = '2026-11-25T09:00:00.000Z';
const exampleAccount = { id: ids.account, name: 'Example Ltd', created_at: at };
const expiry = '2099-01-01T00:00:00.000Z';
const exampleKey = { id: ids.key, name: 'nightly jobs', scopes: ['write'], created_at: at, expires_at: expiry };
const secret = 'rondo_c2VjcmV0LW9mLWFuLWV4YW1wbGU';

export const accountSchemas: ApiSchemas = {
  requests: { NewAccount: newAccount, NewApiKey: newApiKey },
  answers: {
    Account: account,
    ListedAccount: listedAccount,
    AccountPage: accountPage,
    AccountWithKey: accountWithKey,
    RemovedAccount: removedAccount,
    ApiKey: apiKey,
    ApiKeyWithSecret: apiKeyWithSecret,
    ApiKeyPage: apiKeyPage,
  },
  examples: {
    NewAccount: { name: exampleAccount.name },
    AccountPage: {
      data: [{ ...exampleAccount, tier: 'free' }],
      has_more: false,
      next_cursor: null,
      tiers: ['free', 'pro'],
    },
    AccountWithKey: { account: exampleAccount, api_key: secret },
    RemovedAccount: { ...exampleAccount, removed_at: '2026-11-26T09:00:00.000Z' },
    NewApiKey: { name: exampleKey.name, scopes: exampleKey.scopes, expires_at: expiry },
    ApiKeyWithSecret: { ...exampleKey, key: secret },
    ApiKey: { ...exampleKey, hint: '…bGU', revoked_at: null, last_used_at: at },
  },
};
