import { actionOfKey, toPlace } from './page-input.ts';

const none = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false };

it.each([
  [{ key: 'é' }, { type: 'text', text: 'é' }],
  [
    { key: 'A', shiftKey: true },
    { type: 'text', text: 'A' },
  ],
  [{ key: 'Enter' }, { type: 'keys', keys: 'Enter' }],
  [
    { key: 'ArrowLeft', shiftKey: true },
    { type: 'keys', keys: 'Shift+ArrowLeft' },
  ],
  [
    { key: 'a', metaKey: true },
    { type: 'keys', keys: 'Control+a' },
  ],
  [
    { key: '@', altKey: true },
    { type: 'text', text: '@' },
  ],
  [{ key: 'd', altKey: true }, undefined],
  [{ key: 'ArrowLeft', altKey: true }, undefined],
  [{ key: 'r', ctrlKey: true }, undefined],
  [{ key: 'Tab' }, undefined],
  [{ key: 'Escape' }, undefined],
])('%j is %j in the page', (pressed, action) => {
  expect(actionOfKey({ ...none, ...pressed })).toEqual(action);
});

it('a click on a picture of another size is at its place in the page', () => {
  const picture = { left: 10, top: 20, width: 320, height: 200 } as DOMRect; // what is read of it

  expect(toPlace({ clientX: 170, clientY: 120 }, picture, { width: 1280, height: 800 })).toEqual({ x: 640, y: 400 });
  expect(toPlace({ clientX: 331, clientY: 5 }, picture, { width: 1280, height: 800 })).toEqual({ x: 1279, y: 0 });
});
