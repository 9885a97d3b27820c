import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deltaType, factTypes } from './run-event';

const document = readFileSync(join(__dirname, '../../../docs/events.md'), 'utf8');
const [table = ''] = document.split('| type | `data` |')[1]?.split('\n\n') ?? [];

/** What the first column names, row by row. */
const named = table
  .split('\n')
  .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+\.\w+)`/g)].map(([, type]) => type));

describe('docs/events.md', () => {
  it.each([...factTypes, ...deltaType.options])('says what is in %s', (type) => {
    expect(named).toContain(type);
  });

  it('names no type that there is not', () => {
    expect(new Set(named)).toEqual(new Set([...factTypes, ...deltaType.options]));
  });
});
