import { createContext, useContext, useMemo, useState } from 'react';
import type { TerminalSession } from '../terminal/terminal-session.ts';
import { useMatch } from '../ui/use-narrow.ts';

/** What the panel shows: a call, a file of the workspace, a terminal for the person, or whatever is newest. */
export type PanelTarget = { readonly call: string } | { readonly file: string } | 'terminal' | 'newest';

/** The panel beside a conversation, and what of the conversation is open. */
export interface ChatPanel {
  readonly isOpen: boolean;
  /** There is space for it beside the conversation; otherwise it lies over it. */
  readonly isBeside: boolean;
  readonly target: PanelTarget;
  /** Shows this, and opens the panel. */
  readonly show: (target: PanelTarget) => void;
  readonly setOpen: (isOpen: boolean) => void;
  /** The groups of calls that are opened, by their keys. They are kept here since a list forgets what is out of sight. */
  readonly opened: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** The thread whose workspace has the files that are named. Undefined where the reader may not see files. */
  readonly threadId: string | undefined;
  /** The person's own commands in the sandbox. Undefined where the reader may run none. */
  readonly terminal: TerminalSession | undefined;
}

const closed: ChatPanel = {
  ...{ isOpen: false, isBeside: false, target: 'newest', opened: new Set() },
  ...{ threadId: undefined, terminal: undefined },
  ...{ show: () => undefined, setOpen: () => undefined, toggle: () => undefined },
};

export const ChatPanelContext = createContext<ChatPanel>(closed);

export const useChatPanel = (): ChatPanel => useContext(ChatPanelContext);

/** The panel of one thread. Where it has space of its own it is open from the beginning. */
export function useNewChatPanel(threadId: string | undefined, terminal?: TerminalSession): ChatPanel {
  const isBeside = useMatch('(min-width: 1200px)');
  const [wish, setWish] = useState<boolean | null>(null);
  const [target, setTarget] = useState<PanelTarget>('newest');
  const [opened, setOpened] = useState<ReadonlySet<string>>(closed.opened);
  return useMemo(
    () => ({
      ...{ isBeside, target, opened, threadId, terminal },
      isOpen: wish ?? isBeside,
      show: (to) => {
        setTarget(to);
        setWish(true);
      },
      setOpen: setWish,
      toggle: (key) => setOpened((before) => (before.has(key) ? without(before, key) : new Set([...before, key]))),
    }),
    [isBeside, target, opened, threadId, terminal, wish],
  );
}

const without = (keys: ReadonlySet<string>, key: string): ReadonlySet<string> =>
  new Set([...keys].filter((one) => one !== key));
