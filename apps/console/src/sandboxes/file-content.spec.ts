import { contentOf, directoryOf, joined, nameOf } from './file-content';

const bytesOf = (...values: number[]) => new Uint8Array(values);

it('text is text, and a picture is known by its bytes', () => {
  expect(contentOf(new TextEncoder().encode('<svg onload="x()">äöü</svg>'))).toEqual({
    kind: 'text',
    text: '<svg onload="x()">äöü</svg>',
  });
  expect(contentOf(bytesOf(0x89, 0x50, 0x4e, 0x47, 0))).toMatchObject({ kind: 'picture' });
  expect(contentOf(bytesOf())).toEqual({ kind: 'text', text: '' });
});

it.each([[[0xff, 0xfe, 0x41]], [[0x41, 0, 0x42]]])('%j is neither', (values) => {
  expect(contentOf(bytesOf(...values))).toEqual({ kind: 'bytes' });
});

it('takes paths apart and puts them together', () => {
  expect([
    joined('', 'a'),
    joined('src', 'a'),
    nameOf('src/a.ts'),
    directoryOf('src/lib/a.ts'),
    directoryOf('a'),
  ]).toEqual(['a', 'src/a', 'a.ts', 'src/lib', '']);
});
