import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deltaType, factTypes } from './run-event';

const document = readFileSync(join(__dirname, '../../../docs/events.md'), 'utf8');
const [table = ''] = document.split('| type | `data` |')[1]?.split('\n\n') ?? [];

/** The event types of the first column. */
const named = table
  .split('\n')
  .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+\.\w+)`/g)].map(([, type]) => type));

describe('docs/events.md', () => {
  it.each([...factTypes, ...deltaType.options])('describes the data of %s', (type) => {
    expect(named).toContain(type);
  });

  it('describes no unknown type', () => {
    expect(new Set(named)).toEqual(new Set([...factTypes, ...deltaType.options]));
  });
});
