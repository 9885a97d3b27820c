import { BrowserProblem } from './browser-errors';

/** One key as DevTools wants it. */
export interface Key {
  readonly key: string;
  readonly code: string;
  readonly windowsVirtualKeyCode: number;
  readonly text?: string;
}

const modifierBits: Record<string, number> = { Alt: 1, Control: 2, Ctrl: 2, Meta: 4, Shift: 8 };

const named: Record<string, readonly [code: number, text?: string]> = {
  ...{ Backspace: [8], Tab: [9], Enter: [13, '\r'], Escape: [27], PageUp: [33], PageDown: [34], End: [35], Home: [36] },
  ...{ ArrowLeft: [37], ArrowUp: [38], ArrowRight: [39], ArrowDown: [40], Insert: [45], Delete: [46] },
};

/** The keys of an American keyboard that are neither letters nor digits, without and with Shift. */
const punctuation: readonly (readonly [plain: string, shifted: string, code: string, number: number])[] = [
  [';', ':', 'Semicolon', 186],
  ['=', '+', 'Equal', 187],
  [',', '<', 'Comma', 188],
  ['-', '_', 'Minus', 189],
  ['.', '>', 'Period', 190],
  ['/', '?', 'Slash', 191],
  ['`', '~', 'Backquote', 192],
  ['[', '{', 'BracketLeft', 219],
  ['\\', '|', 'Backslash', 220],
  [']', '}', 'BracketRight', 221],
  ["'", '"', 'Quote', 222],
];
const shiftedDigits = ')!@#$%^&*(';

/** The key that writes a character; undefined for one that no key of this keyboard writes. */
export function keyOfCharacter(character: string): Key | undefined {
  const written = { key: character, text: character };
  if (character === '\n') return keyNamed('Enter');
  if (character === ' ') return { ...written, code: 'Space', windowsVirtualKeyCode: 32 };
  if (/^[a-zA-Z]$/.test(character)) {
    const upper = character.toUpperCase();
    return { ...written, code: `Key${upper}`, windowsVirtualKeyCode: upper.charCodeAt(0) };
  }
  const digit = /^\d$/.test(character) ? Number(character) : shiftedDigits.indexOf(character);
  if (digit >= 0) return { ...written, code: `Digit${digit}`, windowsVirtualKeyCode: 48 + digit };
  const found = punctuation.find(([plain, shifted]) => plain === character || shifted === character);
  return found && { ...written, code: found[2], windowsVirtualKeyCode: found[3] };
}

function keyNamed(name: string): Key | undefined {
  const functionKey = /^F([1-9]|1[0-2])$/.exec(name);
  if (functionKey) return { key: name, code: name, windowsVirtualKeyCode: 111 + Number(functionKey[1]) };
  if (!Object.hasOwn(named, name)) return undefined;
  const [windowsVirtualKeyCode, text] = named[name] ?? [0];
  return { key: name, code: name, windowsVirtualKeyCode, ...(text !== undefined && { text }) };
}

export interface KeyPress {
  readonly key: Key;
  readonly modifiers: number;
}

/** `Enter`, `Control+a`, or several of them with spaces between. */
export function keyPresses(keys: string): KeyPress[] {
  return keys.trim().split(/\s+/).map(keyPress);
}

function keyPress(combination: string): KeyPress {
  const parts = combination === '+' ? ['+'] : combination.split('+');
  const name = parts.pop() ?? '';
  const bits = parts.map((part) => modifierBits[part]);
  const key = name === 'Space' ? keyOfCharacter(' ') : (keyNamed(name) ?? keyOfCharacter(name));
  if (!key || bits.includes(undefined)) {
    throw new BrowserProblem(
      `There is no key "${combination}". Keys are named like Enter, Tab, ArrowDown, F5, a; combined like Control+a.`,
    );
  }
  const modifiers = bits.reduce<number>((sum, bit) => sum | (bit ?? 0), 0);
  return { key: modifiers === 0 ? key : withoutText(key, modifiers), modifiers };
}

/** With Control, Alt or Meta a key writes nothing. */
function withoutText({ text, ...key }: Key, modifiers: number): Key {
  return (modifiers & ~8) === 0 && text !== undefined ? { ...key, text } : key;
}
