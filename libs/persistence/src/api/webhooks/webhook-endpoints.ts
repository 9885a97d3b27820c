import {
  type AccountId,
  type WebhookEndpoint,
  type WebhookEndpointId,
  webhookEndpoint,
  webhookEndpointId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { lockAccount } from '../lock-account';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import type { SealedSecret } from '../triggers/webhook-row';
import { lastDelivery, lastDeliveryColumn } from './delivery-row';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../database/checked-query';

export interface EndpointAddress {
  readonly accountId: AccountId;
  readonly endpointId: WebhookEndpointId;
}

/** The fields of an endpoint that a client sets. */
export type EndpointFields = Pick<WebhookEndpoint, 'url' | 'description' | 'events' | 'is_paused'>;

export interface NewEndpoint extends EndpointAddress {
  readonly fields: EndpointFields;
  readonly secret: SealedSecret;
}

export interface EndpointChange extends EndpointAddress {
  /** Undefined leaves a field as it is. */
  readonly fields: { readonly [Name in keyof EndpointFields]?: EndpointFields[Name] | undefined };
}

const endpointRow = z.object({
  id: webhookEndpointId,
  url: z.string(),
  description: z.string(),
  events: z.array(webhookEndpoint.shape.events.element),
  is_paused: z.boolean(),
  secrets: jsonDocument<readonly SealedSecret[]>(),
  created_at: z.date(),
  updated_at: z.date(),
  ...lastDeliveryColumn,
});
type EndpointRow = z.infer<typeof endpointRow>;

/** Bounds the rows that one fact writes. */
export const mostWebhookEndpoints = 20;

const columns = `id, url, description, events, is_paused, secrets, created_at, updated_at, ${lastDelivery}`;

const countEndpoints = createQuery(
  z.object({ count: z.number() }),
  `select count(*)::int as count from webhook_endpoints where account_id = $1`,
);

const insertEndpoint = createQuery(
  endpointRow,
  `
insert into webhook_endpoints (id, account_id, url, description, events, is_paused, secrets)
values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
);

const oneEndpoint = createQuery(
  endpointRow,
  `select ${columns} from webhook_endpoints where account_id = $1 and id = $2`,
);
const lockedEndpoint = createQuery(endpointRow, `${oneEndpoint.text} for update`);

const newestEndpoints = createQuery(
  endpointRow,
  `
select ${columns} from webhook_endpoints
where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
);

const updateEndpoint = createQuery(
  endpointRow,
  `
update webhook_endpoints set url = $2, description = $3, events = $4, is_paused = $5, updated_at = clock_timestamp()
where id = $1 returning ${columns}`,
);

/** An attempt that is under way may still be delivered. */
const giveUpPending = `
update webhook_deliveries set status = 'dead', next_attempt_at = null, error = 'The endpoint was paused.'
where endpoint_id = $1 and status = 'pending'`;

const setSecrets = createQuery(
  endpointRow,
  `
update webhook_endpoints set secrets = $2, updated_at = clock_timestamp() where id = $1 returning ${columns}`,
);

const deleteEndpoint = `delete from webhook_endpoints where account_id = $1 and id = $2 returning id`;

const someDeliveries = `
delete from webhook_deliveries where id in (
  select id from webhook_deliveries where endpoint_id = $1 limit 5000
) returning id`;

/** The endpoints of one account each: another account's endpoint does not exist (`webhook_endpoint_not_found`). */
export class WebhookEndpoints {
  constructor(private readonly database: Database) {}

  /** Rejects with `too_many_webhook_endpoints`. */
  create({ accountId, endpointId, fields, secret }: NewEndpoint): Promise<WebhookEndpoint> {
    return this.database.transaction(async (sql) => {
      await requireFreePlace(sql, accountId);
      const { url, description, events, is_paused: isPaused } = fields;
      const values = [
        endpointId,
        accountId,
        url,
        toStoredText(description),
        events,
        isPaused,
        JSON.stringify([secret]),
      ];
      return toEndpoint(await insertEndpoint.first(sql, values), endpointId);
    });
  }

  async get({ accountId, endpointId }: EndpointAddress): Promise<WebhookEndpoint> {
    return toEndpoint(await oneEndpoint.first(this.database.sql, [accountId, endpointId]), endpointId);
  }

  /** Newest first. */
  async list({
    accountId,
    after,
    limit,
  }: PageRequest & { readonly accountId: AccountId }): Promise<Page<WebhookEndpoint>> {
    const cursor = after === undefined ? null : idOfCursor(after, webhookEndpointId);
    const rows = await newestEndpoints.all(this.database.sql, [accountId, cursor, limit + 1]);
    return toPage(rows.map(showEndpoint), limit);
  }

  /** What waits for an endpoint is given up when it is paused. */
  update({ accountId, endpointId, fields }: EndpointChange): Promise<WebhookEndpoint> {
    return this.database.transaction(async (sql) => {
      const known = toEndpoint(await lockedEndpoint.first(sql, [accountId, endpointId]), endpointId);
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      const { url, description, events, is_paused: isPaused }: EndpointFields = { ...known, ...given };
      const values = [endpointId, url, toStoredText(description), events, isPaused];
      if (isPaused && !known.is_paused) await sql.query(giveUpPending, [endpointId]);
      return toEndpoint(await updateEndpoint.first(sql, values), endpointId);
    });
  }

  /** Until it expires, the newest former secret signs beside the new one; older ones do not. */
  rotate({ accountId, endpointId }: EndpointAddress, secret: SealedSecret, expiresAt: Date): Promise<WebhookEndpoint> {
    return this.database.transaction(async (sql) => {
      const row = await lockedEndpoint.first(sql, [accountId, endpointId]);
      if (!row) throw endpointNotFound(endpointId);
      const kept = row.secrets.slice(0, 1).map((former) => ({ ...former, expires_at: expiresAt.toISOString() }));
      const values = [endpointId, JSON.stringify([secret, ...kept])];
      return toEndpoint(await setSecrets.first(sql, values), endpointId);
    });
  }

  /** With its deliveries. One that is written meanwhile is deleted when it is due. */
  async delete({ accountId, endpointId }: EndpointAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteEndpoint, [accountId, endpointId]);
    if (deleted.length === 0) throw endpointNotFound(endpointId);
    while ((await this.database.sql.query(someDeliveries, [endpointId])).length > 0);
  }
}

async function requireFreePlace(sql: Sql, accountId: AccountId): Promise<void> {
  await lockAccount(sql, accountId);
  const row = await countEndpoints.first(sql, [accountId]);
  if (row === undefined || row.count < mostWebhookEndpoints) return;
  throw new TerminalError(
    'too_many_webhook_endpoints',
    `An account may have ${mostWebhookEndpoints} webhook endpoints.`,
  );
}

function toEndpoint(row: EndpointRow | undefined, id: WebhookEndpointId): WebhookEndpoint {
  if (!row) throw endpointNotFound(id);
  return showEndpoint(row);
}

const showEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  url: row.url,
  description: row.description,
  events: row.events,
  is_paused: row.is_paused,
  secrets: row.secrets.map(({ sealed: _, ...secret }) => secret),
  created_at: row.created_at.toISOString(),
  last_delivery: row.last_delivery,
  updated_at: row.updated_at.toISOString(),
});

export const endpointNotFound = (id: WebhookEndpointId): TerminalError =>
  new TerminalError('webhook_endpoint_not_found', `There is no webhook endpoint ${id}.`);
