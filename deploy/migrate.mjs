/** Applies the migrations to DATABASE_URL, as a deployment's one step before its services start. */
import { join } from 'node:path';
import { migrate } from './local/migrate.mjs';
import { repoRoot } from './local/repo-root.mjs';

const applied = await migrate({ url: process.env.DATABASE_URL, directory: join(repoRoot, 'prisma/migrations') });
console.log(applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the database is up to date');
