import { useState } from 'react';
import { type Theme, applyTheme, storedTheme } from '../ui/theme.ts';

const next: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };
const words: Record<Theme, string> = { system: 'Theme: system', dark: 'Theme: dark', light: 'Theme: light' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
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
