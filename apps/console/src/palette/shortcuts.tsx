import { Suspense, lazy, useEffect, useState } from 'react';
import { loadFiles } from '../session/load-files.ts';

type Dialog = 'palette' | 'help';

const Palette = lazy(() => loadFiles(() => import('./palette.tsx')));
const KeyHelp = lazy(() => loadFiles(() => import('./key-help.tsx')));

/** The keys of the whole console. While something is written, only those with Ctrl or ⌘ count. */
export function Shortcuts() {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      const work = isCommand ? () => setDialog('palette') : isPlain(event) ? findWork(event.key, setDialog) : undefined;
      if (!work) return;
      event.preventDefault();
      work();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  if (dialog === null) return null;
  const Shown = dialog === 'palette' ? Palette : KeyHelp;
  return (
    <Suspense>
      <Shown onClose={() => setDialog(null)} />
    </Suspense>
  );
}

/** Whether a key is none of a text, of a menu of the browser, or of a dialog. */
export function isPlain({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]:not(.sheet)') !== null) return false;
  return !(
    target instanceof Element && target.closest('input:not([type=range]), textarea, select, [role=application]')
  );
}

function findWork(key: string, open: (dialog: Dialog) => void): (() => void) | undefined {
  switch (key) {
    case '?':
      return () => open('help');
    case '/':
      return focusField;
    case 'j':
    case 'k':
      return findList() ? () => focusNext(key === 'j' ? 1 : -1) : undefined;
    default:
      return undefined;
  }
}

/** The place to write, or to search. */
function focusField(): void {
  const field = document.querySelector<HTMLElement>('#page .rondo-composer textarea, #page input[type=search]');
  field?.focus();
}

const findList = (): Element | null => document.querySelector('#page .run-list');

/** The next entry of a list, or the one before. */
function focusNext(by: 1 | -1): void {
  const links = [...(findList()?.querySelectorAll<HTMLElement>('li > a') ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by));
  links[next]?.focus();
}
