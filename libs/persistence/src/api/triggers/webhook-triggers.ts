import {
  type AccountId,
  type NewId,
  type WebhookTrigger,
  type WebhookTriggerId,
  accountId,
  webhookTriggerId,
} from '@rondo/contract';
import type { Database } from '../../database/database';
import type { Sql } from '../../database/sql';
import { toStoredText } from '../../database/stored-text';
import { type QuotaBounds, writeWithin } from '../billing/quota-bounds';
import { type Page, type PageRequest, idOfCursor, toPage } from '../page';
import { lastExecution, lastExecutionColumn } from './executions';
import { requireFreePlace, threadOfTrigger, type TriggersOfAgent, isOfAgent } from './trigger';
import {
  type SealedSecret,
  type StoredWebhookTrigger,
  triggerNotFound,
  webhookColumns,
  webhookRow,
  toWebhookTrigger,
} from './webhook-row';
import type { z } from 'zod';
import { createQuery } from '../../database/checked-query';

export interface TriggerAddress {
  readonly accountId: AccountId;
  readonly triggerId: WebhookTriggerId;
}

/** The fields of a trigger that a client sets. */
export type WebhookFields = Pick<
  WebhookTrigger,
  'name' | 'signature' | 'tolerance_s' | 'overlap' | 'thread' | 'thread_id' | 'run' | 'is_paused'
>;

export interface NewWebhookTrigger extends TriggerAddress {
  readonly fields: WebhookFields;
  readonly secret: SealedSecret;
  readonly bounds?: QuotaBounds | undefined;
}

export interface WebhookChange extends TriggerAddress {
  /** Undefined leaves a field as it is. */
  readonly fields: { readonly [Name in keyof WebhookFields]?: WebhookFields[Name] | undefined };
  readonly bounds?: QuotaBounds | undefined;
}

/** A trigger as the route of webhooks needs it. */
export interface SigningTrigger {
  readonly accountId: AccountId;
  readonly trigger: WebhookTrigger;
  readonly secrets: readonly SealedSecret[];
}

const shownRow = webhookRow.extend(lastExecutionColumn);
const shownColumns = `${webhookColumns}, ${lastExecution}`;

const toShown = (row: z.infer<typeof shownRow>): StoredWebhookTrigger => ({
  ...toWebhookTrigger(row),
  last_execution: row.last_execution,
});

const insertTrigger = createQuery(
  shownRow,
  `
insert into triggers (id, account_id, kind, name, signature, tolerance_s, overlap, thread_id, run, is_paused, secrets)
values ($1, $2, 'webhook', $3, $4, $5, $6, $7, $8, $9, $10) returning ${shownColumns}`,
);

const updateTrigger = createQuery(
  shownRow,
  `
update triggers set name = $3, signature = $4, tolerance_s = $5, overlap = $6, thread_id = $7, run = $8, is_paused = $9,
  updated_at = clock_timestamp()
where id = $1 and account_id = $2 returning ${shownColumns}`,
);

const setSecrets = createQuery(
  shownRow,
  `update triggers set secrets = $2, updated_at = clock_timestamp() where id = $1 returning ${shownColumns}`,
);

const oneTrigger = createQuery(
  shownRow,
  `select ${shownColumns} from triggers where kind = 'webhook' and account_id = $1 and id = $2`,
);
const lockedTrigger = createQuery(shownRow, `${oneTrigger.text} for update`);
const deleteTrigger = `delete from triggers where kind = 'webhook' and account_id = $1 and id = $2 returning id`;

const newestTriggers = createQuery(
  shownRow,
  `
select ${shownColumns} from triggers
where kind = 'webhook' and account_id = $1 and ($2::text is null or id < $2) and ${isOfAgent('$3')}
order by id desc limit $4`,
);

const ofAnyAccount = createQuery(
  webhookRow.extend({ account_id: accountId }),
  `
select account_id, ${webhookColumns} from triggers join accounts on accounts.id = account_id
where kind = 'webhook' and triggers.id = $1 and removed_at is null`,
);

/** Webhook triggers of one account each: another account's trigger does not exist (`trigger_not_found`). */
export class WebhookTriggers {
  constructor(
    private readonly database: Database,
    private readonly newId: NewId,
  ) {}

