import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';

const oidOfChar = 18;
const oidOfText = 25;

/**
 * `@prisma/adapter-pg` as a schema engine needs it.
 *
 * It takes the URL apart, because pg lets a `connectionString` win over `database`: with one, the shadow
 * database that `migrate dev` fills and drops would be the real one.
 */
export class SchemaEngineAdapterFactory extends PrismaPg {
  #connection;

  constructor(url) {
    const connection = parseIntoClientConfig(url);
    super(connection, { schema: new URL(url).searchParams.get('schema') ?? 'public' });
    this.#connection = connection;
  }

  async connect() {
    return forSchemaEngine(await super.connect());
  }

  async connectToShadowDb() {
    const database = `prisma_migrate_shadow_db_${randomUUID()}`;
    await this.#administer(`create database "${database}"`);
    const shadow = await new PrismaPg({ ...this.#connection, database }).connect();
    const disconnect = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await disconnect();
      await this.#administer(`drop database "${database}"`);
    };
    return forSchemaEngine(shadow);
  }

  async #administer(statement) {
    const client = new pg.Client(this.#connection);
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }
}

/**
 * Reads the catalogue's `"char"` columns, which the adapter cannot, as what the engine expects of them (one letter for
 * a constraint's kind, text for the others), and sends a migration as one
 * script, which the adapter would cut at every semicolon, also inside a function's body.
 */
function forSchemaEngine(adapter) {
  const performIO = adapter.performIO.bind(adapter);
  adapter.performIO = async (query) => {
    const result = await performIO(query);
    for (const field of result.fields) {
      if (field.dataTypeID === oidOfChar) field.dataTypeID = oidOfText;
    }
    return result;
  };
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    const constraintType = result.columnNames.indexOf('constraint_type');
    if (constraintType >= 0) result.columnTypes[constraintType] = ColumnTypeEnum.Character;
    return result;
  };
  adapter.executeScript = async (script) => {
    await adapter
      .underlyingDriver()
      .query(script)
      .catch((error) => adapter.onError(error));
  };
  return adapter;
}
