import { toContent, toDirectory, joinPath, toName } from './file-content';

const createBytes = (...values: number[]) => new Uint8Array(values);

it('text is text, and a picture is known by its bytes', () => {
  expect(toContent(new TextEncoder().encode('<svg onload="x()">äöü</svg>'))).toEqual({
    kind: 'text',
    text: '<svg onload="x()">äöü</svg>',
  });
  expect(toContent(createBytes(0x89, 0x50, 0x4e, 0x47, 0))).toMatchObject({ kind: 'picture' });
  expect(toContent(createBytes())).toEqual({ kind: 'text', text: '' });
});

it.each([[[0xff, 0xfe, 0x41]], [[0x41, 0, 0x42]]])('%j is neither', (values) => {
  expect(toContent(createBytes(...values))).toEqual({ kind: 'bytes' });
});

it('takes paths apart and puts them together', () => {
  expect([
    joinPath('', 'a'),
    joinPath('src', 'a'),
    toName('src/a.ts'),
    toDirectory('src/lib/a.ts'),
    toDirectory('a'),
  ]).toEqual(['a', 'src/a', 'a.ts', 'src/lib', '']);
});
