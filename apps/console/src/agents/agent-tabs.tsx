import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/agents', name: 'Agents' },
  { to: '/agents/skills', name: 'Skills' },
  { to: '/agents/memory', name: 'Memory' },
  { to: '/agents/mcp', name: 'MCP servers' },
  { to: '/agents/settings', name: 'Account settings' },
];

export const AgentTabs = () => <Tabs label="What runs are made of" tabs={tabs} />;
