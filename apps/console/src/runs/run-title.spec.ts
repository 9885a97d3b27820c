import { shorten } from './run-title';

it('a long title ends with whole signs', () => {
  expect(shorten(`${'a'.repeat(139)}🎉 and more`)).toBe(`${'a'.repeat(139)}…`);
  expect(shorten(`Look at this: ${'🎉'.repeat(200)}`)).toBe(`Look at this: ${'🎉'.repeat(63)}…`);
});
