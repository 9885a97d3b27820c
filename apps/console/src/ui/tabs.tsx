import { Link } from '@tanstack/react-router';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly to: string; readonly name: string }[];
}

/** Pages that belong together, as links. */
function Tabs({ label, tabs }: TabsProps) {
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

const runsTabs = [
  { to: '/runs', name: 'List' },
  { to: '/runs/errors', name: 'Errors' },
  { to: '/runs/evaluations', name: 'Evaluations' },
];

export const RunsTabs = () => <Tabs label="Runs" tabs={runsTabs} />;

const agentTabs = [
  { to: '/agents', name: 'Agents' },
  { to: '/agents/skills', name: 'Skills' },
  { to: '/agents/memory', name: 'Memory' },
  { to: '/agents/mcp', name: 'MCP servers' },
  { to: '/agents/settings', name: 'Account settings' },
];

export const AgentTabs = () => <Tabs label="What runs are made of" tabs={agentTabs} />;

const triggerTabs = [
  { to: '/schedules', name: 'Schedules' },
  { to: '/schedules/webhooks', name: 'Webhooks in' },
  { to: '/schedules/endpoints', name: 'Webhooks out' },
];

export const TriggerTabs = () => <Tabs label="What starts runs, and what is told of them" tabs={triggerTabs} />;

const accessTabs = [
  { to: '/keys', name: 'API keys' },
  { to: '/keys/secrets', name: 'Secrets' },
  { to: '/keys/tokens', name: 'Client tokens' },
  { to: '/keys/audit', name: 'Audit log' },
];

export const AccessTabs = () => <Tabs label="Access" tabs={accessTabs} />;
