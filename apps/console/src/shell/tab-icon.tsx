/** Lines on a square of 20, for the pages that a phone's bar has. */
const lines = {
  '/runs': 'M3 5h9M3 10h14M3 15h6',
  '/inbox': 'M3 11l2-7h10l2 7v5H3zM3 11h4l1.5 2h3L13 11h4',
  '/threads': 'M3 4h14v9H9l-4 3v-3H3z',
  '/agents': 'M4 7h12v9H4zM10 4v3M8 11h.01M12 11h.01',
  more: 'M4 10h.01M10 10h.01M16 10h.01',
};

export type TabIconName = keyof typeof lines;

export function TabIcon({ name }: { readonly name: TabIconName }) {
  return (
    <svg
      className={name === 'more' ? 'tab-icon dots' : 'tab-icon'}
      viewBox="0 0 20 20"
      width="20"
      height="20"
      aria-hidden="true"
    >
      <path d={lines[name]} />
    </svg>
  );
}
