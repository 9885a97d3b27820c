import pg from 'pg';

const databaseIsMissing = '3D000';
const databaseExists = '42P04';

/** Exit code 0 when the database answers; else one error line in the native engine's log format, and 1. */
export async function canConnect(url) {
  try {
    await withClient(url, (client) => client.query('select 1'));
    return 0;
  } catch (error) {
    return fail(error, url);
  }
}

/** Exit code 0 when the database exists afterwards. */
export async function createDatabase(url) {
  const maintenance = new URL(url);
  const name = decodeURIComponent(maintenance.pathname.slice(1));
  maintenance.pathname = '/postgres';
  try {
    await withClient(maintenance.href, (client) => client.query(`create database ${pg.escapeIdentifier(name)}`));
    return 0;
  } catch (error) {
    return error.code === databaseExists ? 0 : fail(error, url);
  }
}

async function withClient(connectionString, use) {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => undefined); // a connection that never opened has nothing to close
  }
}

function fail(error, url) {
  logLine('INFO', { message: 'The schema engine runs as WebAssembly' }); // the CLI skips the first line
  logLine('ERROR', prismaError(error, new URL(url)));
  return 1;
}

function prismaError(error, { hostname, port, pathname, username }) {
  const database = pathname.slice(1);
  const server = `${hostname}:${port || 5432}`;
  if (error.code === databaseIsMissing) {
    return {
      error_code: 'P1003',
      message: `Database \`${database}\` does not exist on the database server at \`${server}\`.`,
    };
  }
  if (error.code === '28P01' || error.code === '28000') {
    return { error_code: 'P1000', message: `Authentication failed against the database server for \`${username}\`.` };
  }
  return {
    error_code: 'P1001',
    message: `Can't reach database server at \`${server}\`: ${error.message || error.code}`,
  };
}

function logLine(level, fields) {
  process.stderr.write(`${JSON.stringify({ level, target: 'schema_engine::logger', fields })}\n`);
}
