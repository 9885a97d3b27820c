/** A post-renderer of Helm: rendered objects in, the same objects for this cluster out. */
import { text } from 'node:stream/consumers';
import { CORE_SCHEMA, loadAll } from 'js-yaml';
import { translate } from './translate.mjs';

const objects = loadAll(await text(process.stdin), { schema: CORE_SCHEMA }).filter(Boolean);
process.stdout.write(
  translate(objects)
    .map((object) => `---\n${JSON.stringify(object)}\n`)
    .join(''),
);
