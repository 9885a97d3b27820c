import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const sources = join(__dirname, '..');
/** What people write in, and what shows a title of theirs. */
const places = /<textarea\b[^>]*>|<input\b[^>]*>|<[^<>]*className="run-title"[^>]*>/g;
/** Choices, files and keys. */
const others = /type="(checkbox|radio|range|file|password|number|url)"/;

it('every place for words of a person takes the direction of those words', () => {
  const files = readdirSync(sources, { encoding: 'utf8', recursive: true }).filter((file) =>
    /(?<!\.spec)\.tsx$/.test(file),
  );
  const tags = files.flatMap((file) =>
    [...readFileSync(join(sources, file), 'utf8').replaceAll('=>', '').matchAll(places)].map(
      ([tag]) => `${file}: ${tag}`,
    ),
  );

  expect(tags.length).toBeGreaterThan(15);
  expect(tags.filter((tag) => !tag.includes('dir="auto"') && !others.test(tag))).toEqual([]);
});
