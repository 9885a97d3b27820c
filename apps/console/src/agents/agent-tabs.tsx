import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/agents', name: 'Agents' },
  { to: '/agents/skills', name: 'Skills' },
  { to: '/agents/mcp', name: 'MCP servers' },
];

export const AgentTabs = () => <Tabs label="What runs are made of" tabs={tabs} />;
