export type Theme = 'system' | 'light' | 'dark';

const name = 'rondo.theme';
const themes: readonly string[] = ['system', 'light', 'dark'];

export function storedTheme(): Theme {
  const stored = localStorage.getItem(name);
  return stored !== null && themes.includes(stored) ? (stored as Theme) : 'system'; // it is one of them
}

/** `system` leaves it to the browser. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(name, theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
