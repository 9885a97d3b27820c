import {
  type AccountId,
  type NewId,
  type WebhookDelivery,
  type WebhookDeliveryId,
  type WebhookDeliveryStatus,
  type WebhookEndpointId,
  type WebhookEventType,
  webhookDeliveryId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { deliveryColumns, deliveryRow } from './delivery-row';
import { type EndpointAddress, endpointNotFound } from './webhook-endpoints';
import { z } from 'zod';
import { type CheckedQuery, createQuery } from '../../database/checked-query';

export interface DeliveryAddress {
  readonly accountId: AccountId;
  readonly deliveryId: WebhookDeliveryId;
}

export interface DeliveryFilter extends PageRequest {
  readonly accountId: AccountId;
  readonly endpointId?: WebhookEndpointId | undefined;
  readonly runId?: string | undefined;
  readonly status?: WebhookDeliveryStatus | undefined;
  readonly type?: WebhookEventType | undefined;
}

/** A filter that is named in the statement finds its index; the others are applied to what that finds. */
const newestDeliveries = (by: string) =>
  createQuery(
    deliveryRow,
    `
select ${deliveryColumns} from webhook_deliveries
where account_id = $1 and ($2::text is null or id < $2) and ${by}
  and ($4::text is null or endpoint_id = $4) and ($5::text is null or run_id = $5)
  and ($6::text is null or status = $6) and ($7::text is null or type = $7)
order by id desc limit $3`,
  );

const ofAccount = newestDeliveries('true');
const ofEndpoint = newestDeliveries('endpoint_id = $4');
const ofRun = newestDeliveries('run_id = $5');
const dead = newestDeliveries(`status = 'dead'`);

const oneDelivery = createQuery(
  deliveryRow,
  `select ${deliveryColumns} from webhook_deliveries where account_id = $1 and id = $2`,
);

const isPaused = createQuery(
  z.object({ is_paused: z.boolean() }),
  `
select is_paused from webhook_endpoints where id = (select endpoint_id from webhook_deliveries where account_id = $1 and id = $2)`,
);

const deliverAgain = createQuery(
  deliveryRow,
  `
update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), response_status = null,
  error = null, delivered_at = null
where account_id = $1 and id = $2 returning ${deliveryColumns}`,
);

const insertTest = createQuery(
  deliveryRow,
  `
insert into webhook_deliveries (id, account_id, endpoint_id, event_id, type, body)
select $3, account_id, id, $4, 'webhook.test', $5 from webhook_endpoints where account_id = $1 and id = $2
returning ${deliveryColumns}`,
);

const prune = `
delete from webhook_deliveries where id in (
  select id from webhook_deliveries
  where created_at < clock_timestamp() - interval '30 days' and status <> 'pending' limit 5000
) returning id`;

/** The deliveries of one account each, for 30 days. */
export class WebhookDeliveries {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Newest event first. */
  async list(filter: DeliveryFilter): Promise<Page<WebhookDelivery>> {
    const { accountId, after, limit, endpointId, runId: run, status, type } = filter;
    const cursor = after === undefined ? null : idOfCursor(after, webhookDeliveryId);
    const values = [accountId, cursor, limit + 1, endpointId ?? null, run ?? null, status ?? null, type ?? null];
    const rows = await statementFor(filter).all(this.database.sql, values);
    return toPage(rows, limit);
  }

  async get({ accountId, deliveryId }: DeliveryAddress): Promise<WebhookDelivery> {
    return found(await oneDelivery.first(this.database.sql, [accountId, deliveryId]), deliveryId);
  }

  /** Begins again, with the same event and `webhook-id`. Rejects with `webhook_endpoint_paused`. */
  async redeliver({ accountId, deliveryId }: DeliveryAddress): Promise<WebhookDelivery> {
    const about = [accountId, deliveryId];
    const endpoint = await isPaused.first(this.database.sql, about);
    if (endpoint?.is_paused === true) throw endpointPaused();
    return found(await deliverAgain.first(this.database.sql, about), deliveryId);
  }

  /** An event of type `webhook.test` for this endpoint. */
  async createTest({ accountId, endpointId }: EndpointAddress): Promise<WebhookDelivery> {
    const id = this.newId();
    const data = { endpoint_id: endpointId };
    const timestamp = new Date().toISOString();
    const body = { type: 'webhook.test', timestamp, account_id: accountId, agent_id: null, data };
    const values = [accountId, endpointId, `whd_${id}${endpointId.slice(4)}`, `evt_${id}`, JSON.stringify(body)];
    const row = await insertTest.first(this.database.sql, values);
    if (!row) throw endpointNotFound(endpointId);
    return row;
  }

  /** Deletes at most 5,000 that are older than 30 days and not pending; the next call continues. */
  async prune(): Promise<number> {
    return (await this.database.sql.query(prune)).length;
  }
}

function statementFor({ endpointId, runId: run, status }: DeliveryFilter): CheckedQuery<WebhookDelivery> {
  if (run !== undefined) return ofRun;
  if (endpointId !== undefined) return ofEndpoint;
  return status === 'dead' ? dead : ofAccount;
}

function found(row: WebhookDelivery | undefined, id: WebhookDeliveryId): WebhookDelivery {
  if (!row) throw new TerminalError('webhook_delivery_not_found', `There is no webhook delivery ${id}.`);
  return row;
}

const endpointPaused = () =>
  new TerminalError('webhook_endpoint_paused', 'Its endpoint is paused. Resume it first: PATCH {"is_paused": false}.');
