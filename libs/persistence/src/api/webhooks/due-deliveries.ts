import { type WebhookEventType, webhookEventType } from '@rondo/contract';
import type { Database } from '../../database/database';
import { toStoredText } from '../../database/stored-text';
import type { SealedSecret } from '../triggers/webhook-row';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../database/checked-query';

export interface ReceivingEndpoint {
  readonly url: string;
  readonly secrets: readonly SealedSecret[];
  readonly isPaused: boolean;
}

/** A delivery that this process is to attempt. */
export interface DueDelivery {
  readonly id: string;
  readonly accountId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly type: WebhookEventType;
  /** The same bytes in every attempt. */
  readonly body: string;
  /** How many attempts have failed. */
  readonly attempts: number;
  /** Undefined once it is deleted. */
  readonly endpoint: ReceivingEndpoint | undefined;
}

export interface FailedAttempt {
  readonly error: string;
  readonly responseStatus: number | null;
}

export interface DueDeliveriesRequest {
  /** What belongs to these is left alone. */
  readonly busy: { readonly endpoints: readonly string[]; readonly accounts: readonly string[] };
  /** Taken at once. */
  readonly most: { readonly ofEndpoint: number; readonly ofAccount: number };
}

/** A row without a delivery says only how many were due. An endpoint that was deleted has no columns. */
const deliveryColumns = {
  due: z.number(),
  id: z.string(),
  account_id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string(),
  type: webhookEventType,
  body: z.string(),
  attempts: z.number(),
};
const dueRow = z.union([
  z.object({
    ...deliveryColumns,
    url: z.string(),
    secrets: jsonDocument<readonly SealedSecret[]>(),
    is_paused: z.boolean(),
  }),
  z.object({ ...deliveryColumns, url: z.null() }),
  z.object({ due: z.number(), id: z.null() }),
]);
type DueRow = z.infer<typeof dueRow>;

/** An attempt ends well within this. After it, the process that made it counts as dead, and another one tries. */
const leaseS = 60;

/**
 * Takes what is due, a few of each endpoint and of each account. A fact whose run has an earlier one that is not delivered is put behind that.
 * `now()` instead of `clock_timestamp()`, so that the index of what is due is used; a millisecond more, as stored times are
 * rounded, and what is due at once may be rounded up.
 */
const claimDue = createQuery(
  dueRow,
  `
with due as materialized (
  select id, endpoint_id, account_id, run_id, seq, next_attempt_at from webhook_deliveries
  where status = 'pending' and next_attempt_at <= now() + interval '1 ms' and endpoint_id <> all($1::text[])
    and account_id <> all($3::text[])
  order by next_attempt_at limit 200 for update skip locked
),
judged as (
  select due.*, earlier.next_attempt_at as behind from due left join lateral (
    select coalesce(next_attempt_at, now()) as next_attempt_at from webhook_deliveries as other
    where other.run_id = due.run_id and other.endpoint_id = due.endpoint_id and other.seq < due.seq and status = 'pending'
    order by seq limit 1
  ) as earlier on true
),
put_behind as (
  update webhook_deliveries set next_attempt_at = greatest(behind, now()) + interval '1 s'
  from judged where webhook_deliveries.id = judged.id and behind is not null
),
chosen as (
  select id from (
    select id, row_number() over (partition by endpoint_id order by next_attempt_at, id) as place,
      row_number() over (partition by account_id order by next_attempt_at, id) as place_in_account
    from judged where behind is null
  ) as heads where place <= $2 and place_in_account <= $4
),
claimed as (
  update webhook_deliveries set next_attempt_at = clock_timestamp() + ${leaseS} * interval '1 s'
  from chosen where webhook_deliveries.id = chosen.id returning webhook_deliveries.*
)
select counted.due, claimed.id, claimed.account_id, endpoint_id, event_id, type, body::text, attempts, url, secrets, is_paused
from (select count(*)::int as due from due) as counted left join claimed on true
  left join webhook_endpoints on webhook_endpoints.id = claimed.endpoint_id`,
);

