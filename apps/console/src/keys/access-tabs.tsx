import { Tabs } from '../ui/tabs.tsx';

const tabs = [
  { to: '/keys', name: 'API keys' },
  { to: '/keys/secrets', name: 'Secrets' },
  { to: '/keys/tokens', name: 'Client tokens' },
  { to: '/keys/audit', name: 'Audit log' },
];

export const AccessTabs = () => <Tabs label="Access" tabs={tabs} />;
