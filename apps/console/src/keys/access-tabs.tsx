import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/keys', name: 'API keys' },
  { to: '/keys/audit', name: 'Audit log' },
];

export const AccessTabs = () => <Tabs label="Access" tabs={tabs} />;
