import { Link } from '@tanstack/react-router';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly to: string; readonly name: string }[];
}

/** Pages that belong together, as links. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, name }) => (
        <Link key={to} to={to} activeOptions={{ exact: true }} activeProps={{ 'aria-current': 'page' }}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
