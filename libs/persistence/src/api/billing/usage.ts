import type { UsageEntry, UsageGroup } from '@rondo/contract';
import type { Database } from '../../database/database';
import type { Page, PageRequest } from '../page';
import { listUsageEntries } from './usage-entries';
import type { UsageFilter } from './usage-filter';
import { type UsageReport, readUsage } from './usage-report';

/** What the model calls of an account have used, from the ledger of usage entries. */
export class UsageLedger {
  constructor(private readonly database: Database) {}

  report(
    filter: UsageFilter & { readonly groups: readonly UsageGroup[]; readonly limit: number },
  ): Promise<UsageReport> {
    return readUsage(this.database.sql, filter);
  }

  entries(filter: UsageFilter & PageRequest): Promise<Page<UsageEntry>> {
    return listUsageEntries(this.database.sql, filter);
  }
}
