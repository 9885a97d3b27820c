import type { AccountId, AccountSettings } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import type { Database } from '../database/database';
import { createQuery, jsonDocument } from '../database/checked-query';

/** What an account keeps for its runs. */
export interface KeptSettings {
  readonly settings: AccountSettings;
  /** Null: none were ever stored. */
  readonly updated_at: string | null;
}

const settingsRow = z.object({ settings: jsonDocument<AccountSettings>().nullable(), updated_at: z.date().nullable() });

const columns = `settings, settings_updated_at as updated_at`;

const selectSettings = createQuery(settingsRow, `select ${columns} from accounts where id = $1`);

const updateSettings = createQuery(
  settingsRow,
  `update accounts set settings = $2, settings_updated_at = clock_timestamp() where id = $1 returning ${columns}`,
);

/** The settings that accounts keep. */
export class StoredSettings {
  constructor(private readonly database: Database) {}

  /** Rejects with `account_not_found`. */
  async read(account: AccountId): Promise<KeptSettings> {
    return toKept(account, await selectSettings.first(this.database.sql, [account]));
  }

  /** Replaces them. Rejects with `account_not_found`. */
  async write(account: AccountId, settings: AccountSettings): Promise<KeptSettings> {
    return toKept(account, await updateSettings.first(this.database.sql, [account, JSON.stringify(settings)]));
  }
}

function toKept(account: AccountId, row: z.infer<typeof settingsRow> | undefined): KeptSettings {
  if (!row) throw new TerminalError('account_not_found', `There is no account ${account}.`);
  return { settings: row.settings ?? {}, updated_at: row.updated_at?.toISOString() ?? null };
}
