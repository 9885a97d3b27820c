import { type KeyPress, keyOfCharacter } from './keys';
import type { Point, Tab } from './tab';

const longestTypedText = 200;
const dragSteps = 8;
const held = { button: 'left', buttons: 1, clickCount: 1 };

export async function click(tab: Tab, point: Point): Promise<void> {
  await mouse(tab, 'mouseMoved', point);
  await mouse(tab, 'mousePressed', { ...point, ...held });
  await mouse(tab, 'mouseReleased', { ...point, ...held });
}

/** Where the page starts a drag of its own, its data is carried to the target as a person would. */
export async function drag(tab: Tab, from: Point, to: Point): Promise<void> {
  let dragged: unknown;
  await tab.send('Input.setInterceptDrags', { enabled: true });
  tab.onDrag = (data) => (dragged = data);
  try {
    await mouse(tab, 'mouseMoved', from);
    await mouse(tab, 'mousePressed', { ...from, ...held });
    for (let step = 1; step <= dragSteps && dragged === undefined; step += 1) {
      await mouse(tab, 'mouseMoved', { ...between(from, to, step / dragSteps), ...held });
    }
    if (dragged !== undefined) {
      const { x, y } = to;
      for (const type of ['dragEnter', 'dragOver', 'drop']) {
        await tab.send('Input.dispatchDragEvent', { type, x, y, data: dragged });
      }
    }
    await mouse(tab, 'mouseReleased', { ...to, ...held });
  } finally {
    tab.onDrag = undefined;
    await tab.send('Input.setInterceptDrags', { enabled: false });
  }
}

/** Short text is typed key by key, as pages expect; long text is inserted at once. */
export async function typeText(tab: Tab, text: string): Promise<void> {
  if (text.length > longestTypedText) {
    await tab.send('Input.insertText', { text });
    return;
  }
  for (const character of text) {
    const key = keyOfCharacter(character);
    if (key) await press(tab, { key, modifiers: 0 });
    else await tab.send('Input.insertText', { text: character });
  }
}

export async function press(tab: Tab, { key, modifiers }: KeyPress): Promise<void> {
  const type = key.text === undefined ? 'rawKeyDown' : 'keyDown';
  await tab.send('Input.dispatchKeyEvent', { type, modifiers, ...key });
  await tab.send('Input.dispatchKeyEvent', { type: 'keyUp', modifiers, ...key, text: undefined });
}

const mouse = (tab: Tab, type: string, at: Point): Promise<unknown> =>
  tab.send('Input.dispatchMouseEvent', { type, ...at });

const between = (from: Point, to: Point, part: number): Point => ({
  x: from.x + (to.x - from.x) * part,
  y: from.y + (to.y - from.y) * part,
});
