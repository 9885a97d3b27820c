import { hiddenFieldsOf } from './hidden-fields';

it('knows the last note on an object, and none of what is only like it', () => {
  const colours = hiddenFieldsOf<object, string>();
  const sizes = hiddenFieldsOf<object, number>();
  const stone = { weight: 3 };

  colours.set(stone, 'grey');
  colours.set(stone, 'white');
  sizes.set(stone, 2);

  expect(colours.get(stone)).toBe('white');
  expect(sizes.get(stone)).toBe(2);
  expect(colours.get({ ...stone })).toBeUndefined();
  expect(colours.get(structuredClone(stone))).toBeUndefined();
});

it('leaves no trace on the object', () => {
  const stone = { weight: 3 };

  hiddenFieldsOf<object, string>().set(stone, 'grey');

  expect(Reflect.ownKeys(stone)).toEqual(['weight']);
  expect(JSON.stringify(stone)).toBe('{"weight":3}');
});
