/** The last migration before these rules; every later one must obey them. */
const before = '20261130';

/** A table that the same migration creates is not in use yet. */
const listTablesMadeHere = (statements) =>
  statements.flatMap((text) => /^create (?:unlogged )?table (?:if not exists )?"?(\w+)/i.exec(text)?.[1] ?? []);

const concurrently = /^(create (?:unique )?index|drop index|reindex index) concurrently /i;

const findTable = (text) =>
  /^(?:alter table|create (?:unique )?index .*? on|update|delete from) (?:if exists |only )*"?(\w+)/i.exec(text)?.[1];

/** Changes that break services of the previous version or block their statements. */
const refusals = [
  [/^drop (?!index concurrently)/i, 'drops what services of the version before may use'],
  [/^truncate/i, 'deletes what services of the version before may use'],
  [/^alter .*\bdrop (?!default|not null)/i, 'drops what services of the version before may use'],
  [/^alter .*\brename\b/i, 'renames what services of the version before use'],
  [/^alter table .*\balter (?:column )?"?\w+"? (?:set data )?type\b/i, 'changes a type, which rewrites the table'],
  [
    /^alter table .*\balter (?:column )?"?\w+"? set not null/i,
    'makes a column NOT NULL that services of the version before may leave out',
  ],
  [
    /^alter table .*\badd (?:column )?(?:if not exists )?"?\w+"? [^,]*\bnot null\b(?![^,]*\bdefault\b)(?<!\bdefault\b[^,]*)/i,
    'adds a NOT NULL column without a default',
  ],
  [
    /^alter table .*\bdefault (?:clock_timestamp|random|gen_random_uuid|nextval)\b/i,
    'adds a default that rewrites the table',
  ],
  [/^alter table .*\bgenerated always as \(.*\) stored/i, 'adds a generated column, which rewrites the table'],
  [
    /^alter table .*\badd constraint (?!.*\bnot valid\b)(?!.*\busing index\b)/i,
    'adds a constraint that is checked under a lock: NOT VALID first',
  ],
  [/^alter table .*\bset (?:logged|unlogged|tablespace)\b/i, 'rewrites the table'],
  [/^create (?:unique )?index (?!concurrently)/i, 'makes an index that writers wait for: CONCURRENTLY'],
  [/^(?:lock|vacuum full|cluster)\b/i, 'locks a table'],
];

/** Statements without comments, each on one line. Dollar-quoted bodies are not split. */
function toStatements(script) {
  const bodies = [];
  const text = script
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, (body) => `$${bodies.push(body) - 1}$`)
    .replace(/--.*$/gm, '')
    .replace(/\/\*[\s\S]*?\*\//g, '');
  return text
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

/**
 * The reasons why services of the previous version could not continue while or after this migration is applied. A migration
 * may only expand the schema. What is no longer used is dropped one version later, by a migration that says so in a line
 * `-- contract: …`.
 *
 * @param {{ name: string, script: string }} migration
 * @returns {string[]}
 */
export function listFlaws({ name, script }) {
  if (name < before) return [];
  const statements = toStatements(script);
  if (statements.some((text) => concurrently.test(text))) {
    return statements.length === 1
      ? []
      : ['CONCURRENTLY must be the only statement, as it cannot be part of a transaction'];
  }
  const flaws = /^set (local )?lock_timeout/i.test(statements[0] ?? '') ? [] : ['must begin with SET lock_timeout'];
  if (/^--\s*contract:\s*\S/m.test(script)) return flaws;
  const own = listTablesMadeHere(statements);
  for (const text of statements.filter((statement) => !own.includes(findTable(statement)))) {
    for (const [pattern, flaw] of refusals) if (pattern.test(text)) flaws.push(`${flaw}: ${text.slice(0, 100)}`);
  }
  return flaws;
}
