import type { BrowserAction } from '@rondo/client';

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Position {
  readonly clientX: number;
  readonly clientY: number;
}

/** Where in the page something happened that happened on its picture. */
export function toPlace({ clientX, clientY }: Position, picture: DOMRect, { width, height }: Size) {
  const within = (part: number, most: number) => Math.min(most - 1, Math.max(0, Math.floor(part * most)));
  return {
    x: within((clientX - picture.left) / picture.width, width),
    y: within((clientY - picture.top) / picture.height, height),
  };
}

interface Pressed {
  readonly key: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

const passedOn = /^(Backspace|Enter|Delete|Home|End|Page(Up|Down)|Arrow(Left|Right|Up|Down))$/;

/** What a keyboard writes with Option, such as `@` of many on a Mac. A letter or digit with Alt is a command of the browser. */
const isOfLayout = /^[^A-Za-z0-9\s]$/;

/** What a key does in the page. Undefined for those that are the console's own: Tab and Escape lead out of the picture. */
export function actionOfKey({ key, altKey, ctrlKey, metaKey, shiftKey }: Pressed): BrowserAction | undefined {
  const isCommand = ctrlKey || metaKey;
  if (altKey && !isCommand && !isOfLayout.test(key)) return undefined;
  if (isCommand) return key.toLowerCase() === 'a' ? { type: 'keys', keys: 'Control+a' } : undefined;
  if (key.length === 1) return { type: 'text', text: key };
  return passedOn.test(key) ? { type: 'keys', keys: shiftKey ? `Shift+${key}` : key } : undefined;
}
