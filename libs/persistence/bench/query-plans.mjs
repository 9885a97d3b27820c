/**
 * The plans of the statements that a run costs, as Postgres makes them for one of our connections; needs a build. A database
 * of its own is given 600 runs; then one more goes its way, and whatever it asks is explained, in that order.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { Infrastructure } from '../../../deploy/local/servers/infrastructure.mjs';
import { migrate } from '../../../deploy/local/servers/apply-migrations.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

const load = createRequire(import.meta.url);
const { Client } = load('pg');

const servers = new Infrastructure({
  dataDir: join(repoRoot, '.data/query-plans'),
  packagesDirectory: join(repoRoot, '.data'),
  want: ['postgres'],
  env: { PATH: process.env.PATH },
});
await servers.start();
await migrate({ url: servers.env.DATABASE_URL, directory: join(repoRoot, 'prisma/migrations') });
process.env.TEST_DATABASE_URL = servers.env.DATABASE_URL;
const { StoreFixture, completed, planned, reply } = load('../dist/testing/store-fixture.js');
const fixture = await StoreFixture.open();
try {
  for (let run = 0; run < 300; run += 1) await liveOnce();
  for (let run = 0; run < 300; run += 1) await fixture.create(); // active, as on a deployment under load
  await fixture.database.sql.query('analyze');
  const asked = recordStatements();
  await liveOnce((step) => asked.push({ step }));
  for (const { step, text } of [...asked]) {
    if (step) console.log(`\n## ${step}\n`);
    else console.log(['```', await toPlan(text), '```'].join('\n'));
  }
} finally {
  await fixture.close();
  await servers.stop();
}

/** From its creation to its end, as gateway and worker ask for it. */
async function liveOnce(goesOnTo = () => {}) {
  goesOnTo('Create a run');
  const { run } = await fixture.create();
  goesOnTo('Claim a run');
  const claim = await fixture.claim(run.id);
  goesOnTo('Append an iteration');
  await fixture.store.append(claim, [reply(claim, 'Hello.'), planned(claim, { name: 'ask' })]);
  goesOnTo('Read facts for a subscriber');
  await fixture.runs.events({ accountId: fixture.accountId, runId: run.id }, { after: 2, limit: 200 });
  goesOnTo('Count the active runs of an account');
  await fixture.runs.countActive(fixture.accountId, 100);
  goesOnTo('Find a run that waits for the thread');
  await fixture.store.append(claim, [completed]);
  goesOnTo('Search in the inputs of runs');
  await fixture.runs.list({ accountId: fixture.accountId, words: 'go', limit: 50 });
}

/** What is prepared from now on, each text once. */
function recordStatements() {
  const asked = [];
  const { query } = Client.prototype;
  Client.prototype.query = function (given, ...more) {
    const isNew = given.name && !asked.some(({ text }) => text === given.text);
    if (isNew) asked.push({ text: given.text });
    return query.call(this, given, ...more);
  };
  return asked;
}

/** The one that a connection keeps, whatever it will be given. */
function toPlan(text) {
  const parameters = new Set(text.match(/\$\d+/g)).size;
  const nothing = parameters > 0 ? `(${Array(parameters).fill('null').join(', ')})` : '';
  return fixture.database.transaction(async (sql) => {
    await sql.query(`prepare asked as ${text}`);
    const lines = await sql.query(`explain (costs off) execute asked${nothing}`);
    await sql.query('deallocate asked');
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  });
}
