import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brokenReferences } from '../../../deploy/local/checks/doc-links.mjs';
import { withAge } from '../../../deploy/local/checks/scorecard-age.mjs';

describe('the check of links and file names in documents', () => {
  let root: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const brokenIn = (text: string) => {
    write('docs/guide.md', text);
    return brokenReferences(root);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'doc-links-'));
    write('libs/domain/src/loop/run-agent.ts', '');
    write('docs/events.md', '# Events\n\n## `run.failed`, and how (often)\n');
  });

  afterEach(() => rmSync(root, { recursive: true }));

  it.each([
    '[events](events.md)',
    '[failures](events.md#runfailed-and-how-often)',
    '[the same page](#here)\n\n## Here',
    '[elsewhere](https://example.com/missing.md)',
    '`libs/domain/src/loop/run-agent.ts`, `run-agent.ts` and `libs/domain/`',
    '`node libs/domain/src/loop/run-agent.ts --fast`',
    '```sh\ncat libs/missing.ts\n[no link](missing.md)\n```',
    '`GET /v1/runs/{id}`, `/etc/resolv.conf` and `tool.call.<executor>`',
  ])('accepts %j', (text) => {
    expect(brokenIn(text)).toEqual([]);
  });

  it.each([
    ['a link to a missing file', '[a](missing.md)', 'missing.md'],
    ['a link to a missing heading', '[a](events.md#missing)', 'events.md#missing'],
    ['a path that does not exist', '`libs/domain/src/run-agent.ts`', '`libs/domain/src/run-agent.ts`'],
    ['a file name that no source file has', '`missing.spec.ts`', '`missing.spec.ts`'],
    ['a path inside a command', '`node libs/missing.mjs`', '`libs/missing.mjs`'],
  ])('reports %s with its line', (_, text, broken) => {
    expect(brokenIn(`# Guide\n\n${text}`)).toEqual([`docs/guide.md:3: ${broken}`]);
  });
});

describe('the first line of the scorecard', () => {
  const page = '# Scorecard\n\nFigures.\n';

  it.each([undefined, { commits: 201, files: 0 }, { commits: 1, files: 301 }])(
    'says that a page of %j ago is out of date, and says it once',
    (age) => {
      const aged = withAge(page, age);

      expect(aged).toMatch(/^> \*\*Out of date\.\*\* .*\n\n# Scorecard/);
      expect(withAge(aged, age)).toBe(aged);
    },
  );

  it('is the title of a page that is new', () => {
    expect(withAge(withAge(page, undefined), { commits: 200, files: 300 })).toBe(page);
  });
});
