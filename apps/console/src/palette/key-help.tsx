import { Modal } from '../ui/modal.tsx';

const keys: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'K'], 'Go to a page, a thread or a run (⌘ K on a Mac)'],
  [['/'], 'Write a message, or search'],
  [['j'], 'The next entry of a list; the next step of a chat'],
  [['k'], 'The one before'],
  [['Enter'], 'Send a message; Shift Enter begins a new line'],
  [['Esc'], 'Close what lies over the page'],
  [['?'], 'These keys'],
];

/** The keys that the console knows. */
export default function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal title="Keys" onClose={onClose}>
      {(close) => (
        <>
          <dl className="key-help">
            {keys.map(([names, what]) => (
              <div key={what}>
                <dt>
                  {names.map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
          <div className="actions">
            <button onClick={close}>Close</button>
          </div>
        </>
      )}
    </Modal>
  );
}