  /** Rejects with `too_many_triggers` and `thread_not_found`, and with QuotaReached. */
  create(wanted: NewWebhookTrigger): Promise<StoredWebhookTrigger> {
    const { accountId: account, triggerId, fields, secret } = wanted;
    return this.inTransaction(wanted, async (sql) => {
      await requireFreePlace(sql, account);
      const thread = await threadOfTrigger(sql, this.newId, { accountId: account, fields });
      const values = [triggerId, account, ...listColumns(fields, thread), JSON.stringify([secret])];
      const row = await insertTrigger.first(sql, values);
      if (!row) throw triggerNotFound(triggerId);
      return toShown(row);
    });
  }

  private inTransaction<Stored>(
    place: { readonly accountId: AccountId; readonly bounds?: QuotaBounds | undefined },
    work: (sql: Sql) => Promise<Stored>,
  ): Promise<Stored> {
    return this.database.transaction((sql) => writeWithin(sql, place, () => work(sql)));
  }

  async get({ accountId: account, triggerId }: TriggerAddress): Promise<StoredWebhookTrigger> {
    const row = await oneTrigger.first(this.database.sql, [account, triggerId]);
    if (!row) throw triggerNotFound(triggerId);
    return toShown(row);
  }

  /** For the route of webhooks, whose sender has no account. */
  async find(triggerId: WebhookTriggerId): Promise<SigningTrigger | undefined> {
    const row = await ofAnyAccount.first(this.database.sql, [triggerId]);
    return row && { accountId: row.account_id, trigger: toWebhookTrigger(row), secrets: row.secrets };
  }

  /** Newest first. */
  async list(request: PageRequest & TriggersOfAgent): Promise<Page<StoredWebhookTrigger>> {
    const { accountId: account, agentId, after, limit } = request;
    const cursor = after === undefined ? null : idOfCursor(after, webhookTriggerId);
    const values = [account, cursor, agentId ?? null, limit + 1];
    const rows = await newestTriggers.all(this.database.sql, values);
    return toPage(rows.map(toShown), limit);
  }

  update(change: WebhookChange): Promise<StoredWebhookTrigger> {
    const { accountId: account, triggerId, fields } = change;
    return this.inTransaction(change, async (sql) => {
      const row = await lockedTrigger.first(sql, [account, triggerId]);
      if (!row) throw triggerNotFound(triggerId);
      const known = toWebhookTrigger(row);
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      const changed: WebhookFields = { ...known, ...given };
      const isSameThread = changed.thread === known.thread && changed.thread_id === known.thread_id;
      const findThread = () => threadOfTrigger(sql, this.newId, { accountId: account, fields: changed });
      const thread = isSameThread ? known.thread_id : await findThread();
      const updated = await updateTrigger.first(sql, [triggerId, account, ...listColumns(changed, thread)]);
      if (!updated) throw triggerNotFound(triggerId);
      return toShown(updated);
    });
  }

  /** The newest secret is accepted beside the new one until it expires; older ones are not. */
  rotate(
    { accountId: account, triggerId }: TriggerAddress,
    secret: SealedSecret,
    expiresAt: Date,
  ): Promise<StoredWebhookTrigger> {
    return this.database.transaction(async (sql) => {
      const row = await lockedTrigger.first(sql, [account, triggerId]);
      if (!row) throw triggerNotFound(triggerId);
      const kept = row.secrets.slice(0, 1).map((former) => ({ ...former, expires_at: expiresAt.toISOString() }));
      const updated = await setSecrets.first(sql, [triggerId, JSON.stringify([secret, ...kept])]);
      if (!updated) throw triggerNotFound(triggerId);
      return toShown(updated);
    });
  }

  /** With its executions. Its runs stay. */
  async delete({ accountId: account, triggerId }: TriggerAddress): Promise<void> {
    const deleted = await this.database.sql.query(deleteTrigger, [account, triggerId]);
    if (deleted.length === 0) throw triggerNotFound(triggerId);
  }
}

const listColumns = (fields: WebhookFields, thread: string | null) => [
  ...[toStoredText(fields.name), fields.signature, fields.tolerance_s, fields.overlap, thread],
  ...[JSON.stringify(fields.run), fields.is_paused],
];
