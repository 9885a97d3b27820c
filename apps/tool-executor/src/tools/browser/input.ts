import { BrowserProblem } from './browser-errors';
import { type KeyPress, keyOfCharacter } from './keys';
import { type Point, type Tab, viewport } from './tab';

const longestTypedText = 200;
const dragSteps = 8;
const held = { button: 'left', buttons: 1, clickCount: 1 };
const oneClick = { button: 'left', count: 1 } as const;

interface MousePosition extends Point {
  readonly button?: string;
  readonly buttons?: number;
  readonly clickCount?: number;
  readonly deltaX?: number;
  readonly deltaY?: number;
}

/** As DevTools number the buttons that are held. */
const buttonBits = { left: 1, right: 2, middle: 4 };
interface Clicks {
  readonly button: keyof typeof buttonBits;
  readonly count: number;
}

export async function click(tab: Tab, point: Point, { button, count }: Clicks = oneClick): Promise<void> {
  await mouse(tab, 'mouseMoved', point);
  for (let clickCount = 1; clickCount <= count; clickCount += 1) {
    await mouse(tab, 'mousePressed', { ...point, button, buttons: buttonBits[button], clickCount });
    await mouse(tab, 'mouseReleased', { ...point, button, buttons: buttonBits[button], clickCount });
  }
}

/** As the wheel of a mouse does over the point. */
export async function turnWheel(tab: Tab, point: Point, by: { dx: number; dy: number }): Promise<void> {
  await mouse(tab, 'mouseWheel', { ...point, deltaX: by.dx, deltaY: by.dy });
}

export function onScreen({ x, y }: Point): Point {
  if (x < viewport.width && y < viewport.height) return { x, y };
  throw new BrowserProblem(`The screen is ${viewport.width} wide and ${viewport.height} high.`);
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

const mouse = (tab: Tab, type: string, at: MousePosition): Promise<unknown> =>
  tab.send('Input.dispatchMouseEvent', { type, ...at });

const between = (from: Point, to: Point, part: number): Point => ({
  x: from.x + (to.x - from.x) * part,
  y: from.y + (to.y - from.y) * part,
});
