import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyHashed, copyUnread, hasHoles, longBytes, readShort, sha256 } from './copy-content';

const mebibyte = 1024 * 1024;

describe('the copy of a file', () => {
  let directory: string;
  let from: string;
  let to: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'copy-content-'));
    [from, to] = [join(directory, 'from'), join(directory, 'to')];
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  async function copy(make: (files: { from: number; into: number }) => Promise<unknown>): Promise<unknown> {
    const files = { from: openSync(from, 'r'), into: openSync(to, 'wx') };
    try {
      return await make(files);
    } finally {
      closeSync(files.from);
      closeSync(files.into);
    }
  }

  it('has its bytes, and its hash where that is asked for', async () => {
    const bytes = Buffer.alloc(3 * longBytes + 1, 'some text ');
    writeFileSync(from, bytes);
    let counted = 0;
    const count = (more: number) => void (counted += more);

    await expect(copy((files) => copyHashed({ ...files, count }))).resolves.toEqual({
      content: sha256(bytes),
      size: bytes.length,
    });
    expect([readFileSync(to).equals(bytes), counted]).toEqual([true, bytes.length]);
    rmSync(to);
    await copy(({ from: file, into }) => copyUnread(file, into));
    expect(readFileSync(to).equals(bytes)).toBe(true);
  });

  it('has its holes', async () => {
    writeFileSync(from, 'x');
    truncateSync(from, 20 * mebibyte);
    expect(hasHoles(statSync(from))).toBe(true);

    await expect(copy(copyHashed)).resolves.toEqual({ content: sha256(readFileSync(from)), size: 20 * mebibyte });
    expect(statSync(to).blocks * 512).toBeLessThan(mebibyte);
    expect(hasHoles(statSync(to))).toBe(true);
  });

  it('is made at once of a short one only', () => {
    writeFileSync(from, Buffer.alloc(longBytes - 1));
    expect(readShort(Buffer.from(from))).toHaveLength(longBytes - 1);
    writeFileSync(from, Buffer.alloc(longBytes));
    expect(readShort(Buffer.from(from))).toBe('long');
    expect(readShort(Buffer.from(directory))).toBeUndefined();
  });
});
