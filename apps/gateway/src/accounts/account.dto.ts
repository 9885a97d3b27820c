import { accountId, apiKeyId } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { scope } from '../auth/scopes';
import { pageOf, pageQuery } from '../http/paging';

const name = z.string().trim().min(1).max(200);

const newApiKey = z.object({
  id: apiKeyId,
  name: z.string(),
  scopes: z.array(z.string()),
  key: z.string().describe('Shown this once.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable().describe('From then on it is refused. Null: it does not expire.'),
});
export const apiKey = newApiKey.omit({ key: true }).extend({
  hint: z.string().describe('The last characters of the key.'),
  revoked_at: z.iso.datetime().nullable(),
  last_used_at: z.iso
    .datetime()
    .nullable()
    .describe('Up to a minute or two older than its last use. Null: it was not used.'),
});
export const account = z.object({ id: accountId, name: z.string(), created_at: z.iso.datetime() });

export class NewApiKeyDto extends createZodDto(
  z.strictObject({
    name,
    scopes: z.array(scope).min(1).max(10).describe('Each includes the ones before it.'),
    expires_at: z.iso
      .datetime()
      .refine((at) => Date.parse(at) > Date.now(), 'must be in the future')
      .optional()
      .describe('When it stops working, with what it has signed in or keeps open. Absent: it does not expire.'),
  }),
) {}
export class ApiKeyWithSecretDto extends createZodDto(newApiKey) {}
export class ApiKeyQueryDto extends createZodDto(pageQuery) {}
export class ApiKeyPageDto extends createZodDto(pageOf(apiKey)) {}
export class NewAccountDto extends createZodDto(z.strictObject({ name })) {}
export class RemovedAccountDto extends createZodDto(account.extend({ removed_at: z.iso.datetime() })) {}
export const listedAccount = account.extend({
  tier: z.string().nullable().describe('The tier that it has; null if the deployment has no tiers.'),
});
export class AccountQueryDto extends createZodDto(pageQuery) {}
export class AccountPageDto extends createZodDto(
  pageOf(listedAccount).extend({
    tiers: z.array(z.string()).describe('The tiers of the deployment, on each page.'),
  }),
) {}
export class AccountWithKeyDto extends createZodDto(
  z.object({
    account,
    api_key: z.string().describe('A key with the scope admin on the new account. Shown this once.'),
  }),
) {}
