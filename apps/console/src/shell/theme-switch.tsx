import { useState } from 'react';

type Theme = 'system' | 'light' | 'dark';

const name = 'rondo.theme';
const themes: readonly string[] = ['system', 'light', 'dark'];

/** A browser may keep nothing for a page, which then throws. What everybody may read is read there, too. */
function tryStorage<Value>(use: (storage: Storage) => Value): Value | null {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

export function readTheme(): Theme {
  const stored = tryStorage((storage) => storage.getItem(name));
  return stored !== null && themes.includes(stored) ? (stored as Theme) : 'system'; // it is one of them
}

/** `system` leaves it to the browser. */
export function applyTheme(theme: Theme): void {
  tryStorage((storage) => storage.setItem(name, theme));
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

const next: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };
const words: Record<Theme, string> = { system: 'Theme: system', dark: 'Theme: dark', light: 'Theme: light' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  const change = () => {
    applyTheme(next[theme]);
    setTheme(next[theme]);
  };
  return (
    <button className="quiet" onClick={change}>
      {words[theme]}
    </button>
  );
}