/** The next fact of the run follows at once. */
const andNext = `
update webhook_deliveries set next_attempt_at = clock_timestamp() where id = (
  select next.id from ended join webhook_deliveries as next
    on next.run_id = ended.run_id and next.endpoint_id = ended.endpoint_id and next.seq > ended.seq and next.status = 'pending'
  order by next.seq limit 1
)`;

/** True even if it was given up meanwhile: the endpoint has it. */
const delivered = `
with ended as (
  update webhook_deliveries set status = 'delivered', delivered_at = clock_timestamp(), next_attempt_at = null,
    attempts = attempts + 1, response_status = $2, error = null
  where id = $1 returning run_id, endpoint_id, seq
) ${andNext}`;

const givenUp = `
with ended as (
  update webhook_deliveries set status = 'dead', next_attempt_at = null, attempts = attempts + $5, response_status = $3, error = $4
  where id = $1 and attempts = $2 and status = 'pending' returning run_id, endpoint_id, seq
) ${andNext}`;

const retried = `
update webhook_deliveries set attempts = attempts + 1, next_attempt_at = clock_timestamp() + $5::float * interval '1 ms',
  response_status = $3, error = $4
where id = $1 and attempts = $2 and status = 'pending'`;

const released = `
update webhook_deliveries set next_attempt_at = clock_timestamp() where id = $1 and attempts = $2 and status = 'pending'`;

const forgotten = `delete from webhook_deliveries where id = $1`;

/** The deliveries of all accounts, for the processes that make the attempts. Several may do so at once. */
export class DueDeliveries {
  constructor(private readonly database: Database) {}

  /** `seen` counts what was due, taken or not: while it is not 0, there may be more. */
  async claim({ busy, most }: DueDeliveriesRequest): Promise<{ seen: number; claimed: readonly DueDelivery[] }> {
    const values = [busy.endpoints, most.ofEndpoint, busy.accounts, most.ofAccount];
    const rows = await claimDue.all(this.database.sql, values);
    return { seen: rows[0]?.due ?? 0, claimed: rows.flatMap(toDue) };
  }

  async recordDelivery({ id }: DueDelivery, responseStatus: number): Promise<void> {
    await this.database.sql.query(delivered, [id, responseStatus]);
  }

  async retry(delivery: DueDelivery, failed: FailedAttempt, delayMs: number): Promise<void> {
    await this.database.sql.query(retried, [...listValues(delivery, failed), delayMs]);
  }

  /** Into the list of the dead. `attempted` is false when no attempt was made. */
  async giveUp(delivery: DueDelivery, failed: FailedAttempt, attempted = true): Promise<void> {
    await this.database.sql.query(givenUp, [...listValues(delivery, failed), attempted ? 1 : 0]);
  }

  /** Its attempt was broken off here: whichever process comes next makes it. */
  async release({ id, attempts }: DueDelivery): Promise<void> {
    await this.database.sql.query(released, [id, attempts]);
  }

  /** Its endpoint does not exist. */
  async forget({ id }: DueDelivery): Promise<void> {
    await this.database.sql.query(forgotten, [id]);
  }
}

const listValues = ({ id, attempts }: DueDelivery, { responseStatus, error }: FailedAttempt) => [
  ...[id, attempts, responseStatus],
  toStoredText(error),
];

const toDue = (row: DueRow): DueDelivery[] =>
  row.id === null
    ? []
    : [
        {
          id: row.id,
          accountId: row.account_id,
          endpointId: row.endpoint_id,
          eventId: row.event_id,
          type: row.type,
          body: row.body,
          attempts: row.attempts,
          endpoint: row.url === null ? undefined : { url: row.url, secrets: row.secrets, isPaused: row.is_paused },
        },
      ];
