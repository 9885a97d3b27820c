import { useState } from 'react';

type Theme = 'system' | 'light' | 'dark';

const name = 'rondo.theme';
const themes: readonly string[] = ['system', 'light', 'dark'];

export function readTheme(): Theme {
  const stored = localStorage.getItem(name);
  return stored !== null && themes.includes(stored) ? (stored as Theme) : 'system'; // it is one of them
}

/** `system` leaves it to the browser. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(name, theme);
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
